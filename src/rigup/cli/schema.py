"""`rigup schema`: the JSON Schemas of what `--json` prints."""

import difflib
import json

import click

from rigup.cli.layout import columns, padded, wrapped
from rigup.language import _, sentences


@click.command("schema")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Print the JSON Schema of an answer of --json; without NAME list them.

    NAME is the command's, or the whole id (rigup.doctor/1) that stands in an answer under `schema`.
    """
    from rigup import schemas

    if name is None:
        click.echo("\n".join(_list_lines()))
        return 0
    short = name.removeprefix("rigup.").removesuffix("/1")
    if short not in schemas.ANSWERS:
        sentence = _("There is no schema {name}. `rigup schema` lists them.").format(name=name[:60])
        near = difflib.get_close_matches(short, schemas.ANSWERS, 3)
        nearest = _("Near it are: {near}.").format(near=", ".join(near)) if near else ""
        raise click.UsageError(sentences(sentence, nearest))
    click.echo(json.dumps(schemas.json_schema(short), ensure_ascii=False, indent=1))
    return 0


def _list_lines() -> list[str]:
    """A line for each."""
    from rigup.schemas import ANSWERS

    room = max(map(columns, ANSWERS)) + 2
    return [line for name, form in ANSWERS.items() for line in wrapped(_(form.title), padded(name, room), " " * room)]
