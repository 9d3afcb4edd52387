"""`rigup serve` end to end: a real engine behind it, the official client before it."""

import concurrent.futures
import gc
import json
import os
import re
import signal
import threading
import time
import weakref

import jsonschema
import pytest
from servers import KEY, LONG, WAIT, Running, get, post, raw, wish
from tiny_models import sentence_pieces_of

from late import Late
from rigup.fit.request import Request
from rigup.llm.server.connection import Connection
from rigup.llm.server.relay import Relay

openai = Late("openai")
pytestmark = pytest.mark.llm
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["lima", "oslo"]}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}
SCHEMA = {
    "type": "object",
    "properties": {"city": {"enum": ["lima", "oslo"]}, "sunny": {"type": "boolean"}},
    "required": ["city", "sunny"],
    "additionalProperties": False,
}
FORM = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}


@pytest.fixture(scope="module")
def server(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, "tiny", settings=Request(outputs=1, parallel=4))]) as made:
        yield made


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=server.url, api_key=KEY, max_retries=0, timeout=WAIT) as made:
        yield made


def say(client, text, model="tiny", **more):
    more = {"max_tokens": 60, "temperature": 0, **more}
    return client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}], **more)


def joined(stream):
    return "".join(one.choices[0].delta.content or "" for one in stream if one.choices)


def test_chat(client):
    told = say(client, "count from 3 to 7")
    assert told.choices[0].message.content == "3 4 5 6 7"
    assert told.usage.completion_tokens > 4


def test_stream(client):
    pieces = list(say(client, "count from 3 to 9", stream=True, stream_options={"include_usage": True}))
    assert joined(pieces) == "3 4 5 6 7 8 9"
    assert len(pieces) > 6
    assert pieces[-1].usage.completion_tokens > 6


def test_completion_and_responses(client):
    text = "<|im_start|>user\ncapital of peru<|im_end|>\n<|im_start|>assistant\n"
    assert client.completions.create(model="tiny", prompt=text, max_tokens=5, temperature=0).choices[0].text == "lima"
    told = client.responses.create(model="tiny", input="capital of peru", temperature=0, max_output_tokens=20)
    assert told.output_text == "lima"


def test_embeddings(client):
    told = client.embeddings.create(model="tiny", input=["red cat", "red cat", "count from"]).data
    first, same, other = (one.embedding for one in told)
    assert first == pytest.approx(same, abs=1e-4)
    assert first != pytest.approx(other, abs=1e-2)
    for tokens in ([5, 6], [[5, 6], [7]]):  # of a vocabulary that nobody names
        with pytest.raises(openai.BadRequestError, match="check_embedding_ctx_length"):
            client.embeddings.create(model="tiny", input=tokens)


def test_a_chat_model_embeds_what_its_context_holds(tiny_model, engine_python):
    """More than llama.cpp's own batch; each part of the text counts."""
    with (
        Running([wish(tiny_model, engine_python, "tiny", context=1536)]) as server,
        openai.OpenAI(base_url=server.url, api_key=KEY, max_retries=0, timeout=WAIT) as client,
    ):
        texts = ["count from 1 to 9 " * 150, "red cat " + "count from 1 to 9 " * 150, "count from 1 to 9 " * 300]
        told = client.embeddings.create(model="tiny", input=texts[:2])
        assert told.usage.prompt_tokens > 2 * 512
        assert told.data[0].embedding != pytest.approx(told.data[1].embedding, abs=1e-3)
        with pytest.raises(openai.BadRequestError, match="context"):
            client.embeddings.create(model="tiny", input=texts[2])


def test_models(client):
    (one,) = client.models.list().data
    assert (one.id, one.max_model_len) == ("tiny", 512)
    assert client.models.retrieve("tiny") == one
    with pytest.raises(openai.NotFoundError, match=re.escape("no model a/b:c here. There are: tiny")):
        client.models.retrieve("a/b:c")


def test_a_tool_is_called_where_the_model_likes(client):
    told = say(client, "weather in oslo", tools=[WEATHER]).choices[0]
    assert told.finish_reason == "tool_calls"
    assert json.loads(told.message.tool_calls[0].function.arguments) == {"city": "oslo"}


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "weather"}}])
@pytest.mark.parametrize("text", ["capital of peru", "count from 3 to 5"])
def test_a_tool_is_called_where_it_must_be(client, choice, text):
    told = say(client, text, tools=[WEATHER], tool_choice=choice).choices[0]
    assert told.finish_reason == "tool_calls"
    assert told.message.tool_calls[0].function.name == "weather"
    assert json.loads(told.message.tool_calls[0].function.arguments)["city"] in ("lima", "oslo")


