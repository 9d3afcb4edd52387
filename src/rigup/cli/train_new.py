"""`rigup train new KIND DIR`: a project that trains as it is."""

from typing import TYPE_CHECKING

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.schemas.train_project import TrainNew


@click.command("new")
@click.argument("kind", metavar="minimal|complete|lora")
@click.argument("folder", metavar="DIR")
@click.option("--nodes", type=int, default=1, show_default=True, help="Nodes that the batch script asks for.")
@click.option("--gpus", type=int, default=1, show_default=True, help="GPUs on each node, each with a process.")
@click.option("--cpus", type=int, default=4, show_default=True, help="CPUs of each process.")
@click.option("--time", default="04:00:00", show_default=True, metavar="TIME", help="The time limit, as Slurm reads it.")
@click.option("--partition", default="", metavar="NAME", help="The partition; by default the cluster's own choice.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.train-new/1).")
def command(kind: str, folder: str, nodes: int, gpus: int, cpus: int, time: str, partition: str, as_json: bool) -> int:
    """Write a project that trains as it is: on a GPU, on many, on many nodes, on the CPU, in a notebook.

    minimal changes only the module of plain torch code for Lightning, complete has a LightningModule and a
    LightningDataModule, lora fine-tunes a causal language model. Each makes its own data, has a batch script and tests,
    and goes on where it was after a time limit.
    """
    from rigup.workflows.train_projects import new_project

    if as_json:
        choose("en")  # data is the same in every language
    with click_errors():
        answer = new_project(kind, folder, nodes=nodes, gpus=gpus, cpus=cpus, time=time, partition=partition)
    click.echo(data_text(answer) if as_json else _text(answer))
    return 0


def _text(answer: "TrainNew") -> str:
    import shlex

    files = [f"    {name}" for name in answer.files]
    steps = [f"    {step}" for step in (f"cd {shlex.quote(answer.folder)}", *answer.next)]
    return "\n".join([_("Written to {folder}:").format(folder=answer.folder), *files, _("Next:"), *steps])
