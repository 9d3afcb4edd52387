"""What AMD's stack and the programs on it print in a few lines: each rule where it speaks, and beside it where it has to be silent."""

_NO_MODULE = "$ rocminfo\nROCk module is NOT loaded, possibly no GPU devices\n"
_NO_NODE = "Unable to open /dev/kfd read-write: No such file or directory\n"
_DKMS = "$ dkms status\namdgpu/6.10.5-2095006.22.04, 6.5.0-45-generic, x86_64: installed (original_module exists)\n$ uname -r\n"
_HEADERS = (
    "Error! Your kernel headers for kernel {} cannot be found at /lib/modules/{}/build or /lib/modules/{}/source.\n"
)
_BUNDLE = (
    ":1:hip_fatbin.cpp :272 : 3169196830 us: Cannot find CO in the bundle {} for ISA: amdgcn-amd-amdhsa--gfx1103\n"
)
_ISA = ":0:rocdevice.cpp            :2614: 99 us: HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid. code: 0x100f\n"
_SHARED = "CUDA error: shared object initialization failed\n"
_GGML = "  current device: 0, in function ggml_cuda_op_mul_mat at /tmp/pip-req-build/vendor/llama.cpp/ggml-cuda.cu:9663\n  hipGetLastError()\n"
_CARVED = "[    5.1] amdgpu 0000:c5:00.0: amdgpu: VRAM: 98304M 0x0000008000000000 - 0x00000097FFFFFFFF (98304M used)\n"
_HIP_NONE = "RuntimeError: HIP error: hipErrorNoDevice\n$ groups\noli adm cdrom sudo {}\n"
_LEFT_OUT = 'time=2025-02-14T20:15:39.337Z level=INFO source=amd_linux.go:322 msg="filtering out device per user request" id=GPU-e8a2b1c3d4f50617 visible_devices=[1]\n'
_GROUP = 'ROCk module is loaded\nroot is not member of "{0}" group, the default DRM access group. Users must be a member of the "{0}" group or another DRM access group in order for ROCm applications to run successfully.\n'

