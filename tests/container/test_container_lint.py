"""Files that describe containers: each rule on a file that breaks it and on a neighbour that does not."""

import pytest

from rigup.container.asked import ContainerError
from rigup.container.lint.check import lint, mended
from rigup.container.lint.recipe import commands, dockerfile
from rigup.stack.profile import read_profile

TORCH = "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime"
ROCM = "rocm/pytorch:rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0"
EXTENSION = {"ext/setup.py": "from torch.utils.cpp_extension import CUDAExtension\n"}


def found(text, name="Dockerfile", machine=None, **beside):
    """Causes by line."""
    files = {key.replace("__", "/"): value for key, value in beside.items()} | (EXTENSION if "ext" in text else {})
    site = read_profile(machine) if machine else None
    return [(finding.cause, finding.line[0]) for finding in lint(name, text, lambda path: files.get(path.removeprefix("./"), ""), site)]


def service(*lines, image=TORCH):
    return "services:\n  a:\n    image: " + image + "\n" + "".join(f"    {line}\n" for line in lines)


WRONG = [
    ("pip-externally-managed", 2, "FROM ubuntu:24.04\nRUN pip3 install --no-cache-dir numpy\n"),
    ("pip-externally-managed", 2, "FROM pytorch/pytorch:2.12.0-cuda13.0-cudnn9-runtime\nRUN pip install --no-cache-dir einops\n"),
    ("image-tag-does-not-exist", 1, "FROM pytorch/pytorch:2.7.1-cuda12.1-cudnn9-runtime\n"),
    ("image-tag-does-not-exist", 1, "FROM nvidia/cuda:latest\n"),
    ("arg-lost-after-from", 3, "ARG NAME=x\nFROM python:3.12-slim\nRUN echo ${NAME}\n"),
    ("build-stage-needs-gpu", 2, "FROM python:3.12-slim\nRUN <<EOF\nnvidia-smi\nEOF\n"),
    (
        "driver-installed-in-image",
        2,
        "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y nvidia-driver-550 && rm -rf /var/lib/apt/lists/*\n",
    ),
    ("conda-activate-in-run", 2, "FROM continuumio/miniconda3:24.11.1-0\nRUN conda activate x && python -V\n"),
    ("torch-reinstalled-over-base", 2, f"FROM {TORCH}\nRUN pip install --no-cache-dir -U torch\n"),
    ("torch-reinstalled-over-base", 2, "FROM nvcr.io/nvidia/pytorch:25.06-py3\nRUN pip install --no-cache-dir 'torch>=2.8'\n"),
    ("cuda-torch-on-amd", 2, f"FROM {ROCM}\nRUN pip install --no-cache-dir torch==2.9.1\n"),
    (
        "gpu-arch-not-set-at-build",
        3,
        "FROM pytorch/pytorch:2.8.0-cuda12.8-cudnn9-devel\nCOPY ext/ ext/\nRUN pip install --no-cache-dir ./ext\n",
    ),
    ("nvidia-driver-capabilities-missing", 2, f"FROM {TORCH}\nENV NVIDIA_DRIVER_CAPABILITIES=utility\n"),
    ("override-in-image", 2, f"FROM {ROCM}\nENV HSA_OVERRIDE_GFX_VERSION=10.3.0\n"),
    ("secrets-in-layer", 2, "FROM python:3.12-slim\nARG HF_TOKEN\nRUN hf auth login --token $HF_TOKEN\n"),
    ("base-image-cpu-only", 1, "FROM tensorflow/tensorflow:2.17.0\nENV NVIDIA_VISIBLE_DEVICES=all\n"),
    ("entrypoint-shell-form", 2, "FROM python:3.12-slim\nCMD uvicorn app:app\n"),
]
SOUND = [
    "FROM ubuntu:24.04\nRUN python3 -m venv /venv\nENV PATH=/venv/bin:$PATH\nRUN pip install --no-cache-dir numpy\n",
    "FROM pytorch/pytorch:2.30.0-cuda14.1-cudnn9-runtime\n",
    "ARG NAME=x\nFROM python:3.12-slim\nARG NAME\nRUN echo ${NAME} '$OTHER'\n",
    "FROM python:3.12-slim\nRUN --device=nvidia.com/gpu=all nvidia-smi\nHEALTHCHECK CMD nvidia-smi\n",
    "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y cuda-toolkit-12-4 && rm -rf /var/lib/apt/lists/*\n",
    'FROM continuumio/miniconda3:24.11.1-0\nSHELL ["/bin/bash", "-lc"]\nRUN conda activate x && python -V\n',
    f"FROM {TORCH}\nRUN pip install --no-cache-dir torch torchmetrics==1.8\n",
    f"FROM {ROCM}\nRUN pip install --no-cache-dir torch==2.10.0\n",
    "FROM pytorch/pytorch:2.8.0-cuda12.8-cudnn9-devel\nENV TORCH_CUDA_ARCH_LIST=8.6\nCOPY ext/ ext/\nRUN pip install --no-cache-dir ./ext\n",
    "FROM python:3.12-slim\nENV HF_TOKEN_PATH=/run/secrets/t TOKENIZERS_PARALLELISM=false\nARG HF_TOKEN\n",
    "FROM ubuntu:22.04 AS b\nRUN apt-get update && apt-get install -y git\nFROM python:3.12-slim\nCOPY --from=b /usr/bin/git /usr/bin/git\n",
]


@pytest.mark.parametrize(("cause", "line", "text"), WRONG, ids=[row[0] for row in WRONG])
def test_a_recipe_that_breaks_a_rule(cause, line, text):
    assert (cause, line) in found(text)


@pytest.mark.parametrize("text", SOUND)
def test_a_recipe_that_breaks_none(text):
    assert found(text) == []


