"""A container that is there, held against its host."""

import msgspec
import pytest
from facts import NODES, PERSON

from rigup.container.host import Host
from rigup.container.inspected import examined
from rigup.stack.profile import read_profile

ROCM = "docker.io/rocm/pytorch:rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0"
CUDA = "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime"
BOTH = [{"PathOnHost": "/dev/kfd"}, {"PathOnHost": "/dev/dri"}]


def found(machine, image, command=("python", "x.py"), user="", **started):
    inspection = {
        "Config": {"Image": image, "Cmd": list(command), "Env": ["HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"], "User": user},
        "HostConfig": started,
    }
    host = msgspec.convert({**PERSON, "nodes": NODES}, Host)
    return {finding.cause for finding in examined("made", inspection, read_profile(machine), host)}


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ({"image": CUDA}, "gpu-not-requested"),
        ({"image": CUDA, "DeviceRequests": [{"Count": -1}], "Privileged": True}, "privileged"),
        ({"image": CUDA, "DeviceRequests": [{"Count": -1}], "command": ("torchrun", "x.py"), "ShmSize": 67108864}, "shm-too-small"),
        (
            {"image": CUDA, "DeviceRequests": [{"Count": -1}], "PortBindings": {"8000/tcp": [{"HostIp": "", "HostPort": "8000"}]}},
            "port-on-all-interfaces",
        ),
        ({"image": "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", "DeviceRequests": [{"Count": -1}]}, "base-image-arch-dropped"),
    ],
)
def test_what_keeps_a_container_from_its_work(told, cause):
    assert cause in found("RTX 5090, driver 580.95.05, ubuntu 24.04", **told)


def test_the_groups_of_the_nodes_are_those_of_the_host():
    card = "RX 7900 XTX, ubuntu 24.04"
    assert found(card, ROCM, user="1000:1000", Devices=BOTH, GroupAdd=["44"]) == {"container-render-group-mismatch"}
    for groups in (["992"], ["keep-groups"]):
        assert found(card, ROCM, user="1000:1000", Devices=BOTH, GroupAdd=groups) == set()
    assert found(card, ROCM, Devices=BOTH) == set()
    assert found(card, ROCM, Devices=BOTH[:1]) == {"rocm-device-missing"}


def test_a_sound_container_is_left_alone():
    ports = {"8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8000"}]}
    assert (
        found("RTX 4090, driver 580.95.05, ubuntu 24.04", CUDA, DeviceRequests=[{"DeviceIDs": ["0"]}], IpcMode="host", PortBindings=ports)
        == set()
    )
