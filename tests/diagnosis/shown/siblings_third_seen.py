"""What a third look showed: each rule where it speaks, and beside it where it has to be silent."""

_GUEST = "root@vm:~# ./server\nIllegal instruction (core dumped)\nroot@pve:~# qm config 104 | grep cpu\ncpu: {}\n"
_EMULATED = "$ docker run --rm some/image\nqemu: uncaught target signal {} - core dumped\n{}"
_FILE = "PS C:\\p> dir venv\\Lib\\site-packages\\causal*\n-a        causal_conv1d_cuda.{}\nPS C:\\p> venv\\Scripts\\python -c \"import causal_conv1d_cuda\"\nModuleNotFoundError: No module named 'causal_conv1d_cuda'\n"
_WRAPPER = "FileNotFoundError: {}\n"
_LIBC = "$ pip install x-1.0-cp310-cp310-{}.whl\nERROR: x-1.0-cp310-cp310-{}.whl is not a supported wheel on this platform.\n>>> platform.libc_ver()\n('glibc', '{}')\n"
_R = '> tf$config$list_physical_devices("GPU")\nlist()\n> tf_config()\nTensorFlow v{} (C:/v/lib/site-packages/tensorflow)\n> Sys.info()["sysname"]\n  sysname \n"{}" \n> system("nvidia-smi -L")\nGPU 0: NVIDIA GeForce GTX 1660 (UUID: GPU-11111111-2222-3333-4444-555555555555)\n'
_JULIA = "ERROR: ArgumentError: cannot take the CPU address of a {}\n"
_RUNTIME = "ERROR: LoadError: CUDA.jl {} a CUDA runtime library\n"
_DOUBLES = "Out[7]: torch.{}\nIn [8]: y.to('mps')\n{}"
_OP = "RuntimeError: MPS device does not support {} op with {} input\n"
_LOG = "$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n$ cat /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Fri Mar 1 00:00:00 UTC 2024\n{}\n"
_DPKG = "2024-03-02 06:11:02 upgrade libnvidia-compute-550:amd64 550.54.14-0ubuntu1 550.90.07-0ubuntu1"
_PACMAN = "[2024-03-02T06:11:02+0000] [ALPM] upgraded nvidia-utils (550.54.14-4 -> 550.90.07-1)"
_ASKED = "$ modinfo -F version nvidia; strings /usr/lib64/libnvidia-ml.so | grep -m1 '^5'\n550.90.07\n{}\n"
_MODULE = "$ sudo modprobe nvidia\nmodprobe: ERROR: could not insert 'nvidia': No such device\n{}"
_NOUVEAU = "[    4.1] nouveau 0000:02:00.0: DRM: VRAM: 4096 MiB\n"
_MODE = '$ nvtop\nNo GPU to monitor.\n$ sudo nvtop -s | head -2\n[{{ "device_name": "NVIDIA RTX A2000",\n$ cat /etc/modprobe.d/nv.conf\noptions nvidia NVreg_DeviceFileMode={}\n$ groups\nada users\n'
_MIG = "$ nvidia-smi -L\nGPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)\n{}$ CUDA_VISIBLE_DEVICES={} python -c 'import torch; print(torch.cuda.device_count(), torch.cuda.is_available())'\n{}\n"
_PARTS = "  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)\n  MIG 3g.20gb     Device  1: (UUID: MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb)\n"
_GMX = "$ apptainer exec {}gmx.sif gmx mdrun -deffnm md -pme gpu\nPME on the GPU was requested with -pme gpu, but no compatible devices were found.\n"
_SWARM = '$ docker service create --generic-resource "gpu=2" --name w img\nno suitable node (insufficient resources on 2 nodes)\n$ which nvidia-ctk || echo missing\n{}\n'
_CARVED = "$ cat /sys/class/drm/card0/device/mem_info_{{vram,gtt}}_total\n{}\n16106127360\n>>> torch.cuda.mem_get_info()\n(10000000, 1073741824)\ngpu: Radeon 680M\n"
_CHIPS = ">>> for i in range(2): print(i, torch.cuda.get_device_properties(i).gcnArchName)\n0 {}\n1 {}\nSegmentation fault (core dumped)\n$ HIP_VISIBLE_DEVICES={} python t.py\n"
_CRASH = ">>> torch.cuda.get_device_properties(0).gcnArchName, torch.cuda.get_arch_list()\n('{}', ['gfx900', 'gfx906', 'gfx1030'])\n>>> torch.ones(2, device='cuda')\nSegmentation fault\n$ HSA_OVERRIDE_GFX_VERSION=10.3.0 python t.py\n{}"
_BLAS = "Device ID 0 : AMD Radeon RX 6600 gfx1032\nrocBLAS error: Could not load /opt/rocm/lib/rocblas/library/TensileLibrary_lazy_gfx1032.dat\n$ ls /opt/rocm/lib/rocblas/library | grep -o 'gfx[0-9a-f]*' | sort -u | xargs\n{}\n"
_TABLE = "torch 2.2.0+cu121\nNVIDIA-SMI {0}       Driver Version: {0}       CUDA Version: {1}\n|   0  GeForce GTX 1660   WDDM  | 00000000:01:00.0  On |\n>>> torch.cuda.is_available()\nFalse\n"
_CUT = "C:\\>nvidia-smi -q\n    Product Name                          : NVIDIA RTX A6000\n    Driver Model\n        Current                           : {}\nC:\\>wsl ./deviceQuery\ncudaGetDeviceCount returned 100\n-> no CUDA-capable device is detected\n"

