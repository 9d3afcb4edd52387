"""A Jupyter server that ends with rigup: started, asked whether it is ready and whom it lets in, and ended with its kernels."""

import http.client
import json
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from rigup.held_process import CHILD, Child, Log
from rigup.lab.errors import LabError
from rigup.lab.jupyter import HERE
from rigup.language import _

START = 90.0  # seconds until it answers: imports from a slow shared disk take long
_PAUSE = 0.1
_ANSWER = 5.0
_END = 20.0  # seconds in which kernels may end
_MOST_ANSWER = 1_000_000
_LETS_IN, _REFUSES = 200, (401, 403)
_PORT_TAKEN = ("already in use", "already allocated")


class _Passed(Log):
    """What the server says, kept and passed on, without its token."""

    def __init__(self, token: str, say: Callable[[str], None] | None) -> None:
        super().__init__()
        self._token, self._say = token, say

    def add(self, line: str) -> None:
        """Keep a line."""
        clean = line.replace(self._token, "…")
        super().add(clean)
        if self._say:
            self._say(clean.rstrip("\n"))


class Server:
    """A server that was started.

    Args:
        words: the command.
        environ: all its variables.
        port: at which it will answer.
        token: that it was given.
        folder: in which it starts.
        say: gets each line that it says; None where nobody wants them.
        holds_input: its standard input is open as long as it shall run.

    Raises:
        LabError: its program cannot be started.

    """

    def __init__(
        self,
        words: Sequence[str],
        environ: Mapping[str, str],
        port: int,
        token: str,
        folder: str | None = None,
        say: Callable[[str], None] | None = None,
        holds_input: bool = False,
    ) -> None:
        self.port, self._token = port, token
        held = [sys.executable, "-I", str(CHILD), "hold" if holds_input else "watch", *words]
        try:
            self._child = Child(held, environ, _Passed(token, say), folder)
        except OSError as error:
            text = _("{program} cannot be started: {why}.").format(program=words[0], why=error.strerror)
            raise LabError(text) from error

    @property
    def log(self) -> str:
        """What it said, without its token."""
        return self._child.log.text()

    @property
    def status(self) -> int | None:
        """How it ended; None while it runs."""
        return self._child.status

    @property
    def port_was_taken(self) -> bool:
        """Whether it ended because somebody else has the port."""
        return self.status is not None and any(words in self.log for words in _PORT_TAKEN)

    def wait(self, seconds: float = START) -> None:
        """Until it answers, to those who have the token alone.

        Raises:
            LabError: it ended or did not answer; or it does not let in whom it should, or lets in everybody.

        """
        until = time.monotonic() + seconds
        while (status := self._answers(with_token=True)) is None:
            if self.status is not None:
                text = _("Jupyter ended before it was ready, with status {status}.")
                raise LabError(text.format(status=self.status), self.log)
            if time.monotonic() > until:
                raise LabError(_("Jupyter did not answer in {seconds} s.").format(seconds=round(seconds)), self.log)
            time.sleep(_PAUSE)
        if status != _LETS_IN:
            text = _(
                "Jupyter does not take the token that it was given: a setting in your jupyter_server_config is stronger. `jupyter --paths` lists where it lies."
            )
            raise LabError(text, self.log)
        if self._answers(with_token=False) not in _REFUSES:
            text = _(
                "Jupyter lets in everybody on this machine: take the empty token or password out of your jupyter_server_config. `jupyter --paths` lists where it lies."
            )
            raise LabError(text, self.log)

    def _answers(self, *, with_token: bool) -> int | None:
        """The status of an answer to a question that only the person may ask; None without an answer."""
        return asked(self.port, "/api/kernels", self._token if with_token else "")[0]

    def kernels(self) -> int:
        """How many notebooks compute."""
        body = asked(self.port, "/api/kernels", self._token)[1]
        with suppress(ValueError):
            rows = json.loads(body or "null")
            return len(rows) if isinstance(rows, list) else 0
        return 0

    def stop(self) -> None:
        """End it with its kernels."""
        self._child.stop(_END)


def asked(port: int, path: str, token: str) -> tuple[int | None, bytes]:
    """Ask a server on loopback: the status of its answer, None without one, and the body, bounded."""
    connection = http.client.HTTPConnection(HERE, port, timeout=_ANSWER)
    try:
        connection.request("GET", path, headers={"Authorization": f"token {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read(_MOST_ANSWER)
    except (OSError, http.client.HTTPException):
        return None, b""
    finally:
        connection.close()


def free_port() -> int:
    """A port of loopback that nobody has at this moment."""
    with socket.socket() as door:
        door.bind((HERE, 0))
        return int(door.getsockname()[1])
