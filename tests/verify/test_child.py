"""The child process: what it says, its limits, its end; without any framework."""

import ast
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from each import over
from rigup.verify import child
from rigup.verify.child import Limits, run
from rigup.verify.environment import VerifyError
from rigup.verify.observe import observe

PATIENT = Limits(start=60, check=60)
SAY = "import json, os, sys, time\ndef say(**told): print(json.dumps(told), flush=True)\n"


@pytest.fixture
def probe(tmp_path):
    """A probe of our own making, run by this interpreter; what it said, and how it ended."""

    def running(body, limits=PATIENT):
        path, events = tmp_path / "probe.py", []
        path.write_text(SAY + body)
        return events, run(sys.executable, {"only": "a test"}, limits, events.append, path)

    return running


def test_it_is_given_its_order_and_heard_to_its_end(probe):
    events, ended = probe("say(say='ready', order=sys.argv[1]); sys.stderr.write('words'); say(say='done')")
    assert [event["say"] for event in events] == ["ready", "done"]
    assert json.loads(events[0]["order"]) == {"only": "a test"}
    assert (ended.why, ended.status, ended.stderr) == ("", 0, b"words")


def test_lines_of_others_are_passed_by(probe):
    events, _ended = probe("print('loading'); print('[1]'); print('{\"say\": 3}'); print('{'); say(say='done')")
    assert [event["say"] for event in events] == ["done"]


def test_silence_is_ended(probe):
    events, ended = probe("say(say='begin'); time.sleep(600)", PATIENT._replace(check=0.5))
    assert (ended.why, len(events)) == ("hung", 1)
    assert ended.status != 0


def test_a_start_has_a_limit_of_its_own(probe):
    assert probe("time.sleep(600)", Limits(start=0.5, check=600))[1].why == "hung"


def test_what_goes_on_behind_its_last_word_is_ended(probe):
    assert probe("os.close(1); time.sleep(600)", PATIENT._replace(check=0.5))[1].why == "hung"


def test_its_status_is_told(probe):
    assert probe("sys.exit(7)")[1].status == 7


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
def test_a_signal_is_told(probe):
    assert probe("os.kill(os.getpid(), 9)")[1].status == -9


@pytest.mark.skipif(sys.platform != "linux", reason="main memory of a process is asked for on Linux here")
def test_main_memory_has_a_limit(probe):
    kept = "say(say='begin')\nkept = [bytearray(b'x' * 2**24) for _ in range(40)]\ntime.sleep(600)"
    assert probe(kept, PATIENT._replace(memory=200 << 20))[1].why == "memory"


def test_long_words_are_cut_in_the_middle(probe):
    _heard, ended = probe("sys.stderr.write('first' + 'x' * 900_000 + 'last')")
    assert ended.stderr.startswith(b"first")
    assert ended.stderr.endswith(b"last")
    assert len(ended.stderr) < 600_000


def test_what_is_no_interpreter_is_told(tmp_path):
    with pytest.raises(VerifyError, match="could not be asked"):
        observe(str(tmp_path / "python"), [], False, PATIENT)
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho nothing of Python >&2\nexit 3\n")
    other.chmod(0o755)
    with pytest.raises(VerifyError, match="nothing of Python"):
        observe(str(other), [], False, PATIENT)


def test_an_environment_without_frameworks_has_nothing_to_say():
    seen = observe(sys.executable, [], False, PATIENT, only=("small-tensors",))
    assert "torch" in seen.packages or [framework.name for framework in seen.frameworks if framework.name == "torch"] == []
    assert seen.version == sys.version.split()[0]


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode) | st.just(b"[" * 100_000))
def test_whatever_a_line_holds_is_an_event_or_nothing(line):
    assert all(isinstance(event["say"], str) for event in child._event(line))


PROBES = sorted((Path(child.__file__).parent / "probe").rglob("*.py"))


@pytest.mark.long
@over(PROBES, lambda path: path.stem)
def test_the_probe_is_python_of_old_and_needs_nothing_of_rigup(path):
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    named = {
        (statement.module or "") if isinstance(statement, ast.ImportFrom) else statement.names[0].name
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Import | ast.ImportFrom)
    }
    tops = {name.partition(".")[0] for name in named} - set(sys.stdlib_module_names)
    frameworks = {"torch", "torch_directml", "triton", "tensorflow", "jax", "numpy", "onnxruntime", "xllamacpp"}
    assert {top for top in tops - frameworks if not top.startswith("rigup_probe")} == set()
