"""Jupyter on another machine or in a job of a cluster: one connection, mostly ssh, that holds on to a server and carries its port."""

import json
import queue
import secrets
import shlex
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from rigup.lab.errors import LabError, LacksPackages, ServerGone
from rigup.lab.jupyter import PACKAGES
from rigup.language import _
from rigup.machine.collect.ssh import cleaned, fit
from rigup.machine.slurm.words import duration

_KEEPER, _ON_NODE = (Path(__file__).with_name(name) for name in ("keeper.py", "on_node.py"))
_PATIENCE = 120  # seconds in which a server there may start
_LOGIN = 180.0  # seconds more, where somebody may have to type a password
_SIGN = 5.0  # seconds between two signs of life
_END = 30.0
_SLACK = 60.0  # Slurm looks at the ends of jobs twice a minute
_MOST_LINE = 100_000
# Where environments lie on other machines, for one that is named and not given as a path.
_PLACES = (
    "$HOME",
    "$HOME/.virtualenvs",
    "$HOME/.venvs",
    "$HOME/miniforge3/envs",
    "$HOME/miniconda3/envs",
    "$HOME/anaconda3/envs",
    "$HOME/.conda/envs",
    "$HOME/micromamba/envs",
)
# Ctrl-C is for who started this, which then lets go over this very connection; ssh stays at the terminal, where it may ask.
_DEAF = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
_BOOT = "import sys; exec(compile(sys.stdin.read(int(sys.stdin.readline())), 'keeper', 'exec'))"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """A server that is wanted elsewhere.

    Attributes:
        host: as ssh takes it; "" for this machine, from which a cluster is asked.
        environment: a folder there, a name, or "" for the `python3` of the login shell.
        folder: in which notebooks lie; `~` is that machine's.
        token: that lets in.
        variables: that the devices there need.
        port: of this machine's loopback.
        grace: seconds for which a server there waits for a broken connection.
        options: of ssh, beside the person's own.
        srun: options of the job in which it shall run; none where it runs on the host itself.
        packages: that have to be in the environment.

    """

    host: str
    environment: str
    folder: str
    token: str
    variables: Mapping[str, str]
    port: int
    grace: float = 600.0
    options: tuple[str, ...] = ()
    srun: tuple[str, ...] = ()
    packages: tuple[str, ...] = PACKAGES

    @property
    def place(self) -> str:
        """The host by the name that people know."""
        return self.host or socket.gethostname()


def remote_python(environment: str) -> str:
    """Words of a POSIX shell that start the Python of an environment; a name is looked for where such lie."""
    if not environment:
        return "exec python3"
    if "/" in environment:
        rest = environment.removeprefix("~/")
        start = '"$HOME"/' if rest != environment else ""
        return f"exec {start}{shlex.quote(rest.rstrip('/') + '/bin/python')}"
    candidates = " ".join(f'"{place}"/{shlex.quote(environment)}/bin/python' for place in _PLACES)
    missing = shlex.quote(f"there is no environment {environment}")
    return f'for python in {candidates}; do [ -x "$python" ] && break; done; [ -x "$python" ] || {{ echo {missing} >&2; exit 3; }}; exec "$python"'


def install_command(host: str, python: str, has_pip: bool, packages: tuple[str, ...]) -> tuple[str, ...]:
    """The command that brings packages into an environment there; without pip in it uv is asked."""
    words = (python, "-m", "pip", "install") if has_pip else ("uv", "pip", "install", "--python", python)
    command = (*words, *packages)
    return ("ssh", host, shlex.join(command)) if host else command


