"""The live view in a real terminal: its first picture, a recording, Ctrl-C, SIGTERM, another size, a GPU that falls off."""

import fcntl
import itertools
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path

import pyte
import pytest
from test_nvidia_watched import ONE
from watch_samples import gpu, process, sample

from rigup.watch.recording import Recorder

WAIT = 60


class Terminal:
    """A program on a terminal of its own, whose screen is kept by pyte."""

    def __init__(self, argv, environ, columns=80, lines=24) -> None:
        self.before = None
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], argv, environ)
        self.resize(columns, lines)
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.output = b""

    def resize(self, columns, lines) -> None:
        fcntl.ioctl(self.handle, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, seconds=0.05) -> bool:
        """Whether the program is still there."""
        if select.select([self.handle], [], [], seconds)[0]:
            try:
                piece = os.read(self.handle, 65536)
            except OSError:
                return False
            self.output += piece
            self.stream.feed(piece.replace(b"\x1b[<u", b"").replace(b"\x1b[>1u", b""))  # pyte knows no such keyboards
            return bool(piece)
        return True

    def text(self) -> str:
        return "\n".join(self.screen.display)

    def wait(self, words) -> str:
        until = time.monotonic() + WAIT
        while words not in self.text():
            assert self.read(), (words, self.output[-2000:])
            assert time.monotonic() < until, (words, self.text())
        return self.text()

    def end(self) -> int:
        """The exit status; what came until then is read."""
        until = time.monotonic() + WAIT
        while self.read() and time.monotonic() < until:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def keys(self, text) -> None:
        os.write(self.handle, text.encode())


@pytest.fixture
def scene(library, tmp_path):
    """The file of values of a stand-in for NVIDIA's library, and the variables for it."""
    path = tmp_path / "scene"
    values = ONE | {f"proc.{os.getpid()}": "0 300 33"}
    path.write_text("".join(f"{name} {value}\n" for name, value in values.items()))
    environ = {**os.environ, "LD_LIBRARY_PATH": str(library), "RIGUP_FAKE_NVML": str(path), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        environ.pop(name, None)
    return path, environ


def watching(scene, *words, **size) -> Terminal:
    return Terminal([sys.executable, "-m", "rigup", "watch", "--interval", "0.2", *words], scene[1], **size)


def test_the_first_picture_is_there_before_textual_and_the_view_takes_it_over(scene) -> None:
    terminal = watching(scene)
    assert "NVIDIA Stand-In" in terminal.wait("? help")
    assert b"\x1b[?2004h" not in terminal.output[: terminal.output.index(b"Stand-In")]  # textual's own beginning
    terminal.keys("?")  # before it is loaded, perhaps
    assert "Ctrl-C" in terminal.wait("turn the order round")
    terminal.keys("x")
    terminal.wait("use 40%")
    terminal.keys("q")
    assert terminal.end() == 0


@pytest.mark.parametrize("how", ["ctrl-c", "ctrl-c at once", "SIGTERM"])
def test_however_it_ends_the_terminal_is_as_it_was(scene, how) -> None:
    terminal = watching(scene)
    before = termios.tcgetattr(terminal.handle)
    terminal.wait("NVIDIA Stand-In" if "once" in how else "use 40%")
    if how == "SIGTERM":
        while b"\x1b[?2004h" not in terminal.output:
            terminal.read()
        time.sleep(0.5)
        os.kill(terminal.pid, signal.SIGTERM)
    else:
        terminal.keys("\x03")
    assert terminal.end() == 0
    assert terminal.output.rstrip().endswith((b"\x1b[?1049l", b"\x1b[?25h"))
    assert terminal.output.rindex(b"\x1b[?25h") > terminal.output.rindex(b"\x1b[?25l")
    assert b"Traceback" not in terminal.output
    after = termios.tcgetattr(terminal.handle)
    assert after[3] & (termios.ECHO | termios.ICANON) == before[3] & (termios.ECHO | termios.ICANON)


def test_a_gpu_that_falls_off_and_another_size(scene) -> None:
    terminal = watching(scene)
    terminal.wait("use 40%")
    with scene[0].open("a") as values:
        values.write("0.lost 1\n")
    assert "✖ gpu-fell-off-bus  The GPU at 0000:" in terminal.wait("gpu-fell-off-bus")
    terminal.screen.resize(40, 110)
    terminal.resize(110, 40)
    assert "lost  NVML: GPU is lost" in terminal.wait("T colours")
    terminal.keys("q")
    assert terminal.end() == 0


def test_it_records_as_it_shows(scene, tmp_path) -> None:
    terminal = watching(scene, "--record", str(tmp_path / "run.db"), "--count", "4")
    terminal.wait("recording")
    assert terminal.end() == 0
    from rigup.watch.recording import Recording

    assert Recording(str(tmp_path / "run.db")).count() == 4


def test_a_recording_in_the_same_view_forward_and_back(scene, tmp_path) -> None:
    path = str(tmp_path / "run.db")
    recorder = Recorder(path)
    for number in range(900):
        busy = {"utilisation": {"gpu": number / 1000}}
        recorder.add(sample(1e9 + number, gpus=[gpu(**busy), gpu(1, **busy)], processes=[process(pid=7)]))
    recorder.close()
    terminal = watching(scene, "--replay", path)
    terminal.wait("1/900")
    terminal.wait("space pause")
    terminal.keys(" ")
    terminal.wait("paused")
    terminal.keys("}")
    terminal.wait("900/900")
    terminal.wait("90%")
    terminal.keys("[")
    terminal.wait("840/900")
    terminal.wait("84%")
    assert "python train.py" in terminal.text()
    terminal.keys("\x1b[D")
    terminal.wait("839/900")
    terminal.keys("{")
    terminal.wait("1/900")
    terminal.keys("q")
    assert terminal.end() == 0


def test_without_textual_the_plain_table_is_drawn(scene) -> None:
    terminal = watching(scene, "--plain", "--count", "3")
    assert "help" not in terminal.wait("NVIDIA Stand-In")
    assert terminal.end() == 0


def test_it_ends_with_its_terminal_although_nobody_read_what_it_wrote(scene) -> None:
    terminal = watching(scene, "--interval", "0.1")
    terminal.wait("use 40%")
    until = time.monotonic() + WAIT
    for width in itertools.cycle(range(150, 190)):  # pictures of other sizes fill what the terminal holds
        terminal.resize(width, 50)
        if any("wait_woken" in path.read_text() for path in Path(f"/proc/{terminal.pid}/task").glob("*/wchan")):
            break
        assert time.monotonic() < until
        time.sleep(0.02)
    os.close(terminal.handle)
    until = time.monotonic() + WAIT
    while os.waitpid(terminal.pid, os.WNOHANG) == (0, 0):
        assert time.monotonic() < until
        time.sleep(0.05)
