"""What an engine is asked for and does not hold is made to hold by a grammar: a call, and here and there a schema.

Schemas are those on SentencePiece's vocabularies, and those of `/v1/responses`, which llama.cpp passes by. The engine's own template makes the prompt, and a grammar of rigup's (`gbnf.py`) binds what comes; the answer takes the
form of OpenAI's.
"""

import secrets
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from rigup.llm.engines.running import RunningEngine
from rigup.llm.engines.wish import LLAMA_SERVER, XLLAMACPP
from rigup.llm.server import responses
from rigup.llm.server.asking import events, whole
from rigup.llm.server.connection import Connection
from rigup.llm.server.errors import Refused
from rigup.llm.server.gbnf import gbnf
from rigup.llm.server.pictures import data_of

_ANYTHING: dict[str, Any] = {"type": "object"}
_MOST_TOOLS = 512
_FOR_TEMPLATE = ("messages", "tools", "chat_template_kwargs", "add_generation_prompt")
_OTHERS = ("model", "stream", "stream_options", "response_format", "tool_choice", "parallel_tool_calls", "n", *_FOR_TEMPLATE)


class Held(msgspec.Struct, frozen=True):
    """A schema that the answer must hold; `tools` says that it is a call, `responses` in which form it is asked for."""

    schema: dict[str, Any]
    tools: bool
    responses: bool = False


def held(path: str, body: Mapping[str, Any], engine: RunningEngine) -> Held | None:
    """What of a request the engine would not hold by itself; None where it can have the request as it is.

    Raises:
        Refused: it cannot be made to hold, or names a tool that is not there.

    """
    choice = body.get("tool_choice")
    forced = choice == "required" or isinstance(choice, dict)
    if engine.engine not in (LLAMA_SERVER, XLLAMACPP):
        return None
    if forced and path == "/v1/chat/completions":
        return Held(_call_schema(body, choice), True)
    if forced and path == "/v1/responses":
        return Held(_call_schema(responses.as_chat(body), choice), True, responses=True)
    if path == "/v1/responses":
        return _schema_of_response(body)
    spm = engine.settings is not None and engine.settings.spm
    schema = _wanted_schema(body.get("response_format")) if spm and path == "/v1/chat/completions" else None
    return None if schema is None else Held(schema, False)


def _schema_of_response(body: Mapping[str, Any]) -> Held | None:
    """A schema for a response's text, which llama.cpp passes by."""
    text = body.get("text")
    form = text.get("format") if isinstance(text, dict) else None
    schema = _wanted_schema({**form, "json_schema": form} if isinstance(form, dict) else None)
    if schema is None:
        return None
    if body.get("tools") and body.get("tool_choice") != "none":
        message = "A schema for the text and tools that may be called do not go together in /v1/responses."
        raise Refused(400, "unsupported", message)
    return Held(schema, False, responses=True)


def _call_schema(body: Mapping[str, Any], choice: Any) -> dict[str, Any]:
    """A call of one of the tools, or of the one that is named."""
    tools = body.get("tools")
    found = []
    for tool in tools[:_MOST_TOOLS] if isinstance(tools, list) else ():
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            taken = function.get("parameters")
            found.append((function["name"], taken if isinstance(taken, dict) and taken else _ANYTHING))
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else choice.get("name")
        found = [function for function in found if function[0] == name]
    if not found:
        raise Refused(400, "invalid_tool_choice", "`tool_choice` asks for a tool that is not among `tools`.")
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": name}, "arguments": taken},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for name, taken in found
    ]
    return calls[0] if len(calls) == 1 else {"anyOf": calls}


def _wanted_schema(form: Any) -> dict[str, Any] | None:
    if not isinstance(form, dict):
        return None
    if form.get("type") == "json_object":
        given = form.get("schema")
        return given if isinstance(given, dict) else _ANYTHING
    inner = form.get("json_schema")
    schema = inner.get("schema") if form.get("type") == "json_schema" and isinstance(inner, dict) else None
    return schema if isinstance(schema, dict) else None


async def answer(client: Connection, engine: RunningEngine, body: dict[str, Any], wanted: Held) -> None:
    """Answer a chat with what holds. Raises Refused."""
    if wanted.responses:
        reply, source = await _asked(engine, responses.as_chat(body), wanted)
        await responses.answer(client, {**body, "model": engine.model}, reply, source)
        return
    if not body.get("stream"):
        reply, source = await _asked(engine, body, wanted)
        async for event in source:
            reply.take(event)
        client.send(200, msgspec.json.encode(reply.whole()))
        return
    async for chunk in chunks(engine, body, wanted):
        if not client.status:  # an engine that refuses does so before its first event
            client.stream()
        client.event(msgspec.json.encode(chunk))
    client.event(b"[DONE]")
    client.end()


