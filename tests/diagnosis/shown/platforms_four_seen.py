"""Macs in guests, firmware of another release, empty steps of jobs, detectors on modules: each rule where it speaks, and beside it where it has to be silent."""

_SELECTOR = "*** Terminating app due to uncaught exception 'NSInvalidArgumentException', reason: '-[{} {}]: unrecognized selector sent to instance 0x1200'\n"
_EMPTY = "reason: '*** -[__NSArray0 objectAtIndex:]: index 0 beyond bounds for empty array'\n0   CoreFoundation   0x18a6 __exceptionPreprocess + 176\n{}\n"
_MLX = "3   libmlx.dylib   0x10a2 mlx::core::metal::{} + 96"
_GSP = "[    9.31] NVRM: {}_kgspFwContainerVerifyVersion: GSP firmware {} version mismatch:{}got version {}, expected version {}\n"
_HEAD = "Ultralytics {} Python-3.10.12 torch-{} {}\n"
_ARM = "CPU (ARMv8 Processor rev 1 (v8l))"
_CHECKS = (
    "Setup complete (6 CPUs, 7.4 GB RAM)\n\nOS                  Linux-5.15.148-{}\nEnvironment         Linux\nPython              3.10.12\n"
    "RAM                 7.44 GB\nCPU                 Cortex-A78AE\nCUDA                {}\n"
)
_SIX = "subprocess.CalledProcessError: Command '['nvidia-smi', '-L']' returned non-zero exit status {}.\n"
_STEP = "srun: error: cn042: task {}: Exited with exit code 1\n"
_REPORT = "PyTorch version: {}\nIs debug build: False\nCUDA used to build PyTorch: {}\n\nOS: {}\n\nPython version: 3.8\nIs CUDA available: {}\nCUDA runtime version: {}\n"
_DRIVER = "Nvidia driver version: {}\n"
_LINUX = "CentOS Linux 7 (Core)"
_NMS = "RuntimeError: operator torchvision::nms does not exist\n"
_PAIR = "[pip3] torch=={}\n[pip3] torchvision=={}\n"
_HUB = "net = torch.hub.load('pytorch/vision', 'vgg11')\n"

SPEAKS = {
    "operators-missing": ("torch-torchvision-mismatch", _NMS),
    "operators-missing-and-sources-beside-another-pair": (
        "torch-torchvision-mismatch",
        _HUB + _NMS + _PAIR.format("2.5.1", "0.18.1"),
    ),
    "guests-device-lacks-a-selector": (
        "vm-without-gpu-passthrough",
        _SELECTOR.format("AppleParavirtComputeCommandEncoder", "dispatchThreads:threadsPerThreadgroup:"),
    ),
    "guests-buffer-lacks-a-selector": (
        "vm-without-gpu-passthrough",
        _SELECTOR.format("AppleParavirtBuffer", "setOwnerWithIdentity:"),
    ),
    "engine-fails-on-a-guests-device": (
        "vm-without-gpu-passthrough",
        "ggml_metal_init: GPU name:   Apple Paravirtual device\nggml_metal_init: error: failed to create command queue\n",
    ),
    "engine-cannot-allocate-on-a-guests-device": (
        "vm-without-gpu-passthrough",
        "ggml_metal_init: found device: Apple Paravirtual device\nggml_metal_add_buffer: error: failed to allocate 'data' buffer\n",
    ),
    "mlx-has-no-device": ("mps-blocked-by-sandbox", _EMPTY.format(_MLX.format("Device::Device()"))),
    "mlx-has-no-device-and-names-are-mangled": (
        "mps-blocked-by-sandbox",
        _EMPTY.format("5   libmlx.dylib   0x10a2 _ZN3mlx4core5metal6DeviceC2Ev + 96"),
    ),
    "firmware-is-newer": ("nvml-driver-library-mismatch", _GSP.format("", "image", " ", "570.133.07", "570.124.06")),
    "firmware-is-older-and-the-line-is-broken": (
        "nvml-driver-library-mismatch",
        _GSP.format("GPU1 ", "image", "\n", "550.54.14", "550.90.07"),
    ),
    "step-without-a-card": ("slurm-no-gpu-requested", _SIX.format(6) + _STEP.format(0)),
    "cluster-is-named": (
        "slurm-no-gpu-requested",
        "I run this on our SLURM cluster.\nCommand 'nvidia-smi' returned non-zero exit status 6\n",
    ),
    "checks-on-a-module": (
        "jetson-generic-wheel",
        _HEAD.format("8.3.40", "2.5.1", "CPU (Cortex-A78AE)") + _CHECKS.format("tegra-aarch64-with-glibc2.35", "None"),
    ),
    "checks-on-a-module-without-its-head": (
        "jetson-generic-wheel",
        _HEAD.format("YOLOv8.1.0", "2.1.2", _ARM) + _CHECKS.format("tegra-aarch64-with-glibc2.31", "None"),
    ),
    "head-line-and-a-module-named": (
        "jetson-generic-wheel",
        "Jetson Orin Nano, fresh image\n" + _HEAD.format("8.3.40", "2.5.1", "CPU (Cortex-A78AE)"),
    ),
    "head-line-and-an-older-module-named": (
        "jetson-generic-wheel",
        "My board is a Jetson Xavier NX.\n" + _HEAD.format("YOLOv8.0.200", "2.1.0", _ARM),
    ),
    "toolkit-of-older-drivers": (
        "driver-too-old-for-wheel",
        _REPORT.format("1.7.1", "10.2", _LINUX, "False", "9.2.148"),
    ),
    "toolkit-of-an-older-major-release": (
        "driver-too-old-for-wheel",
        _REPORT.format("2.1.0+cu121", "12.1", _LINUX, "False", "11.4.100"),
    ),
}

