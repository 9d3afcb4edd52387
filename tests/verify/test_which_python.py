"""Which Python is asked."""

import os
import sys

import pytest

from few_checks import few_checks
from rigup.verify.child import Limits
from rigup.verify.environment import VerifyError, interpreter, of_another
from rigup.verify.verify import verify


@pytest.fixture
def make(tmp_path):
    def link(path):
        target = tmp_path / path / "bin" / "python"
        target.parent.mkdir(parents=True)
        target.symlink_to(sys.executable)
        return target

    return link


def test_an_environment_is_its_own_link_and_not_what_it_leads_to(make, tmp_path):
    python = make("dl")
    assert interpreter(str(tmp_path / "dl"), {}) == str(python)
    assert interpreter(str(python), {}) == str(python)


def test_a_project_has_one_inside(make, tmp_path):
    python = make("work/.venv")
    assert interpreter(str(tmp_path / "work"), {}) == str(python)


def test_the_active_one_is_taken_without_a_wish(make, tmp_path):
    venv, conda = make("venv"), make("conda")
    assert interpreter("", {"VIRTUAL_ENV": str(tmp_path / "venv"), "CONDA_PREFIX": str(tmp_path / "conda")}) == str(venv)
    assert interpreter("", {"CONDA_PREFIX": str(tmp_path / "conda")}) == str(conda)


def test_without_an_active_one_it_is_that_of_the_path(make, tmp_path, monkeypatch):
    python = make("usr")
    os.symlink(sys.executable, tmp_path / "usr" / "bin" / "python3")
    monkeypatch.setenv("PATH", str(tmp_path / "usr" / "bin"))
    assert interpreter("", {}) == str(python.with_name("python3"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(VerifyError, match="no Python on the path"):
        interpreter("", {})


def test_conda_environments_have_names(make, tmp_path):
    base, named = make("conda"), make("conda/envs/dl")
    assert interpreter("dl", {"CONDA_EXE": str(tmp_path / "conda" / "bin" / "conda")}) == str(named)
    assert interpreter("base", {"MAMBA_ROOT_PREFIX": str(tmp_path / "conda")}) == str(base)


def test_what_is_none_is_told_with_what_to_give(tmp_path):
    for wish in (str(tmp_path), str(tmp_path / "none"), "no-such-environment"):
        with pytest.raises(VerifyError, match="the name of a conda environment"):
            interpreter(wish, {})


def test_an_active_environment_that_is_gone_is_told_and_no_other_is_taken(make, tmp_path, monkeypatch):
    make("conda")
    gone = {"VIRTUAL_ENV": str(tmp_path / "gone"), "CONDA_PREFIX": str(tmp_path / "conda")}
    with pytest.raises(VerifyError, match=r"The active environment .*gone has no interpreter"):
        interpreter("", gone)


def test_an_interpreter_that_computes_with_other_packages_is_told(make, tmp_path, monkeypatch):
    few_checks(monkeypatch)
    python = make("dl")  # a link to an interpreter, without what makes it an environment
    with pytest.raises(VerifyError, match="computes with the packages of"):
        verify(str(tmp_path / "dl"), limits=Limits(start=60, check=60))
    assert of_another(str(python), str(python), "/usr", {}) == ""  # who names an interpreter means what it computes with


def test_an_environment_under_another_name_is_the_same(make, tmp_path):
    python = make("dl")
    (tmp_path / "link").symlink_to(tmp_path / "dl")
    assert of_another(str(tmp_path / "link"), str(tmp_path / "link/bin/python"), str(tmp_path / "dl"), {}) == ""
    assert of_another("", str(python), str(tmp_path / "dl"), {"VIRTUAL_ENV": str(tmp_path / "dl")}) == ""
    assert of_another("", "/usr/bin/python3", "/usr", {}) == ""
