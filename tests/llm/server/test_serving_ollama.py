"""ollama's own client at `rigup serve`: a real engine behind it, and what strangers send to that interface."""

import contextlib
import json

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import KEY, LONG, WAIT, Running, get, post, raw, wish
from test_serving_models import SCHEMA, WEATHER, until
from tiny_models import sentence_pieces_of

from late import Late
from rigup.fit.request import Request
from rigup.llm.engines.wish import StartRequest
from rigup.llm.server import ollama_api
from rigup.llm.server.errors import Refused

ollama = Late("ollama")
llm = pytest.mark.llm
LIMA = [{"role": "user", "content": "capital of peru"}]
FIRM = {"temperature": 0, "num_predict": 60}


def client_of(server, key=KEY):
    return ollama.Client(host=f"http://127.0.0.1:{server.port}", headers={"Authorization": f"Bearer {key}"}, timeout=WAIT)


@pytest.fixture(scope="module")
def server(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, "tiny", settings=Request(outputs=1, parallel=4))]) as made:
        yield made


@pytest.fixture(scope="module")
def client(server):
    return client_of(server)


@llm
def test_a_chat_whole_and_in_pieces(client):
    whole = client.chat("tiny", [{"role": "user", "content": "count from 3 to 9"}], options=FIRM)
    pieces = list(client.chat("tiny:latest", [{"role": "user", "content": "count from 3 to 9"}], options=FIRM, stream=True))
    assert whole.message.content == "3 4 5 6 7 8 9"
    assert "".join(piece.message.content for piece in pieces) == whole.message.content
    assert len(pieces) > 6
    assert [piece.done for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    for last in (whole, pieces[-1]):
        assert (last.done, last.done_reason) == (True, "stop")
        assert last.eval_count > 6
        assert last.prompt_eval_count > 3
        assert last.total_duration >= last.eval_duration > 0


@llm
def test_options_are_those_of_ollama(client):
    cut = client.chat(
        "tiny", [{"role": "user", "content": "count from 3 to 9"}], options={"temperature": 0, "num_predict": 4, "num_ctx": 99}
    )
    assert (cut.done_reason, cut.eval_count) == ("length", 4)
    stopped = client.chat("tiny", [{"role": "user", "content": "count from 3 to 9"}], options={**FIRM, "stop": ["6"]})
    assert stopped.message.content.strip() == "3 4 5"


@llm
def test_a_prompt_with_and_without_its_template(client):
    assert client.generate("tiny", "capital of peru", options=FIRM).response == "lima"
    text = "<|im_start|>user\ncapital of peru<|im_end|>\n<|im_start|>assistant\n"
    told = list(client.generate("tiny", text, raw=True, options={**FIRM, "num_predict": 5}, stream=True))
    assert "".join(piece.response for piece in told) == "lima"
    assert told[-1].done
    with pytest.raises(ollama.ResponseError, match="suffix"):
        client.generate("tiny", "a", suffix="b")


@llm
@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_is_called_and_its_answer_is_read(client, stream):
    told = client.chat("tiny", [{"role": "user", "content": "weather in oslo"}], tools=[WEATHER], options=FIRM, stream=stream)
    pieces = list(told) if stream else [told]
    (call,) = [call for piece in pieces for call in piece.message.tool_calls or ()]
    assert (call.function.name, call.function.arguments) == ("weather", {"city": "oslo"})
    talk = [
        {"role": "user", "content": "weather in oslo"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "weather", "arguments": {"city": "oslo"}}}]},
        {"role": "tool", "tool_name": "weather", "content": "sunny"},
        *LIMA,
    ]
    assert client.chat("tiny", talk, tools=[WEATHER], options=FIRM).done


@llm
@pytest.mark.parametrize("stream", [False, True])
def test_a_schema_is_held(tiny_model, engine_python, stream):
    """On either kind of vocabulary."""
    wishes = [wish(tiny_model, engine_python, "bytes"), wish(sentence_pieces_of(tiny_model), engine_python, "pieces")]
    with Running(wishes, most=2) as server:
        for name in ("bytes", "pieces"):
            told = client_of(server).chat(name, LIMA, format=SCHEMA, options={**FIRM, "num_predict": 200}, stream=stream)
            text = "".join(piece.message.content for piece in told) if stream else told.message.content
            jsonschema.validate(json.loads(text), SCHEMA)
        free = client_of(server).chat("bytes", LIMA, format="json", options=FIRM)  # it rambles, within an object
        assert free.message.content.startswith("{")


@llm
def test_texts_are_embedded(client):
    first, same, other = client.embed("tiny", ["red cat", "red cat", "count from"]).embeddings
    assert first == pytest.approx(same, abs=1e-4)
    assert first != pytest.approx(other, abs=1e-2)
    assert client.embeddings("tiny", "red cat").embedding == pytest.approx(first, abs=1e-4)
    (short,) = client.embed("tiny", "red cat", dimensions=8).embeddings
    assert len(short) == 8
    assert sum(number * number for number in short) == pytest.approx(1)


@llm
def test_models_are_told_of(client, server, tiny_model):
    (listed,) = client.list().models
    assert (listed.model, listed.size) == ("tiny:latest", tiny_model.stat().st_size)
    assert listed.details.format == "gguf"
    (loaded,) = client.ps().models
    assert (loaded.model, loaded.digest, loaded.size_vram, loaded.context_length) == ("tiny:latest", listed.digest, 0, 512)
    shown = client.show("tiny")
    assert {"completion", "tools", "embedding"} <= set(shown.capabilities)
    assert shown.modelinfo["general.architecture"] == listed.details.family
    assert "tokenizer.ggml.tokens" not in shown.modelinfo
    assert "im_start" in shown.template
    assert json.loads(raw(server.port, get("/api/version")).partition(b"\r\n\r\n")[2])["version"]


