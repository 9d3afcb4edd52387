"""Who may open a card's nodes: each rule where it speaks, and beside it where it has to be silent."""

_REFUSED_OF_AMD = "Error code:\n\t10 | AMDSMI_STATUS_NO_PERM - Permission Denied\n"
_LSPCI = "03:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XTX] [1002:744c] (rev c8)\n\tKernel driver in use: {}\n"
_MESA = "ggml_vulkan: Found 1 Vulkan devices:\nggml_vulkan: 0 = llvmpipe (LLVM 17.0.6, 256 bits) (llvmpipe) | uma: 0\n"
_CLOSED_OF_DESKTOP = "$ ls -l /dev/dri/renderD128\ncrw-rw---- 1 root render 226, 128 May  1 10:00 /dev/dri/renderD128\n$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),27(sudo)\n"
_OUTSIDE = "$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),27(sudo)\n"
_OPEN = "$ ls -l /dev/dri/renderD128\ncrw-rw---- 1 root render 226, 128 May  1 10:00 /dev/dri/renderD128\n$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),109(render)\n"
_CLOSED_OF_ROCM = "$ id\nuid=1000 gid=1000 groups=1000,44(video),109\n$ ls -ln /dev/kfd\ncrw-rw---- 1 0 993 236, 0 Aug 12 07:55 /dev/kfd\n"
_COMPOSE = "services:\n  work:\n    image: acme/rocm\n    devices:\n      - /dev/kfd\n      - /dev/dri\n"
_GROUP = 'ROCk module is loaded\nroot is not member of "{0}" group, the default DRM access group. Users must be a member of the "{0}" group or another DRM access group in order for ROCm applications to run successfully.\n'
_HIP_NONE = "RuntimeError: HIP error: hipErrorNoDevice\n$ groups\noli adm cdrom sudo {}\n"
_REFUSED_OF_PROCESSOR = 'ROCk module is loaded\nUnable to open /dev/kfd read-write: Permission denied\n{} is not member of "{}" group, the default DRM access group. Users must be a member of the "{}" group or another DRM access group in order for ROCm applications to run successfully.\n'
_ROOT = "$ sudo rocminfo\n=====================\nHSA System Attributes\n=====================\nRuntime Version:         1.1\n"
_INNER = "$ docker run -it --device=/dev/kfd --device=/dev/dri rocm/dev-ubuntu-18.04\nrocm-user@5d1f00aa2b13:~"
_NUMBER = "$ rocminfo\nhsa api call failure at line 900, file: /home/jenkins/rocminfo.cc. Call returned 4104\n"
_OUT = "hsa api call failure at: /src/rocminfo/rocminfo.cc:1142\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n"
_EMPTY = "  what():  DeviceList is empty. -30 (PI_ERROR_INVALID_VALUE)\n"
_CLOSED_OF_SERVER = (
    "$ id -nG\nada sudo\n$ ls -l /dev/dri/renderD128\ncrw-rw---- 1 root {} 226, 128 Mar  1 10:00 /dev/dri/renderD128\n"
)
_NODE_OF_BESIDE = "crw-rw---- 1 {0} {0} 235, 0 Feb  1 10:11 /dev/kfd\n"
_INSIDE = "$ {} run --rm{} --device /dev/kfd --device /dev/dri docker.io/rocm/rocm-terminal bash -c '{}'\n"
_NODE_OF_OTHER = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\ncould not open /dev/nvidiactl: {}\n"
_MODE = '$ nvtop\nNo GPU to monitor.\n$ sudo nvtop -s | head -2\n[{{ "device_name": "NVIDIA RTX A2000",\n$ cat /etc/modprobe.d/nv.conf\noptions nvidia NVreg_DeviceFileMode={}\n$ groups\nada users\n'
_XPU = "{}/lib/python3.12/site-packages/torch/xpu/__init__.py:61: UserWarning: Failed to initialize XPU devices. The driver may not be installed, installed incorrectly, or incompatible with the current setup.\n"
_ARC = "_XpuDeviceProperties(name='Intel(R) Arc(TM) A770 Graphics', platform_name='Intel(R) Level-Zero', type='gpu', max_num_sub_groups=128, sub_group_sizes=[8 16 32])\n"
_GROUPED = "  (conv): Conv2d(64, 64, kernel_size=(3, 3), groups=64, bias=False)\n/dev/kfd: Permission denied\n"

