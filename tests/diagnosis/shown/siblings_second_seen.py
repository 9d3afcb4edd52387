"""What a second look showed: each rule where it speaks, and beside it where it has to be silent."""

_LINKS = "ImportError: {}: cannot open shared object file: No such file or directory\n"
_OWN = '  File "/opt/v/lib/python3.11/site-packages/torch/__init__.py", line 367, in <module>\n    from torch._C import *  # noqa: F403\n'
_SHOWN = "$ pip show torch | grep Version\nVersion: {}\n"
_CUDNN = "cuDNN Error: CUDNN_STATUS_VERSION_MISMATCH\n$ grep CUDNN_MAJOR -A1 /usr/include/cudnn_version.h\n#define CUDNN_MAJOR {}\n$ ldd ./net | grep cudnn\n\tlibcudnn.so.7 => /usr/local/cuda/lib64/libcudnn.so.7\n"
_VALUE = 'Currently Loaded Modules:\n  1) gcc/11.2   2) {}   3) python/3.10\n$ python fit.py\n  File "/h/v/lib/python3.10/site-packages/torch/nn/modules/linear.py", line 114, in forward\nRuntimeError: CUDA error: {} when calling `cublasGemmEx( handle, opa, opb)`\n'
_JAX = "CUDA backend failed to initialize: Found cuSPARSE version {}, but JAX was built against version 12200, which is newer.\n The copy of cuSPARSE that is installed must be at least as new as the version against which JAX was built.\n$ pip list | grep cusparse\nnvidia-cusparse-cu12      {}\n"
_BLAS = '  File "/opt/c/lib/python3.8/site-packages/torch/__init__.py", line 229, in <module>\n    from torch._C import *  # noqa: F403\nImportError: librocblas.so.{}: cannot open shared object file: No such file or directory\n| rocblas | 4.1.2.60102-119~22.04 |\n'
_DEBUG = "RuntimeError: cudnn_status: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH\n$ LD_DEBUG=libs python t.py 2>&1 | grep cudnn\n     991:\tcalling init: {}/libcudnn_ops.so.9\n"
_PADDLE = ">>> paddle.version.show()\ncuda: 11.8\ncudnn: {}\n>>> paddle.utils.run_check()\nW0101 10:00:00.0 1 gpu_resources.cc:149] device: 0, cuDNN Version: 8.2.\n"
_OPS = "ModuleNotFoundError: No module named 'mmcv.{}'\n(v) D:\\w> dir v\\Lib\\site-packages\\mmcv\\*.pyd\n{}"
_EXTRA = "{}> pip install tensorflow[and-cuda]\nWARNING: tensorflow {} does not provide the extra 'and-cuda'\n"
_SPEED = "$ ds_report | tail\ntorch version .................... 2.1.0+cu118\ntorch cuda version ............... 11.8\nnvcc version ..................... {}\n$ DS_BUILD_UTILS=1 pip install deepspeed\n"
_FILES = "$ nvtop\nNo GPU to monitor.\n$ modinfo -F version nvidia; cat /sys/module/nvidia/version\n{}\n550.107.02\n"
_STRINGS = "$ cat /sys/module/nvidia/version\n550.107.02\n$ strings /usr/lib64/libnvidia-ml.so.1 | grep -m1 -E '^5[0-9]{{2}}'\n{}\n"
_CARD = "$ lspci -k -s 41:00.0\n41:00.0 3D controller: NVIDIA Corporation GA102GL [RTX A6000] (rev a1)\n{}\tKernel modules: nvidiafb, nouveau, nvidia_drm, nvidia\n$ lsmod | grep nvidia\n{}$ modinfo -F filename nvidia\n/lib/modules/5.15.0-94-generic/updates/dkms/nvidia.ko\n"
_CLIENT = "(EE) NVIDIA: Failed to initialize the NVIDIA kernel module. Please see the\nnvidia-modeset: ERROR: client version {} does not match kernel module {}\n"
_NODE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\ncould not open /dev/nvidiactl: {}\n"
_GUEST = "root@vm:~# lspci | grep -i vga\n00:02.0 VGA compatible controller: Device 1234:1111 (rev 02)\nroot@pve:~# qm config 101 | grep -c hostpci\n{}\n"
_EXEC = "$ docker exec web ls /dev | grep -c nvidia\n{}\n$ nvidia-smi -L\nGPU 0: NVIDIA RTX A2000\n"
_BOX = "$ distrobox enter r -- python3 -c \"import torch; print(torch.version.hip, torch.cuda.is_available())\"\n6.1.40091 {}\n$ podman inspect r --format '{{{{.HostConfig.Devices}}}}'\n{}\n$ rocminfo | grep -m1 'Name:.*gfx'\n  Name:                    gfx1030\n"
_CDI = "$ nvidia-ctk cdi generate\nERRO[0000] failed to generate CDI spec: failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND\n$ uname -r\n{}\n"
_CELLS = "[1] !which python\n/home/u/conda/envs/dl/bin/python\n[2] import torch\nModuleNotFoundError: No module named 'torch'\n[3] import sys; sys.prefix\n'{}'\n"
_JOB = "#!/bin/bash\n#SBATCH --nodes=2 --gpus-per-node=4 --ntasks-per-node={}\nsrun python fit.py\n\nrank 0/{} host n1 device cuda:0\n"
_SUMMARY = "|                  PyTorch CUDA memory summary, device ID 0                 |\n|            CUDA OOMs: {}            |        cudaMalloc retries: 7        |\n|===========================================================================|\n| Allocated memory      |   {} MiB |   11402 MiB |     902 GiB |\n| GPU reserved memory   |   20000 MiB |   20000 MiB |   48310 MiB |\n"
_FREE = "torch.cuda.mem_get_info()  -> 0.21 GiB, 15.77 GiB\ntorch.cuda.memory_reserved()  -> {} GiB\n|    0   N/A  N/A   3051088      C   ...envs/r/bin/python            {}MiB |\n"
_LONG = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n$ ps -o pid,etime,cmd -p $(nvidia-smi --query-compute-apps=pid --format=csv,noheader)\n    PID     ELAPSED CMD\n 771031  {} python -m old.server\n"
_ORPHAN = "$ sudo fuser -v /dev/nvidia0\n                     USER        PID ACCESS COMMAND\n/dev/nvidia0:        u          9921 F...m python\n$ ps -o ppid,stat,cmd -p 9921\n   PPID STAT CMD\n   {} Sl   python fit.py --workers 8\n"
_POOLS = "[    2.9] [drm] amdgpu: 4096M of VRAM memory ready\n[    2.9] [drm] amdgpu: 13854M of GTT memory ready.\nprint_info: file size   = {} GiB (4.89 BPW)\nggml_cuda_init: found 1 ROCm devices:\n  Device 0: AMD Radeon Graphics, gfx1100 (0x1100), VMM: no, Wave Size: 32\nload_tensors: offloaded {}/41 layers to GPU\n"
_VULKAN = "ggml_vulkan: 0 = AMD Radeon(TM) 8050S Graphics (AMD proprietary driver) | uma: 1 | fp16: 1 | bf16: 0 | warp size: 64 | shared memory: 32768 | matrix cores: KHR_coopmat\nusing device Vulkan0 (AMD Radeon(TM) 8050S Graphics) (unknown id) - 15410 MiB free\nprint_info: file size   = {} GiB (4.82 BPW)\n"
_OLLAMA = 'level=INFO source=types.go:32 msg="inference compute" id=0 library=ROCm compute=gfx1151 name=ROCm0 description="AMD Radeon 8060S Graphics" libdirs=ollama,rocm_v7_2 driver=0.0 pci_id=0000:c5:00.0 type=iGPU total="64.0 GiB" available="{} GiB"\n'
_GGML = "$ rocm-smi --showmeminfo vram gtt\nGPU[0]\t\t: VRAM Total Memory (B): 103079215104\nGPU[0]\t\t: GTT Total Memory (B): 16642998272\nggml_backend_cuda_device_get_memory: free {0} MiB, total {0} MiB (device 0, integrated: 1)\n"
_HIP = "RuntimeError: HIP error: invalid device function\nfused_ext.cpython-311-x86_64-linux-gnu.so: HIP fatbin targets {}\n>>> torch.cuda.get_device_properties(0).gcnArchName\n'gfx1030'\n"
_TRIES = 'torch 2.4.0+rocm6.1, {}\n"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"\n$ HSA_OVERRIDE_GFX_VERSION=10.3.0 python -c "import torch; print(torch.ones(2).cuda())"\n{}'
_TWO = "0 AMD Radeon RX 7800 XT gfx1101\n1 AMD Radeon {}\n$ python main.py\nHW Exception by GPU node-2 (Agent handle: 0x55c0e0) reason :GPU Hang\n$ HIP_VISIBLE_DEVICES=0 python main.py\n"
_RAY = '(RayWorkerWrapper pid=9) ROCR_VISIBLE_DEVICES="{}"\n(RayWorkerWrapper pid=9) CUDA_VISIBLE_DEVICES="0,1"\nRuntimeError: HIP error: invalid device ordinal\n'
_RUST = '{}HipError {{ code: 209, name: "hipErrorNoBinaryForGpu" }}\n'
_NODES = "[V] Node(s) placed on [DmlExecutionProvider]. Number of nodes: 300\n[V] Node(s) placed on [CPUExecutionProvider]. Number of nodes: {}\n"
_UVM = "modprobe: FATAL: Module {} not found.\npycuda._driver.RuntimeError: cuInit failed: unknown error\n{}"
_PROMPT = "I have no name!@{}:/w$ python t.py\nRuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx\n"

