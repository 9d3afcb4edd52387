"""Models that see: pictures in every form of a request, and that nothing is fetched for whoever asks."""

import base64
import contextlib
import http.server
import io
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import Running, post, raw, wish
from tiny_projector import COLOURS, picture, write_projector

from rigup.cli import run
from rigup.llm.server.errors import Refused
from rigup.llm.server.pictures import address_of, check, media_of


def inline(colour):
    return f"data:image/png;base64,{base64.b64encode(picture(colour)).decode()}"


def asked(path, address):
    """A request with a picture, in the form of each interface; the model repeats what it sees."""
    if path == "chat/completions":
        parts = [{"type": "text", "text": "repeat "}, {"type": "image_url", "image_url": {"url": address}}]
        return {"messages": [{"role": "user", "content": parts}], "temperature": 0, "max_tokens": 8}
    if path == "responses":
        parts = [{"type": "input_text", "text": "repeat "}, {"type": "input_image", "image_url": address}]
        return {"input": [{"role": "user", "content": parts}], "temperature": 0, "max_output_tokens": 8}
    source = {"type": "url", "url": address}
    if address.startswith("data:"):
        source = {"type": "base64", "media_type": "image/png", "data": address.partition(",")[2]}
    parts = [{"type": "text", "text": "repeat "}, {"type": "image", "source": source}]
    return {"messages": [{"role": "user", "content": parts}], "temperature": 0, "max_tokens": 8}


PATHS = ("chat/completions", "responses", "messages")


def ask(server, path, body):
    head, _gap, text = raw(server.port, post(f"/v1/{path}", json.dumps(body).encode())).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(text)


@pytest.fixture(scope="module")
def projector(tiny_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("projector") / "mmproj-tiny.gguf"
    write_projector(tiny_model, path)
    return path


@pytest.fixture(scope="module")
def server(tiny_model, engine_python, projector):
    with Running([wish(tiny_model, engine_python, "tiny", projector=str(projector))]) as made:
        yield made


@pytest.mark.llm
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("colour", COLOURS)
def test_a_picture_is_seen(server, path, colour):
    status, told = ask(server, path, asked(path, inline(colour)))
    assert status == 200, told
    assert f'"{colour}"' in json.dumps(told)


@pytest.mark.llm
@pytest.mark.parametrize("colour", COLOURS)
def test_a_forced_call_sees_it_too(server, colour):
    parameters = {
        "type": "object",
        "properties": {"colour": {"enum": list(COLOURS)}},
        "required": ["colour"],
        "additionalProperties": False,
    }
    tool = {"type": "function", "function": {"name": "paint", "parameters": parameters}}
    body = {**asked("chat/completions", inline(colour)), "tools": [tool], "tool_choice": "required", "max_tokens": 80}
    status, told = ask(server, "chat/completions", body)
    assert status == 200, told
    assert json.loads(told["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])["colour"] in COLOURS
    plain = [{"role": "user", "content": "repeat "}]
    without = ask(server, "chat/completions", {**body, "messages": plain})[1]
    assert told["usage"]["prompt_tokens"] == without["usage"]["prompt_tokens"] + 1


@pytest.mark.llm
def test_nothing_is_fetched_for_a_client(server):
    found = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as page:
        threading.Thread(target=page.serve_forever).start()
        for path in PATHS:
            for scheme in ("http", "HTTP", " http"):
                status, told = ask(server, path, asked(path, f"{scheme}://127.0.0.1:{page.server_port}/{path}"))
                assert status == 400, told
                assert "fetched" in told["error"]["message"]
        page.shutdown()
    assert found == []


@pytest.mark.llm
def test_a_model_without_eyes_says_so(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, "tiny")]) as blind:
        status, told = ask(blind, "chat/completions", asked("chat/completions", inline("red")))
    assert status >= 400
    assert "mmproj" in told["error"]["message"]


@pytest.mark.llm
@pytest.mark.slow
@pytest.mark.parametrize("colour", COLOURS)
def test_a_chat_shows_a_picture(tiny_model, engine_python, projector, colour, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    (tmp_path / "shown").write_bytes(picture(colour))
    words = ["--engine", "xllamacpp", "--engine-python", engine_python, "--on", "cpu", "--projector", str(projector)]
    assert run(["chat", str(tiny_model), "repeat ", *words, "--image", str(tmp_path / "shown"), "--set", "temperature=0"]) == 0
    assert capsys.readouterr().out.strip() == colour


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["image_url", "http://x", "data:,x"]),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["type", "content", "url", "image_url", "source", "output", "x"]), inner)
    ),
    max_leaves=25,
)


@given(messages=_VALUES)
def test_whatever_stands_in_messages_is_looked_through(messages):
    body = {"messages": messages}
    with contextlib.suppress(Refused):
        check(body)
        assert all(not address_of(part) or address_of(part).startswith("data:") for part in media_of(body))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "ftp://x/y"}},
        {"type": "image_url", "image_url": "//x"},
        {"type": "input_image", "image_url": "http://x"},
        {"type": "image", "source": {"type": "url", "url": "https://x"}},
        {"type": "video_url", "video_url": {"url": "http://x"}},
        {"type": "input_file", "file_url": "http://x"},
        {"type": "tool_result", "content": [{"type": "image", "source": {"type": "url", "url": "https://x"}}]},
    ],
)
def test_what_lies_elsewhere_is_refused(part):
    with pytest.raises(Refused, match="fetched"):
        check({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, part]}]})


@pytest.mark.parametrize(
    "part",
    [
        {"type": "output_text", "text": "see", "annotations": [{"type": "url_citation", "url": "https://x"}]},
        {"type": "text", "text": "http://x"},
    ],
)
def test_addresses_in_texts_are_none_of_it(part):
    check({"input": [{"role": "assistant", "content": [part]}]})
    assert address_of(part) == ""
