"""What a person with that machine is told to do where a build does not fit it."""

import pytest

from answer_data import diagnose

CPU = "PyTorch version: 2.5.1+cpu\nIs debug build: False\nCUDA used to build PyTorch: None\nOS: {system}\nPython version: 3.11.9 (64-bit runtime)\nIs CUDA available: False\nGPU models and configuration: GPU 0: {card}\nNvidia driver version: {driver}\n"
DROPPED = "Found GPU0 {card} which is of cuda capability {major}.{minor}.\nPyTorch no longer supports this GPU because it is too old.\nThe minimum cuda capability supported by this library is 3.7.\n"
NEWER = "{card} with CUDA capability sm_120 is not compatible with the current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.\n"


@pytest.fixture
def told(tmp_path):
    """The ways to mend a cause that a text tells: their titles, and the commands of each, in words."""

    def ways(body, cause):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        (finding,) = [one for one in diagnose(str(tmp_path))["findings"] if one["cause"] == cause][:1]
        titles = [way["title"] for way in finding["fixes"]]
        commands = [" ".join(word for step in way["steps"] for argv in step["commands"] for word in argv) for way in finding["fixes"]]
        return titles, commands

    return ways


# -- which torch
@pytest.mark.parametrize("system", ["Ubuntu 22.04.4 LTS (x86_64)", "Microsoft Windows 11 Pro"])
def test_the_release_that_is_there_comes_again_with_a_toolkit_that_the_driver_shows(told, system):
    titles, commands = told(CPU.format(system=system, card="NVIDIA GeForce RTX 3060", driver="550.54.15"), "cpu-only-torch")
    assert titles == ["install torch 2.5.1 from https://download.pytorch.org/whl/cu124"]
    assert "torch==2.5.1+cu124 torchvision==0.20.1+cu124" in commands[0]


def test_where_no_driver_is_told_the_newest_variant_that_an_old_driver_carries_is_taken(told):
    body = CPU.format(system="Ubuntu 22.04.4 LTS (x86_64)", card="NVIDIA GeForce RTX 3060", driver="Could not collect")
    assert told(body, "cpu-only-torch")[0] == ["install torch 2.5.1 from https://download.pytorch.org/whl/cu124"]


def test_where_card_and_driver_are_not_told_rigups_plan_chooses_there(told):
    titles, _commands = told(">>> torch.__version__\n'2.4.0+cpu'\n>>> torch.cuda.is_available()\nFalse\n", "cpu-only-torch")
    assert len(titles) == 1
    assert "rigup plan torch" in titles[0]
    assert "rigup apply torch" in titles[0]


def test_a_newer_card_gets_the_nearest_release_with_code_for_it(told):
    body = "torch 2.6.0+cu124\n" + NEWER.format(card="NVIDIA GeForce RTX 5070 Ti")
    assert told(body, "gpu-arch-newer-than-wheel")[0] == ["install torch 2.7.0 from https://download.pytorch.org/whl/cu128"]


@pytest.mark.parametrize(("card", "major", "minor"), [("GeForce GT 720", 3, 5), ("GeForce GTX 660 Ti", 3, 0)])
def test_a_card_for_which_no_build_is_left_is_promised_none(told, card, major, minor):
    titles, _commands = told(DROPPED.format(card=card, major=major, minor=minor), "gpu-arch-older-than-wheel")
    assert len(titles) == 1
    assert titles[0].startswith("use a machine with a supported GPU, or let the program compute on the processor")
    assert "CUDA_VISIBLE_DEVICES=-1" in titles[0]


def test_a_card_that_some_build_still_serves_gets_that_one(told):
    body = "torch 2.8.0+cu128\nFound GPU0 NVIDIA GeForce GTX 1080 which is of cuda capability 6.1.\nMinimum and Maximum cuda capability supported by this version of PyTorch is (7.0) - (12.0)\n"
    titles, _commands = told(body, "gpu-arch-older-than-wheel")
    assert titles == ["install torch 2.8.0 from https://download.pytorch.org/whl/cu126"]


def test_another_frameworks_words_ask_for_that_framework(told):
    body = "The GPU compute capability in your current machine is 120, which is not supported by Paddle, it is recommended to install the corresponding wheel package\n"
    titles, _commands = told(body, "gpu-arch-newer-than-wheel")
    assert "paddle" in titles[0]
    assert "torch" not in titles[0]


