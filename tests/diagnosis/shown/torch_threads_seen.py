"""Threads of torch's own projects: each rule where it speaks, and beside it where it has to be silent."""

_REFUSED = "RuntimeError: Triton Error [CUDA]: device kernel image is invalid\n"
_PTXAS = "('/opt/v/lib/python3.10/site-packages/triton/backends/nvidia/bin/ptxas', '12.4')\n"
_TABLE = "| NVIDIA-SMI {0}    Driver Version: {0}    CUDA Version: {1}     |\n"
_SELECT = "# Name                    Version                   Build  Channel\n_pytorch_select           0.{}                       {}  \n"
_WITH_CUDA = "pytorch                   1.7.1           py3.8_cuda11.0.221_cudnn8.0.5_0    pytorch\n"
_NONE_FOUND = "MisconfigurationException: You requested GPUs: [1]\n But your machine only has: []\n"
_BACKEND = "lightning.fabric.utilities.exceptions.MisconfigurationException: No supported gpu backend found!\n"
_LINKER = "/usr/bin/ld: cannot find -lcuda: No such file or directory\ncollect2: error: ld returned 1 exit status\n"
_RUNS = ">>> torch.ones(2).cuda()\ntensor([1., 1.], device='cuda:0')\n"
_XPU = "{}/lib/python3.12/site-packages/torch/xpu/__init__.py:61: UserWarning: Failed to initialize XPU devices. The driver may not be installed, installed incorrectly, or incompatible with the current setup.\n"
_ARC = "_XpuDeviceProperties(name='Intel(R) Arc(TM) A770 Graphics', platform_name='Intel(R) Level-Zero', type='gpu', max_num_sub_groups=128, sub_group_sizes=[8 16 32])\n"
_DOCKER = "$ docker run --rm -it my/image python run.py\n"
_RANKS = (
    "# Using devices\n"
    "#   Rank  0 Pid   1200 on      node7 device  0 [0x1a] NVIDIA A40\n"
    "#   Rank  1 Pid   1200 on      {} device  1 [0x1c] NVIDIA A40\n"
    "node7: Test NCCL failure common.cu:1005 'unhandled system error'\n"
)
_FAMILY = "socket.h:{} WARN Socket creation failed : Address family not supported by protocol\n"
_ABORTED = "w1:88:120 [1] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to {}<41003> failed : Software caused connection abort\n"
_PIP = "$ pip --version\npip {} from /home/ada/v/lib/python3.{}/site-packages/pip (python 3.{})\n"
_NOTHING = (
    "$ pip install torch{0}\nERROR: Could not find a version that satisfies the requirement torch{0} (from versions: none)\n"
    "ERROR: No matching distribution found for torch{0}\n"
)
_PYTHON = "$ python --version\nPython {}\n"
_SAMPLE = (
    "Device: 0, Tesla P40, pciBusID: 3b, pciDeviceID: 0, pciDomainID:0\n"
    "Device: 1, Tesla P40, pciBusID: af, pciDeviceID: 0, pciDomainID:0\n"
    "Device=0 CANNOT Access Peer Device=1\nDevice=1 CANNOT Access Peer Device=0\n"
    "***NOTE: In case a device doesn't have P2P access to other one, it falls back to normal memcopy procedure.\n"
)
_GROUPED = "  (conv): Conv2d(64, 64, kernel_size=(3, 3), groups=64, bias=False)\n/dev/kfd: Permission denied\n"