COMPOSE = [
    ("gpu-not-requested", service("command: python train.py --device cuda"), service("command: python train.py --device cpu")),
    ("gpu-request-malformed", service("deploy: {resources: {limits: {devices: [{capabilities: [gpu]}]}}}"), service("gpus: all")),
    ("rocm-device-missing", service("devices: [/dev/dri]", image=ROCM), service("devices: [/dev/kfd, /dev/dri]", image=ROCM)),
    ("device-group-by-name", service("gpus: all", "group_add: [render]"), service("gpus: all", "group_add: ['992']")),
    ("shm-too-small", service("gpus: all", "command: torchrun x.py"), service("gpus: all", "command: torchrun x.py", "ipc: host")),
    ("port-on-all-interfaces", service("gpus: all", "ports: ['8000:8000']"), service("gpus: all", "ports: ['127.0.0.1:8000:8000']")),
    ("runs-as-root-with-mount", service("gpus: all", "volumes: ['./:/w']"), service("gpus: all", "volumes: ['./:/w:ro']")),
    ("privileged", service("privileged: true"), service("privileged: true", image="docker:27-dind")),
    ("docker-socket-mounted", service("gpus: all", "volumes: ['/var/run/docker.sock:/var/run/docker.sock']"), service("gpus: all")),
    ("legacy-runtime-key", service("runtime: nvidia"), service("runtime: nvidia", image="dustynv/pytorch:2.7-r36.4.0")),
    (
        "wrong-visibility-variable",
        service("gpus: all", "environment: {CUDA_VISIBLE_DEVICES: all}"),
        service("gpus: all", "environment: {NVIDIA_VISIBLE_DEVICES: all}"),
    ),
    (
        "secrets-in-layer",
        service("gpus: all", "environment: {HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyzABCDEFGH}"),
        service("gpus: all", "environment: {HF_TOKEN: '${HF_TOKEN}'}"),
    ),
    ("unpinned-base", service("gpus: all", image="pytorch/pytorch:latest"), service("gpus: all")),
]


@pytest.mark.parametrize(("cause", "wrong", "sound"), COMPOSE, ids=[row[0] for row in COMPOSE])
def test_a_service_that_breaks_a_rule_and_one_that_does_not(cause, wrong, sound):
    assert cause in [name for name, _line in found(wrong, "compose.yaml")]
    assert cause not in [name for name, _line in found(sound, "compose.yaml")]


def test_the_machine_decides_where_there_is_one():
    old = "FROM pytorch/pytorch:2.9.1-cuda13.0-cudnn9-runtime\n"
    assert found(old, machine="GTX 1080 Ti, driver 580.95.05, ubuntu 22.04") == [("base-image-arch-dropped", 1)]
    assert found(old, machine="RTX 3090, driver 550.163.01, ubuntu 22.04") == [("driver-too-old-for-image", 1)]
    assert found("FROM --platform=linux/amd64 python:3.12-slim\n", machine="GH200, driver 580.95.05, arch aarch64") == [
        ("image-for-other-cpu", 1)
    ]
    assert found(old) == []


def test_a_dev_container_is_read_with_its_comments_and_what_it_is_built_from():
    text = '{ // here\n "build": {"dockerfile": "Dockerfile"},\n "remoteUser": "dev",\n}'
    assert found(text, ".devcontainer/devcontainer.json", Dockerfile="FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\n") == [
        ("gpu-not-requested", 2)
    ]
    asked = text.replace('"remoteUser"', '"runArgs": ["--gpus", "all"],\n "remoteUser"')
    assert found(asked, ".devcontainer/devcontainer.json", Dockerfile="FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\n") == []


def test_a_definition_is_read_line_by_line():
    text = f"Bootstrap: docker\nFrom: {ROCM}\n%post\n    pip install --no-cache-dir torch==2.9.1\n    conda activate base\n"
    assert found(text, "a.def") == [("cuda-torch-on-amd", 4), ("conda-activate-in-run", 5)]


def test_what_needs_no_judgement_is_mended_and_then_gone():
    text = "ARG V=1\nFROM python:3.12-slim\nRUN echo $V\nRUN apt-get update && apt-get install -y git\nRUN pip install numpy\n"
    findings = lint("Dockerfile", text, lambda _path: "", None)
    mended_text, count = mended(text, findings)
    assert (count, lint("Dockerfile", mended_text, lambda _path: "", None)) == (3, [])
    assert "RUN pip install --no-cache-dir numpy\n" in mended_text
    open_port = service("gpus: all", "ports:", "  - '8000:8000'")
    closed, count = mended(open_port, lint("compose.yaml", open_port, lambda _path: "", None))
    assert (count, "- '127.0.0.1:8000:8000'" in closed) == (1, True)


def test_a_shell_is_told_apart_as_a_shell_does():
    parsed = [
        (command.name, command.variables) for command in commands("A=1 /usr/bin/pip install x && echo 'a && b' | cat # no\nuv pip list")
    ]
    assert parsed == [("pip", {"A": "1"}), ("echo", {}), ("cat", {}), ("uv", {})]
    stage = dockerfile("FROM a AS b\nFROM b\nRUN --mount=type=cache,target=/x \\\n  # told\n  true\n").stages[1]
    assert (stage.root, stage.body[0].flags, stage.body[0].last) == ("a", ("--mount=type=cache,target=/x",), 5)


@pytest.mark.long
@pytest.mark.parametrize("text", ["", "services: [", "a: b\n", "services: {}\n", "- x\n", "&a [*a]\n" * 3, "[" * 5000])
def test_a_file_that_is_none_is_refused(text):
    with pytest.raises(ContainerError):
        found(text, "compose.yaml")
