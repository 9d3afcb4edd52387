"""What `rigup container` sees of the machine that it runs on: engines, descriptions of devices, nodes."""

import json

import pytest
from machine_here import Machine

from rigup.container.engines import asking
from rigup.container.here import host_here
from rigup.container.host import Engine
from rigup.stack.profile import read_profile

YAML = """\
---
cdiVersion: 0.5.0
containerEdits:
  deviceNodes:
  - path: /dev/nvidiactl
  mounts:
  - containerPath: /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05
    hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05
devices:
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: "0"
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: all
kind: nvidia.com/gpu
"""
JSON = json.dumps({"cdiVersion": "0.6.0", "kind": "amd.com/gpu", "devices": [{"name": "0"}, {"name": "all"}]})


def seen(tmp_path, profile, files, programs=None, engines=()):
    machine = Machine(tmp_path / "root", tmp_path / "home", programs or {})
    for path, text in files.items():
        machine.put(path, text)
    return host_here(read_profile(profile), machine, engines)


def test_descriptions_of_devices_are_read_in_both_forms(tmp_path):
    files = {"/etc/cdi/nvidia.yaml": YAML, "/run/cdi/amd.json": JSON, "/etc/cdi/notes.txt": YAML, "/etc/cdi/cut.json": "{"}
    first, second = seen(tmp_path, "RTX 4090, driver 580.95.05, ubuntu 24.04", files).cdi
    assert (first.file, first.cdi_version, first.driver) == ("/etc/cdi/nvidia.yaml", "0.5.0", "580.95.05")
    assert first.devices == ("nvidia.com/gpu=0", "nvidia.com/gpu=all")
    assert (second.kind, second.cdi_version, second.devices) == ("amd.com/gpu", "0.6.0", ("amd.com/gpu=0", "amd.com/gpu=all"))


def test_a_description_below_a_folder_with_two_names_is_one(tmp_path):
    (tmp_path / "root" / "var").mkdir(parents=True)
    (tmp_path / "root" / "var" / "run").symlink_to("../run")
    host = seen(tmp_path, "RTX 4090, driver 580.95.05, ubuntu 24.04", {"/run/cdi/nvidia.yaml": YAML})
    assert [spec.file for spec in host.cdi] == ["/run/cdi/nvidia.yaml"]


def test_nodes_have_their_groups_and_their_cards(tmp_path):
    files = {"/dev/kfd": "", "/dev/dri/card0": "", "/dev/dri/renderD128": "", "/dev/dri/by-path": ""}
    host = seen(tmp_path, "RX 7900 XTX, ubuntu 24.04", files)
    assert {path: node.gid for path, node in host.nodes.items()} == {"/dev/kfd": 992, "/dev/dri/card0": 992, "/dev/dri/renderD128": 992}


@pytest.mark.parametrize(
    ("files", "programs", "toolkit"),
    [
        ({}, {}, False),
        ({"/usr/bin/nvidia-container-runtime": ""}, {}, True),
        ({}, {"nvidia-ctk --version": "NVIDIA Container Toolkit CLI version 1.17.8"}, "1.17.8 (base package)"),
        ({"/usr/bin/nvidia-container-runtime-hook": ""}, {"nvidia-ctk --version": "NVIDIA Container Toolkit CLI version 1.17.8"}, "1.17.8"),
    ],
)
def test_nvidias_toolkit_is_known_by_its_programs(tmp_path, files, programs, toolkit):
    assert seen(tmp_path, "RTX 4090, driver 580.95.05, ubuntu 24.04", files, programs).nvidia_toolkit == toolkit


def test_the_account_its_folder_and_its_proxies_are_known(tmp_path):
    engine = Engine(name="docker", version="28.3.2")
    host = seen(tmp_path, "no GPU, ubuntu 24.04", {}, engines=[engine])
    assert (host.user, host.uid, host.gid, host.groups) == ("ada", 1000, 1000, {"ada": 1000, "render": 992})
    assert (host.cwd, host.engines) == ("/home/ada/work", (engine,))


def test_engines_that_answer_are_those_that_are_there(tmp_path):
    info = {
        "ServerVersion": "28.3.2",
        "OperatingSystem": "Docker Desktop",
        "SecurityOptions": ["name=rootless"],
        "Runtimes": {"runc": {}, "nvidia": {}},
        "DefaultRuntime": "runc",
        "CDISpecDirs": ["/etc/cdi"],
        "CgroupDriver": "systemd",
    }
    programs = {
        "docker info --format {{json .}}": "WARNING: no swap limit\n" + json.dumps(info),
        "podman info --format json": "Error: none",
        "apptainer --version": "apptainer version 1.3.6",
        "singularity --version": "apptainer version 1.3.6",
    }
    docker, apptainer = asking(Machine(tmp_path / "root", tmp_path / "home", programs))()
    assert (docker.name, docker.flavour, docker.rootless, docker.runtimes, docker.cdi) == (
        "docker",
        "desktop",
        True,
        ("runc", "nvidia"),
        True,
    )
    assert (apptainer.name, apptainer.version) == ("apptainer", "1.3.6")


def test_what_podman_puts_under_dockers_name_is_not_docker(tmp_path):
    programs = {"docker info --format {{json .}}": json.dumps({"host": {}, "version": {"Version": "5.5.2"}})}
    assert asking(Machine(tmp_path / "root", tmp_path / "home", programs))() == []