async def _asked(engine: RunningEngine, body: Mapping[str, Any], wanted: Held) -> tuple["_Reply", AsyncIterator[dict[str, Any]]]:
    """An empty reply, and the events of the engine that fill it. Raises Refused."""
    if body.get("n") not in (None, 1):
        raise Refused(400, "unsupported", "`n` is one where a grammar binds the answer.")
    request = {name: body[name] for name in _FOR_TEMPLATE if body.get(name) is not None}
    request["chat_template_kwargs"] = {"enable_thinking": False, **(request.get("chat_template_kwargs") or {})}
    prompt = msgspec.json.decode(await whole(engine, "POST", "/apply-template", msgspec.json.encode(request)))
    asked = {name: value for name, value in body.items() if name not in _OTHERS}
    most = asked.pop("max_completion_tokens", None) or asked.pop("max_tokens", None)
    spm = engine.settings is not None and engine.settings.spm
    asked |= _bond(wanted.schema, spm)
    seen = data_of(body)
    text = {"prompt_string": prompt["prompt"], "multimodal_data": seen} if seen else prompt["prompt"]
    asked |= {"prompt": text, "stream": True}
    if most is not None:
        asked["n_predict"] = most
    return _Reply(engine.model, wanted.tools), events(engine, "/completion", msgspec.json.encode(asked))


def _bond(schema: dict[str, Any], spm: bool) -> dict[str, Any]:
    """What binds the answer: rigup's grammar, which allows no endless blanks, or the engine's for what that cannot say."""
    try:
        return {"grammar": gbnf(schema)}
    except Refused:
        if spm:
            raise
        return {"json_schema": schema}


async def chunks(engine: RunningEngine, body: Mapping[str, Any], wanted: Held) -> AsyncIterator[dict[str, Any]]:
    """The pieces of a chat's stream; a call is one when it is whole. Raises Refused."""
    reply, source = await _asked(engine, body, wanted)
    begun = False
    async for event in source:
        piece = reply.take(event)
        if not begun:
            yield reply.chunk({"role": "assistant", "content": None if reply.tools else ""})
            begun = True
        if piece and not reply.tools:
            yield reply.chunk({"content": piece})
    message, reason = reply.message()
    if reply.tools:
        calls = message.get("tool_calls")
        yield reply.chunk({"tool_calls": [{"index": 0, **calls[0]}]} if calls else {"content": message["content"]})
    yield reply.chunk({}, reason)
    options = body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        yield {**reply.chunk({}), "choices": [], "usage": reply.usage}


class _Reply:
    """An answer as it grows."""

    def __init__(self, model: str, tools: bool) -> None:
        self.tools = tools
        self._model, self._text, self._cut = model, "", False
        self._id, self._made = "chatcmpl-" + secrets.token_hex(12), int(time.time())
        self.usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

    def take(self, event: dict[str, Any]) -> str:
        """Add an event of the engine's; the text that came with it."""
        piece = str(event.get("content") or "")
        self._text += piece
        if event.get("stop"):
            self._cut = event.get("stop_type") == "limit"
            read, written = int(event.get("tokens_evaluated") or 0), int(event.get("tokens_predicted") or 0)
            self.usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        return piece

    def message(self) -> tuple[dict[str, Any], str]:
        """The message and why it ended; a call that was cut off is text."""
        reason = "length" if self._cut else "stop"
        if not self.tools:
            return {"role": "assistant", "content": self._text}, reason
        try:
            chosen = msgspec.json.decode(self._text)
            function = {"name": chosen["name"], "arguments": msgspec.json.encode(chosen["arguments"]).decode()}
        except (msgspec.DecodeError, KeyError, TypeError):
            return {"role": "assistant", "content": self._text}, reason
        call = {"id": "call_" + secrets.token_hex(12), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"

    def chunk(self, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        """A piece of a stream."""
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": self._id, "object": "chat.completion.chunk", "created": self._made, "model": self._model, "choices": [choice]}

    def whole(self) -> dict[str, Any]:
        """The whole answer."""
        message, reason = self.message()
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {
            "id": self._id,
            "object": "chat.completion",
            "created": self._made,
            "model": self._model,
            "choices": [choice],
            "usage": self.usage,
        }
