"""`rigup lab --host` by a real OpenSSH on loopback: a server there, a tunnel that is broken and made again, and its end."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopback_ssh import daemon
from processes import descendants, gone
from rigup.cli import run
from rigup.lab.errors import LabError
from rigup.lab.remote import Connection, Wish, remote_python

__all__ = ["daemon"]
TRIES, PAUSE = 600, 0.1


@pytest.fixture
def elsewhere(daemon, account, monkeypatch):
    """The daemon's own client, and a shell there that has the account's folders."""
    daemon.renew()
    kept = " ".join(f"{name}={os.environ[name]}" for name in ("HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"))
    daemon.entry(f'export {kept}; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"')
    monkeypatch.setenv("PATH", str(daemon.folder / "client") + os.pathsep + os.environ["PATH"])
    daemon.account = account
    return daemon


def prefix(python):
    return str(Path(python).parent.parent)


def kernels(lab):
    """How many compute there; None where nobody answers."""
    asked = urllib.request.Request(lab.base + "/api/kernels", headers={"Authorization": "token " + lab.token})
    try:
        with urllib.request.urlopen(asked, timeout=5) as answer:
            return len(json.load(answer))
    except OSError:
        return None


def until(true):
    for _ in range(TRIES):
        if true():
            return True
        time.sleep(PAUSE)
    return False


def servers(account):
    """Servers that a keeper started for an account."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
                words = words if str(account).encode() in (folder / "environ").read_bytes() else []
            except OSError:
                continue
            found += [int(folder.name)] if any("rigup-lab-" in word and "ServerApp.sock" in word for word in words) else []
    return found


def sessions(daemon):
    return descendants(daemon.process.pid)


def test_a_broken_tunnel_is_made_again_and_the_kernel_is_still_there(elsewhere, jupyter_python, lab_process):
    with lab_process("--host", "node7", "--env", prefix(jupyter_python)) as lab:
        assert lab.answer["host"] == "node7"
        (cell,) = lab.execute(jupyter_python, "import sys; kept = 41; print(sys.prefix)", keep=True)
        assert cell["printed"].strip() == prefix(jupyter_python)
        (server,) = servers(elsewhere.account)
        assert lab.token not in "\n".join(elsewhere.entries)
        for pid in sessions(elsewhere):
            with suppress(ProcessLookupError):  # one ends as another does
                os.kill(pid, signal.SIGKILL)
        assert until(lambda: len(elsewhere.entries) > 1 and kernels(lab) == 1)
        assert servers(elsewhere.account) == [server]
        status, errors = lab.end(signal.SIGTERM)
        assert status == 0
        assert "is made again" in errors
        assert "ended with its kernels" in errors
        assert gone(server)


@pytest.mark.parametrize("words", [(), ("--host", "node7")])
def test_ctrl_c_at_a_terminal_ends_it(elsewhere, jupyter_python, account, words):
    import pty
    import sys

    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
        os.execv(sys.executable, [sys.executable, "-m", "rigup", "lab", "--env", prefix(jupyter_python), *words])
    output = b""
    try:
        while piece := os.read(terminal, 4096):
            known, output = b"Ctrl-C ends it" in output, output + piece
            if b"Ctrl-C ends it" in output and not known:
                os.write(terminal, b"\x03")
    except OSError:  # the end of a terminal
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"ended with its kernels" in output
    assert len(elsewhere.entries) == len(words)  # one to look at the devices, one that holds on
    assert servers(account) == []


def test_a_server_that_nobody_holds_ends_by_itself(elsewhere, jupyter_python, lab_process):
    with lab_process("--host", "node7", "--env", prefix(jupyter_python), "--grace", 10) as lab:
        (server,) = servers(elsewhere.account)
        lab.process.kill()
        assert gone(server)


def test_what_is_lacking_there_is_told(elsewhere, made_with_ipykernel, jupyter_python, capsys):
    assert run(["lab", "--host", "node7", "--env", str(made_with_ipykernel)]) == 1
    errors = " ".join(capsys.readouterr().err.split())
    assert "lacks jupyterlab, ipykernel" in errors or "lacks jupyterlab." in errors
    assert f"ssh node7 'uv pip install --python {made_with_ipykernel}/bin/python jupyterlab'" in errors  # no pip is in it
    bare = Path("environment with pip")
    subprocess.run([sys.executable, "-m", "venv", bare], check=True)
    assert run(["lab", "--host", "node7", "--env", str(bare.absolute())]) == 1
    assert "/bin/python'\"'\"' -m pip install jupyterlab ipykernel'" in "".join(capsys.readouterr().err.replace("\n", " "))
    assert run(["lab", "--host", "node7", "--env", prefix(jupyter_python), "--dir", "/no/such folder"]) == 1
    assert "There is no folder /no/such folder on node7" in " ".join(capsys.readouterr().err.split())
    assert run(["lab", "--host", "node7", "--env", "nobody's"]) == 1
    assert "there is no environment nobody's" in " ".join(capsys.readouterr().err.split())
    elsewhere.entry('export PIP_NO_INDEX=1 PIP_FIND_LINKS=; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"')
    assert run(["lab", "--host", "node7", "--env", str(bare.absolute()), "--yes"]) == 1
    assert "could not be installed there" in " ".join(capsys.readouterr().err.split())
    elsewhere.add("closed", port=1)
    assert run(["lab", "--host", "closed"]) == 1
    assert "Connection refused" in " ".join(capsys.readouterr().err.split())
    assert run(["lab", "--host", "-oProxyCommand=x"]) == 2
    assert run(["lab", "--host", "node7", "--print"]) == 2


@given(st.text(max_size=60))
def test_no_name_becomes_a_second_command(name):
    import shlex

    words = remote_python(name)
    assert "\n" not in words or "\n" in name
    assert shlex.split(words)  # quotes are closed


def test_a_host_that_is_an_option_is_refused():
    wish = Wish(host="-oProxyCommand=x", environment="", folder="~", token="t", variables={}, port=1)
    with pytest.raises(LabError):
        Connection(wish)


@pytest.mark.packages
def test_what_is_lacking_there_is_installed_when_that_is_agreed(elsewhere, jupyter_python, lab_process, account):
    bare = account / "bare"
    subprocess.run([sys.executable, "-m", "venv", bare], check=True)
    with lab_process("--host", "node7", "--env", bare, "--yes") as lab:
        if lab.answer is None:
            pytest.skip("Jupyter Lab cannot be installed here: " + lab.end(0)[1][-300:])
        (cell,) = lab.execute(jupyter_python, "import sys; print(sys.prefix)")
        assert cell["printed"].strip() == str(bare)
        assert lab.end(signal.SIGTERM)[0] == 0
