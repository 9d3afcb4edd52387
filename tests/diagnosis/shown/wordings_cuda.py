"""What other programs say where CUDA says no: the row that says it, and beside it what says something else."""

_CARD = "GPU 0: NVIDIA GeForce {} (UUID: GPU-0c1e2f00)\n"
_FAISS = "AttributeError: module 'faiss' has no attribute 'StandardGpuResources'\n"
_DLIB = ">>> dlib.DLIB_USE_CUDA\n{}\n"
_LLAMA = "warning: llama.cpp was compiled without support for GPU offload. Setting the main GPU has no effect.\n"
_BOX = "$ docker run --rm -it simul:latest ./run.sh\n"
_DEVICE = "called `Result::unwrap()` on an `Err` value: CudaError::NoDevice\n"

SPEAKS = {
    "faiss-of-the-processor": ("binary-arch-missing", _FAISS + _CARD.format("RTX 3090")),
    "dlib-of-the-processor": ("binary-arch-missing", _DLIB.format("False") + _CARD.format("RTX 3090")),
    "llama-of-the-processor": ("binary-arch-missing", _LLAMA + _CARD.format("RTX 3090")),
    "in-rust": ("container-without-gpu", _CARD.format("RTX 3090") + _BOX + _DEVICE),
    "too-old-by-its-number": ("driver-too-old-for-wheel", "main.cu:12: cudaGetDeviceCount failed with error 35\n"),
    "two-versions": (
        "driver-too-old-for-wheel",
        "RuntimeError: NVIDIA driver version 472.12.0 is below 580.x minimum for cu130\n",
    ),
    "not-loaded-by-its-number": ("nvml-driver-library-mismatch", "nvmlInit_v2 returned 18\n"),
    "small-modprobe": (
        "secure-boot-module-unsigned",
        "modprobe: can't load module nvidia (kernel/drivers/video/nvidia.ko): Key was rejected by service\n",
    ),
}
SILENT = {
    "faiss-without-a-card": ("binary-arch-missing", _FAISS),
    "dlib-with-cuda": ("binary-arch-missing", _DLIB.format("True") + _CARD.format("RTX 3090")),
    "named-in-a-list-of-codes": (
        "driver-too-old-for-wheel",
        "enum cudaError {\n    cudaErrorNoDevice = 100,\n    cudaErrorInsufficientDriver = 35,\n};\n",
    ),
    "new-enough": (
        "driver-too-old-for-wheel",
        "Minimum driver version is 450.80; installed 535.183. All checks passed.\n",
    ),
    "another-module": (
        "secure-boot-module-unsigned",
        "modprobe: can't load module wl (kernel/drivers/net/wl.ko): Key was rejected by service\n"
        + _CARD.format("RTX 3090"),
    ),
}
