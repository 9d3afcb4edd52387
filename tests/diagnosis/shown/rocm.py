"""ROCm's libraries, chips and masks: each rule where it speaks, and beside it where it has to be silent."""

_TOKENS = "<unused12><unused12><unused12><unused12><unused12>\n"
_HALO = "Radeon 8060S Graphics, gfx1151, ROCm 7.1\n"
_FORM = "### GPU\n\nAMD\n\n"
_KERAS = "12/12 [==============] - 1s 40ms/step - loss: nan - val_loss: nan\n"
_OFF = 'Max diff: {}\nTraceback (most recent call last):\n  File "check.py", line 9, in <module>\nAssertionError\n'
_ABSOLUTE = "max abs diff: {}\nAssertionError\n"
_ROWS = "| Backend | PPL |\n| --- | --- |\n| CPU | 7.1204 |\n| ROCm | {} |\n"
_COLUMNS = "| Model | CPU | Vulkan | ROCm |\n| --- | --- | --- | --- |\n| Q8_0 | {} | {} | {} |\n"
_SCHOOL = "|gsm8k|      3|strict-match|     5|exact_match|↑  |{}|±  |0.0100|\n"
_MASKS = "$ echo $ROCR_VISIBLE_DEVICES $HIP_VISIBLE_DEVICES\n{}\n"
_TRIAL = 'level=INFO source=runner.go:464 msg="failure during GPU discovery" OLLAMA_LIBRARY_PATH="[/usr/lib/ollama/rocm]" error="runner crashed"\n'
_OPENCL = "  Platform Name                                   AMD Accelerated Parallel Processing\nNumber of devices                                 {}\n"
_SDK = "PS C:\\> amdgpu-arch.exe\n{}\nPS C:\\>\nAMD Radeon RX 7800 XT\n"
_EMPTY = "environment:\n  - HSA_OVERRIDE_GFX_VERSION={}\n"
_NO_DEVICE = "ggml_cuda_init: failed to initialize ROCm: no ROCm-capable device is detected\n"
_PAIR = "$ rocminfo | grep gfx\n  Name:                    gfx1201\n  Name:                    gfx1031\n"
_OVERRIDDEN = "$ HSA_OVERRIDE_GFX_VERSION=10.3.0 python train.py\nRuntimeError: HIP error: invalid device function\n"
_NVIDIA = "NVIDIA GeForce RTX 3060\n"
_XLA = "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: no supported devices found for platform {}{}\n"
_NONE = '"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"\n'
_TORCH = ">>> import torch\n>>> torch.zeros(3, device='cuda')\n"
_PLUGIN = "Jax plugin configuration error: Exception when calling jax_plugins.xla_rocm7.initialize()\nFailed to open: {}: cannot open shared object file: No such file or directory\n"
_FOLDER = "FileNotFoundError: [WinError 3] The system cannot find the path specified: '{}'\n"
_SITE = "D:\\\\ai\\\\venv\\\\Lib\\\\site-packages\\\\"
_OVERRIDE = "$ env | grep HSA\nHSA_OVERRIDE_GFX_VERSION={}\n"
_HANG = "HW Exception by GPU node-1 (Agent handle: 0x55d0f3a61b40) reason :GPU Hang\n"
_CARD_OF_AMD = "Device 0: AMD Radeon RX 7900 XTX, gfx1100\n"
_TWICE = "python3: CommandLine Error: Option 'spirv-expand-step' registered more than once!\n"
_CHIP_OF_KERNEL = "$ rocminfo\n  Name:                    gfx1151\n"
_FAULT = "Memory access fault by GPU node-1 (Agent handle: 0x5a10) on address (nil). Reason: Page not present or supervisor privilege.\n"
_MES = "MES feature version: 1, firmware version: 0x000000{}\n"
_IMPORT = '  File "/opt/conda/envs/n/lib/python3.9/site-packages/torch/__init__.py", line 210, in <module>\n    from torch._C import *  # noqa: F403\nImportError: libcupti.so.11.6: cannot open shared object file: No such file or directory\n'
_CHANNEL = "$ conda install -c {} pytorch cudatoolkit=11.6\n"
_BUNDLE_OF_ROCM = (
    ":1:hip_fatbin.cpp :272 : 3169196830 us: Cannot find CO in the bundle {} for ISA: amdgcn-amd-amdhsa--gfx1103\n"
)
_ISA = ":0:rocdevice.cpp            :2614: 99 us: HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid. code: 0x100f\n"
_DSO = "W tensorflow/stream_executor/platform/default/dso_loader.cc:{0}] Could not load dynamic library '{1}'; dlerror: {1}: cannot open shared object file: No such file or directory\n"
_PLACED = "llama_kv_cache_init:      SYCL{} KV buffer size =   512.00 MiB\nNative API returns: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)\n"
_SYCL = "| 0| [level_zero:gpu:0]|                Intel Arc A770 Graphics|   12.55|    512|    1024|   32| 16225M|\n| 1| [level_zero:gpu:1]|                 Intel UHD Graphics 770|   12.2|     32|     512|   32| 61743M|\n"
_PS = "NAME            ID              SIZE      PROCESSOR    UNTIL\nqwen2.5:3b      357c53fb659c    2.8 GB    {}     Forever\n"
_UNIT = "[Unit]\nDescription=Ollama Service\n\n[Service]\nExecStart=/usr/bin/ollama serve\nUser=ollama\n{}\n[Install]\nWantedBy=default.target\n"
_SET = 'Environment="HSA_OVERRIDE_GFX_VERSION={}"\n'
_BUNDLE_OF_SERVED = "Initializing dynamic library: koboldcpp_{0}.dll\nFileNotFoundError: Could not find module '{1}\\koboldcpp_{0}.dll' (or one of its dependencies). Try using the full path with constructor syntax.\n"
_TENSILE = "rocblas/library/TensileLibrary.dat: No such file or directory for GPU arch : {}\n"
_WEBUI = 'venv "D:\\ai\\{}\\venv\\Scripts\\Python.exe"\nPython 3.10.11 (tags/v3.10.11:7d4cc5a, Apr  5 2023, 00:38:17) [MSC v.1929 64 bit (AMD64)]\n'
_FOUND_NONE = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx\n"
_ON_ROCM = 'level=INFO source=types.go:107 msg="inference compute" id=0 library=rocm variant="" compute=gfx1034 driver=0.0 name=1002:7422 total="4.0 GiB" available="3.9 GiB"\n'
_NAN = "{} result: NaNs for M=64, N=512\n{} result: correct\n"
_CARD_OF_BESIDE = "Device  : AMD Instinct MI300X\n\n"
_OBJ = "{}       hipv4-amdgcn-amd-amdhsa--{}  file:///home/ada/nbody#offset=8192&size=6632\n"
_MINE = "./nbody\nHIP error hipErrorNoBinaryForGpu at nbody.cpp:31\n"
_CHIP_OF_BESIDE = "$ rocm_agent_enumerator\n{}\n"
_ROC = "$ roc-obj-ls {}\n1       host-x86_64-unknown-linux--      file://{}#offset=8192&size=0\n"
_LINKS = "ImportError: {}: cannot open shared object file: No such file or directory\n"
_SHOWN = "$ pip show torch | grep Version\nVersion: {}\n"
_OWN = '  File "/opt/v/lib/python3.11/site-packages/torch/__init__.py", line 367, in <module>\n    from torch._C import *  # noqa: F403\n'
_BLAS_OF_OTHER = '  File "/opt/c/lib/python3.8/site-packages/torch/__init__.py", line 229, in <module>\n    from torch._C import *  # noqa: F403\nImportError: librocblas.so.{}: cannot open shared object file: No such file or directory\n| rocblas | 4.1.2.60102-119~22.04 |\n'
_TRIES = 'torch 2.4.0+rocm6.1, {}\n"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"\n$ HSA_OVERRIDE_GFX_VERSION=10.3.0 python -c "import torch; print(torch.ones(2).cuda())"\n{}'
_TWO = "0 AMD Radeon RX 7800 XT gfx1101\n1 AMD Radeon {}\n$ python main.py\nHW Exception by GPU node-2 (Agent handle: 0x55c0e0) reason :GPU Hang\n$ HIP_VISIBLE_DEVICES=0 python main.py\n"
_RAY = '(RayWorkerWrapper pid=9) ROCR_VISIBLE_DEVICES="{}"\n(RayWorkerWrapper pid=9) CUDA_VISIBLE_DEVICES="0,1"\nRuntimeError: HIP error: invalid device ordinal\n'
_WRAPPER = "FileNotFoundError: {}\n"
_CHIPS = ">>> for i in range(2): print(i, torch.cuda.get_device_properties(i).gcnArchName)\n0 {}\n1 {}\nSegmentation fault (core dumped)\n$ HIP_VISIBLE_DEVICES={} python t.py\n"
_CRASH = ">>> torch.cuda.get_device_properties(0).gcnArchName, torch.cuda.get_arch_list()\n('{}', ['gfx900', 'gfx906', 'gfx1030'])\n>>> torch.ones(2, device='cuda')\nSegmentation fault\n$ HSA_OVERRIDE_GFX_VERSION=10.3.0 python t.py\n{}"
_BLAS_OF_THERE = "Device ID 0 : AMD Radeon RX 6600 gfx1032\nrocBLAS error: Could not load /opt/rocm/lib/rocblas/library/TensileLibrary_lazy_gfx1032.dat\n$ ls /opt/rocm/lib/rocblas/library | grep -o 'gfx[0-9a-f]*' | sort -u | xargs\n{}\n"

