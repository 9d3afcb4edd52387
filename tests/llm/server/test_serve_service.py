"""`rigup serve` as a service of a person's systemd: what is shown, what is written, and that undo takes it back."""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rigup.cli import run
from rigup.plan import user_service as service
from user_systemd import beside_systemd

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")


@pytest.fixture
def account(tmp_path, monkeypatch):
    """An account whose systemd writes down what it is told, and links a unit as the real one does."""
    programs = tmp_path / "programs"
    programs.mkdir()
    said, wants = tmp_path / "said", tmp_path / "config" / "systemd" / "user" / "default.target.wants"
    link = f'"{wants}/rigup-serve.service"'
    (programs / "systemctl").write_text(
        f'#!/bin/sh\necho "$*" >> "{said}"\ncase "$2" in\n'
        f'enable) mkdir -p "{wants}"; ln -sf ../rigup-serve.service {link};;\ndisable) rm -f {link};;\nesac\n'
    )
    (programs / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setattr(service, "has_systemd", lambda: True)
    (tmp_path / "a model.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(account):
    path = account / "said"
    return path.read_text().splitlines() if path.exists() else []


def unit(account):
    return account / "config" / "systemd" / "user" / "rigup-serve.service"


def test_by_default_it_is_shown_and_nothing_is_changed(account, capsys):
    assert run(["serve", "a model.gguf", "--install-service", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["verdict"]) == ("rigup.apply/1", "possible")
    assert [one["writes"][0] for one in told["steps"]] == [str(service.key_file(os.environ, "serve")), str(unit(account))]
    assert run(["serve", "a model.gguf", "--install-service"]) == 0
    assert "With --yes it is done." in capsys.readouterr().err
    assert not (account / "config").exists()
    assert said(account) == []


def test_an_option_that_is_given_several_times_is_in_the_service_so(account):
    assert run(["serve", "a model.gguf", "--set", "temperature=0.6", "--set", "top-k=20", "--install-service", "--yes"]) == 0
    assert '"serve" "--set" "temperature=0.6" "--set" "top-k=20" "--port"' in unit(account).read_text()


@pytest.mark.long
def test_it_is_installed_with_whole_paths_and_its_key_in_a_file_of_its_own(account, capsys):
    words = ["serve", "b=a model.gguf", "--parallel", "2", "--no-embeddings", "--on", "cpu", "--install-service", "--yes"]
    assert run(words) == 0
    text, key = unit(account).read_text(), service.key_file(os.environ, "serve")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_text()) == 64
    told = capsys.readouterr()
    everywhere = text + told.out + told.err + "".join(one.read_text() for one in (account / "state").rglob("*.json*"))
    assert key.read_text() not in everywhere
    (start,) = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    assert start.endswith(
        f'"serve" "--on" "cpu" "--parallel" "2" "--no-embeddings" "--port" "8033" "--key-file" "{key}" "--" "b={account}/a model.gguf"'
    )
    assert f'Environment="PATH={os.environ["PATH"].split(os.pathsep)[0]}' in text
    assert said(account) == ["--user daemon-reload", "--user enable rigup-serve.service", "--user restart rigup-serve.service"]
    before = key.read_text()
    assert run(words) == 0
    assert key.read_text() == before


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_reads_the_unit_as_it_is_meant(account):
    shutil.copy(account / "a model.gguf", account / '50% $HOME "x".gguf')
    assert run(["serve", 'a=50% $HOME "x".gguf', "--install-service", "--yes"]) == 0
    done = subprocess.run(["systemd-analyze", "verify", str(unit(account))], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_undo_takes_it_back_whole(account):
    assert run(["serve", "a model.gguf", "--install-service", "--yes"]) == 0
    assert (unit(account).parent / "default.target.wants" / "rigup-serve.service").is_symlink()
    assert run(["undo", "--yes"]) == 0
    left = [one for one in (account / "config").rglob("*") if not one.is_dir()] if (account / "config").exists() else []
    assert left == []
    assert said(account)[-2:] == ["--user stop rigup-serve.service", "--user daemon-reload"]


def test_what_is_removed_comes_back_by_undo(account, capsys):
    assert run(["serve", "--remove-service", "--yes"]) == 1
    assert "There is no service to remove" in capsys.readouterr().err
    assert run(["serve", "a model.gguf", "--install-service", "--yes"]) == 0
    text = unit(account).read_text()
    assert run(["serve", "--remove-service", "--yes"]) == 0
    assert not unit(account).exists()
    assert service.key_file(os.environ, "serve").exists()
    assert "--user disable --now rigup-serve.service" in said(account)
    assert run(["undo", "--yes"]) == 0
    assert unit(account).read_text() == text
    assert said(account)[-1] == "--user restart rigup-serve.service"


def test_a_key_of_ones_own_and_none(account):
    Path("my.key").write_text("k" * 20)
    assert run(["serve", "a model.gguf", "--key-file", "my.key", "--install-service", "--yes"]) == 0
    assert f'"--key-file" "{account}/my.key"' in unit(account).read_text()
    assert run(["serve", "a model.gguf", "--no-key", "--install-service", "--yes"]) == 0
    assert "--key-file" not in unit(account).read_text()
    assert not service.key_file(os.environ, "serve").exists()


def test_without_systemd_it_is_told_what_to_run(account, monkeypatch, capsys):
    monkeypatch.setattr(service, "has_systemd", lambda: False)
    assert run(["serve", "a model.gguf", "--install-service", "--yes"]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "No systemd runs this machine" in told
    assert "-m rigup serve --port 8033 --key-file" in told
    assert not (account / "config").exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--install-service"], "Name the model"),
        (["none/here.gguf", "--no-key", "--share", "0.0.0.0", "--install-service"], "with a key alone"),
        (["m", "--api", "http://127.0.0.1:1/v1", "--install-service"], "kept nowhere"),
    ],
)
def test_what_cannot_be_a_service_is_told(account, monkeypatch, capsys, words, text):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert run(["serve", *words]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert text in told
    assert "sk-secret" not in told


@pytest.mark.llm
@pytest.mark.slow
def test_a_real_systemd_runs_it_and_starts_it_again(tmp_path, tiny_model, engine_python):
    script = Path(__file__).with_name("under_systemd.py")
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = str(door.getsockname()[1])
    environ = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    environ |= {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}
    done = beside_systemd([sys.executable, str(script), str(tiny_model), engine_python, port], environ, 300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "installed": 0,
        "enabled": "enabled",
        "answer": "3 4 5 6 7",
        "engines": 1,
        "again": True,
        "answer again": "3 4 5 6 7",
        "engines again": 1,
        "undone": 0,
        "state": "inactive",
        "engines after": 0,
    }
