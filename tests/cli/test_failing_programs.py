"""Real programs that fail, under `rigup doctor --`: each leaves its own status, and its cause is named.

Those with torch need an interpreter that has it: this one, or the one that RIGUP_TORCH_PYTHON names.
"""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest
from programs import DOCTOR, LIMIT, Terminal, run

from rigup.machine.witness import _SLACK, witnessed
from rigup.workflows.supervision import supervised

POSIX = pytest.mark.skipif(os.name != "posix", reason="limits and signals of POSIX systems")
HERE = Path(__file__).parent
RANKS = 4


@pytest.fixture(scope="module")
def torch():
    """An interpreter that has torch."""
    named = os.environ.get("RIGUP_TORCH_PYTHON")
    if named is None and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    return named or sys.executable


def diagnosed(*program, **more):
    """The finished process, and the answer as data."""
    done = run(*program, options=["--json"], **more)
    assert done.stdout, (done.returncode, done.stderr[-3000:])
    return done, json.loads(done.stdout)


def first(answer):
    return next(finding for finding in answer["findings"] if finding["severity"] != "note")


def script(folder, text, name="train.py"):
    path = folder / name
    path.write_text(text)
    return path


# -- torch -------------------------------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.parametrize(
    "line",
    [
        "torch.nn.Linear(4, 2, device='meta')(torch.ones(3, 4))",
        "torch.ones(2) + torch.ones(2, device='meta')",
        "torch.nn.functional.cross_entropy(torch.ones(2, 3, device='meta'), torch.tensor([0, 1]))",
    ],
)
def test_tensors_on_two_devices(torch, tmp_path, line):
    done, answer = diagnosed(torch, script(tmp_path, "import torch\n" + line + "\n"))
    assert done.returncode == 1
    assert "is not on the expected device" in done.stderr
    found = first(answer)
    assert found["cause"] == "tensors-on-different-devices"
    assert "meta" in found["title"]
    assert "cpu" in found["title"]


@pytest.mark.torch
def test_the_gpu_is_asked_of_a_build_without_one(torch, tmp_path):
    done, answer = diagnosed(torch, script(tmp_path, "import torch\nprint(torch.ones(2).cuda())\n"))
    assert done.returncode == 1
    told = done.stderr
    if "Torch not compiled with CUDA enabled" in told:
        assert first(answer)["cause"] == "cpu-only-torch"
    else:  # a build for CUDA on a machine without a driver
        assert "Found no NVIDIA driver" in told
        assert first(answer)["cause"] in ("no-gpu-present", "nvidia-driver-missing", "container-without-gpu")


@POSIX
@pytest.mark.torch
def test_torch_is_refused_main_memory(torch, tmp_path):
    """A real limit, of the process's addresses."""
    program = script(tmp_path, "import torch\ntorch.empty(64 << 30, dtype=torch.uint8)\n")
    done, answer = diagnosed("sh", "-c", 'ulimit -v 16000000; exec "$@"', "sh", torch, program)
    assert done.returncode == 1
    assert first(answer)["cause"] == "host-memory-exhausted"
    assert str(64 << 30) in first(answer)["title"]


@pytest.mark.torch
def test_the_report_names_the_torch_that_the_program_had(torch, tmp_path):
    """The environment of the program, not the one of the tests."""
    _done, answer = diagnosed(torch, script(tmp_path, "import torch\ntorch.ones(2).cuda()\n"))
    prefix = str(Path(torch).parent.parent)
    assert answer["program"]["interpreter"] == torch
    assert prefix in [found["env"] for found in answer["machine"]["torches"]]


# -- ranks -------------------------------------------------------------------------------------------

RANK = """
import ctypes, datetime, os, signal
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=30))
if dist.get_rank() == 2:
    {fault}
for _count in range(3):
    dist.all_reduce(torch.ones(1))
print("done")
"""
FAULTS = {
    "library": ("ctypes.CDLL('libcudnn.so.8')", "cuda-runtime-library-missing", "libcudnn.so.8"),
    "devices": ("torch.ones(2) + torch.ones(2, device='meta')", "tensors-on-different-devices", "expected device"),
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", None, "Killed"),
}