@llm
def test_a_model_is_loaded_and_ended_by_a_request_for_nothing(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, name) for name in ("first", "second")]) as server:
        client = client_of(server)
        assert client.ps().models == []
        assert client.chat("first").done_reason == "load"
        assert [model.model for model in client.ps().models] == ["first:latest"]
        assert client.generate("first", keep_alive=0).done_reason == "unload"
        assert client.ps().models == []


@llm
def test_a_client_that_goes_away_frees_its_place(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, "tiny", LONG)]) as server:
        stream = client_of(server).chat(
            "tiny", [{"role": "user", "content": "repeat red"}], options={"num_predict": LONG, "temperature": 5.0}, stream=True
        )
        next(stream)
        stream.close()
        assert until(lambda: not server.server.models.all["tiny"].active)


@llm
def test_what_the_engine_refuses_is_told(client):
    with pytest.raises(ollama.ResponseError, match="context"):
        client.chat("tiny", [{"role": "user", "content": "repeat " + "red cat " * 600}])


@pytest.fixture(scope="module")
def quiet():
    with Running([StartRequest(model="none.gguf", name=name, on="cpu") for name in ("one", "two")]) as made:
        yield made


@pytest.mark.long
def test_errors_have_the_form_of_ollama(quiet):
    for request, status in (
        (get("/api/tags", "wrong"), 401),
        (post("/api/chat", b"{"), 400),
        (post("/api/chat", b'{"model": "three"}'), 404),
        (get("/api/chat"), 405),
        (post("/api/pull", b'{"model": "x"}'), 501),
        (post("/api/chat", b'{"model": "one", "messages": [{}]}'), 503),
    ):
        head, _gap, body = raw(quiet.port, request).partition(b"\r\n\r\n")
        assert int(head.split()[1]) == status, request
        assert isinstance(json.loads(body)["error"], str), request
    head, _gap, body = raw(quiet.port, b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").partition(b"\r\n\r\n")
    assert (head.split()[1], body) == (b"200", b"")
    with pytest.raises(ollama.ResponseError, match="There are: one, two") as error:
        client_of(quiet).chat("three", LIMA)
    assert error.value.status_code == 404
    with pytest.raises(ollama.ResponseError, match="rigup pull"):
        client_of(quiet).pull("x")


def test_a_file_that_is_not_there_is_listed_without_details(quiet):
    assert [(model.model, model.size, model.details.family) for model in client_of(quiet).list().models] == [
        ("one:latest", 0, ""),
        ("two:latest", 0, ""),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"messages": 3},
        {"messages": [3]},
        {"messages": [{"role": 1}]},
        {"messages": [{"role": "user", "content": 3}]},
        {"options": [1]},
        {"messages": [{"role": "user", "images": "x"}]},
        {"messages": [{"role": "user", "images": ["nonsense"]}]},
        {"messages": [], "format": 3},
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]},
        {"messages": [{"role": "assistant", "tool_calls": "x"}]},
    ],
)
def test_what_is_wrong_is_refused(body):
    with pytest.raises(Refused) as error:
        ollama_api.as_openai(ollama_api.CHAT, body)
    assert error.value.status == 400


def test_answers_of_tools_name_the_calls_that_they_answer():
    calls = [{"function": {"name": name, "arguments": {"of": name}}} for name in ("a", "b", "a")]
    talk = [{"role": "assistant", "tool_calls": calls}, *({"role": "tool", "tool_name": name, "content": name} for name in ("b", "a", "a"))]
    _path, asked = ollama_api.as_openai(ollama_api.CHAT, {"messages": talk})
    names = {call["id"]: call["function"]["name"] for call in asked["messages"][0]["tool_calls"]}
    assert len(names) == 3
    assert [names[message["tool_call_id"]] for message in asked["messages"][1:]] == ["b", "a", "a"]
    assert len({message["tool_call_id"] for message in asked["messages"][1:]}) == 3


def test_pictures_and_thoughts_go_along():
    message = {"role": "user", "content": "what", "images": ["iVBORw0KGgo=", "/9j/4AAQ"], "thinking": "hm"}
    _path, asked = ollama_api.as_openai(ollama_api.CHAT, {"messages": [message], "think": False, "format": "json"})
    assert [part["image_url"]["url"][:16] for part in asked["messages"][0]["content"][1:]] == ["data:image/png;b", "data:image/jpeg;"]
    assert asked["messages"][0]["reasoning_content"] == "hm"
    assert asked["chat_template_kwargs"] == {"enable_thinking": False}
    assert asked["response_format"] == {"type": "json_object"}
    assert ollama_api.as_openai(ollama_api.CHAT, {"messages": [], "think": "high"})[1]["reasoning_effort"] == "high"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "images", "tool_calls", "function", "name", "arguments", "thinking", "stop", "num_predict"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)
_FIELDS = st.sampled_from(
    ["model", "messages", "prompt", "options", "format", "tools", "think", "raw", "system", "images", "suffix", "keep_alive"]
)


@given(st.sampled_from([ollama_api.CHAT, ollama_api.GENERATE]), st.dictionaries(_FIELDS, _VALUES))
def test_whatever_is_sent_is_a_request_or_is_refused(path, body):
    assert ollama_api.loads_or_ends(path, body) in ("", "load", "unload")
    with contextlib.suppress(Refused):
        to, asked = ollama_api.as_openai(path, body)
        assert to.startswith("/v1/")
        assert msgspec.json.encode(asked)
