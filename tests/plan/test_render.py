"""One plan in many forms, each read again by a tool of its kind where one is at hand."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answer_data import as_data
from rigup.plan.packages import groups
from rigup.plan.render import FORMS, rendered
from rigup.plan.steps import steps as typed
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.site import Sources
from rigup.stack.wish import Wish, read_wishes

WISHES = {
    "nvidia": ("RTX 3060, driver 550.54.15, ubuntu 22.04, python 3.11", ["torch", "torchvision", "numpy>=1.26"]),
    "override": ("Radeon 680M, ubuntu 24.04, python 3.12", ["torch==2.7.1"]),
    "no driver": ("RTX 4070, driver none, ubuntu 24.04, python 3.12", ["torch"]),
    "mac": ("Apple M4, macos 15.6, python 3.13", ["torch"]),
    "several": ("RTX 3090, driver 580.95.05, ubuntu 24.04, python 3.12", ["llama-cpp-python", "torch"]),
}
LAYERED = "RTX 3060, driver none, python 3.13"
DASH = shutil.which("dash")
needs_dash = pytest.mark.skipif(not DASH, reason="dash is not installed")


@pytest.fixture(params=WISHES)
def choice(request, chosen):
    profile, wishes = WISHES[request.param]
    return chosen(profile, *wishes)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_names_every_package_and_every_variable(choice, form):
    text = rendered(choice, form)
    assert all(name in text and version in text for name, version in choice.packages.items())
    assert text.endswith("\n")
    if form in ("script", "dockerfile", "apptainer", "conda"):
        assert all(name in text and value in text for name, value in choice.variables.items())


# -- scripts -------------------------------------------------------------------------------------------

# Every program that a script calls writes down how it was called; making an environment makes its interpreter.
STUB = """#!/bin/sh
printf '%s\\0' "$#" "${0##*/}" "$@" >> "$RIGUP_LOG"
for word in "$@"; do last=$word; done
case "${0##*/} $*" in
  id*) echo 1000 ;;
  *" venv "*|"conda create"*)
    [ "$1" = create ] && last=$4
    mkdir -p "$last/bin" && cp "$0" "$last/bin/python" && cp "$0" "$last/bin/uv" ;;
  *astral.sh*) mkdir -p "$last" && cp "$0" "$last/uv" ;;
esac
"""


def steps(choice):
    """A plan's steps as answers have them."""
    return [as_data(step) for step in typed(choice)]


def calls(log: Path) -> list[list[str]]:
    """The argument vectors in the order in which they were run."""
    words = log.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1] if log.exists() else []
    found = []
    while words:
        count = int(words[0])
        found.append(words[1 : count + 2])
        words = words[count + 2 :]
    return [argv for argv in found if argv[0] != "id"]