SPEAKS = {
    "nightly-lacks": ("broken-wheel-missing-library", _OWN + _LINKS.format("libcufile.so.0") + _SHOWN.format("2.8.0.dev20250501+cu128")),
    "two-cudnns": ("cudnn-version-incompatible", _CUDNN.format(8)),
    "module-and-cublas": ("library-clash-ld-library-path", _VALUE.format("cuda/11.4", "CUBLAS_STATUS_INVALID_VALUE")),
    "jax-and-its-package": ("library-clash-ld-library-path", _JAX.format(12103, "12.2.0.103")),
    "rocblas-of-another-number": ("rocm-abi-mismatch", _BLAS.format(0)),
    "library-of-the-system": ("library-clash-ld-library-path", _DEBUG.format("/usr/lib/x86_64-linux-gnu")),
    "paddle-cudnn": ("cudnn-version-incompatible", _PADDLE.format("8.6.0")),
    "no-ops": ("extension-without-platform-build", _OPS.format("_ext", "File Not Found\n")),
    "extra-on-windows": ("tensorflow-windows-no-gpu", _EXTRA.format("C:\\n", "2.16.1")),
    "deepspeed": ("nvcc-differs-from-torch-cuda", _SPEED.format("12.4")),
    "file-of-the-module": ("nvml-driver-library-mismatch", _FILES.format("550.120")),
    "strings-of-nvml": ("nvml-driver-library-mismatch", _STRINGS.format("550.120")),
    "built-and-not-loaded": ("nvidia-module-not-loaded", _CARD.format("", "")),
    "client-of-modeset": ("nvml-driver-library-mismatch", _CLIENT.format("390.48", "384.130")),
    "node-refused": ("device-node-permissions", _NODE.format("Permission denied")),
    "lent-none": ("vm-without-gpu-passthrough", _GUEST.format(0)),
    "no-node-inside": ("container-without-gpu", _EXEC.format(0)),
    "no-device-given": ("container-without-gpu", _BOX.format("False", "[]")),
    "cdi-on-a-jetson": ("container-runtime-without-jetson-support", _CDI.format("5.10.104-tegra")),
    "another-prefix": ("jupyter-kernel-other-env", _CELLS.format("/home/u/conda")),
    "one-rank-a-node": ("slurm-ntasks-mismatch", _JOB.format(1, 2)),
    "summary": ("oom-fragmentation", _SUMMARY.format(3, 9000)),
    "full-before": ("gpu-memory-held-by-others", _FREE.format("0.00", 14902)),
    "runs-for-long": ("gpu-memory-held-by-others", _LONG.format("2-03:00:10")),
    "orphan": ("gpu-memory-held-by-others", _ORPHAN.format("   1")),
    "both-pools": ("igpu-vram-counted-without-gtt", _POOLS.format("9.10", 12)),
    "half-of-the-model": ("apu-vram-carveout-vs-gtt", _VULKAN.format("42.50")),
    "little-free": ("apu-memory-miscount", _OLLAMA.format("11.2")),
    "ggml-total": ("apu-vram-carveout-vs-gtt", _GGML.format(15872)),
    "targets": ("binary-arch-missing", _HIP.format("gfx90a gfx942")),
    "override-mends": ("gfx-not-in-torch-wheel", _TRIES.format("gfx1035", "tensor([1., 1.], device='cuda:0')\n")),
    "hangs-on-both": ("igpu-visible-beside-dgpu", _TWO.format("Graphics gfx1036")),
    "two-masks": ("double-visibility-mask", _RAY.format(3)),
    "rust": ("binary-arch-missing", _RUST.format("called `Result::unwrap()` on an `Err` value: ")),
    "gromacs": ("binary-arch-missing", "$ gmx mdrun -s a.tpr\nHIP error #209 (hipErrorNoBinaryForGpu): no kernel image is available for execution on the device.\n"),
    "nodes": ("directml-op-cpu-fallback", _NODES.format(150)),
    "uvm-of-old": ("uvm-device-missing", _UVM.format("nvidia-uvm", "modprobe: ERROR: could not insert 'nvidia_304_uvm': No such device\n")),
    "nameless": ("container-without-gpu", _PROMPT.format("9c41fe")),
    "vendored": ("broken-wheel-missing-library", _LINKS.format("libgfortran-040039e1.so.5.0.0")),
    "no-such-target": ("binary-arch-missing", "triton.compiler.errors.CompilationError: at 9:12: unsupported target gfx906\n"),
    "refused-chip": ("binary-arch-missing", "RuntimeError: Unsupported GPU arch: gfx1201, supported archs: gfx90a;gfx942\n"),
    "skipped": ("gpu-arch-older-than-wheel", "Skipping visible gpu device: Tesla K80, compute capability 3.7; the minimum required is 5.2\n"),
    "hashcat": ("cuda-runtime-library-missing", "* Device #1: CUDA SDK Toolkit not installed or incorrectly installed.\n$ ldconfig -p | grep -c libnvrtc\n0\n"),
}  # fmt: skip
SILENT = {
    "release-lacks": ("broken-wheel-missing-library", _OWN + _LINKS.format("libcufile.so.0") + _SHOWN.format("2.8.0+cu128")),
    "one-cudnn": ("cudnn-version-incompatible", "$ grep CUDNN_MAJOR -A1 /usr/include/cudnn_version.h\n#define CUDNN_MAJOR 7\n$ ldd ./net | grep cudnn\n\tlibcudnn.so.7 => /usr/local/cuda/lib64/libcudnn.so.7\n"),
    "no-module-and-cublas": ("library-clash-ld-library-path", _VALUE.format("openmpi/4.1", "CUBLAS_STATUS_INVALID_VALUE")),
    "another-refusal-of-cublas": ("library-clash-ld-library-path", _VALUE.format("cuda/11.4", "CUBLAS_STATUS_ALLOC_FAILED")),
    "rocblas-of-that-number": ("rocm-abi-mismatch", _BLAS.format(4)),
    "library-of-the-wheel": ("library-clash-ld-library-path", _DEBUG.format("/v/lib/python3.11/site-packages/nvidia/cudnn/lib")),
    "paddle-newer-cudnn": ("cudnn-version-incompatible", _PADDLE.format("8.1.1")),
    "ops-not-looked-for": ("extension-without-platform-build", _OPS.format("_ext", "01.01.2025  9 000 000 _ext.cp311-win_amd64.pyd\n")),
    "extra-on-linux": ("tensorflow-windows-no-gpu", "$ uname -s\nLinux\n" + _EXTRA.format("$", "2.13.0")),
    "deepspeed-same-major": ("nvcc-differs-from-torch-cuda", _SPEED.format("11.5")),
    "same-file-of-the-module": ("nvml-driver-library-mismatch", _FILES.format("550.107.02")),
    "same-strings-of-nvml": ("nvml-driver-library-mismatch", _STRINGS.format("550.107.02")),
    "loaded": ("nvidia-module-not-loaded", _CARD.format("\tKernel driver in use: nvidia\n", "nvidia  56770560  2\n")),
    "client-of-another-program": ("nvml-driver-library-mismatch", "Error response from daemon: client version 1.41 is too old\n"),
    "node-not-there": ("device-node-permissions", _NODE.format("No such file or directory")),
    "lent-one": ("vm-without-gpu-passthrough", _GUEST.format(1)),
    "nodes-inside": ("container-without-gpu", _EXEC.format(5)),
    "devices-given": ("container-without-gpu", _BOX.format("False", "[{/dev/kfd /dev/kfd rwm}]")),
    "box-works": ("container-without-gpu", _BOX.format("True", "[]")),
    "cdi-on-a-desktop": ("container-runtime-without-jetson-support", _CDI.format("6.8.0-45-generic")),
    "same-prefix": ("jupyter-kernel-other-env", _CELLS.format("/home/u/conda/envs/dl")),
    "all-ranks": ("slurm-ntasks-mismatch", _JOB.format(4, 8)),
    "summary-without-refusal": ("oom-fragmentation", _SUMMARY.format(0, 9000)),
    "summary-in-use": ("oom-fragmentation", _SUMMARY.format(3, 19000)),
    "own-memory": ("gpu-memory-held-by-others", _FREE.format("14.60", 14902)),
    "small-holder": ("gpu-memory-held-by-others", _FREE.format("0.00", 318)),
    "just-started": ("gpu-memory-held-by-others", _LONG.format("00:14")),
    "child": ("gpu-memory-held-by-others", _ORPHAN.format("9900")),
    "fits-the-carve-out": ("igpu-vram-counted-without-gtt", _POOLS.format("2.10", 12)),
    "all-layers": ("igpu-vram-counted-without-gtt", _POOLS.format("9.10", 41)),
    "model-fits": ("apu-vram-carveout-vs-gtt", _VULKAN.format("12.50")),
    "much-free": ("apu-memory-miscount", _OLLAMA.format("61.9")),
    "ggml-total-of-the-carve-out": ("apu-vram-carveout-vs-gtt", _GGML.format(98304)),
    "targets-have-it": ("binary-arch-missing", ">>> torch.cuda.get_device_properties(0).gcnArchName\n'gfx1030'\nfused_ext.cpython-311-x86_64-linux-gnu.so: HIP fatbin targets gfx1030\n"),
    "override-and-no-error": ("gfx-not-in-torch-wheel", "torch 2.4.0+rocm6.1, gfx1035\n$ HSA_OVERRIDE_GFX_VERSION=10.3.0 python t.py\ntensor([1., 1.], device='cuda:0')\n"),
    "two-cards": ("igpu-visible-beside-dgpu", _TWO.format("RX 6800 gfx1030")),
    "one-mask-fits": ("double-visibility-mask", _RAY.format("2,3")),
    "torch-itself": ("binary-arch-missing", "RuntimeError: HIP error: hipErrorNoBinaryForGpu\n"),
    "few-nodes": ("directml-op-cpu-fallback", _NODES.format(40)),
    "module-itself-not-built": ("uvm-device-missing", _UVM.format("nvidia", "")),
    "person-with-a-name": ("container-without-gpu", _PROMPT.format("desk")),
    "library-of-the-distribution": ("broken-wheel-missing-library", _LINKS.format("libgfortran.so.5")),
    "clangs-target": ("binary-arch-missing", "clang: error: unsupported target gfx906\n"),
    "not-skipped": ("gpu-arch-older-than-wheel", "Adding visible gpu device: Tesla V100, compute capability 7.0; the minimum required is 5.2\n"),
    "hashcat-goes-on": ("cuda-runtime-library-missing", "* Device #1: CUDA SDK Toolkit not installed or incorrectly installed.\n             Falling back to OpenCL runtime.\nStatus...........: Cracked\n"),
    "hashcat-has-it": ("cuda-runtime-library-missing", "* Device #1: CUDA SDK Toolkit not installed or incorrectly installed.\n$ ldconfig -p | grep -c libnvrtc\n2\n"),
}  # fmt: skip
