"""Answers of `--json`, read by their types and by the JSON Schemas that are made of these."""

import functools
import json
from typing import Any

import jsonschema
import msgspec

from rigup import schemas


@functools.cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """The JSON Schema of an answer."""
    return jsonschema.Draft202012Validator(schemas.json_schema(name))


def read(text: str) -> msgspec.Struct:
    """The answer as its type. AssertionError where it is not of its schema, or has a key that its type does not name."""
    answer = json.loads(text)
    name = answer["schema"].removeprefix("rigup.").removesuffix("/1")
    faults = [f"{fault.json_path}: {fault.message[:200]}" for fault in validator(name).iter_errors(answer)]
    assert not faults, faults
    told = converted(answer, name)
    assert not (left := unnamed(answer, msgspec.to_builtins(told))), left
    return told


def converted(answer: dict[str, Any], name: str) -> msgspec.Struct:
    """The one of the answer's forms that it is."""
    said = []
    for kind in schemas.types_of(name):
        try:
            return msgspec.convert(answer, kind, strict=True)
        except msgspec.ValidationError as error:
            said.append(f"{kind.__name__}: {error}")
    raise AssertionError("; ".join(said))


def unnamed(answer: Any, typed: Any, path: str = "$") -> list[str]:
    """Where an answer holds what is not in its typed form."""
    if isinstance(answer, dict):
        left = [f"{path}.{key}" for key in answer if key not in typed]
        return left + [one for key in answer if key in typed for one in unnamed(answer[key], typed[key], f"{path}.{key}")]
    if isinstance(answer, list):
        pairs = enumerate(zip(answer, typed, strict=True))
        return [one for place, (mine, its) in pairs for one in unnamed(mine, its, f"{path}[{place}]")]
    return [] if answer == typed else [path]
