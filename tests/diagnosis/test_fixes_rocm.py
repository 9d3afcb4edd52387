"""What people with AMD's cards are told to do: by their system, their program and their chip."""

import pytest

_TENSILE = "rocBLAS error: Cannot read {path}TensileLibrary.dat: No such file or directory for GPU arch : {gfx}\n"


def test_windows_is_told_no_variable_that_its_runtime_does_not_read(titled):
    told = titled("gfx-not-in-rocblas", _TENSILE.format(path=r"C:\Program Files\AMD\ROCm\6.2\bin\rocblas/library/", gfx="gfx1032"))
    assert "Vulkan" in told[0]
    assert not [way for way in told if "HSA_OVERRIDE" in way or "service" in way]
    assert any("rocblas.dll" in way and "gfx1032" in way for way in told)


def test_linux_is_told_the_siblings_code(titled):
    told = titled("gfx-not-in-rocblas", _TENSILE.format(path="/opt/rocm/lib/rocblas/library/", gfx="gfx1032"))
    assert "HSA_OVERRIDE_GFX_VERSION=10.3.0" in told[0]
    assert not [way for way in told if "rocblas.dll" in way]


def test_ollama_refuses_in_its_service_and_has_vulkan_besides(titled):
    told = titled(
        "gfx-not-in-rocblas",
        'time=2026-01-02T03:04:05Z level=WARN source=amd_linux.go:378 msg="amdgpu is not supported (supported types:[gfx1030 gfx1100])" gpu_type=gfx1034 gpu=0 library=/usr/lib/ollama/rocm\n',
    )
    assert told[0].startswith("give the service ollama the variable HSA_OVERRIDE_GFX_VERSION=10.3.0")
    assert any("OLLAMA_VULKAN=1" in way for way in told[1:])


def test_graphics_of_a_few_units_are_hidden(titled):
    told = titled("gfx-not-in-rocblas", _TENSILE.format(path="/opt/rocm/lib/rocblas/library/", gfx="gfx1036"))
    assert told[0].startswith("hide the processor's graphics from ROCm: ROCR_VISIBLE_DEVICES")
    assert not [way for way in told if "HSA_OVERRIDE" in way]


def test_machine_of_one_chip_is_told_that_chips_override(titled):
    told = titled(
        "gfx-not-in-torch-wheel",
        '>>> import torch\n>>> torch.ones(1, device="cuda")\n"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"\n(deck@steamdeck ~)$\n',
    )
    assert any("HSA_OVERRIDE_GFX_VERSION=10.3.0" in way for way in told)


def test_torch_without_a_known_chip_is_told_the_newest_builds(titled):
    told = titled(
        "gfx-not-in-torch-wheel",
        '>>> import torch\n>>> torch.ones(1, device="cuda")\n"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"\n',
    )
    assert told[0].startswith("install torch ")
    assert "/whl/rocm" in told[0]


def test_chip_that_amd_alone_builds_for_gets_amds_index(titled):
    told = titled(
        "gfx-not-in-torch-wheel",
        "AMD Radeon RX 5700 XT\n$ roc-obj-ls venv/lib/python3.12/site-packages/torch/lib/libtorch_hip.so | grep -o 'gfx[0-9a-f]*' | sort -u\ngfx1030\ngfx1100\n",
    )
    assert "torch[device-gfx1010]==" in told[0]
    assert "torchvision[device-gfx1010]==" in told[0]
    assert "amd.com" in told[0]


def test_chip_that_rocm_left_keeps_the_last_release(titled):
    told = titled("rocm-dropped-arch", _TENSILE.format(path="/opt/rocm-6.4.0/lib/rocblas/library/", gfx="gfx906"))
    assert told[0].startswith("install ROCm 6.3")


def test_program_on_a_chip_that_nothing_serves_is_told_no_vulkan_that_it_has_not(titled):
    told = titled(
        "rocm-dropped-arch",
        "GPU: Radeon RX 580\njaxlib.xla_extension.XlaRuntimeError: INTERNAL: no supported devices found for platform ROCM\n",
    )
    assert told
    assert not [way for way in told if "Vulkan" in way]


