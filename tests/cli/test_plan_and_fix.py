"""`rigup plan` and `rigup fix` as a person calls them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rigup.cli import main
from rigup.cli.layout import columns
from rigup.schemas.shared import Fix, FixCheck, Step

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PROFILES = [
    "RTX 4070, driver none, ubuntu 24.04, python 3.12",
    "GTX 1080 Ti, driver 450.80, rocky 9.4, python 3.11",
    "RTX 4070, driver 456.71, wsl, ubuntu 24.04, python 3.12",
    "RTX 5090, driver 580.95.05, windows 11, python 3.12",
    "RX 7900 XTX + Radeon 680M, ubuntu 24.04, python 3.12",
    "RX 6600, windows 11, python 3.11",
    "Apple M4, macos 15.6, python 3.13",
    "Arc A770, ubuntu 24.04, python 3.12",
    "no gpu, debian 13, python 3.13",
    "TITAN Xp + RTX 3080, driver 580.95.05, ubuntu 22.04, python 3.12",
]


def run(*argv):
    return CliRunner().invoke(main, argv, standalone_mode=False)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("explained", [(), ("--explain",)], ids=["short", "explained"])
def test_a_report_fits_a_terminal_but_for_its_commands(profile, explained, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("plan", "--for", profile, "--link", "50Mbit", *explained).output
    told = json.loads(run("plan", "--for", profile, "--json").output)
    lines = shown.splitlines()
    wide = [line for line in lines if columns(line) > 80]
    words = [word for step in told["steps"] for argv in step["commands"] for word in argv]
    assert all(any(word in line for word in words) for line in wide), wide
    assert "None" not in shown
    assert "{" not in shown.replace("{branch", "")
    assert told["cost"]["download_bytes"] == 0 or " to download" in shown


def test_a_speed_that_means_nothing_is_refused():
    shown = CliRunner().invoke(main, ["plan", "--link", "fast", "--for", PROFILES[0]])
    assert shown.exit_code == 2
    assert "50Mbit" in shown.output


def test_explaining_tells_why_each_step_is_taken():
    profile = "RTX 4070, driver none, rocky 9.4, python 3.12"
    shown = run("plan", "--for", profile, "--explain").output
    assert "A newer branch may no longer drive these cards" in shown
    assert "A newer branch may no longer drive these cards" not in run("plan", "--for", profile).output


CPU_BUILD = """\
PyTorch version: 2.5.1+cpu
Is debug build: False
CUDA used to build PyTorch: None
ROCM used to build PyTorch: N/A

OS: Ubuntu 22.04.5 LTS (x86_64)
Libc version: glibc-2.35
Python version: 3.11.9 (main, Apr  6 2024, 17:59:24) [GCC 11.4.0] (64-bit runtime)
Is CUDA available: False
GPU models and configuration: GPU 0: NVIDIA GeForce RTX 3060
Nvidia driver version: 550.54.15
"""


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.txt"
    path.write_text(CPU_BUILD)
    return str(path)


def test_a_finding_about_the_stack_is_mended_as_a_plan_would(report):
    shown = run("fix", "cpu-only-torch", "--from", report, "--json")
    told = json.loads(shown.output)
    assert told["schema"] == "rigup.fix/1"
    assert [finding["cause"] for finding in told["findings"]] == ["cpu-only-torch"]
    assert told["plan"]["devices"][0]["served"]
    named = told["findings"][0]["fixes"][0]["steps"][-1]["params"]["torch"]
    planned, _, local = told["plan"]["packages"]["torch"].partition("+")
    assert planned == named
    assert local != "cpu"
    assert "This machine gets torch" in run("fix", "cpu-only-torch", "--from", report).output


def test_what_the_machine_does_not_show_is_not_mended(report):
    shown = CliRunner().invoke(main, ["fix", "shm-too-small", "--from", report], standalone_mode=False)
    assert shown.return_value == 1
    assert "is not found there" in shown.output


def test_a_cause_that_there_is_not_is_answered_with_its_neighbours(report):
    shown = CliRunner().invoke(main, ["fix", "cpu-only-torche", "--from", report])
    assert shown.exit_code == 2
    assert "cpu-only-torch" in shown.output


def test_a_finding_beside_the_stack_shows_the_doctors_own_steps_with_their_state(tmp_path):
    (tmp_path / "said.txt").write_text(
        "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Bus error. It is possible that "
        "dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"
    )
    shown = run("fix", "shm-too-small", "--from", str(tmp_path), "--json")
    told = json.loads(shown.output)
    assert told["findings"], shown.output
    assert told["plan"] is None
    assert all(step["state"] == "needed" for fix in told["findings"][0]["fixes"] for step in fix["steps"])


def test_the_doctors_driver_step_is_spelt_out_for_the_distribution():
    from rigup.plan.mend import mended
    from rigup.stack.profile import read_profile
    from rigup.steps import make

    asked = make("install-driver", {"vendor": "nvidia", "branch": "580"})
    fix = Fix(title="", steps=[asked], check=FixCheck(title="", commands=[], where="here"))
    told = mended(fix, read_profile("RTX 4070, driver none, rocky 9, no root"))
    assert [step.kind for step in told.steps][1:3] == ["install-driver-packages", "keep-branch"]
    by_name = mended(fix, read_profile("RTX 4070, driver none, ubuntu 24.04, no root"))  # there packages bear their branch in their names
    assert "keep-branch" not in [step.kind for step in by_name.steps]
    assert {step.state for step in told.steps} == {"blocked"}
    kept = mended(fix, read_profile("RTX 4070, driver none"))
    assert [step.kind for step in kept.steps] == ["install-driver"]


@pytest.mark.parametrize(("word", "status"), [("abc", 2), ("3", 2), ("3.12.1.4", 2), ("3.12", 0), ("3.13.1", 0)])
def test_what_is_no_version_of_python_is_refused(word, status):
    shown = CliRunner().invoke(main, ["plan", "--python", word, "--for", "no gpu, debian 13, python 3.13"])
    assert (shown.exit_code, "for instance 3.12" in shown.output) == (status, status == 2)


@pytest.mark.parametrize(("count", "shown"), [(40, 40), (41, 6), (200, 6)])
def test_of_a_command_that_fills_more_than_a_screen_the_first_packages_are_shown(count, shown):
    from rigup.cli.plan_report import steps_text

    argv = ["python", "-m", "pip", "install", *(f"one{number}==1.{number}" for number in range(count)), "--no-deps"]
    step = Step(
        kind="install-into-environment",
        id="",
        params={},
        title="install",
        because="",
        state="needed",
        where="here",
        root=False,
        network=True,
        restart=False,
        tag="safe",
        commands=(tuple(argv),),
        undo=None,
        undo_because="",
        writes=(),
    )
    told = "\n".join(steps_text([step]))
    assert told.count("==") == shown
    assert ("…" in told, "--as script" in told) == (count > 40, count > 40)
    assert "--no-deps" in told


def test_fix_without_a_cause_lists_what_can_be_mended_and_how():
    told = CliRunner().invoke(main, ["fix", "--from", str(EXAMPLES / "cpu-build.txt")], standalone_mode=False)
    assert "rigup fix cpu-only-torch --from" in told.output
    assert "--index-url" in told.output
    assert told.return_value == 1


def test_fix_without_a_cause_says_so_where_nothing_is_wrong():
    told = CliRunner().invoke(main, ["fix", "--from", str(EXAMPLES / "healthy.txt")], standalone_mode=False)
    assert told.return_value == 0
    assert "nothing" in told.output
