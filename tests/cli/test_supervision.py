"""A program under `rigup doctor --` without a terminal: its words, its end and its signals are its own."""

import hashlib
import json
import os
import signal
import subprocess
import sys

import pytest
from programs import DOCTOR, LIMIT, python, run

from rigup.workflows.process_family import is_python, named_interpreter, oom_kills
from rigup.workflows.supervision import OutputBuffer

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
SILENT = b""


@pytest.mark.parametrize("status", [0, 1, 2, 77, 255])
def test_the_exit_status_is_the_programs(status):
    done = run(*python(f"print('out'); raise SystemExit({status})"))
    assert done.returncode == status
    assert done.stdout == "out\n"
    assert (done.stderr == "") is (status == 0)


def test_both_outputs_stay_apart():
    done = run(*python("import sys; print('to one'); print('to two', file=sys.stderr)"))
    assert (done.stdout, done.stderr) == ("to one\n", "to two\n")


@POSIX
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL", "SIGABRT", "SIGFPE", "SIGBUS", "SIGILL"])
def test_it_ends_by_the_signal_that_ended_the_program(name):
    number = getattr(signal, name)
    done = run("sh", "-c", f"kill -{int(number)} $$")
    assert done.returncode == -number
    assert f"ended by signal {int(number)}" in done.stderr


@POSIX
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGPIPE"])
def test_what_somebody_ended_is_not_diagnosed(name):
    done = run("sh", "-c", f"kill -{int(getattr(signal, name))} $$")
    assert done.returncode == -getattr(signal, name)
    assert done.stderr == ""