SPEAKS = {
    "triton-alone": ("driver-too-old-for-wheel", _REFUSED),
    "triton-and-its-ptxas": ("driver-too-old-for-wheel", _TABLE.format("525.85.12", "12.0") + _PTXAS + _REFUSED),
    "selected-for-the-processor": ("cpu-only-torch", _SELECT.format(1, "cpu_0")),
    "selected-and-none-found": ("cpu-only-torch", _NONE_FOUND + _SELECT.format(1, "cpu_2")),
    "no-backend-beside-a-card": ("cpu-only-torch", _BACKEND + "- GPU: 4x RTX 3090\n"),
    "linker-beside-a-tensor": ("wsl-libcuda-link", _RUNS + _LINKER),
    "xpu-in-a-conda": ("library-clash-ld-library-path", _ARC + _XPU.format("/home/ada/miniforge3/envs/x")),
    "xpu-on-linux": ("render-group-missing", _XPU.format("/home/ada/v")),
    "xpu-in-a-container": ("container-without-gpu", _DOCKER + _XPU.format("/usr/local")),
    "system-error-on-one-host": ("shm-too-small", _RANKS.format("node7")),
    "family-without-a-prefix": ("multinode-wrong-interface", "include/" + _FAMILY.format(311)),
    "family-of-a-later-file": ("multinode-wrong-interface", "misc/" + _FAMILY.format(208)),
    "connection-aborted": ("multinode-no-route", _ABORTED.format("10.8.0.4")),
    "python-of-those-months": ("python-version-without-wheels", _PIP.format("22.3.1", 11, 11) + _NOTHING.format("")),
    "first-patch-of-a-python": ("python-version-without-wheels", _PYTHON.format("3.11.0") + _NOTHING.format("")),
}
SILENT = {
    "triton-and-a-new-driver": ("driver-too-old-for-wheel", _TABLE.format("550.54.14", "12.4") + _PTXAS + _REFUSED),
    "triton-of-rocm": ("driver-too-old-for-wheel", _REFUSED.replace("CUDA", "HIP")),
    "image-invalid-without-triton": ("driver-too-old-for-wheel", "CUDA error: device kernel image is invalid\n"),
    "selected-for-gpus": ("cpu-only-torch", _SELECT.format(2, "gpu_0")),
    "selected-and-another-channels-torch": ("cpu-only-torch", _SELECT.format(1, "cpu_0") + _WITH_CUDA),
    "no-backend-in-a-container": ("cpu-only-torch", _DOCKER + _BACKEND + "- GPU: 4x RTX 3090\n"),
    "no-backend-and-no-driver": (
        "cpu-only-torch",
        _BACKEND
        + "- GPU: 4x RTX 3090\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
    ),
    "linker-on-a-linux-of-its-own": ("wsl-libcuda-link", "$ uname -r\n6.8.0-45-generic\n" + _RUNS + _LINKER),
    "linker-in-a-container": ("wsl-libcuda-link", _DOCKER + _RUNS + _LINKER),
    "linker-alone": ("wsl-libcuda-link", _LINKER),
    "xpu-in-a-plain-environment": ("library-clash-ld-library-path", _ARC + _XPU.format("/home/ada/v")),
    "xpu-in-a-conda-and-no-card": ("library-clash-ld-library-path", _XPU.format("/home/ada/miniforge3/envs/x")),
    "xpu-of-windows": ("render-group-missing", _XPU.replace("/", "\\").format("C:\\v")),
    "xpu-that-is-listed": ("render-group-missing", _ARC + _XPU.format("/home/ada/v")),
    "system-error-on-two-hosts": ("shm-too-small", _RANKS.format("node8")),
    "system-error-and-much-memory": (
        "shm-too-small",
        "$ df -h /dev/shm\ntmpfs  32G  0  32G  0% /dev/shm\n" + _RANKS.format("node7"),
    ),
    "family-of-another-program": (
        "multinode-wrong-interface",
        "server.c:31 socket: Address family not supported by protocol\n",
    ),
    "aborted-by-ssh": (
        "multinode-no-route",
        "ssh: connect to host 10.8.0.4 port 22: Software caused connection abort\n",
    ),
    "aborted-on-a-bridge": ("multinode-no-route", _ABORTED.format("172.17.0.1")),
    "python-of-long-ago": ("python-version-without-wheels", _PIP.format("24.0", 11, 11) + _NOTHING.format("")),
    "python-on-a-jetson": (
        "python-version-without-wheels",
        "Jetson Orin Nano\n" + _PYTHON.format("3.11.0") + _NOTHING.format(""),
    ),
    "sample-complains-of-nothing": ("cuda-device-order-differs", _SAMPLE),
    "groups-of-a-layer": ("render-group-missing", _GROUPED.splitlines()[0] + "\n"),
}
