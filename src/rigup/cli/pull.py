"""`rigup pull`: a language model comes onto this machine, after it was told whether it runs here."""

import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rigup.cli.data import data_text
from rigup.cli.models import as_click_errors
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.llm.hub.fetch import Progress
    from rigup.llm.hub.pulling import Target, Verdict


_RATE = re.compile(r"(?P<count>\d{1,9}(?:\.\d{1,3})?) ?(?P<unit>[kKmMgG]?)i?B?(?:/s)?", re.ASCII)
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


class Wish(NamedTuple):
    """How a person wants a model."""

    revision: str
    mirror: str
    folders: tuple[str, ...]
    reuse: bool
    yes: bool
    force: bool
    dry_run: bool
    limit: int
    as_json: bool


@click.command("pull")
@click.argument("model", metavar="MODEL")
@click.option("--revision", default="main", metavar="REV", help="Branch, tag or commit of the repository.")
@click.option("--mirror", default="", metavar="NAME", help="Load from a mirror of Hugging Face; it is shown no token.")
@click.option("--in", "folders", multiple=True, metavar="FOLDER", help="A further folder in which it may lie already.")
@click.option("--no-reuse", is_flag=True, help="Load it even where another program has it already.")
@click.option("-y", "--yes", is_flag=True, help="Where it does not fit, take the type that does, without asking.")
@click.option("--force", is_flag=True, help="Load it even where it does not fit.")
@click.option("--limit", default="", metavar="RATE", help="Bytes a second at most: 500kB, 10MB.")
@click.option("--dry-run", is_flag=True, help="Only tell whether it fits and what would come.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.pull/1).")
def command(model: str, no_reuse: bool, limit: str, **wished: Any) -> int:
    """Load a language model, after telling whether it runs on this machine.

    MODEL is a repository of Hugging Face (user/name, user/name:Q4_K_M, user/name/file.gguf), an address there, or a tag of
    ollama (llama3.2:3b). What broke off goes on where it stopped; every file is checked by its checksum before it counts.
    The exit status is 1 where it does not fit or does not come.
    """
    wish = Wish(reuse=not no_reuse, limit=_rate(limit), **wished)
    if wish.as_json:
        choose("en")
    with as_click_errors():
        return _pull(model, wish)


def _rate(text: str) -> int:
    """Bytes a second; 0 where none are told. Raises click.UsageError."""
    match = _RATE.fullmatch(text.strip())
    found = round(float(match["count"]) * _TIMES[match["unit"].lower()]) if match else 0
    if text and not found:
        raise click.UsageError(_("{value} is no rate: write for instance 500kB or 10MB.").format(value=text[:60]))
    return found


def _pull(model: str, wish: Wish) -> int:
    from rigup.cli.fit_asked import headers_cache
    from rigup.cli.progress import Waiting
    from rigup.fit.where import pools_on
    from rigup.llm.hub.hf_api import hub_of
    from rigup.llm.hub.pulling import target_of, verdict

    with Waiting(_("Asking for the model …")):
        hub = hub_of(os.environ, wish.mirror)
        target = target_of(model, hub, os.environ, wish.revision)
        if path := target.here:
            return _report_present(target, target.source, str(path), wish)
        assessment = verdict(target, pools_on(None), headers_cache())
    if not wish.as_json:
        from rigup.cli.pull_report import before

        click.echo("\n".join(before(target, assessment)))
    if wish.reuse and (found := _elsewhere(target, wish)):
        return _report_present(target, *found, wish)
    if assessment.judgement and assessment.judgement.fits is False and not wish.force:
        return _offer_others(target, assessment, wish)
    return _loaded(target, assessment, wish)


def _elsewhere(target: "Target", wish: Wish) -> tuple[str, str] | None:
    """Whose store has the same files, and where."""
    from rigup.llm.hub.on_disk import on_disk
    from rigup.llm.hub.pulling import elsewhere

    def announce(sentence: str) -> None:
        if not wish.as_json:
            click.echo(sentence, err=True)

    found = elsewhere(target.weights, on_disk(os.environ, wish.folders).entries, announce)
    return (f"{found.store}:{found.name}", str(found.model)) if found else None


def _report_present(target: "Target", whose: str, path: str, wish: Wish) -> int:
    """It is on this machine: nothing comes."""
    if wish.as_json:
        _data(target, None, "there", path)
    else:
        template = _("{name} is on this machine already ({whose}), and is used from there: {path}")
        click.echo(template.format(name=target.name, whose=whose, path=path))
    return 0


def _offer_others(target: "Target", assessment: "Verdict", wish: Wish) -> int:
    """It does not fit: the type that does is offered; where nobody can answer, the list and an exit status of 1."""
    from rigup.cli.pull_report import offers

    better = assessment.better
    if not wish.as_json:
        click.echo("\n".join(offers(assessment)), err=True)
    asks = not wish.as_json and not wish.dry_run and sys.stdin.isatty()
    if (
        better
        and not wish.dry_run
        and (wish.yes or (asks and click.confirm(_("Load {file} instead?").format(file=better.choice.file), err=True)))
    ):
        repo = target.name.removesuffix("/" + target.first)
        return _pull(f"{repo}/{better.choice.file}", wish)
    if wish.as_json:
        _data(target, assessment, "does-not-fit", None)
    else:
        click.echo(_("Nothing was loaded. With --force it is loaded all the same."), err=True)
    return 1


def _loaded(target: "Target", assessment: "Verdict", wish: Wish) -> int:
    from rigup.cli.pull_report import Coming
    from rigup.cli.stopping import stopped, stopping
    from rigup.llm.hub.fetch import Progress
    from rigup.llm.hub.pulling import pulled, room

    before = room(target.pieces)
    if wish.dry_run:
        if wish.as_json:
            _data(target, assessment, "possible", None, before)
        else:
            click.echo(_("Nothing was loaded."))
        return 0
    progress = Progress(target.pieces, wish.limit)
    with stopping() as signals:
        try:
            with Coming(progress, silent=wish.as_json) as coming:
                path = pulled(target, progress, coming.shows)
        except KeyboardInterrupt:
            sentence = _("Stopped. What has come stays, and the next `rigup pull` goes on from there.")
            raise stopped(sentence, signals) from None
    if wish.as_json:
        _data(target, assessment, "pulled", path, before, progress)
    else:
        click.echo(_("{name} is here, and its checksums are right: {path}").format(name=target.name, path=path))
        if str(path).endswith(".gguf"):
            click.echo(_("Talk to it: {command}").format(command=shlex.join(("rigup", "chat", target.name))), err=True)
    return 0


def _data(
    target: "Target",
    assessment: "Verdict | None",
    verdict: Any,
    path: "str | Path | None",
    room: tuple[int, int] | None = None,
    progress: "Progress | None" = None,
) -> None:
    from rigup.cli.pull_report import answer

    click.echo(data_text(answer(target, assessment, verdict, str(path) if path else None, room, progress)))
