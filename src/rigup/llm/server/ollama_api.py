"""ollama's own interface, so that its clients work: their requests in OpenAI's form, and answers in theirs.

`/api/chat` and `/api/generate` stream objects of JSON, one a line; `/api/embed` and the older `/api/embeddings` embed; `/api/tags`, `/api/ps`
and `/api/show` tell of models (`ollama_models.py`). What an option sets when a model is loaded (`num_ctx`, `num_gpu` …) was settled when
the server was started, and is passed by.
"""

import math
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from rigup.llm.engines.running import RunningEngine
from rigup.llm.server.asking import whole
from rigup.llm.server.connection import Connection
from rigup.llm.server.errors import Refused
from rigup.llm.server.ollama_models import moment

CHAT, GENERATE, EMBED, EMBED_ONE = "/api/chat", "/api/generate", "/api/embed", "/api/embeddings"
_SAME = (
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "typical_p",
    "repeat_last_n",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
    "mirostat",
    "mirostat_tau",
    "mirostat_eta",
    "seed",
    "stop",
)
_PICTURES = {"/9j/": "jpeg", "iVBOR": "png", "R0lG": "gif", "UklG": "webp"}  # as their files begin, in base64
_CHAT_PATH = "/v1/chat/completions"


def loads_or_ends(path: str, body: Mapping[str, Any]) -> str:
    """Whether a request asks nothing and so is to "load" a model, or to "unload" it where it is to be kept no longer; else ""."""
    if path not in (CHAT, GENERATE) or body.get("messages" if path == CHAT else "prompt") or body.get("images"):
        return ""
    return "unload" if str(body.get("keep_alive")) in ("0", "0s", "0m", "0h", "0.0") else "load"


def settled(path: str, body: Mapping[str, Any], reason: str) -> bytes:
    """The answer to such a request."""
    return msgspec.json.encode({**_Reply(path, str(body.get("model") or "")).part("", ""), "done": True, "done_reason": reason})


def as_openai(path: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The engine's path, and the request for it. Raises Refused for what no engine here does."""
    options = body.get("options") or {}
    if not isinstance(options, dict):
        raise _wrong("`options` is no object.")
    asked: dict[str, Any] = {name: options[name] for name in _SAME if options.get(name) is not None}
    most = options.get("num_predict")
    if isinstance(most, int) and most >= 0:
        asked["max_tokens"] = most
    asked |= {"stream": True, "stream_options": {"include_usage": True}}
    if path == GENERATE:
        if unsupported := [name for name in ("suffix", "template", "context", *(("format",) if body.get("raw") else ())) if body.get(name)]:
            raise _unsupported(f"`{unsupported[0]}` is not taken here: send the messages to /api/chat.")
        if body.get("raw"):
            return "/v1/completions", {**asked, "prompt": _text(body.get("prompt"))}
        said = {"role": "user", "content": body.get("prompt", ""), "images": body.get("images")}
        messages: Any = [{"role": "system", "content": body["system"]}, said] if body.get("system") else [said]
    else:
        messages = body.get("messages")
    asked["messages"] = _messages(messages)
    if body.get("tools"):
        asked["tools"] = body["tools"]
    if (form := _form(body.get("format"))) is not None:
        asked["response_format"] = form
    think = body.get("think")
    if isinstance(think, str):
        asked["reasoning_effort"] = think
    elif think is not None:
        asked["chat_template_kwargs"] = {"enable_thinking": bool(think)}
    return _CHAT_PATH, asked


def _form(wanted: Any) -> dict[str, Any] | None:
    if wanted in (None, ""):
        return None
    if wanted == "json":
        return {"type": "json_object"}
    if isinstance(wanted, dict):
        return {"type": "json_schema", "json_schema": {"name": "answer", "schema": wanted}}
    raise _wrong("`format` is neither json nor a schema.")


def _messages(given: Any) -> list[dict[str, Any]]:
    """Messages as OpenAI has them: calls have numbers there, by which answers of tools name them."""
    if not isinstance(given, list) or not all(isinstance(message, dict) for message in given):
        raise _wrong("`messages` is no list of messages.")
    found, waiting, count = [], list[tuple[str, str]](), 0
    for message in given:
        known: dict[str, Any] = {"role": _text(message.get("role")), "content": _content(message)}
        if message.get("thinking"):
            known["reasoning_content"] = _text(message["thinking"])
        if calls := message.get("tool_calls"):
            known["tool_calls"] = []
            for function in _functions(calls):
                number, count = f"call_{count}", count + 1
                waiting.append((number, function["name"]))
                known["tool_calls"].append({"id": number, "type": "function", "function": function})
        if known["role"] == "tool":
            name = message.get("tool_name") or message.get("name")
            answered = next((call for call in waiting if call[1] == name), waiting[0] if waiting else ("call_0", ""))
            known["tool_call_id"] = answered[0]
            waiting = [call for call in waiting if call is not answered]
        found.append(known)
    return found


def _functions(calls: Any) -> list[dict[str, str]]:
    functions = [call.get("function") if isinstance(call, dict) else None for call in calls if calls] if isinstance(calls, list) else [None]
    if not all(isinstance(function, dict) and isinstance(function.get("name"), str) for function in functions):
        raise _wrong("`tool_calls` is no list of calls.")
    return [
        {"name": function["name"], "arguments": msgspec.json.encode(function.get("arguments") or {}).decode()}
        for function in functions
        if function is not None
    ]


def _content(message: Mapping[str, Any]) -> Any:
    text, pictures = _text(message.get("content")), message.get("images")
    if not pictures:
        return text
    if not isinstance(pictures, list) or not all(isinstance(picture, str) for picture in pictures):
        raise _wrong("`images` is no list of pictures in base64.")
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for picture in pictures:
        kind = next((kind for start, kind in _PICTURES.items() if picture.startswith(start)), "")
        if not kind:
            raise _wrong("A picture is none of JPEG, PNG, GIF and WebP in base64.")
        parts.append({"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{picture}"}})
    return parts


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong("A text is none.")
    return value