def test_a_forced_call_streams(client):
    pieces = list(
        say(
            client,
            "capital of peru",
            tools=[CLOCK, WEATHER],
            tool_choice={"type": "function", "function": {"name": "weather"}},
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    calls = [call for one in pieces if one.choices for call in one.choices[0].delta.tool_calls or ()]
    assert [call.function.name for call in calls] == ["weather"]
    assert json.loads(calls[0].function.arguments)["city"] in ("lima", "oslo")
    assert [one.choices[0].finish_reason for one in pieces if one.choices][-1] == "tool_calls"
    assert pieces[-1].usage.completion_tokens


def test_a_tool_that_is_not_there_cannot_be_forced(client):
    with pytest.raises(openai.BadRequestError, match="tool_choice"):
        say(client, "capital of peru", tools=[CLOCK], tool_choice={"type": "function", "function": {"name": "weather"}})
    with pytest.raises(openai.BadRequestError, match="tool_choice"):
        client.responses.create(model="tiny", input="x", tool_choice={"type": "function", "name": "none"}, tools=[FLAT])


def test_what_no_grammar_of_ours_says_the_engine_holds(client):
    code = {
        "type": "object",
        "properties": {"code": {"type": "string", "pattern": "^[a-z]{3}$"}},
        "required": ["code"],
        "additionalProperties": False,
    }
    tool = {"type": "function", "function": {"name": "spell", "parameters": code}}
    told = say(client, "repeat red", tools=[tool], tool_choice="required", max_tokens=200).choices[0]
    assert re.fullmatch("[a-z]{3}", json.loads(told.message.tool_calls[0].function.arguments)["code"])


FLAT = {"type": "function", **WEATHER["function"]}
TALK = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "input_text", "text": "weather in oslo"}]},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"oslo"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    {"role": "user", "content": "capital of peru"},
]


@pytest.mark.parametrize("choice", ["required", {"type": "function", "name": "weather"}])
@pytest.mark.parametrize("asked", ["capital of peru", TALK])
def test_a_tool_is_called_in_responses_too(client, choice, asked):
    told = client.responses.create(input=asked, instructions="Answer.", tool_choice=choice, tools=[FLAT], temperature=0)
    assert told.model == "tiny"  # a client that names none is told which
    (call,) = told.output
    assert (told.status, call.type, call.name) == ("completed", "function_call", "weather")
    assert json.loads(call.arguments)["city"] in ("lima", "oslo")
    assert told.usage.output_tokens > 1


def test_a_forced_call_streams_in_responses(client):
    with client.responses.stream(model="tiny", input="capital of peru", tool_choice="required", tools=[FLAT]) as stream:
        kinds = [event.type for event in stream]
        told = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.function_call_arguments.done" in kinds
    assert json.loads(told.output[0].arguments)["city"] in ("lima", "oslo")


def test_a_forced_call_that_is_cut_off_is_told_as_such(client):
    told = client.responses.create(model="tiny", input="x", tool_choice="required", tools=[FLAT], max_output_tokens=3)
    assert (told.status, told.incomplete_details.reason, told.output[0].type) == ("incomplete", "max_output_tokens", "message")


CITY = WEATHER["function"]["parameters"]


def test_a_schema_is_held_in_responses(client):
    asked = {
        "model": "tiny",
        "temperature": 0,
        "input": "capital of peru",
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": CITY}},
    }
    told = client.responses.create(**asked)
    assert told.status == "completed"
    jsonschema.validate(json.loads(told.output_text), CITY)
    with client.responses.stream(**asked) as stream:
        events = list(stream)
    pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert len(pieces) > 3
    assert "".join(pieces) == stream.get_final_response().output_text
    jsonschema.validate(json.loads("".join(pieces)), CITY)
    assert [event.sequence_number for event in events if hasattr(event, "sequence_number")] == sorted(
        {event.sequence_number for event in events if hasattr(event, "sequence_number")}
    )
    with pytest.raises(openai.BadRequestError, match="go together"):
        client.responses.create(**asked, tools=[FLAT])


def test_a_schema_is_held(client):
    told = json.loads(say(client, "capital of peru", response_format=FORM).choices[0].message.content)
    assert told["city"] in ("lima", "oslo")


def test_what_the_engine_refuses_is_told(client):
    with pytest.raises(openai.BadRequestError, match="context"):
        say(client, "repeat " + "red cat " * 600)