_HIPRTC = '  File "/venv/lib/python3.12/site-packages/{}/cuda/_utils.py", line 90, in _get\n    lib = ctypes.CDLL("libhiprtc.so")\nOSError: libhiprtc.so: cannot open shared object file: No such file or directory\n'
_OLD_TENSORFLOW = (
    "I tensorflow/stream_executor/dso_loader.cc:130] Couldn't open CUDA library {}. LD_LIBRARY_PATH: /opt/rocm/lib\n"
)
_MISSED = "ImportError: libhiprtc.so.7: cannot open shared object file: No such file or directory\n$ find . -name 'libhiprtc*'\n./lib/python3.12/site-packages/_rocm_sdk_core/lib/libhiprtc.so.{}\n"
_LISTED = "ggml_cuda_init: found 1 ROCm devices:\n  Device 0: AMD Radeon 840M Graphics, gfx1152 (0x1152), VMM: no, Wave Size: 32\n"
_CHIPS_OF_TORCH = "AMD Radeon RX 5700 XT\n$ roc-obj-ls venv/lib/python3.12/site-packages/torch/lib/libtorch_hip.so | grep -o 'gfx[0-9a-f]*' | sort -u\n{}gfx1030\ngfx1100\n"
_SHOWN_BY_PIP = "$ ls /dev/kfd\n/dev/kfd\n$ pip show torch\nName: torch\nVersion: 2.5.1{}\nRequires: filelock, jinja2, networkx, {}, sympy, triton\n"
_FAULT_UNDER = "$ HSA_OVERRIDE_GFX_VERSION={} python t.py\nDevice: AMD Radeon 8060S\nMemory access fault by GPU node-1 (Agent handle: 0x1b37) on address 0x7f762a667000. Reason: Page not present or supervisor privilege.\n"
_ROW_OF_SMI = "0    41.0c  15.066W  None  1000Mhz  0%   auto  Unsupported    8%   11%\n"

