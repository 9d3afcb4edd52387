"""`rigup bench`: how fast each device is, beside its data sheet, others, and its own past."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from rigup.language import _, choose

Answer = dict[str, Any]


@click.command("bench")
@click.argument("environment", default="", required=False)
@click.option("--quick/--full", "quick", default=True, help="A minute, or for longer and with larger sizes.")
@click.option("--devices", default="", metavar="NAME,…", help="Only these, as the framework calls them: cuda:0,cpu.")
@click.option("--only", default="", metavar="NAME,…", help="Only these measurements: matmul-float32,memory,launch …")
@click.option("--compare", "other", default="", metavar="FILE", help="Set beside an earlier run's --json.")
@click.option("--picture", default="", metavar="FILE", help="Also draw it: a .png, .svg or .pdf.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.bench/1).")
def command(environment: str, quick: bool, devices: str, only: str, other: str, picture: str, as_json: bool) -> int:
    """Measure how fast each device is: matrix products, memory, copies, launches, training steps.

    ENVIRONMENT is its folder, its interpreter or its name; by default the active one, else the one in this folder.
    The exit status is 1 where a device is slower than it was on this machine before.
    """
    if as_json:
        choose("en")  # data is the same in every language
    there = _other(other) if other else None
    told = _measured(environment, not quick, _names(devices), _names(only))
    if not told["devices"]:
        raise click.UsageError(_nothing(devices, only))
    if there is not None:
        from rigup.bench.answer import compared

        told["compared"] = {"with": other, "figures": compared(told, there)}
    if picture:
        _draw(told, Path(picture))
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False, indent=1, default=str))
    else:
        from rigup.cli.bench_report import text

        click.echo(text(told, _wants_color()), color=_wants_color())
    return int(bool(told["drops"]))


def _nothing(devices: str, only: str) -> str:
    told = _("Nothing was measured: no device or no measurement here has the name that was asked for ({names}). `rigup verify` lists the devices, `rigup bench --json` names each measurement.")  # fmt: skip
    return told.format(names=", ".join(filter(None, (devices, only))))


def _names(told: str) -> tuple[str, ...]:
    return tuple(filter(None, (one.strip() for one in told.split(","))))


def _measured(environment: str, full: bool, devices: tuple[str, ...], only: tuple[str, ...]) -> Answer:
    from rigup.bench.bench import bench
    from rigup.cli.meant import folder_of
    from rigup.cli.progress import Waiting
    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError
    from rigup.verify.environment import VerifyError

    environment = folder_of(environment)
    try:
        with Waiting(_("Measuring; nothing else should run meanwhile …")):
            return bench(environment, full, devices, only)
    except (VerifyError, SourceError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error


def _other(path: str) -> Answer:
    """An earlier run. Raises ClickException for what is none."""
    try:
        with open(path, encoding="utf-8") as file:
            told: Answer = json.loads(file.read(20_000_000))
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else _("it is no JSON")
        raise click.ClickException(_("{path} cannot be read: {error}.").format(path=path, error=why)) from error
    if not isinstance(told, dict) or told.get("schema") != "rigup.bench/1" or not isinstance(told.get("devices"), list):
        raise click.ClickException(_("{path} is no answer of `rigup bench --json`.").format(path=path))
    return told


def _draw(told: Answer, path: Path) -> None:
    from rigup.bench.picture import PictureError, drawn

    try:
        drawn(told, path)
    except PictureError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(
            _("{path} cannot be written: {error}.").format(path=path, error=error.strerror)
        ) from error


def _wants_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
