"""`rigup lab --install-service`: what is shown, what is written, and that undo takes it back."""

import json
import os
import sys

import pytest

from rigup.cli import run
from rigup.plan import user_service

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")


@pytest.fixture
def ready(account, made_with_ipykernel, monkeypatch):
    """An environment with Jupyter Lab by its record, in an account whose systemd agrees to everything."""
    info = next(made_with_ipykernel.glob("lib/python3*/site-packages")) / "jupyterlab-4.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: jupyterlab\nVersion: 4.0\n\n")
    programs = account / "programs"
    programs.mkdir()
    (programs / "systemctl").write_text("#!/bin/sh\n")
    (programs / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(user_service, "has_systemd", lambda: True)
    return made_with_ipykernel


def test_it_is_shown_made_and_taken_back(ready, capsys):
    unit = user_service.unit_file(os.environ, "lab")
    key = user_service.key_file(os.environ, "lab")
    words = ["lab", "--env", str(ready), "--install-service"]
    assert run([*words, "--json"]) == 0
    assert [step["writes"][0] for step in json.loads(capsys.readouterr().out)["steps"]] == [str(key), str(unit)]
    assert not unit.exists()
    assert run([*words, "--yes"]) == 0
    assert "127.0.0.1:8888/lab" in capsys.readouterr().err
    (start,) = [line for line in unit.read_text().splitlines() if line.startswith("ExecStart=")]
    assert f"--env {ready} --dir {os.getcwd()} --port 8888 --log --token-file {key}" in start.replace(
        chr(34), ""
    )  # each word stands in quotes
    assert key.read_text().strip() not in unit.read_text()
    assert run(["lab", "--remove-service", "--yes"]) == 0
    assert not unit.exists()
    assert run(["undo", "--yes"]) == 0
    assert unit.exists()


def test_a_container_is_served_by_one_too(ready, account, capsys):
    podman = account / "programs" / "podman"
    podman.write_text("""#!/bin/sh
echo '{"host": {"security": {"rootless": true}, "ociRuntime": {"name": "crun"}}, "version": {"Version": "5.5.2"}}'
""")
    podman.chmod(0o755)
    words = ["lab", "--container", "localhost/work:1", "--gpus", "none", "--port", "8901", "--install-service"]
    assert run([*words, "--yes"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "What localhost/work:1 lacks is installed into" in told
    unit, key = user_service.unit_file(os.environ, "lab"), user_service.key_file(os.environ, "lab")
    (start,) = [line for line in unit.read_text().splitlines() if line.startswith("ExecStart=")]
    typed = start.replace(chr(34), "").partition(" lab ")[2]
    assert typed == f"--gpus none --container localhost/work:1 --dir {os.getcwd()} --yes --port 8901 --log --token-file {key}"
    assert run(["undo", "--yes"]) == 0
    assert not unit.exists()
    for other in (["--env", str(ready)], ["--host", "ada@node"], ["--partition", "gpu"]):
        assert run([*words, *other]) == 2
    assert run(["lab", "--container", "-v/:/host", "--install-service"]) == 2


def test_a_service_can_ask_nobody(account, made_with_ipykernel, monkeypatch, capsys):
    monkeypatch.setattr(user_service, "has_systemd", lambda: True)
    assert run(["lab", "--env", str(made_with_ipykernel), "--install-service"]) == 2
    assert "lacks jupyterlab" in " ".join(capsys.readouterr().err.split())
    assert run(["lab", "--remove-service"]) == 1


@pytest.mark.parametrize("token", ["short", "with a blank in it, and long", "é" * 30, "x" * 600])
def test_a_token_that_could_not_be_one_is_refused(ready, account, token):
    (account / "token").write_text(token)
    assert run(["lab", "--env", str(ready), "--token-file", str(account / "token")]) == 2
