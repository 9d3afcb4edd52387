"""Run on another machine, by the Python of an environment there: keeps a Jupyter server while somebody holds on to it.

It comes over ssh's standard input and imports nothing of rigup. A line of JSON asks for a server, which is started apart from
this connection; who connects again under the same name holds on to the same server. It ends when it is told to, when
nobody has held on for so many seconds, and when the machine does. On the login node of a cluster it keeps an `srun` instead, and
carries connections to the node where the job runs.
"""

import contextlib
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from importlib import metadata
from typing import Any

_PAUSE = 0.1
_PATIENCE = 10.0
_SHORT = 2.0
_MOST_LOG = 16000
_LAST_WORDS = 12.0  # seconds for which what it said stays, for whoever holds on
_SERVER = "import sys; exec(compile(sys.stdin.read(int(sys.stdin.readline())), 'on_node', 'exec'))"


def _say(**fields: object) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
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
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": asked["title"],
        "language": "python",
        "env": asked["variables"],
    }
    for name, text in (("token", asked["token"]), ("lease", ""), ("starting", ""), ("kernels/python3/kernel.json", json.dumps(kernel))):
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
    server = _by_srun(asked, folder) if asked["srun"] else _server(asked, folder)
    while server.poll() is None and time.time() - _held_at(folder) < asked["grace"]:
        time.sleep(_PAUSE)
    if server.stdin is not None:  # the server on the node ends with its input, in good order; a job that waits does not
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            server.stdin.close()
            server.wait(2 * _PATIENCE if os.path.exists(os.path.join(folder, "place")) else _SHORT)
    if server.poll() is None:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
            if asked["srun"]:
                subprocess.call(["scancel", "--name=" + os.path.basename(folder), "--user=" + str(os.getuid())])
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(folder, "socket"))
    if os.path.exists(os.path.join(folder, "starting")):  # who started it reads the log, and removes it
        open(os.path.join(folder, "ended"), "w").close()
    until = time.time() + _LAST_WORDS
    while time.time() < until and time.time() - _held_at(folder) < asked["grace"]:
        time.sleep(_PAUSE)
    _remove(folder)


def _by_srun(asked: "dict[str, Any]", folder: str) -> "subprocess.Popen[bytes]":
    """Ask the cluster for a job with the server; its own token goes over srun's standard input."""
    inside = "SLURM_JOB_ID" in os.environ  # the job that somebody is in is not the one that is asked for
    variables = {name: value for name, value in os.environ.items() if not (inside and name.startswith("SLURM_") and name != "SLURM_CONF")}
    words = ["srun", "--job-name=" + os.path.basename(folder), "--nodes=1", "--ntasks=1", *asked["srun"]]
    words += [sys.executable, "-u", "-c", _SERVER]
    pipe = subprocess.PIPE
    # srun would go to the caller's folder, which may not be there on the node
    server = subprocess.Popen(words, env=variables, cwd=os.path.expanduser("~"), stdin=pipe, stdout=pipe)
    source = asked["node"].encode()
    assert server.stdin is not None  # noqa: S101
    with contextlib.suppress(OSError):
        server.stdin.write(str(len(asked["node"])).encode() + b"\n" + source)
        server.stdin.write(json.dumps({name: asked[name] for name in _FOR_NODE}).encode() + b"\n")
        server.stdin.flush()
    threading.Thread(target=_carry, args=(server, asked["port"], folder), daemon=True).start()
    return server


_FOR_NODE = ("token", "folder", "variables", "patience", "title")