@pytest.mark.parametrize(("line", "value"), [("HSA_OVERRIDE_GFX_VERSION=gfx1030", "10.3.0"), ("HSA_OVERRIDE_GFX_VERSION=10.3", "10.3.0")])
def test_override_written_wrongly_is_told_as_the_runtime_reads_it(titled, line, value):
    told = titled("wrong-hsa-override", f"$ env | grep HSA\n{line}\n$ rocminfo\nROCR: hsa_init failed\nhsa api call failure\n")
    assert told[0].startswith(f"set HSA_OVERRIDE_GFX_VERSION={value} for the program; to keep it")


def test_misspelt_line_of_a_unit_is_not_repeated_with_a_value_that_nobody_reads(titled):
    told = titled("override-not-in-service", '[Service]\nExecStart=/usr/bin/ollama serve\nEnviroment="HSA_OVERRIDE_GFX_VERSION=10.3.0"\n')
    assert told == ["give the service ollama the variable HSA_OVERRIDE_GFX_VERSION=10.3.0, and restart it"]


def test_service_gets_the_value_that_the_terminal_has(titled):
    told = titled(
        "override-not-in-service",
        "RX 6600, HSA_OVERRIDE_GFX_VERSION=10.3.0 is exported. Started from a terminal the server uses the GPU, as ollama.service it falls back to the CPU: ollama does not use the GPU then.\n",
    )
    assert told == ["give the service ollama the variable HSA_OVERRIDE_GFX_VERSION=10.3.0, and restart it"]


# -- builds
def test_build_for_rocm_that_was_replaced_is_put_back_and_kept(titled):
    told = titled(
        "cuda-torch-on-amd",
        "    Uninstalling torch-2.4.1+rocm6.1:\n      Successfully uninstalled torch-2.4.1+rocm6.1\nSuccessfully installed nvidia-cublas-cu12-12.4.5.8 torch-2.5.1\n",
    )
    assert told[0].startswith("install torch 2.4.1 from https://download.pytorch.org/whl/rocm6.1; keep torch==2.4.1+rocm6.1")


def test_maker_alone_on_linux_gets_the_newest_index(titled):
    told = titled(
        "cuda-torch-on-amd",
        "$ amd-smi list\nGPU: 0\n    BDF: 0000:2f:00.0\n    UUID: 33ff744c-0000-1000-80aa-3a0e5c1f1d2a\n$ pip list | grep -E 'torch|nvidia'\nnvidia-cublas-cu12        12.4.5.8\ntorch                     2.6.0\n",
    )
    assert "/whl/rocm" in told[0]


def test_program_made_for_directml_gets_directml(titled):
    told = titled(
        "cuda-torch-on-amd",
        'venv "D:\\ai\\sd-webui-directml\\venv\\Scripts\\Python.exe"\nPython 3.10.11 (tags/v3.10.11:7d4cc5a, Apr  5 2023, 00:38:17) [MSC v.1929 64 bit (AMD64)]\nRuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\n',
    )
    assert told[0].startswith("install torch-directml==")
    assert not [way for way in told if "/whl/rocm" in way]


def test_night_of_cuda_becomes_a_release_of_cuda(titled):
    told = titled(
        "broken-wheel-missing-library",
        '$ pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu118\n  File "/opt/n/lib/python3.9/site-packages/torch/__init__.py", line 210, in <module>\n    from torch._C import *  # noqa: F403\nImportError: libcupti.so.11.6: cannot open shared object file: No such file or directory\n',
    )
    assert told[0].endswith("/whl/cu118")


def test_program_in_one_file_is_not_told_torch(titled):
    told = titled(
        "broken-wheel-missing-library",
        "Initializing dynamic library: koboldcpp_default.dll\nFileNotFoundError: Could not find module 'C:\\Users\\ada\\AppData\\Local\\Temp\\_MEI40122\\koboldcpp_default.dll' (or one of its dependencies). Try using the full path with constructor syntax.\n",
    )
    assert told == ["install a newer release of koboldcpp"]


