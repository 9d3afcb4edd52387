"""Steps that name what the text shows: the kernel, the key's file, the group's number, the compilers of the release; each from both sides."""

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer_data import diagnose
from rigup.knowledge.host_compilers import older_compiler
from rigup.machine.outward import outward, outward_text

HEADERS = """$ cat /etc/os-release
ID=debian
VERSION_ID="12"
$ uname -r
{kernel}
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
$ sudo dkms autoinstall
Error! Your kernel headers for kernel {kernel} cannot be found at /lib/modules/{kernel}/build or /lib/modules/{kernel}/source.
"""
XPU = """$ cat compose.yaml
services:
  api:
    image: api:1
    devices:
      - {node}:{node}
$ docker compose up
api-1  | RuntimeError: No XPU devices are available.
$ docker compose exec api bash -c 'id; ls -ln /dev/dri'
uid=1000 gid=1000 groups={groups}
total 0
crw-rw---- 1 0  44 226,   0 Feb 11 09:02 card1
crw-rw---- 1 0 {number} 226, 129 Feb 11 09:02 renderD129
$ pip show torch | head -2
Name: torch
Version: 2.10.0+xpu
"""
LOCKED = """{system}
$ sudo modprobe nvidia
modprobe: ERROR: could not insert 'nvidia': Key was rejected by service
$ mokutil --sb-state
SecureBoot enabled
{more}
"""
REFUSED = "{system}\n$ nvcc t.cu\n/usr/local/cuda/include/crt/host_config.h:143:2: error: #error -- unsupported GNU version! gcc versions later than {most} are not supported!\n"
OPEN = """{system}
$ {listed}
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
$ sudo dmesg | grep NVRM
[    3.1] NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1b06)
               NVRM: installed in this system is not supported by open
               NVRM: nvidia.ko because it does not include the required GPU
               NVRM: System Processor (GSP).
$ lspci -nn -s 01:00.0
01:00.0 VGA compatible controller [0300]: NVIDIA Corporation GP102 [GeForce GTX 1080 Ti] [10de:1b06] (rev a1)
$ cat /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {version}  Release Build
"""


def findings(tmp_path, body):
    (tmp_path / "paste.txt").write_text(body, encoding="utf-8")
    return diagnose(str(tmp_path / "paste.txt"))["findings"]


def commands(finding):
    return [" ".join(argv) for way in finding["fixes"] for step in way["steps"] for argv in step["commands"]]


def titles(finding):
    return " / ".join(way["title"] for way in finding["fixes"])


@pytest.mark.parametrize("kernel", ["6.12.32+bpo-amd64", "6.6.31+rpt-rpi-v8", "6.16.3-76061603-generic", "6.17.0+"])
def test_a_kernels_release_stays_in_the_command_that_builds_for_it(tmp_path, kernel):
    [finding] = [one for one in findings(tmp_path, HEADERS.format(kernel=kernel)) if one["cause"] == "kernel-module-not-built"]
    shown = outward(finding)
    assert f"dkms autoinstall -k {kernel}" in commands(shown)
    assert "redacted-" not in str(shown)


@pytest.mark.parametrize("word", ["Zp9xZp9x+", "9Zx.7+secret", "6.12+Zp9xQw", "hunter2!"])
def test_a_password_behind_a_short_option_goes_out(word):
    assert word not in outward_text(f"tool -k {word} run")


@given(st.from_regex(r"[A-Za-z]{4}[0-9][A-Za-z]{4}[!#%]", fullmatch=True))
def test_a_command_whose_value_was_taken_out_is_said_in_words(word):
    answer = {"steps": [{"title": "Do it", "commands": [["tool", "-p", word], ["true"]]}]}
    assert outward(answer) == {"steps": [{"title": "Do it", "commands": []}]}


def test_commands_without_such_values_stay():
    answer = {"steps": [{"title": "Do it", "commands": [["tool", "-p", "8080"]]}]}
    assert outward(answer) == answer


@pytest.mark.parametrize(("node", "number"), [("/dev/dri", "992"), ("/dev/dri/renderD129", "105")])
def test_an_intel_cards_group_is_named_by_the_number_that_a_listing_shows(tmp_path, node, number):
    [finding] = findings(tmp_path, XPU.format(node=node, groups="1000", number=number))
    assert finding["cause"] == "container-render-group-mismatch"
    assert f'group_add: ["{number}"]' in titles(finding)
    text = str(finding["fixes"])
    assert "kfd" not in text
    assert "rocminfo" not in text
    assert "torch.xpu.device_count()" in str(finding["fixes"][0]["check"])


def test_who_holds_the_group_of_a_node_is_not_told_to_join_it(tmp_path):
    found = findings(tmp_path, XPU.format(node="/dev/dri", groups="1000,992", number="992"))
    assert all(one["severity"] != "error" for one in found)  # a guess by the words alone may stay