@POSIX
@pytest.mark.torch
@pytest.mark.parametrize("fault", FAULTS)
def test_of_four_ranks_the_one_that_failed_of_itself_is_named(torch, tmp_path, fault):
    """Started as srun starts them; the other three lose their peer and say so at length."""
    line, cause, word = FAULTS[fault]
    rank = script(tmp_path, RANK.format(fault=line), "rank.py")
    done, answer = diagnosed(sys.executable, HERE / "launch_ranks.py", RANKS, torch, rank, timeout=180)
    assert done.returncode == 1
    assert done.stderr.count("by peer") >= 1
    assert answer["program"]["rank"]["rank"] == 2
    assert word in answer["program"]["rank"]["said"]
    if cause:
        assert first(answer)["cause"] == cause
        assert answer["program"]["interpreter"] == torch


# -- without torch -----------------------------------------------------------------------------------


@POSIX
def test_a_library_that_is_not_there(tmp_path):
    done, answer = diagnosed(sys.executable, script(tmp_path, "import ctypes\nctypes.CDLL('libcudnn.so.9')\n"))
    if done.returncode == 0:
        pytest.skip("this machine has libcudnn.so.9 where the loader finds it")
    assert done.returncode == 1
    assert first(answer)["cause"] == "cuda-runtime-library-missing"
    assert "libcudnn.so.9" in first(answer)["title"]


@POSIX
@pytest.mark.skipif(not shutil.which("cc"), reason="an extension is compiled")
def test_an_extension_whose_library_is_not_there(tmp_path):
    """A real extension, linked against a library that is gone when it is imported."""
    (tmp_path / "lib.c").write_text("int cudnnGetVersion(void) { return 9; }\n")
    (tmp_path / "ext.c").write_text("int cudnnGetVersion(void); void *PyInit_ext(void) { cudnnGetVersion(); return 0; }\n")
    build = ["cc", "-shared", "-fPIC"]
    subprocess.run([*build, "-Wl,-soname,libcudnn.so.9", "-o", tmp_path / "libcudnn.so.9", tmp_path / "lib.c"], check=True)
    subprocess.run(
        [*build, "-o", tmp_path / "ext.so", tmp_path / "ext.c", tmp_path / "libcudnn.so.9", "-Wl,--disable-new-dtags"], check=True
    )
    (tmp_path / "libcudnn.so.9").unlink()
    done, answer = diagnosed(sys.executable, script(tmp_path, "import ext\n"))
    assert "ImportError" in done.stderr
    assert done.returncode == 1
    assert first(answer)["cause"] == "cuda-runtime-library-missing"


@POSIX
def test_python_is_refused_main_memory(tmp_path):
    """A real limit, of the process's addresses; nothing is killed, and nothing of the sort is said."""
    program = script(tmp_path, "held = bytearray(8 << 30)\n")
    done, answer = diagnosed("sh", "-c", 'ulimit -v 2000000; exec "$@"', "sh", sys.executable, program)
    assert done.returncode == 1
    assert first(answer)["cause"] == "host-memory-exhausted"
    assert "killed" not in first(answer)["title"]


HOG = "held = []\nwhile True:\n    held.append(bytearray(16 << 20))\n"


