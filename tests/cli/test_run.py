"""`rigup run`: the program gets the environment's variables, and its end is its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rigup.plan.environments import record, staged_swap
from tiny_environments import no_indexes

__all__ = ["no_indexes"]


@pytest.fixture
def env(made, tmp_path):
    """An environment of a test's own, with a record."""
    path = tmp_path / "my env"
    staged_swap.clone(made, path)
    record.write(path, record.Record(variables={"ONEAPI_DEVICE_SELECTOR": "level_zero:*;opencl:gpu", "ROCR_VISIBLE_DEVICES": "0"}))
    return path


def rigup(*words, cwd=None, **variables):
    told = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), **variables}
    for name in ("VIRTUAL_ENV", "ROCR_VISIBLE_DEVICES"):
        if name not in variables:
            told.pop(name, None)
    return subprocess.run(
        [sys.executable, "-m", "rigup", "run", *words], capture_output=True, text=True, timeout=60, check=False, env=told, cwd=cwd
    )


def test_a_program_of_the_environment_runs_with_its_variables(env):
    show = "import os, sys; print(sys.prefix, os.environ['ONEAPI_DEVICE_SELECTOR'], os.environ['VIRTUAL_ENV'], sep='|')"
    done = rigup("--env", str(env), "python", "-c", show)
    assert done.stdout == f"{env}|level_zero:*;opencl:gpu|{env}\n"
    assert rigup("--env", str(env), "--", "stone").stdout == "stone 1.0\n"


@pytest.mark.parametrize("status", [0, 1, 2, 77])
def test_the_exit_status_is_the_programs(env, status):
    assert rigup("--env", str(env), "--", "sh", "-c", f"exit {status}").returncode == status


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_signal_reaches_the_program_itself(env):
    command = [
        sys.executable,
        "-m",
        "rigup",
        "run",
        "--env",
        str(env),
        "--",
        "sh",
        "-c",
        "trap 'exit 9' TERM; echo $$; while :; do sleep 0.05; done",
    ]
    told = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=told)
    assert int(child.stdout.readline()) == child.pid
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=60) == 9
    child.stdout.close()


def test_a_schedulers_devices_and_the_persons_own_setting_stay(env):
    show = "import os; print(os.environ['ROCR_VISIBLE_DEVICES'], os.environ['ONEAPI_DEVICE_SELECTOR'])"
    done = rigup("--env", str(env), "--set", "ONEAPI_DEVICE_SELECTOR=mine", "--", "python", "-c", show, ROCR_VISIBLE_DEVICES="3")
    assert done.stdout == "3 mine\n"


def test_options_behind_the_program_are_its_own(env):
    done = rigup("--env", str(env), "python", "-c", "import sys; print(sys.argv[1:])", "--env", "x", "--help", "--", "-v")
    assert done.stdout == "['--env', 'x', '--help', '--', '-v']\n"


def test_what_would_be_set_is_shown_with_reasons(env):
    told = json.loads(rigup("--env", str(env), "--json").stdout)
    assert {one["name"]: one["value"] for one in told["variables"]}["ONEAPI_DEVICE_SELECTOR"] == "level_zero:*;opencl:gpu"
    assert told["path"] == [str(env / "bin")]
    assert "ONEAPI_DEVICE_SELECTOR=level_zero:*;opencl:gpu" in rigup("--env", str(env), "--show").stdout


def test_without_an_environment_a_program_runs_all_the_same(tmp_path):
    assert rigup("--", "echo", "x", cwd=tmp_path).stdout == "x\n"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--env", "nosuch", "--", "true"], 2, "nosuch"),
        ([], 2, "COMMAND"),
        (["--set", "1X=a", "--", "true"], 2, "NAME=VALUE"),
        (["--set", "X", "--", "true"], 2, "NAME=VALUE"),
        (["--", "no-such-program-here"], 127, "not found"),
        (["--unit", "a/b", "--", "true"], 2, "a/b"),
        (["--unit", "x", "--", "no-such-program-here"], 1, "not found"),
    ],
)
def test_what_cannot_be_run_is_said(words, status, said, tmp_path):
    done = rigup(*words, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr


def test_a_unit_runs_the_environments_program(env, tmp_path):
    text = rigup("--env", str(env), "--unit", "trial", "--", "stone", "50%", "$HOME", cwd=tmp_path).stdout
    assert f'ExecStart="{env}/bin/stone" "50%%" "$$HOME"' in text
    assert 'Environment="ONEAPI_DEVICE_SELECTOR=level_zero:*;opencl:gpu"' in text
    assert f'Environment="PATH={env}/bin:' in text
    drop_in = rigup("--env", str(env), "--unit", "trial").stdout
    assert drop_in.startswith("[Service]\nEnvironment=")
    assert "ExecStart" not in drop_in


def test_a_hostile_record_sets_nothing_that_loads_code(env, tmp_path):
    (env / "rigup.json").write_text(
        json.dumps({"schema": "rigup.environment/1", "variables": {"LD_PRELOAD": "/x.so", "PATH": "/x", "OMP_NUM_THREADS": "3"}})
    )
    os.chmod(env / "rigup.json", 0o644)
    done = rigup(
        "--env",
        str(env),
        "--",
        "python",
        "-c",
        "import os; print(os.environ.get('LD_PRELOAD'), os.environ['OMP_NUM_THREADS'], os.environ['PATH'][:2])",
    )
    assert done.stdout == f"None 3 {str(env)[:2]}\n"


def test_a_variable_of_the_command_line_is_shown_over_the_environments(env):
    told = json.loads(rigup("--env", str(env), "--set", "ONEAPI_DEVICE_SELECTOR=mine", "--set", "NEW=1", "--json").stdout)
    kept = [one for one in told["variables"] if one["name"] in ("ONEAPI_DEVICE_SELECTOR", "NEW")]
    assert [(one["name"], one["value"]) for one in kept] == [("ONEAPI_DEVICE_SELECTOR", "mine"), ("NEW", "1")]
    assert "ONEAPI_DEVICE_SELECTOR=mine" in rigup("--env", str(env), "--set", "ONEAPI_DEVICE_SELECTOR=mine", "--show").stdout