def test_sixteen_clients_at_once(client):
    def one(number):
        first = number % 20
        return joined(say(client, f"count from {first} to {first + 4}", stream=True))

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(one, range(32)))
    assert found == [" ".join(str(number % 20 + more) for more in range(5)) for number in range(32)]


def slots_in_use(server):
    text = raw(server.port, get("/metrics")).decode()
    return float(next(line for line in text.splitlines() if line.startswith("llamacpp:requests_processing")).split()[-1])


def until(true):
    for _ in range(WAIT * 20):
        if true():
            return True
        time.sleep(0.05)
    return False


def test_a_client_that_goes_away_frees_its_place(tiny_model, engine_python):
    with (
        Running([wish(tiny_model, engine_python, "tiny", LONG)]) as server,
        openai.OpenAI(base_url=server.url, api_key=KEY, timeout=WAIT) as client,
    ):
        stream = say(client, "repeat red", stream=True, max_tokens=LONG, extra_body={"ignore_eos": True})
        next(iter(stream))
        assert slots_in_use(server) == 1
        stream.close()
        assert until(lambda: slots_in_use(server) == 0)
        assert until(lambda: 'code="200"' in raw(server.port, get("/metrics")).decode())
        assert 'rigup_llm_requests_in_progress{model="tiny"} 0' in raw(server.port, get("/metrics")).decode()


def test_nothing_is_left_of_what_was_answered(server, client, monkeypatch):
    """Connections and relays go by themselves: nobody needs to look for circles of them."""
    alive = weakref.WeakSet()
    for kind in (Connection, Relay):
        made = kind.connection_made
        monkeypatch.setattr(kind, "connection_made", lambda self, door, made=made: alive.add(self) or made(self, door))
    gc.disable()
    try:
        say(client, "count from 3 to 7")
        joined(say(client, "count from 3 to 7", stream=True))
        client.models.list()
        assert until(lambda: not alive), list(alive)
    finally:
        gc.enable()


def test_metrics(server, client):
    say(client, "capital of peru")
    text = raw(server.port, get("/metrics")).decode()
    assert 'rigup_llm_requests_total{code="200",model="tiny",path="/v1/chat/completions"}' in text
    assert 'rigup_llm_model_loaded{model="tiny"} 1' in text
    assert 'rigup_llm_gpu_used{model="tiny"} 0' in text
    assert 'llamacpp:tokens_predicted_total{model="tiny"}' in text
    buckets = [line for line in text.splitlines() if line.startswith("rigup_llm_time_to_first_byte_seconds_")]
    assert buckets[-1].startswith("rigup_llm_time_to_first_byte_seconds_count")


def test_what_is_asked_is_not_said(server, client):
    say(client, "repeat horse horse")
    assert "horse" not in "".join(server.said)


# -- engines that end --------------------------------------------------------------------------------


def test_a_killed_engine_is_told_in_the_stream_and_started_again(tiny_model, engine_python):
    with (
        Running([wish(tiny_model, engine_python, "tiny", LONG)]) as server,
        openai.OpenAI(base_url=server.url, api_key=KEY, max_retries=0, timeout=WAIT) as client,
    ):
        stream = say(client, "repeat red", stream=True, max_tokens=LONG, extra_body={"ignore_eos": True})
        pieces = iter(stream)
        next(pieces)
        first = server.engine("tiny").pid
        os.kill(first, signal.SIGKILL)
        with pytest.raises(openai.APIError, match="killed"):
            list(pieces)
        assert say(client, "capital of peru").choices[0].message.content == "lima"
        assert server.engine("tiny").pid != first
        assert any("killed" in line for line in server.said)
        assert "rigup_llm_engine_exits_total" in raw(server.port, get("/metrics")).decode()


def test_several_models_take_turns(tiny_model, engine_python):
    wishes = [wish(tiny_model, engine_python, "one"), wish(tiny_model, engine_python, "two")]
    with Running(wishes, most=1) as server, openai.OpenAI(base_url=server.url, api_key=KEY, timeout=WAIT) as client:
        assert server.engine("one") is None
        for name in ("one", "two", "one"):
            assert say(client, "capital of peru", model=name).choices[0].message.content == "lima"
        assert server.engine("two") is None
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = pool.map(lambda place: say(client, "capital of peru", model=("one", "two")[place % 2]), range(8))
            assert {one.choices[0].message.content for one in found} == {"lima"}
        assert sum(server.engine(name) is not None for name in ("one", "two")) == 1
        with pytest.raises(openai.NotFoundError, match="one, two"):
            say(client, "x", model="three")


