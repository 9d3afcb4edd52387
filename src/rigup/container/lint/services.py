"""Compose files and dev containers as services: what is asked for, and on which lines."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import msgspec
import yaml

_COMMENTS = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'("(?:\\.|[^"\\\n])*")|,(?=\s*[}\]])')


class Unreadable(ValueError):
    """A file that is no YAML or JSON of its kind."""


class Marked:
    """A value with the lines on which it stands, and how its key is written."""

    def __init__(self, value: Any, first: int, last: int) -> None:
        self.value, self.first, self.last = value, first, last

    def get(self, *path: str) -> "Marked | None":
        """What lies below, by keys; None where a key is not there."""
        found: Marked | None = self
        for key in path:
            mapping = found.value if found is not None else None
            found = mapping.get(key) if isinstance(mapping, dict) else None
        return found

    @property
    def items(self) -> list["Marked"]:
        """Those of a list; none for what is no list."""
        return self.value if isinstance(self.value, list) else []

    @property
    def keys(self) -> dict[str, "Marked"]:
        """Those of a mapping; none for what is no mapping."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def text(self) -> str:
        """A plain value as text; "" for what is none."""
        return "" if isinstance(self.value, dict | list) or self.value is None else str(self.value)


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """A container as a file describes it.

    Attributes:
        name: of the service; "" for a dev container.
        all: everything, with its lines.
        words: its command.
        variables: with the line of each; the value is None where the caller's is taken.
        build: folder, Dockerfile and target of what it is built from; None for an image.

    """

    name: str
    first: int
    last: int
    all: Marked
    image: Marked | None
    words: tuple[str, ...]
    variables: dict[str, tuple[str | None, int]]
    build: tuple[str, str, str] | None = None
    dev: bool = False


def marked(text: str) -> Marked:
    """A YAML or JSON text with its lines; comments and trailing commas of JSON are allowed. Raises Unreadable."""
    if text.lstrip()[:1] == "{" or text.lstrip()[:2] in ("//", "/*"):
        text = _COMMENTS.sub(lambda hit: hit[1] or re.sub(r"[^\n]", " ", hit[0]), text)
        text = _TRAILING.sub(lambda hit: hit[1] or " ", text)
    try:
        node = yaml.compose(text.replace("\t", "  "), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise Unreadable(str(error).splitlines()[0]) from error
    if node is None:
        raise Unreadable("empty")
    return _marked(node, 0)


def _marked(node: yaml.Node, depth: int) -> Marked:
    first, last = (node.start_mark.line + 1, max(node.end_mark.line + (node.end_mark.column > 0), node.start_mark.line + 1))
    if depth > 40:
        raise Unreadable("too deep")
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Marked] = {}
        for key, value in node.value:
            below = _marked(value, depth + 1)
            below.first = key.start_mark.line + 1
            if key.value == "<<":
                found = {**below.keys, **found}
            else:
                found[str(key.value)] = below
        return Marked(found, first, max([last if node.flow_style else first, *(value.last for value in found.values())]))
    if isinstance(node, yaml.SequenceNode):
        items = [_marked(child, depth + 1) for child in node.value]
        return Marked(items, first, max([last if node.flow_style else first, *(item.last for item in items)]))
    value = None if node.tag.endswith(":null") else node.value
    if node.tag.endswith(":bool"):
        value = str(node.value).lower() in ("true", "yes", "on")
    return Marked(value, first, last)


# -- compose -------------------------------------------------------------------------------------------


def compose(text: str) -> tuple[Marked, list[Service]]:
    """The whole file and its services. Raises Unreadable."""
    whole = marked(text)
    services = whole.get("services")
    if services is None or not services.keys:
        raise Unreadable("no services")
    return whole, [_service(name, node) for name, node in services.keys.items()]


def _service(name: str, node: Marked) -> Service:
    return Service(
        name=name,
        first=node.first,
        last=node.last,
        all=node,
        image=node.get("image"),
        words=_words(node.get("command")) or _words(node.get("entrypoint")),
        variables=dict(_variables(node.get("environment"))),
        build=_build(node.get("build")),
    )


def _words(node: Marked | None) -> tuple[str, ...]:
    from rigup.container.lint.recipe import split

    if node is None:
        return ()
    return tuple(item.text for item in node.items) if node.items else tuple(split(node.text))


def _variables(node: Marked | None) -> Iterator[tuple[str, tuple[str | None, int]]]:
    if node is None:
        return
    for name, child in node.keys.items():
        yield name, (None if child.value is None else child.text, child.first)
    for item in node.items:
        name, equals, value = item.text.partition("=")
        yield name, (value if equals else None, item.first)


def _build(node: Marked | None) -> tuple[str, str, str] | None:
    if node is None:
        return None
    if node.text:
        return node.text, "Dockerfile", ""
    context, file, target = (node.get(key) for key in ("context", "dockerfile", "target"))
    return (context.text if context else ".", file.text if file else "Dockerfile", target.text if target else "")


# -- dev containers ------------------------------------------------------------------------------------


def devcontainer(text: str) -> Service:
    """A dev container as a service. Raises Unreadable."""
    whole = marked(text)
    if not whole.keys:
        raise Unreadable("no object")
    lines = list(whole.keys.values())
    build = whole.get("build")
    file = whole.get("dockerFile") or (build.get("dockerfile") if build else None)
    context = build.get("context") if build else None
    first = min((line.first for line in lines), default=1)
    last = max((line.last for line in lines), default=1)
    variables: dict[str, tuple[str | None, int]] = {
        name: (value.text, value.first)
        for key in ("containerEnv", "remoteEnv")
        if (node := whole.get(key))
        for name, value in node.keys.items()
    }
    folder = str(PurePosixPath(context.text)) if context else "."
    return Service(
        name="",
        first=first,
        last=last,
        all=whole,
        image=whole.get("image"),
        words=(),
        variables=variables,
        build=(folder, file.text, "") if file else None,
        dev=True,
    )
