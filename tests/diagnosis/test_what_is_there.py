"""Ways that go by what the text shows to be there, and messages that a finding has accounted for."""

import pytest

from answer_data import diagnose, typed
from rigup.cli.report import text as report

OPEN_ONLY = """[    5.1] NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2f04)
              NVRM: installed in this system requires use of the NVIDIA open kernel modules.
"""
DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nNAME="Debian GNU/Linux"\nVERSION_ID="13"\nID=debian\n'
UBUNTU = 'PRETTY_NAME="Ubuntu 24.04.2 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\n'
FOCAL = 'PRETTY_NAME="Ubuntu 20.04.6 LTS"\nNAME="Ubuntu"\nVERSION_ID="20.04"\nID=ubuntu\n'
ARCH = 'NAME="Arch Linux"\nID=arch\n'
DIFFER = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.120\n"
NUMPY = "RuntimeError: Numpy is not available\n"
WARNS = "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.0.2 as it may crash.\n"


def answer_to(tmp_path, body):
    (tmp_path / "paste.txt").write_text(body, encoding="utf-8")
    return diagnose(str(tmp_path / "paste.txt"))


def commands(finding, way=0):
    return [" ".join(argv) for step in finding["fixes"][way]["steps"] for argv in step["commands"]]


@pytest.mark.parametrize(
    ("system", "listed", "package"),
    [
        (DEBIAN, "ii  nvidia-kernel-dkms  550.163.01-2  amd64  NVIDIA kernel module", "nvidia-open-kernel-dkms"),
        (UBUNTU, "ii  nvidia-driver-570-server  570.86.10-0ubuntu0.24.04.1  amd64  NVIDIA driver", "nvidia-driver-570-server-open"),
        (ARCH, "$ pacman -Q | grep nvidia\nnvidia-dkms 565.77-12\nnvidia-utils 565.77-3", "nvidia-open-dkms"),
    ],
)
def test_the_other_flavour_is_the_package_beside_the_one_that_is_there(tmp_path, system, listed, package):
    answer = answer_to(tmp_path, f"{OPEN_ONLY}\n$ cat /etc/os-release\n{system}\n{listed}\n")
    (finding,) = answer["findings"]
    assert finding["cause"] == "proprietary-module-on-open-only-gpu"
    assert any(line.endswith(" " + package) for line in commands(finding))


def test_where_no_package_is_known_the_flavour_is_said_in_words(tmp_path):
    (finding,) = answer_to(tmp_path, OPEN_ONLY)["findings"]
    assert commands(finding) == []
    assert "open" in finding["fixes"][0]["title"]


@pytest.mark.parametrize(
    ("shown", "stopped"),
    [
        ("COMMAND PID USER\nnvidia-pe 1187 nvidia-persistenced\n", True),
        ("ii  nvidia-compute-utils-550  550.120-0ubuntu0.24.04.1  amd64  NVIDIA compute utilities\n", True),
        ("systemd[1]: Failed to start nvidia-persistenced.service\n", False),
    ],
)
def test_the_drivers_daemon_is_stopped_before_modules_are_unloaded(tmp_path, shown, stopped):
    finding = answer_to(tmp_path, DIFFER + shown)["findings"][0]
    lines = commands(finding)
    assert any("modprobe -r" in line for line in lines)
    assert ("systemctl stop nvidia-persistenced" in lines) is stopped
    assert lines[-1].endswith("start nvidia-persistenced") is stopped


