"""`rigup verify`: prove on every device that an environment computes right, and that the GPU really did it."""

import os
import sys
from typing import TYPE_CHECKING

import click

from rigup.cli.data import data_text
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.schemas.verify import Verify


@click.command("verify")
@click.argument("environment", default="", required=False)
@click.option("--quick/--full", "quick", default=True, help="What takes seconds, or also training and most memory.")
@click.option("--devices", default="", metavar="NAME,…", help="Only these, as the framework calls them: cuda:0,cpu.")
@click.option("--limit", type=click.FloatRange(min=1), metavar="SECONDS", help="The longest that one check may take.")
@click.option("-v", "--verbose", is_flag=True, help="Show every check with what was measured.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.verify/1).")
def command(environment: str, quick: bool, devices: str, limit: float | None, verbose: bool, as_json: bool) -> int:
    """Prove on every device that an environment computes right, and that the GPU really did it.

    ENVIRONMENT is its folder, its interpreter or its name; by default the active one, else the one in this folder.
    Its own Python computes, in a process with limits. What is proven is kept, and `rigup doctor` shows the device as
    verified as long as chip, driver, kernel and build are the same.
    """
    if as_json:
        choose("en")  # data is the same in every language
    answer = _verified(environment, not quick, tuple(filter(None, devices.split(","))), limit)
    if as_json:
        click.echo(data_text(answer))
    else:
        from rigup.cli.verify_report import text
        from rigup.machine.outward import outward

        click.echo(text(outward(answer), verbose, _wants_color()), color=_wants_color())
    return int(answer.verdict != "verified")


def _verified(environment: str, full: bool, devices: tuple[str, ...], limit: float | None) -> "Verify":
    from rigup.cli.progress import Waiting
    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError
    from rigup.verify.environment import VerifyError
    from rigup.verify.verify import usual_limits, verify
    from rigup.workflows.environments import folder_of

    limits = usual_limits(full)
    limits = limits._replace(check=limit) if limit else limits
    environment = folder_of(environment)
    try:
        with Waiting(_("Computing in the environment's own Python …")):
            return verify(environment, full, devices, limits)
    except (VerifyError, SourceError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error


def _wants_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
