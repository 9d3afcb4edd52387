"""What a command shows beside a message: each rule where it speaks, and beside it where it has to be silent."""

_ENTRY = "ERROR: This container was built for NVIDIA Driver Release {} or later, but\n       version {} was detected and compatibility mode is UNAVAILABLE.\n\n"
_803 = "       [[CUDA Driver UNAVAILABLE (cuInit(0) returned 803)]]\n"
_INSIDE = "$ {} run --rm{} --device /dev/kfd --device /dev/dri docker.io/rocm/rocm-terminal bash -c '{}'\n"
_NODE = "crw-rw---- 1 {0} {0} 235, 0 Feb  1 10:11 /dev/kfd\n"
_ASKED = ">>> print(torch.__version__, torch.cuda.get_device_capability(0), torch.cuda.get_arch_list()[-1])\n"
_BNB = "Error no kernel image is available for execution on the device at line 90 in file /src/csrc/ops.cu\n"
_LIST = ">>> torch.cuda.get_arch_list()\n['sm_50', 'sm_60', 'sm_70', 'sm_80', 'sm_86']\n"
_MINE = "./nbody\nHIP error hipErrorNoBinaryForGpu at nbody.cpp:31\n"
_CHIP = "$ rocm_agent_enumerator\n{}\n"
_ROC = "$ roc-obj-ls {}\n1       host-x86_64-unknown-linux--      file://{}#offset=8192&size=0\n"
_OBJ = "{}       hipv4-amdgcn-amd-amdhsa--{}  file:///home/ada/nbody#offset=8192&size=6632\n"
_FREE = "$ nvidia-smi --query-gpu=index,memory.total,memory.free --format=csv\nindex, memory.total [MiB], memory.free [MiB]\n0, 24564 MiB, {} MiB\n"
_OOM = (
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 5120.00 MiB on device 0: cudaMalloc failed: out of memory\n"
)
_PIDS = "KFD process information:\nPID\tPROCESS NAME\tGPU(s)\tVRAM USED\tSDMA USED\tCU OCCUPANCY\n777\tXorg       \t1     \t98304      \t0        \t0\n4120\tpython3    \t1     \t{}\t0        \t0\n"
_STAT = '$ docker run --rm --device /dev/kfd --device /dev/dri rocm/pytorch rocminfo\ndocker: Error response from daemon: error gathering device information while adding custom device "/dev/kfd": no such file or directory.\n'
_TF = "tensorflow/core/common_runtime/gpu/gpu_device.cc:1843] Ignoring visible gpu device (device: 0, name: Raven, pci bus id: 0000:04:00.0) with AMDGPU ISA : gfx902. The supported AMDGPU ISAs are gfx803, gfx900, gfx906.\n"
_RANKS = "initializing ddp: GLOBAL_RANK: {}, MEMBER: {}/8\n"
_TWICE = "GPU available: True, used: True\n" + "".join(_RANKS.format(rank, rank + 1) for rank in (0, 1, 2, 0, 1, 2))
_BATCH = "\n#!/bin/bash\n#SBATCH -N {}\n#SBATCH --gres=gpu:4\n{}\nsrun python fit.py\n"
_WHEELS = '$ curl -s https://example.org/whl/ | grep -o "jax_rocm7_plugin[^\\"]*cp[0-9]*" | sort -u\njax_rocm7_plugin-0.6.0-cp311\njax_rocm7_plugin-0.6.0-cp312\n'
_PIP = "$ {} install jax-rocm7-plugin==0.6.0 -f https://example.org/whl/\nERROR: Could not find a version that satisfies the requirement jax-rocm7-plugin==0.6.0 (from versions: none)\n"
_MODELS = "PS> nvidia-smi --query-gpu=index,name,driver_model.current --format=csv,noheader\n0, Tesla P40, {}\n"
_SILENT = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
_WINDOWS = "Microsoft Windows [Version {}]\n\n"
_WHERE = "D:\\llm>llama-bench.exe\n(exit code -1073741515)\nD:\\llm>where {}\nINFO: Could not find files for the given pattern(s).\n"
_PROCEDURE = '>python -c "import torchvision"\nImportError: DLL load failed while importing _C: The specified {} could not be found.\n'
_PACKAGES = "C:\\w>pip list | findstr torch\ntorch              {}\ntorchvision        0.18.0+cpu\n"
_CARD = "Device  : AMD Instinct MI300X\n\n"
_NAN = "{} result: NaNs for M=64, N=512\n{} result: correct\n"
_CPU = ">>> print(torch.__config__.show())\nPyTorch built with:\n  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release, TORCH_VERSION=2.3.1, USE_CUDA={}, USE_CUDNN={}\n"

