"""`rigup chat` with a real engine on a model that was trained for these tests: sense of answers, parameters, and how engines end."""

import contextlib
import io
import json
import os
import signal
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tiny_models import sentence_pieces_of

from rigup.cli import run

if os.name == "posix":
    import termios

    from terminal import terminal

pytestmark = [pytest.mark.llm, pytest.mark.slow]


NEW_LINE = "{{ '\\n' }}"  # engines of later releases leave out one that only ends the template's file, as Jinja does


@pytest.fixture
def how(tiny_model, engine_python):
    """The words that start the trained model."""
    return [str(tiny_model), "--engine", "xllamacpp", "--engine-python", engine_python, "--on", "cpu"]


@pytest.fixture(scope="module")
def running(tiny_model, engine_python):
    """One engine for the tests of parameters: an endpoint of the form that rigup itself starts."""
    from rigup.llm.engines.running import start
    from rigup.llm.engines.wish import StartRequest

    with start(StartRequest(model=str(tiny_model), engine="xllamacpp", python=engine_python, on="cpu", embeddings=False)) as made:
        yield made


@pytest.fixture
def asked(running, capsys, monkeypatch):
    """An answer of it as data."""
    monkeypatch.setenv("ENGINE_KEY", running.key)

    def ask(text, *settings):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
        pairs = [word for one in ("temperature=0", *settings) for word in ("--set", one)]
        run(["chat", "--api", running.base_url, "--key-env", "ENGINE_KEY", "-m", text, "--json", *pairs])
        return json.loads(capsys.readouterr().out)

    return ask


def test_answers_make_sense_and_are_counted(asked):
    told = asked("count from 3 to 7")
    assert (told["verdict"], told["answer"], told["finish"], told["not_sent"]) == ("whole", "3 4 5 6 7", "stop", [])
    assert told["usage"]["completion"] >= 5
    assert told["usage"]["prompt"] > 0
    assert told["context"] >= told["usage"]["prompt"]
    assert asked("capital of france")["answer"] == "paris"


def test_every_parameter_is_taken_by_the_engine(asked):
    from rigup.llm.chat.parameters import parameters

    plain = [f"{one.name}={one.usual}" for one in parameters() if one.usual]
    told = asked("capital of italy", *plain, "temperature=0", "reasoning=off", "max-tokens=20")
    assert (told["verdict"], told["answer"], told["not_sent"]) == ("whole", "rome", [])


def test_a_grammar_a_schema_an_end_and_a_length_hold(asked):
    assert asked("capital of france", 'grammar=root ::= "oslo"')["answer"] == "oslo"
    schema = {"type": "object", "properties": {"city": {"enum": ["paris", "rome"]}}, "required": ["city"], "additionalProperties": False}
    assert json.loads(asked("capital of france", f"json-schema={json.dumps(schema)}")["answer"])["city"] in ("paris", "rome")
    assert asked("count from 3 to 7", "stop=6")["answer"].strip() == "3 4 5"
    cut = asked("count from 3 to 9", "max-tokens=2")
    assert (cut["verdict"], cut["finish"], cut["usage"]["completion"]) == ("cut", "length", 2)


def test_the_same_seed_gives_the_same_draw(asked):
    settings = ("temperature=3", "top-k=0", "top-p=1", "min-p=0", "seed=7", "max-tokens=12")
    assert asked("repeat red cat", *settings)["answer"] == asked("repeat red cat", *settings)["answer"]


HOT = ("temperature=2", "top-k=0", "top-p=1", "min-p=0", "seed=7", "max-tokens=16")
SEVERAL = "repeat cat dog cat dog cat dog"


def test_every_sampling_parameter_changes_what_the_engine_does(asked):
    """Each against the same draw without it; what leaves one choice alone must give what the model knows."""
    kept: dict[tuple[str, ...], str] = {}

    def said(*settings, text="repeat red cat"):
        if (text, *settings) not in kept:
            kept[text, *settings] = asked(text, *settings)["answer"]
        return kept[text, *settings]

    hot = said(*HOT)
    assert hot.strip() != "red cat"
    for only in ("temperature=0", "top-k=1", "top-p=0.01", "min-p=1"):
        assert said(*HOT, only) == "red cat", only
    alike = [change for change in CHANGES if said(*HOT, *change) == hot]
    assert alike == []
    for plain, change in AGAINST:
        assert said(*HOT, *plain, text=SEVERAL) != said(*HOT, *change, text=SEVERAL), change
    assert said("temperature=0", text=SEVERAL) == "cat dog cat dog cat dog"
    heavy = ("temperature=0", "repeat-penalty=10", "max-tokens=16")
    assert said(*heavy, text=SEVERAL) != "cat dog cat dog cat dog"
    assert said(*heavy, "repeat-last=0", text=SEVERAL) == "cat dog cat dog cat dog"


