"""What is known of a program that died: its words among anything else, its end, the kernel's messages of its time."""

import os
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer_data import diagnosed
from rigup.machine.host import Answer
from rigup.machine.local import Local
from rigup.machine.witness import Ended, Witness, how_it_ended, of_its_own, within, witnessed, words_of

TRACE = b"OSError: libcudnn.so.9: cannot open shared object file: No such file or directory\n"
LOG = "[    1.000000] NVRM: loaded\n[ 5000.000000] NVRM: Xid of another\n more of it\n[ 9000.000000] NVRM: Xid of ours\n"


def causes(ended):
    return [finding["cause"] for finding in diagnosed(witnessed(ended))["findings"]]


@pytest.mark.long
@pytest.mark.parametrize(
    "before",
    [b"", os.urandom(300_000), bytes(range(256)) * 2000, b"\r\x1b[32m 50%\x1b[0m|###  |" * 5000 + b"\n", "进度 ████ ".encode() * 999],
)
def test_its_last_words_are_heard_among_anything(before):
    ended = Ended(("python", "x.py"), 1, before + b"\n" + TRACE)
    assert "cuda-runtime-library-missing" in causes(ended)


@given(st.binary(max_size=3000))
def test_any_bytes_become_words(output):
    said = words_of(output)
    assert "\x00" not in said
    assert len(said) <= len(output)


def test_messages_of_the_start_and_of_its_own_time_count():
    assert within(LOG, 8999.0) == "[    1.000000] NVRM: loaded\n[ 9000.000000] NVRM: Xid of ours"


def test_what_was_killed_soon_after_the_start_befell_another():
    killed = "[  455.000000] Memory cgroup out of memory: Killed process 12474 (python) total-vm:193224kB"
    loaded = "[  455.100000] NVRM: loaded"
    assert within(f"{killed}\n{loaded}", 8999.0) == loaded
    assert within(killed, 454.0) == killed


@given(st.text(max_size=500), st.floats(0, 1e9))
def test_any_log_is_borne(log, began):
    assert set(within(log, began).splitlines()) <= set(log.splitlines())


def test_the_journal_is_asked_for_stamps_that_can_be_told(monkeypatch):
    asked = []
    monkeypatch.setattr(Local, "run", lambda self, argv, seconds=5.0: asked.append(argv) or Answer(LOG))
    kept = Witness(Ended(("x",), 1, b"", began=8999.0)).run(("journalctl", "-k", "-b"))
    assert asked == [("journalctl", "-k", "-b", "-o", "short-monotonic")]
    assert "another" not in kept.body


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (-signal.SIGSEGV, "Segmentation fault\n"),
        (-signal.SIGKILL, "Killed\n"),
        (-99, "ended\n"),
        (3, "x: exit status 3\n"),
        (-signal.SIGUSR1, f"signal {int(signal.SIGUSR1)}\n"),
    ],
)
def test_its_end_is_told_as_a_shell_tells_it(status, said):
    assert how_it_ended(Ended(("x",), status, b"")) == said


def test_kills_for_memory_are_told_with_it():
    assert "oom_kill 2" in how_it_ended(Ended(("x",), -9, b""), killed=2)


def test_its_own_variables_are_seen_not_ours(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5")
    host = Witness(Ended(("x",), 1, b"", variables={"CUDA_VISIBLE_DEVICES": "7"}))
    assert host.variables().body == "CUDA_VISIBLE_DEVICES=7"


OOM = (
    "[ 9000.100000] python3 invoked oom-killer: gfp_mask=0x140cca, order=0, oom_score_adj=0\n"
    "[ 9000.200000] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=python3,pid=4120,uid=1000\n"
    "[ 9000.300000] Out of memory: Killed process 4120 (python3) total-vm:9kB\n"
    "[ 9000.400000] nvidia 0000:01:00.0: something else\n"
)


def test_what_was_killed_beside_it_is_none_of_the_programs():
    kept = of_its_own(OOM, frozenset({77}))
    assert "killer" not in kept
    assert "oom-kill" not in kept
    assert "something else" in kept


@pytest.mark.parametrize("pids", [frozenset(), frozenset({4120}), frozenset({4120, 77})])
def test_what_was_killed_of_it_and_where_nobody_knows_all_stay(pids):
    assert of_its_own(OOM, pids) == OOM
