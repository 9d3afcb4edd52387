"""`rigup serve` as a person starts it: its words, its key, and that nothing of it outlives it."""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner
from servers import WAIT, get, raw

from processes import descendants, gone, listens
from rigup.cli import main

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


class Command:
    """`rigup serve` in a process of its own, with what it printed once it was ready."""

    def __init__(self, *words, **variables):
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rigup", "serve", *words, "--port", "0", "--json", "--on", "cpu"],
            env=environ,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        text = ""
        while line := self.process.stdout.readline():
            text += line
            if line == "}\n":
                break
        self.told = json.loads(text) if text else None
        if text:
            self.port = int(self.told["base_url"].split(":")[2].split("/")[0])

    def ask(self, path, key):
        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(asked, timeout=WAIT) as answer:
            return json.load(answer)

    def end(self, number):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT)
        return self.process.returncode, out, err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture
def words(tiny_model, engine_python):
    return [f"tiny={tiny_model}", "--engine", "xllamacpp", "--engine-python", engine_python]


@pytest.mark.llm
@linux
def test_a_key_is_made_and_a_signal_ends_it_all(words):
    with Command(*words) as command:
        assert command.told["models"][0]["engine"] == "xllamacpp"
        assert command.ask("/v1/models", command.told["key"])["data"][0]["id"] == "tiny"
        with pytest.raises(urllib.error.HTTPError) as error:
            command.ask("/v1/models", "a" * 43)
        error.value.close()
        family = descendants(command.process.pid)
        assert family
        status, _out, err = command.end(signal.SIGTERM)
    assert status == 0
    assert command.told["key"] not in err
    assert all(map(gone, family))
    assert not listens(command.told["base_url"])


@pytest.mark.llm
@linux
def test_killed_it_leaves_no_engine_behind(words):
    with Command(*words) as command:
        family = descendants(command.process.pid)
        assert family
        command.end(signal.SIGKILL)
    assert all(map(gone, family))
    assert not listens(command.told["base_url"])


@pytest.mark.llm
@linux
def test_an_engine_that_never_answers_ends_with_it(tiny_model, tmp_path):
    """It loads when the end is asked for: neither it nor what it started stays."""
    program = tmp_path / "llama-server"
    program.write_text("#!/bin/sh\nsleep 1000 &\necho up > " + str(tmp_path / "up") + "\nwait\n")
    program.chmod(0o755)
    words = ["-m", "rigup", "serve", str(tiny_model), "--engine-program", str(program), "--port", "0", "--on", "cpu"]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, *words], env=environ, stderr=subprocess.PIPE, text=True) as command:
        for _ in range(WAIT * 20):
            if (tmp_path / "up").exists() or command.poll() is not None:
                break
            time.sleep(0.05)
        family = descendants(command.pid)
        command.send_signal(signal.SIGTERM)
        _out, err = command.communicate(timeout=WAIT)
    assert command.returncode == 0, err
    assert len(family) > 2
    assert all(map(gone, family))


@pytest.mark.llm
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminals that hang up")
def test_started_by_nohup_it_outlives_its_terminal(words):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        command = Command(*words)
    finally:
        signal.signal(signal.SIGHUP, before)
    with command:
        command.process.send_signal(signal.SIGHUP)
        assert command.ask("/v1/models", command.told["key"])["data"]
        assert command.end(signal.SIGTERM)[0] == 0


@pytest.mark.llm
def test_a_key_of_a_variable_or_a_file_is_not_said(words, tmp_path):
    key = "only-for-my-own-clients"
    with Command(*words, RIGUP_SERVE_KEY=key) as command:
        assert command.told["key"] is None
        assert command.ask("/v1/models", key)["data"]
        _status, out, err = command.end(signal.SIGINT)
        assert key not in out + err
    (tmp_path / "key").write_text(key + "\n")
    with Command(*words, "--key-file", str(tmp_path / "key")) as command:
        assert command.told["key"] is None
        assert command.ask("/v1/models", key)["data"]


@pytest.mark.llm
def test_without_a_key_this_machine_alone_is_let_in(words):
    with Command(*words, "--no-key") as command:
        assert command.ask("/v1/models", "")["data"]
        assert b" 403 " in raw(command.port, b"GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n")


@pytest.mark.llm
def test_a_model_that_cannot_be_loaded_ends_it_with_the_reason(tiny_model, engine_python, tmp_path):
    (tmp_path / "cut.gguf").write_bytes(tiny_model.read_bytes()[:200_000])
    with Command(str(tmp_path / "cut.gguf"), "--engine-python", engine_python, "--engine", "xllamacpp") as command:
        _out, err = command.process.communicate(timeout=WAIT)
    assert command.process.returncode == 1
    assert "Download it again" in err


@pytest.mark.llm
def test_another_address_of_this_machine_is_shared_with_a_key(words):
    with Command(*words, "--share", "127.0.0.2") as command:
        assert command.told["base_url"].startswith("http://127.0.0.2:")
        assert command.told["key"]
        with socket.socket() as door:
            assert door.connect_ex(("127.0.0.1", command.port))
        with socket.create_connection(("127.0.0.2", command.port), WAIT) as door:
            door.sendall(get("/v1/models", command.told["key"]))
            assert door.recv(100).startswith(b"HTTP/1.1 200")


def said(*words):
    return CliRunner().invoke(main, ["serve", *words])


def test_wrong_words_are_told(tmp_path, monkeypatch):
    assert "--no-key" in said("x.gguf", "--share", "0.0.0.0", "--no-key").output
    assert "is not NAME=MODEL" in said("=x.gguf").output
    for name in ("one.gguf", "two.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    assert "same name" in said("a=one.gguf", "a=two.gguf").output
    assert "There is no model three.gguf" in said("a=one.gguf", "three.gguf").output
    assert "no file" in said(str(tmp_path / "none.gguf")).output
    for key in ("short", "with a blank in it, long", "ключ" * 10, "x" * 600):
        monkeypatch.setenv("RIGUP_SERVE_KEY", key)
        found = said("x.gguf")
        assert found.exit_code == 2
        assert key not in found.output


def test_a_server_that_lasts_collects_what_is_left(monkeypatch):
    collected = []

    async def run(_server, _ready):
        collected.append(gc.isenabled())

    monkeypatch.setattr("rigup.llm.server.serving.Server.run", run)
    gc.disable()  # as for every command
    try:
        assert said("m", "--api", "http://127.0.0.1:9/v1").exit_code == 0
    finally:
        gc.enable()
        gc.unfreeze()
    assert collected == [True]


def test_a_port_that_is_taken_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.gguf", "two.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        found = said("a=one.gguf", "b=two.gguf", "--on", "cpu", "--port", str(door.getsockname()[1]))
    assert found.exit_code == 1
    assert "--port" in found.output


def test_without_its_extra_it_says_what_to_install(monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "httptools" else real(name, *more))
    found = said("x.gguf")
    assert found.exit_code == 2
    assert "rigup[llm]" in found.output
