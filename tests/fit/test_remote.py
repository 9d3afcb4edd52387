"""Models that lie elsewhere: a real server on loopback with ranges, without, that breaks off, redirects, and wants a token."""

import functools
import http.client
import http.server
import json
import re
import threading
from pathlib import Path

import ggufs
import pytest
from click.testing import CliRunner

from rigup.cli import main
from rigup.fit.errors import FitError
from rigup.fit.gguf import Listed, read_header
from rigup.fit.hub import of_repository, of_tag
from rigup.fit.remote import Remote, Unreachable, Web

_TOKEN = "hf_notARealOne"
_KEYS, _TENSORS = ggufs.llama()
_KEYS = {**_KEYS, "tokenizer.ggml.tokens": [f"token number {number}" for number in range(128256)], "tokenizer.ggml.scores": [0] * 128256}
_SIZE = 100 << 30
_DIGEST = "sha256:" + "a" * 64


@functools.cache
def _head_and_data() -> tuple[bytes, int]:
    """The header, and how many bytes of data follow."""
    return ggufs.header(_KEYS, _TENSORS)


def _head() -> bytes:
    return _head_and_data()[0]


class _Handler(http.server.BaseHTTPRequestHandler):
    """Paths tell how it behaves: /plain, /whole (no ranges), /break, /moved, /away, /loop, /secret, /stall."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        seen = self.server.seen
        seen.append((self.path, dict(self.headers)))
        kind = self.path.split("/")[1]
        if self.path.startswith("/api/") or "/manifests/" in self.path:
            self._json()
        elif kind == "loop":
            self._to("/loop/model.gguf")
        elif kind == "moved":
            self._to("/plain/model.gguf")
        elif kind == "astray":
            self._to("http://[::1")
        elif kind == "away":
            self._to(f"http://localhost:{self.server.server_port}/plain/model.gguf")
        elif kind == "secret" and self.headers.get("Authorization") != f"Bearer {_TOKEN}":
            self._empty(401)
        elif kind == "nothing":
            self._empty(404)
        else:
            self._file(kind)

    def _to(self, where: str) -> None:
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _empty(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _json(self) -> None:
        body = json.dumps(self.server.answers.get(self.path.partition("?")[0], {})).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _file(self, kind: str) -> None:
        told = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if kind == "whole" or not told:
            self.send_response(200)
            self.send_header("Content-Length", str(_SIZE))
            self.end_headers()
            self._send(0, len(_head()) + (1 << 20))
            self.close_connection = True
            return
        first, last = int(told[1]), min(int(told[2]), _SIZE - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{_SIZE}")
        self.send_header("Content-Length", str(last - first + 1))
        if self.server.mark:
            self.send_header("ETag", self.server.mark)
        self.end_headers()
        if kind == "break" and not self.server.broken.get(first):
            self.server.broken[first] = True
            self._send(first, (first + last) // 2)
            self.close_connection = True
        elif kind != "stall":
            self._send(first, last + 1)
        else:
            self.close_connection = True

    def _send(self, first: int, end: int) -> None:
        part = (self.server.head or _head())[first:end]
        try:
            self.wfile.write(part + bytes(max(0, end - first - len(part))))
            self.server.sent += end - first
        except OSError:
            return

    def log_message(self, *_what: object) -> None:
        return


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where headers are kept, for one test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "rigup" / "headers"


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as made:
        made.seen, made.answers, made.broken, made.sent, made.mark, made.head = [], {}, {}, 0, "", b""
        made.daemon_threads = True
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        made.url = f"http://127.0.0.1:{made.server_port}"
        yield made
        made.shutdown()
        thread.join()


def _header(server, kind: str, web: Web | None = None):
    source = Remote(f"{server.url}/{kind}/model.gguf", web or Web())
    try:
        return read_header(source)
    finally:
        source.close()


@pytest.mark.parametrize("kind", ["plain", "moved", "away", "break", "whole"])
def test_a_header_of_a_file_of_a_hundred_gigabytes_costs_little_transfer(server, kind: str) -> None:
    web = Web()
    header = _header(server, kind, web)
    assert header.size == _SIZE
    assert len(header.tensors) == len(_TENSORS)
    assert header.missing == 0
    assert web.received < 10 << 20
    if kind == "plain":
        assert web.received < len(_head()) + (1 << 20)


def test_a_list_of_numbers_that_nobody_reads_does_not_come(server) -> None:
    web = Web()
    _header(server, "plain", web)
    with_them = len(_head())
    assert _head().count(b"scores") == 1
    assert web.received < with_them + (1 << 19) + 4 * 128256


def test_a_token_is_shown_to_its_own_host_and_to_none_that_it_leads_to(server) -> None:
    web = Web(_TOKEN, server.url)
    _header(server, "secret", web)
    server.seen.clear()
    _header(server, "away", web)
    told = {headers["Host"].partition(":")[0]: "Authorization" in headers for _path, headers in server.seen}
    assert told == {"127.0.0.1": True, "localhost": False}


@pytest.mark.parametrize(
    ("kind", "said"),
    [("secret", "HF_TOKEN"), ("nothing", "There is nothing"), ("loop", "without an end"), ("astray", "no address"), ("stall", "broke off")],
)
def test_what_does_not_come_is_told(server, kind: str, said: str) -> None:
    with pytest.raises(FitError, match=said):
        _header(server, kind)


class _Proxy(http.server.BaseHTTPRequestHandler):
    """Forwards what is asked in the open, and opens tunnels; notes both."""

    def do_GET(self) -> None:
        self.server.seen.append((self.command, self.path, self.headers.get("Proxy-Authorization")))
        there = http.client.HTTPConnection("127.0.0.1", self.server.behind)
        there.request("GET", "/plain/model.gguf", headers={"Range": self.headers["Range"]})
        answer = there.getresponse()
        self.send_response(answer.status)
        for name in ("Content-Range", "Content-Length"):
            self.send_header(name, answer.headers[name])
        self.end_headers()
        self.wfile.write(answer.read())
        there.close()

    def do_CONNECT(self) -> None:
        self.server.seen.append((self.command, self.path, self.headers.get("Proxy-Authorization")))
        self.send_error(502)

    def log_message(self, *_what: object) -> None:
        return


@pytest.fixture
def proxy(server, monkeypatch: pytest.MonkeyPatch):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Proxy) as made:
        made.seen, made.behind, made.daemon_threads = [], server.server_port, True
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.delenv(name, raising=False)
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://me:p%40ss@127.0.0.1:{made.server_port}")
        yield made
        made.shutdown()
        thread.join()


def test_a_proxy_that_the_account_names_is_asked_and_told_who_asks(proxy) -> None:
    source = Remote("http://models.example/plain/model.gguf", Web(_TOKEN, "http://models.example"))
    assert read_header(source).size == _SIZE
    who = "Basic bWU6cEBzcw=="
    assert {(command, path, told) for command, path, told in proxy.seen} == {("GET", "http://models.example/plain/model.gguf", who)}
    with pytest.raises(Unreachable, match="502"):
        Remote("https://models.example/model.gguf", Web())
    assert proxy.seen[-1] == ("CONNECT", "models.example:443", who)


def test_what_no_proxy_names_is_asked_itself(proxy, server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert _header(server, "plain").size == _SIZE
    assert proxy.seen == []


def test_a_host_that_does_not_answer_is_told() -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        Remote("http://127.0.0.1:9/model.gguf", Web())


def test_a_repository_gives_the_type_that_is_asked_for_its_projector_and_all_parts(server) -> None:
    files = [
        {"path": name, "size": 7}
        for name in (
            "README.md",
            "tiny-Q8_0.gguf",
            "tiny-Q4_K_M.gguf",
            "mmproj-tiny-F16.gguf",
            "big/tiny-F16-00001-of-00002.gguf",
            "big/tiny-F16-00002-of-00002.gguf",
        )
    ]
    server.answers["/api/models/someone/tiny-GGUF/tree/main"] = files

    def found(word: str):
        return of_repository(word, server.url, Web())

    assert [one.rpartition("/")[2] for one in found("someone/tiny-GGUF").urls] == ["tiny-Q4_K_M.gguf"]
    assert found("someone/tiny-GGUF").notes
    assert found("hf.co/someone/tiny-GGUF:q8_0").urls[0].endswith("tiny-Q8_0.gguf")
    assert found("someone/tiny-GGUF:q8_0").projector == 7
    assert len(found("someone/tiny-GGUF:F16").urls) == 2
    with pytest.raises(FitError, match="no file of the type Q2_K"):
        found("someone/tiny-GGUF:Q2_K")


def test_a_tag_of_ollama_leads_to_the_file_of_its_model(server) -> None:
    layers = [
        {"mediaType": "application/vnd.ollama.image.model", "digest": _DIGEST, "size": 9},
        {"mediaType": "application/vnd.ollama.image.params", "digest": "sha256:1"},
    ]
    server.answers["/v2/library/tiny/manifests/1b"] = {"layers": layers}
    assert of_tag("tiny:1b", server.url, Web()).urls == (f"{server.url}/v2/library/tiny/blobs/{_DIGEST}",)
    with pytest.raises(FitError, match="no model"):
        of_tag("other:1b", server.url, Web())


def test_an_address_is_answered_like_a_file(server, tmp_path: Path) -> None:
    told = []
    local = tmp_path / "model.gguf"
    with local.open("wb") as file:
        file.write(_head())
        file.truncate(len(_head()) + _head_and_data()[1])
    for word in (f"{server.url}/plain/model.gguf", str(local)):
        done = CliRunner().invoke(main, ["fit", word, "--on", "cpu", "--json"], standalone_mode=False)
        told.append(json.loads(done.output)["memory"])
    assert told[0] == told[1]


def _with_merges(count: int):
    keys = {
        **_KEYS,
        "tokenizer.ggml.merges": [f"first{number} second{number * 7919 % 99991}" for number in range(count)],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.chat_template": "{% for one in messages %}" * 40,
    }
    return ggufs.header(keys, _TENSORS)[0]


@pytest.mark.slow
@pytest.mark.parametrize("count", [200_000, 700_000])
def test_the_end_of_a_vocabulary_of_any_length_is_found_without_it(server, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    head = _with_merges(count)
    monkeypatch.setattr(f"{__name__}._head", lambda: head)
    web = Web()
    header = _header(server, "plain", web)
    assert header.keys["tokenizer.ggml.merges"] == Listed(count)
    assert header.keys["tokenizer.ggml.bos_token_id"] == 1
    assert [(one.name, one.sizes) for one in header.tensors] == [(name, sizes) for name, sizes, _kind in _TENSORS]
    assert header.start == len(head)
    assert web.received < 10 << 20
    assert len(head) > web.received or count < 700_000


def _address(server, *more: str):
    words = ["fit", f"{server.url}/plain/model.gguf", "--on", "cpu", "--json", *more]
    told = json.loads(CliRunner().invoke(main, words, standalone_mode=False).output)
    return told["model"], told["memory"]


def test_a_header_does_not_come_again_while_its_file_has_the_same_mark(server, cache: Path) -> None:
    server.mark = '"one"'
    first = _address(server)
    whole, server.sent = server.sent, 0
    assert _address(server) == first
    assert server.sent <= 64 << 10 < whole
    server.mark, server.sent = '"two"', 0
    assert _address(server) == first
    assert server.sent == whole
    assert [path.stat().st_mode & 0o077 for path in (cache, *cache.iterdir())] == [0, 0]


def test_without_a_mark_nothing_is_kept(server, cache: Path) -> None:
    _address(server)
    assert not cache.exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: b"",
        lambda raw: raw[:-9],
        lambda raw: raw.replace(b"blk.0.attn_q", b"blk.1.attn_q"),
        lambda raw: b"\x91" * 5000,
        lambda raw: bytes(9 << 20),
    ],
)
def test_what_lies_broken_in_the_cache_is_read_anew(server, cache: Path, change) -> None:
    server.mark = '"one"'
    first = _address(server)
    (file,) = cache.iterdir()
    file.write_bytes(change(file.read_bytes()))
    assert _address(server) == first


def test_a_link_in_the_cache_is_not_followed(server, cache: Path, tmp_path: Path) -> None:
    server.mark = '"one"'
    _address(server)
    (file,) = cache.iterdir()
    kept = tmp_path / "elsewhere"
    file.rename(kept)
    file.symlink_to(kept)
    server.sent = 0
    _address(server)
    assert server.sent > 64 << 10
    assert kept.is_file()


def test_a_file_of_pictures_that_lies_elsewhere_is_known_by_its_header_alone(server) -> None:
    import test_image_models

    entries, at = {}, 0
    for name, count in test_image_models.XL.items():
        entries[name] = test_image_models.made.entry(at, count)
        at += 2 * count
    server.head = test_image_models.made.header(entries)
    words = ["fit", f"{server.url}/plain/xl.safetensors", "--on", "RTX 3090, ram 64GB", "--json"]
    told = json.loads(CliRunner().invoke(main, words, standalone_mode=False).output)
    assert told["model"]["family"] == "Stable Diffusion XL"
    assert server.sent <= 64 << 10
