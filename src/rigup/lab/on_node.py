"""Run by `srun` on a node of a cluster, by the Python of an environment: a Jupyter server that ends with its job.

It comes over srun's standard input and imports nothing of rigup. A line of JSON asks for a server, a line of JSON answers. The
server listens on the one address of the node that faces the machine where srun runs, and is told of only where it takes the token
and refuses who has none. It ends with the input, with a signal, and with the job.
"""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

_PAUSE = 0.1
_PATIENCE = 10.0


def _say(**fields: object) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def _facing(other: str) -> str:
    """The address of this node by which another machine is reached; nothing is sent."""
    door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        door.connect((other, 9))
        return str(door.getsockname()[0])
    finally:
        door.close()


def _free_port(address: str) -> int:
    door = socket.socket()
    try:
        door.bind((address, 0))
        return int(door.getsockname()[1])
    finally:
        door.close()


def _status(address: str, port: int, token: str) -> int:
    """The status of an answer to a question that only the person may ask; 0 without an answer."""
    connection = http.client.HTTPConnection(address, port, timeout=5)
    try:
        connection.request("GET", "/api/kernels", headers={"Authorization": "token " + token} if token else {})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def _started(asked: "dict[str, Any]", folder: str, address: str, port: int) -> "subprocess.Popen[bytes]":
    os.makedirs(os.path.join(folder, "kernels", "python3"))
    kernel = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": asked["title"],
        "language": "python",
        "env": asked["variables"],
    }
    for name, text in (("token", asked["token"]), ("kernels/python3/kernel.json", json.dumps(kernel))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    programs = os.path.dirname(sys.executable)
    variables = dict(os.environ, **asked["variables"])
    variables.pop("JUPYTER_TOKEN", None)
    variables["JUPYTER_TOKEN_FILE"] = os.path.join(folder, "token")
    for name, own in (("JUPYTER_PATH", folder), ("PATH", programs)):
        variables[name] = own + (os.pathsep + variables[name] if variables.get(name) else "")
    settings = {
        "ip": address,
        "port": port,
        "port_retries": 0,
        "root_dir": os.path.expanduser(asked["folder"]),
        "open_browser": False,
        "base_url": "/",
    }
    words = [sys.executable, os.path.join(programs, "jupyter-lab")]
    words += ["--ServerApp.{}={}".format(*setting) for setting in settings.items()]
    words += ["--ServerApp.allow_root=True"] if os.geteuid() == 0 else []
    return subprocess.Popen(words, env=variables, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def _ready(asked: "dict[str, Any]", server: "subprocess.Popen[bytes]", address: str, port: int) -> bool:
    """Whether it answers as it should."""
    until = time.time() + asked["patience"]
    while not (status := _status(address, port, asked["token"])):
        if server.poll() is not None or time.time() > until:
            return False
        time.sleep(_PAUSE)
    if status == 200 and _status(address, port, "") in (401, 403):
        return True
    sys.stderr.write("Jupyter does not take the token, or lets in everybody: a setting in jupyter_server_config.\n")
    return False


def _end(_number: int, _frame: object) -> None:
    raise SystemExit


def _ends_with_input() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Answer the request, which is the first line of the input, and stay until the end."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_ends_with_input, daemon=True).start()
    folder, server = tempfile.mkdtemp(prefix="rigup-lab-"), None
    try:
        address = _facing(os.environ.get("SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1"))
        port = _free_port(address)
        server = _started(asked, folder, address, port)
        if _ready(asked, server, address, port):
            name = os.environ.get("SLURMD_NODENAME", "")
            _say(address=address, port=port, node=name, job=os.environ.get("SLURM_JOB_ID", ""))
            server.wait()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if server is not None and server.poll() is None:
            server.terminate()
            try:
                server.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                server.kill()
        shutil.rmtree(folder, ignore_errors=True)


main()
