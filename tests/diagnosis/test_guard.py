"""The guard that every way to mend passes: what it drops, changes and spells out; and that each invariant of the ways can be broken."""

import copy
import shutil
from pathlib import Path

import pytest

from answer_data import diagnose
from rigup.diagnosis import guard
from rigup.diagnosis.guard import SAME_ANYWHERE
from rigup.diagnosis.guard.changes import CHANGES
from rigup.diagnosis.guard.refusals import REFUSALS
from rigup.diagnosis.guard.setting import Setting
from rigup.steps import make, step_kinds
from ways_held import HELD, Way, broken

SHARED = Path(__file__).parents[3] / "shared"
CASES = sorted(path.parent.name for path in (SHARED / "cases").glob("*/case.json")) if SHARED.is_dir() else []
UBUNTU = 'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n'
TOOLKIT = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
MISMATCH = "The detected CUDA version (10.1) mismatches the version that was used to compile\nPyTorch (12.1). Please make sure to use the same CUDA versions.\n"
NVCC = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 10.1, V10.1.243\n"
P100 = "GPU 0: Tesla P100-PCIE-16GB (UUID: GPU-8a7b6c5d-1111-2222-3333-444455556666)\n"
OLD_DRIVER = "| NVIDIA-SMI 410.79       Driver Version: 410.79       CUDA Version: 10.0     |\nRuntimeError: The NVIDIA driver on your system is too old (found version 10000).\n"
REBUILD = "Error! Bad return status for module build on kernel: 6.8.0-49-generic (x86_64)\n/var/lib/dkms/nvidia/{version}/build/nvidia/nv-acpi.c:88:12: error: implicit declaration of function ‘acpi_bus_get_device’ [-Werror=implicit-function-declaration]\n"


@pytest.fixture
def first(tmp_path):
    """The first finding of a pasted text."""

    def finding(body):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        return diagnose(str(tmp_path / "said.txt"))["findings"][0]

    return finding


def titles(finding):
    return [way["title"] for way in finding["fixes"]]


def commands(finding):
    return [" ".join(argv) for way in finding["fixes"] for step in way["steps"] for argv in step["commands"]]


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_the_ways_of_every_shared_case_hold(name, tmp_path):
    shutil.copytree(SHARED / "cases" / name, tmp_path / "case", ignore=shutil.ignore_patterns("case.json"))
    assert not broken(diagnose(str(tmp_path / "case")))


# -- what is dropped, changed and spelt out
def test_conda_is_not_offered_in_a_venv(first):
    inside = '  File "/mnt/work/venv/lib/python3.9/site-packages/torch/utils/cpp_extension.py", line 413, in _check_cuda_version\n'
    assert not any("conda" in one for one in commands(first(inside + MISMATCH + NVCC)))
    elsewhere = inside.replace("/mnt/work/venv", "/home/ada/miniconda3/envs/work")
    assert any("conda" in one for one in commands(first(elsewhere + MISMATCH + NVCC)))


def test_where_the_system_is_not_known_nothing_is_half_said(first):
    (way,) = first(TOOLKIT)["fixes"]
    words, engine = way["steps"]
    assert "nvidia-container-toolkit" in words["title"]
    assert not words["commands"]
    assert engine["commands"] == [["nvidia-ctk", "runtime", "configure", "--runtime=docker"], ["systemctl", "restart", "docker"]]


def test_where_it_is_known_the_toolkit_is_installed_by_a_command(first):
    said = commands(first("$ cat /etc/os-release\n" + UBUNTU + TOOLKIT))
    assert any(one.startswith("apt-get install") and "nvidia-container-toolkit" in one for one in said), said


def test_the_package_managers_own_words_tell_the_family(first):
    failed = "Error! Bad return status for module build on kernel: 6.11.0-8-generic (x86_64)\nSetting up amdgpu-dkms (1:6.8.5.60202-2041575.24.04) ...\n"
    assert not commands(first(failed))
    assert "apt-get purge -y amdgpu-dkms" in commands(first(failed + "E: Sub-process /usr/bin/dpkg returned an error code (1)\n"))


