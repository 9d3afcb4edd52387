"""What Windows, a WSL, Macs, Intel's tools and installers print in a few lines: each rule where it speaks, and beside it where it has to be silent."""

import pytest

_NVIDIA = "NVIDIA GeForce RTX 2060\n"
_WSL = "$ uname -r\n5.15.153.1-microsoft-standard-WSL2\n"
_NONE = "ERROR: Could not find a version that satisfies the requirement {} (from versions: none)\n"
_CLOSED = "$ ls -l /dev/dri/renderD128\ncrw-rw---- 1 root render 226, 128 May  1 10:00 /dev/dri/renderD128\n$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),27(sudo)\n"
_OPEN = "$ ls -l /dev/dri/renderD128\ncrw-rw---- 1 root render 226, 128 May  1 10:00 /dev/dri/renderD128\n$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),109(render)\n"
_OUTSIDE = "$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),27(sudo)\n"

_RELEASES = "ERROR: Could not find a version that satisfies the requirement torch==2.6.0 (from versions: {})\n"
_LIBRARIES = (
    "gpu.go:248: Discovered GPU libraries: [/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.14 {}]\n"
    "gpu.go:259: Unable to load CUDA management library /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.14: nvml vram init failure: 9\n"
)
SPEAKS = {
    "releases-of-intels-macs": ("mps-x86-python-under-rosetta", "Mac mini M2\n" + _RELEASES.format("2.1.2, 2.2.0, 2.2.1, 2.2.2")),
    "two-libraries-in-a-wsl": ("wsl-linux-driver-inside", _LIBRARIES.format("/usr/lib/wsl/lib/libnvidia-ml.so.1")),
    "no-driver": ("nvidia-driver-missing", "The drivers for this device are not installed. (Code 28)\n" + _NVIDIA),
    "no-driver-by-name": ("nvidia-driver-missing", "FriendlyName : 3D Video Controller\nProblem : CM_PROB_FAILED_INSTALL\nInstanceId : PCI\\VEN_10DE&DEV_1F99&SUBSYS_09EF1028\n"),
    "no-room": ("bios-bar-settings", "Nicht genug freie Ressourcen. (Code 12)\nNVIDIA Tesla P100\n"),
    "switched-off": ("hybrid-laptop-gpu-powered-off", "This device is disabled. (Code 22)\n" + _NVIDIA),
    "not-connected": ("gpu-fell-off-bus", "Currently, this hardware device is not connected to the computer. (Code 45)\n" + _NVIDIA),
    "stopped-in-a-guest": ("vm-passthrough-misconfigured", "ESXi 8.0, Windows Server 2022\nWindows has stopped this device because it has reported problems. (Code 43)\n"),
    "stopped": ("gpu-hardware-init-failure", "Windows has stopped this device because it has reported problems. (Code 43)\n" + _NVIDIA),
    "unsigned": ("secure-boot-module-unsigned", "Windows cannot verify the digital signature for the drivers required for this device. (Code 52)\n" + _NVIDIA),
    "does-not-load": ("nvidia-module-not-loaded", "Windows cannot load the device driver for this hardware. (Code 39)\n" + _NVIDIA),
    "basic-driver": ("nvidia-driver-missing", "Name        : Microsoft Basic Display Adapter\nPNPDeviceID : PCI\\VEN_10DE&DEV_2503&SUBSYS_39901458\n"),
    "drivers-library": ("nvidia-driver-missing", "ImportError: Could not find 'nvcuda.dll'. TensorFlow requires that this DLL be installed\nGeForce GTX 1080\n"),
    "drivers-library-alone": ("no-gpu-present", "ImportError: Could not find 'nvcuda.dll'. TensorFlow requires that this DLL be installed\n"),
    "listed-and-no-tool": ("nvidia-driver-missing", "PS> (Get-WmiObject Win32_VideoController).Name\nNVIDIA GeForce GTX 1650\nPS> nvidia-smi\nnvidia-smi : The term 'nvidia-smi' is not recognized as the name of a cmdlet\n"),
    "guests-adapter": ("vm-without-gpu-passthrough", "VMware SVGA 3D\nRuntimeError: Found no NVIDIA driver on your system.\n"),
    "nccl": ("extension-without-platform-build", "C:\\work>python train.py\nRuntimeError: Distributed package doesn't have NCCL built in\n"),
    "private-device": ("directml-op-cpu-fallback", "import torch_directml\nNotImplementedError: Could not run 'torchvision::nms' with arguments from the 'PrivateUse1' backend.\n"),
    "tensorflow-asked": ("tensorflow-windows-no-gpu", ">>> print(tf.__version__, tf.test.is_built_with_cuda(), tf.config.list_physical_devices('GPU'))\n2.18.0 False []\nC:\\work>\n"),
    "tensorflow-of-windows": ("tensorflow-windows-no-gpu", "tensorflow-intel==2.16.1\n>>> tf.config.list_physical_devices('GPU')\n[]\nNVIDIA GeForce RTX 4090\n"),
    "wsl-headers": ("wsl-linux-driver-inside", "Error! Your kernel headers for kernel 5.15.90.1-microsoft-standard-WSL2 cannot be found.\n"),
    "wsl-build-skipped": ("wsl-linux-driver-inside", "Module build for kernel 5.15.133.1-microsoft-standard-WSL2 was skipped since the kernel headers for this kernel does not seem to be installed.\n"),
    "wsl-tool-of-linux": ("wsl-linux-driver-inside", "$ which nvidia-smi\n/usr/bin/nvidia-smi\n" + _WSL + "$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"),
    "wsl-libcuda-of-linux": ("wsl-linux-driver-inside", "lrwxrwxrwx 1 root root 20 libcuda.so.1 -> libcuda.so.470.103.01\n" + _WSL),
    "wsl-no-libcuda": ("wsl-libcuda-link", "CUDA driver library cannot be found.\n" + _WSL),
    "wsl-folder-not-on-the-path": ("wsl-libcuda-link", "$ nvidia-smi\nbash: nvidia-smi: command not found\n$ /usr/lib/wsl/lib/nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0f3a1b2c-1111-2222-3333-444455556666)\n"),
    "wsl-tcc": ("wsl-gpu-in-tcc-mode", "    Driver Model\n        Current                           : TCC\nUnable to determine the device handle for GPU 0000:65:00.0: Unknown Error\n"),
    "wsl-rocm": ("wsl-rocm-release-not-supported", "WSL environment detected.\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\nii  rocm-core  6.3.2.60302-66~22.04  amd64\n"),
    "wsl-wheel": ("wsl-wheel-bundled-hsa-runtime", "$ rocminfo | grep Marketing\n  Marketing Name:          AMD Radeon RX 7900 XTX\n" + _WSL + "$ python3 -c 'import torch; print(torch.cuda.is_available())'\nFalse\n"),
    "macos-wanted": ("mps-macos-too-old", "RuntimeError: MPS: scaled_dot_product is only supported on MacOS 15 or newer\n"),
    "macos-of-a-wheel": ("mps-macos-too-old", "ERROR: mlx-0.18.0-cp311-cp311-macosx_13_0_arm64.whl is not a supported wheel on this platform.\n% sw_vers -productVersion\n12.6\n"),
    "convolution": ("mps-op-not-implemented", "NotImplementedError: convolution_overrideable not implemented.\nmodel.to('mps')\n"),
    "wheel-for-apple": ("mps-x86-python-under-rosetta", _NONE.format("mlx") + '% python -c "import platform; print(platform.processor())"\ni386\n'),
    "compatible-macos": ("mps-x86-python-under-rosetta", "Python platform: macOS-10.16-x86_64-i386-64bit\nIs MPS available: False\n"),
    "sandbox": ("mps-blocked-by-sandbox", "CODEX_SANDBOX=seatbelt\nmps built: True\nmps available: False\nProductVersion: 15.5\n"),
    "node-closed": ("render-group-missing", "$ xpu-smi discovery\nNo device discovered\n" + _CLOSED),
    "no-group": ("render-group-missing", "[GPU] No supported OCL devices found or unexpected error happened during devices query.\n" + _OUTSIDE),
    "node-alone": ("render-group-missing", "$ xpu-smi discovery\nNo device discovered\n$ ls -l /dev/dri/renderD128\ncrw-rw---- 1 root render 226, 128 May  1 10:00 /dev/dri/renderD128\n"),
    "xpu-build-no-group": ("render-group-missing", ">>> torch.__version__\n'2.8.0+xpu'\n>>> torch.xpu.is_available()\nFalse\n" + _OUTSIDE),
    "for-root-alone": ("render-group-missing", "$ clinfo | head -1\nNumber of platforms                               0\n$ sudo clinfo | grep 'Device Name'\n  Device Name   Intel(R) Arc(TM) A770 Graphics\n"),
    "no-nodes-inside": ("container-without-gpu", "root@3fd21a9b77c4:/app# python serve.py\nRuntimeError: No XPU devices are available.\nroot@3fd21a9b77c4:/app# ls /dev/dri\nls: cannot access '/dev/dri': No such file or directory\n"),
    "processors-inside": ("container-without-gpu", "root@3fd21a9b77c4:/app# sycl-ls\n[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5-12400 OpenCL 3.0\n"),
    "panel": ("bios-bar-settings", "Intel Arc A770\nResizable BAR: Not enabled\n"),
    "xpu-full": ("oom-model-too-large", "RuntimeError: XPU out of memory. Tried to allocate 3.91 GiB (GPU 0; 15.56 GiB total capacity; 14.89 GiB already allocated; 15.01 GiB reserved in total by PyTorch)\n"),
    "wsl-installer": ("wsl-linux-driver-inside", "ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently\n" + _WSL),
    "launcher": ("no-gpu-present", "AssertionError: Torch is not able to use GPU; add --skip-torch-cuda-test to COMMANDLINE_ARGS variable to disable this check\nIntel(R) HD Graphics 4000\n"),
    "wheel-for-apple-refused": ("mps-x86-python-under-rosetta", "ERROR: tensorflow_macos-2.12.0-cp310-cp310-macosx_12_0_arm64.whl is not a supported wheel on this platform.\n>>> platform.machine()\n'x86_64'\n"),
    "older-libc-by-uv": ("glibc-too-old-for-wheel", "Because torch==2.6.0 has no wheels with a matching platform tag (e.g., `manylinux_2_17_x86_64`) and you require torch==2.6.0\n"),
    "for-linux": ("extension-without-platform-build", _NONE.format("nvidia-nccl-cu12") + "C:\\work>\n"),
    "name-kept-free": ("extension-without-platform-build", "ERROR: Could not find a version that satisfies the requirement nvidia-nccl-cu12 (from versions: 0.0.1.dev5)\nC:\\work>\n"),
    "not-for-macs": ("extension-without-platform-build", _NONE.format("cupy-cuda12x") + "% sw_vers -productVersion\n14.5\n"),
    "for-windows": ("extension-without-platform-build", _NONE.format("onnxruntime-directml") + "$ uname -s\nLinux\n"),
    "on-a-phone": ("extension-without-platform-build", "~ $ uname -o\nAndroid\n~ $ pip install torch\n" + _NONE.format("torch")),
    "musl": ("glibc-too-old-for-wheel", "/ # cat /etc/alpine-release\n3.19.1\n" + _NONE.format("tensorflow")),
    "musl-by-uv": ("glibc-too-old-for-wheel", "hint: You're on Linux (`musllinux_1_2_x86_64`), but `jaxlib` (v0.4.30) only has wheels for the following platforms: `manylinux2014_x86_64`\n"),
    "narrow-python": ("python-version-without-wheels", "Python 3.12.4 (32-bit)\n" + _NONE.format("torch")),
    "compiled": ("python-version-without-wheels", "Python 3.14.0\n" + _NONE.format("xformers")),
    "by-poetry": ("python-version-without-wheels", "  RuntimeError\n  Unable to find installation candidates for torch (1.9.0)\n"),
    "other-machine": ("extension-without-platform-build", "ERROR: torch-2.1.0-cp310-cp310-manylinux1_x86_64.whl is not a supported wheel on this platform.\n$ uname -m\naarch64\n"),
    "other-processors": ("extension-without-platform-build", "hint: You're on Linux (`manylinux_2_31_armv7l`), but `onnxruntime` (v1.16.3) only has wheels for the following platforms: `manylinux_2_17_x86_64`, `win_amd64`\n"),
    "releases-of-the-index": ("pip-index-url-hides-pypi", "Looking in indexes: https://download.pytorch.org/whl/xpu\nERROR: Could not find a version that satisfies the requirement numpy==1.26.4 (from versions: 1.21.2, 2.1.2)\n"),
    "order-of-names": ("cuda-device-order-differs", "0, NVIDIA GeForce GTX 1050 Ti, 00000000:01:00.0\n1, NVIDIA GeForce RTX 2080 Ti, 00000000:02:00.0\n>>> [torch.cuda.get_device_name(i) for i in range(2)]\n['NVIDIA GeForce RTX 2080 Ti', 'NVIDIA GeForce GTX 1050 Ti']\n"),
}  # fmt: skip