def test_a_card_of_intels_gets_the_build_for_intel(told):
    body = "I have an Intel Arc B580 on Linux.\n>>> torch.__version__\n'2.8.0+cpu'\n>>> torch.xpu.is_available()\nFalse\nGPU 0: Intel(R) Arc(TM) B580 Graphics\n"
    titles, _commands = told(body, "cpu-only-torch")
    assert titles == ["install torch 2.8.0 from https://download.pytorch.org/whl/xpu"]


def test_two_packages_of_one_folder_are_not_left_beside_each_other(told):
    body = "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0c1e2f00)\n>>> onnxruntime.get_available_providers()\n['AzureExecutionProvider', 'CPUExecutionProvider']\nSpecified provider 'CUDAExecutionProvider' is not in available provider names.Available providers: 'AzureExecutionProvider, CPUExecutionProvider'\n"
    titles, _commands = told(body, "cpu-only-torch")
    assert titles == ["remove onnxruntime from the environment; install onnxruntime-gpu"]


# -- conda
def test_conda_lets_go_of_what_holds_the_processors_build_and_asks_for_one_with_cuda(told):
    body = "$ conda list\ncpuonly                   2.0                           0    pytorch\npytorch                   2.1.0              py3.11_cpu_0    pytorch\ntorchvision               0.16.0                py311_cpu    pytorch\n"
    titles, commands = told(body, "cpu-only-torch")
    assert titles[0].startswith("remove cpuonly from the environment with conda; install pytorch=2.1.*=cuda*")
    assert commands[0].startswith("conda remove -y cpuonly")
    assert "conda-forge" in commands[0]


def test_without_that_package_conda_is_asked_for_the_build_alone(told):
    body = "$ conda list\npytorch                   2.4.0           cpu_generic_py311h64f9f0a_1    conda-forge\n"
    titles, commands = told(body, "cpu-only-torch")
    assert titles == ["install pytorch=2.4.*=cuda* from the channel conda-forge"]
    assert "remove" not in commands[0]


# -- the driver
def test_the_same_release_for_the_carried_cuda_goes_before_a_driver(told):
    body = "PyTorch version: 2.9.1+cu130\nCUDA used to build PyTorch: 13.0\nOS: Ubuntu 22.04.4 LTS (x86_64)\nIs CUDA available: False\nGPU models and configuration: GPU 0: NVIDIA GeForce RTX 3060\nNvidia driver version: 550.54.15\n"
    titles, _commands = told(body, "driver-too-old-for-wheel")
    assert titles[0] == "install torch 2.9.1 from https://download.pytorch.org/whl/cu126"
    assert "driver" in titles[1]


def test_a_program_without_torch_gets_a_driver_and_no_torch(told):
    titles, _commands = told(
        "hashcat (v6.2.6)\nOutdated or broken NVIDIA driver\nnvenc: Driver does not support the required nvenc API version. Required: 12.1 Found: 11.1\n",
        "driver-too-old-for-wheel",
    )
    assert titles
    assert all("driver" in title and "torch" not in title for title in titles)


# -- what belongs to torch
def test_a_local_part_that_names_no_index_makes_no_address(told):
    body = "torch==2.9.1+ascend.rc2\ntorchvision==0.20.1\nRuntimeError: operator torchvision::nms does not exist\n"
    titles, _commands = told(body, "torch-torchvision-mismatch")
    assert titles
    assert not any("ascend" in title for title in titles)


def test_a_commit_in_a_local_part_is_left_out_of_the_address(told):
    body = "torch==2.10.0+rocm7.1.0.git7e1940d4\ntorchvision==0.20.1+rocm7.1.0.git7e1940d4\nRuntimeError: operator torchvision::nms does not exist\n"
    titles, _commands = told(body, "torch-torchvision-mismatch")
    assert titles
    assert titles[0].endswith("/whl/rocm7.1")


def test_torchaudio_comes_along_where_it_is_what_does_not_fit(told):
    titles, commands = told(
        "$ pip list\ntorch 2.4.1+cu121\ntorchvision 0.19.1+cu121\ntorchaudio 2.3.0+cu121\n", "torch-torchvision-mismatch"
    )
    assert titles == ["install torch 2.4.1, with torchvision and torchaudio, from https://download.pytorch.org/whl/cu121"]
    assert "torchaudio==2.4.1" in commands[0]


def test_where_nobody_tells_the_torch_the_three_are_installed_together(told):
    titles, _commands = told("RuntimeError: operator torchvision::nms does not exist\n", "torch-torchvision-mismatch")
    assert titles == ["install torch, torchvision and torchaudio again together, all from the index that torch came from"]