def run_dry(text: str, told: list[dict], folder: Path, parts: int) -> list[list[str]]:
    """Run a script part after part with a stub in the place of every program that it may call."""
    bin_ = folder / "stubs"
    bin_.mkdir()
    names = {Path(argv[0]).name for step in told for argv in step["commands"] if "/" not in argv[0]} | {"sudo", "id"}
    for name in names:
        (bin_ / name).write_text(STUB)
        (bin_ / name).chmod(0o755)
    for name in ("mkdir", "cp"):
        if not (bin_ / name).exists():
            (bin_ / name).symlink_to(shutil.which(name))
    (folder / "plan.sh").write_text(text, encoding="utf-8", errors="surrogateescape")
    env = {"PATH": str(bin_), "RIGUP_LOG": str(folder / "log")}
    for part in range(1, parts + 1):
        done = subprocess.run(
            [DASH, "plan.sh", *([str(part)] if part > 1 else [])],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return calls(folder / "log")


def expected(told: list[dict]) -> list[list[str]]:
    """What the script is to run: all that is needed and done here."""
    run = [s for s in told if s["state"] == "needed" and s["where"] == "here" and s["kind"] != "restart-machine"]
    vectors = [(["sudo"] if step["root"] else []) + argv for step in run for argv in step["commands"]]
    return [[Path(argv[0]).name, *argv[1:]] for argv in vectors]


@needs_dash
def test_a_script_runs_exactly_the_plans_commands(machine, chosen, tmp_path):
    choice = chosen(machine)
    if choice.site.system == "windows":
        pytest.skip("Windows has PowerShell")
    told = steps(choice)
    parts = 1 + sum(step["kind"] == "restart-machine" for step in told)
    assert run_dry(rendered(choice, "script"), told, tmp_path, parts) == expected(told)


@needs_dash
def test_a_script_with_two_restarts_has_three_parts(chosen, tmp_path):
    choice = chosen("", site=read_profile(LAYERED).but(distribution="silverblue"))
    told = steps(choice)
    assert run_dry(rendered(choice, "script"), told, tmp_path, 3) == expected(told)


@needs_dash
@pytest.mark.parametrize("manager", ["venv", "conda", "docker", "apptainer"])
def test_a_script_of_every_manager_runs_its_commands(manager, chosen, tmp_path):
    choice = chosen("Radeon 680M, ubuntu 24.04, python 3.12", "torch==2.7.1", manager=manager)
    told = steps(choice)
    assert run_dry(rendered(choice, "script"), told, tmp_path, 1) == expected(told)


evil = st.text(
    st.one_of(st.sampled_from(list("'\"`$();|&<>\\ \n\t*?[]{}~#!-=%é漢")), st.characters(codec="utf-8", exclude_characters="\0/")),
    min_size=1,
    max_size=20,
).filter(lambda text: text not in (".", ".."))


@pytest.mark.long
@needs_dash
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(folder=evil, wheels=evil, value=evil)
def test_hostile_names_stay_one_word(folder, wheels, value, tmp_path_factory):
    home = tmp_path_factory.mktemp("hostile")
    site = read_profile("Radeon 680M, ubuntu 24.04, python 3.12").but(
        environment=str(home / folder), sources=Sources(find_links=("/srv/" + wheels,))
    )
    made = choose(Wish(packages=read_wishes(["torch==2.7.1"])), site)
    choice = msgspec.structs.replace(made, variables={"HSA_OVERRIDE_GFX_VERSION": value})
    told = steps(choice)
    assert run_dry(rendered(choice, "script"), told, home, 1) == expected(told)
    recipe = rendered(choice, "dockerfile")
    plain = re.sub(r"(?m)^RUN (?:--mount=type=(?:cache|bind),[a-z0-9=/.,]+ )*", "RUN ", recipe)
    runs = [json.loads(line.removeprefix("RUN ")) for line in plain.split("\n") if line.startswith("RUN ")]
    assert [run[:4] for run in runs] == [["python", "-m", "pip", "install"]] * len(groups(choice))
    assert all(
        line.split(" ", 1)[0] in ("#", "ARG", "FROM", "ENV", "RUN", "WORKDIR", "USER", "HEALTHCHECK", "CMD", "")
        for line in recipe.split("\n")
    )


@needs_dash
def test_a_variable_is_set_in_the_environment_and_taken_back(chosen, tmp_path):
    """The step's own commands, really run."""
    made = chosen("Radeon 680M, ubuntu 24.04, python 3.12", "torch==2.7.1")
    value = 'it\'s $HOME `id` "x"'
    site = made.site.but(environment=str(tmp_path / "env"))
    choice = msgspec.structs.replace(made, site=site, variables={"RIGUP_X": value})
    (tmp_path / "env" / "bin").mkdir(parents=True)
    activate = tmp_path / "env" / "bin" / "activate"
    activate.write_text("# activate\n")
    os.symlink(shutil.which("python3"), tmp_path / "env" / "bin" / "python")
    told = next(step for step in steps(choice) if step["kind"] == "set-environment-variable")
    subprocess.run(told["commands"][0], check=True, timeout=30)
    shown = subprocess.run(
        [DASH, "-c", '. "$1"; printf %s "$RIGUP_X"', "sh", str(activate)], capture_output=True, text=True, check=True, timeout=30
    )
    assert shown.stdout == value
    subprocess.run(told["undo"][0], check=True, timeout=30)
    assert activate.read_text() == "# activate\n"


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_shellcheck_finds_nothing_in_a_script(machine, chosen, tmp_path):
    choice = chosen(machine)
    if choice.site.system == "windows":
        pytest.skip("Windows has PowerShell")
    (tmp_path / "plan.sh").write_text(rendered(choice, "script"))
    done = subprocess.run(["shellcheck", str(tmp_path / "plan.sh")], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == ""


def test_windows_gets_a_script_for_powershell(chosen):
    grammar = pytest.importorskip("tree_sitter_powershell")
    tree_sitter = pytest.importorskip("tree_sitter")
    choice = chosen("RTX 4070, driver 456.71, windows 11, python 3.12", "torch", "numpy<2,>=1.26")
    text = rendered(choice, "script")
    tree = tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(text.encode())
    assert not tree.root_node.has_error
    assert "& 'py' '-3.12' '-m' 'venv' '.venv'" in text
    assert "'numpy<2,>=1.26'" in text
    assert "sudo" not in text


def test_what_is_done_elsewhere_is_told_and_not_run(chosen):
    text = rendered(chosen("RTX 4070, driver 456.71, wsl, ubuntu 24.04, python 3.12"), "script")
    assert "On Windows: install the driver" in text
    assert not [line for line in text.splitlines() if line.startswith(("wsl.exe", "as_root wsl"))]


# -- projects --------------------------------------------------------------------------------------------


def test_uvs_table_binds_packages_to_their_index_and_knows_every_index(choice):
    tool = tomllib.loads(rendered(choice, "pyproject")).get("tool", {}).get("uv", {})
    known = {index["name"]: index["url"] for index in tool.get("index", ())}
    assert set(choice.indexes) <= set(known.values())
    assert {source["index"] for source in tool.get("sources", {}).values()} <= set(known)


def test_poetrys_table_binds_packages_to_their_index(choice):
    tool = tomllib.loads(rendered(choice, "poetry"))["tool"]["poetry"]
    known = {source["name"] for source in tool.get("source", ())}
    assert {told["source"] for told in tool["dependencies"].values() if "source" in told} <= known
    assert {source["priority"] for source in tool.get("source", ())} <= {"primary", "supplemental", "explicit"}
    assert all(set(told) <= {"version", "extras", "source"} for told in tool["dependencies"].values() if isinstance(told, dict))


def test_an_index_of_ones_own_is_the_default_one(chosen):
    site = read_profile("RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12").but(
        sources=Sources(index="https://mirror.example/simple", find_links=("/srv/wheels",))
    )
    choice = chosen("", "torch==2.7.1+cu118", "numpy", site=site)
    uv = tomllib.loads(rendered(choice, "pyproject"))["tool"]["uv"]
    assert [index["url"] for index in uv["index"] if index.get("default")] == ["https://mirror.example/simple"]
    assert uv["find-links"] == ["/srv/wheels"]
    assert "numpy" not in uv["sources"]
    poetry = tomllib.loads(rendered(choice, "poetry"))["tool"]["poetry"]
    assert [s["url"] for s in poetry["source"] if s["priority"] == "primary"] == ["https://mirror.example/simple"]


def test_two_indexes_never_share_a_name(chosen):
    site = read_profile("no gpu, debian 13, python 3.13").but(
        sources=Sources(index="https://a.example/simple", extra_indexes=("https://b.example/whl/cpu", "https://c.example/cpu"))
    )
    uv = tomllib.loads(rendered(chosen("", "torch", site=site), "pyproject"))["tool"]["uv"]
    names = [index["name"] for index in uv["index"]]
    assert len(names) == len(set(names))


def test_conda_asks_no_channel_that_has_ended_and_ends_its_list(choice):
    lines = rendered(choice, "conda").splitlines()
    channels = [line.strip("- ") for line in lines[lines.index("channels:") + 1 : lines.index("dependencies:")]]
    assert channels[-1] == "nodefaults"
    assert "pytorch" not in channels


# -- images: the words; that they build is shown in test_images -------------------------------------------


def test_an_apptainer_definition_as_it_is(chosen):
    text = rendered(chosen("Radeon 680M, ubuntu 24.04, python 3.12", "torch==2.7.1", "numpy<2,>=1.26"), "apptainer")
    assert text == (
        "Bootstrap: docker\n"
        "From: python:3.12-slim\n"
        "\n"
        "%help\n"
        "    Made by rigup plan, with torch 2.7.1+rocm6.3; the GPU's driver is the host's.\n"
        "\n"
        "%post\n"
        "    set -eu\n"
        "    export PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore\n"
        "    python -m pip install torch==2.7.1+rocm6.3 --index-url https://download.pytorch.org/whl/rocm6.3\n"
        "    python -m pip install 'numpy<2,>=1.26' torch==2.7.1+rocm6.3\n"
        "\n"
        "%environment\n"
        "    export HSA_OVERRIDE_GFX_VERSION=10.3.0\n"
        "\n"
        "%runscript\n"
        '    exec python "$@"\n'
    )


def test_a_requirement_never_becomes_more_than_one_word_of_a_command(chosen):
    choice = chosen("no gpu, ubuntu 24.04, python 3.12", "torch", "numpy<2,>=1.26")
    assert "'numpy<2,>=1.26'" in rendered(choice, "script")
    assert '"numpy<2,>=1.26"' in rendered(choice, "dockerfile")
    line = next(line for line in rendered(choice, "apptainer").splitlines() if "numpy" in line and "pip" in line)
    assert "numpy<2,>=1.26" in shlex.split(line)


def test_a_sites_own_image_is_what_a_recipe_is_built_upon():
    made = choose(Wish(packages=("torch",), manager="docker"), read_profile("no gpu, debian 12, python 3.11"))
    own = {"torch": "registry.example/torch:1", "jax": "registry.example/jax:1"}
    recipe = rendered(made, "dockerfile", own)
    assert "ARG BASE=registry.example/torch:1\n" in recipe
    assert 'RUN --mount=type=cache,target=/root/.cache/pip ["python3", "-m", "pip", "install", "torch' in recipe
    assert "apt-get" not in recipe
    assert "From: registry.example/torch:1\n" in rendered(made, "apptainer", own)
    assert "registry.example/any:2" in rendered(made, "dockerfile", {"base": "registry.example/any:2"})
    assert rendered(made, "dockerfile", {"jax": "registry.example/jax:1"}) == rendered(made, "dockerfile")
