"""A JSON schema as a grammar of llama.cpp's own kind.

Engines hold a schema by a library that takes SentencePiece's tokens for what they are at the beginning of a text, without
their blank; their own grammars see them as they are. What a grammar cannot say is refused and never left out.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rigup.llm.server.errors import Refused

_MOST_RULES, _MOST_DEPTH, _MOST_TIMES = 4000, 48, 4096
_SAYS_NOTHING = frozenset(
    (
        "title",
        "description",
        "default",
        "examples",
        "format",
        "$schema",
        "$id",
        "$comment",
        "$defs",
        "definitions",
        "strict",
        "deprecated",
        "readOnly",
        "writeOnly",
    )
)
_UNDERSTOOD = _SAYS_NOTHING | frozenset(
    (
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "$ref",
        "propertyOrdering",
    )
)
_BASE = {
    "ws": "[ \\n]?",
    "char": '[^"\\\\\\x7F\\x00-\\x1F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
    "string": '"\\"" char* "\\""',
    "integer": '"-"? ("0" | [1-9] [0-9]{0,15})',
    "number": 'integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "value": "object | array | string | number | boolean | null",
    "object": '"{" ws (pair ("," ws pair)*)? ws "}"',
    "pair": 'string ":" ws value',
    "array": '"[" ws (value ("," ws value)*)? ws "]"',
}


def gbnf(schema: Mapping[str, Any]) -> str:
    """The grammar of a schema.

    Raises:
        Refused: it says what a grammar cannot hold, or is larger than any that is meant.

    """
    grammar = _Grammar(schema)
    grammar.rules["root"] = grammar.of(schema, 0)
    return "\n".join(f"{name} ::= {text}" for name, text in {**grammar.rules, **_BASE}.items())


class _Grammar:
    """The rules as they grow."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.rules: dict[str, str] = {}
        self._whole = schema
        self._of_ref: dict[str, str] = {}

    def of(self, schema: Any, depth: int) -> str:
        """What stands for a schema in a rule."""
        if schema is True or schema == {}:
            return "value"
        if not isinstance(schema, Mapping) or depth > _MOST_DEPTH:
            raise _refused("it is nested too deeply, or a part of it is none")
        odd = sorted(str(name) for name in schema.keys() - _UNDERSTOOD)
        if odd:
            raise _refused("no grammar can say {words}".format(words=", ".join(odd)[:200]))
        parts = self._parts(schema, depth)
        if parts is not None:
            return self._one_of(parts)
        kinds = schema.get("type", "object" if "properties" in schema else None)
        if isinstance(kinds, list):
            return self._one_of([self._of_kind(kind, schema, depth) for kind in kinds])
        return self._of_kind(kinds, schema, depth)

    def _parts(self, schema: Mapping[str, Any], depth: int) -> list[str] | None:
        """What it may be, where it says that by values or by other schemas."""
        if "$ref" in schema:
            return [self._reference(schema["$ref"], depth)]
        if "const" in schema:
            return [_literal(schema["const"])]
        for name in ("enum", "anyOf", "oneOf"):
            if isinstance(schema.get(name), list) and schema[name]:
                return [_literal(part) if name == "enum" else self.of(part, depth + 1) for part in schema[name]]
        return None

    def _of_kind(self, kind: Any, schema: Mapping[str, Any], depth: int) -> str:
        if kind in ("integer", "number", "boolean", "null"):
            return str(kind)
        if kind == "string":
            most = schema.get("maxLength")
            if "minLength" not in schema and most is None:
                return "string"
            return '"\\"" char' + _times(schema.get("minLength", 0), most) + ' "\\""'
        if kind == "array":
            return self._array(schema, depth)
        if kind == "object":
            return self._object(schema, depth)
        if kind is None:
            return "value"
        raise _refused("it names a type that there is not")

    def _array(self, schema: Mapping[str, Any], depth: int) -> str:
        item = self._rule(self.of(schema.get("items", True), depth + 1))
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        if most == 0:
            return '"[" ws "]"'
        more = f'{item} ("," ws {item})' + _times(max(least - 1, 0), None if most is None else most - 1)
        return f'"[" ws {more} ws "]"' if least else f'"[" ws ({more})? ws "]"'

    def _object(self, schema: Mapping[str, Any], depth: int) -> str:
        parts = schema.get("properties") or {}
        if not isinstance(parts, Mapping):
            raise _refused("its properties are none")
        if not parts:
            others = schema.get("additionalProperties", True)
            if others is False:
                return '"{" ws "}"'
            pair = "pair" if others is True else self._rule('string ":" ws ' + self.of(others, depth + 1))
            return f'"{{" ws ({pair} ("," ws {pair})*)? ws "}}"'
        required = set(schema.get("required") or ())
        after, before = '""', '""'  # what may follow where something stands already, and where nothing does
        for name, part in reversed(list(parts.items())):
            pair = self._rule(f'{_literal(name)} ":" ws ' + self.of(part, depth + 1))
            if name in required:
                before = self._rule(f"{pair} {after}")
                after = self._rule(f'"," ws {pair} {after}')
            else:
                before = self._rule(f"{pair} {after} | {before}")
                after = self._rule(f'("," ws {pair})? {after}')
        return f'"{{" ws {before} ws "}}"'

    def _reference(self, reference: Any, depth: int) -> str:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise _refused("it points to another document")
        if reference not in self._of_ref:
            target: Any = self._whole
            for word in reference[1:].strip("/").split("/"):
                if word:
                    target = target.get(word.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
            name = self._of_ref[reference] = self._rule("")
            self.rules[name] = self.of(target, depth + 1)
        return self._of_ref[reference]

    def _one_of(self, parts: Sequence[str]) -> str:
        return self._rule(" | ".join(parts))

    def _rule(self, text: str) -> str:
        if len(self.rules) >= _MOST_RULES:
            raise _refused("it has too many parts")
        name = f"r{len(self.rules)}"
        self.rules[name] = text
        return name


def _literal(value: Any) -> str:
    """A value of JSON as a terminal."""
    text = json.dumps(value, ensure_ascii=False)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _times(least: Any, most: Any) -> str:
    counts = [count for count in (least, most) if count is not None]
    if any(not isinstance(count, int) or not 0 <= count <= _MOST_TIMES for count in counts):
        raise _refused(f"it counts to more than {_MOST_TIMES}")
    return f"{{{least},}}" if most is None else f"{{{least},{most}}}"


def _refused(why: str) -> Refused:
    template = "The schema cannot be held on this model's vocabulary: {why}."
    return Refused(400, "unsupported_schema", template.format(why=why))