SILENT = {
    "releases-go-on": ("mps-x86-python-under-rosetta", "Mac mini M2\n" + _RELEASES.format("2.1.2, 2.2.2, 2.3.0")),
    "releases-elsewhere": ("mps-x86-python-under-rosetta", "Ubuntu 22.04\n" + _RELEASES.format("2.1.2, 2.2.0, 2.2.1, 2.2.2")),
    "one-library-of-linux": ("wsl-linux-driver-inside", _LIBRARIES.format("/usr/lib/libnvidia-ml.so.1")),
    "no-driver-for-sound": ("nvidia-driver-missing", "Realtek PCIe GBE: The drivers for this device are not installed. (Code 28)\n"),
    "no-driver-and-code-of-another": ("nvidia-driver-missing", "ConfigManagerErrorCode : 0\n" + _NVIDIA),
    "sound-is-off": ("hybrid-laptop-gpu-powered-off", "Realtek Audio: This device is disabled. (Code 22)\n"),
    "laptops-card-is-not-connected": ("gpu-fell-off-bus", "Currently, this hardware device is not connected to the computer. (Code 45)\nNVIDIA GeForce RTX 3070 Laptop GPU\n"),
    "stopped-on-a-desktop": ("vm-passthrough-misconfigured", "Windows has stopped this device because it has reported problems. (Code 43)\n" + _NVIDIA),
    "stopped-in-a-guest": ("gpu-hardware-init-failure", "QEMU/KVM guest\nWindows has stopped this device because it has reported problems. (Code 43)\n" + _NVIDIA),
    "unsigned-sound": ("secure-boot-module-unsigned", "Realtek Audio: Windows cannot verify the digital signature. (Code 52)\n"),
    "sound-cannot-start": ("nvidia-module-not-loaded", "Realtek High Definition Audio: This device cannot start. (Code 10)\n"),
    "basic-driver-for-another": ("nvidia-driver-missing", "Name        : Microsoft Basic Display Adapter\nPNPDeviceID : PCI\\VEN_8086&DEV_9A49\n"),
    "drivers-library-opened": ("no-gpu-present", "I tensorflow: Successfully opened dynamic library nvcuda.dll\n"),
    "listed-and-its-tool": ("nvidia-driver-missing", "(Get-WmiObject Win32_VideoController).Name\nNVIDIA GeForce GTX 1650\n| NVIDIA-SMI 546.33    Driver Version: 546.33    CUDA Version: 12.3 |\n"),
    "guests-adapter-and-no-wish": ("vm-without-gpu-passthrough", "VMware SVGA 3D\nWindows 11 Pro\n"),
    "nccl-on-linux": ("extension-without-platform-build", "$ uname -s\nLinux\nRuntimeError: Distributed package doesn't have NCCL built in\n"),
    "private-device-of-another": ("directml-op-cpu-fallback", "import torch_npu\nNotImplementedError: Could not run 'torchvision::nms' with arguments from the 'PrivateUse1' backend.\n"),
    "tensorflow-with-cuda": ("tensorflow-windows-no-gpu", ">>> print(tf.__version__, tf.test.is_built_with_cuda(), tf.config.list_physical_devices('GPU'))\n2.10.1 True [PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]\nC:\\work>\n"),
    "headers-of-linux": ("wsl-linux-driver-inside", "Error! Your kernel headers for kernel 6.5.0-41-generic cannot be found.\n"),
    "tool-of-linux-on-linux": ("wsl-linux-driver-inside", "$ which nvidia-smi\n/usr/bin/nvidia-smi\n$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"),
    "libcuda-of-linux-on-linux": ("wsl-linux-driver-inside", "lrwxrwxrwx 1 root root 20 libcuda.so.1 -> libcuda.so.470.103.01\n"),
    "no-libcuda-on-linux": ("wsl-libcuda-link", "CUDA driver library cannot be found.\n$ uname -r\n6.5.0-41-generic\n"),
    "tcc-that-computes": ("wsl-gpu-in-tcc-mode", "    Driver Model\n        Current                           : TCC\nGPU 0: Tesla P40 (UUID: GPU-0f3a1b2c-1111-2222-3333-444455556666)\n"),
    "no-release-is-told": ("wsl-rocm-release-not-supported", "WSL environment detected.\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n"),
    "rocm-refuses-the-card": ("wsl-rocm-release-not-supported", "WSL environment detected.\nROCR: unsupported GPU\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES\n"),
    "wheel-works": ("wsl-wheel-bundled-hsa-runtime", "$ rocminfo | grep Marketing\n  Marketing Name:          AMD Radeon RX 7900 XTX\n" + _WSL + "$ python3 -c 'import torch; print(torch.cuda.is_available())'\nTrue\n"),
    "macos-is-new-enough": ("mps-macos-too-old", "RuntimeError: MPS: scaled_dot_product is only supported on MacOS 15 or newer\n% sw_vers -productVersion\n15.4\n"),
    "wheel-for-another-python": ("mps-macos-too-old", "ERROR: mlx-0.18.0-cp311-cp311-macosx_13_0_arm64.whl is not a supported wheel on this platform.\n% sw_vers -productVersion\n14.6\n"),
    "convolution-elsewhere": ("mps-op-not-implemented", "NotImplementedError: convolution_overrideable not implemented.\nmodel.to('hpu')\n"),
    "warning-of-mps": ("mps-op-not-implemented", "UserWarning: 'pin_memory' argument is set as true but not supported on MPS now, then device pinned memory won't be used.\n"),
    "wheel-for-apple-on-apple": ("mps-x86-python-under-rosetta", _NONE.format("mlx") + '% python -c "import platform; print(platform.machine())"\narm64\n'),
    "intel-mac-by-its-own-number": ("mps-x86-python-under-rosetta", "Python platform: macOS-13.4-x86_64-i386-64bit\nIs MPS available: False\n"),
    "sandbox-and-it-works": ("mps-blocked-by-sandbox", "CODEX_SANDBOX=seatbelt\nmps built: True\nmps available: True\n"),
    "node-open": ("render-group-missing", "$ xpu-smi discovery\nNo device discovered\n" + _OPEN),
    "lists-one": ("render-group-missing", "[level_zero:gpu][level_zero:0] Intel(R) Level-Zero, Intel(R) Arc(TM) A770 Graphics 1.3\n" + _OUTSIDE),
    "root-sees-none-either": ("render-group-missing", "$ sudo clinfo\nNumber of platforms                               0\n"),
    "panel-of-another-maker": ("bios-bar-settings", "GeForce GTX 1080\nResizable BAR: Disabled\n"),
    "xpu-has-room": ("oom-model-too-large", "RuntimeError: XPU out of memory. Tried to allocate 1.91 GiB (GPU 0; 15.56 GiB total capacity; 2.89 GiB already allocated; 3.01 GiB reserved in total by PyTorch)\n"),
    "installer-on-linux": ("wsl-linux-driver-inside", "ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently\n$ uname -r\n6.5.0-41-generic\n"),
    "launcher-beside-a-card": ("no-gpu-present", "AssertionError: Torch is not able to use GPU; add --skip-torch-cuda-test to COMMANDLINE_ARGS variable to disable this check\nIntel(R) HD Graphics 4000\nNVIDIA GeForce GTX 1050\n"),
    "wheel-for-apple-refused-on-apple": ("mps-x86-python-under-rosetta", "ERROR: tensorflow_macos-2.12.0-cp310-cp310-macosx_12_0_arm64.whl is not a supported wheel on this platform.\n>>> platform.machine()\n'arm64'\n"),
    "newer-libc-by-uv": ("glibc-too-old-for-wheel", "Because torch==2.6.0 has no wheels with a matching platform tag (e.g., `manylinux_2_39_x86_64`) and you require torch==2.6.0\n"),
    "for-linux-on-linux": ("extension-without-platform-build", _NONE.format("nvidia-nccl-cu12") + "$ uname -s\nLinux\n"),
    "a-newer-release-is-offered": ("extension-without-platform-build", "ERROR: Could not find a version that satisfies the requirement cupy-cuda12x==9.0 (from versions: 12.0.0, 13.0.0)\n% sw_vers -productVersion\n14.5\n"),
    "plain-package-on-a-phone": ("extension-without-platform-build", "~ $ uname -o\nAndroid\n" + _NONE.format("requests")),
    "libc-of-others": ("glibc-too-old-for-wheel", "$ uname -s\nLinux\n" + _NONE.format("tensorflow")),
    "glibc-by-uv": ("glibc-too-old-for-wheel", "hint: You're on Linux (`manylinux_2_28_x86_64`), but `torch` (v2.6.0) only has wheels for the following platform: `win_amd64`\n"),
    "wide-python": ("python-version-without-wheels", "Python 3.12.4 (64-bit)\n" + _NONE.format("requests")),
    "unreachable": ("python-version-without-wheels", "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError'\n" + _NONE.format("xformers")),
    "poetry-and-a-plain-package": ("python-version-without-wheels", "  Unable to find installation candidates for flask (1.9.0)\n"),
    "same-machine": ("extension-without-platform-build", "ERROR: torch-2.1.0-cp310-cp310-manylinux1_x86_64.whl is not a supported wheel on this platform.\n$ uname -sm\nLinux x86_64\n"),
    "order-is-the-same": ("cuda-device-order-differs", "0, NVIDIA GeForce RTX 3080\n1, NVIDIA GeForce GTX 1070\n>>> [torch.cuda.get_device_name(i) for i in range(2)]\n['NVIDIA GeForce RTX 3080', 'NVIDIA GeForce GTX 1070']\n"),
}  # fmt: skip


@pytest.mark.parametrize(("cause", "body"), SPEAKS.values(), ids=SPEAKS)
def test_a_piece_of_output_names_its_cause(cause, body, named):
    assert named(body)[:1] == [cause]


@pytest.mark.parametrize(("cause", "body"), SILENT.values(), ids=SILENT)
def test_what_resembles_it_and_is_none_is_left_alone(cause, body, named):
    assert cause not in named(body)
