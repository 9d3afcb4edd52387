"""`rigup lab kernels`: kernels of notebooks, listed, added, removed and mended."""

from typing import TYPE_CHECKING

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.cli.groups import CommandGroup
from rigup.cli.layout import columns, padded, wrapped
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.schemas.lab import Kernel
    from rigup.workflows.notebooks import Seen


@click.group("kernels", cls=CommandGroup, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.lab-kernels/1).")
@click.pass_context
def kernels(context: click.Context, as_json: bool) -> int:
    """List the kernels of notebooks: their Pythons, torch, variables, and what is wrong with them."""
    return _list(as_json) if context.invoked_subcommand is None else 0


@kernels.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.lab-kernels/1).")
def list_(as_json: bool) -> int:
    """List the kernels. The exit status is 1 where one does not start or does not see the GPU."""
    return _list(as_json)


def _list(as_json: bool) -> int:
    from rigup.machine.outward import outward
    from rigup.schemas.lab import LabKernels

    if as_json:
        choose("en")  # data is the same in every language
    answer = LabKernels(kernels=_seen().kernels)
    click.echo(data_text(answer) if as_json else "\n".join(_lines(outward(answer).kernels)))
    return int(any(fault.fault != "shadowed" for kernel in answer.kernels for fault in kernel.faults))


def _seen() -> "Seen":
    from rigup.cli.progress import Waiting
    from rigup.workflows.notebooks import kernels as seen

    with click_errors(), Waiting(_("Looking at this machine …")):
        return seen()


def _lines(rows: "list[Kernel]") -> list[str]:
    """A line for each, what is wrong with it below."""
    if not rows:
        return wrapped(_("There is no kernel here. `rigup lab kernels add` makes one of an environment."))
    cells = [[row.name, f"torch {row.torch}" if row.torch else "", row.environment or row.python or row.language or "–"] for row in rows]
    widths = [max(columns(cell) for cell in column) for column in zip(*cells, strict=True)]
    lines = []
    for row, line in zip(rows, cells, strict=True):
        lines.append("  ".join(padded(cell, wide) for cell, wide in zip(line, widths, strict=True)).rstrip())
        lines += [part for fault in row.faults for part in wrapped(fault.text, "  ! ", "    ")]
    return lines


@kernels.command("add")
@click.argument("env", default="", metavar="[ENV]")
@click.option("--name", default="", metavar="NAME", help="What Jupyter calls it; by default the environment's name.")
@click.option("--title", default="", metavar="TEXT", help="What notebooks show.")
@click.option("--inside", is_flag=True, help="Keep it in the environment, for a Jupyter that runs there.")
def add(env: str, name: str, title: str, inside: bool) -> int:
    """Make an environment a kernel for notebooks, with the variables that its devices need."""
    from rigup.workflows.environments import environment
    from rigup.workflows.notebooks import register

    with click_errors():
        path = register(environment(env), name, title, inside=inside)
    click.echo(_("{path} is written. Choose the kernel in the notebook.").format(path=path))
    return 0


@kernels.command("remove")
@click.argument("name", metavar="NAME")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def remove(name: str, yes: bool) -> int:
    """Remove a kernel. The environment that it starts stays."""
    from rigup.cli.env_files import asked
    from rigup.workflows.notebooks import removed, the_kernel

    with click_errors():
        kernel = the_kernel(_seen(), name)
        if not asked(_("Remove the kernel {name} ({path})?").format(name=kernel.name, path=kernel.path), yes):
            return 1
        removed(kernel)
    click.echo(_("{path} is removed.").format(path=kernel.path))
    return 0


@kernels.command("fix")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def fix(names: tuple[str, ...], yes: bool) -> int:
    """Give kernels what the devices need, take out what hides them, and remove those whose Python is gone.

    Without NAME all are looked at. What is to be done is shown first.
    """
    from rigup.cli.env_files import asked
    from rigup.workflows.notebooks import the_kernel

    with click_errors():
        seen = _seen()
        chosen = [the_kernel(seen, name) for name in names] or seen.kernels
        faulty = [kernel for kernel in chosen if any(fault.mended for fault in kernel.faults)]
        if not faulty:
            click.echo("\n".join(wrapped(_("There is nothing to mend by itself."))))
            return int(any(fault.fault != "shadowed" for kernel in chosen for fault in kernel.faults))
        for kernel in faulty:
            click.echo(kernel.path)
            fault_texts = [f"{fault.text} {fault.mended}" for fault in kernel.faults if fault.mended]
            click.echo("\n".join(line for text in fault_texts for line in wrapped(text, "  ! ", "    ")))
        if not asked(_("Do it?"), yes):
            return 1
        for kernel in faulty:
            _mend(seen, kernel)
    return 0


def _mend(seen: "Seen", kernel: "Kernel") -> None:
    from rigup.workflows.notebooks import mended, removed, written

    if any(fault.fault == "no-python" for fault in kernel.faults):
        removed(kernel)
        click.echo(_("{path} is removed.").format(path=kernel.path))
    elif (text := mended(seen, kernel)) is not None:
        written(kernel.path, text)
        click.echo(_("{path} is written.").format(path=kernel.path))
