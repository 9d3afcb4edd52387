"""What people tell of system, home and Python in a sentence, and a listing of devices by arrows."""

import pytest

from rigup.machine.reader import READERS
from rigup.machine.texts import Text


def told(reader, body):
    """What a reader says of a pasted text, as plain fields."""
    return [{name: reading.value for name, reading in fact.fields.items()} for fact in READERS[reader].read(Text("text", body))]


def test_windows_where_nothing_else_is_named():
    assert told("stated_windows", "I am on Windows 11 and torch finds no GPU\n")[0]["system"] == "windows"


@pytest.mark.parametrize("other", ["WSL2 runs Ubuntu here", "inside a docker container", "my server runs Linux"])
def test_windows_beside_another_system_tells_nothing(other):
    assert told("stated_windows", f"I am on Windows 11, and {other}\n") == []


def test_a_home_on_a_mac():
    (system,) = told("mac_folders", 'File "/Users/ada/venv/lib/python3.11/site-packages/x.py", line 1\n')
    assert system["system"] == "macos"


@pytest.mark.parametrize("path", ["C:/Users/ada/venv/lib/python3.11/x.py", "/srv/Users/ada/lib/python3.11/x.py"])
def test_a_home_elsewhere_is_no_macs(path):
    assert told("mac_folders", f'File "{path}", line 1\n') == []


def test_the_one_python_that_a_text_names():
    assert told("stated_python", "a fresh environment with Python 3.13, and pip finds nothing\n")[0]["version"] == "3.13"


@pytest.mark.parametrize("body", ["Python 3.9 works, Python 3.13 does not\n", "Python is 3 times slower\n"])
def test_two_pythons_or_none_tell_nothing(body):
    assert told("stated_python", body) == []


def test_devices_by_arrows():
    named = told("devices_by_index", "cuda:0 -> NVIDIA GeForce RTX 3060 | 12 GB\ncuda:1 -> NVIDIA GeForce GTX 1080\n")
    assert [card["runtime_index"] for card in named] == [0, 1]
    assert told("devices_by_index", "cuda:0 -> the first of them\n") == []


def test_roots_prompt_is_no_remark():
    (job,) = told("batch_script", "root@head:/data# srun -N1 -n4 --gres=gpu:4 python train.py\n")[:1]
    assert (job["nodes"], job["tasks"]) == (1, 4)
    assert told("batch_script", "# srun -N1 -n4 --gres=gpu:4 python train.py\n") == []


@pytest.mark.parametrize("line", ["WSL version: 1.2.2.0", "WSL 版本： 1.0.3.0", "Versione WSL: 1.3.11.0", "WSL-Version: 2.4.13.0"])
def test_the_programs_own_version_is_not_the_generation(line):
    assert {"wsl": 2} in told("stated_wsl", line + "\n")


def test_the_first_generation_is_told_by_its_number_alone():
    assert told("stated_wsl", "- [X] WSL 1\n") == [{"wsl": 1}]


def test_a_tool_and_a_driver_of_two_versions_are_a_wsl():
    banner = "| NVIDIA-SMI 550.120                Driver Version: {}         CUDA Version: 12.4     |\n"
    assert told("driver_of_windows", banner.format("552.44")) == [{"system": "linux", "wsl": 2}]
    assert told("driver_of_windows", banner.format("550.120")) == []


@pytest.mark.parametrize("beside", ["", "L2 cache: 2 MiB\n", "L1d cache: 32K\nL2 cache: 256K\n"])
@pytest.mark.parametrize("body", ["Tesla V100 on RHEL 8: torch finds no kernel image\n", "I use a Tesla V100 here\n"])
def test_the_one_card_of_servers_that_a_text_names(body, beside):
    assert [card["name"] for card in told("server_card_in_a_sentence", beside + body)] == ["Tesla V100"]


@pytest.mark.parametrize("body", ["L2 cache: 2 MiB\nno NVIDIA GPU\n", "GPU count 4\nA2: none\n", "CPU, L4 cache of the GPU\n"])
def test_a_cache_or_a_cell_is_no_card(body):
    assert told("server_card_in_a_sentence", body) == []