SILENT = {
    "sources-of-torch-hub-beside-a-pair": ("torch-torchvision-mismatch", _HUB + _NMS + _PAIR.format("2.5.1", "0.20.1")),
    "checkout-of-torch-hub-in-the-trace": (
        "torch-torchvision-mismatch",
        '  File "/root/.cache/torch/hub/pytorch_vision_main/torchvision/__init__.py", line 6\n'
        + _NMS
        + _PAIR.format("2.3.0", "0.18.0"),
    ),
    "macs-own-device-lacks-a-selector": (
        "vm-without-gpu-passthrough",
        _SELECTOR.format("AGXG14XFamilyBuffer", "setOwnerWithIdentity:"),
    ),
    "guest-that-works": (
        "vm-without-gpu-passthrough",
        "ggml_metal_init: GPU name:   Apple Paravirtual device\nggml_metal_init: loaded kernel_add\n",
    ),
    "engine-fails-on-a-mac": (
        "vm-without-gpu-passthrough",
        "ggml_metal_init: GPU name:   Apple M2\nggml_metal_init: error: failed to create command queue\n",
    ),
    "empty-list-of-another-program": (
        "mps-blocked-by-sandbox",
        _EMPTY.format("3   Preview   0x10a2 -[PVDocument pageAtIndex:] + 96"),
    ),
    "empty-list-later-in-mlx": (
        "mps-blocked-by-sandbox",
        _EMPTY.format("3   libmlx.dylib   0x10a2 mlx::core::io::load_files() + 96"),
    ),
    "firmware-of-unknown-release": (
        "nvml-driver-library-mismatch",
        "NVRM: GPU0 _kgspFwContainerVerifyVersion: GSP firmware image version unknown\n",
    ),
    "library-of-another-release": (
        "nvml-driver-library-mismatch",
        "cuDNN version mismatch: got version 8.9.2, expected version 9.1.0\n",
    ),
    "step-without-a-driver": ("slurm-no-gpu-requested", _SIX.format(9) + _STEP.format(0)),
    "six-without-a-job": ("slurm-no-gpu-requested", _SIX.format(6)),
    "checks-that-see-the-card": (
        "jetson-generic-wheel",
        _HEAD.format("8.3.40", "2.5.0a0+872d972e41.nv24.08", "CUDA:0 (Orin, 7620MiB)")
        + _CHECKS.format("tegra-aarch64-with-glibc2.35", "12.6"),
    ),
    "checks-on-a-small-board": (
        "jetson-generic-wheel",
        _HEAD.format("8.3.40", "2.5.1", "CPU (Cortex-A76)") + _CHECKS.format("rpi-aarch64-with-glibc2.36", "None"),
    ),
    "processor-was-asked-for": (
        "jetson-generic-wheel",
        "On a Jetson Nano: yolo predict model=yolov8n.pt device=cpu\n" + _HEAD.format("8.3.40", "2.5.1", _ARM),
    ),
    "desktop-beside-a-module": (
        "jetson-generic-wheel",
        "I train here, and deploy to a Jetson later.\n" + _HEAD.format("8.3.40", "2.5.1", "CPU (AMD Ryzen 7 5800X)"),
    ),
    "toolkit-of-the-same-major-release": (
        "driver-too-old-for-wheel",
        _REPORT.format("2.1.0+cu121", "12.1", _LINUX, "False", "12.0.140"),
    ),
    "toolkit-older-and-a-driver-that-is-not": (
        "driver-too-old-for-wheel",
        _REPORT.format("1.7.1", "10.2", _LINUX, "False", "9.2.148") + _DRIVER.format("450.80.02"),
    ),
    "toolkit-older-and-torch-sees-the-card": (
        "driver-too-old-for-wheel",
        _REPORT.format("1.7.1", "10.2", _LINUX, "True", "9.2.148"),
    ),
}
