"""What strangers send to `rigup serve`: no engine is needed, for nothing of it gets so far."""

import json
import socket
import time

import pytest
from servers import KEY, WAIT, Running, get, post, raw

from rigup.llm.server import connection
from rigup.llm.server.errors import Refused
from rigup.llm.server.gbnf import gbnf
from rigup.llm.server.metrics import Metrics
from rigup.llm.server.ollama_models import served_name
from rigup.llm.server.responses import as_chat


@pytest.fixture(scope="module")
def server():
    from rigup.llm.engines.wish import StartRequest

    wishes = [StartRequest(model="none.gguf", name=name, on="cpu") for name in ("one", "two")]
    with Running(wishes, rules={"most_body": 10_000, "most_connections": 20}) as made:
        yield made


def told(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body) if body.startswith(b"{") else body.decode(), head.decode().lower()


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        (get("/v1/models", "wrong"), 401, "invalid_api_key"),
        (get("/v1/models", ""), 401, "invalid_api_key"),
        (get("/v1/models", "ключ"), 401, "invalid_api_key"),
        (b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", 401, "invalid_api_key"),
        (get("/metrics", "wrong"), 401, "invalid_api_key"),
        (post("/v1/chat/completions", b"{}", "wrong"), 401, "invalid_api_key"),
        (post("/v1/chat/completions", b'{"model": "one", "messages"'), 400, "invalid_json"),
        (post("/v1/chat/completions", b"[" * 9000), 400, "invalid_json"),
        (post("/v1/chat/completions", b"\xff\xfe"), 400, "invalid_json"),
        (post("/v1/chat/completions", b"[]"), 400, "invalid_json"),
        (post("/v1/chat/completions", b"{}"), 404, "model_not_found"),
        (post("/v1/chat/completions", b'{"model": {"a": 1}}'), 404, "model_not_found"),
        (post("/v1/chat/completions", b'{"model": "../../etc/passwd"}'), 404, "model_not_found"),
        (post("/v1/chat/completions", b"x" * 10_001), 413, "request_too_large"),
        (post("/v1/chat/completions", b"", KEY, "Content-Length: 99999999999999"), 400, "bad_request"),
        (get("/v1/chat/completions"), 405, "method_not_allowed"),
        (post("/v1/models", b"{}"), 405, "method_not_allowed"),
        (get("/etc/passwd"), 404, "not_found"),
        (get("/slots"), 404, "not_found"),
        (post("/completion", b"{}"), 404, "not_found"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"x: " + b"y" * 400_000, 431, "bad_request"),
        (b"nonsense\r\n\r\n", 400, "bad_request"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", 400, "bad_request"),
        (
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer "
            + KEY.encode()
            + b"\r\n\r\n"
            + b"1000\r\n"
            + b"x" * 4096
            + b"\r\n1000\r\n"
            + b"x" * 4096
            + b"\r\n1000\r\n"
            + b"x" * 4096,
            413,
            "request_too_large",
        ),
        (post("/v1/chat/completions", b'{"model": "one"}'), 503, "model_not_loaded"),
    ],
)
def test_what_is_wrong_is_told_as_openai_tells_it(server, request_, status, code):
    found, body, head = told(raw(server.port, request_))
    assert (found, body["error"]["code"]) == (status, code)
    assert body["error"]["message"]
    assert KEY not in body["error"]["message"]
    assert "access-control" not in head
    assert raw(server.port, get("/health", "")).startswith(b"HTTP/1.1 200")


def test_health_wants_no_key_and_models_do(server):
    assert told(raw(server.port, get("/health", "")))[1] == {"status": "ok"}
    assert [one["id"] for one in told(raw(server.port, get("/v1/models")))[1]["data"]] == ["one", "two"]


def test_the_key_comes_as_clients_of_either_house_send_it(server):
    for line, status in (
        (f"x-api-key: {KEY}", 200),
        (f"authorization: bearer {KEY}", 200),
        ("x-api-key: wrong", 401),
        (f"authorization: Basic {KEY}", 401),
    ):
        asked = f"GET /v1/models HTTP/1.1\r\nHost: x\r\n{line}\r\n\r\n".encode()
        assert told(raw(server.port, asked))[0] == status, line


def test_a_page_of_another_site_gets_no_leave(server):
    asked = (
        b"OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n"
    )
    status, _body, head = told(raw(server.port, asked))
    assert status == 401
    assert "access-control" not in head


def test_keys_are_compared_in_constant_time(server, monkeypatch):
    seen = []
    same = connection.hmac.compare_digest
    monkeypatch.setattr(connection.hmac, "compare_digest", lambda one, two: seen.append((one, two)) or same(one, two))
    raw(server.port, get("/v1/models", "a"))
    raw(server.port, get("/v1/models"))
    assert [one for one, _two in seen] == [b"a", KEY.encode()]


def test_without_a_key_other_names_of_this_machine_are_refused():
    from rigup.llm.engines.wish import StartRequest

    wishes = [StartRequest(model="none.gguf", name=name, on="cpu") for name in ("one", "two")]
    with Running(wishes, key="", rules={"only_local": True}) as server:
        for host, status in (
            ("127.0.0.1:1", 200),
            ("localhost", 200),
            ("[::1]:80", 200),
            ("evil.example", 403),
            ("127.0.0.1.evil.example", 403),
        ):
            asked = f"GET /v1/models HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
            assert told(raw(server.port, asked))[0] == status, host


