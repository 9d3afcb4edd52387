"""Parameters that are set when the server is started hold where a request does not say, and nowhere else."""

import json

import pytest
from servers import Running, post, raw
from test_serving_broken import ANSWER, Endpoint

from rigup.llm.chat.parameters import ParameterError
from rigup.llm.engines.choosing import Engine
from rigup.llm.engines.running import RunningEngine
from rigup.llm.engines.wish import StartRequest
from rigup.llm.server.usual import completed, not_taken, usual

WANTED = usual(["temperature=0.6", "top_k=20", "reasoning=off"])


def engine(name):
    return RunningEngine(Engine(name=name, why=""), StartRequest(model="m"), "http://127.0.0.1:1/v1", "")


def test_what_a_request_does_not_say_is_filled_in():
    for body, filled in (
        ({}, {"temperature": 0.6, "top_k": 20, "chat_template_kwargs": {"enable_thinking": False}}),
        ({"temperature": 0, "top_k": None}, {"temperature": 0, "top_k": 20, "chat_template_kwargs": {"enable_thinking": False}}),
        (
            {"chat_template_kwargs": {"enable_thinking": True}},
            {"temperature": 0.6, "top_k": 20, "chat_template_kwargs": {"enable_thinking": True}},
        ),
        ({"chat_template_kwargs": {"x": 1}}, {"temperature": 0.6, "top_k": 20, "chat_template_kwargs": {"enable_thinking": False, "x": 1}}),
    ):
        before = json.dumps(body)
        assert completed(engine("xllamacpp"), WANTED, "/v1/chat/completions", body) == filled
        assert json.dumps(body) == before


@pytest.mark.parametrize(("wanted", "path"), [({}, "/v1/chat/completions"), (WANTED, "/v1/embeddings"), (WANTED, "/v1/rerank")])
def test_a_request_that_wants_nothing_is_the_same_object(wanted, path):
    body = {"input": "x"}
    assert completed(engine("xllamacpp"), wanted, path, body) is body


def test_an_engine_gets_what_it_takes_by_its_own_names():
    assert completed(engine("endpoint"), usual(["temperature=1", "top-k=3"]), "/v1/completions", {}) == {"temperature": 1}
    assert not_taken(engine("endpoint"), usual(["temperature=1", "top-k=3"])) == ["top-k"]
    assert completed(engine("vllm"), usual(["repeat-penalty=1.1"]), "/v1/messages", {}) == {"repetition_penalty": 1.1}


@pytest.mark.parametrize(
    "pair",
    ["max-tokens=5", "seed=3", "system=be kind", "stop=x", "json-schema={}", "grammar=root ::= x", "odd=1", "temperature=9", "temperature"],
)
def test_what_is_of_one_request_alone_or_no_value_is_refused(pair):
    with pytest.raises(ParameterError):
        usual([pair])


def test_requests_of_both_interfaces_are_filled_in():
    wanted = usual(["temperature=0.5", "top-k=3"])
    with Endpoint(ANSWER) as endpoint, Running([StartRequest(model="far", api=endpoint.url, usual=wanted)]) as server:
        for path, body in (
            ("/v1/chat/completions", {"messages": [], "top_p": 0.1}),
            ("/v1/chat/completions", {"messages": [], "temperature": 1.5}),
            ("/api/chat", {"messages": [{"role": "user", "content": "x"}], "stream": False}),
            ("/v1/embeddings", {"input": "x"}),
        ):
            raw(server.port, post(path, json.dumps(body).encode()))
    told = [json.loads(sent) for _head, sent in endpoint.asked]
    assert [body.get("temperature") for body in told] == [0.5, 1.5, 0.5, None]
    assert told[0]["top_p"] == 0.1
    assert "top_k" not in told[0]
    assert server.said[-1] == "This endpoint does not take top-k; it is not sent."
