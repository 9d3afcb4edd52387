"""A call that is forced, or a schema, in `/v1/responses`: the request in the form of a chat, and the answer in its own form."""

import secrets
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

import msgspec

from rigup.llm.server.connection import Connection
from rigup.llm.server.errors import Refused

_SAME = (
    "model",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "typical_p",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "chat_template_kwargs",
)
_TEXT = ("input_text", "output_text", "text")
_ROLES = {"developer": "system", "system": "system", "user": "user", "assistant": "assistant"}


class Reply(Protocol):
    """An answer as it grows; `tools` says that it is to be a call."""

    tools: bool
    usage: dict[str, int]

    def take(self, event: dict[str, Any]) -> str:
        """Add an event of the engine's."""

    def message(self) -> tuple[dict[str, Any], str]:
        """The message of a chat, and why it ended."""


def as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The request as `/v1/chat/completions` has it. Raises Refused for what no chat has."""
    request = {name: body[name] for name in _SAME if body.get(name) is not None}
    if body.get("max_output_tokens") is not None:
        request["max_tokens"] = body["max_output_tokens"]
    if body.get("previous_response_id") or body.get("conversation"):
        raise _unsupported("No response is kept here: send the whole talk in `input`.")
    given, instructions = body.get("input"), body.get("instructions")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list):
        raise _unsupported("`input` is neither a text nor a list.")
    first = [{"role": "system", "content": instructions}] if isinstance(instructions, str) and instructions else []
    request["messages"] = [*first, *(_message(item) for item in items if not _is_reasoning(item))]
    tools = body.get("tools")
    request["tools"] = [
        {"type": "function", "function": {name: tool[name] for name in ("name", "description", "parameters") if name in tool}}
        for tool in (tools if isinstance(tools, list) else ())
        if isinstance(tool, dict) and tool.get("type") == "function"
    ]
    request["tool_choice"] = body.get("tool_choice")
    return request


def _unsupported(text: str) -> Refused:
    return Refused(400, "unsupported", text)


def _is_reasoning(item: object) -> bool:
    return isinstance(item, dict) and item.get("type") == "reasoning"


def _message(item: object) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise _unsupported("An item of `input` is no object.")
    kind = item.get("type", "message")
    if kind == "function_call":
        function = {"name": str(item.get("name")), "arguments": str(item.get("arguments"))}
        call = {"id": str(item.get("call_id")), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if kind == "function_call_output":
        return {"role": "tool", "tool_call_id": str(item.get("call_id")), "content": _text(item.get("output"))}
    role = _ROLES.get(str(item.get("role")))
    if kind != "message" or role is None:
        raise _unsupported("Where the answer is bound, `input` holds messages, calls and their outputs.")
    return {"role": role, "content": _text(item.get("content"))}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts: list[Any] = content if isinstance(content, list) else [None]
    if not all(isinstance(part, dict) and part.get("type") in _TEXT and isinstance(part.get("text"), str) for part in parts):
        raise _unsupported("Where the answer is bound, `input` holds text alone.")
    return "".join(part["text"] for part in parts)


async def answer(client: Connection, body: Mapping[str, Any], reply: Reply, source: AsyncIterator[dict[str, Any]]) -> None:
    """Answer with what holds; a call is told when it is whole, text as it comes. Raises Refused."""
    response = _Response(body)
    async for event in source:
        piece = reply.take(event)
        if not body.get("stream"):
            continue
        if not client.status:  # an engine that refuses does so before its first event
            client.stream()
            response.say(client, "response.created", response=response.whole("in_progress", []))
            if not reply.tools:
                response.begin(client)
        if piece and not reply.tools:
            response.say(client, "response.output_text.delta", delta=piece, logprobs=[], **response.part)
    message, reason = reply.message()
    status = "incomplete" if reason == "length" else "completed"
    item = response.item(message, status)
    whole = response.whole(status, [item], reply.usage)
    if not client.status:
        client.send(200, msgspec.json.encode(whole))
        return
    if item["type"] == "message":
        if reply.tools:  # a call that was cut off
            response.begin(client)
        part = item["content"][0]
        response.say(client, "response.output_text.done", text=part["text"], logprobs=[], **response.part)
        response.say(client, "response.content_part.done", part=part, **response.part)
    else:
        place = {"output_index": 0, "item_id": item["id"]}
        arguments = item["arguments"]
        response.say(client, "response.output_item.added", output_index=0, item={**item, "arguments": "", "status": "in_progress"})
        response.say(client, "response.function_call_arguments.delta", delta=arguments, **place)
        response.say(client, "response.function_call_arguments.done", arguments=arguments, name=item["name"], **place)
    response.say(client, "response.output_item.done", output_index=0, item=item)
    response.say(client, f"response.{status}", response=whole)
    client.end()


class _Response:
    """An answer in the form of `/v1/responses`."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body, self._number, self._made = body, secrets.token_hex(12), int(time.time())
        self._events = 0
        self.part: dict[str, Any] = {"item_id": "msg_" + self._number, "output_index": 0, "content_index": 0}

    def say(self, client: Connection, kind: str, **more: Any) -> None:
        """One event of a stream, with its number."""
        client.event(msgspec.json.encode({"type": kind, "sequence_number": self._events, **more}), kind)
        self._events += 1

    def begin(self, client: Connection) -> None:
        """A text begins."""
        item = {**self.item({"content": ""}, "in_progress"), "content": []}
        self.say(client, "response.output_item.added", output_index=0, item=item)
        self.say(client, "response.content_part.added", part=_part(""), **self.part)

    def item(self, message: Mapping[str, Any], status: str) -> dict[str, Any]:
        """The call, or the text."""
        if calls := message.get("tool_calls"):
            return {
                "type": "function_call",
                "id": "fc_" + self._number,
                "call_id": calls[0]["id"],
                "status": status,
                **calls[0]["function"],
            }
        return {
            "type": "message",
            "id": self.part["item_id"],
            "role": "assistant",
            "status": status,
            "content": [_part(message["content"])],
        }

    def whole(self, status: str, output: list[dict[str, Any]], usage: Mapping[str, int] | None = None) -> dict[str, Any]:
        """The response as it stands."""
        kept = {
            name: self._body.get(name) for name in ("model", "instructions", "tool_choice", "temperature", "top_p", "max_output_tokens")
        }
        counted: dict[str, Any] | None = (
            None
            if usage is None
            else {
                "input_tokens": usage["prompt_tokens"],
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": usage["completion_tokens"],
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage["total_tokens"],
            }
        )
        return {
            **kept,
            "id": "resp_" + self._number,
            "object": "response",
            "created_at": self._made,
            "status": status,
            "output": output,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "parallel_tool_calls": False,
            "tools": self._body.get("tools") or [],
            "metadata": self._body.get("metadata") or {},
            "usage": counted,
        }


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}