_FILE_OF_ROCBLAS = '"/opt/rocm/lib/rocblas/library/TensileLibrary_lazy_gfx1030.dat"\nAborted (core dumped)\n'
_SOLVER = "ImportError: libhipsolver.so.0: cannot open shared object file: No such file or directory\n"
_DIFFERENCES = (
    "AMD Radeon RX 9070 XT\nrow | CPU(s) | GPU(s) | max_diff\n  1 | 0.001 | 0.002 | 1.2e-06\n  2 | 0.001 | 0.002 | {}\n"
)
_FROM_TORCH = "pip install torch {} https://download.pytorch.org/whl/cu130\nERROR: Could not find a version that satisfies the requirement cuda-bindings==13.0.3 (from torch) (from versions: 12.9.2)\n"

SPEAKS = {
    "reserved-tokens": ("garbage-output-on-gfx", _HALO + _TOKENS),
    "one-sign-and-a-form": ("garbage-output-on-gfx", _FORM + "> hi\n@@@@@@@@@@@@@@@@@@@@@@@@\n"),
    "loss-on-a-chip-that-was-left": ("garbage-output-on-gfx", "Radeon RX 580, ROCm 3.9\n" + _KERAS),
    "loss-on-another": ("garbage-output-on-gfx", "Radeon RX 7900 XTX, ROCm 6.2\n" + _KERAS),
    "comparison": ("garbage-output-on-gfx", _HALO + _OFF.format("12.50000000")),
    "comparison-of-amounts": ("garbage-output-on-gfx", _HALO + _ABSOLUTE.format("nan")),
    "perplexity-in-rows": ("garbage-output-on-gfx", _ROWS.format("1811.0930")),
    "perplexity-in-columns": ("garbage-output-on-gfx", _COLUMNS.format("7.1204", "7.1188", "1,811.09")),
    "sums-of-school": ("garbage-output-on-gfx", "MI308X\n" + _SCHOOL.format("0.0120")),
    "both-masks": ("double-visibility-mask", _MASKS.format("1 1")),
    "trial-of-a-server": ("gfx-not-in-rocblas", "AMD Radeon RX 6700 XT (gfx1031)\n" + _TRIAL),
    "opencl-without-an-old-card": ("rocm-dropped-arch", "Radeon RX 570, ROCm 5.2\n" + _OPENCL.format(0)),
    "sdk-and-the-processors-graphics": ("igpu-visible-beside-dgpu", _SDK.format("gfx1036")),
    "empty-override": ("wrong-hsa-override", _EMPTY.format("${HSA_OVERRIDE_GFX_VERSION:-}") + _NO_DEVICE),
    "two-chips-and-one-override": ("mixed-gfx-single-override", _PAIR + _OVERRIDDEN),
    "xla-of-an-old-card": ("rocm-dropped-arch", "GPU: Radeon RX 580\n" + _XLA.format("ROCM", "")),
    "function-name-in-capitals": ("gfx-not-in-torch-wheel", _TORCH + _NONE.replace("Gpu", "GPU")),
    "attach-of-the-profiler": ("rocm-abi-mismatch", _PLUGIN.format("librocprofiler-sdk-attach.so.1")),
    "marks-of-the-profiler": (
        "rocm-abi-mismatch",
        "ImportError: librocprofiler-sdk-roctx.so.1: cannot open shared object file: No such file or directory\n",
    ),
    "hang-overridden": ("wrong-hsa-override", _OVERRIDE.format("10.3.0") + _CARD_OF_AMD + _HANG),
    "unheard-of-by-miopen": (
        "gfx-not-in-torch-wheel",
        "MIOpen Error: /src/hipoc_program.cpp:304: Code object build failed. Source: naive_conv.cpp\nerror: unknown target CPU 'gfx1201'\n",
    ),
    "twice": ("rocm-abi-mismatch", _CARD_OF_AMD + _TWICE),
    "releases-of-the-index": (
        "pip-index-url-hides-pypi",
        "Looking in indexes: https://download.pytorch.org/whl/xpu\nERROR: Could not find a version that satisfies the requirement numpy==1.26.4 (from versions: 1.21.2, 2.1.2)\n",
    ),
    "fault-at-nought": ("wrong-hsa-override", _CHIP_OF_KERNEL + _MES.format(80) + _FAULT),
    "nightly-lacks": ("broken-wheel-missing-library", _CHANNEL.format("pytorch-nightly") + _IMPORT),
    "nightly-lacks-with-pip": (
        "broken-wheel-missing-library",
        "$ pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu118\n" + _IMPORT,
    ),
    "rocm-goes": (
        "cuda-torch-on-amd",
        (
            "    Uninstalling torch-2.3.0+rocm6.0:\nDownloading torch-2.3.1-cp310-cp310-manylinux1_x86_64.whl (779.1 MB)\n"
            "  Downloading nvidia_cublas_cu12-12.1.3.1-py3-none-manylinux1_x86_64.whl (410.6 MB)\n"
        ),
    ),
    "rocm-goes-by-uv": (
        "cuda-torch-on-amd",
        " - torch==2.4.0+rocm6.1\n + torch==2.4.1\nRuntimeError: Found no NVIDIA driver on your system.\n",
    ),
    "amd-smi-answers": (
        "cuda-torch-on-amd",
        (
            "$ amd-smi list\nGPU: 0\n    BDF: 0000:2f:00.0\n    UUID: 33ff744c-0000-1000-80aa-3a0e5c1f1d2a\n$ pip list | grep -E 'torch|nvidia'\n"
            "nvidia-cublas-cu12        12.4.5.8\nnvidia-nccl-cu12          2.21.5\ntorch                     2.6.0\n"
        ),
    ),
    "bundle-of-torch": (
        "gfx-not-in-torch-wheel",
        _BUNDLE_OF_ROCM.format("/opt/conda/lib/python3.10/site-packages/torch/lib/libtorch_hip.so"),
    ),
    "image-invalid": (
        "gfx-not-in-torch-wheel",
        "torch.AcceleratorError: CUDA error: device kernel image is invalid\nAMD Radeon RX 6700 XT\n",
    ),
    "isa-in-torch": ("gfx-not-in-torch-wheel", _ISA + "torch 2.9.0+rocm6.4\n"),
    "tensorflow-of-old": (
        "rocm-dropped-arch",
        "Ignoring visible gpu device (device: 0, name: Radeon RX 580, pci bus id: 0000:01:00.0) with AMDGPU version : gfx803. The supported AMDGPU versions are gfx900, gfx906, gfx1030.\n",
    ),
    "numbers-lost": (
        "garbage-output-on-gfx",
        ">>> torch.tensor([1.,2.,3.]).cuda()\ntensor([0., 0., 0.], device='cuda:0')\nAMD Radeon RX 5700 XT\n",
    ),
    "opens-none": ("rocm-abi-mismatch", _DSO.format(55, "librocrand.so") + _DSO.format(55, "libMIOpen.so")),
    "opens-none-numbered": ("rocm-abi-mismatch", _DSO.format(64, "libhipsparse.so.0")),
    "sycl-inside": ("igpu-visible-beside-dgpu", _SYCL + _PLACED.format(1)),
    "unit-with-a-comment": (
        "override-not-in-service",
        _UNIT.format("# " + _SET.format("10.3.0")) + _PS.format("100% CPU"),
    ),
    "unit-with-a-comment-of-semicolons": (
        "override-not-in-service",
        _PS.format("100% CPU") + _UNIT.format(";" + _SET.format("11.0.0")),
    ),
    "unit-with-a-misspelt-key": (
        "override-not-in-service",
        _UNIT.format(_SET.format("10.3.0").replace("Environment", "Enviroment")),
    ),
    "drop-in-with-a-plural": (
        "override-not-in-service",
        "# /etc/systemd/system/ollama.service.d/override.conf\n[Service]\n"
        + _SET.format("9.0.0").replace("Environment", "Environments"),
    ),
    "bundle-without-a-part": (
        "broken-wheel-missing-library",
        _BUNDLE_OF_SERVED.format("default", "C:\\Users\\ada\\AppData\\Local\\Temp\\_MEI40122"),
    ),
    "bundle-without-a-part-of-opencl": (
        "broken-wheel-missing-library",
        _BUNDLE_OF_SERVED.format("clblast_noavx2", "D:\\Temp\\_MEI7"),
    ),
    "tensile-after-a-cut": ("gfx-not-in-rocblas", _TENSILE.format("gfx1034")),
    "tensile-of-windows-after-a-cut": ("gfx-not-in-rocblas", "C:\\ROCm\\bin\\" + _TENSILE.format("gfx90c")),
    "directml-looks-for-nvidia": ("cuda-torch-on-amd", _WEBUI.format("sd-webui-directml") + _FOUND_NONE),
    "bfloat-alone-is-lost": ("garbage-output-on-gfx", _CARD_OF_BESIDE + _NAN.format("bf16", "fp16")),
    "bfloat-alone-is-lost-below": (
        "garbage-output-on-gfx",
        _CARD_OF_BESIDE + "float16: matches the CPU\nfloat32: matches the CPU\nbfloat16: garbage\n",
    ),
    "nightly-lacks-of-other": (
        "broken-wheel-missing-library",
        _OWN + _LINKS.format("libcufile.so.0") + _SHOWN.format("2.8.0.dev20250501+cu128"),
    ),
    "rocblas-of-another-number": ("rocm-abi-mismatch", _BLAS_OF_OTHER.format(0)),
    "override-mends": ("gfx-not-in-torch-wheel", _TRIES.format("gfx1035", "tensor([1., 1.], device='cuda:0')\n")),
    "hangs-on-both": ("igpu-visible-beside-dgpu", _TWO.format("Graphics gfx1036")),
    "two-masks": ("double-visibility-mask", _RAY.format(3)),
    "vendored": ("broken-wheel-missing-library", _LINKS.format("libgfortran-040039e1.so.5.0.0")),
    "wrapper": ("broken-wheel-missing-library", _WRAPPER.format("Shared library with base name 'whisper' not found")),
    "small-one-first": ("igpu-visible-beside-dgpu", _CHIPS.format("gfx1036", "gfx1101", 1)),
    "small-one-second": ("igpu-visible-beside-dgpu", _CHIPS.format("gfx1030", "gfx1036", 0)),
    "crash-and-override": ("gfx-not-in-torch-wheel", _CRASH.format("gfx1032", "tensor([1., 1.], device='cuda:0')\n")),
    "listed-in-one-line": (
        "gfx-not-in-rocblas",
        _BLAS_OF_THERE.format("gfx1030 gfx1100 gfx1101 gfx1102 gfx900 gfx906 gfx908 gfx90a gfx942"),
    ),
    "torch-without-its-compiler": ("broken-wheel-missing-library", _HIPRTC.format("torch")),
    "tensorflow-one-without-miopen": ("rocm-abi-mismatch", _OLD_TENSORFLOW.format("libMIOpen.so")),
    "library-lies-beside": ("broken-wheel-missing-library", "$ python -c 'import migraphx'\n" + _MISSED.format(7)),
    "program-lists-and-has-no-code": ("binary-arch-missing", _LISTED + "hipErrorNoBinaryForGpu\n"),
    "chips-of-torch-alone": ("gfx-not-in-torch-wheel", _CHIPS_OF_TORCH.format("")),
    "cuda-wheels-beside-kfd": ("cuda-torch-on-amd", _SHOWN_BY_PIP.format("", "nvidia-cublas-cu12")),
    "fault-under-a-makeshift": ("wrong-hsa-override", _FAULT_UNDER.format("11.0.0")),
    "opencl-of-an-old-image": (
        "gfx-not-in-rocblas",
        "AMD Radeon 780M\n"
        + _ROW_OF_SMI
        + "Platform Name: AMD Accelerated Parallel Processing\nNumber of devices: 0\n",
    ),
    "incorrect-output-of-one-backend": (
        "garbage-output-on-gfx",
        "Radeon 8060S: it produces incorrect output with the ROCm backend, Vulkan is right.\n",
    ),
    "files-of-other-chips": ("gfx-not-in-rocblas", "RX 6700 XT\n" + _FILE_OF_ROCBLAS),
    "build-of-a-night": ("broken-wheel-missing-library", "PyTorch nightly wheel for ROCm\n" + _SOLVER),
    "night-by-its-number": ("broken-wheel-missing-library", "torch-2.9.0.dev20250712+rocm6.4\n" + _SOLVER),
    "table-of-differences": ("garbage-output-on-gfx", _DIFFERENCES.format("3.584e+01")),
    "error-from-the-processor": ("garbage-output-on-gfx", "ROCm, gfx1151\nconv2d: CPU vs GPU max error: 131.5\n"),
    "torch-stands-on-other-releases": ("pip-index-url-hides-pypi", _FROM_TORCH.format("--index-url")),
    "chip-of-the-processor-is-taken": ("igpu-visible-beside-dgpu", "RX 9070 XT\nAMD arch: gfx1036\n"),
    "work-on-graphics-that-come-third": (
        "igpu-visible-beside-dgpu",
        "  Node:                    2\n  Device Type:             GPU\n  Chip ID:                 5056(0x13c0)\n  BDFID:                   6144\nROCm1 KV buffer size = 6144 MiB\n",
    ),
    "layers-on-graphics-that-come-third": (
        "igpu-visible-beside-dgpu",
        "  Node:                    2\n  Device Type:             GPU\n  Chip ID:                 5710(0x164e)\n  BDFID:                   6144\nload_tensors: ROCm1 model buffer size = 2048.00 MiB\n",
    ),
    "rocblas-has-no-solution": (
        "hipblaslt-no-arch-library",
        "rocBLAS error: No hipBLASLt solution found\nrocBLAS warning: hipBlasLT failed, falling back to tensile.\n",
    ),
}

