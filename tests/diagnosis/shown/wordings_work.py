"""Memory that is refused in other programs' words, on a card that is taken: where the rule speaks, and where it has to be silent."""

_ROW = "|   0  NVIDIA L40S                    On  |   00000000:01:00.0 Off |                  Off |\n| 30%   34C    P8             22W /  300W |   {}MiB /  46068MiB |      0%      Default |\n"
_TAKEN, _EMPTY = _ROW.format(44120), _ROW.format(3)
_TENSORRT = (
    "[TRT] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::140] Error Code 2: OutOfMemory (no further information)\n"
)
_HANDLE = "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n"
_OPENCL = "clCreateBuffer failed with error -4\n"
_CALL = "solver: cudaMallocManaged failed: out of memory\n"
SPEAKS = {
    "tensorrt": ("gpu-memory-held-by-others", _TAKEN + _TENSORRT),
    "library-of-cuda": ("gpu-memory-held-by-others", _TAKEN + _HANDLE),
    "opencl": ("gpu-memory-held-by-others", _TAKEN + _OPENCL),
    "call-of-cuda": ("gpu-memory-held-by-others", _TAKEN + _CALL),
    "empty-card": ("oom-model-too-large", _EMPTY + _CALL),
}
SILENT = {
    "empty-card-tensorrt": ("gpu-memory-held-by-others", _EMPTY + _TENSORRT),
    "empty-card-opencl": ("gpu-memory-held-by-others", _EMPTY + _OPENCL),
    "taken-and-nothing-failed": ("gpu-memory-held-by-others", _TAKEN + "Application startup complete.\n"),
    "tactic-skipped": (
        "oom-model-too-large",
        _EMPTY
        + "[W] [TRT] Skipping tactic 3 due to insufficient memory on requested size of 8589934592\n[I] Engine built\n",
    ),
}
