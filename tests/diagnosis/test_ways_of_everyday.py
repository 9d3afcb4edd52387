"""Ways to mend that everyday texts asked for: where they are told, and the neighbours where they are not."""

import pytest

from answer_data import diagnose


@pytest.fixture
def first(tmp_path):
    """The first finding of a text."""

    def found(body):
        (tmp_path / "paste.txt").write_text(body, "utf-8")
        return next(iter(diagnose(str(tmp_path))["findings"]), None)

    return found


def commands(finding):
    return [argv for way in finding["fixes"] for step in way["steps"] for argv in step["commands"] or ()]


def glibc(path):
    return f"Ubuntu 20.04.6 LTS\nImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found (required by {path})\n"


def test_what_is_not_torchs_own_is_compiled_for_the_libc_that_is_there(first):
    finding = first(glibc("/venv/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so"))
    assert ["export", "FLASH_ATTENTION_FORCE_BUILD=TRUE"] in commands(finding)
    assert commands(finding)[1][-2:] == ["flash-attn", "flash-attn"]


def test_torchs_own_library_is_not_compiled(first):
    finding = first(glibc("/venv/lib/python3.10/site-packages/torch/lib/libtorch_cpu.so"))
    assert not any("--no-binary" in argv for argv in commands(finding))


CUDNN_8 = (
    "Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file: No such file or directory\n"
    "$ pip list | grep -E 'torch|cudnn'\n"
)


def test_a_library_of_another_major_than_torchs_is_put_beside_the_environment(first):
    finding = first(CUDNN_8 + "nvidia-cudnn-cu12        9.1.0.70\ntorch                    2.4.1\n")
    install = next(argv for argv in commands(finding) if "install" in argv)
    assert "--target" in install
    assert install[-1] == "nvidia-cudnn-cu12==8.*"


def test_a_library_that_nobody_else_needs_goes_into_the_environment(first):
    finding = first(CUDNN_8 + "torch                    2.2.2\n")
    assert not any("--target" in argv for argv in commands(finding))


def smi(*used):
    head = "| NVIDIA-SMI 525.105.17   Driver Version: 525.105.17   CUDA Version: 12.0     |\n"
    rows = (
        f"|   {index}  NVIDIA GeForce RTX 3090  Off | 00000000:{bus}:00.0 Off |                  N/A |\n| 62%   71C    P2   310W / 350W |  {mib}MiB / 24576MiB |     98%      Default |\n"
        for index, (bus, mib) in enumerate(zip(("1A", "1B", "3D"), used, strict=False))
    )
    refusal = "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 23.69 GiB total capacity; 5.12 MiB already allocated; 10.56 MiB free; 22.00 MiB reserved in total by PyTorch)\n"
    return refusal + head + "".join(rows)


def chosen_cards(finding):
    return [step["params"]["value"] for way in finding["fixes"] for step in way["steps"] if step["kind"] == "set-variable"]


def test_a_free_card_beside_a_full_one_is_named(first):
    assert chosen_cards(first(smi(24173, 20110, 3))) == ["2"]


def test_no_card_is_named_where_all_are_in_use(first):
    assert chosen_cards(first(smi(24173, 20110, 18000))) == []


MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n$ dpkg -l | grep -i nvidia | awk '{print $2,$3}'\n"


def test_packages_over_an_installers_libraries_are_removed(first):
    finding = first(MISMATCH + "libnvidia-compute-535:amd64 535.183.01-0ubuntu0.22.04.1\nnvidia-utils-535 535.183.01-0ubuntu0.22.04.1\n")
    assert commands(finding)[0][-2:] == ["libnvidia-compute-535", "nvidia-utils-535"]
    assert finding["fixes"][0]["steps"][1]["kind"] == "run-installer-again"


def test_packages_that_bring_the_module_too_only_wait_for_a_restart(first):
    finding = first(MISMATCH + "nvidia-dkms-535 535.183.01-0ubuntu0.22.04.1\nnvidia-utils-535 535.183.01-0ubuntu0.22.04.1\n")
    assert finding["fixes"][0]["steps"][0]["kind"] == "reload-driver"


BUILD = (
    "Ubuntu 22.04\nError! Bad return status for module build on kernel: 6.8.0-40-generic (x86_64)\nConsult /var/lib/dkms/nvidia/535.183.01/build/make.log for more information.\n"
    "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-40-generic\n"
)


@pytest.mark.parametrize(("used", "needed"), [("11.4.0", True), ("12.3.0", False)])
def test_the_compiler_that_built_the_kernel_is_installed_where_an_older_one_is_used(first, used, needed):
    finding = first(
        BUILD
        + f"  The kernel was built by: x86_64-linux-gnu-gcc-12 (Ubuntu 12.3.0-1ubuntu1~22.04) 12.3.0\n  You are using:           cc (Ubuntu {used}-1ubuntu1~22.04) {used}\n"
    )
    assert any("gcc-12" in argv for argv in commands(finding)) is needed


