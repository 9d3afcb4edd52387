"""Machines made of a few files, as captured trees and as pasted texts."""

import json

import pytest

from rigup.machine import readers  # noqa: F401  (registers them)
from rigup.machine.facts import Place
from rigup.machine.look import look
from rigup.machine.readers import of_texts  # noqa: F401  (all readers are known here, whichever file of tests is imported first)
from rigup.machine.sources import Source, open_source
from rigup.machine.texts import Text


@pytest.fixture
def tree(tmp_path):
    """Look at a captured tree: path to text, or to a link's target behind `->`."""

    def made(files, *, who=None, nodes=None, commands=None, folders=(), wake=False):
        for path, body in files.items():
            file = tmp_path / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            if body.startswith("-> "):
                file.symlink_to(body.removeprefix("-> "))
            else:
                file.write_text(body)
        for folder in folders:
            (tmp_path / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for name, told in (("who", who or {}), ("nodes", nodes), ("commands", commands)):
            if told is not None:
                (tmp_path / f"{name}.json").write_text(json.dumps(told))
        facts = look(open_source(str(tmp_path)), wake)
        assert not facts.troubles
        return facts

    return made


@pytest.fixture
def pasted():
    """Look at texts that somebody pasted."""

    def made(*texts):
        facts = look([Source(Place(), None, tuple(Text(f"text {n}", body) for n, body in enumerate(texts)))])
        assert not facts.troubles
        return facts

    return made
