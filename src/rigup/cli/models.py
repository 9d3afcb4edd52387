"""`rigup models`: which language models lie on this machine, and how one of them goes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from rigup.cli.data import data_text
from rigup.cli.groups import CommandGroup
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.llm.hub.entry import Entry
    from rigup.llm.hub.removal import Removal

_IN = "A further folder to look in, below which models lie; as often as wanted."


@contextmanager
def as_click_errors() -> Iterator[None]:
    """What models on disk cannot be had, found or removed by, as click tells it."""
    from rigup.cli.failing import CannotBeDone, WrongRequest
    from rigup.fit.errors import FitError
    from rigup.knowledge.tables import KnowledgeError
    from rigup.llm.hub.errors import ModelError, WrongNameError

    try:
        yield
    except (FitError, KnowledgeError, WrongNameError) as error:
        raise WrongRequest(str(error)) from error
    except ModelError as error:
        raise CannotBeDone(str(error)) from error


@click.group("models", cls=CommandGroup, invoke_without_command=True)
@click.option("--in", "folders", multiple=True, metavar="FOLDER", help=_IN)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.models/1).")
@click.pass_context
def command(context: click.Context, folders: tuple[str, ...], as_json: bool) -> int:
    """List the language models on this machine: Hugging Face's, ollama's, LM Studio's, Jan's, llama.cpp's.

    Each with its size, type, when it was last used, and whether it runs here.
    """
    context.obj = folders
    if context.invoked_subcommand is not None:
        return 0
    from rigup.cli.progress import Waiting
    from rigup.fit.where import pools_on
    from rigup.llm.hub.listing import listed
    from rigup.llm.hub.on_disk import on_disk

    if as_json:
        choose("en")
    with as_click_errors(), Waiting(_("Looking for models …")):
        answer = listed(on_disk(os.environ, folders), pools_on(None))
    if as_json:
        click.echo(data_text(answer))
    else:
        from rigup.cli.models_report import lines

        click.echo("\n".join(lines(answer)))
    return 0


@command.command("check")
@click.argument("name", metavar="[NAME]", default="", required=False)
@click.option("--in", "folders", multiple=True, metavar="FOLDER", help=_IN)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.models-checked/1).")
@click.pass_obj
def check(before: tuple[str, ...], name: str, folders: tuple[str, ...], as_json: bool) -> int:
    """Work out the checksums of one model, or of all, and hold them against those that their stores keep.

    Hugging Face and ollama keep checksums. The exit status is 1 where a file is another one than it was.
    """
    from rigup.cli.models_report import checked_lines
    from rigup.cli.progress import Waiting
    from rigup.llm.hub.checking import checked
    from rigup.llm.hub.listing import check_answer
    from rigup.llm.hub.on_disk import on_disk

    if as_json:
        choose("en")
    with as_click_errors(), Waiting(_("Working out checksums …")):
        entries = on_disk(os.environ, before + folders).entries
        answer = check_answer(checked([_one(name, entries)] if name else entries))
    click.echo(data_text(answer) if as_json else "\n".join(checked_lines(answer)))
    return int(any(file.verdict == "wrong" for file in answer.files))


@command.command("remove")
@click.argument("name", metavar="NAME")
@click.option("--in", "folders", multiple=True, metavar="FOLDER", help=_IN)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.models-removed/1).")
@click.pass_obj
def remove(before: tuple[str, ...], name: str, folders: tuple[str, ...], yes: bool, dry_run: bool, as_json: bool) -> int:
    """Remove one model by its name in the list. What else uses its files is told, and they stay.

    Nothing outside of the store that keeps it is removed.
    """
    from rigup.cli.env_files import asked
    from rigup.llm.hub.listing import removal_answer
    from rigup.llm.hub.on_disk import on_disk
    from rigup.llm.hub.removal import carried_out, foreseen
    from rigup.sizes import size

    if as_json:
        choose("en")
    with as_click_errors():
        disk = on_disk(os.environ, before + folders)
        removal = foreseen(_one(name, disk.entries), disk.entries)
        if not as_json:
            _shown(removal)
        question = _("Remove {name}? It frees {size}.").format(name=name, size=size(removal.frees))
        if not dry_run and not asked(question, yes):
            return 1
        if not dry_run:
            carried_out(removal)
    if as_json:
        click.echo(data_text(removal_answer(removal, removed=not dry_run)))
    elif dry_run:
        click.echo(_("Nothing was changed."))
    else:
        click.echo(_("{name} is removed; {size} are free.").format(name=name, size=size(removal.frees)))
    return 0


def _shown(removal: "Removal") -> None:
    from rigup.cli.models_report import removal_lines
    from rigup.llm.hub.listing import removal_answer

    click.echo("\n".join(removal_lines(removal_answer(removal, removed=False))))


def _one(name: str, entries: "list[Entry]") -> "Entry":
    """The one model that a word means. Raises WrongNameError for none and for several."""
    import difflib

    from rigup.language import sentences
    from rigup.llm.hub.errors import WrongNameError
    from rigup.llm.hub.on_disk import named

    found = named(name, entries)
    if len(found) == 1:
        return found[0]
    if found:
        message = _("{name} means several: {names}.")
        raise WrongNameError(message.format(name=name, names=", ".join(f"{entry.store}:{entry.name}" for entry in found[:20])))
    near = difflib.get_close_matches(name, [entry.name for entry in entries], 3, 0.5)
    message = _("No model on this machine is called {name}.").format(name=name[:200])
    raise WrongNameError(sentences(message, _("Near it are: {near}.").format(near=", ".join(near)) if near else ""))