@POSIX
def test_a_kill_for_memory_with_a_simulated_kernel_log(tmp_path):
    """The kill is real, the kernel's log is not: a `dmesg` of ours says what the kernel would."""
    program = script(
        tmp_path,
        f"import os, signal, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(0.5)\nos.kill(os.getpid(), signal.SIGKILL)\n",
    )
    tool = tmp_path / "dmesg"
    said = "[9999999.000000] Out of memory: Killed process $(cat " + str(tmp_path / "pid") + ") (python3) total-vm:9kB"
    tool.write_text(f'#!/bin/sh\necho "{said}"\n')
    tool.chmod(0o755)
    done, answer = diagnosed(sys.executable, program, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == -signal.SIGKILL
    assert answer["program"]["signal"] == signal.SIGKILL
    assert first(answer)["cause"] == "host-memory-exhausted"


@POSIX
def test_a_kill_by_somebody_else_is_no_want_of_memory():
    time.sleep(_SLACK + 0.5)  # a real kill of another test may be told of what died beside it
    done, answer = diagnosed("sh", "-c", "kill -KILL $$")
    assert done.returncode == -signal.SIGKILL
    loud = [finding for finding in answer["findings"] if finding["severity"] != "note"]
    assert "host-memory-exhausted" not in [finding["cause"] for finding in loud]


def _scope():
    """A scope of systemd with a limit, where the person may make one."""
    argv = ["systemd-run", "--user", "--scope", "--quiet", "-p", "MemoryMax=300M", "-p", "MemorySwapMax=0"]
    try:
        made = subprocess.run([*argv, "true"], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return argv if made.returncode == 0 else None


@POSIX
def test_a_kill_for_memory_in_a_real_control_group(tmp_path):
    if (limited := _scope()) is None:
        pytest.skip("no control group with a memory limit can be made here: systemd-run --user does not work")
    argv = [*limited, *DOCTOR, "--json", "--", sys.executable, str(script(tmp_path, HOG))]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    assert first(json.loads(done.stdout))["cause"] == "host-memory-exhausted"


# -- the environment that it really ran in -----------------------------------------------------------


@pytest.fixture
def two_environments(tmp_path):
    """The shell has one active; programs are run with the other."""
    paths = tmp_path / "active", tmp_path / "other"
    for path in paths:
        venv.create(path, with_pip=False, symlinks=True)
    return paths


def shell_of(active):
    return {**os.environ, "VIRTUAL_ENV": str(active), "PATH": f"{active}/bin:{os.environ['PATH']}"}


@POSIX
def test_a_module_is_missing_in_another_environment_than_the_shells(two_environments, tmp_path):
    active, other = two_environments
    program = script(tmp_path, "import module_that_nobody_has\n")
    done, answer = diagnosed(other / "bin" / "python", program, env=shell_of(active))
    assert done.returncode == 1
    assert answer["program"]["interpreter"] == str(other / "bin" / "python")
    assert answer["program"]["environment"] == str(active)
    assert str(other) in [env["prefix"] for env in answer["machine"]["python_envs"]]
    told = " ".join(run(other / "bin" / "python", program, env=shell_of(active)).stderr.split())
    assert f"It ran with {other}/bin/python, which is not of the active environment {active}" in told


@POSIX
def test_a_notebook_server_of_one_environment_has_its_kernel_in_another(two_environments, tmp_path):
    """As jupyter does: the server starts the interpreter that the kernel's description names."""
    active, other = two_environments
    kernel = script(tmp_path, "import time\ntime.sleep(0.8)\nimport module_that_nobody_has\n", "kernel.py")
    spec = script(tmp_path, json.dumps({"argv": [str(other / "bin" / "python"), str(kernel)]}), "kernel.json")
    server = script(
        tmp_path,
        f"import json, subprocess, sys\nargv = json.load(open({str(spec)!r}))['argv']\nsys.exit(subprocess.run(argv).returncode)\n",
        "server.py",
    )
    done, answer = diagnosed(active / "bin" / "python", server, env=shell_of(active))
    assert done.returncode == 1
    assert answer["program"]["interpreter"] == str(other / "bin" / "python")
    assert "ModuleNotFoundError" in done.stderr


@POSIX
def test_variables_of_the_program_are_judged_not_those_of_the_shell(tmp_path):
    """`env NAME=value program`: the shell never had it."""
    program = script(tmp_path, "import time\ntime.sleep(0.6)\nraise SystemExit(1)\n")
    ended = supervised(("env", "CUDA_VISIBLE_DEVICES=7", sys.executable, str(program)))
    assert "CUDA_VISIBLE_DEVICES=7" in witnessed(ended)[0].host.variables().body.splitlines()
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


@POSIX
def test_on_a_terminal_a_program_that_died_is_diagnosed_as_well(tmp_path):
    program = script(tmp_path, "import ctypes\nctypes.CDLL('libcudnn.so.9.not.there')\n")
    told = Terminal([*DOCTOR, "--", sys.executable, str(program)])
    try:
        told.until(rb"cuda-runtime-library-missing|Nothing that rigup knows")
        assert told.finish() == 1
    finally:
        told.close()