@POSIX
def test_no_core_of_our_own_is_left():
    """The program may dump one; that we end by its signal, too, must not write a second."""
    argv = ["sh", "-c", 'ulimit -c unlimited 2>/dev/null; exec "$@"', "sh", *DOCTOR, "--", "sh", "-c", "kill -ABRT $$"]
    started = os.posix_spawnp(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
    raw = os.waitpid(started, 0)[1]
    assert os.WTERMSIG(raw) == signal.SIGABRT
    assert not os.WCOREDUMP(raw)


def started(script):
    """A doctor in a session of its own, so without a terminal, whose program has said that it is ready."""
    process = subprocess.Popen(
        [*DOCTOR, "--", *python(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


@POSIX
@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1", "SIGUSR2", "SIGHUP", "SIGINT"])
def test_signals_are_handed_on(name):
    heard = f"import os, signal, sys; signal.signal(signal.{name}, lambda *_: (os.write(1, b'heard\\n'), sys.exit(0)))"
    with started(heard + "; print('ready', flush=True); signal.pause()") as process:
        process.send_signal(getattr(signal, name))
        said, _err = process.communicate(timeout=LIMIT)
    assert (said, process.returncode) == ("heard\n", 0)


@POSIX
def test_what_was_ignored_stays_ignored():
    script = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, signal.getsignal(signal.SIGPIPE))"
    done = subprocess.run(
        ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *DOCTOR, "--", *python(script)],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
    )
    assert done.stdout.split()[0] == "True"


@POSIX
def test_a_program_is_told_when_nobody_reads_any_more():
    shell = " ".join(DOCTOR) + " -- yes | head -c 4"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=LIMIT, check=True)
    assert (done.stdout, done.stderr) == ("y\ny\n", "")


@POSIX
def test_a_grandchild_that_holds_the_pipe_does_not_hold_us():
    done = run("sh", "-c", "sleep 45 & echo done; exit 6", stdin=subprocess.DEVNULL)
    assert (done.stdout, done.returncode) == ("done\n", 6)


def test_a_hundred_megabytes_pass_unharmed():
    """Bytes of all kinds, more than is remembered."""
    script = "import sys; b = bytes(range(256)) * 4096; [sys.stdout.buffer.write(b) for _ in range(100)]; sys.exit(3)"
    digest, size = hashlib.sha256(), 0
    argv = [*DOCTOR, "--", *python(script)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        while piece := process.stdout.read(1 << 20):
            digest.update(piece)
            size += len(piece)
        assert process.wait(LIMIT) == 3
    wanted = hashlib.sha256()
    for _count in range(100):
        wanted.update(bytes(range(256)) * 4096)
    assert (size, digest.hexdigest()) == (100 << 20, wanted.hexdigest())


def test_of_long_output_the_beginning_and_the_end_are_remembered():
    memory = OutputBuffer()
    for number in range(100):
        memory.keep(b"%03d" % number + b"x" * 99_997)
    kept = bytes(memory)
    assert len(kept) < 2_500_000
    assert kept.startswith(b"000x")
    assert b"099x" in kept[-200_000:]
    assert b"did not keep" in kept


def test_short_output_is_remembered_whole():
    memory = OutputBuffer()
    memory.keep(b"a" * 300_000)
    memory.keep(b"b" * 300_000)
    assert bytes(memory) == b"a" * 300_000 + b"b" * 300_000


@POSIX
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_ends_are_borne(closed, tmp_path):
    script = f"open({str(tmp_path / 'ran')!r}, 'w').close(); raise SystemExit(4)"
    command = 'exec "$@" ' + closed
    done = subprocess.run(["sh", "-c", command, "sh", *DOCTOR, "--", *python(script)], timeout=LIMIT, check=False, capture_output=True)
    assert done.returncode == 4
    assert (tmp_path / "ran").exists()


def test_standard_input_is_the_programs():
    done = run(*python("import sys; print(sys.stdin.read().upper())"), input="words\n")
    assert done.stdout == "WORDS\n\n"


def test_as_data_only_the_answer_is_on_standard_output():
    done = run(*python("print('my words'); raise SystemExit(9)"), options=["--json"])
    answer = json.loads(done.stdout)
    assert done.returncode == 9
    assert "my words" in done.stderr
    assert answer["program"]["status"] == 9
    assert answer["schema"] == "rigup.doctor/1"


def test_as_data_a_program_that_ended_well_has_no_answer():
    done = run(*python("print('fine')"), options=["--json"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "fine\n")


@pytest.mark.parametrize("name", ["no-such-program-anywhere", "/no/such/program"])
def test_a_program_that_is_not_there_is_wrong_usage(name):
    done = run(name)
    assert done.returncode == 2
    assert name in done.stderr


def test_a_file_that_is_no_program_is_wrong_usage(tmp_path):
    (tmp_path / "log.txt").write_text("words")
    done = run(tmp_path / "log.txt")
    assert done.returncode == 2
    assert "--from" in done.stderr


def test_since_ok_is_told_with_the_death(tmp_path):
    done = run(*python("raise SystemExit(1)"), options=["--since-ok"], env={**os.environ, "XDG_STATE_HOME": str(tmp_path)})
    assert done.returncode == 1
    assert "no record of a healthy state" in " ".join(done.stderr.split())


# -- what is seen of it ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["python", "python3", "python3.13", "python3.13t", "pypy3", "pythonw.exe"])
def test_pythons_are_known(name):
    assert is_python(name)


@pytest.mark.parametrize("name", ["python-config", "ipython", "pythonic", "bash", "python3-dbg-tool", ""])
def test_others_are_none(name):
    assert not is_python(name)


@POSIX
def test_a_script_runs_with_the_python_of_its_first_line(tmp_path):
    script = tmp_path / "tool"
    script.write_text(f"#!{sys.executable}\nprint(1)\n")
    script.chmod(0o755)
    assert named_interpreter(str(script)) == sys.executable
    script.write_text("#!/bin/sh\n")
    assert named_interpreter(str(script)) == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="control groups are Linux's")
@pytest.mark.parametrize(
    ("groups", "path", "text"),
    [
        ("0::/user.slice/a.scope\n", "sys/fs/cgroup/user.slice/a.scope/memory.events", "oom 4\noom_kill 3\n"),
        ("0::/gone\n", "sys/fs/cgroup/memory.events", "low 0\noom_kill 3\n"),
        ("5:cpu,memory:/job/7\n0::/\n", "sys/fs/cgroup/memory/job/7/memory.oom_control", "under_oom 0\noom_kill 3\n"),
        ("", "sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\noom_kill 3\n"),
    ],
)
def test_kills_are_counted_in_our_own_control_group(groups, path, text, tmp_path):
    for name, content in (("proc/self/cgroup", groups), (path, text)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert oom_kills(str(tmp_path)) == 3


def test_without_control_groups_there_are_none(tmp_path):
    assert oom_kills(str(tmp_path)) == 0


@POSIX
@pytest.mark.parametrize("name", ["SIGINT", "SIGQUIT", "SIGWINCH"])
def test_what_run_would_hand_on_is_handed_on_without_a_terminal_too(name):
    heard = f"import os, signal, sys; signal.signal(signal.{name}, lambda *_: (os.write(1, b'heard\\n'), sys.exit(0)))"
    with started(heard + "; print('ready', flush=True); signal.pause()") as process:
        process.send_signal(getattr(signal, name))
        assert process.stdout.read() == "heard\n"
        assert process.wait(LIMIT) == 0