_BY_NUMBER = "$ ls -ln /dev/kfd\ncrw-rw---- 1 0 {} 236, 0 Jan  1 10:00 /dev/kfd\n$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),44(video){}\n"
_MEMBER = "ROCk module is loaded\nUnable to open /dev/kfd read-write: Permission denied\nada is member of {} group\n"
_NOBODYS = "$ podman run --rm --device /dev/kfd rocm/pytorch ls -l /dev/kfd\ncrw-rw---- 1 nobody nogroup 236, 0 Apr  3 07:12 /dev/kfd\n"
_NAMED_INSIDE = '$ podman run --rm --device /dev/kfd --group-add keep-groups rocm/pytorch python3 -c "import torch;print(torch.cuda.get_device_name(0))"\n'

SPEAKS = {
    "refused": (
        "render-group-missing",
        _REFUSED_OF_AMD + "$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),27(sudo)\n",
    ),
    "ggml": ("render-group-missing", "ggml_cuda_init: failed to initialize ROCm: no ROCm-capable device is detected\n"),
    "mesa": ("render-group-missing", _LSPCI.format("amdgpu") + _MESA),
    "node-closed": ("render-group-missing", "$ xpu-smi discovery\nNo device discovered\n" + _CLOSED_OF_DESKTOP),
    "no-group": (
        "render-group-missing",
        "[GPU] No supported OCL devices found or unexpected error happened during devices query.\n" + _OUTSIDE,
    ),
    "node-alone": (
        "render-group-missing",
        "$ xpu-smi discovery\nNo device discovered\n$ ls -l /dev/dri/renderD128\ncrw-rw---- 1 root render 226, 128 May  1 10:00 /dev/dri/renderD128\n",
    ),
    "xpu-build-no-group": (
        "render-group-missing",
        ">>> torch.__version__\n'2.8.0+xpu'\n>>> torch.xpu.is_available()\nFalse\n" + _OUTSIDE,
    ),
    "for-root-alone": (
        "render-group-missing",
        "$ clinfo | head -1\nNumber of platforms                               0\n$ sudo clinfo | grep 'Device Name'\n  Device Name   Intel(R) Arc(TM) A770 Graphics\n",
    ),
    "sycl-lists-none": (
        "render-group-missing",
        "$ sycl-ls\n$ ls -l /dev/dri\ncrw-rw---- 1 root render 226, 128 May  1 10:00 renderD128\n$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),27(sudo)\n",
    ),
    "account-beside-nodes-handed-on": ("container-render-group-mismatch", _COMPOSE + _CLOSED_OF_ROCM),
    "account-of-a-host": ("render-group-missing", _CLOSED_OF_ROCM),
    "group-is-nobodys": ("container-render-group-mismatch", _GROUP.format("nogroup")),
    "entered-and-refused": (
        "container-render-group-mismatch",
        "lxc exec rocm -- rocminfo\nUnable to open /dev/kfd read-write: Permission denied\n",
    ),
    "hip-and-groups": ("render-group-missing", _HIP_NONE.format("dip plugdev lpadmin sambashare")),
    "root-in-a-build": (
        "container-render-group-mismatch",
        "STEP 6/9: RUN rocminfo\n" + _REFUSED_OF_PROCESSOR.format("root", "render", "render"),
    ),
    "root-of-a-namespace": ("container-render-group-mismatch", _REFUSED_OF_PROCESSOR.format("root", "video", "video")),
    "number-inside": ("container-render-group-mismatch", _INNER + _NUMBER + "rocm-user@5d1f00aa2b13:~" + _ROOT),
    "out-inside": (
        "container-render-group-mismatch",
        _INNER + "$ rocminfo\n" + _OUT + "rocm-user@5d1f00aa2b13:~" + _ROOT,
    ),
    "number-outside": ("render-group-missing", _NUMBER + _ROOT),
    "empty-list": ("render-group-missing", _EMPTY + _CLOSED_OF_SERVER.format("render")),
    "number-of-a-group-and-no-answer": (
        "container-render-group-mismatch",
        "# ls -ln /dev/kfd\n" + _NODE_OF_BESIDE.format(109),
    ),
    "node-refused": ("device-node-permissions", _NODE_OF_OTHER.format("Permission denied")),
    "nodes-closed": ("device-node-permissions", _MODE.format("0660")),
    "xpu-on-linux": ("render-group-missing", _XPU.format("/home/ada/v")),
    "node-by-its-number": ("render-group-missing", _BY_NUMBER.format(993, "")),
    "number-of-another-group": ("container-render-group-mismatch", _BY_NUMBER.format(104, ",993(render)")),
    "member-of-nobody": ("container-render-group-mismatch", _MEMBER.format("nobody")),
    "configured-by-proxmox": (
        "container-render-group-mismatch",
        "unprivileged: 1\ndev0: /dev/kfd,gid=104\n$ rocminfo\nUnable to open /dev/kfd read-write: Permission denied\n",
    ),
    "render-node-by-its-path": (
        "render-group-missing",
        'openat(AT_FDCWD, "/dev/dri/by-path/pci-0000:03:00.0-render", O_RDWR|O_CLOEXEC) = -1 EACCES (Permission denied)\n',
    ),
    "render-node-by-its-path-in-python": (
        "render-group-missing",
        "PermissionError: [Errno 13] Permission denied: '/dev/dri/by-path/pci-0000:00:02.0-render'\n",
    ),
}

