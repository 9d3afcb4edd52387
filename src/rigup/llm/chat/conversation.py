"""What was said so far: messages, what is set, and how both are kept in a file and read again."""

import base64
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from rigup.language import _
from rigup.llm.chat.parameters import SYSTEM, ParameterError, named

SCHEMA = "rigup.chat-session/1"
MOST_TEXT = 10_000_000  # bytes of a file that is read into a message
_MOST_PICTURE = 20_000_000
_MOST_SESSION = 200_000_000
_FORMS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF8", "gif"))
_WEBP = (b"RIFF", b"WEBP")


class ConversationError(ValueError):
    """A file that cannot be taken, read or kept; the text says which and why."""


class Message(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One thing that was said.

    Attributes:
        images: as data addresses, which a request holds too.
        thought: what the model thought before; it is kept and not sent again.
        cut: the answer was stopped or broke off.

    """

    role: Literal["user", "assistant"]
    text: str
    images: list[str] = []
    thought: str = ""
    cut: bool = False


class Conversation(msgspec.Struct, kw_only=True):
    """All of it, in the form in which it is kept."""

    schema: str = SCHEMA
    model: str = ""
    settings: dict[str, Any] = {}
    messages: list[Message] = []

    def sent(self) -> list[dict[str, Any]]:
        """Messages as an endpoint takes them."""
        system = self.settings.get(SYSTEM)
        head = [{"role": "system", "content": system}] if system else []
        return [*head, *map(_sent, self.messages)]

    def taken_back(self) -> Message | None:
        """The last thing that the person said, which goes with all that came after it; None for nothing."""
        at = next((number for number in range(len(self.messages) - 1, -1, -1) if self.messages[number].role == "user"), None)
        if at is None:
            return None
        message = self.messages[at]
        del self.messages[at:]
        return message


def _sent(message: Message) -> dict[str, Any]:
    if not message.images:
        return {"role": message.role, "content": message.text}
    images = [{"type": "image_url", "image_url": {"url": image}} for image in message.images]
    return {"role": message.role, "content": [{"type": "text", "text": message.text}, *images]}


def with_files(text: str, files: Iterable[tuple[str, str]]) -> str:
    """What is asked, with texts behind it, each under its name."""
    return "\n\n".join(filter(None, (text, *(f"--- {name} ---\n{body}" for name, body in files))))


def text_of(path: str) -> tuple[str, str]:
    """A file's name and text. Raises ConversationError."""
    body = _bytes(path, MOST_TEXT)
    if b"\x00" in body[:4096]:
        raise ConversationError(_("{path} is no text.").format(path=path[:300]))
    return os.path.basename(path), body.decode("utf-8", "replace")


def picture_of(path: str) -> str:
    """An image as a data address, by what it holds and not by its name. Raises ConversationError for what is none."""
    body = _bytes(path, _MOST_PICTURE)
    kind = next((name for head, name in _FORMS if body.startswith(head)), "")
    if body[:4] == _WEBP[0] and body[8:12] == _WEBP[1]:
        kind = "webp"
    if not kind:
        raise ConversationError(_("{path} is no image that models take: PNG, JPEG, GIF and WebP are.").format(path=path[:300]))
    return f"data:image/{kind};base64,{base64.b64encode(body).decode()}"


def _bytes(path: str, most: int) -> bytes:
    try:
        with Path(path).expanduser().open("rb") as file:
            body = file.read(most + 1)
    except (OSError, ValueError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConversationError(_("{path}: {why}.").format(path=path[:300], why=why)) from error
    if len(body) > most:
        raise ConversationError(_("{path} is larger than {size} bytes.").format(path=path[:300], size=most))
    return body


def save(conversation: Conversation, path: str, replace: bool = False) -> None:
    """Keep it in a file for its owner alone.

    Raises:
        FileExistsError: something stands there and may not be replaced.
        ConversationError: it cannot be written.

    """
    from rigup.machine.private_file import write

    body = msgspec.json.format(msgspec.json.encode(conversation), indent=1)
    try:
        write(os.path.expanduser(path), lambda file: file.write(body), replace)
    except FileExistsError:
        raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConversationError(_("{path}: {why}.").format(path=path[:300], why=why)) from error


def load(path: str) -> Conversation:
    """What `save` kept. Raises ConversationError for what is no such file."""
    body = _bytes(path, _MOST_SESSION)
    try:
        found = msgspec.json.decode(body, type=Conversation)
        if found.schema != SCHEMA:
            raise msgspec.ValidationError(found.schema[:60])
        for name in found.settings:
            named(name)
    except (msgspec.DecodeError, ParameterError, UnicodeDecodeError, RecursionError) as error:
        raise ConversationError(
            _("{path} holds no conversation that /save wrote: {error}").format(path=path[:300], error=str(error)[:200])
        ) from error
    for message in found.messages:
        message.images = [image for image in message.images if image.startswith("data:image/")]  # nothing is fetched for anybody
    return found
