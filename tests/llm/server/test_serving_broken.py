"""Engines that break off, and clients that send what no client should: the reason is told, one answer each, and the server goes on."""

import contextlib
import json
import socket
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers import KEY, WAIT, Running, get, post, raw

from rigup.llm.engines.wish import StartRequest

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
PIECE = b"data: {}\n\n"
CHUNK = b"%x\r\n%b\r\n" % (len(PIECE), PIECE)


class Endpoint:
    """One that lists models, and says so much of an answer before it is gone; what it was sent is kept."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._live)

    def _live(self):
        while True:
            try:
                client, _address = self._door.accept()
            except OSError:
                return
            with client:
                asked = b""
                while b"\r\n\r\n" not in asked:
                    asked += client.recv(65536)
                head, _gap, body = asked.partition(b"\r\n\r\n")
                length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")), 0)
                while len(body) < length:
                    body += client.recv(65536)
                if head.startswith(b"GET"):
                    client.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n" + b'{"data":[]}')
                    continue
                self.asked.append((head, body))
                client.sendall(self.answer)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._thread.join(WAIT)


def served(endpoint, **rules):
    return Running([StartRequest(model="far", api=endpoint.url)], rules=rules)


@pytest.mark.parametrize("sent", [HEAD, HEAD + CHUNK, HEAD + CHUNK + CHUNK])
def test_a_stream_that_breaks_off_between_pieces_says_so(sent):
    with Endpoint(sent) as endpoint, served(endpoint) as server:
        answer = raw(server.port, post("/v1/chat/completions", b'{"stream":true}'))
    assert answer.endswith(b"0\r\n\r\n")
    assert b'"code":"engine_failed"' in answer
    assert answer.count(b"data: ") == 1 + sent.count(b"data: ")


@pytest.mark.parametrize("sent", [HEAD + CHUNK[:-4], HEAD + b"ff\r\n"])
def test_one_that_breaks_off_within_a_piece_is_cut(sent):
    with Endpoint(sent) as endpoint, served(endpoint) as server:
        try:
            answer = raw(server.port, post("/v1/chat/completions", b'{"stream":true}'))
        except ConnectionResetError:
            return
    assert not answer.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000])
def test_one_that_never_began_is_told_with_a_status(sent):
    with Endpoint(sent) as endpoint, served(endpoint) as server:
        answer = raw(server.port, post("/v1/chat/completions", b'{"stream":true}'))
    assert answer.startswith(b"HTTP/1.1 502")
    assert b"engine_failed" in answer


INNER = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
_AUTH = b"Authorization: Bearer " + KEY.encode() + b"\r\n"
SMUGGLED = {
    "pipelined": post("/v1/chat/completions", b'{"a":1}') + INNER,
    "both lengths": b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
    + _AUTH
    + b'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n'
    + INNER,
    "two lengths": b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
    + _AUTH
    + b'Content-Length: 7\r\nContent-Length: 2\r\n\r\n{"a":1}'
    + INNER,
    "odd coding": b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
    + _AUTH
    + b'Transfer-Encoding: xchunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n'
    + INNER,
    "blank before the colon": b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
    + _AUTH
    + b'Transfer-Encoding : chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n'
    + INNER,
    "a line in a value": b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + _AUTH + b"X: a\rContent-Length: 7\r\n\r\n" + INNER,
    "a path with a line": b"POST /v1/chat/completions\r\nX: y HTTP/1.1\r\nHost: x\r\n" + _AUTH + b"\r\n" + INNER,
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_no_second_request_reaches_the_engine(name):
    body = b'{"object":"chat.completion"}'
    answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    with Endpoint(answer) as endpoint, served(endpoint) as server:
        found = raw(server.port, SMUGGLED[name])
        assert raw(server.port, get("/health", "")).startswith(b"HTTP/1.1 200")
    assert found.count(b"HTTP/1.1 ") == 1
    if found.startswith(b"HTTP/1.1 200"):
        ((head, sent),) = endpoint.asked
        assert json.loads(sent) == {"a": 1, "model": "far"}
        assert head.lower().count(b"content-length") == 1
        assert b"transfer-encoding" not in head.lower()
        assert KEY.encode() not in head
    else:
        assert found.startswith(b"HTTP/1.1 4")
        assert endpoint.asked == []


def test_a_trickle_of_chunks_has_a_bound(monkeypatch):
    """Each byte in a chunk of its own, with words behind its length: neither memory nor time grows with it."""
    heads = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + _AUTH + b"Transfer-Encoding: chunked\r\n\r\n"
    with Endpoint(b"") as endpoint, served(endpoint, most_body=1000) as server:
        assert raw(server.port, heads + b"1;x=y\r\n \r\n" * 1100).startswith(b"HTTP/1.1 413")
        assert raw(server.port, heads + b"1;" + b"x" * 200_000).startswith(b"HTTP/1.1 4")
        assert raw(server.port, heads + b"0\r\n" + b"a: b\r\n" * 50_000).startswith(b"HTTP/1.1 4")
    assert endpoint.asked == []


@pytest.fixture(scope="module")
def quiet():
    wishes = [StartRequest(model="none.gguf", name=name, on="cpu") for name in ("one", "two")]
    with Running(wishes, rules={"most_body": 100_000}) as made:
        yield made


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
_NAMES = st.sampled_from(["model", "messages", "stream", "tools", "tool_choice", "response_format", "n", "input", "text"])
_PATHS = st.sampled_from(["chat/completions", "completions", "responses", "embeddings", "rerank", "messages"])


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=_PATHS, body=st.dictionaries(_NAMES, _VALUES) | _VALUES, cut=st.integers(0, 12))
def test_whatever_json_comes_one_error_of_the_form_goes(quiet, path, body, cut):
    text = json.dumps(body).encode()
    answer = raw(quiet.port, post(f"/v1/{path}", text[: len(text) - cut]))
    status, _gap, told = answer.partition(b"\r\n\r\n")
    assert int(status.split()[1]) in (400, 404, 503)
    assert json.loads(told)["error"]["code"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(min_size=1, max_size=300), at=st.integers(0, 120))
def test_whatever_bytes_come_the_server_goes_on(quiet, data, at):
    whole = post("/v1/chat/completions", b'{"model":"one"}')
    with socket.create_connection(("127.0.0.1", quiet.port), WAIT) as door:
        door.sendall(whole[:at] + data + whole[at:])
        door.shutdown(socket.SHUT_WR)
        while door.recv(65536):
            pass
    assert raw(quiet.port, get("/health", "")).startswith(b"HTTP/1.1 200")


_WHOLE = b'{"object":"chat.completion"}'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(_WHOLE), _WHOLE)
_START = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + _AUTH
CHUNKED = b'Transfer-Encoding: Chunked\r\n\r\n3;ext="y"\r\n{"a\r\n4\r\n":1}\r\n0\r\ntrailer: t\r\n\r\n'
UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n"
TAKEN = {
    "a length": _START + b'Content-Length: 7\r\n\r\n{"a":1}',
    "chunks with words and trailers": _START + CHUNKED,
    "an upgrade that is passed by": _START + UPGRADE + b'Content-Length: 7\r\n\r\n{"a":1}',
    "an upgrade with chunks": _START + UPGRADE + CHUNKED,
    "HTTP/1.0": b"POST /v1/chat/completions HTTP/1.0\r\n" + _AUTH + b'Content-Length: 7\r\n\r\n{"a":1}',
    "blanks around values": _START + b'Content-Length:   7 \t \r\n\r\n{"a":1}',
    "a query": _START.replace(b"completions HTTP", b"completions?api-version=1 HTTP") + b'Content-Length: 7\r\n\r\n{"a":1}',
}


@pytest.mark.parametrize("in_bytes", [False, True])
@pytest.mark.parametrize("name", TAKEN)
def test_a_request_is_read_in_each_form_however_it_is_cut(name, in_bytes):
    request = TAKEN[name]
    with Endpoint(ANSWER) as endpoint, served(endpoint) as server, socket.create_connection(("127.0.0.1", server.port), WAIT) as door:
        door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in (bytes([one]) for one in request) if in_bytes else [request]:
            door.sendall(piece)
        found = b"".join(iter(lambda: door.recv(65536), b""))
    assert found.startswith(b"HTTP/1.1 200")
    ((_head, sent),) = endpoint.asked
    assert json.loads(sent) == {"a": 1, "model": "far"}


REFUSED = {
    "both framings": _START + b'Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n',
    "the same length twice": _START + b'Content-Length: 7\r\nContent-Length: 7\r\n\r\n{"a":1}',
    "a list of lengths": _START + b'Content-Length: 7, 7\r\n\r\n{"a":1}',
    "a length with a sign": _START + b'Content-Length: +7\r\n\r\n{"a":1}',
    "another coding before chunks": _START + b'Transfer-Encoding: gzip, chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n',
    "chunks in HTTP/1.0": _START.replace(b"HTTP/1.1", b"HTTP/1.0") + CHUNKED,
    "a chunk longer than it says": _START + b'Transfer-Encoding: chunked\r\n\r\n7\r\n{"a":1}x\r\n0\r\n\r\n',
    "a folded line": _START + b'Transfer-Encoding:\r\n chunked\r\nContent-Length: 7\r\n\r\n{"a":1}',
    "bare line feeds": _START.replace(b"\r\n", b"\n") + b'Content-Length: 7\n\n{"a":1}',
    "no host": b"POST /v1/chat/completions HTTP/1.1\r\n" + _AUTH + b'Content-Length: 7\r\n\r\n{"a":1}',
    "two hosts": _START + b'Host: y\r\nContent-Length: 7\r\n\r\n{"a":1}',
    "two keys": _START + _AUTH + b'Content-Length: 7\r\n\r\n{"a":1}',
    "another version": _START.replace(b"HTTP/1.1", b"HTTP/2.0") + b'Content-Length: 7\r\n\r\n{"a":1}',
    "no version": b"POST /v1/chat/completions\r\n\r\n",
    "an upgrade with both framings": _START + UPGRADE + b"Content-Length: 7\r\n" + CHUNKED,
    "a long head": _START + b"x: " + b"y" * 40_000 + b'\r\nContent-Length: 7\r\n\r\n{"a":1}',
}


def test_what_could_be_read_in_two_ways_is_refused():
    with Endpoint(ANSWER) as endpoint, served(endpoint) as server:
        for name, request in REFUSED.items():
            found = raw(server.port, request)
            assert found[9:12] in (b"400", b"431"), name
            assert found.count(b"HTTP/1.1 ") == 1, name
    assert endpoint.asked == []


def test_who_waits_for_leave_to_send_a_body_has_it():
    with Endpoint(ANSWER) as endpoint, served(endpoint, most_body=1000) as server:
        with socket.create_connection(("127.0.0.1", server.port), WAIT) as door:
            door.sendall(_START + b"Expect: 100-Continue\r\nContent-Length: 7\r\n\r\n")
            assert door.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            door.sendall(b'{"a"')
            door.sendall(b":1}")
            assert b"".join(iter(lambda: door.recv(65536), b"")).startswith(b"HTTP/1.1 200")
        assert raw(server.port, _START + b"Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n").startswith(b"HTTP/1.1 413")
    assert len(endpoint.asked) == 1


def test_who_leaves_lets_the_engine_go():
    """The engine's connection ends as soon as the client's does, before and after the answer's head."""
    for sent in (b"", HEAD + CHUNK):
        door = socket.create_server(("127.0.0.1", 0))
        with Endpoint(b"") as known, served(known) as server:
            server.engine("far").base_url = f"http://127.0.0.1:{door.getsockname()[1]}/v1"
            client = socket.create_connection(("127.0.0.1", server.port), WAIT)
            client.sendall(TAKEN["a length"])
            engine, _address = door.accept()
            engine.settimeout(WAIT)
            assert engine.recv(65536)
            engine.sendall(sent)
            client.close()
            with contextlib.suppress(ConnectionResetError):
                assert engine.recv(65536) == b""
            engine.close()
        door.close()


def test_an_engine_that_is_gone_is_told_as_such():
    with Endpoint(b"") as endpoint, served(endpoint) as server:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server.engine("far").base_url = f"http://127.0.0.1:{port}/v1"
        answer = raw(server.port, TAKEN["a length"])
        assert answer.startswith(b"HTTP/1.1 502")
        assert b"engine_unreachable" in answer
        assert b'{code="502",model="far",path="/v1/chat/completions"} 1' in raw(server.port, get("/metrics"))
        assert b'rigup_llm_requests_in_progress{model="far"} 0' in raw(server.port, get("/metrics"))
