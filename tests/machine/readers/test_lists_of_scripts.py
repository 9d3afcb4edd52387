"""What scripts, short commands and counts print: read where they tell, and not where something else was counted."""

import pytest

from answer_data import diagnose


@pytest.fixture
def machine(tmp_path):
    def read(body):
        (tmp_path / "paste.txt").write_text(body, "utf-8")
        return diagnose(str(tmp_path))["machine"]

    return read


def test_a_scripts_own_lines_tell_release_code_and_card(machine):
    found = machine(
        "$ python smoke.py\n2.9.1+cu130\ndevice 0: Tesla V100-SXM2-32GB  capability: (7, 0)\narch list: ['sm_75', 'sm_80', 'sm_90']\n"
    )
    assert (found["torches"][0]["version"], found["torches"][0]["code"]) == ("2.9.1+cu130", ["sm_75", "sm_80", "sm_90"])
    assert found["accelerators"][0]["name"] == "Tesla V100-SXM2-32GB"


def test_an_arch_list_of_something_else_is_no_code(machine):
    assert "torches" not in machine("I build images with torch\narch list: ['amd64', 'arm64']\n")


@pytest.mark.parametrize(("count", "unloaded"), [("0", True), ("1", False)])
def test_a_count_of_modules_is_no_list_of_them(machine, count, unloaded):
    found = machine(f"$ uname -r; lsmod | grep -c ^amdgpu\n6.13.2-arch1-1\n{count}\n")
    assert bool(found.get("unloaded_modules")) is unloaded


def test_two_columns_of_dpkg_are_packages(machine):
    found = machine(
        "$ dpkg -l | grep nvidia | awk '{print $2,$3}'\nlibnvidia-compute-550:amd64 550.54.15-0ubuntu1\nnvidia-utils-550 550.54.15-0ubuntu1\n\nnvidia-settings 1.0 is not below it\n"
    )
    assert [package["name"] for package in found["system_packages"]] == ["libnvidia-compute-550", "nvidia-utils-550"]


def test_columns_of_another_program_are_none(machine):
    assert not machine("$ ps aux | awk '{print $2,$3}'\nnvidia-utils-550 550.54.15\n").get("system_packages")


def test_adapters_in_a_list_keep_their_order(machine):
    body = ">>> import torch_directml as d\n>>> [d.device_name(i) for i in range(d.device_count())]\n['Intel(R) UHD Graphics 770', 'AMD Radeon RX 6600']\n"
    assert [card["name"] for card in machine(body)["accelerators"]] == ["Intel(R) UHD Graphics 770", "AMD Radeon RX 6600"]


@pytest.mark.parametrize(
    ("body", "distribution"),
    [
        ("$ uname -r\n6.15.4-200.fc42.x86_64\n", ("fedora", "42")),
        ("$ uname -r\n5.14.0-427.el9.x86_64\n", None),
        ("$ uname -r\n6.8.0-40-generic\n", None),
    ],
)
def test_a_kernel_tells_the_distribution_that_alone_builds_such(machine, body, distribution):
    found = machine(body).get("distributions", [])
    assert [(row["id"], row.get("version")) for row in found] == ([distribution] if distribution else [])
