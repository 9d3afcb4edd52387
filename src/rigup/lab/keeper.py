"""Run on another machine, by the Python of an environment there: keeps a Jupyter server while somebody holds on to it.

It comes over ssh's standard input and imports nothing of rigup. A line of JSON asks for a server, which is started apart from
this connection; who connects again under the same name holds on to the same server. It ends when it is told to, when
nobody has held on for so many seconds, and when the machine does.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

_PAUSE = 0.1
_PATIENCE = 10.0
_MOST_LOG = 16000


def _say(**told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def _lease(folder: str) -> str:
    return os.path.join(folder, "lease")


def _answers(folder: str) -> bool:
    """Whether somebody takes connections there."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        door.connect(os.path.join(folder, "socket"))
        return True
    except OSError:
        return False
    finally:
        door.close()


def _start(asked: "dict[str, Any]", folder: str) -> None:
    """Make the run's folder, which must not be there, and a process of its own that keeps the server."""
    os.mkdir(folder, 0o700)
    os.makedirs(os.path.join(folder, "kernels", "python3"))
    kernel = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": asked["title"],
        "language": "python", "env": asked["variables"],
    }  # fmt: skip
    for name, text in (
        ("token", asked["token"]),
        ("lease", ""),
        ("starting", ""),
        ("kernels/python3/kernel.json", json.dumps(kernel)),
    ):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    log = os.open(os.path.join(folder, "log"), os.O_WRONLY | os.O_CREAT, 0o600)
    for number, handle in ((0, null), (1, log), (2, log)):
        os.dup2(handle, number)
    try:
        _keep(asked, folder)
    finally:
        os._exit(0)


def _keep(asked: "dict[str, Any]", folder: str) -> None:
    """Start the server, and end it when its time has come."""
    variables = dict(os.environ, **asked["variables"])
    variables.pop("JUPYTER_TOKEN", None)
    variables["JUPYTER_TOKEN_FILE"] = os.path.join(folder, "token")
    former = variables.get("JUPYTER_PATH")
    variables["JUPYTER_PATH"] = folder + (os.pathsep + former if former else "")
    program = os.path.join(os.path.dirname(sys.executable), "jupyter-lab")
    words = [sys.executable, program, "--ServerApp.sock=" + os.path.join(folder, "socket")]
    words += [
        "--ServerApp.root_dir=" + os.path.expanduser(asked["folder"]),
        "--ServerApp.open_browser=False",
        "--ServerApp.base_url=/",
    ]
    words += ["--ServerApp.allow_root=True"] if os.geteuid() == 0 else []
    server = subprocess.Popen(words, env=variables, stdin=subprocess.DEVNULL)
    while server.poll() is None and time.time() - _held_at(folder) < asked["grace"]:
        time.sleep(_PAUSE)
    if server.poll() is None:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    if not os.path.exists(os.path.join(folder, "starting")):
        _remove(folder)
    elif os.path.isdir(folder):  # who started it reads the log, and removes it
        open(os.path.join(folder, "ended"), "w").close()


def _held_at(folder: str) -> float:
    """When somebody held on last; long ago where it was let go."""
    try:
        return os.path.getmtime(_lease(folder))
    except OSError:
        return 0.0


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _await(asked: "dict[str, Any]", folder: str) -> bool:
    """Until the server answers; what it said where it does not."""
    until = time.time() + asked["patience"]
    while time.time() < until and not _answers(folder) and not os.path.exists(os.path.join(folder, "ended")):
        time.sleep(_PAUSE)
        os.utime(_lease(folder), None)
    if _answers(folder):
        os.unlink(os.path.join(folder, "starting"))
        return True
    with open(os.path.join(folder, "log"), "rb") as file:
        log = file.read()[-_MOST_LOG:].decode("utf-8", "replace")
    _say(error="not-started", log=log.replace(asked["token"], ""))
    _remove(folder)
    return False


def _hold(folder: str) -> None:
    """Each line that comes is a sign of life; "stop" lets go, and the end of the input leaves the server for a while."""
    for line in sys.stdin:
        if line.strip() == "stop":
            with contextlib.suppress(OSError):
                os.unlink(_lease(folder))
            while os.path.exists(folder):
                time.sleep(_PAUSE)
            _say(ended=True)
            return
        if not _answers(folder):
            _say(error="ended", log="")
            return
        os.utime(_lease(folder), None)


def main() -> None:
    """Answer one request, which is the first line of the input."""
    asked = json.loads(sys.stdin.readline())
    folder = asked["run"]
    if not os.path.isdir(folder):
        if asked["again"]:
            _say(error="gone", log="")
            return
        program = os.path.join(os.path.dirname(sys.executable), "jupyter-lab")
        if not os.path.exists(program):
            _say(error="lacks-jupyter", log="", python=sys.executable)
            return
        if not os.path.isdir(os.path.expanduser(asked["folder"])):
            _say(error="no-folder", log="")
            return
        _start(asked, folder)
        if not _await(asked, folder):
            return
    os.utime(_lease(folder), None)
    _say(ready=True, python=sys.executable)
    _hold(folder)


main()