def test_a_driver_is_installed_by_the_commands_of_the_release(first):
    said = commands(first("$ cat /etc/os-release\n" + UBUNTU + P100 + OLD_DRIVER))
    assert "ubuntu-drivers install nvidia:580" in said, said


@pytest.mark.parametrize(("system", "release", "way"), [("ubuntu", "16.04", "580"), ("centos", "7", "torch 1.7.1")])
def test_a_release_that_the_tables_no_longer_know_gets_no_commands_of_a_newer_one(first, system, release, way):
    told = f'$ cat /etc/os-release\nID={system}\nVERSION_ID="{release}"\n'
    found = first(told + P100 + OLD_DRIVER)
    assert any(way in title for title in titles(found)), titles(found)
    assert not [one for one in commands(found) if "ubuntu-drivers" in one or one.startswith("dnf")]


@pytest.mark.parametrize(
    ("prompt", "rooted"),
    [("root@node3:~#", True), ("[root@node3 ~]#", True), ("anna@node3:~$", False), ("[anna@node3 runs]$", False), ("#", False)],
)
def test_root_types_no_sudo(first, prompt, rooted):
    """Where root works, as in containers and bare installations, sudo is often missing."""
    shown = f"""{prompt} cat /etc/os-release
PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
ID=debian
VERSION_ID="12"
{prompt} docker run --rm --gpus all ubuntu nvidia-smi
docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].
"""
    steps = [step for fix in first(shown)["fixes"] for step in fix["steps"] if step["commands"]]
    assert steps
    assert any(step["root"] for step in steps) is not rooted


@pytest.mark.parametrize(
    ("before", "prompt", "rooted"),
    [
        ("root@node3:~# exit", "anna@node3:~$", False),
        ("root@node3:~# exit", "anna@node3 ~ %", False),
        ("anna@mac ~ % ssh root@node3", "root@node3:~#", True),
        ("anna@node3:~$ sudo -i", "root@node3:~#", True),
    ],
)
def test_of_two_accounts_nobody_knows_who_types_unless_one_went_over_to_the_other(first, before, prompt, rooted):
    shown = f"""{before}
{prompt} nvidia-smi -L
{prompt} docker run --rm --gpus all ubuntu nvidia-smi
docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].
"""
    assert any(step["root"] for fix in first(shown)["fixes"] for step in fix["steps"]) is not rooted


def test_nobody_joins_a_group_twice(first):
    nodes = "Failed to initialize NVML: Insufficient Permissions\n$ ls -l /dev/nvidia*\ncrw-rw---- 1 root video 195,   0 Feb 15 19:37 /dev/nvidia0\n$ groups\n{groups}\n"
    assert any("group video" in title for title in titles(first(nodes.format(groups="ada users wheel"))))
    assert not any("group video" in title for title in titles(first(nodes.format(groups="ada users video"))))


def test_an_old_board_has_no_better_slot(first):
    refused = "kfd kfd: amdgpu: skipped device 1002:67df, PCI rejects atomics\nCPU: {cpu}\n"
    assert any("slot" in title for title in titles(first(refused.format(cpu="Intel Core i7-9700K"))))
    assert not any("slot" in title for title in titles(first(refused.format(cpu="Intel Xeon X5650"))))


@pytest.mark.parametrize(("version", "newer"), [("390.157", False), ("470.223.02", False), ("535.129.03", True)])
def test_no_driver_is_newer_than_a_legacy_branch(first, version, newer):
    said = titles(first(REBUILD.format(version=version)))
    assert said
    assert any("install the NVIDIA driver" in title for title in said) is newer, said


