"""What commands answer, run as a person runs them, is of their schemas."""

import contextlib
import json
import venv

import pytest

from answers import read
from packs import cases, machine_folder
from rigup.cli import run
from rigup.machine import sources
from rigup.plan.environments import record, staged_swap
from rigup.schemas.env import EnvironmentHistory, EnvironmentList, EnvironmentShown, Leftovers
from rigup.schemas.fix import FixDryRun, Mending, NothingMended
from rigup.schemas.knowledge import Found, Tables
from tiny_environments import no_indexes

__all__ = ["no_indexes"]

PROFILES = [
    "RTX 4070, driver none, ubuntu 24.04, python 3.12",
    "RTX 4070, driver 456.71, wsl, ubuntu 24.04, python 3.12",
    "RX 7900 XTX + Radeon 680M, ubuntu 24.04, python 3.12",
    "RX 6600, windows 11, python 3.11",
    "Apple M4, macos 15.6, python 3.13",
    "no gpu, debian 13, python 3.13",
    "TITAN Xp + RTX 3080, driver 580.95.05, ubuntu 22.04, python 3.12",
    "a toaster",
]
DENIED = "import os\nraise ImportError('libcudart.so.12: cannot open shared object file: No such file or directory')\n"


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_EXE", "MAMBA_ROOT_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def asked(capsys):
    """What a command answers, as its type."""

    def ask(*words):
        with contextlib.suppress(SystemExit):
            run([*words, "--json"])
        return read(capsys.readouterr().out)

    return ask


@pytest.fixture
def live(monkeypatch):
    """This machine is the one of a folder."""
    opened = sources.open_source

    def become(path):
        monkeypatch.setattr(sources, "open_source", lambda given: opened(str(path) if given is None else given))

    return become


# -- plan and fix ------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_plan(asked, profile):
    answer = asked("plan", "torch", "--for", profile, "--link", "50Mbit")
    assert answer.verdict in ("possible", "impossible")


def test_plan_for_containers_and_what_cannot_be(asked):
    assert asked("plan", "torch", "--for", PROFILES[0], "--in", "docker").environment.image
    assert asked("plan", "torch==99.0", "--for", PROFILES[0]).verdict == "impossible"
    assert asked("plan", "jax", "--for", PROFILES[0], "--in", "conda").environment.manager == "conda"


@pytest.mark.parametrize("name", ["cpu-only-torch/break-nvidia-workstation", "kernel-module-not-built/break-nvidia-workstation"])
def test_fix_of_another_machine(asked, tmp_path, name):
    answer = asked("fix", name.partition("/")[0], "--from", cases()[name].unpack(tmp_path))
    assert isinstance(answer, Mending)
    assert all(fix.steps[0].state for finding in answer.findings for fix in finding.fixes)


def test_fix_here_that_is_foreseen_or_not_rigups_to_do(asked, live, tmp_path):
    live(cases()["kernel-module-not-built/break-nvidia-workstation"].unpack(tmp_path))
    assert isinstance(asked("fix", "kernel-module-not-built", "--dry-run"), FixDryRun)
    assert isinstance(asked("fix", "--all-safe", "--dry-run"), NothingMended)


# -- environments ------------------------------------------------------------------------------------


def test_environments(asked, made, tmp_path):
    environment = tmp_path / "work" / ".venv"
    staged_swap.clone(made, environment)
    record.write(environment, record.Record(wish=("stone",), facts={"nvidia_driver": "1.2.3", "system": "beos"}))
    (environment / "conda-meta").mkdir()
    (environment / "conda-meta" / "history").write_text(
        "==> 2026-01-02 03:04:05 <==\n# cmd: conda install stone\n+defaults/noarch::stone-1.0-0\n"
    )
    answer = asked("env", "list")
    assert isinstance(answer, EnvironmentList)
    assert answer.environments
    assert isinstance(asked("env", "list", "--no-size"), EnvironmentList)
    shown = asked("env", "show", str(environment))
    assert isinstance(shown, EnvironmentShown)
    assert shown.differences
    happened = asked("env", "history", str(environment))
    assert isinstance(happened, EnvironmentHistory)
    assert happened.history[0].added
    assert isinstance(asked("env", "clean", "--dry-run"), Leftovers)


