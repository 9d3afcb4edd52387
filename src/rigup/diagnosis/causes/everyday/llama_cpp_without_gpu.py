"""This build of llama.cpp has no code for GPUs and runs on the CPU."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Gpu, Symptom

_BACKENDS = {"nvidia": "CUDA", "amd": "HIP", "intel": "VULKAN"}  # as the build's options of llama.cpp name them


@mends("llama-cpp-without-gpu")
def options_of_its_build(
    gpu: Gpu, python: Symptom | None = seen("llama-cpp-supports-no-offload", "llama-cpp-for-python-named"),
) -> Params:  # fmt: skip
    """The package of Python's is compiled where it is installed, by an option in a variable; the program is built by hand."""
    backend = _BACKENDS.get(str(gpu.get("vendor")))
    if backend is None:
        return {}
    option = f"-DGGML_{backend}=ON"
    return (
        {"package": "llama-cpp-python", "option": option}
        if python is not None
        else {"program": "llama.cpp", "build": option}
    )
