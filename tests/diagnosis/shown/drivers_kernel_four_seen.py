"""Threads of drivers, miners, monitors and guests: each rule where it speaks, and beside it where it has to be silent."""

_BINDING = "{}: reading {} failed with {}\n"
_COUNTED = "12:04:11 CUDA devices available: {}\n"
_LLAMA = "ggml_cuda_init: found {} CUDA devices:\n"
_NVAPI = "12:31:58 WARN: {}: NVAPI_NVIDIA_DEVICE_NOT_FOUND, code -6\n"
_NONE = "12:32:04 ERROR: cuInit failed: CUDA_ERROR_NO_DEVICE\n"
_DARK = "{} 0000:0{}:00.0: Refused to change power state, currently in {}\n"
_CARD = "0{}:00.0 3D controller: NVIDIA Corporation {} (rev ff)\n"
_NIC = "05:00.0 Ethernet controller: Realtek Semiconductor Co., Ltd. RTL8168\n"
_ASKED = "$ sudo tee /proc/acpi/bbswitch <<<{}\n"
_CUT = "[   91.204311] bbswitch: {} discrete graphics\n"
_ADAPTER = "[   97.118212] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! ({}:{})\n"
_STAT = "[{}] NVIDIA {} | 41'C,  {} % | {} / {} MB |\n"
_KILL = "{}kill{} {} - No such process\n"
_LINK = "lrwxrwxrwx 1 root root 20 Mar  2 09:10 /usr/lib/x86_64-linux-gnu/libcuda.so.1 -> libcuda.so.{}\n"
_FILE = "-rw-r--r-- 1 root root 27M Jan 14 03:22 {}/libcuda.so.{}\n"
_LIBS = "/usr/lib/x86_64-linux-gnu"
_INSIDE = "root@7c1fe0a9b3d2:/# ls -lah /usr/lib/x86_64-linux-gnu/libcuda.so*\n"
_HOST = "me@tower:~$ ls -lah /usr/lib/x86_64-linux-gnu/libcuda.so*\n"
_XEN = "builder = 'hvm'\nmemory = 8192\n{} = {}\n"
_PROXMOX = "cores: 8\nhostpci0: 0000:00:02.0,{}\n"
_BUS = "00:00.0 Host bridge: Intel Corporation 440FX - 82441FX PMC [Natoma] (rev 02)\n00:03.0 VGA compatible controller: {}\n"
_CIRRUS, _QXL = "Cirrus Logic GD 5446", "Red Hat, Inc. QXL paravirtual graphic card (rev 04)"
_WINDOW = "[    8.10] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\n               NVRM: BAR{} is 0M @ 0x0 (PCI:0000:{}:00.0)\n"
_ESXI = 'pciPassthru.{} = "{}"\n'
_KERNEL = "$ uname -r\n{}\n"
_SILENT_TOOL = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
_FUSION = "kmod-nvidia-{}.fc42.x86_64-570.133.07-1.fc42.x86_64\n"
_PREBUILT = "kmod-nvidia-535.161.08-{}-535.161.08-3.{}.x86_64\n"
_UBUNTU = "ii  linux-modules-nvidia-550{}-{}  6.8.0-60.63  amd64  Linux kernel nvidia modules for version\n"
_TABLE = "| NVIDIA-SMI 570.133.07             Driver Version: 570.133.07     CUDA Version: 12.8     |\n|   0  NVIDIA GeForce RTX 4060        Off |   00000000:01:00.0 Off |                  N/A |\n|  0%   41C    P8              4W /  115W |       9MiB /   8188MiB |      0%      Default |\n"
_VOID = "{}-dkms-{}_2: configuring ...\nSkipping kernel-6.13.9_1. kernel-headers package not installed...\n"
_MADE = "Building DKMS module 'nvidia-565.77' for kernel-6.12.21_1... done.\nInstalling DKMS module 'nvidia-565.77' for kernel-6.12.21_1... done.\n"
_MES = "MES feature version: 1, firmware version: 0x000000{}\n"
_CHIP = "$ rocminfo\n  Name:                    gfx1151\n"
_FAULT = "Memory access fault by GPU node-1 (Agent handle: 0x5a10) on address (nil). Reason: Page not present or supervisor privilege.\n"
_COMPILER = "/var/lib/dkms/{}/build/{}:88:12: {}implicit declaration of function ‘{}’\n"

