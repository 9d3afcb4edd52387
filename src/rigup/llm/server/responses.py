"""A call that is forced in `/v1/responses`: the request in the form of a chat, and the answer in its own form."""

import secrets
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

import msgspec

from rigup.llm.server.connection import Connection
from rigup.llm.server.errors import Refused

_SAME = ("model", "stream", "temperature", "top_p", "top_k", "min_p", "typical_p", "repeat_penalty", "presence_penalty", "frequency_penalty",
         "seed", "chat_template_kwargs")  # fmt: skip
_TEXT = ("input_text", "output_text", "text")
_ROLES = {"developer": "system", "system": "system", "user": "user", "assistant": "assistant"}


class Reply(Protocol):
    """An answer as it grows."""

    usage: dict[str, int]

    def take(self, event: dict[str, Any]) -> str:
        """Add an event of the engine's."""

    def message(self) -> tuple[dict[str, Any], str]:
        """The message of a chat, and why it ended."""


def as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The request as `/v1/chat/completions` has it. Raises Refused for what no chat has."""
    made = {name: body[name] for name in _SAME if body.get(name) is not None}
    if body.get("max_output_tokens") is not None:
        made["max_tokens"] = body["max_output_tokens"]
    if body.get("previous_response_id") or body.get("conversation"):
        raise _unsupported("No response is kept here: send the whole talk in `input`.")
    given, told = body.get("input"), body.get("instructions")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list):
        raise _unsupported("`input` is neither a text nor a list.")
    first = [{"role": "system", "content": told}] if isinstance(told, str) and told else []
    made["messages"] = [*first, *(_message(one) for one in items if not _is_reasoning(one))]
    tools = body.get("tools")
    made["tools"] = [
        {"type": "function", "function": {name: one[name] for name in ("name", "description", "parameters") if name in one}}
        for one in (tools if isinstance(tools, list) else ()) if isinstance(one, dict) and one.get("type") == "function"
    ]  # fmt: skip
    made["tool_choice"] = body.get("tool_choice")
    return made


def _unsupported(text: str) -> Refused:
    return Refused(400, "unsupported", text)


def _is_reasoning(item: object) -> bool:
    return isinstance(item, dict) and item.get("type") == "reasoning"


def _message(item: object) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise _unsupported("An item of `input` is no object.")
    kind = item.get("type", "message")
    if kind == "function_call":
        made = {"name": str(item.get("name")), "arguments": str(item.get("arguments"))}
        call = {"id": str(item.get("call_id")), "type": "function", "function": made}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if kind == "function_call_output":
        return {"role": "tool", "tool_call_id": str(item.get("call_id")), "content": _text(item.get("output"))}
    role = _ROLES.get(str(item.get("role")))
    if kind != "message" or role is None:
        raise _unsupported("Where a call is forced, `input` holds messages, calls and their outputs.")
    return {"role": role, "content": _text(item.get("content"))}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts: list[Any] = content if isinstance(content, list) else [None]
    if not all(
        isinstance(one, dict) and one.get("type") in _TEXT and isinstance(one.get("text"), str) for one in parts
    ):
        raise _unsupported("Where a call is forced, `input` holds text alone.")
    return "".join(one["text"] for one in parts)


async def answer(
    client: Connection, body: Mapping[str, Any], reply: Reply, source: AsyncIterator[dict[str, Any]]
) -> None:
    """Answer with the call; of a stream the first event comes with the engine's first. Raises Refused."""
    made = _Response(body)
    async for event in source:
        reply.take(event)
        if body.get("stream") and not client.status:
            client.stream()
            _say(client, made.event("response.created", response=made.whole("in_progress", [])))
    message, reason = reply.message()
    item = made.item(message)
    whole = made.whole("incomplete" if reason == "length" else "completed", [item], reply.usage)
    if not client.status:
        client.send(200, msgspec.json.encode(whole))
        return
    place = {"output_index": 0, "item_id": item["id"]}
    empty: dict[str, Any] = {"arguments": ""} if "arguments" in item else {"content": []}
    _say(client, made.event("response.output_item.added", output_index=0, item={**item, **empty, "status": "in_progress"}))  # fmt: skip
    if "arguments" in item:
        _say(client, made.event("response.function_call_arguments.delta", delta=item["arguments"], **place))
        _say(client, made.event("response.function_call_arguments.done", arguments=item["arguments"], name=item["name"], **place))  # fmt: skip
    _say(client, made.event("response.output_item.done", output_index=0, item=item))
    _say(client, made.event(f"response.{whole['status']}", response=whole))
    client.end()


def _say(client: Connection, event: dict[str, Any]) -> None:
    client.event(msgspec.json.encode(event), event["type"])


class _Response:
    """An answer in the form of `/v1/responses`."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body, self._id, self._made = body, "resp_" + secrets.token_hex(12), int(time.time())
        self._events = 0

    def event(self, kind: str, **more: Any) -> dict[str, Any]:
        """One of a stream, with its number."""
        self._events += 1
        return {"type": kind, "sequence_number": self._events - 1, **more}

    def item(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The call; what was cut off before it was one is text."""
        if calls := message.get("tool_calls"):
            return {"type": "function_call", "id": "fc_" + secrets.token_hex(12), "call_id": calls[0]["id"], "status": "completed", **calls[0]["function"]}  # fmt: skip
        text = {"type": "output_text", "text": message["content"], "annotations": []}
        return {"type": "message", "id": "msg_" + secrets.token_hex(12), "role": "assistant", "status": "incomplete", "content": [text]}  # fmt: skip

    def whole(
        self, status: str, output: list[dict[str, Any]], usage: Mapping[str, int] | None = None
    ) -> dict[str, Any]:
        """The response as it stands."""
        kept = {name: self._body.get(name) for name in ("model", "instructions", "tool_choice", "temperature", "top_p", "max_output_tokens")}  # fmt: skip
        counted: dict[str, Any] | None = None if usage is None else {
            "input_tokens": usage["prompt_tokens"], "input_tokens_details": {"cached_tokens": 0}, "output_tokens": usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": usage["total_tokens"],
        }  # fmt: skip
        return {
            **kept, "id": self._id, "object": "response", "created_at": self._made, "status": status, "output": output,
            "error": None, "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "parallel_tool_calls": False, "tools": self._body.get("tools") or [], "metadata": self._body.get("metadata") or {}, "usage": counted,
        }  # fmt: skip
