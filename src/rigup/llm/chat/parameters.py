"""What a person can set of an answer: the table's rows, values in their ranges, and the names that an endpoint takes."""

import json
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from rigup.knowledge import tables
from rigup.language import _, sentences

Kind = Literal["llama", "vllm", "ollama", "openai"]
KINDS: tuple[Kind, ...] = ("llama", "vllm", "ollama", "openai")
SYSTEM, TEMPLATE = "system", "chat-template"
_MOST_FILE = 1_000_000  # bytes of a schema, a grammar, a template
_MOST_STOPS = 16
_ON, _OFF = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


class ParameterError(ValueError):
    """A name or a value that is not taken; the text tells what is."""


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One row.

    Attributes:
        kind: number, whole, choice, switch, text, texts (parted by |) or schema.
        effect: one sentence.
        usual: what holds where nobody sets it, as the engine has it; "" for nothing.
        least, most: what is taken of numbers.
        values: what is taken of a choice.
        names: what each kind of endpoint calls it; it is not sent to one that is not there.

    """

    name: str
    kind: str
    effect: str
    usual: str = ""
    least: float | None = None
    most: float | None = None
    values: list[str] = []
    names: dict[str, str] = {}

    def range_text(self) -> str:
        """What is taken, in words."""
        if self.values:
            return ", ".join(self.values)
        if self.least is not None and self.most is not None:
            return f"{self.least:.10g} … {self.most:.10g}"
        return {"switch": "on, off", "schema": "JSON", "texts": _("texts")}.get(self.kind, _("text"))


def parameters() -> tuple[Parameter, ...]:
    """All rows. Raises KnowledgeError for a table of a person's own that cannot be read."""
    return tuple(tables.rows("generation", "parameter", Parameter))


def named(name: str) -> Parameter:
    """The row of a name, however it parts its words. Raises ParameterError, with near names."""
    import difflib

    plain = name.strip().lower().replace("_", "-")
    rows = {parameter.name: parameter for parameter in parameters()}
    if plain not in rows:
        problems = [_("There is no parameter {name}.").format(name=name[:60])]
        if near := difflib.get_close_matches(plain, rows, 3):
            problems.append(_("Near it are: {near}.").format(near=", ".join(near)))
        raise ParameterError(sentences(*problems))
    return rows[plain]


def value_of(row: Parameter, text: str) -> Any:
    """A value as the row takes it. Raises ParameterError for one that it does not take."""
    text = text if row.kind in ("texts", "text", "schema") else text.strip()
    if row.kind in ("number", "whole"):
        return _number(row, text)
    if row.kind == "switch" and text.lower() in (*_ON, *_OFF):
        return text.lower() in _ON
    if row.kind == "choice" and text in row.values:
        return int(text) if text.isdecimal() else text
    if row.kind == "texts":
        stops = [stop.replace("\\n", "\n") for stop in text.split("|") if stop]
        if 0 < len(stops) <= _MOST_STOPS:
            return stops
    if row.kind in ("text", "schema") and text.strip():
        body = _read(text.strip()[1:]) if text.strip().startswith("@") else text
        return _schema(row, body) if row.kind == "schema" else body
    raise _refused(row, text)


def _refused(row: Parameter, text: str) -> ParameterError:
    template = _("{name} is not given {value}: it takes {range}.")
    return ParameterError(template.format(name=row.name, value=repr(text[:60]), range=row.range_text()))


def _number(row: Parameter, text: str) -> float | int:
    try:
        value: float | int = int(text) if row.kind == "whole" else float(text)
    except (ValueError, OverflowError) as error:
        raise _refused(row, text) from error
    if row.least is None or row.most is None or not row.least <= value <= row.most:  # what is no number is in no range
        raise _refused(row, text)
    return value


def _schema(row: Parameter, body: str) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ParameterError(_("{name} is no JSON: {error}").format(name=row.name, error=str(error)[:200])) from error
    if not isinstance(document, dict):
        raise _refused(row, body)
    return document


def _read(path: str) -> str:
    """A file that a person names with @. Raises ParameterError."""
    from pathlib import Path

    try:
        with Path(path).expanduser().open("rb") as file:
            body = file.read(_MOST_FILE + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ParameterError(_("{path}: {why}.").format(path=path[:300], why=why)) from error
    if len(body) > _MOST_FILE:
        raise ParameterError(_("{path} is larger than {size} bytes.").format(path=path[:300], size=_MOST_FILE))
    return body.decode("utf-8", "replace")


def request_of(settings: Mapping[str, Any], kind: Kind) -> tuple[dict[str, Any], list[str]]:
    """What settings become in a request to a kind of endpoint, and names of those that it does not take."""
    body: dict[str, Any] = {}
    left = []
    for name, value in settings.items():
        row = named(name)
        if name == SYSTEM:
            continue
        if not (where := row.names.get(kind)):
            left.append(name)
            continue
        *path, last = where.split(".")
        inner = body
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = _sent(row, last, value)
    return body, left


def _sent(row: Parameter, last: str, value: Any) -> Any:
    if row.kind == "schema":
        return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": value}}
    if last == "reasoning_effort":
        return "medium" if value else "none"
    return value
