"""Pictures and other media in requests: where they are told to lie, and that nothing is fetched for a client."""

from collections.abc import Iterator, Mapping
from typing import Any

from rigup.llm.server.errors import Refused

_KINDS = ("image", "video", "audio", "file")
_MOST_DEPTH = 12


def media_of(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parts of messages that are no text, in their order."""
    found = [(body.get(name), 0) for name in ("input", "messages")]
    while found:
        value, depth = found.pop()
        if depth > _MOST_DEPTH:
            raise Refused(400, "bad_request", "The request is nested too deeply.")
        if isinstance(value, Mapping):
            kind = value.get("type")
            if isinstance(kind, str) and any(word in kind for word in _KINDS):
                yield value
            else:
                found.append((value.get("content"), depth + 1))
                found.append((value.get("output"), depth + 1))
        elif isinstance(value, list):
            found += [(part, depth + 1) for part in reversed(value)]


def address_of(part: Mapping[str, Any]) -> str:
    """Where a part says that it lies; "" where it says nothing."""
    for name in ("image_url", "video_url", "audio_url", "file_url", "source", "url"):
        value = part.get(name)
        value = value.get("url") if isinstance(value, Mapping) else value
        if isinstance(value, str) and value:
            return value
    return ""


def check(body: Mapping[str, Any]) -> None:
    """Refuse what an engine would fetch from somewhere: whoever asks could reach through it what only this machine reaches.

    Raises:
        Refused: a part lies elsewhere.

    """
    for part in media_of(body):
        address = address_of(part)
        if address and not address.startswith("data:"):
            raise Refused(400, "unsupported", "Nothing is fetched from elsewhere here: send a picture as a `data:` address.")


def data_of(body: Mapping[str, Any]) -> list[str]:
    """The pictures themselves, in base64."""
    return [address.partition(",")[2] for part in media_of(body) if (address := address_of(part)).startswith("data:")]
