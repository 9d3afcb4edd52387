"""Windows, its Linux and DirectML: each rule where it speaks, and beside it where it has to be silent."""

_LIBRARIES = (
    "gpu.go:248: Discovered GPU libraries: [/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.14 {}]\n"
    "gpu.go:259: Unable to load CUDA management library /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.14: nvml vram init failure: 9\n"
)
_WSL = "$ uname -r\n5.15.153.1-microsoft-standard-WSL2\n"
_HEADERS = (
    "Error! Your kernel headers for kernel {} cannot be found at /lib/modules/{}/build or /lib/modules/{}/source.\n"
)
_MODELS = "PS> nvidia-smi --query-gpu=index,name,driver_model.current --format=csv,noheader\n0, Tesla P40, {}\n"
_SILENT = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
_WINDOWS = "Microsoft Windows [Version {}]\n\n"
_NODES = "[V] Node(s) placed on [DmlExecutionProvider]. Number of nodes: 300\n[V] Node(s) placed on [CPUExecutionProvider]. Number of nodes: {}\n"
_CUT = "C:\\>nvidia-smi -q\n    Product Name                          : NVIDIA RTX A6000\n    Driver Model\n        Current                           : {}\nC:\\>wsl ./deviceQuery\ncudaGetDeviceCount returned 100\n-> no CUDA-capable device is detected\n"
_FIRST = "3.4.0+"
_SILENT_TOOL = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
_MODULES = "modprobe: ERROR: ../libkmod/libkmod.c:514 lookup_builtin_file() could not open builtin file '/lib/modules/{}/modules.builtin.bin'\n"
_REFUSED = "modprobe: ERROR: could not insert '{}': {}\n"
_LINKER = "/usr/bin/ld: cannot find -lcuda: No such file or directory\ncollect2: error: ld returned 1 exit status\n"
_RUNS = ">>> torch.ones(2).cuda()\ntensor([1., 1.], device='cuda:0')\n"
_DOCKER = "$ docker run --rm -it my/image python run.py\n"

_TRACED = '$ systemd-detect-virt\n{}\n$ strace -e openat nvidia-smi\nopenat(AT_FDCWD, "/dev/nvidiactl", O_RDWR) = -1 ENOENT (No such file or directory)\n'
_FOUND = 'source=gpu.go:491 msg="discovered GPU libraries" paths="[{} /usr/lib/wsl/lib/libcuda.so.1]"\nsource=gpu.go:612 msg="Unable to load cudart library {}: cuda driver library init failure: 100"\n'
_CHOICE = "run.py: error: argument --execution-providers: invalid choice: '{}' (choose from 'cpu')\n"
_STATUS = "PS C:\\> wsl --status\nStandardversion: 2\nKernelversion: {}\n"
_APT = "$ uname -r\n5.15.146.1-microsoft-standard-WSL2\nCommandline: apt install {}\n"
_IN_A_LINE = "WSL2, RX 7900 XTX\nTorch 2.3.0+rocm6.0\n{}\n"
_FORM_OF_AMD = "WSL environment detected.\nGPU:\n  Name:                    AMD Ryzen 5 5600X 6-Core Processor\n  Marketing Name:          AMD Ryzen 5 5600X 6-Core Processor\n{}\nRadeon RX 9070 XT\n"

