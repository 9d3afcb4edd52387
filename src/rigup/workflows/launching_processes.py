"""Programs that make up one job without a scheduler: one that fails ends the others, and none outlives us."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rigup.train.launch.record import Run

GRACE = 30.0  # seconds between being asked to end and being killed
FAR_GRACE = 10  # the same on other machines, where the connection's end has asked already
_PIECE, _PAUSE = 65_536, 0.2


class Processes:
    """The programs of a job, their output in one log."""

    def __init__(
        self, commands: Sequence[tuple[str, ...]], environment: Mapping[str, str], run: "Run", show: Callable[[bytes], None]
    ) -> None:
        self.commands, self.environment, self.run, self.show = commands, environment, run, show
        self._programs: list[subprocess.Popen[bytes]] = []

    def status(self) -> int:
        """Run all of them to the end. Raises OSError where one cannot be started, KeyboardInterrupt where a person ends it."""
        from rigup.train.launch.script import ATTEMPTS, LOG

        folder, began = self.run.folder, int(time.time())
        nodes = ",".join(self.run.hosts) or "localhost"
        with open(folder / LOG, "ab") as log, open(folder / ATTEMPTS, "a", encoding="utf-8") as starts:
            starts.write(f"start\t1\t{began}\t0\t{nodes}\n")
            starts.flush()
            try:
                for words in self.commands:
                    self._programs.append(self._started(words))
                status = self._followed(log)
            finally:
                self._end_all()
            starts.write(f"end\t1\t{int(time.time())}\t{status}\n")
        return status

    def _started(self, words: tuple[str, ...]) -> "subprocess.Popen[bytes]":
        """In a group of its own, so that its ranks can be ended with it; Ctrl-C reaches us alone."""
        return subprocess.Popen(
            words,
            env=dict(self.environment),
            cwd=self.run.job.program.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _followed(self, log: IO[bytes]) -> int:
        """Until all have ended, or one of them failed; its status as a shell tells it."""
        with selectors.DefaultSelector() as ready:
            for program in self._programs:
                if program.stdout is not None:
                    ready.register(program.stdout, selectors.EVENT_READ)
            while True:
                self._pass(ready, log, _PAUSE)
                ends = [program.poll() for program in self._programs]
                failed = [end for end in ends if end]
                if failed or None not in ends:
                    while self._pass(ready, log, 0.0):
                        pass
                    self._name_host(log, ends)
                    return _as_shell(failed[0]) if failed else 0

    def _pass(self, ready: selectors.BaseSelector, log: IO[bytes], pause: float) -> bool:
        """Hand on what was written; whether there was anything."""
        received = False
        for key, _events in ready.select(pause) if ready.get_map() else ():
            piece = os.read(key.fd, _PIECE)
            if piece:
                piece = piece.replace(b"\r\n", b"\n")  # a terminal of ssh's ends lines so
                log.write(piece)
                log.flush()
                self.show(piece)
                received = True
            else:
                ready.unregister(key.fileobj)
        if not ready.get_map() and pause:
            time.sleep(pause)
        return received

    def _name_host(self, log: IO[bytes], ends: Sequence[int | None]) -> None:
        """Of several machines, say in the log which one ended first, and how."""
        for host, end in zip(self.run.hosts, ends, strict=False):
            if end:
                line = f"rigup: host {host} ended with status {_as_shell(end)}\n".encode()
                log.write(line)
                self.show(line)
                return

    def _end_far(self) -> None:
        """End what is left of the job on other machines: ranks outlive a connection that is cut."""
        from rigup.train.launch.elsewhere import ending_words

        commands = [ending_words(self.run.job, host, FAR_GRACE) for host in self.run.hosts]
        endings = [
            subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            for words in commands
        ]
        end = time.monotonic() + GRACE + FAR_GRACE
        for ending in endings:
            try:
                ending.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                ending.kill()
                ending.wait()

    def _end_all(self) -> None:
        """Ask every program with its ranks to end, and kill what is left after the grace period."""
        whole = all(program.poll() == 0 for program in self._programs) and len(self._programs) == len(self.commands)
        self._signal(signal.SIGTERM)
        end = time.monotonic() + GRACE
        while any(program.poll() is None for program in self._programs) and time.monotonic() < end:
            time.sleep(0.05)
        self._signal(signal.SIGKILL)
        for program in self._programs:
            program.wait()
            if program.stdout is not None:
                program.stdout.close()
        if not whole and self.run.launcher == "ssh":
            self._end_far()

    def _signal(self, number: int) -> None:
        for program in self._programs:
            with suppress(OSError):
                os.killpg(program.pid, number)


def _as_shell(status: int) -> int:
    return status if status > 0 else 128 - status