def test_a_slow_client_is_let_go(monkeypatch):
    from rigup.llm.engines.wish import StartRequest

    monkeypatch.setattr(connection, "_HEAD_SECONDS", 0.2)
    monkeypatch.setattr(connection, "_BODY_SECONDS", 0.2)
    wishes = [StartRequest(model="none.gguf", name=name, on="cpu") for name in ("one", "two")]
    with Running(wishes) as server:
        assert told(raw(server.port, b"GET /v1/mod"))[1]["error"]["code"] == "request_timeout"
        half = post("/v1/chat/completions", b'{"model": "one"}')[:-3]
        assert told(raw(server.port, half))[1]["error"]["code"] == "request_timeout"


def test_more_connections_than_there_may_be_are_refused(server):
    doors = [socket.create_connection(("127.0.0.1", server.port), WAIT) for _ in range(20)]
    try:
        for _ in range(WAIT * 20):
            if raw(server.port, get("/health")).startswith(b"HTTP/1.1 503"):
                break
            time.sleep(0.05)
        else:
            pytest.fail("the connection was taken")
    finally:
        for one in doors:
            one.close()
    while raw(server.port, get("/health")).startswith(b"HTTP/1.1 503"):
        time.sleep(0.01)  # others are let in again once the server has seen that these are gone


def test_labels_of_metrics_cannot_break_out():
    metrics = Metrics()
    metrics.add("rigup_llm_requests_total", model='a"} 1\nx', path="p\\", code="200")
    text = metrics.text([('m"', 'good{a="b"} 1\nplain 2\n{odd\n')])
    assert 'model="a\\"} 1\\nx"' in text
    assert 'good{model="m\\"",a="b"} 1' in text
    assert 'plain{model="m\\""} 2' in text
    assert "odd" not in text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": 3},
        {"input": [3]},
        {"input": [{"role": "odd", "content": "x"}]},
        {"input": [{"type": "computer_call"}]},
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
        {"input": [{"role": "user"}]},
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": 3}]}]},
        {"input": "x", "previous_response_id": "r"},
        {"input": [{"type": "function_call_output", "call_id": "c", "output": {"a": 1}}]},
    ],
)
def test_what_no_chat_has_is_refused(body):
    with pytest.raises(Refused) as error:
        as_chat({"tool_choice": "required", **body})
    assert (error.value.status, error.value.code) == (400, "unsupported")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "a+"},
        {"type": "integer", "minimum": 3},
        {"allOf": [{}]},
        {"type": "odd"},
        {"$ref": "https://x"},
        {"$ref": "#/none"},
        {"type": "string", "maxLength": 10**9},
        {"type": "string", "maxLength": -1},
        {"type": "object", "properties": []} | {"properties": [1]},
        {"type": "array", "items": 3},
    ],
)
def test_a_schema_that_no_grammar_holds_is_refused(schema):
    with pytest.raises(Refused) as error:
        gbnf(schema)
    assert error.value.code == "unsupported_schema"


def test_a_schema_as_large_as_none_is_refused():
    deep = {"type": "null"}
    for _ in range(200):
        deep = {"type": "array", "items": deep}
    with pytest.raises(Refused):
        gbnf(deep)
    with pytest.raises(Refused):
        gbnf({"type": "object", "properties": {f"p{number}": {"type": "null"} for number in range(9000)}})


def test_a_grammar_says_what_may_be_left_out():
    text = gbnf({"type": "object", "properties": {"a": {"type": "string", "maxLength": 5}, "b": {"const": 'q"'}}, "required": ["b"]})
    assert "char{0,5}" in text
    assert '"\\"q\\\\\\"\\""' in text
    assert " | " in text.split("root ::=")[0] or " | " in text


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/show", {"model": "one"}, 200),
        ("/api/show", {"name": "one:latest"}, 200),
        ("/api/show", {"model": "hub.one:latest"}, 200),  # as Open WebUI asks, with a prefix of its connection
        ("/api/show", {"model": "my.hub.two"}, 200),
        ("/api/show", {"model": "hub.three"}, 404),
        ("/api/show", {"model": "hub."}, 404),
        ("/api/show", {"model": ".one."}, 404),
        ("/api/chat", {"model": "hub.one", "messages": []}, 404),
        ("/v1/chat/completions", {"model": "hub.one"}, 404),
    ],
)
def test_what_a_model_is_can_be_asked_with_a_prefix_before_its_name(server, path, body, status):
    assert told(raw(server.port, post(path, json.dumps(body).encode())))[0] == status


def test_a_name_that_is_served_is_not_cut():
    known = dict.fromkeys(("2.5", "qwen2.5", "a.b"))
    for asked, name in (("qwen2.5", "qwen2.5"), ("hub.qwen2.5:latest", "qwen2.5"), ("a.b", "a.b"), ("x.a.b", "a.b"), ("hub.7b", "hub.7b")):
        assert served_name({"model": asked}, known, prefixed=True) == name
    assert served_name({"model": "x.2.5"}, known, prefixed=False) == "x.2.5"
    assert served_name({"model": 3}, known, prefixed=True) == 3