SPEAKS = {
    "lost-by-a-name-of-net": ("gpu-fell-off-bus", _BINDING.format("[NVML] System.Exception", "the clock", "status: GPUIsLost")),
    "lost-by-a-name-of-rust": ("gpu-fell-off-bus", _BINDING.format("exporter", "temperature", "NvmlError::GpuLost")),
    "lost-by-a-name-of-python": ("gpu-fell-off-bus", "pynvml.NVMLError_GpuIsLost\n"),
    "counted-and-gone-in-a-miner": ("gpu-fell-off-bus", _COUNTED.format(2) + _NVAPI.format("Can't read power of [000300]") + _NONE),
    "counted-and-gone-in-a-server": ("gpu-fell-off-bus", _LLAMA.format(1) + _NVAPI.format("overlay") + _NONE),
    "dark-where-bbswitch-was-asked": ("hybrid-laptop-gpu-powered-off", _CARD.format(1, "GP108M [GeForce MX250]") + _ASKED.format("ON") + _DARK.format("pci", 1, "D3")),
    "dark-and-no-list": ("hybrid-laptop-gpu-powered-off", _CUT.format("disabling") + _DARK.format("nvidia", 2, "D3")),
    "dark-without-a-tool": ("gpu-fell-off-bus", _DARK.format("nvidia", 3, "D3")),
    "dark-by-its-address": ("gpu-fell-off-bus", _CARD.format(3, "GA102GL [RTX A5000]") + _DARK.format("pci", 3, "D3")),
    "starts-not-after-the-cut": ("hybrid-laptop-gpu-powered-off", _CUT.format("disabling") + _CUT.format("enabling") + _ADAPTER.format("0x30:0xffffffff", 711)),
    "starts-not-with-another-code": ("hybrid-laptop-gpu-powered-off", _CUT.format("disabling") + _ADAPTER.format("0x26:0xffff", 1130)),
    "killed-and-not-there": ("gpu-memory-held-by-others", _STAT.format(2, "H100 PCIe", 100, 40211, 81559) + _KILL.format("-bash: ", ":", "(40917)")),
    "killed-by-zsh": ("gpu-memory-held-by-others", _STAT.format(0, "GeForce RTX 3090", 0, 9120, 24576) + "kill: kill 7712 failed: no such process\n"),
    "killed-on-two-lines": ("gpu-memory-held-by-others", _STAT.format(1, "RTX A6000", 0, 30210, 49140) + "# kill -9 31007\nno such process\n"),
    "two-releases-in-an-image": ("libcuda-differs-from-kernel-driver", _INSIDE + _LINK.format("560.35.03") + _FILE.format(_LIBS, "550.90.07") + _FILE.format(_LIBS, "560.35.03")),
    "older-link-in-an-image": ("libcuda-differs-from-kernel-driver", _INSIDE + _LINK.format("470.256.02") + _FILE.format(_LIBS, "535.183.01")),
    "xen-without-what-was-promised": ("vm-without-gpu-passthrough", _XEN.format("gfx_passthru", 1) + _BUS.format(_CIRRUS)),
    "proxmox-without-what-was-promised": ("vm-without-gpu-passthrough", _PROXMOX.format("x-vga=1") + _BUS.format(_QXL)),
    "part-of-a-card-that-was-promised": ("vm-without-gpu-passthrough", _PROXMOX.format("mdev=i915-GVTg_V5_4") + _BUS.format(_CIRRUS)),
    "esxi-and-no-window": ("vm-passthrough-misconfigured", _ESXI.format("use64bitMMIO", "TRUE") + _WINDOW.format(1, "0b")),
    "esxi-and-no-registers": ("vm-passthrough-misconfigured", _ESXI.format("64bitMMIOSizeGB", 256) + _WINDOW.format(0, "1a")),
    "package-of-another-kernel": ("kernel-module-not-built", _KERNEL.format("6.14.5-300.fc42.x86_64") + _FUSION.format("6.14.4-300") + _SILENT_TOOL),
    "prebuilt-for-another-kernel": ("kernel-module-not-built", _KERNEL.format("5.14.0-427.20.1.el9_4.x86_64") + _PREBUILT.format("5.14.0-427.16.1", "el9_4") + _SILENT_TOOL),
    "ubuntus-for-another-kernel": ("kernel-module-not-built", _KERNEL.format("6.8.0-62-generic") + _UBUNTU.format("-server-open", "6.8.0-60-generic") + _SILENT_TOOL),
    "void-without-headers": ("kernel-module-not-built", _VOID.format("nvidia", "565.77")),
    "void-without-headers-and-an-old-branch": ("kernel-module-not-built", _VOID.format("nvidia470", "470.256.02")),
    "firmware-and-a-fault-at-nought": ("amd-firmware-regression", _CHIP + _MES.format(83) + _FAULT),
    "fault-at-nought": ("wrong-hsa-override", _CHIP + _MES.format(80) + _FAULT),
    "compiler-in-bold-letters": ("kernel-module-not-built", _COMPILER.format("amdgpu/6.3.6-1718217", "amd/amdgpu/amdgpu_vm.c", "**error: ", "drm_x")),
    "compiler-in-bold-letters-of-nvidia": ("kernel-module-not-built", _COMPILER.format("nvidia/390.157", "nvidia/nv-acpi.c", "**error: ", "acpi_y")),
}  # fmt: skip
SILENT = {
    "names-in-a-source": ("gpu-fell-off-bus", "public enum NvmlReturn {\n    GPUIsLost = 15,\n    ResetRequired = 16,\n}\n"),
    "lost-in-a-game": ("gpu-fell-off-bus", "connection lost, GpuLoad 40 %\n"),
    "no-display-and-nothing-fails": ("gpu-fell-off-bus", _COUNTED.format(4) + _NVAPI.format("overlay not shown")),
    "none-was-ever-counted": ("gpu-fell-off-bus", _COUNTED.format(0) + _NVAPI.format("overlay") + _NONE),
    "awake-and-not-put-to-sleep": ("hybrid-laptop-gpu-powered-off", _CARD.format(1, "GM108M [GeForce 940M]") + _DARK.format("pci", 1, "D0")),
    "another-device-stays-dark": ("gpu-fell-off-bus", _NIC + _DARK.format("pci", 5, "D3")),
    "another-device-beside-bbswitch": ("hybrid-laptop-gpu-powered-off", "01:00.0 3D controller: NVIDIA Corporation GP107M [GeForce GTX 1050] (rev a1)\n" + _ASKED.format("ON") + _DARK.format("pci", 5, "D3")),
    "dark-where-bbswitch-was-asked-is-no-loss": ("gpu-fell-off-bus", _CARD.format(1, "GP108M [GeForce MX250]") + _ASKED.format("ON") + _DARK.format("pci", 1, "D3")),
    "cut-and-well-again": ("hybrid-laptop-gpu-powered-off", _CUT.format("disabling") + _CUT.format("enabling") + "[  120.1] nvidia-modeset: Loading NVIDIA Kernel Mode Setting Driver\n"),
    "starts-not-and-nobody-cut": ("hybrid-laptop-gpu-powered-off", _ADAPTER.format("0x26:0xffff", 1130)),
    "killed-and-nothing-held": ("gpu-memory-held-by-others", _STAT.format(0, "GeForce RTX 3090", 0, 18, 24576) + _KILL.format("-bash: ", ":", "(40917)")),
    "held-and-nobody-killed": ("gpu-memory-held-by-others", _STAT.format(0, "GeForce RTX 3090", 98, 20118, 24576) + "cat: /proc/40917/status: No such process\n"),
    "leftover-on-a-host": ("libcuda-differs-from-kernel-driver", _HOST + _LINK.format("560.35.03") + _FILE.format(_LIBS, "550.90.07") + _FILE.format(_LIBS, "560.35.03")),
    "one-release-in-an-image": ("libcuda-differs-from-kernel-driver", _INSIDE + _LINK.format("560.35.03") + _FILE.format(_LIBS, "560.35.03")),
    "compatibility-beside-it": ("libcuda-differs-from-kernel-driver", _INSIDE + _LINK.format("535.183.01") + _FILE.format(_LIBS, "535.183.01") + _FILE.format("/usr/local/cuda-12.8/compat", "570.86.10")),
    "nothing-was-promised": ("vm-without-gpu-passthrough", _XEN.format("gfx_passthru", 0) + _BUS.format(_CIRRUS)),
    "promised-and-there": ("vm-without-gpu-passthrough", _PROXMOX.format("x-vga=1") + _BUS.format(_QXL) + "00:10.0 VGA compatible controller: NVIDIA Corporation AD104 [GeForce RTX 4070] (rev a1)\n"),
    "network-card-was-passed": ("vm-without-gpu-passthrough", _PROXMOX.format("pcie=1") + _BUS.format(_QXL)),
    "window-on-bare-metal": ("vm-passthrough-misconfigured", _WINDOW.format(1, "0b")),
    "package-of-this-kernel": ("kernel-module-not-built", _KERNEL.format("6.14.5-300.fc42.x86_64") + _FUSION.format("6.14.4-300") + _FUSION.format("6.14.5-300") + _SILENT_TOOL),
    "package-of-another-kernel-and-it-works": ("kernel-module-not-built", _KERNEL.format("6.14.5-300.fc42.x86_64") + _FUSION.format("6.14.4-300") + _TABLE),
    "prebuilt-for-this-kernel": ("kernel-module-not-built", _KERNEL.format("5.14.0-427.16.1.el9_4.x86_64") + _PREBUILT.format("5.14.0-427.16.1", "el9_4") + _SILENT_TOOL),
    "ubuntus-without-a-kernel": ("kernel-module-not-built", _KERNEL.format("6.8.0-62-generic") + _UBUNTU.format("", "generic-hwe-22.04") + _SILENT_TOOL),
    "void-skips-an-older-kernel": ("kernel-module-not-built", _VOID.format("nvidia", "565.77") + _MADE),
    "void-skips-another-module": ("kernel-module-not-built", _VOID.format("zfs", "2.3.1")),
    "firmware-explains-the-fault": ("wrong-hsa-override", _CHIP + _MES.format(83) + _FAULT),
    "compiler-only-warns": ("kernel-module-not-built", _COMPILER.format("amdgpu/6.3.6-1718217", "amd/amdgpu/amdgpu_vm.c", "**warning: ", "drm_x")),
}  # fmt: skip
