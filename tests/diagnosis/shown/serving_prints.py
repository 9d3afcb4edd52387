"""Servers of models, Macs and Intel's GPUs as their programs speak: each rule where it speaks, and beside it where it has to be silent."""

_FOREIGN = (
    'level=WARN msg="potentially incompatible library detected in PATH" location="C:\\\\Tools\\\\ggml-base.dll"\n'
)
_DIED = "Error: llama runner process has terminated: exit status {}\n"
_SERVES = 'level=INFO source=types.go:50 msg="inference compute" id=GPU-1 library=CUDA compute=8.6 name=CUDA0\n'
_OFFLOADED = "load_tensors: offloaded {}/33 layers to GPU\n"
_ROWS = "|   0  NVIDIA GeForce RTX 3090        Off |   00000000:01:00.0 Off |                  N/A |\n|  0%   44C    P2             60W /  350W |   {}MiB /  24576MiB |      0%      Default |\n"
_RUN = "$ docker run --rm {} -p 8000:8000 {}\n"
_SHARDED = 'Error: NotEnoughCUDADevices("`sharded` is true but only found {} CUDA devices")\n'
_GROUP = "\"Poll failed for model directory 'm': instance group m_0 of model m has kind KIND_GPU but {}\"\n"
_UNKNOWN = "ggml_cuda_init: failed to initialize CUDA: {}\n"
_FLASH = "WARN text_generation_launcher: Could not import Flash Attention enabled models: GPU with CUDA capability 7 0 is not supported\n"
_BARE = "RuntimeError: GPU with CUDA capability 7 0 is not supported\n"
_NVML = "INFO [__init__.py:36] Exception happens when checking CUDA platform: NVML Shared Library Not Found\n"
_PLATFORM = "INFO [__init__.py:239] Automatically detected platform {}.\n"
_XPU_WEIGHTS = "RuntimeError: Attempting to deserialize object on a xpu device but torch.xpu.is_available() is False.\n"
_TORCH = ">>> torch.__version__\n'{}'\n"
_METAL = "libc++abi: terminating due to uncaught exception of type std::runtime_error: [metal::load_device] No Metal device available.\n"
_LINUX = "$ uname -s\nLinux\n"
_NO_XPU = "RuntimeError: No XPU devices are available.\n"
_FILTERED = "INFO: Output filtered by ONEAPI_DEVICE_SELECTOR environment variable, which is set to level_zero:{}.\n"
_MASK = "$ ZE_AFFINITY_MASK={} python train.py\n"
_OPENVINO = "RuntimeError: Failed to create plugin libclDNNPlugin.so for device GPU\n[CLDNN ERROR]. clGetPlatformIDs error -1001\n"
_ROCM = "ROCm error: {}\n  current device: 0, in function ggml_cuda_compute_forward at ggml-cuda.cu:2407\n"
_AMD = "  Device 0: AMD Radeon RX 9060 XT, gfx1200 (0x1200), VMM: no, Wave Size: 32\n"
_EMPTY = "  what():  DeviceList is empty. -30 (PI_ERROR_INVALID_VALUE)\n"
_SYCL = "| 0| [level_zero:gpu:0]|                Intel Arc A770 Graphics|   12.55|    512|    1024|   32| 16225M|\n| 1| [level_zero:gpu:1]|                 Intel UHD Graphics 770|   12.2|     32|     512|   32| 61743M|\n"
_PLACED = "llama_kv_cache_init:      SYCL{} KV buffer size =   512.00 MiB\nNative API returns: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)\n"
_MLX = "$ sw_vers -productVersion\n{}\n$ pip install mlx\nERROR: Could not find a version that satisfies the requirement mlx (from versions: none)\nERROR: No matching distribution found for mlx\n"
_ONWARDS = "RuntimeError: Tiling of batch matmul for larger than 2**32 entries only available from MacOS15 onwards\n"
_CLOSED = (
    "$ id -nG\nada sudo\n$ ls -l /dev/dri/renderD128\ncrw-rw---- 1 root {} 226, 128 Mar  1 10:00 /dev/dri/renderD128\n"
)