def test_a_node_of_others_is_drained_before_its_gpu_is_reset(first):
    broken_memory = "NVRM: Xid (PCI:0000:3b:00): 48, pid=1234, An uncorrectable double bit error (DBE) has been detected on GPU.\n"
    alone = first(broken_memory)["fixes"][0]["steps"]
    assert alone[0]["kind"] != "drain-node"
    shared = first("#!/bin/bash\n#SBATCH --gpus=1\nsrun python train.py\n" + broken_memory)["fixes"][0]["steps"]
    assert shared[0]["kind"] == "drain-node"


def test_what_is_shown_to_tell_the_family_twice_pins_the_newer_one(first):
    body = "ImportError: /v/torch/lib/libtorch_cuda.so: undefined symbol: ncclMemFree\n[pip3] nvidia-nccl-cu11==2.14.3\n[pip3] nvidia-nccl-cu12==2.27.3\n"
    assert any("--no-deps" in one and "nvidia-nccl-cu12==2.27.3" in one for one in commands(first(body)))


def test_a_length_that_the_message_names_is_named(first):
    said = "ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache ({room}). Try decreasing `max_model_len`.\n"
    assert titles(first(said.format(room="28560")))[0] == "start the program with --max-model-len 27648"


def test_each_way_ends_with_what_shows_that_it_worked(first):
    for way in first(P100 + OLD_DRIVER)["fixes"]:
        assert way["check"]["title"].startswith("it worked if")


# -- the invariants can be broken
def answer(**machine):
    """An answer with one way that breaks nothing."""
    step = {
        "kind": "restart-machine",
        "params": {},
        "title": "restart the machine",
        "where": "here",
        "root": True,
        "commands": [["systemctl", "reboot"]],
    }
    check = {"title": "it worked if this lists the card", "commands": [["nvidia-smi", "-L"]], "where": "here"}
    fix = {"title": step["title"], "steps": [step], "check": check}
    finding = {"cause": "x", "severity": "error", "guess": False, "place": "", "mends": "", "fixes": [fix]}
    return {"machine": machine, "findings": [finding]}


PLANTED = {
    "no_other_systems_package_manager": ({"distributions": [{"id": "fedora"}]}, {"commands": [["apt-get", "install", "-y", "x"]]}),
    "no_linux_on_windows": ({"platforms": [{"system": "windows"}]}, {"commands": [["systemctl", "restart", "x"]]}),
    "no_kernel_work_inside": ({"platforms": [{"system": "linux", "wsl": 2}]}, {"commands": [["modprobe", "nvidia"]]}),
    "no_other_engines_words": ({"worlds": [{"container": "apptainer"}]}, {"title": "restart it with docker restart", "commands": []}),
    "no_branch_past_a_cards_last": (
        {"accelerators": [{"vendor": "nvidia", "isa": "sm_61"}]},
        {"kind": "install-driver", "params": {"branch": "595"}, "commands": []},
    ),
    "no_override_that_breaks_another_card": (
        {"accelerators": [{"vendor": "amd", "isa": "gfx1032"}, {"vendor": "amd", "isa": "gfx1201"}]},
        {"kind": "set-variable", "params": {"name": "HSA_OVERRIDE_GFX_VERSION", "value": "10.3.0"}, "commands": []},
    ),
    "no_unit_of_sleep_is_started": ({}, {"commands": [["systemctl", "enable", "--now", "nvidia-suspend"]]}),
    "no_conda_in_a_venv": ({"python_envs": [{"kind": "venv"}]}, {"commands": [["conda", "install", "-y", "cuda-nvcc"]]}),
    "every_torch_is_in_the_tables": (
        {},
        {"commands": [["python", "-m", "pip", "install", "torch==9.9.9", "--index-url", "https://download.pytorch.org/whl/cu126"]]},
    ),
    "every_new_python_has_wheels_of_what_is_pinned": (
        {"platforms": [{"system": "macos", "architecture": "arm64"}]},
        {"params": {"python": "3.13"}, "commands": [["native/bin/python", "-m", "pip", "install", "torch==2.5.1"]]},
    ),
    "titles_hold_what_commands_do": ({}, {"title": "install the headers, and build", "commands": [["dkms", "autoinstall"]]}),
    "nothing_half_filled": ({}, {"title": "install {packages}"}),
    "others_jobs_end_first": ({"job_requests": [{"script": "a.sh"}]}, {}),
    "nothing_that_is_there_already": (
        {"accounts": [{"groups": ["video"]}]},
        {"kind": "join-group-yourself", "params": {"group": "video"}, "commands": []},
    ),
}


