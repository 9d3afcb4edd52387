"""The documentation is true: its examples print what it shows, and the tool that builds it has nothing to say."""

import importlib.machinery
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.fixture(scope="module")
def examples():
    loader = importlib.machinery.SourceFileLoader("examples", str(ROOT / "scripts" / "examples"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("examples", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_an_example_prints_what_its_page_shows(page, examples):
    told = page.read_text(encoding="utf-8")
    assert examples.renewed(told) == told, "run scripts/examples"


def test_every_command_has_a_page():
    from rigup.cli import COMMANDS

    assert {page.stem for page in PAGES if page.parent.name == "commands"} == set(COMMANDS)


def test_requests_are_answered_with_commands_that_there_are():
    from rigup.cli import COMMANDS, main

    rows = [line for line in (ROOT / "docs" / "requests.md").read_text(encoding="utf-8").splitlines() if re.match(r"\| \d", line)]
    assert len(rows) == 26
    assert all("https://github.com/" in row for row in rows)
    for words in (one.split()[1:] for row in rows for one in re.findall(r"`(rigup [^`]+)`", row)):
        assert words[0] in COMMANDS
        known = {flag for one in main.get_command(None, words[0]).params for flag in one.opts}
        assert {word for word in words if word.startswith("--")} <= known, words


@pytest.mark.skipif(not importlib.util.find_spec("mkdocs"), reason="mkdocs is not installed")
def test_the_pages_are_built_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "site" / "commands" / "doctor" / "index.html").is_file()
    shutil.rmtree(tmp_path / "site")
