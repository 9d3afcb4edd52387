"""`rigup container run` with engines that are there: real podman takes the options; a stand-in runs what stands behind them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

import pytest
from facts import NODES, PODMAN, answered

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="engines as Linux has them")
INFO = {"host": {"security": {"rootless": True}, "ociRuntime": {"name": "crun"}}, "version": {"Version": "5.5.2"}}
ENGINE = """#!{python}
import json, os, sys
if sys.argv[1] == "info":
    print(json.dumps({info}))
    sys.exit()
words = sys.argv[sys.argv.index("localhost/tool:1") + 1:]
os.execvp(words[0], words)
"""


@pytest.fixture
def started(tmp_path, monkeypatch):
    """A folder first on PATH whose podman runs the program itself; and what starts rigup there."""
    program = tmp_path / "bin" / "podman"
    program.parent.mkdir()
    program.write_text(ENGINE.format(python=sys.executable, info=json.dumps(INFO)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return lambda *words: [sys.executable, "-m", "rigup", "container", "run", "localhost/tool:1", "--engine", "podman", *words]


def test_the_exit_status_is_the_programs(started, tmp_path):
    done = subprocess.run(
        started("--", "sh", "-c", "echo out; exit 7"), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (7, "out\n")


def test_a_secret_that_was_typed_reaches_the_program_and_no_command_line(started, tmp_path):
    """The stand-in passes its own environment on, as an engine passes what it is told by name."""
    words = started("--env", "HF_TOKEN=hf_typed", "--", "sh", "-c", 'echo "$HF_TOKEN"')
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "hf_typed\n")


def test_what_it_dies_of_is_told(started, tmp_path):
    message = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
    done = subprocess.run(
        started("--", "sh", "-c", f"echo '{message}' >&2; exit 1"), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert "podman ended with status 1" in done.stderr


def test_a_signal_reaches_the_program(started, tmp_path):
    running = subprocess.Popen(
        started("--", "sh", "-c", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.1; done"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout.readline() == "ready\n"
    time.sleep(0.2)
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 9
    running.stdout.close()


@pytest.mark.podman
@pytest.mark.skipif(not shutil.which("podman"), reason="podman is not installed")
def test_podman_itself_takes_every_option(tmp_path):
    """A container is made and not started: devices and folders are looked at, and every option is read."""
    root, store = (
        tmp_path / "root.tar",
        ["--root", str(tmp_path / "store"), "--runroot", tempfile.mkdtemp(prefix="rigup-"), "--storage-driver", "vfs"],
    )
    with tarfile.open(root, "w") as tar:
        tar.add("/etc/hostname", "etc/hostname")
    assert (
        subprocess.run(
            ["podman", *store, "import", str(root), "localhost/tool:1"], capture_output=True, timeout=120, check=False
        ).returncode
        == 0
    )
    host = {
        "engines": [{**PODMAN, "rootless": False}],
        "nodes": NODES,
        "cwd": str(tmp_path),
        "uid": os.getuid(),
        "environment": {"HTTPS_PROXY": "http://127.0.0.1:3128"},
    }
    answer = answered(
        "RX 7900 XTX, ubuntu 24.04", host, what="localhost/tool:1", publish=(8080,), variables={"HF_TOKEN": None, "A": "b c"}, name="made"
    )
    # Nodes that this machine lacks are stood in for; the folder of work may itself lie below /dev (/dev/shm).
    words = ["/dev/null:" + word if option == "--device" else word for option, word in zip(answer.argv, answer.argv[1:], strict=False)]
    created = subprocess.run(
        ["podman", *store, "create", *words[words.index("run") + 1 :]], capture_output=True, text=True, timeout=120, check=False
    )
    assert created.returncode == 0, created.stderr
    inspected = json.loads(
        subprocess.run(["podman", *store, "inspect", "made"], capture_output=True, text=True, timeout=120, check=True).stdout
    )[0]
    assert inspected["Config"]["Cmd"] == ["python", "train.py"]
    assert inspected["HostConfig"]["Privileged"] is False
    assert {"A=b c"} <= set(inspected["Config"]["Env"])
    assert str(tmp_path) in [mount["Source"] for mount in inspected["Mounts"]]


def test_a_podman_that_was_replaced_is_asked_anew(started, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def told():
        words = [*started(), "--print"]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True).stdout

    assert "--userns keep-id" in told()
    assert "--userns keep-id" in told()
    changed = {**INFO, "host": {"security": {"rootless": False}, "ociRuntime": {"name": "runc"}}}
    other = tmp_path / "bin" / "podman.new"
    other.write_text(ENGINE.format(python=sys.executable, info=json.dumps(changed)))
    other.chmod(0o755)
    other.replace(tmp_path / "bin" / "podman")
    assert "--userns" not in told()