def _carry(server: "subprocess.Popen[bytes]", port: int, folder: str) -> None:
    """Once the server answers on its node, take connections for it: at the run's socket, and at a port of loopback where one is wished."""
    assert server.stdout is not None  # noqa: S101
    line = server.stdout.readline(_MOST_LOG)
    if not line:  # srun ended, and said why
        return
    try:
        place = json.loads(line)
        doors = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)]
        if port:
            doors.append(socket.socket())
            doors[1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            doors[1].bind(("127.0.0.1", port))
        with open(os.path.join(folder, "place"), "w", encoding="utf-8") as file:
            json.dump(place, file)
        doors[0].bind(os.path.join(folder, "socket"))
    except (OSError, ValueError) as error:
        os.write(2, ("rigup: " + str(error)[:300] + "\n").encode())
        server.terminate()
        return
    for door in doors:
        door.listen(100)
        threading.Thread(target=_take, args=(door, (place["address"], place["port"])), daemon=True).start()
    while server.stdout.read(4096):  # a full pipe would stop the job
        pass


def _take(door: socket.socket, place: "tuple[str, int]") -> None:
    while True:
        near = door.accept()[0]
        try:
            far = socket.create_connection(place, timeout=_PATIENCE)
        except OSError:
            near.close()
            continue
        far.settimeout(None)
        for ends in ((near, far), (far, near)):
            threading.Thread(target=_pump, args=ends, daemon=True).start()


def _pump(source: socket.socket, goal: socket.socket) -> None:
    """Pass on what comes, to its end."""
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            goal.sendall(piece)
    for end, how in ((goal, socket.SHUT_WR), (source, socket.SHUT_RD)):
        with contextlib.suppress(OSError):
            end.shutdown(how)


def _server(asked: "dict[str, Any]", folder: str) -> "subprocess.Popen[bytes]":
    """Jupyter on this machine."""
    variables = dict(os.environ, **asked["variables"])
    variables.pop("JUPYTER_TOKEN", None)
    variables["JUPYTER_TOKEN_FILE"] = os.path.join(folder, "token")
    former = variables.get("JUPYTER_PATH")
    variables["JUPYTER_PATH"] = folder + (os.pathsep + former if former else "")
    program = os.path.join(os.path.dirname(sys.executable), "jupyter-lab")
    words = [sys.executable, program, "--ServerApp.sock=" + os.path.join(folder, "socket")]
    words += ["--ServerApp.root_dir=" + os.path.expanduser(asked["folder"]), "--ServerApp.open_browser=False", "--ServerApp.base_url=/"]
    words += ["--ServerApp.allow_root=True"] if os.geteuid() == 0 else []
    return subprocess.Popen(words, env=variables, stdin=subprocess.DEVNULL)


def _held_at(folder: str) -> float:
    """When somebody held on last; long ago where it was let go."""
    try:
        return os.path.getmtime(_lease(folder))
    except OSError:
        return 0.0


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _client_is_alive(folder: str) -> bool:
    """Look for a moment whether a sign of life came; False where who asked is gone or no longer wants the server."""
    if not select.select([0], [], [], _PAUSE)[0]:
        return True
    piece = os.read(0, 4096)
    if not piece or b"stop" in piece:
        return False
    os.utime(_lease(folder), None)
    return True


def _await(asked: "dict[str, Any]", folder: str) -> bool:
    """Until the server answers; what it said where it does not. A job may wait for long before it starts."""
    until = float("inf") if asked["srun"] else time.time() + asked["patience"]
    job_is_told = False
    while time.time() < until and not _answers(folder) and not os.path.exists(os.path.join(folder, "ended")):
        if not _client_is_alive(folder):
            _let_go(folder)
            return False
        if not job_is_told and (queued := [line for line in _log(asked, folder).splitlines() if "queued" in line]):
            _say(waiting=queued[-1][:300])
            job_is_told = True
    if _answers(folder):
        os.unlink(os.path.join(folder, "starting"))
        return True
    _say(error="not-started", log=_log(asked, folder))
    _let_go(folder, is_told=False)
    return False


def _log(asked: "dict[str, Any]", folder: str) -> str:
    """The last that server and srun said, without the token."""
    try:
        with open(os.path.join(folder, "log"), "rb") as file:
            return file.read()[-_MOST_LOG:].decode("utf-8", "replace").replace(asked["token"], "")
    except OSError:
        return ""


def _let_go(folder: str, is_told: bool = True) -> None:
    """End the server, and wait for its end."""
    with contextlib.suppress(OSError):
        os.unlink(_lease(folder))
    while os.path.exists(folder):
        time.sleep(_PAUSE)
    if is_told:
        _say(ended=True)


def _hold(asked: "dict[str, Any]", folder: str) -> None:
    """Each line that comes is a sign of life; "stop" lets go, and the end of the input leaves the server for a while."""
    for line in sys.stdin:
        if line.strip() == "stop":
            _let_go(folder)
            return
        if not _answers(folder):
            _say(error="ended", log=_log(asked, folder))
            _let_go(folder, is_told=False)
            return
        os.utime(_lease(folder), None)


def _place(folder: str) -> "dict[str, Any]":
    """The node and the job, and how long the job has left, as squeue writes it; nothing where there is no job."""
    try:
        with open(os.path.join(folder, "place"), encoding="utf-8") as file:
            place = json.load(file)
        words = ["squeue", "-h", "-j", place["job"], "-o", "%L"]
        left = subprocess.check_output(words, stderr=subprocess.DEVNULL, timeout=_PATIENCE)
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return {"node": place["node"], "job": place["job"], "left": left.decode("utf-8", "replace").strip()[:40]}


def _has(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def main() -> None:
    """Answer one request, which is the first line of the input."""
    asked = json.loads(sys.stdin.readline())
    folder = asked["run"]
    if not os.path.isdir(folder):
        if asked["again"]:
            _say(error="gone", log="")
            return
        program = os.path.join(os.path.dirname(sys.executable), "jupyter-lab")
        lacking = [name for name in asked["packages"] if not _has(name)]
        if not os.path.exists(program) and "jupyterlab" not in lacking:
            lacking.insert(0, "jupyterlab")
        if lacking:
            has_pip = importlib.util.find_spec("pip") is not None
            _say(error="lacks", log="", python=sys.executable, has_pip=has_pip, lacking=lacking)
            return
        if not os.path.isdir(os.path.expanduser(asked["folder"])):
            _say(error="no-folder", log="")
            return
        if asked["srun"] and shutil.which("srun") is None:
            _say(error="lacks-srun", log="")
            return
        _say(waiting="")
        _start(asked, folder)
        if not _await(asked, folder):
            return
    os.utime(_lease(folder), None)
    _say(ready=True, python=sys.executable, **_place(folder))
    _hold(asked, folder)


main()