SPEAKS = {
    "guest-of-kvm": ("cpu-instruction-set-missing", _GUEST.format("kvm64")),
    "emulated-and-made-up": (
        "cpu-instruction-set-missing",
        _EMULATED.format("4 (Illegal instruction)", "<model fallback='allow'>qemu64</model>\n"),
    ),
    "emulated": ("container-wrong-architecture", _EMULATED.format("4 (Illegal instruction)", "")),
    "emulated-and-faults": (
        "container-wrong-architecture",
        _EMULATED.format("11 (Segmentation fault)", "cpu: qemu64\n"),
    ),
    "file-of-linux": ("extension-without-platform-build", _FILE.format("cpython-311-x86_64-linux-gnu.so")),
    "wrapper": ("broken-wheel-missing-library", _WRAPPER.format("Shared library with base name 'whisper' not found")),
    "libc-of-python": ("glibc-too-old-for-wheel", _LIBC.format("manylinux2014_x86_64", "manylinux2014_x86_64", "2.12")),
    "libc-of-python-and-perennial": (
        "glibc-too-old-for-wheel",
        _LIBC.format("manylinux_2_28_x86_64", "manylinux_2_28_x86_64", "2.17"),
    ),
    "r-on-windows": ("tensorflow-windows-no-gpu", _R.format("2.16.1", "Windows")),
    "julia-array": ("tensors-on-different-devices", _JULIA.format("ROCArray{Float32, 2}")),
    "julia-runtime": ("cuda-runtime-library-missing", _RUNTIME.format("could not find")),
    "doubles": ("mps-float64-unsupported", _DOUBLES.format("float64", "TypeError\n")),
    "op-of-doubles": ("mps-float64-unsupported", _OP.format("cumprod", "float64")),
    "graph-of-doubles": ("mps-float64-unsupported", "loc(fused): error: invalid element type 'f64'\n"),
    "pacmans-log": ("nvml-driver-library-mismatch", _LOG.format("550.54.14", _PACMAN)),
    "dpkgs-log": ("nvml-driver-library-mismatch", _LOG.format("550.54.14", _DPKG)),
    "asked-together": ("nvml-driver-library-mismatch", _ASKED.format("550.120")),
    "nouveau-has-it": ("nouveau-bound", _MODULE.format(_NOUVEAU)),
    "nodes-closed": ("device-node-permissions", _MODE.format("0660")),
    "card-and-part": ("mig-device-misaddressed", _MIG.format(_PARTS, "0:0", "0 False")),
    "gmx-without-nv": ("container-without-gpu", _GMX.format("")),
    "swarm": ("container-toolkit-missing", _SWARM.format("missing")),
    "carve-out-is-the-total": ("igpu-vram-counted-without-gtt", _CARVED.format("1073741824")),
    "small-one-first": ("igpu-visible-beside-dgpu", _CHIPS.format("gfx1036", "gfx1101", 1)),
    "small-one-second": ("igpu-visible-beside-dgpu", _CHIPS.format("gfx1030", "gfx1036", 0)),
    "crash-and-override": ("gfx-not-in-torch-wheel", _CRASH.format("gfx1032", "tensor([1., 1.], device='cuda:0')\n")),
    "listed-in-one-line": (
        "gfx-not-in-rocblas",
        _BLAS.format("gfx1030 gfx1100 gfx1101 gfx1102 gfx900 gfx906 gfx908 gfx90a gfx942"),
    ),
    "branch-of-windows": ("driver-too-old-for-wheel", _TABLE.format("441.66", "10.2")),
    "model-of-the-driver": ("wsl-gpu-in-tcc-mode", _CUT.format("TCC")),
}