def test_a_sound_way_breaks_nothing():
    assert not broken(answer())


@pytest.mark.parametrize("held", [held for held in HELD if held.__name__ != "it_ends_with_a_check"])
def test_each_invariant_sees_the_way_that_was_planted_for_it(held):
    machine, changed = PLANTED[held.__name__]
    planted = answer(**machine)
    planted["findings"][0]["fixes"][0]["steps"][0].update(copy.deepcopy(changed))
    assert any(f": {held.__name__}: " in told for told in broken(planted))


def test_a_way_without_a_check_is_seen():
    planted = answer()
    planted["findings"][0]["fixes"][0]["check"] = None
    assert any("it_ends_with_a_check" in told for told in broken(planted))


def test_a_cause_without_any_way_is_seen():
    planted = answer()
    planted["findings"][0]["fixes"] = []
    assert broken(planted) == ["x: nothing is said of how to mend it"]


def test_every_invariant_has_a_planted_way():
    assert {held.__name__ for held in HELD} == {*PLANTED, "it_ends_with_a_check"}
    assert Way(answer(), answer()["findings"][0], answer()["findings"][0]["fixes"][0]).system == ""


# -- as it is typed there
OVERRIDE = 'rocBLAS error: Cannot read {lib}/rocblas/library/TensileLibrary.dat: No such file or directory for GPU arch : gfx1032\n List of available TensileLibrary Files :\n"{lib}/rocblas/library/TensileLibrary_lazy_gfx1030.dat"\n'
BLACKWELL = "{lib}/torch/cuda/__init__.py:235: UserWarning:\nNVIDIA GeForce RTX 5080 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.\ntorch 2.5.1+cu124\n"


def test_a_variable_is_set_as_the_systems_shell_takes_it(first):
    assert "export HSA_OVERRIDE_GFX_VERSION=10.3.0" in commands(first(OVERRIDE.format(lib="/home/ada/x/torch/lib")))
    masked = "C:\\>set CUDA_VISIBLE_DEVICES=1\nC:\\>nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-1)\nRuntimeError: No CUDA GPUs are available\n"
    assert commands(first(masked)) == ["setx CUDA_VISIBLE_DEVICES 0"]
    assert commands(first("RuntimeError: CUDA error: device-side assert triggered\n")) == []  # of whatever system


def test_a_variable_that_one_system_alone_knows_tells_the_system(first):
    assert "export HSA_OVERRIDE_GFX_VERSION=10.3.0" in commands(first(OVERRIDE.format(lib="torch/lib")))


def test_packages_are_changed_in_the_python_that_failed(first):
    there = first(BLACKWELL.format(lib="/home/ada/env/lib/python3.11/site-packages"))
    assert commands(there)[0].startswith("/home/ada/env/bin/python -m pip install")
    assert there["fixes"][0]["check"]["commands"][0][0] == "/home/ada/env/bin/python"
    of_system = first("$ python3 t.py\n" + BLACKWELL.format(lib="/usr/lib/python3.11/site-packages"))
    assert commands(of_system)[0].startswith("python3 -m pip install")


def test_two_releases_that_a_text_names_are_none(first):
    one = "Debian 12\n" + P100 + OLD_DRIVER
    assert any("apt-get" in command for command in commands(first(one)))
    assert not any("apt-get" in command for command in commands(first(one + "a friend has Debian 11\n")))


def test_no_packages_of_a_driver_are_named_for_a_card_that_nobody_names(first):
    said = "RHEL 8.6\n" + OLD_DRIVER
    assert not any("nvidia" in command for command in commands(first(said)))
    assert any("nvidia" in command for command in commands(first(said + P100)))


