"""What frameworks and programs print of their own build and of what they find: each rule where it speaks, and beside it where it has to be silent."""

_JAX = (
    "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.\n"
)
_CARD = "GPU 0: NVIDIA GeForce {} (UUID: GPU-0c1e2f00)\n"
_SHOWN = _CARD.format("RTX 3060")
_PADDLE = "ValueError: The device should not be 'gpu', since PaddlePaddle is not compiled with CUDA\n"
_LIGHTGBM = "lightgbm.basic.LightGBMError: CUDA Tree Learner was not enabled in this build.\n"
_PROVIDERS = ">>> onnxruntime.get_available_providers()\n['AzureExecutionProvider', 'CPUExecutionProvider']\n"
_PLAIN, _GPU = "onnxruntime        1.19.2\n", "onnxruntime-gpu    1.19.2\n"
_PRODUCT = "RuntimeError: cuBLAS failed with status CUBLAS_STATUS_NOT_SUPPORTED\n"
_NVVM = "libNVVM Error: -arch=compute_{} is an unsupported option\n"
_SYSTEMS = "Warning: CUDA runtime library `libcublas.so.12` was loaded from a system path, `/opt/cuda/lib64/libcublas.so.12`.\n"
_CUDNN = "[TRT] [W] TensorRT was linked against cuDNN 8.6.0 but loaded cuDNN {}\n"
_JOB = "#!/bin/bash\n#SBATCH --ntasks-per-node=8\n#SBATCH --gres=gpu:4\nsrun dp train input.json\n"
_TASKS = "RuntimeError: Count of local processes is larger than that of available GPUs!\n"
_TAKEN = "CUDA backend failed to initialize: INTERNAL: no supported devices found for platform CUDA. This may be due to JAX pre-allocating too much device memory, leaving too little for CUDA library initialization.\n"
_TABLE = "|   0  NVIDIA A100-SXM4-40GB          On  |   00000000:07:00.0 Off |                    0 |\n| N/A   34C    P0              61W / 400W |   {:>5}MiB /  40960MiB |      0%      Default |\n"
_FREE = "Warning: less than 75% GPU memory available for training. Free: {} Total: 15109.75\n"
SPEAKS = {
    "paddle-before-the-card": ("gpu-arch-newer-than-wheel", "W0211 gpu_resources.cc:106] The GPU compute capability in your current machine is 120, which is not supported by Paddle, it is recommended to install the corresponding wheel package\n"),
    "paddle-after-the-card": ("gpu-arch-older-than-wheel", "W0211 gpu_resources.cc:106] The GPU compute capability in your current machine is 52, which is not supported by Paddle, it is recommended to install the corresponding wheel package\n"),

    "jax": ("cpu-only-torch", _JAX),
    "paddle": ("cpu-only-torch", _PADDLE + _SHOWN),
    "onnxruntime": ("cpu-only-torch", _PROVIDERS + _SHOWN),
    "both-of-onnxruntime": ("pip-cuda-mix", _PROVIDERS + "$ pip list | grep onnx\n" + _PLAIN + _GPU),
    "lightgbm": ("binary-arch-missing", _LIGHTGBM + _SHOWN),
    "product": ("binary-arch-missing", _PRODUCT + _CARD.format("RTX 5080")),
    "nvvm-old": ("gpu-arch-newer-than-wheel", _NVVM.format(120)),
    "nvvm-new": ("gpu-arch-older-than-wheel", _NVVM.format(61)),
    "julia": ("library-clash-ld-library-path", _SYSTEMS + "ERROR: CUBLASError: an internal operation failed\n"),
    "older-cudnn": ("cudnn-version-incompatible", _CUDNN.format("8.4.1")),
    "tasks": ("slurm-ntasks-mismatch", _JOB + _TASKS),
    "full": ("gpu-memory-held-by-others", _TAKEN + _TABLE.format(39900)),
    "little-free": ("gpu-memory-held-by-others", _FREE.format("1213.375")),
    "no-library-beside-a-card": (
        "nvidia-driver-missing",
        "ERROR: CUDA driver not found\n01:00.0 VGA compatible controller: NVIDIA Corporation GA106 [GeForce RTX 3060] (rev a1)\n",
    ),
}  # fmt: skip

SILENT = {
    "paddle-and-its-card": ("gpu-arch-newer-than-wheel", "W0211 gpu_resources.cc:119] Please NOTE: device: 0, GPU Compute Capability: 12.0, Driver API Version: 13.0, Runtime API Version: 12.9\n"),

    "jax-by-the-way": ("cpu-only-torch", _JAX + ">>> torch.cuda.is_available()\nTrue\n"),
    "jax-with-its-plugin": ("cpu-only-torch", "$ pip list\njax-cuda12-plugin  0.6.0\njaxlib             0.6.0\n" + _JAX),
    "jax-that-failed": ("cpu-only-torch", "RuntimeError: Unable to use CUDA because of the following issues with CUDA components:\n" + _JAX),
    "jax-in-a-container": ("cpu-only-torch", "root@b1946ac92492:/opt/app# python run.py\n" + _JAX),
    "onnxruntime-that-misses-a-library": ("cpu-only-torch", _PROVIDERS + "$ pip list\nonnx               1.16.0\n" + _GPU + _SHOWN),
    "paddle-without-a-card": ("cpu-only-torch", _PADDLE),
    "onnxruntime-without-a-card": ("cpu-only-torch", _PROVIDERS),
    "onnxruntime-of-a-module": ("cpu-only-torch", _PROVIDERS + "Linux nano 5.15.148-tegra #1 SMP aarch64\n" + _SHOWN),
    "one-of-onnxruntime": ("pip-cuda-mix", _PROVIDERS + "$ pip list | grep onnx\n" + _PLAIN),
    "lightgbm-without-a-card": ("binary-arch-missing", _LIGHTGBM),
    "product-on-an-older-card": ("binary-arch-missing", _PRODUCT + _CARD.format("RTX 3060")),
    "nvvm-old": ("gpu-arch-older-than-wheel", _NVVM.format(120)),
    "nvvm-new": ("gpu-arch-newer-than-wheel", _NVVM.format(61)),
    "julia-that-works": ("library-clash-ld-library-path", _SYSTEMS + "julia> sum(x)\n3.0\n"),
    "newer-cudnn": ("cudnn-version-incompatible", _CUDNN.format("8.9.2")),
    "tasks-of-no-job": ("slurm-ntasks-mismatch", _TASKS),
    "empty": ("gpu-memory-held-by-others", _TAKEN + _TABLE.format(412)),
    "much-free": ("gpu-memory-held-by-others", _FREE.format("9213.375")),
    "no-library-and-no-card": ("nvidia-driver-missing", "ERROR: CUDA driver not found\n$ uname -r\n5.15.153.1-microsoft-standard-WSL2\n"),
}  # fmt: skip