def test_other_framework_is_not_told_torch(titled):
    told = titled(
        "rocm-abi-mismatch",
        "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libhipsparse.so.0'; dlerror: libhipsparse.so.0: cannot open shared object file: No such file or directory\n",
    )
    assert "tensorflow-rocm" in told[0]


def test_number_of_a_library_tells_the_torch_that_goes_with_it(titled):
    told = titled(
        "rocm-abi-mismatch",
        "torch: 2.10.0+rocm7.0\nImportError: libamdhip64.so.6: cannot open shared object file: No such file or directory\n",
    )
    assert "for ROCm 7" in told[0]
    assert "/whl/rocm6" in told[1]


def test_a_server_whose_bundle_lacks_the_chip_computes_without_that_library(titled):
    told = titled(
        "hipblaslt-no-arch-library",
        "rocblaslt error: Cannot read /usr/local/lib/ollama/rocm/hipblaslt/library/TensileLibrary_lazy_gfx1201.dat: No such file or directory\n",
    )
    assert "ROCBLAS_USE_HIPBLASLT=0" in told[0]


def test_systems_own_hipblaslt_is_not_mended_by_torch(titled):
    told = titled(
        "hipblaslt-no-arch-library",
        "rocblaslt error: Could not load /opt/rocm/lib/hipblaslt/library/TensileLibrary_lazy_gfx1103.dat\nhipBLASLt error: Heuristic Fetch Failed\n",
    )
    assert told[0].startswith("install ROCm ")
    assert any("ROCBLAS_USE_HIPBLASLT=0" in way for way in told)


def test_chat_of_one_sign_goes_another_way_to_the_card(titled):
    told = titled("garbage-output-on-gfx", "Radeon 8060S Graphics, gfx1151, ROCm 7.1\n<unused12><unused12><unused12><unused12><unused12>\n")
    assert "Vulkan" in told[0]
    assert not [way for way in told if "install torch" in way]


# -- devices
def test_runtime_of_windows_is_masked_by_its_own_variable(titled):
    told = titled("igpu-visible-beside-dgpu", "PS C:\\> amdgpu-arch.exe\ngfx1036\nPS C:\\>\nAMD Radeon RX 7800 XT\n")
    assert told[0].startswith("set HIP_VISIBLE_DEVICES=")


def test_runtime_of_linux_is_masked_by_its_own_variable(titled):
    told = titled(
        "igpu-visible-beside-dgpu",
        ">>> for i in range(2): print(i, torch.cuda.get_device_properties(i).gcnArchName)\n0 gfx1036\n1 gfx1101\nSegmentation fault (core dumped)\n$ HIP_VISIBLE_DEVICES=1 python t.py\n",
    )
    assert told[0] == "set ROCR_VISIBLE_DEVICES=1 for the program"


def test_engine_by_vulkan_is_masked_by_its_own_variable(titled):
    told = titled(
        "igpu-visible-beside-dgpu",
        "ggml_vulkan: 0 = Intel(R) UHD Graphics 770 (ADL-S GT1) (Intel open-source Mesa driver) | uma: 1 | fp16: 1 | warp size: 32\nggml_vulkan: 1 = AMD Radeon RX 6700 XT (RADV NAVI22) (radv) | uma: 0 | fp16: 1 | warp size: 32\nload_tensors:      Vulkan0 model buffer size =  3820.94 MiB\n",
    )
    assert told[0] == "set GGML_VK_VISIBLE_DEVICES=1 for the program"


def test_two_cards_that_need_no_override_lose_it(titled):
    told = titled(
        "mixed-gfx-single-override",
        "export HSA_OVERRIDE_GFX_VERSION=9.0.6\nGPU[0]\t\t: Card Series: \t\tAMD Radeon VII\nGPU[0]\t\t: GFX Version: \t\tgfx906\nGPU[1]\t\t: Card Series: \t\tAMD Radeon RX 6800 XT\nGPU[1]\t\t: GFX Version: \t\tgfx1030\n",
    )
    assert len(told) == 1
    assert told[0].startswith("unset HSA_OVERRIDE_GFX_VERSION")