SPEAKS = {
    "build-of-windows-in-brackets": (
        "wsl-windows-too-old",
        "Win 10 Home 21H1 (19043.1288)\nDocker Desktop 4.12 with the WSL2 backend\nnvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown\n",
    ),
    "runtime-for-wsl-wants-another-libc": (
        "wsl-rocm-release-not-supported",
        " hsa-runtime-rocr4wsl-amdgpu : Depends: libstdc++6 (>= 13) but 12.3.0-1ubuntu1~22.04 is to be installed\n",
    ),
    "rocminfo-of-nix": (
        "wsl-rocm-release-not-supported",
        "WSL environment detected.\nhsa api call failure at: /build/source/rocminfo.cc:1306\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n",
    ),
    "kernel-told-by-windows": ("wsl-windows-too-old", _STATUS.format("4.19.128")),
    "package-of-linux-in-wsl": ("wsl-linux-driver-inside", _APT.format("nvidia-driver-550")),
    "modules-files-in-wsl": (
        "wsl-linux-driver-inside",
        "Loading new nvidia-560.35.03 DKMS files...\nKernel 5.15.153.1-microsoft-standard-WSL2\n$ uname -r\n5.15.153.1-microsoft-standard-WSL2\n",
    ),
    "operator-not-run": (
        "directml-op-cpu-fallback",
        "torch-directml==0.2.5\nNotImplementedError: Could not run 'aten::gru' with arguments from the 'CPU' backend. 'aten::gru' is only available for these backends: [PrivateUse1, Meta]\n",
    ),
    "trace-in-wsl": ("wsl-linux-driver-inside", _TRACED.format("wsl")),
    "server-finds-two-libraries": (
        "wsl-linux-driver-inside",
        _FOUND.format(*["/usr/lib/x86_64-linux-gnu/libcuda.so.550.90.07"] * 2),
    ),
    "tool-runs-and-library-is-missed": (
        "wsl-libcuda-link",
        "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n$ /usr/lib/wsl/lib/nvidia-smi -L\nGPU 0: NVIDIA RTX A2000 (UUID: GPU-0f0f61e0-9d3a-e3d8-7a6f-8a6d4d6dbf2a)\n",
    ),
    "directml-is-no-choice": ("directml-module-missing", _CHOICE.format("directml")),
    "two-libraries-in-a-wsl": ("wsl-linux-driver-inside", _LIBRARIES.format("/usr/lib/wsl/lib/libnvidia-ml.so.1")),
    "private-device": (
        "directml-op-cpu-fallback",
        "import torch_directml\nNotImplementedError: Could not run 'torchvision::nms' with arguments from the 'PrivateUse1' backend.\n",
    ),
    "wsl-headers": (
        "wsl-linux-driver-inside",
        "Error! Your kernel headers for kernel 5.15.90.1-microsoft-standard-WSL2 cannot be found.\n",
    ),
    "wsl-build-skipped": (
        "wsl-linux-driver-inside",
        "Module build for kernel 5.15.133.1-microsoft-standard-WSL2 was skipped since the kernel headers for this kernel does not seem to be installed.\n",
    ),
    "wsl-tool-of-linux": (
        "wsl-linux-driver-inside",
        "$ which nvidia-smi\n/usr/bin/nvidia-smi\n"
        + _WSL
        + "$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
    ),
    "wsl-libcuda-of-linux": (
        "wsl-linux-driver-inside",
        "lrwxrwxrwx 1 root root 20 libcuda.so.1 -> libcuda.so.470.103.01\n" + _WSL,
    ),
    "wsl-no-libcuda": ("wsl-libcuda-link", "CUDA driver library cannot be found.\n" + _WSL),
    "wsl-folder-not-on-the-path": (
        "wsl-libcuda-link",
        "$ nvidia-smi\nbash: nvidia-smi: command not found\n$ /usr/lib/wsl/lib/nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0f3a1b2c-1111-2222-3333-444455556666)\n",
    ),
    "wsl-tcc": (
        "wsl-gpu-in-tcc-mode",
        "    Driver Model\n        Current                           : TCC\nUnable to determine the device handle for GPU 0000:65:00.0: Unknown Error\n",
    ),
    "wsl-rocm": (
        "wsl-rocm-release-not-supported",
        "WSL environment detected.\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\nii  rocm-core  6.3.2.60302-66~22.04  amd64\n",
    ),
    "wsl-wheel": (
        "wsl-wheel-bundled-hsa-runtime",
        "$ rocminfo | grep Marketing\n  Marketing Name:          AMD Radeon RX 7900 XTX\n"
        + _WSL
        + "$ python3 -c 'import torch; print(torch.cuda.is_available())'\nFalse\n",
    ),
    "wsl-installer": (
        "wsl-linux-driver-inside",
        "ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently\n" + _WSL,
    ),
    "module-in-a-wsl": (
        "wsl-rocm-release-not-supported",
        "Setting up amdgpu-dkms (1:6.8.5.60202-2041575.22.04) ...\n"
        + _HEADERS.format(*["5.15.153.1-microsoft-standard-WSL2"] * 3),
    ),
    "windows-computes-only": (
        "wsl-gpu-in-tcc-mode",
        _MODELS.format("TCC") + "PS> wsl nvidia-smi\nNo devices were found\n",
    ),
    "old-windows": ("wsl-windows-too-old", _WINDOWS.format("10.0.18362.1") + "me@LAPTOP:~$ nvidia-smi\n" + _SILENT),
    "nodes": ("directml-op-cpu-fallback", _NODES.format(150)),
    "model-of-the-driver": ("wsl-gpu-in-tcc-mode", _CUT.format("TCC")),
    "modules-of-wsl-1": ("wsl-windows-too-old", _MODULES.format(_FIRST) + _SILENT_TOOL),
    "kernel-without-modules": (
        "wsl-windows-too-old",
        _MODULES.format(_FIRST) + _REFUSED.format("nvidia_375", "Function not implemented"),
    ),
    "linker-beside-a-tensor": ("wsl-libcuda-link", _RUNS + _LINKER),
    "build-for-rocm-in-a-line-of-wsl": (
        "wsl-wheel-bundled-hsa-runtime",
        _IN_A_LINE.format("Torch reports GPU not available"),
    ),
    "form-lists-the-processor": ("wsl-gpu-not-supported", _FORM_OF_AMD.format("")),
    "package-chosen-by-dpkg": (
        "wsl-linux-driver-inside",
        "$ uname -r\n5.15.153.1-microsoft-standard-WSL2\n$ dpkg --get-selections | grep nvidia\nlibnvidia-compute-535:amd64\t\t\tinstall\n",
    ),
    "tool-of-another-time": (
        "wsl-linux-driver-inside",
        "$ uname -r\n5.15.153.1-microsoft-standard-WSL2\n- Driver: 566.36\n- NVIDIA-SMI: 470.256.02\n",
    ),
    "tool-of-another-time-by-its-version": (
        "wsl-linux-driver-inside",
        "$ uname -r\n5.15.153.1-microsoft-standard-WSL2\nNVIDIA-SMI version  : 535.183.01\nNVML version        : 572.16\nDRIVER version      : 572.16\n",
    ),
    "container-tool-in-a-spoken-wsl": (
        "wsl-windows-too-old",
        "I run it in WSL2.\nnvc.c:391] dxcore initialization failed, continuing assuming a non-WSL environment\nnvidia-container-cli: initialization error: driver error: failed to process request\n",
    ),
}