@pytest.mark.parametrize(("folder", "named"), [("site-packages/causal_conv1d", True), ("lib", False)])
def test_a_folders_name_is_no_package(told, folder, named):
    body = f"ImportError: /opt/v/{folder}/fused_kernels.so: undefined symbol: _ZN3c107WarningC1ESt7variant\n"
    titles, _commands = told(body, "torch-torchvision-mismatch")
    assert ("causal_conv1d" in titles[0]) == named
    assert "install lib " not in titles[0]


# -- code for the card
FRAME = '  File "/opt/v/lib/python3.11/site-packages/{package}/ops.py", line 7, in forward\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n'


@pytest.mark.parametrize(("package", "variable"), [("mamba_ssm", "TORCH_CUDA_ARCH_LIST=12.0"), ("flash_attn", "FLASH_ATTN_CUDA_ARCHS=120")])
def test_an_extension_of_torch_is_built_for_the_card_by_its_own_variable(told, package, variable):
    body = "GPU 0: NVIDIA GeForce RTX 5080 (UUID: GPU-0c1e2f00)\n" + FRAME.format(package=package)
    _titles, commands = told(body, "binary-arch-missing")
    assert any(variable in command for command in commands)


def test_a_program_of_its_own_is_compiled_and_takes_no_variable_of_torchs(told):
    body = (
        "ggml-cuda/common.cuh:98: ggml was not compiled with any CUDA arch <= 1200\nGPU 0: NVIDIA GeForce RTX 5080 (UUID: GPU-0c1e2f00)\n"
    )
    titles, commands = told(body, "binary-arch-missing")
    assert "CMAKE_CUDA_ARCHITECTURES=120" in titles[0]
    assert "Vulkan" in titles[-1]
    assert not any("TORCH_CUDA_ARCH_LIST" in command for command in commands)


def test_an_extension_that_lies_on_no_index_is_built_from_its_repository(told):
    titles, commands = told(
        "GPU 0: NVIDIA GeForce RTX 5080 (UUID: GPU-0c1e2f00)\n" + FRAME.format(package="detectron2"), "binary-arch-missing"
    )
    assert titles[0] == "compile detectron2 for this GPU, with TORCH_CUDA_ARCH_LIST=12.0"
    assert not any("pip" in command for command in commands)


def test_tensorflow_takes_no_variable_of_torchs(told):
    body = "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be jit-compiled from PTX\nGPU 0: NVIDIA GeForce RTX 5080 (UUID: GPU-0c1e2f00)\n'cuModuleLoadData' failed with 'CUDA_ERROR_INVALID_PTX'\n"
    titles, commands = told(body, "binary-arch-missing")
    assert titles == ["get, or make, a build of the program for sm_120"]
    assert not any("TORCH" in command for command in commands)


def test_a_package_that_never_serves_such_a_card_is_left_off(told):
    body = "GPU 0: NVIDIA GeForce RTX 2080 Ti (UUID: GPU-0c1e2f00)\nRuntimeError: FlashAttention only supports Ampere GPUs or newer.\n"
    titles, _commands = told(body, "binary-arch-missing")
    assert titles[0].startswith("do without flash-attn")
    assert not any("newest release" in title for title in titles)


# -- the system
def test_windows_gets_the_package_that_is_made_for_it(told):
    body = "OS: Microsoft Windows 11 Pro\nPyTorch version: 2.6.0+cu124\ntorch._inductor.exc.InductorError: RuntimeError: Cannot find a working triton installation.\n"
    titles, _commands = told(body, "extension-without-platform-build")
    assert titles[0] == "install triton-windows==3.2.*"
    assert "WSL" in titles[1]


def test_a_mac_is_not_sent_to_wsl(told):
    body = "You're on macOS (`macosx_14_0_arm64`), but `vllm` (v0.6.0) only has wheels for the following platforms: `manylinux1_x86_64`\n"
    titles, _commands = told("hint: " + body, "extension-without-platform-build")
    assert titles
    assert not any("WSL" in title for title in titles)
    assert "macOS" in titles[0]


# -- the Python
def test_the_python_is_one_that_the_asked_release_has_wheels_for(told):
    body = "Python 3.14.0\n$ pip install torch==2.1.2\nERROR: Could not find a version that satisfies the requirement torch==2.1.2 (from versions: 2.9.0, 2.9.1)\n"
    titles, _commands = told(body, "python-version-without-wheels")
    assert titles[0].startswith("make a fresh environment with Python 3.11; ")
    assert "rigup plan torch==2.1.2" in titles[0]