_CLOSED = "$ id\nuid=1000 gid=1000 groups=1000,44(video),109\n$ ls -ln /dev/kfd\ncrw-rw---- 1 0 993 236, 0 Aug 12 07:55 /dev/kfd\n"
_COMPOSE = "services:\n  work:\n    image: acme/rocm\n    devices:\n      - /dev/kfd\n      - /dev/dri\n"
_NOT_LOADED = "$ rocm-smi\ncat: /sys/module/amdgpu/initstate: No such file or directory\nERROR:root:Driver not initialized (amdgpu not found in modules)\n"
_HANG = (
    "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=24118, emitted seq=24120\n"
    "amdgpu 0000:03:00.0: amdgpu: GPU reset begin!\n[drm] VRAM is lost due to GPU reset!\n"
)
SPEAKS = {
    "card-got-no-room": ("bios-bar-settings", "amdgpu 0000:03:00.0: amdgpu: Fatal error during GPU init\namdgpu 0000:03:00.0: probe with driver amdgpu failed with error -12\n"),
    "card-hangs-and-loses-its-memory": ("gpu-hardware-init-failure", _HANG),
    "account-beside-nodes-handed-on": ("container-render-group-mismatch", _COMPOSE + _CLOSED),
    "account-of-a-host": ("render-group-missing", _CLOSED),
    "left-out-on-request": ("cuda-visible-devices-wrong", _LEFT_OUT + 'time=2025-02-14T20:15:39.337Z level=INFO source=amd_linux.go:402 msg="no compatible amdgpu devices detected"\n'),
    "group-is-nobodys": ("container-render-group-mismatch", _GROUP.format("nogroup")),
    "entered-and-absent": ("container-without-gpu", "lxc.cgroup2.devices.allow: c 226:128 rwm\nlxc.mount.entry: /dev/dri/renderD128 dev/dri/renderD128 none bind,optional,create=file\nroot@ct:~# rocminfo\n" + _NO_NODE),
    "entered-and-refused": ("container-render-group-mismatch", "lxc exec rocm -- rocminfo\nUnable to open /dev/kfd read-write: Permission denied\n"),
    "headers-missing": ("kernel-module-not-built", _HEADERS.format(*["6.8.0-45-generic"] * 3) + "Loading new amdgpu-6.8.5-2009582.22.04 DKMS files...\n"),
    "built-for-another-kernel": ("kernel-module-not-built", _DKMS + "6.8.0-40-generic\n" + _NO_MODULE),
    "module-in-a-wsl": ("wsl-rocm-release-not-supported", "Setting up amdgpu-dkms (1:6.8.5.60202-2041575.22.04) ...\n" + _HEADERS.format(*["5.15.153.1-microsoft-standard-WSL2"] * 3)),
    "no-firmware": ("amdgpu-not-loaded", "[    5.219] amdgpu 0000:03:00.0: Direct firmware load for amdgpu/psp_13_0_0_sos.bin failed with error -2\n[    5.221] amdgpu: Fatal error during GPU init\n[    5.224] amdgpu: probe of 0000:03:00.0 failed with error -2\n"),
    "opencl-without-devices": ("amdgpu-not-loaded", "Number of platforms                               1\n  Platform Name                                   AMD Accelerated Parallel Processing\n  Platform Vendor                                 Advanced Micro Devices, Inc.\n\n  Platform Name                                   AMD Accelerated Parallel Processing\nNumber of devices                                 0\n"),
    "more-mapped-wished-for": ("apu-gtt-limit-not-applied", "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.14 root=/dev/nvme0n1p2 ro quiet amdgpu.gttsize=122880\n$ cat /sys/class/drm/card1/device/mem_info_gtt_total\n33285996544\n"),
    "bundle-of-torch": ("gfx-not-in-torch-wheel", _BUNDLE.format("/opt/conda/lib/python3.10/site-packages/torch/lib/libtorch_hip.so")),
    "image-invalid": ("gfx-not-in-torch-wheel", "torch.AcceleratorError: CUDA error: device kernel image is invalid\nAMD Radeon RX 6700 XT\n"),
    "shared-object-of-llama": ("binary-arch-missing", _SHARED + _GGML + 'GGML_ASSERT: /tmp/pip-req-build/vendor/llama.cpp/ggml-cuda.cu:258: !"CUDA error"\n'),
    "isa-in-torch": ("gfx-not-in-torch-wheel", _ISA + "torch 2.9.0+rocm6.4\n"),
    "isa-elsewhere": ("binary-arch-missing", _ISA),
    "tensorflow-of-old": ("rocm-dropped-arch", "Ignoring visible gpu device (device: 0, name: Radeon RX 580, pci bus id: 0000:01:00.0) with AMDGPU version : gfx803. The supported AMDGPU versions are gfx900, gfx906, gfx1030.\n"),
    "numbers-lost": ("garbage-output-on-gfx", ">>> torch.tensor([1.,2.,3.]).cuda()\ntensor([0., 0., 0.], device='cuda:0')\nAMD Radeon RX 5700 XT\n"),
    "firmware-known-bad": ("amd-firmware-regression", "$ pacman -Q linux-firmware-amdgpu\nlinux-firmware-amdgpu 20251125-1\nMemory access fault by GPU node-1 (Agent handle: 0x3b7c6b0) on address 0x7f24d6e00000. Reason: Page not present or supervisor privilege.\nGPU: Radeon 8060S gfx1151\n"),
    "carve-out-and-comfyui": ("apu-vram-carveout-vs-gtt", "Total VRAM 15804 MB, total RAM 31609 MB\npytorch version: 2.9.0+rocm7.0\nAMD arch: gfx1151\n" + _CARVED),
    "hip-and-groups": ("render-group-missing", _HIP_NONE.format("dip plugdev lpadmin sambashare")),
    "package-for-nvidia": ("torch-torchvision-mismatch", "libcudart.so.13: cannot open shared object file: No such file or directory\ntorch 2.9.1+rocm7.1\n"),
}  # fmt: skip