def test_a_build_for_the_processor_is_not_asked_to_compute_on_a_card(first):
    ways = first(OVERRIDE.format(lib="/home/ada/x/torch/lib"))["fixes"]
    for way in ways:
        if any("/whl/cpu" in word for step in way["steps"] for argv in step["commands"] for word in argv):
            assert "cuda" not in way["check"]["commands"][0]


# -- what the message itself names
def test_the_length_that_an_engine_names_is_the_option(first):
    said = "ValueError: (6.00 GiB KV cache is needed, which is larger than the available KV cache memory (2.11 GiB). Based on the available memory, the estimated maximum model length is 11520.\n"
    assert titles(first(said))[0] == "start the program with --max-model-len 10240"


def test_of_two_holders_the_larger_is_looked_at(first):
    said = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 512.00 MiB is free. {} Of the allocated memory 900.00 MiB is allocated by PyTorch, and 40.00 MiB is reserved by PyTorch but unallocated.\n"
    held = ["Process 40021 has 21.90 GiB memory in use.", "Process 51200 has 1.20 GiB memory in use."]
    for order in (held, held[::-1]):
        assert commands(first(said.format(" ".join(order)))) == ["ps -o user,pid,etime,args -p 40021"]


def test_a_card_for_one_process_is_named_with_who_has_it(first):
    busy = "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable\n    Compute Mode                          : {}\npid, process_name, used_gpu_memory [MiB]\n20311, /opt/conda/bin/python, 512 MiB\n"
    exclusive = first(busy.format("Exclusive_Process"))
    assert exclusive["confidence"] == "certain"
    assert "ps -o user,pid,etime,args -p 20311" in commands(exclusive)
    assert first(busy.format("Default"))["confidence"] == "possible"


def test_intels_runtime_is_named_where_its_files_are_not_there(first):
    card = "03:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A770] [8086:56a0] (rev 08)\n" + UBUNTU
    gone = first(card + "ls: cannot access '/usr/lib/x86_64-linux-gnu/libze*': No such file or directory\n")
    assert gone["cause"] == "intel-compute-runtime-missing"
    assert commands(gone)[-1] == "apt-get install -y libze1 libze-intel-gpu1 intel-opencl-icd"
    assert any("ppa:kobuk-team/intel-graphics" in one for one in commands(gone))


def test_graphics_that_share_memory_are_given_more_of_it(first):
    said = "[    4.31] [drm] amdgpu: 512M of VRAM memory ready\nRyzen AI Max+ 395\ngfx1151\nggml_vulkan: Device memory allocation of size 68719476736 failed.\n"
    assert any("ttm.pages_limit" in title for title in titles(first(said)))
    assert not any("ttm" in title for title in titles(first(said.replace("Ryzen AI Max+ 395\ngfx1151", "Radeon RX 7900 XTX\ngfx1100"))))


# -- commands where there are some
def test_a_fresh_environment_is_made_and_installed_into(first):
    said = "{}$ python --version\nPython 3.8.10\n$ pip install torch==2.6.0 --index-url https://download.pytorch.org/whl/cu124\nLooking in indexes: https://download.pytorch.org/whl/cu124\nERROR: Could not find a version that satisfies the requirement torch==2.6.0 (from versions: 2.4.0+cu124, 2.4.1+cu124)\nERROR: No matching distribution found for torch==2.6.0\n"
    made, installed = commands(first(said.format("")))[:2]
    assert made == "uv venv --seed --python 3.9 env-3.9"
    assert installed.startswith("uv pip install --python env-3.9 torch==2.6.0+cu")
    of_conda = commands(first(said.format("/home/ada/miniconda3/envs/w/bin/pip\n")))
    assert of_conda[0] == "conda create -y -n env-3.9 python=3.9"
    assert of_conda[1].startswith("conda run -n env-3.9 python -m pip install")


