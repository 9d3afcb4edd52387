"""What AMD's programs print: each rule where it speaks, and beside it where it has to be silent."""

_NONE = "RuntimeError: No HIP GPUs are available\n"
_LSPCI = "03:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XTX] [1002:744c] (rev c8)\n\tKernel driver in use: {}\n"
_HSA = "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n"
_REFUSED = "Error code:\n\t10 | AMDSMI_STATUS_NO_PERM - Permission Denied\n"
_HANG = "HW Exception by GPU node-1 (Agent handle: 0x55d0f3a61b40) reason :GPU Hang\n"
_OVERRIDE = "$ env | grep HSA\nHSA_OVERRIDE_GFX_VERSION={}\n"
_FULL = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of {0} of which 300.00 MiB is free. Of the allocated memory 5.01 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated.\n"
_INNER = "Device 0: AMD Radeon 8060S Graphics, gfx1151\n"
_CARD = "Device 0: AMD Radeon RX 7900 XTX, gfx1100\n"
_USED = "GPU[0]\t\t: VRAM Total Memory (B): 25753026560\nGPU[0]\t\t: VRAM Total Used Memory (B): {}\n"
_PLAIN = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB\n"
_SKIPS = 'level=INFO source=amd_linux.go:226 msg="amdgpu appears to be an iGPU, skipping" gpu=1 total="512.0 MiB"\n'
_SERVES = 'level=INFO source=amd_linux.go:250 msg="amdgpu [0] gfx1030 is supported"\n'
_TWICE = "python3: CommandLine Error: Option 'spirv-expand-step' registered more than once!\n"
_UNHEARD = "clang++: error: invalid target ID 'gfx1200'; format is a processor name followed by an optional colon-delimited list\n"
_SOURCE = (
    "HIP error: hipErrorNoBinaryForGpu (209): no kernel image is available for execution on the device in {}:114\n"
)
_ASKED = '$ docker run -it --gpus all {} bash\ndocker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
_MESA = "ggml_vulkan: Found 1 Vulkan devices:\nggml_vulkan: 0 = llvmpipe (LLVM 17.0.6, 256 bits) (llvmpipe) | uma: 0\n"
_ATOMICS = "[    2.61] amdgpu 0000:05:00.0: amdgpu: PCIE atomic ops is not supported\n"
_SERVED = "[    2.91] kfd kfd: amdgpu: added device 1002:744c\n"
_BUNDLE = ":1:hip_fatbin.cpp :265 : 77 us: [pid:8812  tid:0x7f2c0] Cannot find CO in the bundle {} for ISA: amdgcn-amd-amdhsa--gfx1150\n"
_TRACE = 'openat(AT_FDCWD, "/dev/kfd", O_RDWR|O_CLOEXEC) = -1 ENOENT (No such file or directory)\n'
_WANTED = ":1:hip_memory.cpp :333 : 77 us: Allocation failed : Device memory : required :{} | free :8405385216 | total :12868124672\n"
_QUEUES = "[    7.1] kfd kfd: amdgpu: Error starting queue manager for device 1002:740f\n[    7.2] kfd kfd: amdgpu: device 1002:740f NOT added due to errors\n"