SILENT = {
    "newer-build-in-brackets": (
        "wsl-windows-too-old",
        "Win 10 Home 22H2 (19045.3803)\nWSL2\nnvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown\n",
    ),
    "rocminfo-of-nix-on-a-linux": (
        "wsl-rocm-release-not-supported",
        "hsa api call failure at: /build/source/rocminfo.cc:1306\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n",
    ),
    "rocminfo-of-amds-alone": (
        "wsl-rocm-release-not-supported",
        "WSL environment detected.\nhsa api call failure at: /long_pathname/src/rocminfo/rocminfo.cc:1306\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n",
    ),
    "ollama-searches-the-folder-everywhere": (
        "wsl-linux-driver-inside",
        'msg="gpu library search" globs="[/usr/lib/x86_64-linux-gnu/libcuda.so* /usr/lib/wsl/lib/libcuda.so*]"\nmsg="discovered GPU libraries" paths=[/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01]\ncuInit err: 999\n',
    ),
    "new-kernel-told-by-windows": ("wsl-windows-too-old", _STATUS.format("5.15.153.1-2")),
    "toolkit-in-wsl": ("wsl-linux-driver-inside", _APT.format("nvidia-cuda-toolkit")),
    "operator-of-another-device": (
        "directml-op-cpu-fallback",
        "NotImplementedError: Could not run 'aten::gru' with arguments from the 'CPU' backend. 'aten::gru' is only available for these backends: [PrivateUse1, Meta]\n",
    ),
    "trace-in-a-guest": ("wsl-linux-driver-inside", _TRACED.format("kvm")),
    "server-finds-windows-two-libraries": (
        "wsl-linux-driver-inside",
        _FOUND.format(*["/usr/lib/wsl/drivers/nv_dispi.inf_amd64_1/libcuda.so.1.1"] * 2),
    ),
    "library-is-missed-and-no-tool": (
        "wsl-libcuda-link",
        "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n$ /usr/lib/wsl/lib/nvidia-smi -L\nNo such file or directory\n",
    ),
    "cuda-is-no-choice": ("directml-module-missing", _CHOICE.format("cuda")),
    "one-library-of-linux": ("wsl-linux-driver-inside", _LIBRARIES.format("/usr/lib/libnvidia-ml.so.1")),
    "private-device-of-another": (
        "directml-op-cpu-fallback",
        "import torch_npu\nNotImplementedError: Could not run 'torchvision::nms' with arguments from the 'PrivateUse1' backend.\n",
    ),
    "headers-of-linux": (
        "wsl-linux-driver-inside",
        "Error! Your kernel headers for kernel 6.5.0-41-generic cannot be found.\n",
    ),
    "tool-of-linux-on-linux": (
        "wsl-linux-driver-inside",
        "$ which nvidia-smi\n/usr/bin/nvidia-smi\n$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
    ),
    "libcuda-of-linux-on-linux": (
        "wsl-linux-driver-inside",
        "lrwxrwxrwx 1 root root 20 libcuda.so.1 -> libcuda.so.470.103.01\n",
    ),
    "no-libcuda-on-linux": ("wsl-libcuda-link", "CUDA driver library cannot be found.\n$ uname -r\n6.5.0-41-generic\n"),
    "tcc-that-computes": (
        "wsl-gpu-in-tcc-mode",
        "    Driver Model\n        Current                           : TCC\nGPU 0: Tesla P40 (UUID: GPU-0f3a1b2c-1111-2222-3333-444455556666)\n",
    ),
    "no-release-is-told": (
        "wsl-rocm-release-not-supported",
        "WSL environment detected.\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n",
    ),
    "rocm-refuses-the-card": (
        "wsl-rocm-release-not-supported",
        "WSL environment detected.\nROCR: unsupported GPU\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES\n",
    ),
    "wheel-works": (
        "wsl-wheel-bundled-hsa-runtime",
        "$ rocminfo | grep Marketing\n  Marketing Name:          AMD Radeon RX 7900 XTX\n"
        + _WSL
        + "$ python3 -c 'import torch; print(torch.cuda.is_available())'\nTrue\n",
    ),
    "installer-on-linux": (
        "wsl-linux-driver-inside",
        "ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently\n$ uname -r\n6.5.0-41-generic\n",
    ),
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
    "few-nodes": ("directml-op-cpu-fallback", _NODES.format(40)),
    "model-draws": ("wsl-gpu-in-tcc-mode", _CUT.format("WDDM")),
    "modules-of-a-telephone": ("wsl-windows-too-old", _MODULES.format("3.4.0-lineage") + _SILENT_TOOL),
    "kernel-that-refuses": (
        "wsl-windows-too-old",
        _MODULES.format("4.4.0-31-generic") + _REFUSED.format("nvidia", "Operation not permitted"),
    ),
    "linker-on-a-linux-of-its-own": ("wsl-libcuda-link", "$ uname -r\n6.8.0-45-generic\n" + _RUNS + _LINKER),
    "linker-in-a-container": ("wsl-libcuda-link", _DOCKER + _RUNS + _LINKER),
    "linker-alone": ("wsl-libcuda-link", _LINKER),
    "build-for-rocm-in-wsl-that-works": (
        "wsl-wheel-bundled-hsa-runtime",
        _IN_A_LINE.format("Torch detected GPU: AMD Radeon RX 7900 XTX"),
    ),
    "form-lists-the-card": ("wsl-gpu-not-supported", _FORM_OF_AMD.format("  Name:                    gfx1201\n")),
    "package-left-by-dpkg": (
        "wsl-linux-driver-inside",
        "WSL2\nnvidia-container-toolkit\t\t\tinstall\nlibnvidia-compute-535:amd64\t\t\tdeinstall\n$ dpkg --get-selections\n",
    ),
    "tool-of-the-same-time": (
        "wsl-linux-driver-inside",
        "WSL2\nNVIDIA-SMI version  : 575.64\nNVML version        : 576.88\nDRIVER version      : 576.88\n",
    ),
    "container-tool-on-another-linux": (
        "wsl-windows-too-old",
        "nvc.c:391] dxcore initialization failed, continuing assuming a non-WSL environment\nnvidia-container-cli: initialization error: driver error: failed to process request\n",
    ),
}
