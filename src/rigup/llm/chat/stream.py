"""An answer as it comes: events of a server that nobody trusts, in pieces of text, until it ends or breaks off."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from rigup.language import _

_MOST_LINE = 4_000_000  # bytes of one event
_MOST_TEXT = 16_000_000  # characters of one answer
_DONE = b"[DONE]"
_MARK = "<think>"
_END = "</think>"
_MOST_SPEED = 1e6  # tokens a second; a step that took no time that a clock sees is no measure


class EndpointError(Exception):
    """The endpoint gave no whole answer; the text says what happened and what to do.

    Attributes:
        kind: unreachable, gone (it broke off), refused (it said no), key, not-found, too-long, nonsense.

    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Piece(NamedTuple):
    """A piece of text; `thought` of what the model thinks before it answers."""

    text: str
    thought: bool = False


class Usage(msgspec.Struct, kw_only=True):
    """Tokens, as the server counts them; None where it does not."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None


class End(msgspec.Struct, kw_only=True):
    """How an answer ended.

    Attributes:
        finish: the server's own word (stop, length, tool_calls …), "" where it said none.
        usage: tokens.
        speed: tokens a second as llama.cpp itself has timed them; None where the server does not tell.

    """

    finish: str = ""
    usage: Usage = msgspec.field(default_factory=Usage)
    speed: float | None = None


def pieces(chunks: Iterable[bytes], end: End) -> Iterator[Piece]:
    """The pieces of an answer that comes as events; `end` is filled in on the way.

    Raises:
        EndpointError: the server says what is wrong, breaks off, or says what is no answer.

    """
    done, length = False, 0
    thinking = _Thinking()
    for data in _events(chunks):
        if data == _DONE:
            done = True
            break
        event = as_object(data)
        if (error := event.get("error")) is not None:
            raise EndpointError("refused", refusal(error))
        for piece in of_event(event, end):
            length += len(piece.text)
            if length > _MOST_TEXT:
                raise EndpointError("nonsense", _("The answer is longer than any answer can be; it was stopped."))
            yield from thinking.classified(piece)
    yield from thinking.rest()
    if not done and not end.finish:
        raise EndpointError("gone", _("The server broke off in the middle of its answer. Its own log tells why."))


def _events(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What stands behind `data:` of each line; a line of error stands for itself."""
    held = b""
    for chunk in chunks:
        *lines, held = (held + chunk).split(b"\n")
        if len(held) > _MOST_LINE:
            raise EndpointError("nonsense", _("The server sends a line without an end; nothing was made of it."))
        for line in lines:
            yield from _data(line)
    yield from _data(held)


def _data(line: bytes) -> Iterator[bytes]:
    name, colon, data = line.strip().partition(b":")
    if colon and name == b"data" and (data := data.strip()):
        yield data
    elif colon and name == b"error":
        yield b'{"error":' + data.strip() + b"}"


def as_object(data: bytes) -> dict[str, Any]:
    """A JSON object; an empty one where it is another value. Raises EndpointError for what is no JSON."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise EndpointError("nonsense", _("The server sends what is no JSON: is it an endpoint of OpenAI's form?")) from error
    return document if isinstance(document, dict) else {}


def of_event(event: dict[str, Any], end: End) -> Iterator[Piece]:
    """The text of one event; also of one that holds a whole answer."""
    read_usage(event, end)
    choices = event.get("choices")
    for choice in choices[:1] if isinstance(choices, list) else ():
        if not isinstance(choice, dict):
            continue
        if isinstance(finish := choice.get("finish_reason"), str):
            end.finish = finish[:40]
        message = choice.get("delta") or choice.get("message")
        if isinstance(message, dict):
            for name, thought in (("reasoning_content", True), ("reasoning", True), ("content", False)):
                if isinstance(text := message.get(name), str) and text:
                    yield Piece(text, thought)


def read_usage(event: dict[str, Any], end: End) -> None:
    """Tokens that an event counts, and how fast they came."""
    timings = event.get("timings")
    speed = timings.get("predicted_per_second") if isinstance(timings, dict) else None
    if isinstance(speed, int | float) and not isinstance(speed, bool) and 0 < speed < _MOST_SPEED:
        end.speed = float(speed)
    used = event.get("usage")
    if isinstance(used, dict):
        details = used.get("prompt_tokens_details")
        end.usage = Usage(
            prompt=_count(used.get("prompt_tokens")),
            completion=_count(used.get("completion_tokens")),
            cached=_count(details.get("cached_tokens")) if isinstance(details, dict) else None,
        )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None


def refusal(error: Any) -> str:
    """A server's own words about what is wrong, as a sentence."""
    message = error.get("message") if isinstance(error, dict) else error
    words = " ".join(str(message or "").split())[:600]
    return _("The server says: {message}").format(message=words) if words else _("The server refuses, and does not say why.")


class _Thinking:
    """`<think>…</think>` at an answer's beginning is thought, where the server does not part it off itself."""

    def __init__(self) -> None:
        self._held, self._state = "", "begin"

    def classified(self, piece: Piece) -> Iterator[Piece]:
        """The pieces as they are now known to be."""
        if piece.thought or self._state == "said":
            yield piece
            return
        self._held += piece.text
        if self._state == "begin":
            start = self._held.lstrip()
            if _MARK.startswith(start[: len(_MARK)]) and len(start) < len(_MARK):
                return
            self._state = "within" if start.startswith(_MARK) else "said"
            self._held = start[len(_MARK) :] if self._state == "within" else self._held
        if self._state == "within":
            yield from self._within()
        elif self._held:
            yield Piece(self._held)
            self._held = ""

    def _within(self) -> Iterator[Piece]:
        thought, mark, rest = self._held.partition(_END)
        if mark:
            self._state, self._held = "said", ""
            yield from (piece for piece in (Piece(thought, True), Piece(rest.lstrip("\n"))) if piece.text)
            return
        keep = next((size for size in range(len(_END) - 1, 0, -1) if self._held.endswith(_END[:size])), 0)
        text, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        if text:
            yield Piece(text, True)

    def rest(self) -> Iterator[Piece]:
        """What was held back when nothing came any more."""
        if self._held:
            yield Piece(self._held, self._state == "within")
            self._held = ""
