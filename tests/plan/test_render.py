"""One plan in many forms, each read again by a tool of its kind where one is at hand."""

import shutil
import subprocess
import tomllib

import pytest

from rigup.plan.render import FORMS, rendered
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish, read_wishes

MACHINES = {
    "nvidia": ("RTX 3060, driver 550.54.15, ubuntu 22.04, python 3.11", ["torch", "torchvision", "numpy>=1.26"]),
    "override": ("Radeon 680M, ubuntu 24.04, python 3.12", ["torch==2.7.1"]),
    "no driver": ("RTX 4070, driver none, ubuntu 24.04, python 3.12", ["torch"]),
    "mac": ("Apple M4, macos 15.6, python 3.13", ["torch"]),
    "several": ("RTX 3090, driver 580.95.05, ubuntu 24.04, python 3.12", ["llama-cpp-python", "torch"]),
}


@pytest.fixture(params=MACHINES)
def choice(request):
    profile, wishes = MACHINES[request.param]
    return choose(Wish(packages=read_wishes(wishes)), read_profile(profile))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_names_every_package_and_every_variable(choice, form):
    text = rendered(choice, form)
    assert all(name in text and version in text for name, version in choice.packages.items())
    assert text.endswith("\n")
    if form in ("script", "dockerfile", "apptainer", "conda"):
        assert all(name in text and value in text for name, value in choice.variables.items())


def test_uvs_table_binds_packages_to_their_index_and_knows_every_index(choice):
    tool = tomllib.loads(rendered(choice, "pyproject")).get("tool", {}).get("uv", {})
    known = {index["name"]: index["url"] for index in tool.get("index", ())}
    assert set(choice.indexes) <= set(known.values())
    assert {source["index"] for source in tool.get("sources", {}).values()} <= set(known)


def test_poetrys_table_binds_packages_to_their_index(choice):
    tool = tomllib.loads(rendered(choice, "poetry"))["tool"]["poetry"]
    known = {source["name"] for source in tool.get("source", ())}
    assert {told["source"] for told in tool["dependencies"].values() if "source" in told} <= known


@pytest.mark.skipif(not shutil.which("dash"), reason="dash is not installed")
def test_a_script_is_a_posix_script(choice, tmp_path):
    (tmp_path / "plan.sh").write_text(rendered(choice, "script"))
    done = subprocess.run(
        ["dash", "-n", str(tmp_path / "plan.sh")], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stderr == ""


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_shellcheck_finds_nothing_in_a_script(choice, tmp_path):
    (tmp_path / "plan.sh").write_text(rendered(choice, "script"))
    done = subprocess.run(
        ["shellcheck", str(tmp_path / "plan.sh")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == ""


def test_a_requirement_never_becomes_more_than_one_word_of_a_command():
    choice = choose(
        Wish(packages=read_wishes(["torch", "numpy<2,>=1.26"])), read_profile("no gpu, ubuntu 24.04, python 3.12")
    )
    assert "'numpy<2,>=1.26'" in rendered(choice, "script")
    assert '"numpy<2,>=1.26"' in rendered(choice, "dockerfile")