def test_card_that_no_build_has_is_not_told_a_build_that_serves(titled):
    told = titled(
        "cuda-torch-on-amd",
        "RuntimeError: cuda runtime error (35) : CUDA driver version is insufficient for CUDA runtime version\n - OS: Ubuntu 20.04\n - How you installed PyTorch: pip\n - GPU models and configuration: AMD Radeon RX 580\n",
    )
    assert told[0] == "get, or make, a build of the program for gfx803"
    assert told[1].endswith("/whl/cpu")


def test_vulkan_in_a_container_is_an_option_of_it(titled):
    refused = 'time=2024-05-04T10:21:33.611Z level=WARN source=amd_linux.go:116 msg="amdgpu [0] gfx1103 is not supported by /tmp/ollama3111/rocm [gfx1030 gfx1100]"\n'
    told = titled("gfx-not-in-rocblas", "$ docker run --device /dev/kfd --device /dev/dri ollama/ollama:rocm\n" + refused)
    assert any(
        way.startswith("have ollama 0.12.11 or newer")
        and way.endswith("start the container with -e OLLAMA_VULKAN=1 -e OLLAMA_IGPU_ENABLE=1")
        for way in told
    )
    assert not [way for way in told if way.startswith("set OLLAMA_VULKAN")]
    told = titled("gfx-not-in-rocblas", refused)
    assert not [way for way in told if "container" in way]


def test_card_comes_after_graphics_that_are_the_first_device(titled):
    lines = 'level=INFO msg="inference compute" id={} library=rocm compute=gfx1036 name=1002:164e total="15.5 GiB"\nlevel=INFO msg="inference compute" id={} library=rocm compute=gfx1100 name=1002:744c total="24.0 GiB"\nllama_kv_cache_init:      ROCm0 KV buffer size =   256.00 MiB\n'
    assert "ROCR_VISIBLE_DEVICES=1" in titled("igpu-visible-beside-dgpu", lines.format(0, 1))[0]
    assert "ROCR_VISIBLE_DEVICES=0" in titled("igpu-visible-beside-dgpu", lines.format(1, 0))[0]
    named = ">>> torch.cuda.get_device_name({})\n'AMD Radeon Graphics'\nRX 7900 XTX\n"
    assert "ROCR_VISIBLE_DEVICES=1" in titled("igpu-visible-beside-dgpu", named.format(0))[0]
    assert "ROCR_VISIBLE_DEVICES=0" in titled("igpu-visible-beside-dgpu", named.format(1))[0]


def test_torchs_own_warning_is_answered_by_torchs_own_variable(titled):
    warned = "UserWarning: Attempting to use hipBLASLt on an unsupported architecture! Overriding blas backend to hipblas (function operator())\nGPU: gfx1100\n"
    listed = "$ ls /opt/rocm/lib/hipblaslt/library | grep -o 'gfx[0-9a-f]*' | sort -u\ngfx90a\ngfx942\n"
    told = titled("hipblaslt-no-arch-library", warned + listed)
    assert told[-1].startswith("set TORCH_BLAS_PREFER_HIPBLASLT=0 for the program")
    told = titled(
        "hipblaslt-no-arch-library",
        "rocBLAS error: No hipBLASLt solution found\nrocBLAS warning: hipBlasLT failed, falling back to tensile.\n",
    )
    assert told[-1] == "set ROCBLAS_USE_HIPBLASLT=0 for the program"


def test_siblings_code_is_told_only_where_the_torch_that_is_there_has_it(titled):
    listed = "$ strings torch/lib/libtorch_hip.so | grep -oE 'amdhsa--gfx[0-9a-f]+' | sort -u\n{}$ rocm_agent_enumerator\ngfx000\ngfx1101\n"
    without = titled("gfx-not-in-torch-wheel", listed.format("amdhsa--gfx1030\namdhsa--gfx900\namdhsa--gfx906\n"))
    assert without[0].startswith("install torch")
    assert not [way for way in without if "HSA_OVERRIDE" in way]
    have = titled("gfx-not-in-torch-wheel", listed.format("amdhsa--gfx1030\namdhsa--gfx1100\namdhsa--gfx906\n"))
    assert [way for way in have if "HSA_OVERRIDE_GFX_VERSION=11.0.0" in way]