@pytest.mark.parametrize(
    ("system", "more", "key"),
    [
        (
            "openSUSE Tumbleweed",
            "$ ls /usr/share/nvidia-pubkeys\nMOK-nvidia-driver-G07-595.58-1.der",
            "mokutil --import /usr/share/nvidia-pubkeys/MOK-nvidia-driver-G07-595.58-1.der",
        ),
        (
            "openSUSE Tumbleweed",
            "$ ls /var/lib/nvidia-pubkeys/MOK-a.der\n/var/lib/nvidia-pubkeys/MOK-a.der",
            "mokutil --import /var/lib/nvidia-pubkeys/MOK-a.der",
        ),
        ("openSUSE Leap 15.6", "", "/var/lib/nvidia-pubkeys/MOK-nvidia-*.der"),
        ("Ubuntu 24.04", "", "mokutil --import /var/lib/shim-signed/mok/MOK.der"),
        ("Fedora 42", "", "mokutil --import /etc/pki/akmods/certs/public_key.der"),
    ],
)
def test_the_keys_file_is_enrolled_before_the_restart(tmp_path, system, more, key):
    [finding] = [
        one for one in findings(tmp_path, LOCKED.format(system=system, more=more)) if one["cause"] == "secure-boot-module-unsigned"
    ]
    lines = commands(finding)
    assert key in lines[0]
    assert "systemctl reboot" in lines[1]


def test_on_a_system_that_nobody_names_the_newest_key_that_is_there_is_enrolled(tmp_path):
    [finding] = findings(tmp_path, LOCKED.format(system="", more=""))
    argvs = [argv for way in finding["fixes"] for step in way["steps"] for argv in step["commands"]]
    [enrol] = [argv for argv in argvs if "mokutil" in " ".join(argv)]
    folder = tmp_path / "dkms"
    folder.mkdir()
    (folder / "mok.pub").write_text("key")
    (tmp_path / "mokutil").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "mokutil").chmod(0o755)
    here = [word.replace("/var/lib/dkms", str(folder)) for word in enrol]
    ran = subprocess.run(here, capture_output=True, text=True, check=True, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert ran.stdout.split() == ["--import", str(folder / "mok.pub")]


@pytest.mark.parametrize(
    ("system", "most", "install", "program"),
    [
        ("Fedora 42", "14", "gcc14 gcc14-c++", "/usr/bin/g++-14"),
        ("Arch Linux", "13", "gcc13", "/usr/bin/g++-13"),
        ("Debian 12", "13", "gcc-12 g++-12", "/usr/bin/g++-12"),
        ("Ubuntu 24.04", "12", "gcc-12 g++-12", "/usr/bin/g++-12"),
    ],
)
def test_a_compiler_of_the_release_is_named_that_the_toolkit_takes(tmp_path, system, most, install, program):
    [finding] = findings(tmp_path, REFUSED.format(system=system, most=most))
    lines = commands(finding)
    assert lines[0].endswith(install)
    assert f"export NVCC_CCBIN={program}" in lines
    assert f"export CUDAHOSTCXX={program}" in lines


def test_where_a_release_has_no_such_compiler_none_is_named(tmp_path):
    [finding] = findings(tmp_path, REFUSED.format(system="Fedora 42", most="12"))
    assert commands(finding) == []


@given(st.text(max_size=12), st.text(max_size=8), st.integers(0, 30))
def test_a_compiler_is_never_newer_than_asked(distribution, release, most):
    for name, number in ((distribution, release), ("ubuntu", "24.04"), ("arch", "")):
        found = older_compiler(name, number, most)
        assert found is None or int("".join(filter(str.isdigit, found.program))) <= most


@pytest.mark.parametrize(
    ("system", "listed"), [("Arch Linux", "pacman -Q nvidia-open-dkms\nnvidia-open-dkms 590.48.01-1"), ("Arch Linux", "true")]
)
def test_a_branch_that_has_dropped_the_card_is_no_way_in_another_flavour(tmp_path, system, listed):
    [finding] = [
        one
        for one in findings(tmp_path, OPEN.format(system=system, listed=listed, version="590.48.01"))
        if one["cause"] == "open-module-on-pre-turing-gpu"
    ]
    assert "of the branch that is there" not in titles(finding)
    assert any("580" in line for line in commands(finding))


def test_a_branch_that_drives_the_card_may_change_its_flavour(tmp_path):
    found = findings(tmp_path, OPEN.format(system="Ubuntu 24.04", listed="true", version="570.195.03"))
    [finding] = [one for one in found if one["cause"] == "open-module-on-pre-turing-gpu"]
    assert "proprietary" in titles(finding)
