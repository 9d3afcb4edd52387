"""This build of llama.cpp has no code for GPUs and runs on the CPU."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Gpu, Platform, Symptom

_BACKENDS = {
    "nvidia": "CUDA",
    "amd": "HIP",
    "intel": "VULKAN",
    "apple": "METAL",
}  # as the build's options of llama.cpp name them


@mends("llama-cpp-without-gpu")
def options_of_its_build(
    gpu: Gpu | None = None, mac: Symptom | None = seen(tag="macs"), platform: Platform | None = None, python: Symptom | None = seen("llama-cpp-supports-no-offload", "llama-cpp-for-python-named"),
) -> Params:  # fmt: skip
    """The package of Python's is compiled where it is installed, by an option in a variable; the program is built by hand."""
    on_mac = mac is not None or (platform is not None and platform.get("system") == "macos")
    backend = _BACKENDS.get("apple" if on_mac else str(gpu.get("vendor")) if gpu is not None else "")
    if backend is None:
        return {}
    option = f"-DGGML_{backend}=ON"
    return (
        {"package": "llama-cpp-python", "option": option}
        if python is not None
        else {"program": "llama.cpp", "build": option}
    )