def test_a_toolkit_that_is_listed_is_not_installed(first):
    inside = '  File "/home/ada/miniconda3/envs/w/lib/python3.9/site-packages/torch/utils/cpp_extension.py", line 413\n'
    listed = first(inside + MISMATCH + NVCC + "$ ls -d /usr/local/cuda*\n/usr/local/cuda  /usr/local/cuda-12.1\n")
    assert titles(listed)[0].startswith("set CUDA_HOME=/usr/local/cuda-12.1 for the program; to keep it")
    assert "10.1" in listed["title"]
    assert not any("install the CUDA toolkit" in title for title in titles(listed))


def test_a_service_that_is_not_there_is_not_started_alone(first):
    said = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\nDriver Version: 535.183.06\nError 802: system not yet initialized\n"
    started = "start the service nvidia-fabricmanager, now and with the machine"
    assert started in titles(first(said))
    ways = first(said + "Ubuntu 22.04\nUnit nvidia-fabricmanager.service could not be found.\n")
    assert started not in titles(ways)
    assert commands(ways)[0] == "apt-get install -y --allow-downgrades nvidia-fabricmanager-535=535.183.06*"


@pytest.mark.parametrize(
    ("told", "command"),
    [
        ("Ubuntu 24.04\n", "apt-get install -y gcc-12 g++-12"),
        ("/home/ada/miniconda3/envs/w/bin/nvcc\n", "conda install -y -c conda-forge gxx_linux-64=12.*"),
        ("", ""),
    ],
)
def test_an_older_compiler_by_who_has_one(first, told, command):
    refused = "host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions later than 12 are not supported!\n"
    assert ("".join(commands(first(told + refused))[:1])) == command


def test_an_engine_is_built_for_the_card_that_is_there(first):
    said = "$ pip install llama-cpp-python\n$ python3 -c 'import llama_cpp; print(llama_cpp.llama_supports_gpu_offload())'\nFalse\n/home/ada/x\n"
    for card, option in (("GPU 0: NVIDIA GeForce RTX 4060 (UUID: GPU-1)\n", "CUDA"), ("Radeon RX 7900 XTX\ngfx1100\n", "HIP")):
        assert f"export CMAKE_ARGS=-DGGML_{option}=ON" in commands(first(said + card))


def test_a_guest_in_a_window_is_promised_no_card(first):
    said = "an Ubuntu guest in {}\n00:0f.0 VGA compatible controller: VMware SVGA II Adapter\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    assert "hands no GPU" in titles(first(said.format("VMware Workstation")))[0]
    assert titles(first(said.format("VMware ESXi")))[0].startswith("at the host, where that is ESXi: mark the GPU")


# -- what words and single lines tell
def test_a_plea_keeps_a_machine_from_being_called_well(tmp_path):
    works = "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee)\n>>> torch.cuda.is_available()\nTrue\n"
    for said, verdict in (
        ("Помогите, видеокарта не используется\n", "unknown"),
        ("Die Grafikkarte wird nicht benutzt\n", "unknown"),
        ("All is well\n", "healthy"),
    ):
        (tmp_path / "said.txt").write_text(said + works, "utf-8")
        told = diagnose(str(tmp_path / "said.txt"))
        assert told["verdict"] == verdict
        assert not told["findings"]


def test_an_index_of_cuda_is_a_fact_beside_a_card_of_amds(named):
    said = "My card is a {}. I installed with\npip3 install torch --index-url https://download.pytorch.org/whl/cu118\nand torch.cuda.is_available() returns False\n"
    assert named(said.format("Radeon RX 6800")) == ["cuda-torch-on-amd"]
    assert named(said.format("GeForce RTX 3060")) == []


