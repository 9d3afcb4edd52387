"""A real engine is started, used, and ended, however rigup ends."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from msgspec.structs import replace

from processes import descendants, gone, listens
from rigup.fit.pools import Pool
from rigup.fit.request import Request
from rigup.llm.engines import running
from rigup.llm.engines.errors import EngineError
from rigup.llm.engines.here import Here, here
from rigup.llm.engines.running import start
from rigup.llm.engines.wish import StartRequest

pytestmark = pytest.mark.llm
_WAIT = 60


@pytest.fixture(scope="module")
def engine(tiny_model, engine_python):
    with start(StartRequest(model=str(tiny_model), engine="xllamacpp", python=engine_python, on="cpu", context=512)) as made:
        yield made


def ask(engine, path, body, key=None):
    head = {"Content-Type": "application/json", "Authorization": f"Bearer {engine.key if key is None else key}"}
    asked = urllib.request.Request(engine.base_url + path, json.dumps(body).encode(), head)
    with urllib.request.urlopen(asked, timeout=_WAIT) as answer:
        return json.load(answer)


def chat(engine, text):
    body = {"messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 40}
    return ask(engine, "/chat/completions", body)["choices"][0]["message"]["content"]


def test_it_answers_with_sense(engine):
    assert chat(engine, "count from 3 to 7") == "3 4 5 6 7"
    assert chat(engine, "capital of france") == "paris"
    assert len(ask(engine, "/embeddings", {"input": "red cat"})["data"][0]["embedding"]) > 8


def test_it_wants_its_key(engine):
    with pytest.raises(urllib.error.HTTPError) as error:
        ask(engine, "/chat/completions", {"messages": []}, key="wrong")
    assert error.value.code == 401
    error.value.close()


def test_no_page_of_another_site_may_ask_it(engine):
    asked = urllib.request.Request(engine.base_url + "/models", headers={"Origin": "https://evil.example"})
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(asked, timeout=_WAIT)
    head = error.value.headers
    error.value.close()
    assert head.get("Access-Control-Allow-Origin") not in ("*", "https://evil.example")


def test_what_was_said_stands_in_no_log(engine):
    chat(engine, "repeat horse horse")
    assert "model loaded" in engine.log
    assert "horse" not in engine.log


def test_it_tells_where_the_weights_lie(engine):
    assert engine.gpu.used is False
    assert sum(engine.gpu.buffers.values()) > 0.3
    assert not engine.notes  # nobody wanted a device


def test_more_context_than_the_model_was_made_for_is_told(tiny_model, engine_python):
    wish = StartRequest(model=str(tiny_model), engine="xllamacpp", python=engine_python, on="cpu", context=4352)
    with start(wish, here("cpu")) as made:
        (note,) = made.notes
        assert "4096" in note
        assert "4352" in note


def test_a_card_that_is_not_used_is_told_with_what_its_memory_says(tiny_model, engine_python, monkeypatch):
    card = Pool(name="CUDA0", kind="vram", backend="cuda", total=8 << 30, free=8 << 30)
    ram = Pool(name="RAM", kind="ram", backend="cpu", total=16 << 30, free=16 << 30)
    seen = iter([(card, ram), (replace(card, free=card.free - 1000), ram)])
    monkeypatch.setattr(running, "memories", lambda _machine: next(seen))
    wish = StartRequest(model=str(tiny_model), engine="xllamacpp", python=engine_python, context=256)
    with start(wish, Here((card, ram), os.environ)) as made:
        assert (made.gpu.used, made.gpu.grown) == (False, 1000)
        assert "CUDA0 is not used" in made.notes[0]
        assert chat(made, "count from 3 to 5") == "3 4 5"


def test_the_end_is_certain(tiny_model, engine_python):
    made = start(StartRequest(model=str(tiny_model), engine="xllamacpp", python=engine_python, on="cpu", context=256))
    assert made.running
    assert listens(made.base_url)
    made.stop()
    assert not made.running
    assert not listens(made.base_url)
    assert gone(made.pid)


def test_a_killed_engine_is_noticed(tiny_model, engine_python):
    made = start(StartRequest(model=str(tiny_model), engine="xllamacpp", python=engine_python, on="cpu", context=256))
    os.kill(made.pid, signal.SIGKILL)
    assert gone(made.pid)
    made.stop()
    assert not made.running
    assert "killed" in made.ended_because()


SCRIPT = """
import sys, time
from rigup.llm.engines.here import Here, here
from rigup.llm.engines.running import start
from rigup.llm.engines.wish import StartRequest
made = start(StartRequest(model=sys.argv[1], engine=sys.argv[2], python=sys.argv[3], program=sys.argv[4], on="cpu", context=256))
print(made.pid, made.base_url, flush=True)
time.sleep(600)
"""


@pytest.fixture
def llama_server(tmp_path, engine_python):
    """A program of that name that takes its words."""
    from rigup.held_process import CHILD

    path = tmp_path / "llama-server"
    path.write_text(f'#!/bin/sh\n"{engine_python}" -I "{CHILD}" serve "$@" <&3 &\nwait $!\n'.replace(" <&3", " < /dev/zero"))
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", ["xllamacpp", "llama-server"])
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_orphan_where_rigup_is_killed(name, tiny_model, engine_python, llama_server):
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tiny_model), name, engine_python, llama_server],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as rigup:
        pid, url = rigup.stdout.readline().split()
        family = descendants(int(pid))
        assert listens(url)
        rigup.kill()
    assert all(map(gone, (int(pid), *family)))
    assert not listens(url)


def test_a_program_on_the_path_is_taken_first(tiny_model, llama_server, monkeypatch):
    monkeypatch.setenv("PATH", os.path.dirname(llama_server) + os.pathsep + os.environ["PATH"])
    with start(StartRequest(model=str(tiny_model), on="cpu", context=256)) as made:
        assert made.engine == "llama-server"
        assert llama_server in made.why
        family = descendants(made.pid)
        assert chat(made, "capital of peru") == "lima"
    assert all(map(gone, family))
    assert not listens(made.base_url)


def test_too_large_a_context_says_what_would_fit(tiny_model, engine_python):
    wish = StartRequest(
        model=str(tiny_model), engine="xllamacpp", python=engine_python, on="cpu", context=1 << 26, settings=Request(outputs=1)
    )
    with pytest.raises(EngineError) as error:
        start(wish)
    assert error.value.kind == "out-of-memory"
    assert "rigup fit" in str(error.value)


def test_a_broken_file_is_told(tiny_model, engine_python, tmp_path):
    whole = tiny_model.read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(EngineError) as error:
        start(StartRequest(model=str(tmp_path / "cut.gguf"), engine="xllamacpp", python=engine_python, on="cpu"))
    assert error.value.kind == "file-cut-short"
    assert "Download it again" in str(error.value)
    (tmp_path / "odd.gguf").write_bytes(whole.replace(b"\x05\0\0\0\0\0\0\0gpt-2", b"\x05\0\0\0\0\0\0\0gpx-2"))
    with pytest.raises(EngineError) as error:
        start(StartRequest(model=str(tmp_path / "odd.gguf"), engine="xllamacpp", python=engine_python, on="cpu"))
    assert error.value.kind == "tokenizer-unknown"
    assert "gpx-2" in str(error.value)


def test_an_endpoint_that_runs_is_taken(engine, monkeypatch):
    monkeypatch.setenv("MY_KEY", engine.key)
    made = start(StartRequest(model="anything", api=engine.base_url, key_variable="MY_KEY"))
    assert (made.engine, made.base_url, made.pid) == ("endpoint", engine.base_url, 0)
    made.stop()
    assert engine.running
    monkeypatch.setenv("MY_KEY", "wrong")
    with pytest.raises(EngineError, match="MY_KEY") as error:
        start(StartRequest(model="anything", api=engine.base_url, key_variable="MY_KEY"))
    assert "wrong" not in str(error.value)