def test_an_idle_model_is_ended_and_comes_again(tiny_model, engine_python):
    with (
        Running([wish(tiny_model, engine_python, "tiny")], idle=0.3) as server,
        openai.OpenAI(base_url=server.url, api_key=KEY, timeout=WAIT) as client,
    ):
        assert until(lambda: server.engine("tiny") is None)
        assert say(client, "capital of peru").choices[0].message.content == "lima"


def test_a_model_that_does_not_load_says_why(tiny_model, engine_python, tmp_path):
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny_model.read_bytes()[:200_000])
    wishes = [wish(cut, engine_python, "cut"), wish(tiny_model, engine_python, "tiny")]
    with Running(wishes) as server, openai.OpenAI(base_url=server.url, api_key=KEY, max_retries=0, timeout=WAIT) as client:
        with pytest.raises(openai.InternalServerError, match="Download it again"):
            say(client, "x", model="cut")
        assert say(client, "capital of peru").choices[0].message.content == "lima"


def test_streams_end_before_the_server_does(tiny_model, engine_python):
    with (
        Running([wish(tiny_model, engine_python, "tiny")], grace=10 * WAIT) as server,
        openai.OpenAI(base_url=server.url, api_key=KEY, timeout=WAIT) as client,
    ):
        pieces = iter(say(client, "repeat red", stream=True, max_tokens=200, extra_body={"ignore_eos": True}))
        next(pieces)
        server.begin_to_end()
        reasons = [one.choices[0].finish_reason for one in pieces if one.choices]
        assert reasons[-1] == "length"
        with pytest.raises(openai.APIConnectionError):
            openai.OpenAI(base_url=server.url, api_key=KEY, max_retries=0, timeout=WAIT).models.list()


def test_a_stream_without_end_does_not_hold_the_server(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, "tiny", LONG)], grace=0.2) as server:
        body = json.dumps(
            {"messages": [{"role": "user", "content": "x"}], "stream": True, "max_tokens": 10**9, "ignore_eos": True}
        ).encode()
        reader = threading.Thread(target=raw, args=(server.port, post("/v1/chat/completions", body)))
        reader.start()
        assert until(lambda: slots_in_use(server) == 1)
        server.begin_to_end()
    reader.join(WAIT)
    assert not reader.is_alive()


def test_a_schema_is_held_on_sentence_pieces(tiny_model, engine_python):
    with (
        Running([wish(sentence_pieces_of(tiny_model), engine_python, "spm")]) as server,
        openai.OpenAI(base_url=server.url, api_key=KEY, max_retries=0, timeout=WAIT) as client,
    ):
        told = say(client, "anything", model="spm", response_format=FORM).choices[0]
        assert json.loads(told.message.content)["city"] in ("lima", "oslo")
        text = joined(say(client, "anything", model="spm", response_format=FORM, stream=True))
        assert isinstance(json.loads(text)["sunny"], bool)
        forced = say(client, "x", model="spm", tools=[WEATHER], tool_choice="required").choices[0].message.tool_calls[0]
        assert json.loads(forced.function.arguments)["city"] in ("lima", "oslo")
        flat = {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}}
        jsonschema.validate(json.loads(client.responses.create(model="spm", input="x", text=flat).output_text), SCHEMA)
        odd = {**FORM, "json_schema": {"name": "a", "schema": {"type": "integer", "multipleOf": 7}}}
        with pytest.raises(openai.BadRequestError, match="multipleOf"):
            say(client, "x", model="spm", response_format=odd)


RICH = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "tags": {"type": "array", "items": {"enum": ["a", 1, None]}, "minItems": 1, "maxItems": 3},
        "next": {"$ref": "#/$defs/node"},
        "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "flag": {"type": "boolean"},
        "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
    },
    "required": ["name", "next", "flag"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"deeper": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
            "required": ["deeper"],
        }
    },
}


def test_a_rich_schema_is_held_on_sentence_pieces(tiny_model, engine_python):
    """Every answer that is whole is right: the model itself knows nothing, so that the grammar alone does it."""
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": RICH}}
    with (
        Running([wish(sentence_pieces_of(tiny_model), engine_python, "spm")]) as server,
        openai.OpenAI(base_url=server.url, api_key=KEY, max_retries=0, timeout=10 * WAIT) as client,
    ):
        told = [
            say(client, "x", model="spm", response_format=form, temperature=1.5, seed=one, max_tokens=400).choices[0] for one in range(6)
        ]
    whole = [json.loads(one.message.content) for one in told if one.finish_reason == "stop"]
    assert whole
    for one in whole:
        jsonschema.validate(one, RICH)
