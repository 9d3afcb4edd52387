"""A report as TensorFlow's form asks for it, and ipython's banner beside another's."""

import pytest

from rigup.machine import readers  # noqa: F401  (registers them)
from rigup.machine.kinds import Gpu, JupyterKernel, Platform, PythonEnv, TensorFlow
from rigup.machine.look import look
from rigup.machine.sources import open_source

FORM = """### TensorFlow version

{version}

### OS Platform and Distribution

{system}

### Python version

3.11.4

### GPU model and memory

{card}
"""


@pytest.fixture
def facts(tmp_path):
    def told(text):
        (tmp_path / "report.md").write_text(text)
        found = look(open_source(str(tmp_path)))
        assert not found.troubles, found.troubles
        return found

    return told


def test_headings_and_their_answers(facts):
    found = facts(FORM.format(version="v2.15.0-rc1-8-g6887368d6d4 2.15.0", system="Windows 11", card="RTX 4060, 8 GB"))
    assert [fact.version for fact in found.of(TensorFlow)] == ["2.15.0"]
    assert [fact.system for fact in found.of(Platform)] == ["windows"]
    assert [fact.version for fact in found.of(PythonEnv)] == ["3.11.4"]
    assert [fact.vendor for fact in found.of(Gpu)] == ["nvidia"]


@pytest.mark.parametrize("system", ["Windows 11 with WSL2", "Ubuntu 22.04 under Windows 11", "Linux Mint 21"])
def test_a_linux_inside_windows_is_not_windows(facts, system):
    found = facts(FORM.format(version="2.15.0", system=system, card="_No response_"))
    assert not [fact for fact in found.of(Platform) if fact.get("system") == "windows"]
    assert not found.of(Gpu)


def test_the_older_form_is_a_list(facts):
    found = facts("- OS Platform and Distribution (e.g., Linux Ubuntu 16.04): Windows 10\n- TensorFlow version: 2.4.1\n")
    assert [fact.version for fact in found.of(TensorFlow)] == ["2.4.1"]
    assert [fact.system for fact in found.of(Platform)] == ["windows"]


SHELL = "Python 3.11.9 | packaged by conda-forge | (main, Apr 19 2024, 18:36:13)\n[GCC 12.3.0] on linux\n>>> import torch\n"
IPYTHON = "Python {told} [GCC 11.4.0]\nType 'copyright', 'credits' or 'license' for more information\nIPython 8.5.0 -- An enhanced\n"


def test_ipython_of_another_python_is_told(facts):
    found = facts(SHELL + IPYTHON.format(told="3.10.12 (main, Nov 20 2023, 15:14:05)"))
    assert [fact.name for fact in found.of(JupyterKernel)] == ["ipython"]


def test_ipython_of_the_same_python_is_none_of_our_business(facts):
    same = "3.11.9 | packaged by conda-forge | (main, Apr 19 2024, 18:36:13)"
    assert not facts(SHELL + IPYTHON.format(told=same)).of(JupyterKernel)
    assert not facts(IPYTHON.format(told=same)).of(JupyterKernel)