def test_a_wheels_name_tells_its_python(told):
    body = "Python 3.12.3\nERROR: some_kernels-1.0-cp310-cp310-linux_x86_64.whl is not a supported wheel on this platform.\n"
    assert told(body, "python-version-without-wheels")[0][0].startswith("make a fresh environment with Python 3.10")


# -- TensorFlow
def test_tensorflow_on_windows_goes_to_wsl_or_back_to_its_last_release_with_cuda(told):
    body = "OS: Windows 11\n>>> tf.__version__\n'2.17.0'\n>>> tf.test.is_built_with_cuda()\nFalse\n| NVIDIA-SMI 560.94   Driver Version: 560.94   CUDA Version: 12.6 |\n| 0  NVIDIA GeForce RTX 4050 |\nGPU 0: NVIDIA GeForce RTX 4050\n"
    titles, _commands = told(body, "tensorflow-windows-no-gpu")
    assert "in WSL: install tensorflow[and-cuda]" in titles[0]
    assert "; make a fresh environment with Python 3.10; install tensorflow==2.10.*, numpy<2; install CUDA" in titles[1]


def test_nothing_is_removed_that_is_not_there(told):
    body = "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0c1e2f00)\nNVIDIA-SMI 550.54.15    Driver Version: 550.54.15\nOS: Ubuntu 22.04.4 LTS\n>>> tf.__version__\n'2.17.0'\nCannot dlopen some GPU libraries. Skipping registering GPU devices...\n"
    titles, _commands = told(body, "tensorflow-cpu-build")
    assert titles == ["install tensorflow[and-cuda]==2.17.0"]


# -- libc and processor
def test_musl_is_told_to_be_left(told):
    body = "hint: You're on Linux (`musllinux_1_2_x86_64`), but `jaxlib` (v0.4.30) only has wheels for the following platforms: `manylinux2014_x86_64`\n"
    titles, _commands = told(body, "glibc-too-old-for-wheel")
    assert "musl" in titles[0]


def test_a_guest_is_given_its_hosts_processor_first(told):
    titles, _commands = told(
        "root@vm:~# ./server\nIllegal instruction (core dumped)\nroot@pve:~# qm config 104 | grep cpu\ncpu: kvm64\n",
        "cpu-instruction-set-missing",
    )
    assert titles[0] == "on the host of Proxmox: give the guest 104 the host's processor model, shut it down fully, and start it again"
    assert titles.count(titles[0]) == 1


def test_torch_alone_that_finds_the_driver_too_old_gets_a_build_for_it_or_a_driver(told):
    body = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver\n"
    titles, _commands = told(body, "driver-too-old-for-wheel")
    assert titles[0].endswith("/whl/cu118")
    assert "driver" in titles[1]


# -- what only one maker, one system or one release has
OF_TENSORFLOW = "$ pip freeze\ntensorflow=={version}\n$ nvidia-smi -L\nGPU 0: Tesla V100-SXM2-16GB (UUID: GPU-0c1e2f00)\n"


def test_amds_card_gets_no_tensorflow_for_cuda(told):
    body = "Name: tensorflow\nVersion: 2.15.1\n>>> tf.test.is_built_with_{}()\nFalse\n"
    amd = body.format("rocm") + "$ rocminfo | grep -m1 gfx\n  Name:                    gfx1030\n"
    (title,) = told(amd, "tensorflow-cpu-build")[0]
    assert "rigup plan tensorflow" in title
    nvidia = body.format("cuda") + "Linux\nGPU 0: NVIDIA RTX A4000 (UUID: GPU-0c1e2f00)\n$ uname -s\nLinux\n"
    assert "[and-cuda]" in told(nvidia, "tensorflow-cpu-build")[0][0]


def test_an_old_tensorflow_comes_as_the_package_that_had_cuda_in_its_time(told):
    titles, commands = told(OF_TENSORFLOW.format(version="1.14.0"), "tensorflow-cpu-build")
    assert titles == ["remove tensorflow from the environment; install tensorflow-gpu==1.14.0"]
    assert "uninstall -y tensorflow" in commands[0]


