"""Configuration files beside a script as values that know their lines: YAML, JSON, TOML."""

import json
import tomllib
from collections.abc import Callable
from typing import Any

import yaml

from rigup.train.check.python.values import NOTHING, Place, Value, constant

_MOST_BYTES = 1_000_000
_DEEPEST = 40
_MOST_NODES = 20_000

Read = Callable[[str], str | None]


def file_value(path: str, read: Read) -> Value | None:
    """What a configuration file says; None where it is not there or cannot be read."""
    text = read(path)
    if text is None or len(text) > _MOST_BYTES or not path.endswith((".yaml", ".yml", ".json", ".toml")):
        return None
    try:
        if path.endswith((".yaml", ".yml")):
            return yaml_value(text, path)
        return constant(json.loads(text) if path.endswith(".json") else tomllib.loads(text), Place(file=path, line=1))
    except (ValueError, RecursionError, yaml.YAMLError, tomllib.TOMLDecodeError):
        return None


def yaml_value(text: str, path: str) -> Value | None:
    """A YAML document with the line of each value."""
    tree = yaml.compose(text, Loader=yaml.SafeLoader)
    return _Yaml(path).value(tree, 0) if tree is not None else None


class _Yaml:
    def __init__(self, path: str) -> None:
        self.path, self.left = path, _MOST_NODES
        self.loader = yaml.SafeLoader("")

    def value(self, node: yaml.Node, depth: int) -> Value:
        self.left -= 1
        place = Place(file=self.path, line=node.start_mark.line + 1)
        if self.left < 0 or depth > _DEEPEST:
            return Value(place=place)
        if isinstance(node, yaml.MappingNode):
            fields = {str(getattr(key, "value", "")): self.value(part, depth + 1) for key, part in node.value[:2000]}
            return Value(fields=fields, const=_plain(fields), place=place)
        if isinstance(node, yaml.SequenceNode):
            items = tuple(self.value(part, depth + 1) for part in node.value[:2000])
            known = all(item.known for item in items)
            return Value(items=items, const=[item.const for item in items] if known else NOTHING, place=place)
        return self._scalar(node, place)

    def _scalar(self, node: yaml.Node, place: Place) -> Value:
        if isinstance(node.value, str) and "${" in node.value:
            return Value(place=place)
        try:
            scalar: Any = self.loader.construct_object(node)
        except (yaml.YAMLError, ValueError):
            scalar = node.value
        return Value(const=scalar, place=place)


def _plain(fields: dict[str, Value]) -> Any:
    return {key: part.const for key, part in fields.items()} if all(part.known for part in fields.values()) else NOTHING


def merged(below: Value, above: Value, depth: int = 0) -> Value:
    """One configuration laid over another."""
    if below.fields is None or above.fields is None or depth > _DEEPEST:
        return above
    fields = dict(below.fields)
    for key, part in above.fields.items():
        fields[key] = merged(fields[key], part, depth + 1) if key in fields else part
    return Value(fields=fields, const=_plain(fields), open=below.open or above.open, place=above.place or below.place)


def hydra_value(folder: str, name: str, read: Read, overrides: dict[str, Value]) -> Value:
    """hydra's configuration: the primary file, the groups of its list of defaults, and what the command line sets.

    What cannot be read leaves the configuration open: keys that are not seen may be there.
    """
    primary = file_value(_joined(folder, name, ".yaml"), read) if name else Value(fields={}, open=True)
    opened = primary is None
    value = Value(fields={}) if primary is None else primary
    groups = (value.fields or {}).get("defaults")
    base = Value(fields={}, open=opened)
    for entry in (groups.items or ()) if groups else ():
        base = merged(base, _group(folder, entry, read, overrides))
    value = merged(base, value)
    chosen = {name for entry in (groups.items or () if groups else ()) for name in _group_names(entry)}
    for key, word in overrides.items():
        if key.lstrip("+~") not in chosen:
            value = with_key(value, key.lstrip("+~"), word)
    return Value(fields=value.fields, open=value.open, place=value.place)


def _group_names(entry: Value) -> list[str]:
    """The groups that a line of a list of defaults chooses of."""
    return [key.removeprefix("override ").removeprefix("optional ").strip("/") for key in entry.fields or {}]


def _group(folder: str, entry: Value, read: Read, overrides: dict[str, Value]) -> Value:
    """One line of a list of defaults: `- trainer: ddp`."""
    if entry.text is not None:
        if entry.text == "_self_":
            return Value(fields={})
        return file_value(_joined(folder, entry.text, ".yaml"), read) or Value(fields={}, open=True)
    value = Value(fields={})
    for key, option in (entry.fields or {}).items():
        group = key.removeprefix("override ").removeprefix("optional ").strip("/")
        chosen = overrides.get(group, option).text
        held = file_value(_joined(folder, f"{group}/{chosen}", ".yaml"), read) if chosen else None
        part = Value(fields={group.rsplit("/", 1)[-1]: held}) if held is not None else Value(fields={}, open=True)
        value = merged(value, part)
        value = Value(fields=value.fields, open=value.open or part.open)
    return value


def with_key(value: Value, dotted: str, word: Value, depth: int = 0) -> Value:
    """A configuration with one value set, by its dotted key."""
    head, _dot, rest = dotted.partition(".")
    fields = dict(value.fields or {})
    inner = fields.get(head, Value(fields={}))
    fields[head] = with_key(inner, rest, word, depth + 1) if rest and depth < _DEEPEST else word
    return Value(fields=fields, open=value.open, place=value.place)


def _joined(folder: str, name: str, suffix: str) -> str:
    path = "/".join(part for part in (folder.strip("/"), name) if part)
    return path if path.endswith((".yaml", ".yml")) else path + suffix