SPEAKS = {
    "refused": ("render-group-missing", _REFUSED + "$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),27(sudo)\n"),
    "ggml": ("render-group-missing", "ggml_cuda_init: failed to initialize ROCm: no ROCm-capable device is detected\n"),
    "mesa": ("render-group-missing", _LSPCI.format("amdgpu") + _MESA),
    "no-radeon": ("no-gpu-present", "$ radeontop\nCan't find Radeon cards\n" + _NONE),
    "kept": ("vm-passthrough-misconfigured", _LSPCI.format("vfio-pci") + _HSA),
    "hang-overridden": ("wrong-hsa-override", _OVERRIDE.format("10.3.0") + _CARD + _HANG),
    "unheard-of": ("binary-arch-missing", _UNHEARD),
    "unheard-of-by-miopen": ("gfx-not-in-torch-wheel", "MIOpen Error: /src/hipoc_program.cpp:304: Code object build failed. Source: naive_conv.cpp\nerror: unknown target CPU 'gfx1201'\n"),
    "own-source": ("binary-arch-missing", _SOURCE.format("/src/raytrace/kernels.hip")),
    "twice": ("rocm-abi-mismatch", _CARD + _TWICE),
    "nvidias-option": ("container-without-gpu", _ASKED.format("rocm/pytorch:latest")),
    "full": ("gpu-memory-held-by-others", _USED.format("25109463040") + _PLAIN),
    "shared": ("apu-vram-carveout-vs-gtt", _INNER + _FULL.format("96.00 GiB")),
    "little": ("igpu-vram-counted-without-gtt", _SKIPS),
    "queues": ("gpu-hardware-init-failure", _QUEUES),
    "atomics": ("pcie-atomics-missing", _ATOMICS + _SERVED),
    "card-is-held": ("gpu-memory-held-by-others", _CARD + _FULL.format("23.98 GiB")),
    "ggml-inside": ("container-without-gpu", "root@0a1b2c3d4e5f:/app# ./llama-cli\nggml_cuda_init: failed to initialize ROCm: no ROCm-capable device is detected\n"),
    "bundle": ("binary-arch-missing", _BUNDLE.format("/srv/app/build/bin/libggml-hip.so")),
    "trace": ("amdgpu-not-loaded", "ada@box:~$ strace -f ./saxpy 2>&1 | grep kfd\n" + _TRACE),
    "trace-inside": ("container-without-gpu", "root@0a1b2c3d4e5f:/app# strace -f ./saxpy 2>&1 | grep kfd\n" + _TRACE),
    "whole-card": ("oom-model-too-large", _WANTED.format("17179869184")),
    "too-little": ("oom-model-too-large", _WANTED.format("10179869184")),
}  # fmt: skip

SILENT = {
    "refused-to-a-member": ("amdgpu-not-loaded", _REFUSED + "$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),110(render)\n"),
    "ggml-in-windows": ("render-group-missing", "OS: Microsoft Windows 11 Pro\nggml_cuda_init: failed to initialize ROCm: no ROCm-capable device is detected\n"),
    "mesa-alone": ("render-group-missing", _MESA),
    "radeon": ("no-gpu-present", _LSPCI.format("amdgpu") + "Can't find Radeon cards\n" + _NONE),
    "kept-beside-another": ("vm-passthrough-misconfigured", _LSPCI.format("vfio-pci") + _LSPCI.format("amdgpu").replace("03:", "06:") + _HSA),
    "hang-under-its-own": ("wrong-hsa-override", _OVERRIDE.format("11.0.0") + _CARD + _HANG),
    "torchs-source": ("binary-arch-missing", _SOURCE.format("/pytorch/aten/src/ATen/native/hip/Copy.hip")),
    "twice-without-amd": ("rocm-abi-mismatch", _TWICE),
    "nvidias-option-for-nvidias-image": ("container-without-gpu", _ASKED.format("nvidia/cuda:12.4.1-base-ubuntu22.04")),
    "toolkit-for-rocms-image": ("container-toolkit-missing", _ASKED.format("rocm/pytorch:latest")),
    "not-full": ("gpu-memory-held-by-others", _USED.format("251094630") + _PLAIN),
    "shared-and-not-held": ("gpu-memory-held-by-others", _INNER + _FULL.format("96.00 GiB")),
    "little-beside-a-card": ("igpu-vram-counted-without-gtt", _SERVES + _SKIPS),
    "queues-of-a-chip-that-is-served": ("kfd-gpu-not-supported", _QUEUES),
    "atomics-not-missed": ("pcie-atomics-missing", _ATOMICS + _SERVED + ">>> torch.ones(3).cuda().sum()\ntensor(3., device='cuda:0')\n"),
    "bundle-of-torchs": ("binary-arch-missing", _BUNDLE.format("/opt/py/lib/python3.12/site-packages/torch/lib/libtorch_hip.so")),
    "trace-of-a-container": ("amdgpu-not-loaded", "root@0a1b2c3d4e5f:/app# strace -f ./saxpy 2>&1 | grep kfd\n" + _TRACE),
    "trace-of-a-wsl": ("amdgpu-not-loaded", "5.15.153.1-microsoft-standard-WSL2\n" + _TRACE),
    "enough": ("oom-model-too-large", _WANTED.format("4096")),
}  # fmt: skip