SPEAKS = {
    "entrypoint-and-803": ("container-requires-newer-driver", _ENTRY.format("545.23", "470.57.02") + _803),
    "driver-of-its-own-and-803": (
        "libcuda-differs-from-kernel-driver",
        "RuntimeError: Error 803: system has unsupported display driver / cuda driver combination\n",
    ),
    "number-of-a-group-and-no-answer": ("container-render-group-mismatch", "# ls -ln /dev/kfd\n" + _NODE.format(109)),
    "capability-in-a-row": ("gpu-arch-newer-than-wheel", _BNB + _ASKED + "2.3.1+cu121 (12, 0) sm_90\n"),
    "capability-in-a-tuple": (
        "gpu-arch-newer-than-wheel",
        ">>> torch.cuda.get_device_name(), torch.cuda.get_device_capability()\n('NVIDIA H100 PCIe', (9, 0))\n" + _LIST,
    ),
    "binary-listed": (
        "binary-arch-missing",
        _MINE + _CHIP.format("gfx942") + _ROC.format("./nbody", "/home/ada/nbody") + _OBJ.format(1, "gfx908"),
    ),
    "binary-dumped": (
        "binary-arch-missing",
        _MINE
        + _CHIP.format("gfx1201")
        + "$ llvm-objdump --offloading ./nbody\n./nbody:\tfile format elf64-x86-64\nExtracting offload bundle: ./nbody.0.hipv4-amdgcn-amd-amdhsa--gfx1100\n",
    ),
    "compiled-for-another": (
        "binary-arch-missing",
        "$ hipcc --offload-arch=gfx90a nbody.cpp -o nbody && " + _MINE + _CHIP.format("gfx942"),
    ),
    "processors-chip-left-out": ("binary-arch-missing", _TF),
    "array-compiler-refused": (
        "binary-arch-missing",
        "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Failed to load HSACO: HIP_ERROR_NoBinaryForGpu\n",
    ),
    "bfloat-alone-is-lost": ("garbage-output-on-gfx", _CARD + _NAN.format("bf16", "fp16")),
    "bfloat-alone-is-lost-below": (
        "garbage-output-on-gfx",
        _CARD + "float16: matches the CPU\nfloat32: matches the CPU\nbfloat16: garbage\n",
    ),
    "little-free": ("gpu-memory-held-by-others", _OOM + _FREE.format(402)),
    "radeon-held": ("gpu-memory-held-by-others", _PIDS.format(20615843020) + _OOM),
    "barred-and-not-handed-in": (
        "amdgpu-not-loaded",
        _STAT + "$ cat /etc/modprobe.d/vfio.conf\nblacklist amdgpu\n",
    ),
    "ranks-twice": ("slurm-ntasks-mismatch", _TWICE + _BATCH.format(2, "#SBATCH --mem 64G")),
    "wheels-of-others": ("python-version-without-wheels", _WHEELS + _PIP.format("python3.14 -m pip")),
    "wheels-of-others-by-pip": ("python-version-without-wheels", _WHEELS + _PIP.format("pip3.9")),
    "windows-computes-only": (
        "wsl-gpu-in-tcc-mode",
        _MODELS.format("TCC") + "PS> wsl nvidia-smi\nNo devices were found\n",
    ),
    "old-windows": ("wsl-windows-too-old", _WINDOWS.format("10.0.18362.1") + "me@LAPTOP:~$ nvidia-smi\n" + _SILENT),
    "oneapi-not-there": ("intel-oneapi-runtime-missing", _WHERE.format("mkl_sycl_blas.5.dll")),
    "procedure-of-another-release": (
        "torch-torchvision-mismatch",
        _PACKAGES.format("2.6.0+cpu") + "C:\\w" + _PROCEDURE.format("procedure"),
    ),
    "build-without-cuda-and-cards": ("cpu-only-torch", _CPU.format("0", "OFF") + "$ nvidia-smi -L | wc -l\n8\n"),
    "build-without-cuda-and-one-card": (
        "cpu-only-torch",
        _CPU.format("0", "OFF") + "$ nvidia-smi --list-gpus | grep -c GPU\n1\n",
    ),
}
SILENT = {
    "entrypoint-is-content": (
        "container-requires-newer-driver",
        "RuntimeError: Error 803: system has unsupported display driver / cuda driver combination\n",
    ),
    "opened-inside": (
        "container-render-group-mismatch",
        _INSIDE.format("podman", " --group-add keep-groups", "ls -ln /dev/kfd; rocm_agent_enumerator")
        + _NODE.format(65534)
        + "gfx000\ngfx90a\n",
    ),
    "opened-inside-by-a-number": (
        "container-render-group-mismatch",
        _INSIDE.format("docker", " --group-add 109", "ls -ln /dev/kfd; rocminfo | grep -m1 gfx")
        + _NODE.format(109)
        + "  Name:                    gfx1030\n",
    ),
    "capability-that-it-has": ("gpu-arch-newer-than-wheel", _BNB + _ASKED + "2.3.1+cu121 (8, 9) sm_90\n"),
    "capability-that-hip-makes-up": (
        "gpu-arch-newer-than-wheel",
        _ASKED + "2.5.1+rocm6.2 (11, 0) gfx1100\n",
    ),
    "binary-that-runs": (
        "binary-arch-missing",
        _CHIP.format("gfx942") + _ROC.format("./nbody", "/home/ada/nbody") + _OBJ.format(1, "gfx908"),
    ),
    "torch-is-not-named": (
        "gfx-not-in-torch-wheel",
        _MINE + _CHIP.format("gfx942") + _ROC.format("./nbody", "/home/ada/nbody") + _OBJ.format(1, "gfx908"),
    ),
    "array-compiler-without-memory": (
        "binary-arch-missing",
        "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Failed to load HSACO: HIP_ERROR_OutOfMemory\n",
    ),
    "short-range-overflows": ("garbage-output-on-gfx", _CARD + _NAN.format("fp16", "bf16")),
    "bfloat-is-lost-elsewhere": (
        "garbage-output-on-gfx",
        "Device  : NVIDIA H100 PCIe\n\n" + _NAN.format("bf16", "fp16"),
    ),
    "much-free": ("gpu-memory-held-by-others", _OOM + _FREE.format(22100)),
    "radeon-hardly-held": ("gpu-memory-held-by-others", _PIDS.format(1073741824) + _OOM),
    "radeon-held-and-nobody-refused": ("gpu-memory-held-by-others", _PIDS.format(20615843020)),
    "not-barred": ("amdgpu-not-loaded", _STAT),
    "barred-of-another": ("amdgpu-not-loaded", _STAT + "$ cat /etc/modprobe.d/n.conf\nblacklist nouveau\n"),
    "engine-on-a-host-that-bars": (
        "docker-flavour-without-gpu",
        _STAT + "$ cat /etc/modprobe.d/vfio.conf\nblacklist amdgpu\n",
    ),
    "ranks-once": (
        "slurm-ntasks-mismatch",
        "".join(_RANKS.format(rank, rank + 1) for rank in range(8)) + _BATCH.format(2, "#SBATCH --ntasks-per-node=4"),
    ),
    "wheels-of-this-one": ("python-version-without-wheels", _WHEELS + _PIP.format("python3.12 -m pip")),
    "windows-draws-too": (
        "wsl-gpu-in-tcc-mode",
        _MODELS.format("WDDM") + "PS> wsl nvidia-smi\nNo devices were found\n",
    ),
    "windows-alone": ("wsl-gpu-in-tcc-mode", _MODELS.format("TCC") + "PS> nvidia-smi -L\nGPU 0: Tesla P40\n"),
    "windows-of-today": (
        "wsl-windows-too-old",
        _WINDOWS.format("10.0.22631.1") + "me@LAPTOP:~$ nvidia-smi\n" + _SILENT,
    ),
    "another-machine": (
        "wsl-windows-too-old",
        _WINDOWS.format("10.0.18362.1") + "C:\\Users\\me>ssh me@node7\nme@node7:~$ nvidia-smi\n" + _SILENT,
    ),
    "windows-own-tool": (
        "wsl-windows-too-old",
        _WINDOWS.format("10.0.18362.1") + "C:\\Users\\me>nvidia-smi\n" + _SILENT,
    ),
    "another-library": ("intel-oneapi-runtime-missing", _WHERE.format("msvcp140.dll")),
    "module-of-one-release": (
        "torch-torchvision-mismatch",
        _PACKAGES.format("2.3.0+cpu") + "C:\\w" + _PROCEDURE.format("module"),
    ),
    "build-with-cuda": ("cpu-only-torch", _CPU.format("ON", "ON") + "$ nvidia-smi -L | wc -l\n8\n"),
    "refusal-has-lines-too": ("cpu-only-torch", _CPU.format("0", "OFF") + "$ nvidia-smi -L | wc -l\n2\n"),
}
