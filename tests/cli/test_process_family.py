"""Which Python a program ran: the one that does the work, not the one that started it."""

import os
import subprocess
import sys
import time

import pytest

from rigup.workflows.process_family import ProcessFamily

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="processes are seen through /proc")
LAUNCHER = """
import subprocess, sys
rank = subprocess.Popen([sys.argv[1], "-c", "input()"], stdin=subprocess.PIPE)
print("started", flush=True)
input()
rank.communicate(b"\\n")
print("ended", flush=True)
input()
"""


def test_a_launcher_that_outlives_its_ranks_is_not_the_program(tmp_path):
    own = tmp_path / "python3"
    own.symlink_to(sys.executable)
    argv = (sys.executable, "-c", LAUNCHER, str(own))
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as launcher:
        seen = ProcessFamily(argv)
        for word in ("started", "ended"):
            assert launcher.stdout.readline().strip() == word
            end = time.monotonic() + 30  # the kernel's list of children may lack one that has just begun
            while time.monotonic() < end:
                seen._at = 0.0
                seen.look(launcher.pid)
                if seen.interpreter == str(own):
                    break
            launcher.stdin.write("\n")
            launcher.stdin.flush()
        assert launcher.wait(30) == 0
    assert seen.interpreter == str(own)