def _wrong(text: str) -> Refused:
    return Refused(400, "bad_request", text)


def _unsupported(text: str) -> Refused:
    return Refused(400, "unsupported", text)


async def answer(client: Connection, path: str, body: Mapping[str, Any], source: AsyncIterator[dict[str, Any]]) -> None:
    """Answer a chat or a prompt by what an engine streams in OpenAI's form. Raises Refused."""
    reply, streams = _Reply(path, str(body.get("model") or "")), body.get("stream") is not False
    async for event in source:
        piece, thought = reply.take(event)
        if not streams:
            continue
        if not client.status:  # an engine that refuses does so before its first event
            client.stream("application/x-ndjson")
        if piece or thought:
            client.line(msgspec.json.encode(reply.part(piece, thought)))
    if not streams:
        client.send(200, msgspec.json.encode({**reply.part(reply.text, reply.thought, reply.calls()), **reply.end()}))
        return
    if not client.status:
        client.stream("application/x-ndjson")
    if calls := reply.calls():
        client.line(msgspec.json.encode(reply.part("", "", calls)))
    client.line(msgspec.json.encode({**reply.part("", ""), **reply.end()}))
    client.end()


class _Reply:
    """An answer as it grows."""

    def __init__(self, path: str, model: str) -> None:
        self._path, self._model, self._began = path, model, time.perf_counter_ns()
        self.text, self.thought, self._reason = "", "", "stop"
        self._calls: dict[int, dict[str, str]] = {}
        self._usage: Mapping[str, Any] = {}
        self._timings: Mapping[str, Any] = {}

    def take(self, event: Mapping[str, Any]) -> tuple[str, str]:
        """Add an event of the engine's; the text and the thought that came with it."""
        if isinstance(error := event.get("error"), Mapping):
            raise Refused(502, "engine_failed", str(error.get("message") or "The engine failed."))
        self._usage = event.get("usage") or self._usage
        self._timings = event.get("timings") or self._timings
        piece, thought = "", ""
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            piece += delta.get("content") or choice.get("text") or ""
            thought += delta.get("reasoning_content") or delta.get("reasoning") or ""
            for call in delta.get("tool_calls") or ():
                function = call.get("function") or {}
                known = self._calls.setdefault(call.get("index") or 0, {"name": "", "arguments": ""})
                known["name"] += function.get("name") or ""
                known["arguments"] += function.get("arguments") or ""
            if choice.get("finish_reason") == "length":
                self._reason = "length"
        self.text += piece
        self.thought += thought
        return piece, thought

    def calls(self) -> list[dict[str, Any]]:
        """The calls, once they are whole; one that was cut off has none of its arguments."""
        found = []
        for _number, call in sorted(self._calls.items()):
            try:
                arguments = msgspec.json.decode(call["arguments"] or "{}")
            except msgspec.DecodeError:
                arguments = {}
            found.append({"function": {"name": call["name"], "arguments": arguments}})
        return found

    def part(self, text: str, thought: str, calls: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        """An object of the stream."""
        more: dict[str, Any] = {"thinking": thought} if thought else {}
        fields = {"model": self._model, "created_at": moment(time.time()), "done": False}
        if self._path == GENERATE:
            return {**fields, "response": text, **more}
        return {**fields, "message": {"role": "assistant", "content": text, **more, **({"tool_calls": calls} if calls else {})}}

    def end(self) -> dict[str, Any]:
        """What the last object says besides; durations are nanoseconds."""
        spent = {name: int(1e6 * float(self._timings.get(f"{name}_ms") or 0)) for name in ("prompt", "predicted")}
        return {
            "done": True,
            "done_reason": self._reason,
            "total_duration": time.perf_counter_ns() - self._began,
            "load_duration": 0,
            "prompt_eval_count": self._usage.get("prompt_tokens") or 0,
            "prompt_eval_duration": spent["prompt"],
            "eval_count": self._usage.get("completion_tokens") or 0,
            "eval_duration": spent["predicted"],
        }


async def embed(client: Connection, path: str, body: Mapping[str, Any], engine: RunningEngine) -> None:
    """Embed a text, or several. Raises Refused."""
    began = time.perf_counter_ns()
    given = body.get("prompt") if path == EMBED_ONE else body.get("input")
    texts = given if isinstance(given, list) else [given]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise _wrong("There is no text to embed.")
    asked = {"model": engine.theirs or body.get("model"), "input": texts}
    told = msgspec.json.decode(await whole(engine, "POST", "/v1/embeddings", msgspec.json.encode(asked)))
    vectors = [_shortened(row["embedding"], body.get("dimensions")) for row in told["data"]]
    if path == EMBED_ONE:
        client.send(200, msgspec.json.encode({"embedding": vectors[0]}))
        return
    usage = told.get("usage") or {}
    fields = {"total_duration": time.perf_counter_ns() - began, "load_duration": 0, "prompt_eval_count": usage.get("prompt_tokens") or 0}
    client.send(200, msgspec.json.encode({"model": body.get("model"), "embeddings": vectors, **fields}))


def _shortened(vector: list[float], most: Any) -> list[float]:
    """Its first numbers, of length 1 again."""
    if not isinstance(most, int) or not 0 < most < len(vector):
        return vector
    length = math.sqrt(sum(number * number for number in vector[:most])) or 1.0
    return [number / length for number in vector[:most]]