SILENT = {
    "ollama-looks-for-hip-everywhere": (
        "rocm-abi-mismatch",
        'level=DEBUG source=amd_windows.go:31 msg="unable to load amdhip64.dll: The specified module could not be found."\n',
    ),
    "reserved-tokens-named": ("garbage-output-on-gfx", _HALO + "the tokenizer has <unused0> to <unused98>\n"),
    "reserved-tokens-of-another": ("garbage-output-on-gfx", _NVIDIA + _TOKENS),
    "form-of-another": (
        "garbage-output-on-gfx",
        "### CPU\n\nAMD\n\n### GPU\n\nNvidia\n\n> hi\n@@@@@@@@@@@@@@@@@@@@@@@@\n",
    ),
    "loss-of-another": ("garbage-output-on-gfx", _NVIDIA + _KERAS),
    "small-difference": ("garbage-output-on-gfx", _HALO + _OFF.format("0.00012000")),
    "small-amounts": ("garbage-output-on-gfx", _HALO + _ABSOLUTE.format("0.0031")),
    "perplexities-agree": ("garbage-output-on-gfx", _ROWS.format("7.1211")),
    "columns-agree": ("garbage-output-on-gfx", _COLUMNS.format("7.1204", "7.1188", "7.1301")),
    "columns-of-speeds": ("garbage-output-on-gfx", _COLUMNS.format("9.1", "52.0", "410.2")),
    "sums-of-school-right": ("garbage-output-on-gfx", "MI308X\n" + _SCHOOL.format("0.9410")),
    "dashes-are-printed": (
        "garbage-output-on-gfx",
        _HALO + '>>> print("#" * 40)\n########################################\n',
    ),
    "masks-that-fit": ("double-visibility-mask", _MASKS.format("1 0")),
    "trial-of-a-chip-that-is-there": ("gfx-not-in-rocblas", "AMD Radeon RX 7900 XTX (gfx1100)\n" + _TRIAL),
    "opencl-with-an-old-card": ("rocm-dropped-arch", "Radeon RX 570, ROCm 5.2\n" + _OPENCL.format(1)),
    "sdk-and-the-card": ("igpu-visible-beside-dgpu", _SDK.format("gfx1101")),
    "override-by-default": ("wrong-hsa-override", _EMPTY.format("${HSA_OVERRIDE_GFX_VERSION:-10.3.0}") + _NO_DEVICE),
    "two-chips-and-no-override": ("mixed-gfx-single-override", _PAIR + "$ python train.py\n"),
    "list-is-no-card": ("wrong-hsa-override", "GPU: RX 7600\nBuilt for gfx900, gfx906, gfx1030\n"),
    "list-of-a-build-is-no-card": ("wrong-hsa-override", 'GPU: MI210\nGPU_TARGETS="gfx906,gfx908,gfx90a"\n'),
    "profiler-of-torchs-own": (
        "rocm-abi-mismatch",
        "    from torch._C import *  # noqa: F403\nImportError: librocprofiler-sdk.so.1: cannot open shared object file: No such file or directory\n",
    ),
    "profiler-is-there": (
        "rocm-abi-mismatch",
        "librocprofiler-sdk-attach.so.1 => /opt/rocm/lib/librocprofiler-sdk-attach.so.1\n",
    ),
    "folder-of-rocms-libraries": (
        "broken-wheel-missing-library",
        'python -c "import speech"\n' + _FOLDER.format(_SITE + "speech\\\\..\\\\_rocm_sdk_libraries"),
    ),
    "hang-under-its-own": ("wrong-hsa-override", _OVERRIDE.format("11.0.0") + _CARD_OF_AMD + _HANG),
    "twice-without-amd": ("rocm-abi-mismatch", _TWICE),
    "firmware-explains-the-fault": ("wrong-hsa-override", _CHIP_OF_KERNEL + _MES.format(83) + _FAULT),
    "release-lacks": ("broken-wheel-missing-library", _CHANNEL.format("pytorch") + _IMPORT),
    "rocm-goes-for-rocm": (
        "cuda-torch-on-amd",
        "    Uninstalling torch-2.3.0+rocm6.0:\nSuccessfully installed torch-2.4.1+rocm6.1\n",
    ),
    "amd-smi-beside-rocms-torch": (
        "cuda-torch-on-amd",
        "$ amd-smi list\nGPU: 0\n    BDF: 0000:2f:00.0\n    UUID: 33ff744c-0000-1000-80aa-3a0e5c1f1d2a\ntorch==2.6.0+rocm6.2.4\n",
    ),
    "another-card-is-supported": (
        "gfx-not-in-rocblas",
        (
            'level=INFO source=amd_linux.go:119 msg="amdgpu [0] gfx1100 is supported"\n'
            'level=WARN source=amd_linux.go:114 msg="amdgpu [1] gfx1036 is not supported by /tmp/ollama2436258655/rocm [gfx1030 gfx1100 gfx1101 gfx1102]"\n'
        ),
    ),
    "bundle-of-another": ("gfx-not-in-torch-wheel", _BUNDLE_OF_ROCM.format("/opt/rocm/lib/librocrand.so")),
    "image-of-nvidias": (
        "gfx-not-in-torch-wheel",
        "RuntimeError: CUDA error: device kernel image is invalid\nNVIDIA GeForce RTX 2060\n",
    ),
    "numbers-kept": (
        "garbage-output-on-gfx",
        ">>> torch.tensor([1.,2.,3.]).cuda()\ntensor([1., 2., 3.], device='cuda:0')\nAMD Radeon RX 5700 XT\n",
    ),
    "opens-none-of-cuda": ("rocm-abi-mismatch", _DSO.format(55, "libcudart.so.11.0")),
    "opened": (
        "rocm-abi-mismatch",
        "I tensorflow/stream_executor/platform/default/dso_loader.cc:48] Successfully opened dynamic library librocrand.so\n",
    ),
    "sycl-card": ("igpu-visible-beside-dgpu", _SYCL + _PLACED.format(0)),
    "comment-and-nobody-complains": ("override-not-in-service", _UNIT.format("#" + _SET.format("10.3.0"))),
    "comment-and-it-computes": (
        "override-not-in-service",
        _UNIT.format("#" + _SET.format("10.3.0")) + _ON_ROCM + "no cpu-only run any more\n",
    ),
    "comment-beside-a-line-in-force": (
        "override-not-in-service",
        _UNIT.format("#" + _SET.format("11.0.0") + _SET.format("10.3.0")) + _PS.format("100% CPU"),
    ),
    "key-spelt-rightly": ("override-not-in-service", _UNIT.format(_SET.format("10.3.0"))),
    "misspelt-beside-the-right-one": (
        "override-not-in-service",
        _UNIT.format(_SET.format("10.3.0").replace("Environment", "Enviroment") + _SET.format("10.3.0")),
    ),
    "folder-without-a-part": (
        "broken-wheel-missing-library",
        _BUNDLE_OF_SERVED.format("default", "C:\\tools\\koboldcpp"),
    ),
    "tensile-that-is-read": ("gfx-not-in-rocblas", "rocblas/library/TensileLibrary_lazy_gfx1034.dat\n"),
    "webui-without-directml": ("cuda-torch-on-amd", _WEBUI.format("stable-diffusion-webui") + _FOUND_NONE),
    "directml-beside-a-geforce": (
        "cuda-torch-on-amd",
        _WEBUI.format("sd-webui-directml") + _FOUND_NONE + "GPU: NVIDIA GeForce RTX 2060\n",
    ),
    "torch-is-not-named": (
        "gfx-not-in-torch-wheel",
        _MINE + _CHIP_OF_BESIDE.format("gfx942") + _ROC.format("./nbody", "/home/ada/nbody") + _OBJ.format(1, "gfx908"),
    ),
    "short-range-overflows": ("garbage-output-on-gfx", _CARD_OF_BESIDE + _NAN.format("fp16", "bf16")),
    "bfloat-is-lost-elsewhere": (
        "garbage-output-on-gfx",
        "Device  : NVIDIA H100 PCIe\n\n" + _NAN.format("bf16", "fp16"),
    ),
    "release-lacks-of-other": (
        "broken-wheel-missing-library",
        _OWN + _LINKS.format("libcufile.so.0") + _SHOWN.format("2.8.0+cu128"),
    ),
    "rocblas-of-that-number": ("rocm-abi-mismatch", _BLAS_OF_OTHER.format(4)),
    "override-and-no-error": (
        "gfx-not-in-torch-wheel",
        "torch 2.4.0+rocm6.1, gfx1035\n$ HSA_OVERRIDE_GFX_VERSION=10.3.0 python t.py\ntensor([1., 1.], device='cuda:0')\n",
    ),
    "two-cards": ("igpu-visible-beside-dgpu", _TWO.format("RX 6800 gfx1030")),
    "one-mask-fits": ("double-visibility-mask", _RAY.format("2,3")),
    "library-of-the-distribution": ("broken-wheel-missing-library", _LINKS.format("libgfortran.so.5")),
    "wrapper-fails-to-load": ("broken-wheel-missing-library", _WRAPPER.format("no model at ./m.gguf")),
    "two-cards-of-there": ("igpu-visible-beside-dgpu", _CHIPS.format("gfx1030", "gfx1101", 1)),
    "small-one-chosen": ("igpu-visible-beside-dgpu", _CHIPS.format("gfx1036", "gfx1101", 0)),
    "crash-of-a-known-chip": (
        "gfx-not-in-torch-wheel",
        _CRASH.format("gfx1030", "tensor([1., 1.], device='cuda:0')\n"),
    ),
    "file-is-there": ("gfx-not-in-rocblas", _BLAS_OF_THERE.format("gfx1030 gfx1032 gfx1100")),
    "not-there-at-all": ("rocm-abi-mismatch", _BLAS_OF_THERE.format("gfx1030 gfx1100 gfx942")),
    "another-package-without-hiprtc": ("broken-wheel-missing-library", _HIPRTC.format("cupy")),
    "tensorflow-one-without-cudnn": ("rocm-abi-mismatch", _OLD_TENSORFLOW.format("libcudnn.so.7")),
    "library-of-another-number-lies-beside": ("broken-wheel-missing-library", _MISSED.format(6)),
    "chips-of-torch-have-it": ("gfx-not-in-torch-wheel", _CHIPS_OF_TORCH.format("gfx1010\n")),
    "rocm-torch-beside-kfd": ("cuda-torch-on-amd", _SHOWN_BY_PIP.format("+rocm6.2", "pytorch-triton-rocm")),
    "fault-without-a-makeshift": ("wrong-hsa-override", _FAULT_UNDER.format("11.5.1")),
    "opencl-of-a-driven-card": (
        "amdgpu-not-loaded",
        "AMD Radeon 780M\n"
        + _ROW_OF_SMI
        + "Platform Name: AMD Accelerated Parallel Processing\nNumber of devices: 0\n",
    ),
    "correct-output-of-one-backend": ("garbage-output-on-gfx", "Radeon 8060S: it produces correct output with ROCm.\n"),
    "files-of-its-chip": ("gfx-not-in-rocblas", "RX 6800 XT\n" + _FILE_OF_ROCBLAS),
    "build-of-a-day": ("broken-wheel-missing-library", "built against ROCm in the nightly job\n" + _SOLVER),
    "differences-of-rounding": ("garbage-output-on-gfx", _DIFFERENCES.format("3.584e-06")),
    "index-beside-pypi": ("pip-index-url-hides-pypi", _FROM_TORCH.format("--extra-index-url")),
    "chip-of-the-card-is-taken": ("igpu-visible-beside-dgpu", "RX 9070 XT\nAMD arch: gfx1201\n"),
    "types-mixed-by-a-program": (
        "gfx-not-in-torch-wheel",
        "ComfyUI, ROCm, gfx1151\nRuntimeError: mat1 and mat2 must have the same dtype, but got BFloat16 and Float\n",
    ),
    "work-on-a-second-card": (
        "igpu-visible-beside-dgpu",
        "  Node:                    2\n  Device Type:             GPU\n  Chip ID:                 29772(0x744c)\n  BDFID:                   6144\nROCm1 KV buffer size = 6144 MiB\n",
    ),
    "work-on-the-card-before-the-graphics": (
        "igpu-visible-beside-dgpu",
        "  Node:                    2\n  Device Type:             GPU\n  Chip ID:                 5056(0x13c0)\n  BDFID:                   6144\nROCm0 KV buffer size = 6144 MiB\n",
    ),
}
