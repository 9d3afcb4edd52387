"""`rigup launch`: a training job on one node or many, from its batch script to its end."""

import sys
from typing import Any

import click

from rigup.cli.arguments import BehindDashes, click_errors, pairs
from rigup.cli.data import data_text
from rigup.cli.groups import CommandGroup
from rigup.language import choose

_RUN = click.argument("run", default="", metavar="[RUN]")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.launch/1).")


class _Launches(CommandGroup):
    """A group in which a first word that is no subcommand is the script to launch."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`launch SCRIPT` is `launch run SCRIPT`."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


class _Script(BehindDashes, click.Command):
    """What stands behind `--` is the script's, also where it is spelt like an option of ours."""


@click.group("launch", cls=_Launches, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> int:
    """Launch training on one node or many, follow it, and tell which rank failed and why.

    `rigup launch SCRIPT [WORD]...` is `rigup launch run SCRIPT [WORD]...`.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    return 0


@command.command("run", cls=_Script, context_settings={"ignore_unknown_options": True})
@click.argument("script", metavar="SCRIPT")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[WORD]... [-- WORD...]")
@click.option("--nodes", type=int, default=0, metavar="N", help="Nodes; by default one, or as many as --hosts has.")
@click.option("--gpus", default="", metavar="[TYPE:]M", help="GPUs on each node: a rank for each.")
@click.option("--tasks", type=int, default=0, metavar="N", help="Ranks on each node, without GPUs.")
@click.option("--cpus", type=int, default=0, metavar="N", help="Processors of each rank.")
@click.option("--mem", "memory", default="", metavar="SIZE", help="Memory of each node, such as 64G.")
@click.option("--time", "limit", default="", metavar="TIME", help="Time limit: minutes, HH:MM:SS or D-HH:MM:SS.")
@click.option("--partition", default="", metavar="NAME", help="Where the job waits; several with commas.")
@click.option("--account", default="", metavar="NAME", help="Who pays.")
@click.option("--qos", default="", metavar="NAME", help="Quality of service.")
@click.option("--constraint", default="", metavar="FEATURES", help="Features that nodes must have.")
@click.option("--exclude", default="", metavar="NODES", help="Nodes that are not to be taken.")
@click.option("--env", default="", metavar="ENV", help="The environment: a path or a name; by default the active one.")
@click.option("--python", default="", metavar="FILE", help="The interpreter, in place of an environment.")
@click.option("--container", default="", metavar="IMAGE", help="An image of Apptainer's: a file, or docker://NAME.")
@click.option("--bind", "binds", multiple=True, metavar="FOLDER", help="A folder more inside the image, at its path.")
@click.option("--set", "variables", multiple=True, metavar="NAME=VALUE", help="A variable of every rank.")
@click.option("--name", default="", metavar="NAME", help="Of the job; by default that of the script.")
@click.option("--vendor", type=click.Choice(["nvidia", "amd", "intel"]), default=None, help="Maker of the GPUs, where TYPE does not tell.")
@click.option("--fabric", type=click.Choice(["ethernet", "infiniband"]), default=None, help="What joins the nodes.")
@click.option(
    "--signal",
    default="",
    metavar="NAME",
    help="What every rank gets before the time limit: USR1 where SCRIPT handles one; none for nothing.",
)
@click.option("--lead", type=int, default=120, metavar="SECONDS", help="How long before the limit.")
@click.option("--no-requeue", "requeue", is_flag=True, default=True, flag_value=False, help="End with the time limit.")
@click.option("--address", default="", metavar="ADDRESS", help="Of rank 0's node; by default the first node's.")
@click.option("--port", type=int, default=0, metavar="PORT", help="Where ranks meet; by default by the job's number.")
@click.option("--interface", default="", metavar="NAME", help="Of the network; by default the one that leads to rank 0.")
@click.option("--array", "table", default="", metavar="CSV", help="A run for each row: its columns become options of SCRIPT.")
@click.option("--at-once", type=int, default=0, metavar="N", help="Runs of a table at the same time.")
@click.option("--hosts", default="", metavar="A,B,...", help="Without Slurm: these machines, by ssh.")
@click.option("--here", is_flag=True, help="Without Slurm: this machine, by torchrun.")
@click.option("--no-preflight", "preflight", is_flag=True, default=True, flag_value=False, help="Begin unproven.")
@click.option("--no-check", "check", is_flag=True, default=True, flag_value=False, help="Launch what the check finds wrong.")
@click.option("--print", "only", is_flag=True, help="Print the batch script; write and submit nothing.")
@click.option("--no-follow", is_flag=True, help="Submit, and do not wait.")
@_JSON
@click.pass_context
def run(context: click.Context, /, only: bool, check: bool, no_follow: bool, as_json: bool, **options: Any) -> int:
    """Run SCRIPT on every rank of a job: a batch script is written and submitted, its log followed to the end.

    SCRIPT is checked before, as `rigup train check` does; errors stop it. Before the first step ranks prove that they are what was asked for. The exit status is the job's own. Options of
    SCRIPT that are spelt like one of these stand behind `--`.
    """
    from rigup.cli.launch_report import checked
    from rigup.workflows.launching import Words, described

    if as_json:
        choose("en")  # data is the same in every language
    options["variables"] = tuple(pairs(options["variables"]).items())
    options["arguments"] = (*options["arguments"], *context.meta["behind"])
    options |= {name: options[name] or "" for name in ("vendor", "fabric")}
    words = Words(**options)
    with click_errors():
        asked = described(words)
        return _launched(checked(asked, only, bool(words.signal)) if check else asked, only, no_follow, as_json)


def _launched(described: Any, only: bool, no_follow: bool, as_json: bool) -> int:
    """Print it, or begin it."""
    from rigup.cli.launch_report import begun_here, followed, plan_text
    from rigup.train.launch.answer import answer
    from rigup.train.launch.record import write_folder
    from rigup.workflows.launching import submitted

    if only:
        click.echo(data_text(answer(described, [])) if as_json else plan_text(described), nl=as_json)
        return 0
    written = write_folder(described)
    if written.launcher != "slurm":
        return begun_here(written, as_json)
    return followed(submitted(written), as_json, wait=not no_follow)


@command.command("status")
@_RUN
@click.option("--all", "every", is_flag=True, help="List all runs that were launched from this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.launch/1, or launch-list).")
def status(run: str, every: bool, as_json: bool) -> int:
    """Tell what became of RUN: a name, a folder, or the number of a job; by default the newest."""
    from rigup.cli.launch_report import list_text, status_text
    from rigup.schemas.launch import LaunchList
    from rigup.workflows.launched_runs import listed, run_status

    if as_json:
        choose("en")
    with click_errors():
        if every:
            runs = LaunchList(runs=list(listed()))
            click.echo(data_text(runs) if as_json else list_text(runs))
            return 0
        now = run_status(run)
    click.echo(data_text(now) if as_json else status_text(now))
    return int(now.state in ("failed", "timeout", "out-of-memory", "node-fail"))


@command.command("logs")
@_RUN
@click.option("--follow", is_flag=True, help="Wait for more, until the job ends.")
@click.option("--row", type=int, default=-1, metavar="N", help="Of an array: the run of this row, from 0.")
def logs(run: str, follow: bool, row: int) -> int:
    """Print what RUN has written."""
    from rigup.cli.launch_report import followed, shown_on
    from rigup.train.launch.record import place
    from rigup.train.launch.script import LOG
    from rigup.workflows.launched_runs import run_named

    with click_errors():
        found = run_named(run)
        if follow and row < 0:
            return followed(found, as_json=False, wait=True)
        show = shown_on(sys.stdout)
        with open(place(found, row) / LOG, "rb") as file:
            while piece := file.read(1_000_000):
                show(piece)
    return 0


@command.command("cancel")
@_RUN
@_JSON
def cancel(run: str, as_json: bool) -> int:
    """End RUN: it is asked to, and killed where it does not within a minute."""
    from rigup.cli.launch_report import status_text
    from rigup.workflows.launched_runs import run_named
    from rigup.workflows.launching import cancelled

    if as_json:
        choose("en")
    with click_errors():
        now = cancelled(run_named(run))
    click.echo(data_text(now) if as_json else status_text(now))
    return 0


@command.command("resume")
@_RUN
@click.option("--no-follow", is_flag=True, help="Submit, and do not wait.")
@_JSON
def resume(run: str, no_follow: bool, as_json: bool) -> int:
    """Submit RUN again, its batch script as it stands; the program goes on from its own checkpoint."""
    from rigup.cli.launch_report import followed
    from rigup.workflows.launched_runs import run_named
    from rigup.workflows.launching import resumed

    if as_json:
        choose("en")
    with click_errors():
        return followed(resumed(run_named(run)), as_json, wait=not no_follow)
