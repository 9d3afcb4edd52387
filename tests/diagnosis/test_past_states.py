"""The last state that a text shows is the present one: what failed before, and works where it is shown last, is past."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer_data import diagnose
from rigup.knowledge.turns import removals, turn_of, turns, without_trials

SILENT = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.195\n"
LISTED = "name, driver_version, memory.total [MiB]\nNVIDIA GeForce RTX 4070, 570.195.03, 12282 MiB\n"
SMI = "$ nvidia-smi\n"
QUERY = "$ nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv\n"
TABLE = """+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.195.03             Driver Version: 570.195.03     CUDA Version: 12.8     |
|   0  NVIDIA GeForce RTX 4070        Off |   00000000:01:00.0  On |                  N/A |
|  0%   38C    P8              9W /  200W |     312MiB /  12282MiB |      0%      Default |
"""
ASKED = "$ python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'\n"
NO_IMAGE = "$ python gen.py\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n"
SMI_OF = "$ nvidia-smi --query-gpu=name,compute_cap --format=csv\nname, compute_cap\nNVIDIA GeForce RTX 5070, 12.0\n"

SOLVED = {
    "mismatch-en": (
        "nvml-driver-library-mismatch",
        f"This morning, Debian 12:\n{SMI}{MISMATCH}\nUPDATE: a reboot fixed it.\n{QUERY}{LISTED}",
    ),
    "mismatch-ru": (
        "nvml-driver-library-mismatch",
        f"[решено] Ubuntu 24.04, ночью обновился драйвер.\n{SMI}{MISMATCH}\nПосле перезагрузки:\n{SMI}{TABLE}",
    ),
    "mismatch-zh": ("nvml-driver-library-mismatch", f"Ubuntu 22.04，早上运行报错：\n{SMI}{MISMATCH}\n已解决，重启后正常：\n{SMI}{TABLE}"),
    "mismatch-de": ("nvml-driver-library-mismatch", f"Debian 12, heute früh:\n{SMI}{MISMATCH}\nGelöst: Neustart. Danach:\n{QUERY}{LISTED}"),
    "mismatch-without-a-word": (
        "nvml-driver-library-mismatch",
        f"{SMI}{MISMATCH}$ sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia\n{SMI}{TABLE}",
    ),
    "no-code-for-the-chip": (
        "gpu-arch-newer-than-wheel",
        f"{SMI_OF}$ pip list | grep torch\ntorch 2.5.1+cu121\n{NO_IMAGE}\nEdit: solved, I needed the cu128 wheel.\n$ pip list | grep -i ^torch\ntorch 2.8.0+cu128\n>>> torch.ones(2, device='cuda') * 2\ntensor([2., 2.], device='cuda:0')\n",
    ),
    "groups-ru": (
        "render-group-missing",
        "RX 7900 XTX, Ubuntu 24.04.\n$ rocminfo\nROCk module is loaded\nUnable to open /dev/kfd read-write: Permission denied\nivan is not member of \"render\" group, the default DRM access group.\n\nПерелогинился, теперь:\n$ rocminfo | grep -E 'Name:'\n  Name:                    gfx1100\n  Marketing Name:          AMD Radeon RX 7900 XTX\n"
        + ASKED
        + "2.9.0+rocm6.4 True\n",
    ),
    "driver-zh": (
        "driver-too-old-for-wheel",
        f"$ python t.py\nRuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver by downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx\n\n更新：驱动升级之后解决了：\n{SMI}{TABLE}$ python -c 'import torch; print(torch.zeros(1).cuda())'\ntensor([0.], device='cuda:0')\n",
    ),
    "nouveau": (
        "nouveau-bound",
        f"Fedora 42, RTX 4070.\n$ lspci -k -s 01:00.0\n01:00.0 VGA compatible controller: NVIDIA Corporation AD104 [GeForce RTX 4070] (rev a1)\n\tKernel driver in use: nouveau\n{SMI}{SILENT}\nafter installing akmod-nvidia and a reboot:\n{SMI}{TABLE}",
    ),
}

HELD = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.56 GiB of which 812.00 MiB is free. Process 4411 has 17.30 GiB memory in use. Including non-PyTorch memory, this process has 5.20 GiB memory in use.\n"
LOADED = "NAME           ID              SIZE     PROCESSOR    CONTEXT    UNTIL\nllama3.1:8b    46e0c10c039e    6.9 GB    100% GPU     4096       3 minutes from now\n"

STANDING = {
    "a-column-that-speaks-of-now": ("gpu-memory-held-by-others", f"{HELD}$ ollama ps\n{LOADED}"),
    "worked-yesterday": (
        "nvml-driver-library-mismatch",
        f"Ubuntu 24.04, right now:\n{SMI}{MISMATCH}\nYesterday it still looked like this:\n{SMI}{TABLE}",
    ),
    "worked-before-in-order": ("nvml-driver-library-mismatch", f"Last week:\n{SMI}{TABLE}\nNow, after the update:\n{SMI}{MISMATCH}"),
    "worked-before-ru": ("nvml-driver-library-mismatch", f"Сейчас:\n{SMI}{MISMATCH}\nВчера, до обновления, было так:\n{SMI}{TABLE}"),
    "worked-before-zh": ("nvml-driver-library-mismatch", f"现在：\n{SMI}{MISMATCH}\n昨天升级前还是好的：\n{SMI}{TABLE}"),
    "fails-again": (
        "nvml-driver-library-mismatch",
        f"{SMI}{MISMATCH}\nUPDATE: a reboot fixed it.\n{SMI}{TABLE}\nand today again:\n{SMI}{MISMATCH}",
    ),
    "on-another-machine": (
        "nvml-driver-library-mismatch",
        f"ada@box:~$ nvidia-smi\n{MISMATCH}\nnow the same on the other one:\nada@spare:~$ nvidia-smi\n{TABLE}",
    ),
    "no-code-though-the-driver-lists-it": (
        "gpu-arch-newer-than-wheel",
        f"$ pip list | grep torch\ntorch 2.5.1+cu121\n{NO_IMAGE}\nI updated the driver, now:\n{SMI_OF}",
    ),
    "with-anothers-rights": (
        "device-node-permissions",
        f"{SMI}Failed to initialize NVML: Insufficient Permissions\nwith sudo it works now:\n$ sudo nvidia-smi\n{TABLE}",
    ),
    "in-a-container": (
        "container-lost-gpu-after-daemon-reload",
        f"$ docker run --rm --gpus all ubuntu nvidia-smi\nFailed to initialize NVML: Unknown Error\nOn the host, after the update:\n{SMI}{TABLE}",
    ),
    "comes-and-goes": (
        "gpu-fell-off-bus",
        f"Feb 01 kernel: NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\nAfter a reboot it works again for some hours:\n{SMI}{TABLE}",
    ),
    "with-the-release-before": (
        "gpu-arch-older-than-wheel",
        f"now with torch 2.9.0+cu130:\n{NO_IMAGE}$ nvidia-smi --query-gpu=name,compute_cap --format=csv\nname, compute_cap\nTesla V100-PCIE-32GB, 7.0\nwith the previous torch 2.6 it worked:\n>>> torch.ones(2,device='cuda')\ntensor([1., 1.], device='cuda:0')\n",
    ),
    "on-the-host-in-words": (
        "container-lost-gpu-after-daemon-reload",
        f"root@3f9a1c2b4d5e:/# nvidia-smi\nFailed to initialize NVML: Unknown Error\nafter a reload; on the host:\n{SMI}{TABLE}",
    ),
    "another-card-computes": (
        "gpu-arch-older-than-wheel",
        f"$ nvidia-smi --query-gpu=index,name,compute_cap --format=csv\nindex, name, compute_cap\n0, Tesla P100-PCIE-16GB, 6.0\n1, NVIDIA A40, 8.6\n$ pip list | grep torch\ntorch 2.9.0+cu130\n{NO_IMAGE}now on the other card:\n>>> torch.ones(2, device='cuda:1')\ntensor([1., 1.], device='cuda:1')\n",
    ),
    "torch-computes-and-a-program-not": (
        "binary-arch-missing",
        "$ nvidia-smi --query-gpu=name,driver_version --format=csv,noheader\nNVIDIA GeForce RTX 4070, 570.195.03\n$ ./build/bin/llama-server -m m.gguf -ngl 99\nwarning: no usable GPU found, --gpu-layers option will be ignored\nwarning: one possible reason is that llama.cpp was compiled without GPU support\n\nnow torch, to be sure:\n>>> torch.ones(2, device='cuda')\ntensor([1., 1.], device='cuda:0')\n",
    ),
    "only-hoped-for": ("nvml-driver-library-mismatch", f"{SMI}{MISMATCH}\nIs it fixed after a reboot?\n"),
}


def answered(body, scratch):
    (scratch / "paste.txt").write_text(body, encoding="utf-8")
    return diagnose(str(scratch / "paste.txt"))


@pytest.mark.long
@pytest.mark.parametrize(("cause", "body"), SOLVED.values(), ids=SOLVED)
def test_what_works_where_it_is_shown_last_is_past(cause, body, tmp_path):
    answer = answered(body, tmp_path)
    told = {finding["cause"]: finding for finding in answer["findings"]}
    assert told[cause]["past"] is True
    assert told[cause]["severity"] == "note"
    assert not told[cause]["fixes"]
    assert answer["verdict"] in ("healthy", "unknown")
    assert all(device["state"] != "no" for device in answer["machine"]["accelerators"])


@pytest.mark.parametrize(("cause", "body"), STANDING.values(), ids=STANDING)
def test_what_fails_where_it_is_shown_last_stands(cause, body, tmp_path):
    answer = answered(body, tmp_path)
    assert answer["verdict"] == "broken"
    assert (answer["findings"][0]["cause"], "past" in answer["findings"][0]) == (cause, False)


def test_what_a_past_fault_hid_comes_to_light(tmp_path):
    body = f"{SMI}{MISMATCH}\nAfter a reboot:\n{SMI_OF}$ pip list | grep torch\ntorch 2.5.1+cu121\n{NO_IMAGE}"
    first, *others = answered(body, tmp_path)["findings"]
    assert first["cause"] == "gpu-arch-newer-than-wheel"
    assert [finding["cause"] for finding in others if finding.get("past")] == ["nvml-driver-library-mismatch"]


def test_the_driver_is_that_of_the_last_state(tmp_path):
    old = "$ cat /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  570.172.08  Tue Jul  8 18:26:06 UTC 2025\n"
    (device,) = answered(f"{SMI}{MISMATCH}{old}\nNow:\n{SMI}{TABLE}{old.replace('172.08', '195.03')}", tmp_path)["machine"]["accelerators"]
    assert device["driver"]["version"] == "570.195.03"


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "second", "driver"),
    [
        ("Before I upgraded:", "and now:", "580.95.05"),
        ("Now:", "Last week it was", "535.183.01"),
        ("Сейчас:", "До обновления было", "535.183.01"),
        ("现在：", "另一台机器：", "535.183.01"),
        ("Vorher:", "Jetzt:", "580.95.05"),
    ],
)
def test_what_is_said_to_be_of_another_time_is_no_fact_of_the_present(first, second, driver, tmp_path):
    asked = "$ nvidia-smi --query-gpu=name,driver_version --format=csv,noheader\nNVIDIA GeForce RTX 4070, "
    body = f"{first}\n{asked}535.183.01\n{second}\n{asked}580.95.05\n"
    (device,) = answered(body, tmp_path)["machine"]["accelerators"]
    assert device["driver"]["version"] == driver


@pytest.mark.parametrize("row", turns(), ids=lambda row: row.language + "-" + row.kind)
def test_each_row_knows_its_example(row):
    assert turn_of(row.example) == row.kind
    assert turn_of(row.near_miss) is None


@pytest.mark.parametrize("row", removals(), ids=lambda row: row.language)
def test_each_row_of_removals_knows_its_example(row):
    assert without_trials(row.example) != row.example
    assert without_trials(row.near_miss) == row.near_miss


@pytest.mark.parametrize(
    ("end", "verdict"), [("so I deleted that venv.", "unknown"), ("so I deleted that venv; here it is still the same.", "broken")]
)
def test_a_message_of_an_environment_that_is_removed_is_no_fault(end, verdict, tmp_path):
    said = f"I tried it in another venv and it complains that cublasLt64_12.dll is missing, {end}\n"
    assert answered(said + "Windows 11, RTX 4070.\n", tmp_path)["verdict"] == verdict


@given(st.text(max_size=400))
def test_any_line_is_read(line):
    assert turn_of(line) in ("now", "then", None)


def test_a_line_that_tells_of_a_fault_may_end_in_what_mended_it(tmp_path):
    said = 'Last week: "NVRM: API mismatch: the client has the version 570.153.02, but this kernel module has the version 570.144". '
    shown = (
        '\n\n$ python -c "import torch; print(torch.cuda.is_available(), torch.cuda.get_device_name(0))"\nTrue NVIDIA GeForce RTX 4060 Ti\n'
    )
    file = tmp_path / "paste.txt"
    file.write_text(said + "After a reboot it works:" + shown, encoding="utf-8")
    mended = diagnose(str(file))["findings"]
    assert [finding["severity"] for finding in mended if finding["cause"] == "nvml-driver-library-mismatch"] == ["note"]
    assert mended[0]["title"].startswith("Mended: ")
    file.write_text("After a reboot it works? No: " + said + shown, encoding="utf-8")
    assert diagnose(str(file))["findings"][0]["severity"] == "error"