CHANGES = [
    ("typical=0.2",),
    ("repeat-penalty=3",),
    ("presence-penalty=2",),
    ("frequency-penalty=2",),
    ("mirostat=1",),
    ("mirostat=2",),
    ("seed=8",),
]
_DRY = ("temperature=0", "dry=1", "dry-length=1")
AGAINST = [
    (("temperature=0",), ("temperature=0", "dry=10")),
    (_DRY, (*_DRY, "dry-length=30")),
    ((*_DRY, "dry-base=1", "dry=0.1"), (*_DRY, "dry-base=10")),
    (("mirostat=2",), ("mirostat=2", "mirostat-tau=0.1")),
    (("mirostat=2", "mirostat-tau=1"), ("mirostat=2", "mirostat-tau=1", "mirostat-eta=1")),
]


def test_a_system_prompt_is_read_by_the_model(asked):
    plain, told = asked("capital of france"), asked("capital of france", "system=old stone")
    assert told["usage"]["prompt"] > plain["usage"]["prompt"] + 2


@pytest.mark.parametrize(("reasoning", "answer"), [("on", "lima"), ("off", "havana")])
def test_reasoning_on_and_off_reaches_the_template(how, capsys, monkeypatch, tmp_path, reasoning, answer):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    land = "{% if enable_thinking %}peru{% else %}cuba{% endif %}"
    (tmp_path / "own.jinja").write_text(f"<|im_start|>user\ncapital of {land}<|im_end|>\n<|im_start|>assistant{NEW_LINE}")
    words = ["--json", "--set", "temperature=0", "--set", f"chat-template=@{tmp_path}/own.jinja"]
    assert run(["chat", how[0], "x", *how[1:], *words, "--set", f"reasoning={reasoning}"]) == 0
    assert answer in json.loads(capsys.readouterr().out)["answer"]


def test_a_message_that_is_longer_than_the_context_is_told(asked):
    told = asked("count " * 60_000)
    assert told["verdict"] == "failed"
    assert "longer than the context" in told["because"]


