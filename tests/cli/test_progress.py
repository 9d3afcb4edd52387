"""A word where something takes long, on a terminal that can take it back, and nowhere else."""

import os
import pty
import subprocess
import sys
import time

import pytest

CODE = """
import time
from rigup.cli import progress
progress._PATIENCE = 0.05
with progress.Waiting("Reading it ..."):
    time.sleep({seconds})
print("done")
"""


ASIDE = """
import time
from rigup.cli import progress
progress._PATIENCE = 0.05
with progress.Waiting("Reading it ...") as waiting:
    waiting.aside(print, "early")
    while not waiting._shown:
        time.sleep(0.01)
    waiting.aside(print, "late")
print("done")
"""


def on_a_terminal(seconds, term="xterm", code=CODE):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code.format(seconds=seconds)], stdout=theirs, stderr=theirs, env={**os.environ, "TERM": term}
    )
    os.close(theirs)
    said = b""
    while process.poll() is None or b"done" not in said:
        try:
            said += os.read(ours, 1000)
        except OSError:
            break
        time.sleep(0.01)
    os.close(ours)
    process.wait(timeout=30)
    return said.decode()


@pytest.mark.skipif(os.name != "posix", reason="terminals are made otherwise there")
class TestOnATerminal:
    def test_what_takes_long_is_said_and_taken_away(self):
        said = on_a_terminal(0.6)
        assert "Reading it ..." in said
        assert said.split("Reading it ...")[1].startswith("\r\x1b[2K")

    def test_what_is_said_meanwhile_stands_in_a_line_of_its_own(self):
        said = on_a_terminal(0, code=ASIDE)
        assert said.startswith("early\r\nReading it ...\r\x1b[2Klate\r\nReading it ...\r\x1b[2Kdone")

    def test_a_terminal_that_cannot_take_back_hears_nothing(self):
        assert "Reading" not in on_a_terminal(0.6, "dumb")


def test_a_file_hears_nothing():
    done = subprocess.run([sys.executable, "-c", CODE.format(seconds=0.6)], capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == ("done\n", "")