class Connection:
    """Holds on to the server. One that breaks leaves the server for a while; `again` takes hold of it once more.

    Args:
        wish: what is wanted.
        run: names the server there, the same each time.
        waits: is told what srun says of a job that has to wait.

    Attributes:
        reached: whether anybody there has answered.
        ready: whether the server has.
        node: where the job runs; "" without one.
        ends_at: seconds since 1970 at which the job's time is over; None without such an end.

    """

    def __init__(self, wish: Wish, run: str = "", waits: Callable[[str], None] | None = None) -> None:
        if wish.host and not fit(wish.host):
            raise LabError(_("{host} is no host that ssh could be given.").format(host=repr(wish.host)[:80]))
        self.wish, self.run = wish, run or f"/tmp/rigup-lab-{secrets.token_hex(12)}"
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes] = queue.Queue(maxsize=100)
        self._said = ""
        self._waits = waits
        self.reached = self.ready = False
        self.node, self.ends_at = "", None  # type: str, float | None

    def open(self, *, again: bool = False) -> None:
        """Connect, and wait for the server.

        Raises:
            LabError: ssh failed, or there is no Jupyter, or it did not start; `again`: the server is no longer there.

        """
        self.close()
        script = f"{remote_python(self.wish.environment)} -u -c {shlex.quote(_BOOT)}"
        argv = [*_DEAF, *(self._by_ssh(script) if self.wish.host else ("sh", "-c", script))]
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
        except OSError as error:
            raise LabError(_("{program} cannot be started: {why}.").format(program=argv[4], why=error.strerror)) from error
        self._lines, self._said = queue.Queue(maxsize=100), ""
        for work in (self._receive, self._listen):
            threading.Thread(target=work, args=(self._process, self._lines), daemon=True, name="rigup ssh").start()
        self._send(self._request(again))
        answer = self._answer(_LOGIN + _PATIENCE)
        while "waiting" in answer:
            self.reached = True
            if self._waits and (text := cleaned(str(answer["waiting"]))):
                self._waits(text)
            answer = self._answer(float("inf") if self.wish.srun else _PATIENCE + _END)
        self._begun(answer)

    def _by_ssh(self, script: str) -> list[str]:
        return [
            "ssh",
            "-T",
            "-a",
            "-x",
            "-o",
            "ExitOnForwardFailure=yes",
            "-o",
            "ServerAliveInterval=10",
            "-o",
            "ServerAliveCountMax=3",
            "-o",
            "ConnectTimeout=30",
            "-o",
            "RemoteCommand=none",
            "-o",
            "PermitLocalCommand=no",
            "-o",
            "ControlPath=none",
            *self.wish.options,
            "-L",
            f"127.0.0.1:{self.wish.port}:{self.run}/socket",
            "--",
            self.wish.host,
            f"sh -c {shlex.quote(script)}",
        ]

    def _request(self, again: bool) -> bytes:
        source = _KEEPER.read_bytes()
        asked: dict[str, Any] = {
            "run": self.run,
            "again": again,
            "token": self.wish.token,
            "folder": self.wish.folder,
            "grace": self.wish.grace,
            "variables": dict(self.wish.variables),
            "patience": _PATIENCE,
            "title": "Python",
            "srun": self.wish.srun,
            "packages": self.wish.packages,
            "node": _ON_NODE.read_text("utf-8") if self.wish.srun else "",
            "port": 0 if self.wish.host else self.wish.port,
        }
        return str(len(source)).encode() + b"\n" + source + json.dumps(asked).encode() + b"\n"

    def _begun(self, message: dict[str, Any]) -> None:
        if message.get("ready") is True:
            self.reached = self.ready = True
            self.node = cleaned(str(message.get("node") or ""))[:100]
            left = duration(str(message.get("left") or ""))
            self.ends_at = None if left is None else time.time() + left
            return
        self.close()
        log = cleaned(str(message.get("log") or ""))
        if message.get("error") == "lacks":
            raise self._lacks(message)
        texts = {
            "lacks-srun": _("There is no srun on {host}: only the login node of a Slurm cluster takes --partition, --time and --gpus."),
            "no-folder": _("There is no folder {path} on {host}."),
            "gone": _(
                "The server on {host} is no longer there: the connection was broken for too long, or the machine was restarted, or its job is over."
            ),
        }
        text = texts.get(str(message.get("error")), _("Jupyter did not start on {host}."))
        kind = ServerGone if message.get("error") == "gone" else LabError
        raise kind(text.format(host=self.wish.place, path=self.wish.folder), log)

    def _lacks(self, answer: dict[str, Any]) -> LacksPackages:
        """What the environment there lacks of that which was asked for: no other name comes into a command."""
        python, names = str(answer.get("python"))[:300], answer.get("lacking")
        named = names if isinstance(names, list) else []
        lacking = tuple(name for name in self.wish.packages if name in named) or self.wish.packages
        argv = install_command(self.wish.host, python, answer.get("has_pip") is True, lacking)
        text = _("{python} on {host} lacks {packages}. Install them there: {command}")
        names_text = ", ".join(lacking)
        return LacksPackages(
            text.format(python=cleaned(python), host=self.wish.place, packages=names_text, command=shlex.join(argv)), lacking, argv
        )

    def _receive(self, process: "subprocess.Popen[bytes]", lines: "queue.Queue[bytes]") -> None:
        assert process.stdout is not None  # noqa: S101
        with suppress(ValueError, OSError), process.stdout:
            while line := process.stdout.readline(_MOST_LINE):
                with suppress(queue.Full):
                    lines.put_nowait(line)
        lines.put(b"")

    def _listen(self, process: "subprocess.Popen[bytes]", _lines: "queue.Queue[bytes]") -> None:
        assert process.stderr is not None  # noqa: S101
        with suppress(ValueError, OSError), process.stderr:
            while piece := process.stderr.read(4096):
                self._said = (self._said + piece.decode("utf-8", "replace"))[-8000:]

    def _answer(self, seconds: float) -> dict[str, Any]:
        """The next answer. Raises LabError where there is none."""
        until = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.01, min(_SIGN, until - time.monotonic())))
            except queue.Empty:
                if time.monotonic() < until:
                    self._send(b".\n")
                    continue
                self.close()
                text = _("{host} did not answer in {seconds} s.").format(host=self.wish.place, seconds=round(seconds))
                raise LabError(text, cleaned(self._said)) from None
            if not line:
                time.sleep(0.1)  # what ssh said of itself comes on another pipe
                text = _("The connection to {host} failed: {why}")
                ssh_output = cleaned(self._said)
                why = ssh_output.splitlines()[-1] if ssh_output else _("ssh said nothing.")
                raise LabError(text.format(host=self.wish.place, why=why), ssh_output)
            with suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict):
                    return message

    def _send(self, data: bytes) -> None:
        with suppress(OSError, ValueError):
            if self._process and self._process.stdin:
                self._process.stdin.write(data)

    def hold(self) -> bool:
        """Give a sign of life and wait a while; False once the connection is broken. Raises LabError where the server ended."""
        self._send(b".\n")
        log = ""
        try:
            line = self._lines.get(timeout=_SIGN)
        except queue.Empty:
            return True
        if b'"ended"' in line:
            self.close()
            with suppress(ValueError):
                log = cleaned(str(json.loads(line).get("log") or ""))
            text = _("Jupyter ended by itself on {host}.")
            if self.ends_at is not None and time.time() > self.ends_at - _SLACK:
                text = _("The job's time on {host} is over, and Jupyter with it. A longer one is asked for by --time.")
            raise LabError(text.format(host=self.node or self.wish.place), log)
        return bool(line)

    def stop(self) -> bool:
        """End the server there with its kernels, over a new connection where this one is broken; whether that was heard."""
        for is_second in (False, True) if self.ready else (False,):
            try:
                if is_second:
                    self.open(again=True)
                self._send(b"stop\n")
                while self._answer(_END).get("ended") is not True:
                    pass
                return True
            except ServerGone:
                return True
            except LabError:
                continue
            finally:
                self.close()
        return False

    def close(self) -> None:
        """End the connection alone."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            if process.stdin:
                process.stdin.close()
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