SILENT = {
    "guest-of-host": ("container-wrong-architecture", _GUEST.format("host")),
    "emulated-and-made-up": (
        "container-wrong-architecture",
        _EMULATED.format("4 (Illegal instruction)", "<model fallback='allow'>qemu64</model>\n"),
    ),
    "file-of-windows": ("extension-without-platform-build", _FILE.format("cp311-win_amd64.pyd")),
    "wrapper-fails-to-load": ("broken-wheel-missing-library", _WRAPPER.format("no model at ./m.gguf")),
    "libc-is-newer": ("glibc-too-old-for-wheel", _LIBC.format("manylinux2014_x86_64", "manylinux2014_x86_64", "2.31")),
    "r-on-linux": ("tensorflow-windows-no-gpu", _R.format("2.16.1", "Linux")),
    "r-with-an-older-release": ("tensorflow-windows-no-gpu", _R.format("2.10.1", "Windows")),
    "julia-vector": ("tensors-on-different-devices", _JULIA.format("SubArray{Float32}")),
    "floats": ("mps-float64-unsupported", _DOUBLES.format("float32", "TypeError\n")),
    "op-of-integers": ("mps-float64-unsupported", _OP.format("cumprod", "int64")),
    "restarted-since": ("nvml-driver-library-mismatch", _LOG.format("550.90.07", _PACMAN)),
    "log-of-the-kernel": (
        "nvml-driver-library-mismatch",
        _LOG.format("550.54.14", "[2024-03-02T06:11:02+0000] [ALPM] upgraded linux (6.7.5-1 -> 6.7.6-1)"),
    ),
    "asked-together-and-same": ("nvml-driver-library-mismatch", _ASKED.format("550.90.07")),
    "no-nouveau": ("nouveau-bound", _MODULE.format("")),
    "nodes-open": ("device-node-permissions", _MODE.format("0666")),
    "card-is-whole": ("mig-device-misaddressed", _MIG.format("", "0:0", "0 False")),
    "part-works": ("mig-device-misaddressed", _MIG.format(_PARTS, "0", "1 True")),
    "gmx-with-nv": ("container-without-gpu", _GMX.format("--nv ")),
    "toolkit-is-there": ("container-toolkit-missing", _SWARM.format("/usr/bin/nvidia-ctk")),
    "carve-out-is-large": ("igpu-vram-counted-without-gtt", _CARVED.format("17179869184")),
    "two-cards": ("igpu-visible-beside-dgpu", _CHIPS.format("gfx1030", "gfx1101", 1)),
    "small-one-chosen": ("igpu-visible-beside-dgpu", _CHIPS.format("gfx1036", "gfx1101", 0)),
    "crash-of-a-known-chip": (
        "gfx-not-in-torch-wheel",
        _CRASH.format("gfx1030", "tensor([1., 1.], device='cuda:0')\n"),
    ),
    "file-is-there": ("gfx-not-in-rocblas", _BLAS.format("gfx1030 gfx1032 gfx1100")),
    "not-there-at-all": ("rocm-abi-mismatch", _BLAS.format("gfx1030 gfx1100 gfx942")),
    "no-package-on-windows": ("cuda-compat-libs-on-unsupported-gpu", _TABLE.format("441.66", "10.2")),
    "model-draws": ("wsl-gpu-in-tcc-mode", _CUT.format("WDDM")),
}