SILENT = {
    "ggml-in-windows": (
        "render-group-missing",
        "OS: Microsoft Windows 11 Pro\nggml_cuda_init: failed to initialize ROCm: no ROCm-capable device is detected\n",
    ),
    "mesa-alone": ("render-group-missing", _MESA),
    "node-open": ("render-group-missing", "$ xpu-smi discovery\nNo device discovered\n" + _OPEN),
    "lists-one": (
        "render-group-missing",
        "[level_zero:gpu][level_zero:0] Intel(R) Level-Zero, Intel(R) Arc(TM) A770 Graphics 1.3\n" + _OUTSIDE,
    ),
    "root-sees-none-either": (
        "render-group-missing",
        "$ sudo clinfo\nNumber of platforms                               0\n",
    ),
    "sycl-lists-one": (
        "render-group-missing",
        "$ sycl-ls\n[level_zero:gpu][level_zero:0] Intel(R) Level-Zero, Intel(R) Arc(TM) A770 Graphics 1.3\ncrw-rw---- 1 root render 226, 128 May  1 10:00 renderD128\nuid=1000(ada) gid=1000(ada) groups=1000(ada),109(render)\n",
    ),
    "account-behind-a-compose-file": ("render-group-missing", _COMPOSE + _CLOSED_OF_ROCM),
    "group-with-a-name": ("container-render-group-mismatch", _GROUP.format("render")),
    "hip-and-all-groups": ("render-group-missing", _HIP_NONE.format("render video")),
    "plain-account": ("container-render-group-mismatch", _REFUSED_OF_PROCESSOR.format("ada", "render", "render")),
    "root-and-render-group": ("render-group-missing", _REFUSED_OF_PROCESSOR.format("root", "render", "render")),
    "number-outside-alone": ("container-render-group-mismatch", _NUMBER + _ROOT),
    "list-and-open": ("render-group-missing", _EMPTY + _CLOSED_OF_SERVER.format("sudo")),
    "opened-inside": (
        "container-render-group-mismatch",
        _INSIDE.format("podman", " --group-add keep-groups", "ls -ln /dev/kfd; rocm_agent_enumerator")
        + _NODE_OF_BESIDE.format(65534)
        + "gfx000\ngfx90a\n",
    ),
    "opened-inside-by-a-number": (
        "container-render-group-mismatch",
        _INSIDE.format("docker", " --group-add 109", "ls -ln /dev/kfd; rocminfo | grep -m1 gfx")
        + _NODE_OF_BESIDE.format(109)
        + "  Name:                    gfx1030\n",
    ),
    "node-not-there": ("device-node-permissions", _NODE_OF_OTHER.format("No such file or directory")),
    "nodes-open": ("device-node-permissions", _MODE.format("0666")),
    "xpu-of-windows": ("render-group-missing", _XPU.replace("/", "\\").format("C:\\v")),
    "xpu-that-is-listed": ("render-group-missing", _ARC + _XPU.format("/home/ada/v")),
    "groups-of-a-layer": ("render-group-missing", _GROUPED.splitlines()[0] + "\n"),
    "number-is-held": ("render-group-missing", _BY_NUMBER.format(993, ",993(render)")),
    "number-is-held-here": ("container-render-group-mismatch", _BY_NUMBER.format(993, ",993(render)")),
    "member-of-render": ("container-render-group-mismatch", _MEMBER.format("render")),
    "nobodys-and-opened": ("container-render-group-mismatch", _NAMED_INSIDE + "AMD Radeon RX 7900 XT\n" + _NOBODYS),
    "render-node-by-its-path-opens": (
        "render-group-missing",
        'openat(AT_FDCWD, "/dev/dri/by-path/pci-0000:03:00.0-render", O_RDWR|O_CLOEXEC) = 5\n',
    ),
    "render-node-by-its-path-not-there": (
        "render-group-missing",
        'openat(AT_FDCWD, "/dev/dri/by-path/pci-0000:03:00.0-render", O_RDWR|O_CLOEXEC) = -1 ENOENT (No such file or directory)\n',
    ),
}