SILENT = {
    "card-was-given-up-for-another-reason": ("bios-bar-settings", "amdgpu 0000:03:00.0: amdgpu: Fatal error during GPU init\namdgpu: probe of 0000:03:00.0 failed with error -22\n"),
    "card-that-came-back": ("gpu-hardware-init-failure", _HANG + "amdgpu 0000:03:00.0: amdgpu: GPU reset(2) succeeded!\n"),
    "account-behind-a-compose-file": ("render-group-missing", _COMPOSE + _CLOSED),
    "guest-of-windows-that-computes": ("amdgpu-not-loaded", "$ ls /dev/dxg\n/dev/dxg\n" + _NOT_LOADED),
    "module-missed-where-torch-computes": ("amdgpu-not-loaded", _NOT_LOADED + ">>> torch.cuda.is_available()\nTrue\n"),
    "tensorflow-has-a-card": (
        "binary-arch-missing",
        ("Ignoring visible gpu device (device: 1, name: AMD Radeon Graphics, pci bus id: 0000:10:00.0) with AMDGPU version : gfx1036. The supported AMDGPU versions are gfx900, gfx906, gfx1030, gfx1100.\n"
        "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 23578 MB memory:  -> device: 0, name: Radeon RX 7900 XTX, pci bus id: 0000:03:00.0\n"),
    ),
    "another-card-is-supported": (
        "gfx-not-in-rocblas",
        ('level=INFO source=amd_linux.go:119 msg="amdgpu [0] gfx1100 is supported"\n'
        'level=WARN source=amd_linux.go:114 msg="amdgpu [1] gfx1036 is not supported by /tmp/ollama2436258655/rocm [gfx1030 gfx1100 gfx1101 gfx1102]"\n'),
    ),
    "left-out-beside-another": ("cuda-visible-devices-wrong", _LEFT_OUT + 'level=INFO source=types.go:130 msg="inference compute" id=GPU-1 library=rocm variant="" compute=gfx1100 total="24.0 GiB"\n'),
    "group-with-a-name": ("container-render-group-mismatch", _GROUP.format("render")),
    "node-absent-on-a-machine": ("container-without-gpu", "ada@desk:~$ rocminfo\n" + _NO_NODE),
    "headers-of-another-module": ("kernel-module-not-built", "Loading new amdgpu-6.8.5-2009582.22.04 DKMS files...\nBuilding for 6.8.0-45-generic\n"),
    "built-for-the-kernel": ("kernel-module-not-built", _DKMS + "6.5.0-45-generic\n" + _NO_MODULE),
    "firmware-not-needed": ("amdgpu-not-loaded", "[    5.219] amdgpu 0000:03:00.0: Direct firmware load for amdgpu/isp_4_1_1.bin failed with error -2\n[    6.0] [drm] Initialized amdgpu 3.61.0 for 0000:03:00.0 on minor 1\n"),
    "opencl-with-a-device": ("amdgpu-not-loaded", "Number of platforms:\t\t\t\t 1\n  Platform Name:\t\t\t\t AMD Accelerated Parallel Processing\nNumber of devices:\t\t\t\t 1\n  Board name:\t\t\t\t\t AMD Radeon RX 7800 XT\n  Name:\t\t\t\t\t\t gfx1101\n"),
    "as-much-as-wished-for": ("apu-gtt-limit-not-applied", "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.14 root=/dev/nvme0n1p2 ro quiet amdgpu.gttsize=31744\n$ cat /sys/class/drm/card1/device/mem_info_gtt_total\n33285996544\n"),
    "bundle-of-another": ("gfx-not-in-torch-wheel", _BUNDLE.format("/opt/rocm/lib/librocrand.so")),
    "image-of-nvidias": ("gfx-not-in-torch-wheel", "RuntimeError: CUDA error: device kernel image is invalid\nNVIDIA GeForce RTX 2060\n"),
    "shared-object-of-another": ("binary-arch-missing", _SHARED),
    "numbers-kept": ("garbage-output-on-gfx", ">>> torch.tensor([1.,2.,3.]).cuda()\ntensor([1., 2., 3.], device='cuda:0')\nAMD Radeon RX 5700 XT\n"),
    "firmware-good": ("amd-firmware-regression", "$ pacman -Q linux-firmware-amdgpu\nlinux-firmware-amdgpu 20260110-1\nMemory access fault by GPU node-1 (Agent handle: 0x3b7c6b0) on address 0x7f24d6e00000. Reason: Page not present or supervisor privilege.\nGPU: Radeon 8060S gfx1151\n"),
    "carve-out-counted": ("apu-vram-carveout-vs-gtt", "Total VRAM 98304 MB, total RAM 31609 MB\npytorch version: 2.9.0+rocm7.0\nAMD arch: gfx1151\n" + _CARVED),
    "hip-and-all-groups": ("render-group-missing", _HIP_NONE.format("render video")),
    "companion-for-rocm": ("torch-torchvision-mismatch", "torch 2.9.1+rocm7.1\ntorchvision 0.24.1+rocm7.1\n"),
    "library-of-cudas-missing": ("torch-torchvision-mismatch", "libcudart.so.13: cannot open shared object file: No such file or directory\ntorch 2.9.1+cu128\n"),
}  # fmt: skip
