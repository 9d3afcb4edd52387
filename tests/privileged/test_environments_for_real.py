"""Break, doctor, fix, doctor, undo, doctor: in a person's environments, with packages from a folder of wheels."""

import json
import shutil

import pytest
import wheels
from test_steps_for_real import PROFILE, around

pytestmark = [pytest.mark.podman, pytest.mark.skipif(not shutil.which("podman"), reason="podman is not installed")]
HOME = "/home/ada"


def environment(box, *requirements, name="venv"):
    """An environment that every login of the person's has active."""
    script = 'python3 -m venv "$HOME/$1" && shift && exec "$HOME/$0/bin/pip" install --quiet --no-deps "$@"'
    box.run("su", "--login", "ada", "--command", script, "--", name, name, *requirements)
    box.sh('echo ". $2/bin/activate" >> "$1"', PROFILE, f"{HOME}/{name}")


def offered(box, cause):
    """The builds that the plan would take, as wheels."""
    told = json.loads(box.rigup("fix", cause, "--json").stdout)
    for name, version in told["plan"]["packages"].items():
        local = version.partition("+")[2]
        kind = {"cuda": "12.6"} if local.startswith("cu") else {"hip": "6.4.43482"} if local.startswith("rocm") else {}
        (wheels.torch if name == "torch" else wheels.wheel)(box.wheels, *(() if name == "torch" else (name,)), version, **kind)


def test_cpu_only_torch(machine):
    box = machine("nvidia-workstation", "ubuntu", "linux-headers-generic", "nvidia-driver-550")
    wheels.torch(box.wheels, "2.6.0+cpu")
    environment(box, "torch==2.6.0+cpu")
    offered(box, "cpu-only-torch")
    around(box, "cpu-only-torch")


def test_cuda_torch_on_amd(machine):
    box = machine("amd-workstation")
    wheels.torch(box.wheels, "2.6.0+cu124", cuda="12.4")
    environment(box, "torch==2.6.0+cu124")
    offered(box, "cuda-torch-on-amd")
    around(box, "cuda-torch-on-amd")


def test_two_packages_that_overwrite_each_other(machine):
    box = machine("nvidia-workstation", "ubuntu", "linux-headers-generic", "nvidia-driver-550")
    wheels.torch(box.wheels, "2.6.0+cu124", cuda="12.4")
    for name, version in (("nvidia-nccl-cu11", "2.21.5"), ("nvidia-nccl-cu12", "2.21.5")):
        wheels.wheel(box.wheels, name, version)
    environment(box, "torch==2.6.0+cu124", "nvidia-nccl-cu11", "nvidia-nccl-cu12")
    offered(box, "pip-cuda-mix")
    around(box, "pip-cuda-mix")


def test_jupyter_kernel_other_env(machine):
    box = machine("nvidia-workstation", "ubuntu", "linux-headers-generic", "nvidia-driver-550")
    wheels.torch(box.wheels, "2.6.0+cu124", cuda="12.4")
    wheels.ipykernel(box.wheels)
    environment(box, "torch==2.6.0+cu124", name="project")
    assert "jupyter-kernel-other-env" not in box.causes()
    kernel = {"argv": ["/usr/bin/python3", "-m", "ipykernel_launcher"], "display_name": "project", "language": "python"}
    box.write(f"{HOME}/.local/share/jupyter/kernels/project/kernel.json", json.dumps(kernel))
    box.run("chown", "-R", "ada:ada", f"{HOME}/.local")
    around(box, "jupyter-kernel-other-env")


def test_library_clash_ld_library_path(machine):
    """A program fails for a library of a module that LD_LIBRARY_PATH puts before its own."""
    box = machine("nvidia-workstation", "ubuntu", "linux-headers-generic", "nvidia-driver-550")
    box.write("/apps/cuda/11.8/lib64/libcudnn.so.8.9.6", "")
    box.write("/usr/local/bin/train", _TRAIN)
    box.run("chmod", "755", "/usr/local/bin/train")
    assert "library-clash-ld-library-path" not in box.causes("train")
    box.sh('echo "export LD_LIBRARY_PATH=/apps/cuda/11.8/lib64" >> "$1"', PROFILE)
    around(box, "library-clash-ld-library-path", ("train",))


_TRAIN = """#!/bin/sh
case ":$LD_LIBRARY_PATH:" in *:/apps/cuda/11.8/lib64:*)
    echo "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime version (8, 9, 6). PyTorch already comes with bundled cuDNN. One option to resolving this error is to ensure PyTorch can find the bundled cuDNN. Looks like your LD_LIBRARY_PATH contains incompatible version of cudnn. Please either remove it from the path or install cudnn (9, 1, 0)" >&2
    exit 1;;
esac
exit 0
"""


def test_torch_torchvision_mismatch(machine):
    box = machine("nvidia-workstation", "ubuntu", "linux-headers-generic", "nvidia-driver-550")
    wheels.torch(box.wheels, "2.6.0+cu124", cuda="12.4")
    wheels.wheel(box.wheels, "torchvision", "0.15.2+cu118")
    environment(box, "torch==2.6.0+cu124", "torchvision==0.15.2+cu118")
    offered(box, "torch-torchvision-mismatch")
    around(box, "torch-torchvision-mismatch")