def test_the_last_tensorflow_of_windows_wants_its_cuda_too(told):
    body = "C:\\u> pip list\ntensorflow         2.16.1\ntensorflow-intel   2.16.1\n\nNum GPUs Available:  0\n"
    last = told(body, "tensorflow-windows-no-gpu")[0][-1]
    assert "install CUDA 11.2 + cuDNN 8.1" in last
    assert "cudart64_110.dll" in last


def test_what_is_made_for_windows_alone_is_not_upgraded_on_linux(told):
    body = "ERROR: Could not find a version that satisfies the requirement onnxruntime-directml (from versions: none)\n$ uname -s\n{}\n"
    (title,) = told(body.format("Linux"), "extension-without-platform-build")[0]
    assert "rigup plan onnxruntime-gpu" in title
    assert told(body.format("Darwin"), "extension-without-platform-build")[0] == ["install onnxruntime"]


@pytest.mark.parametrize(("version", "first"), [("2.6.0+rocm6.2.4", "build flash-attn from its sources")])
def test_nobody_is_sent_to_wsl_from_a_torch_for_rocm(told, version, first):
    body = f"RuntimeError: flash_attn was requested, but nvcc was not found.\ntorch.__version__  = {version}\n"
    (title,) = told(body, "extension-without-platform-build")[0]
    assert title.startswith(first)


@pytest.mark.parametrize(("package", "apart"), [("flash_attn", False), ("bitsandbytes", True)])
def test_what_asks_the_torch_that_is_there_is_not_built_apart_from_it(told, package, apart):
    body = f'  File "/opt/v/lib/python3.11/site-packages/{package}/ops/norm.py", line 88, in forward\n    out = torch.ops.{package}.run(x)\n  File "/opt/v/lib/python3.11/site-packages/torch/_ops.py", line 1061, in __call__\n    return self_._op(*args, **(kwargs or {{}}))\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n'
    _titles, commands = told(body, "binary-arch-missing")
    assert ("--no-build-isolation" not in commands[0]) is apart


def test_a_program_that_rigup_plans_is_chosen_by_its_plan(told):
    body = "UserWarning: Mismatched GPU Architecture: The installed PaddlePaddle package was compiled for 61 70 75 80 86, but your current GPU is {}.\n"
    (title,) = told(body.format(120), "binary-arch-missing")[0]
    assert "rigup plan paddlepaddle-gpu" in title


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (
            "ValueError: The quantization method awq is not supported for the current GPU. Minimum capability: 75. Current capability: 70.",
            "do without awq: it has code for GPUs from sm_75 on alone",
        ),
        (
            "RuntimeError: Found Tesla P40 which is too old to be supported by the triton GPU compiler, which is used as the backend. Triton only supports devices of CUDA Capability >= 7.0, but your device is of CUDA capability 6.1",
            "do without triton, which has code for GPUs from sm_70 on alone: TORCHDYNAMO_DISABLE=1",
        ),
        (
            "RuntimeError: Found Tesla P40 which is too old to be supported by the triton GPU compiler, which is used as the backend.",
            "get, or make, a build of the program that has code for this GPU",
        ),
    ],
)
def test_no_build_of_what_tells_its_oldest_card_is_looked_for(told, body, left):
    assert told(body + "\n", "binary-arch-missing")[0] == [left]


# -- which Python
def test_a_wheel_of_a_file_is_installed_again_as_it_is(told):
    body = "ERROR: {}-cp310-cp310-win_amd64.whl is not a supported wheel on this platform.\nOS: Microsoft Windows 11 Pro\n"
    assert told(body.format("flash_attn-2.7.0"), "python-version-without-wheels")[0] == [
        "get Python 3.10, which is put beside the one that is there; make a fresh environment with Python 3.10"
    ]
    assert "torch==2.1.0" in told(body.format("torch-2.1.0"), "python-version-without-wheels")[0][0]


def test_poetry_names_the_release(told):
    body = "  RuntimeError\n  Unable to find installation candidates for torch (1.9.0)\n"
    (title,) = told(body, "python-version-without-wheels")[0]
    assert "Python 3.9;" in title
    assert "torch==1.9.0" in title


@pytest.mark.parametrize(("bits", "wanted"), [("(32-bit)", True), ("", False)])
def test_a_python_of_32_bits_is_exchanged_for_one_of_64(told, bits, wanted):
    body = f"Python 3.15.0 {bits}\nERROR: Could not find a version that satisfies the requirement torch (from versions: none)\n"
    assert ("(64-bit)" in told(body, "python-version-without-wheels")[0][0]) is wanted