SPEAKS = {
    "foreign": ("library-clash-ld-library-path", _FOREIGN + _DIED.format("0xc0000139")),
    "taken": ("gpu-memory-held-by-others", _OFFLOADED.format(0) + _ROWS.format("23390")),
    "shards": ("container-without-gpu", _RUN.format("", "ghcr.io/huggingface/text-generation-inference:3.3") + _SHARDED.format(0)),
    "groups": ("container-without-gpu", _RUN.format("", "nvcr.io/nvidia/tritonserver:24.05-py3") + _GROUP.format("no GPUs are available")),
    "unknown-error": ("uvm-broken-after-suspend", _UNKNOWN.format("unknown error")),
    "flash-alone": ("binary-arch-missing", _BARE),
    "nvml-missing": ("nvidia-driver-missing", _NVML),
    "weights": ("cpu-only-torch", _TORCH.format("2.6.0+cpu") + _XPU_WEIGHTS),
    "no-metal": ("mps-blocked-by-sandbox", _METAL),
    "selector": ("cuda-visible-devices-wrong", _FILTERED.format(2) + _NO_XPU),
    "mask": ("cuda-visible-devices-wrong", _MASK.format(3) + _NO_XPU),
    "openvino": ("container-without-gpu", _RUN.format("", "openvino/ubuntu22_runtime") + _OPENVINO),
    "rocm-engine": ("binary-arch-missing", _AMD + _ROCM.format("no kernel image is available for execution on the device")),
    "sycl-inside": ("igpu-visible-beside-dgpu", _SYCL + _PLACED.format(1)),
    "onwards": ("mps-macos-too-old", _ONWARDS),
    "mlx-of-old": ("mps-macos-too-old", _MLX.format("12.7.4")),
    "empty-list": ("render-group-missing", _EMPTY + _CLOSED.format("render")),
}  # fmt: skip

SILENT = {
    "foreign-and-serves": ("library-clash-ld-library-path", _FOREIGN + _SERVES),
    "died-alone": ("library-clash-ld-library-path", _DIED.format("0xc0000139")),
    "some-offloaded": ("gpu-memory-held-by-others", _OFFLOADED.format(10) + _ROWS.format("23390")),
    "free-card": ("gpu-memory-held-by-others", _OFFLOADED.format(0) + _ROWS.format("390")),
    "shards-with-gpus": ("container-without-gpu", _RUN.format("--gpus all", "ghcr.io/huggingface/text-generation-inference:3.3") + _SHARDED.format(0)),
    "one-shard": ("container-without-gpu", _RUN.format("", "ghcr.io/huggingface/text-generation-inference:3.3") + _SHARDED.format(1)),
    "groups-name-none": ("container-without-gpu", _RUN.format("", "nvcr.io/nvidia/tritonserver:24.05-py3") + _GROUP.format("specifies no GPUs")),
    "other-error": ("uvm-broken-after-suspend", _UNKNOWN.format("no CUDA-capable device is detected")),
    "flash-fallback": ("binary-arch-missing", _FLASH),
    "nvml-of-rocm": ("nvidia-driver-missing", _NVML + _PLATFORM.format("rocm")),
    "weights-and-xpu": ("cpu-only-torch", _TORCH.format("2.6.0+xpu") + _XPU_WEIGHTS),
    "no-metal-on-linux": ("mps-blocked-by-sandbox", _LINUX + _METAL),
    "first-selected": ("cuda-visible-devices-wrong", _FILTERED.format(0) + _NO_XPU),
    "first-masked": ("cuda-visible-devices-wrong", _MASK.format(0) + _NO_XPU),
    "mask-that-works": ("cuda-visible-devices-wrong", _MASK.format(1) + "XPU device count: 1\n"),
    "openvino-with-node": ("container-without-gpu", _RUN.format("--device /dev/dri", "openvino/ubuntu22_runtime") + _OPENVINO),
    "rocm-memory": ("binary-arch-missing", _AMD + _ROCM.format("out of memory")),
    "sycl-card": ("igpu-visible-beside-dgpu", _SYCL + _PLACED.format(0)),
    "onwards-and-newer": ("mps-macos-too-old", _ONWARDS + "$ sw_vers -productVersion\n15.4\n"),
    "mlx-of-today": ("mps-macos-too-old", _MLX.format("15.1")),
    "list-and-open": ("render-group-missing", _EMPTY + _CLOSED.format("sudo")),
}  # fmt: skip
