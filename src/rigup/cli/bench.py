"""`rigup bench`: how fast each device is, beside its data sheet, others, and its own past."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.data import data_text
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.bench.records import Run
    from rigup.schemas.bench import Bench


@click.command("bench")
@click.argument("environment", default="", required=False)
@click.option("--quick/--full", "quick", default=True, help="A minute, or for longer and with larger sizes.")
@click.option("--devices", default="", metavar="NAME,…", help="Only these, as the framework calls them: cuda:0,cpu.")
@click.option("--only", default="", metavar="NAME,…", help="Only these measurements: matmul-float32,memory,launch …")
@click.option(
    "--model",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="A GGUF for llama.cpp's tokens a second; by default one that is made.",
)
@click.option(
    "--compare",
    "other",
    default="",
    metavar="FILE|MACHINE|NAME",
    help="Set beside a run's --json, a capture, a machine or moment of --list, or a card of the tables.",
)
@click.option("--list", "listing", is_flag=True, help="Measure nothing; show what there is to compare with.")
@click.option("--prove", is_flag=True, help="First prove the environment, as `rigup verify` does; --json holds both.")
@click.option("--picture", default="", metavar="FILE", help="Also draw it: a .png, .svg or .pdf.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.bench/1).")
def command(environment: str, other: str, listing: bool, picture: str, as_json: bool, **wish: Any) -> int:
    """Measure how fast each device is: matrix products, memory, copies, launches, training steps, tokens.

    ENVIRONMENT is its folder, its interpreter or its name; by default the active one, else the one in this folder.
    The exit status is 1 where a device is slower than it was on this machine before.
    """
    if as_json:
        choose("en")  # data is the same in every language
    if listing:
        return _list(as_json)
    run = _other(other, environment) if other else None
    answer = _measured(environment, wish)
    if not answer.devices:
        raise click.UsageError(_nothing(wish["devices"], wish["only"]))
    if run is not None:
        answer = _compared(answer, other, run)
    if picture:
        _draw(answer, Path(picture))
    if as_json:
        click.echo(data_text(answer))
    else:
        from rigup.cli.bench_report import text
        from rigup.machine.outward import outward

        click.echo(text(outward(answer), _wants_color()), color=_wants_color())
    return int(bool(answer.drops))


def _compared(answer: "Bench", name: str, other: "Run") -> "Bench":
    from msgspec import structs

    from rigup.bench.comparing import compared
    from rigup.schemas.bench import Compared

    return structs.replace(answer, compared=Compared(with_=name, figures=compared(answer, other)))


def _nothing(devices: str, only: str) -> str:
    template = _(
        "Nothing was measured: no device or no measurement here has the name that was asked for ({names}). `rigup verify` lists the devices, `rigup bench --json` names each measurement."
    )
    return template.format(names=", ".join(filter(None, (devices, only))))


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def _measured(environment: str, wish: dict[str, Any]) -> "Bench":
    from rigup.bench.bench import bench
    from rigup.cli.progress import Waiting
    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError
    from rigup.verify.environment import VerifyError
    from rigup.workflows.environments import folder_of

    environment = folder_of(environment)
    try:
        with Waiting(_("Measuring; nothing else should run meanwhile …")):
            return bench(
                environment,
                full=not wish["quick"],
                devices=_names(wish["devices"]),
                only=_names(wish["only"]),
                model=wish["model"] or "",
                prove=wish["prove"],
            )
    except (VerifyError, SourceError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error


def _other(word: str, environment: str) -> "Run":
    """What is to be set beside it, before a minute is spent. Raises ClickException where the word names nothing."""
    from rigup.bench.comparing import CompareError, other
    from rigup.knowledge.tables import KnowledgeError
    from rigup.workflows.environments import folder_of

    try:
        return other(word, os.path.abspath(folder_of(environment)))
    except (CompareError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error


def _list(as_json: bool) -> int:
    from rigup.bench.comparing import listed
    from rigup.knowledge.tables import KnowledgeError

    try:
        answer = listed()
    except KnowledgeError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(data_text(answer))
    else:
        from rigup.cli.bench_list import text

        click.echo(text(answer, _wants_color()), color=_wants_color())
    return 0


def _draw(answer: "Bench", path: Path) -> None:
    from rigup.bench.picture import PictureError, drawn

    try:
        drawn(answer, path)
    except PictureError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(_("{path} cannot be written: {error}.").format(path=path, error=error.strerror)) from error


def _wants_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
