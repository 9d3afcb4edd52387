"""A kernel's file outlives the environment that it starts."""

import json

import rigup.machine.readers  # noqa: F401  (registers them)
from rigup.machine.facts import Place
from rigup.machine.kinds import JupyterKernel
from rigup.machine.local import Local
from rigup.machine.look import look
from rigup.machine.sources import Source


def kernels(home, monkeypatch, python):
    folder = home / ".local/share/jupyter/kernels/own"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps({"argv": [str(python), "-m", "ipykernel_launcher"]}))
    monkeypatch.setenv("HOME", str(home))
    facts = look([Source(Place(), Local(), ())], kinds=[JupyterKernel])
    return {fact.get("python"): fact.get("gone") for fact in facts.of(JupyterKernel)}


def test_one_whose_interpreter_is_gone_is_told(tmp_path, monkeypatch):
    gone = tmp_path / "old/bin/python"
    assert kernels(tmp_path, monkeypatch, gone)[str(gone)] is True


def test_one_whose_interpreter_is_there_is_not(tmp_path, monkeypatch):
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.write_text("")
    assert kernels(tmp_path, monkeypatch, python)[str(python)] is None
