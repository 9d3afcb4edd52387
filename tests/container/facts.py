"""Machines for the tests of containers: a request answered from facts that stand here."""

import msgspec

from rigup.container.asked import Asked
from rigup.container.command import command
from rigup.container.host import Host
from rigup.stack.profile import read_profile

PERSON = {"user": "ada", "uid": 1000, "gid": 1000, "groups": {"ada": 1000, "render": 992}, "home": "/home/ada", "cwd": "/home/ada/work"}
DOCKER = {
    "name": "docker",
    "version": "28.3.2",
    "runtimes": ["runc", "nvidia"],
    "default_runtime": "runc",
    "cdi": True,
    "cgroup_driver": "systemd",
}
PODMAN = {"name": "podman", "version": "5.5.2", "rootless": True, "oci_runtime": "crun", "oci_runtimes": ["crun"], "cdi": True}
APPTAINER = {"name": "apptainer", "version": "1.3.6"}
ADA = "RTX 4090, driver 580.95.05, ubuntu 24.04"
NODES = {"/dev/kfd": {"gid": 992}, "/dev/dri/card0": {"gid": 44, "gpu": 0}, "/dev/dri/renderD128": {"gid": 992, "gpu": 0}}


def cdi(version="0.5.0", driver="580.95.05", devices=("0", "all")):
    return [
        {"cdi_version": version, "kind": "nvidia.com/gpu", "devices": ["nvidia.com/gpu=" + device for device in devices], "driver": driver}
    ]


def answered(profile, host, **asked):
    """The answer for `torch` and a program, unless something else is asked."""
    fields = {"what": "torch", "command": ("python", "train.py"), **asked}
    return command(Asked(**fields), read_profile(profile), msgspec.convert({**PERSON, **host}, Host))


def causes(answer):
    return [finding.cause for finding in answer.warnings]


def pairs(answer):
    """Each option with the word behind it."""
    return set(zip(answer.argv, answer.argv[1:], strict=False))