def test_windows_folder_that_the_loader_does_not_know(first):
    said = "$ uname -r\n5.15.167.4-microsoft-standard-WSL2\n$ ls /usr/lib/wsl/lib\nlibcuda.so.1\n$ ldconfig -p | grep libcuda\n{}$ python3 -c 'import torch; print(torch.cuda.is_available())'\nFalse\n"
    found = first(said.format(""))
    assert found["cause"] == "wsl-libcuda-link"
    assert "does not look in /usr/lib/wsl/lib" in found["title"]
    known = first(said.format("\tlibcuda.so.1 (libc6,x86-64) => /usr/lib/wsl/lib/libcuda.so.1\n"))
    assert "does not look in" not in known["title"]


# -- what only another maker's programs read
def test_no_mask_of_cuda_is_set_on_a_mac(first):
    said = "RuntimeError: Placeholder storage has not been allocated on MPS device!\n"
    assert not any("CUDA_VISIBLE_DEVICES" in title for title in titles(first(said)))
    there = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1!\n"
    assert any("CUDA_VISIBLE_DEVICES" in title for title in titles(first(there)))


def test_a_blackwell_card_is_given_machine_code(first):
    """CUDA 11.8's builds for Windows hold PTX of Kepler, which no library beside it has a kernel for."""
    warned = (
        "NVIDIA GeForce RTX 5060 Ti with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n"
        "The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_61 sm_70 sm_75 sm_80 sm_86 sm_90.\n"
        "C:\\sd> pip show torch\nName: torch\nVersion: 2.5.1+cu121\n"
    )
    said = commands(first(warned))
    assert any("whl/cu128" in command for command in said)
    assert not any("whl/cu118" in command for command in said)


def test_comfyuis_own_python_gets_its_packages(first):
    said = (
        "D:\\ComfyUI_windows_portable>.\\python_embeded\\python.exe -s ComfyUI\\main.py\n"
        "ModuleNotFoundError: No module named 'gguf'\n\n"
        "Cannot import D:\\ComfyUI_windows_portable\\ComfyUI\\custom_nodes\\ComfyUI-GGUF module for custom nodes: No module named 'gguf'\n"
    )
    assert ".\\python_embeded\\python.exe -m pip install gguf" in commands(first(said))


def test_words_that_are_the_same_anywhere_are_what_nothing_changes():
    """A kind that some surroundings would change must not be passed by."""
    settings = [
        Setting(
            system=system,
            wsl=wsl,
            world=world,
            engine=engine,
            owner=owner,
            project=project,
            shared=shared,
            busy=shared,
            isas=("sm_61",),
            vendor="nvidia",
            family="ubuntu",
            distribution="ubuntu",
            toolkit=True,
            persistenced=True,
        )
        for system, wsl in (("linux", False), ("linux", True), ("windows", False), ("macos", False), ("", False))
        for world, engine in (("host", ""), ("container", "docker"), ("container", "kubernetes"))
        for owner, project in (("", ""), ("conda", ""), ("venv", "uv"))
        for shared in (False, True)
    ]
    for name in SAME_ANYWHERE:
        step = make(name, dict.fromkeys(step_kinds()[name].params, "fewer"))
        for setting in settings:
            assert all(change([step], setting) == [step] for change in CHANGES), name
            assert not any(refuses(step, setting) for refuses in REFUSALS), name
    own = Path(guard.__file__).parent
    named = [file.name for file in own.glob("*.py") if any(f'"{name}"' in file.read_text("utf-8") for name in SAME_ANYWHERE)]
    assert named == ["__init__.py"], "what is passed by is spelt by nobody"


@pytest.mark.parametrize(("python", "torch"), [("3.9", "2.8.0"), ("3.10", "2.14.1"), ("3.12", "2.15.0"), ("", "2.15.0"), ("2.7", "2.15.0")])
def test_a_release_is_one_that_the_python_has_a_wheel_of(python, torch):
    """Where no release has one the step stays: nobody knows better."""
    step = make("install-torch", {"torch": "2.15.0", "torchvision": "0.29.2", "index": "https://download.pytorch.org/whl/cpu"})
    shown = guard.passed([step], Setting(release_of_python=python, system="linux"))
    assert [one.params["torch"] for one in shown] == [torch]