def test_run(asked, made, tmp_path):
    environment = tmp_path / "env"
    staged_swap.clone(made, environment)
    record.write(environment, record.Record(variables={"ONEAPI_DEVICE_SELECTOR": "level_zero:*", "ROCR_VISIBLE_DEVICES": "0"}))
    answer = asked("run", "--env", str(environment), "--set", "A=b")
    assert {"A", "ONEAPI_DEVICE_SELECTOR"} <= {variable.name for variable in answer.variables}
    assert asked("run", "--no-env").environment is None


@pytest.mark.packages
def test_lock_and_bundle(asked, made, wheels, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    assert asked("lock", str(made)).packages["stone"] == "1.0"
    assert asked("lock", str(made), "-o", "-").path is None
    assert asked("bundle", str(made), "-o", "env.tar").bytes


# -- verify and bench --------------------------------------------------------------------------------


def test_verify_of_nothing_and_of_a_torch_that_cannot_be_imported(asked, tmp_path):
    environment = tmp_path / "dl"
    venv.create(environment, with_pip=False)
    assert asked("verify", str(environment)).verdict == "nothing-to-verify"
    (packages,) = (environment / "lib").glob("*/site-packages")
    (packages / "torch").mkdir()
    (packages / "torch" / "__init__.py").write_text(DENIED)
    (packages / "torch-2.6.0.dist-info").mkdir()
    (packages / "torch-2.6.0.dist-info" / "METADATA").write_text("Name: torch\nVersion: 2.6.0\n")
    answer = asked("verify", str(environment))
    assert (answer.verdict, answer.frameworks[0].imported) == ("failed", False)
    assert answer.diagnosis


def test_bench_list(asked):
    """The measurements themselves are read by their type where they are made, in `tests/bench`; verifications likewise."""
    assert asked("bench", "--list").measured


@pytest.mark.parametrize(
    ("name", "machine"),
    [
        ("llama-3 8b q4", "RTX 4090, ram 64GB"),
        ("llama-3 70b q4", "RTX 4090, ram 16GB"),
        ("qwen3 30b a3b", "Apple M4 Max, ram 64GB"),
        ("qwen3 8b", "no gpu, ram 32GB"),
    ],
)
def test_fit(asked, name, machine):
    answer = asked("fit", name, "--on", machine)
    assert answer.memory.total == sum(pool.total for pool in answer.devices)


def test_fit_list(asked):
    assert asked("fit", "--list", "--on", "RTX 4090, ram 64GB").models
    assert asked("fit", "qwen3 8b", "--on", "2x RTX 4090, ram 64GB", "--engine", "vllm").answers.sequences
    assert asked("fit", "qwen3 8b", "--on", "RTX 4090, ram 64GB", "--engine", "ollama").start.environment
    assert asked("fit", "qwen3 8b", "--on", "2x RTX 4090, ram 64GB", "--train", "full").changes


def test_a_model_that_makes_pictures_is_answered(asked, tmp_path):
    body = b'{"double_blocks.0.img_attn.qkv.weight": {"dtype": "F16", "shape": [4], "data_offsets": [0, 8]}}'
    file = tmp_path / "flux.safetensors"
    file.write_bytes(len(body).to_bytes(8, "little") + body + bytes(8))
    assert asked("fit", str(file), "--on", "RTX 4090, ram 64GB").ways


# -- capture, explain, knowledge ---------------------------------------------------------------------


def test_capture(asked, tmp_path):
    root = tmp_path / "machine"
    (root / "dev").mkdir(parents=True)
    environment = {"PATH": "/usr/bin", "DISH": "lentils-and-onions", "HF_TOKEN": "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"}
    (root / "who.json").write_text(json.dumps({"user": "zeno", "uid": 1000, "groups": ["zeno"], "environment": environment}))
    answer = asked("capture", "--from", str(root), "--list")
    assert answer.archive is None
    assert answer.doubtful
    assert asked("capture", "--from", str(machine_folder("nvidia-workstation")), "-o", "a.tar.gz", "--yes").bytes


@pytest.mark.parametrize("asking", ["", "cpu-only-torch", "the card is gone after suspend", "zzqx"])
def test_explain(asked, asking):
    answer = asked("explain", *asking.split())
    assert bool(answer.causes or answer.near) == (asking != "zzqx")


def test_knowledge(asked):
    assert isinstance(asked("knowledge"), Tables)
    assert isinstance(asked("knowledge", "RTX", "3090", "--limit", "3"), Found)
    assert not asked("knowledge", "nosuchthing").hits
