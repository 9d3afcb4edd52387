"""Parameters of an answer that were set when the server was started: they hold where a request does not say."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from rigup.language import _
from rigup.llm.chat.parameters import Kind, ParameterError, named, request_of, value_of
from rigup.llm.engines.running import RunningEngine
from rigup.llm.engines.wish import ENDPOINT, OLLAMA, VLLM

_KINDS: dict[str, Kind] = {VLLM: "vllm", OLLAMA: "ollama", ENDPOINT: "openai"}
_PATHS = frozenset(("/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages"))
_TAKEN = ("number", "whole", "choice", "switch")
_OF_ONE = ("max-tokens", "seed")  # what one request alone is about, as texts and schemas are


def usual(pairs: Iterable[str]) -> dict[str, Any]:
    """The parameters of words of the form NAME=VALUE. Raises ParameterError."""
    found = {}
    for pair in pairs:
        name, _sign, value = pair.partition("=")
        row = named(name)
        if row.kind not in _TAKEN or row.name in _OF_ONE:
            raise ParameterError(_("{name} is for one request alone: the client sends it.").format(name=row.name))
        found[row.name] = value_of(row, value)
    return found


def completed(engine: RunningEngine, wanted: Mapping[str, Any], path: str, body: dict[str, Any]) -> dict[str, Any]:
    """A request with what it does not say; the same object where nothing is to be added."""
    if not wanted or path not in _PATHS:
        return body
    added = {}
    for name, value in _sent(_KINDS.get(engine.engine, "llama"), tuple(wanted.items())).items():
        said = body.get(name)
        if said is None:
            added[name] = value
        elif isinstance(value, dict) and isinstance(said, dict):
            added[name] = {**value, **said}
    return {**body, **added} if added else body


def not_taken(engine: RunningEngine, wanted: Mapping[str, Any]) -> list[str]:
    """The names of those that an engine does not take."""
    return request_of(wanted, _KINDS.get(engine.engine, "llama"))[1]


@lru_cache(64)
def _sent(kind: Kind, wanted: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """What they become in a request to a kind of engine; what it does not take is left out."""
    return request_of(dict(wanted), kind)[0]