MASKED = (
    '>>> torch.cuda.is_available(), torch.cuda.device_count()\n(True, 1)\n$ python -c "import torch; print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.get_device_name(0))"\nTrue 1 NVIDIA GeForce RTX 4060 Ti\n'
    "$ cat train.py\nimport os\nos.environ[\"CUDA_VISIBLE_DEVICES\"] = '{mask}'\nimport torch\n$ python train.py\nRuntimeError: No CUDA GPUs are available\n"
)


def test_a_mask_that_the_program_sets_is_changed_in_the_program(first):
    finding = first(MASKED.format(mask="3"))
    assert finding["cause"] == "cuda-visible-devices-wrong"
    assert [step["kind"] for step in finding["fixes"][0]["steps"]] == ["change-mask-in-program"]


def test_a_mask_of_a_card_that_torch_counts_is_not_blamed(first):
    finding = first(MASKED.format(mask="0"))
    assert finding is None or finding["cause"] != "cuda-visible-devices-wrong"


HOOK = "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown\n"


def test_a_host_without_the_drivers_tool_has_no_driver(first):
    finding = first(
        "ada@vm:~$ docker run --rm --gpus all ubuntu nvidia-smi\n"
        + HOOK
        + "ada@vm:~$ nvidia-smi\nCommand 'nvidia-smi' not found, but can be installed with:\n"
    )
    assert finding["cause"] == "nvidia-driver-missing"


def test_an_engine_alone_that_finds_no_library_is_in_a_world_of_its_own(first):
    assert first("ada@vm:~$ docker run --rm --gpus all ubuntu nvidia-smi\n" + HOOK)["cause"] == "docker-flavour-without-gpu"


@pytest.mark.parametrize(
    ("kernel", "package"), [("6.8.12-9-pve", "proxmox-headers-6.8.12-9-pve"), ("6.1.0-28-amd64", "linux-headers-6.1.0-28-amd64")]
)
def test_headers_are_named_as_the_kernels_own_packages_are(first, kernel, package):
    finding = first(
        f'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nError! Your kernel headers for kernel {kernel} cannot be found at /lib/modules/{kernel}/build\nmodprobe: FATAL: Module nvidia not found in directory /lib/modules/{kernel}\n'
    )
    assert any(package in argv for argv in commands(finding))


@pytest.mark.parametrize(("kernel", "told"), [("6.8.0-60-generic", True), ("6.1.0-28-amd64", False)])
def test_drivers_that_a_lean_kernel_leaves_out_have_a_package(first, kernel, told):
    finding = first(
        f"Ubuntu 24.04\nROCk module is NOT loaded, possibly no GPU devices\nmodprobe: FATAL: Module amdgpu not found in directory /lib/modules/{kernel}\n03:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XT/7900 XTX] [1002:744c]\n"
    )
    assert any("linux-modules-extra" in word for argv in commands(finding) for word in argv) is told


UV = "PS D:\\app> uv run train.py\nAssertionError: Torch not compiled with CUDA enabled\nPS D:\\app> uv pip list\ntorch              2.7.1+cpu\n| NVIDIA-SMI 576.80                 Driver Version: 576.80         CUDA Version: 12.9     |\n|   0  NVIDIA GeForce RTX 4070      WDDM  |   00000000:07:00.0  On |                  N/A |\n"


def test_a_project_of_uv_is_told_what_it_keeps(first):
    assert commands(first(UV))[0][:2] == ["uv", "add"]


def test_outside_projects_packages_are_installed_as_they_are_listed(first):
    by_uv = UV.replace("uv run train.py", "python train.py")
    assert commands(first(by_uv))[0][:3] == ["uv", "pip", "install"]
    assert commands(first(by_uv.replace("uv pip list", "pip list")))[0][1:3] == ["-m", "pip"]


GTT = "[    0.000000] Command line: BOOT_IMAGE=/boot/vmlinuz-{kernel} root=UUID=1 ro quiet amdgpu.gtt_size=98304\n[    3.636913] amdgpu: unknown parameter 'gtt_size' ignored\n"


@pytest.mark.parametrize(
    ("kernel", "program"),
    [("6.14.0-1014-oem", "update-initramfs"), ("6.16.7-arch1-1", "mkinitcpio"), ("6.15.4-200.fc42.x86_64", "dracut"), ("6.16.3", "sh")],
)
def test_the_initramfs_is_rebuilt_by_the_program_of_the_kernels_own_family(first, kernel, program):
    finding = first(GTT.format(kernel=kernel))
    step = next(step for way in finding["fixes"] for step in way["steps"] if step["kind"] == "set-module-option")
    assert step["params"]["value"] == str(98304 * 256)
    assert step["commands"][1][0] == program