def children(pid):
    """Processes that a process started, from whichever thread."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(one) for told in lists for one in told.read_text().split()]


def family(pid):
    """All that it started, and what these started."""
    return [one for child in children(pid) for one in (child, *family(child))]


def is_alive(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")


@linux
def test_a_talk_remembers_and_leaves_no_engine_behind(how, tmp_path):
    with terminal("chat", *how, "--set", "temperature=0", XDG_STATE_HOME=str(tmp_path)) as shown:
        shown.until("xllamacpp: ").until(lambda: any(line.startswith("›") for line in shown.lines()), 120)
        shown.send("i am bob\r")
        shown.until(lambda: shown.text().count("first after") == 1, 60).send("who am i\r")
        shown.until(lambda: shown.text().count("first after") == 2, 60)
        assert "bob" in shown.text().partition("› who am i")[2].partition("tokens")[0]
        started = family(shown.process.pid)
        assert started
        shown.send("/quit\r")
        assert shown.status() == 0
        assert not any(map(is_alive, started))


@linux
def test_an_engine_that_dies_is_told_of_and_started_again(how, tmp_path):
    with terminal("chat", *how, "--set", "temperature=0", XDG_STATE_HOME=str(tmp_path)) as shown:
        shown.until(lambda: any(line.startswith("›") for line in shown.lines()), 120)
        started = family(shown.process.pid)
        assert started
        for pid in started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shown.send("capital of japan\r")
        shown.until("/retry asks again", 60).send("/retry\r")
        shown.until("tokyo", 120).send("\x04")
        assert shown.status() == 0


@linux
def test_what_is_typed_while_the_engine_starts_is_asked_when_it_runs(how, tmp_path):
    with terminal("chat", *how, "--set", "temperature=0", XDG_STATE_HOME=str(tmp_path)) as shown:
        shown.until("xllamacpp:", 120).send("capital of japan\r/help\r")
        shown.until("tokyo", 120)
        shown.until("/retry", 60).send("\x04")
        assert shown.status() == 0


@linux
def test_a_template_is_changed_in_the_talk_and_what_does_not_start_costs_nothing(how, tmp_path):
    (tmp_path / "own.jinja").write_text("<|im_start|>user\ncapital of peru<|im_end|>\n<|im_start|>assistant" + NEW_LINE)
    (tmp_path / "odd.jinja").write_text("{% if %}")
    with terminal("chat", *how, "--set", "temperature=0", XDG_STATE_HOME=str(tmp_path)) as shown:

        def typed(text, answer):
            seen = len(shown.raw)
            shown.send(text + "\r")
            shown.until(lambda: b"first after" in shown.raw[seen:], 60)
            assert answer.encode() in shown.raw[seen:]

        shown.until(lambda: any(line.startswith("›") for line in shown.lines()), 120)
        typed("capital of japan", "tokyo")
        for words in (f"/set chat-template @{tmp_path}/odd.jinja", "/model none.gguf"):
            seen = len(shown.raw)
            shown.send(words + "\r")
            shown.until(lambda seen=seen: b"is started again" in shown.raw[seen:], 120)
            typed("capital of italy", "rome")
        shown.send(f"/set chat-template @{tmp_path}/own.jinja\r")
        typed("capital of cuba", "lima")
        shown.send("/unset chat-template\r")
        typed("capital of spain", "madrid")
        shown.send("\x04")
        assert shown.status() == 0


@linux
def test_the_model_that_runs_is_listed_and_what_its_engine_takes_is_told(how, tmp_path):
    with terminal("chat", *how, XDG_STATE_HOME=str(tmp_path), HOME=str(tmp_path), lines=100) as shown:
        shown.until(lambda: any(line.startswith("›") for line in shown.lines()), 120)
        shown.send("/model\r")
        shown.until("* tiny").send("/params\r")
        shown.until("chat-template      -").send("\x04")
        assert shown.status() == 0
        assert "does not take it" not in shown.text()


@linux
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_however_rigup_ends_the_engine_ends_too(how, tmp_path, end):
    with terminal("chat", *how, XDG_STATE_HOME=str(tmp_path)) as shown:
        shown.until(lambda: any(line.startswith("›") for line in shown.lines()), 120)
        started = family(shown.process.pid)
        assert started
        os.kill(shown.process.pid, end)
        shown.status()
        shown.until(lambda: not any(map(is_alive, started)), 30)
        if end != signal.SIGKILL:
            assert termios.tcgetattr(shown.master)[3] & termios.ECHO  # the terminal is as it was


def test_a_broken_file_is_told_with_its_reason(how, tmp_path, tiny_model, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    (tmp_path / "half.gguf").write_bytes(tiny_model.read_bytes()[:-100_000])
    assert run(["chat", str(tmp_path / "half.gguf"), "hi", *how[1:]]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "half.gguf" in said.err.replace("\n", "") or "file" in said.err


def test_a_model_that_is_not_here_is_told_with_what_to_do(how, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    assert run(["chat", "no-such-model", "hi"]) == 1
    assert "`rigup models` lists" in " ".join(capsys.readouterr().err.split())


def test_a_chat_template_of_ones_own_is_what_the_engine_reads(how, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    template = "<|im_start|>user\ncapital of peru<|im_end|>\n<|im_start|>assistant" + NEW_LINE
    (tmp_path / "own.jinja").write_text(template)
    words = ["--json", "--set", "temperature=0", "--set", f"chat-template=@{tmp_path}/own.jinja"]
    assert run(["chat", how[0], "capital of cuba", *how[1:], *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "lima" in told["answer"]  # and not the capital that was asked for
    assert told["not_sent"] == []


def test_a_schema_holds_on_a_vocabulary_of_sentence_pieces_too(how, tiny_model, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    schema = {"type": "object", "properties": {"city": {"enum": ["paris", "rome"]}}, "required": ["city"], "additionalProperties": False}
    words = ["--json", "--set", "max-tokens=60", "--set", f"json-schema={json.dumps(schema)}"]
    assert run(["chat", str(sentence_pieces_of(tiny_model)), "capital of cuba", *how[1:], *words]) == 0
    assert json.loads(json.loads(capsys.readouterr().out)["answer"])["city"] in ("paris", "rome")


def test_the_engine_of_one_answer_is_gone_with_it(how, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert run(["chat", how[0], "capital of peru", *how[1:], "--json", "--set", "temperature=0"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["answer"] == "lima"
    with socket.socket() as door:
        assert door.connect_ex(("127.0.0.1", urlsplit(told["api"]).port)) != 0
