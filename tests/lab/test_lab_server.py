"""`rigup lab` with a real Jupyter Lab: cells run in the right Python with the right variables, and nothing is left behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from chromium import PROGRAM, Page
from processes import descendants, gone, listens
from rigup.cli import run
from rigup.lab import jupyter

WHO = "import os, sys; print(sys.prefix, os.environ.get('VIRTUAL_ENV'), os.environ.get('JUPYTER_TOKEN'), os.getcwd())"
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def prefix(python):
    return str(Path(python).parent.parent)


@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_cells_run_in_the_environment_and_nothing_outlives_it(jupyter_python, lab_process, account, number):
    other = account / "XDG_DATA_HOME" / "jupyter" / "kernels" / "python3"
    other.mkdir(parents=True)  # a person's own kernel of that name would come before the environment's
    (other / "kernel.json").write_text('{"argv": ["/bin/false"], "display_name": "x", "language": "python"}')
    with lab_process("--env", prefix(jupyter_python), "--dir", "..") as lab:
        (cell,) = lab.execute(jupyter_python, WHO, keep=True)
        assert cell["printed"].split() == [prefix(jupyter_python), prefix(jupyter_python), "None", str(account)]
        below = descendants(lab.process.pid)
        assert len(below) >= 3  # the watch, the server, the kernel
        commands = "".join(Path(f"/proc/{pid}/cmdline").read_text() for pid in below)
        assert lab.token not in commands
        status, errors = lab.end(number)
    assert (status, "ended with its kernels" in errors) == (0, True)
    assert all(gone(pid) for pid in below)
    assert not listens(lab.base + "/")
    assert not list((account / "TMPDIR").iterdir())


@linux
def test_it_ends_also_where_rigup_is_killed(jupyter_python, lab_process):
    with lab_process("--env", prefix(jupyter_python)) as lab:
        lab.execute(jupyter_python, "1", keep=True)
        below = descendants(lab.process.pid)
        lab.process.kill()
        assert all(gone(pid) for pid in below)


def test_without_the_token_nobody_gets_in(jupyter_python, lab_process):
    with lab_process("--env", prefix(jupyter_python)) as lab:
        assert lab.base.startswith("http://127.0.0.1:")
        for headers in ({}, {"Authorization": "token wrong"}):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(lab.base + "/api/kernels", headers=headers), timeout=30)
            with refused.value as answer:
                assert answer.code == 403


def test_settings_that_let_everybody_in_are_refused(jupyter_python, lab_process, account):
    folder = account / "HOME" / ".jupyter"
    folder.mkdir()
    (folder / "jupyter_server_config.py").write_text("c.IdentityProvider.token = ''\n")
    with lab_process("--env", prefix(jupyter_python)) as lab:
        status, errors = lab.end(0)
    assert (status, lab.answer) == (1, None)
    assert "lets in everybody" in errors
    assert not list((account / "TMPDIR").iterdir())


def test_a_taken_port_and_a_broken_installation_are_told(jupyter_python, lab_process, made_with_ipykernel):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with lab_process("--env", prefix(jupyter_python), "--port", port) as lab:
            status, errors = lab.end(0)
        assert status == 1
        assert f"Port {port} is taken" in errors
    site = next(made_with_ipykernel.glob("lib/python3*/site-packages"))
    (site / "jupyterlab-4.0.dist-info").mkdir()
    (site / "jupyterlab-4.0.dist-info" / "METADATA").write_text("Name: jupyterlab\nVersion: 4.0\n\n")
    (made_with_ipykernel / "bin" / "jupyter-lab").write_text("import torch_of_nobody\n")
    with lab_process("--env", made_with_ipykernel) as lab:
        status, errors = lab.end(0)
    assert status == 1
    assert "No module named 'torch_of_nobody'" in errors
    assert "Jupyter ended before it was ready, with status 1" in errors


@pytest.mark.browser
@pytest.mark.skipif(not PROGRAM, reason="no Chromium is installed")
def test_a_real_browser_opens_it_with_its_token(jupyter_python, lab_process, tmp_path):
    import base64

    with lab_process("--env", prefix(jupyter_python)) as lab, Page(tmp_path) as page:
        page.open(lab.answer["url"])
        page.wait("document.querySelector('.jp-Launcher-sectionTitle') !== null")
        launcher = page.evaluate("document.querySelector('.jp-Launcher').innerText")
        assert "Python (" in launcher
        image = base64.b64decode(page.do("Page.captureScreenshot")["data"])
        assert len(image) > 20_000  # an empty page is smaller by far
        if kept := os.environ.get("RIGUP_KEEP_PHOTOGRAPHS"):
            Path(kept, "lab.png").write_bytes(image)


@pytest.mark.long
def test_what_would_be_started_is_printed_with_what_is_lacking(account, made_with_ipykernel, capsys):
    assert run(["lab", "--env", str(made_with_ipykernel), "--print", "--json", "--port", "8899"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["argv"][0].startswith(str(made_with_ipykernel))
    assert {"--ServerApp.ip=127.0.0.1", "--ServerApp.port=8899"} <= set(answer["argv"])
    assert (answer["url"], answer["variables"]["VIRTUAL_ENV"]) == (None, str(made_with_ipykernel))
    assert run(["lab", "--env", str(made_with_ipykernel), "--print"]) == 0
    assert "lacks jupyterlab" in " ".join(capsys.readouterr().err.split())
    assert run(["lab", "--env", str(made_with_ipykernel), "--json"]) == 2  # nobody is asked
    assert run(["lab", "--env", str(made_with_ipykernel), "--dir", "nowhere"]) == 2
    assert run(["lab", "--env", "nobody"]) == 2
    assert run(["lab"]) == 2


def test_no_name_becomes_an_option():
    words = jupyter.words(["python"], "--ServerApp.ip=0.0.0.0", 1)
    assert words.count("--ServerApp.ip=127.0.0.1") == 1
    assert "--ServerApp.root_dir=--ServerApp.ip=0.0.0.0" in words


@pytest.mark.packages
def test_what_an_environment_lacks_is_installed_when_that_is_agreed(lab_process, account, jupyter_python):
    """By the steps of a plan, from the indexes of the machine that tests; undo takes them back."""
    subprocess.run([sys.executable, "-m", "venv", account / "bare"], check=True)
    with lab_process("--env", account / "bare", "--yes") as lab:
        if lab.answer is None:
            pytest.skip("Jupyter Lab cannot be installed here: " + lab.end(0)[1][-300:])
        (cell,) = lab.execute(jupyter_python, "import sys; print(sys.prefix)")
        assert cell["printed"].strip() == str(account / "bare")
        assert lab.end(signal.SIGTERM)[0] == 0


def test_tools_that_use_no_gpu_are_not_said_to_be_unknown():
    from packaging.requirements import Requirement

    from rigup.stack.frameworks.unknown import candidates
    from rigup.stack.site import Site

    def mind(*names):
        return " ".join(build.mind for build in candidates({name: Requirement(name) for name in names}, Site()))

    assert mind("jupyterlab", "ipykernel").startswith("jupyterlab, ipykernel uses no GPU by itself")
    assert "do not know package-of-nobody:" in mind("jupyterlab", "package-of-nobody")
    assert mind("package-of-nobody").startswith("The tables do not know")


@pytest.mark.long
def test_in_a_hosted_notebook_it_is_said_that_nobody_reaches_a_second_server(account, made_with_ipykernel, capsys, monkeypatch):
    words = ["lab", "--env", str(made_with_ipykernel)]
    assert run(words) == 2  # what is lacking is asked for, and nobody can be asked
    assert "Colab" not in capsys.readouterr().err
    monkeypatch.setenv("COLAB_RELEASE_TAG", "x")
    assert run(words) == 2
    assert "This is a notebook of Google Colab" in " ".join(capsys.readouterr().err.split())


@pytest.mark.packages
def test_extensions_are_installed_and_answer(lab_process, account):
    """What people look for: memory of the kernels, a language server, git beside the files."""
    subprocess.run([sys.executable, "-m", "venv", account / "bare"], check=True)
    with lab_process("--env", account / "bare", "--extensions", "--yes") as lab:
        if lab.answer is None:
            pytest.skip("extensions cannot be installed here: " + lab.end(0)[1][-300:])

        def page_at(path):
            asked = urllib.request.Request(lab.base + path, headers={"Authorization": "token " + lab.token})
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return answer.read().decode()

        assert json.loads(page_at("/api/metrics/v1"))["rss"] > 0
        assert "python" in json.loads(page_at("/lsp/status"))["sessions"]["pylsp"]["spec"]["languages"]
        page = page_at("/lab")
        assert "@jupyterlab/git" in page
        assert "@jupyter-server/resource-usage" in page
        assert lab.end(signal.SIGTERM)[0] == 0