def test_a_release_of_the_distribution_gives_the_branch_that_it_has(tmp_path):
    body = f"""$ cat /etc/os-release
{FOCAL}
$ nvidia-smi -L
GPU 0: NVIDIA GeForce RTX 2080 Ti (UUID: GPU-c4a1f0d2-7e3b-96d8-0c55-2f9be1a47a63)
$ cat /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024
$ python -c "import torch; print(torch.__version__); torch.zeros(1).cuda()"
2.4.1+cu121
RuntimeError: The NVIDIA driver on your system is too old (found version 11040).
"""
    finding = next(found for found in answer_to(tmp_path, body)["findings"] if found["cause"] == "driver-too-old-for-wheel")
    driver = next(way for way in finding["fixes"] if "driver" in way["title"])
    words = " ".join(" ".join(argv) for step in driver["steps"] for argv in step["commands"])
    assert "535" in driver["title"]
    assert "nvidia:535" in words
    assert "nvidia-open-580" not in words


@pytest.mark.parametrize(("body", "severity"), [(WARNS, "warning"), (WARNS + NUMPY, "error")])
def test_a_program_that_stops_for_numpy_does_not_work_less_well(tmp_path, body, severity):
    assert answer_to(tmp_path, body)["findings"][0]["severity"] == severity


def test_what_a_finding_quotes_is_accounted_for(tmp_path):
    refused = (
        "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute "
        "capability 7.5. You can use float16 instead by explicitly setting the`dtype` flag in CLI, for example: --dtype=half."
    )
    answer = answer_to(tmp_path, refused)
    assert answer["findings"]
    assert answer["unexplained"] == []
    assert "No cause here accounts" not in report(typed(answer))


def test_another_message_beside_it_is_not(tmp_path):
    answer = answer_to(tmp_path, f"{WARNS}\n\n\n\n\n\n\nModuleNotFoundError: No module named 'cv2'\n")
    assert "module-is-not-installed" in answer["unexplained"] or len(answer["findings"]) > 1


def test_rows_of_equal_cards_are_cards_and_a_prompt_is_none(tmp_path):
    body = (
        "name, memory.total [MiB], driver_version\nNVIDIA A10, 23028 MiB, 535.183.01\nNVIDIA A10, 23028 MiB, 535.183.01\n"
        'ada@box:~$ python -c "import torch, sys, os; print(torch.cuda.device_count())"\n2\n'
    )
    cards = answer_to(tmp_path, body)["machine"]["accelerators"]
    assert [card["name"] for card in cards] == ["NVIDIA A10", "NVIDIA A10"]


def test_a_line_of_nvidia_smis_list_is_the_card_of_the_table(tmp_path):
    table = (
        "|   0  NVIDIA A100 80GB PCIe           On |   00000000:17:00.0 Off |                    0 |\n"
        "| N/A   34C    P0             45W /  300W |       1MiB /  81920MiB |      0%      Default |\n"
    )
    listed = "$ nvidia-smi -L\nGPU 0: NVIDIA A100 80GB PCIe (UUID: GPU-c4a1f0d2-7e3b-96d8-0c55-2f9be1a47a63)\n"
    head = "| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |\n"
    cards = answer_to(tmp_path, head + table + "\n" + listed)["machine"]["accelerators"]
    assert [card["name"] for card in cards] == ["NVIDIA A100 80GB PCIe"]


@pytest.mark.parametrize(("version", "asked"), [("2.3.1", "pytorch=2.3.*=cuda*"), ("0.4.1", "pytorch=*=cuda*")])
def test_conda_keeps_the_release_of_torch_where_it_has_it_with_cuda(tmp_path, version, asked):
    body = (
        "$ nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-c4a1f0d2-7e3b-96d8-0c55-2f9be1a47a63)\n"
        f'$ python -c "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())"\n{version} None False\n'
        f"$ conda list | grep torch\npytorch                   {version}              py3.10_cpu_0    pytorch\n"
    )
    finding = next(found for found in answer_to(tmp_path, body)["findings"] if found["cause"] == "cpu-only-torch")
    assert any(asked in line for line in commands(finding))


def test_commands_are_quoted_as_every_shell_takes_them(tmp_path):
    shown = report(typed(answer_to(tmp_path, WARNS)))
    assert 'pip install "numpy<2"' in " ".join(shown.split())
    assert "'numpy<2'" not in shown
