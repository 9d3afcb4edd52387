"""A program that the kernel really kills, because its control group has no memory left."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import DOCTOR, LIMIT, python

from rigup.machine.witness import _SLACK

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="control groups are Linux's")
ROOM = 200_000_000  # bytes: rigup itself takes less than half
EATS = "eaten = []\nwhile True: eaten.append(bytearray(5_000_000))"
MAY = 80_000_000  # bytes, so that both have room
EATS_WHAT_IT_MAY = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({MAY},) * 2)\n" + EATS
CAUSE = "host-memory-exhausted"
_OLD, _NEW = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


@pytest.fixture(scope="module")
def old():
    """Whether control groups are of the first version; of a module, so that one worker has all tests here.

    The kernel's log is one for all: a kill that one test means is none that another may find.
    """
    return _OLD.is_dir()


@pytest.fixture
def limited(old):
    """A control group of ours with a memory limit; a function that runs a command in it."""
    group = (_OLD if old else _NEW) / f"rigup-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"control groups cannot be made here: {error}")
    try:
        _limit(group, old)
        time.sleep(_SLACK + 0.5)  # a kill of the test before lies out of the two clocks' difference
        yield lambda *argv: _inside(group, argv)
    finally:
        group.rmdir()


def _limit(group, old):
    try:
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(ROOM))
    except OSError as error:
        pytest.skip(f"a control group's memory cannot be limited here: {error}")
    with contextlib.suppress(OSError):  # nothing may be moved out of the memory
        (group / ("memory.swappiness" if old else "memory.swap.max")).write_text("0")


def _inside(group, argv):
    enter = 'echo $$ > "$0" && exec "$@"'
    command = ["sh", "-c", enter, str(group / "cgroup.procs"), *DOCTOR, "--json", "--", *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)


def found(done):
    return {finding["cause"]: finding for finding in json.loads(done.stdout)["findings"]}


def test_a_program_that_the_memory_limit_killed_is_known_by_the_kernels_count(limited):
    done = limited(*python(EATS))
    assert done.returncode == -9
    finding = found(done)[CAUSE]
    assert finding["confidence"] == "certain"
    assert "oom_kill 1" in " ".join(str(line["value"]) for line in finding["evidence"])


def test_a_program_whose_child_was_killed_keeps_its_own_status(limited):
    done = limited("sh", "-c", '"$0" -c "$1"; exit 77', sys.executable, EATS)
    assert done.returncode == 77
    assert CAUSE in found(done)


def test_a_program_that_somebody_kills_later_did_not_die_of_that(limited):
    limited(*python(EATS))
    time.sleep(_SLACK + 0.5)
    done = limited(*python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    assert done.returncode == -9
    assert CAUSE not in found(done)


def test_memory_that_is_refused_is_an_error_of_python_and_no_kill(limited):
    done = limited(*python(EATS_WHAT_IT_MAY))
    assert done.returncode == 1
    finding = found(done)[CAUSE]
    assert finding["confidence"] == "likely"
    assert "MemoryError" in finding["title"]
