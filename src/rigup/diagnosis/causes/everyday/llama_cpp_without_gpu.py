"""This build of llama.cpp has no code for GPUs and runs on the CPU."""

from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.knowledge.build_sdks import sdk_packages
from rigup.knowledge.checks import code_that_asks
from rigup.knowledge.cuda import cuda_of_driver
from rigup.knowledge.program_builds import llama_wheels
from rigup.machine.kinds import Distribution, Driver, Gpu, Platform, Symptom, Toolkit, Torch

_BACKENDS = {"nvidia": "CUDA", "amd": "HIP", "intel": "VULKAN", "apple": "METAL"}  # as the build's options of llama.cpp name them


@mends("llama-cpp-without-gpu")
def options_of_its_build(
    gpu: Gpu | None = None,
    mac: Symptom | None = seen(tag="macs"),
    platform: Platform | None = None,
    python: Symptom | None = seen("llama-cpp-supports-no-offload", "llama-cpp-for-python-named"),
    driver: Driver | None = one(vendor="nvidia"),
    named: Symptom | None = seen("nvidia-tx-named", "nvidia-geforce-named"),
    vulkan: Symptom | None = seen(tag="vulkan-at-work"),
    kit: Toolkit | None = None,
) -> Params:
    """The package of Python's is compiled where it is installed, by an option in a variable; the program is built by hand."""
    on_mac = mac is not None or (platform is not None and platform.get("system") == "macos")
    nvidia = "nvidia" if driver is not None or named is not None else ""
    vendor = "apple" if on_mac else str(gpu.get("vendor")) if gpu is not None else nvidia
    backend = "VULKAN" if vulkan is not None and kit is None and not on_mac else _BACKENDS.get(vendor)
    if backend is None:
        return {}
    option = f"-DGGML_{backend}=ON"
    if python is None:
        return {
            "program": "llama.cpp",
            **({"nvcc": "nvcc", "cuda_build": option} if backend == "CUDA" and kit is None else {"build": option}),
        }
    system = str(platform.get("system", "linux")) if platform is not None else "linux"
    asks = code_that_asks("llama_cpp")
    return {"package": "llama-cpp-python", "option": option, "vendor": vendor, "system": system, "asks": asks}


@mends("llama-cpp-without-gpu")
def kit_that_vulkan_is_compiled_with(knew: Params, distribution: Distribution = one()) -> Params:
    """Headers, loader and the compiler of shaders, as the distribution packs them."""
    option = str(knew.get("build") or "")
    packages = sdk_packages("Vulkan", str(distribution.get("id")), str(distribution.get("version") or "")) if "VULKAN" in option else ()
    return {"sdk": ",".join(packages), "build_with_sdk": option, "build": None} if packages else {}


@mends("llama-cpp-without-gpu")
def wheel_that_needs_no_compiler(knew: Params, driver: Driver | None = one(vendor="nvidia"), torch: Torch | None = None) -> Params:
    """A build from its sources wants nvcc, which beside a torch of pip's is seldom there; the project offers wheels for a CUDA that the driver carries."""
    if knew.get("vendor") != "nvidia":
        return {}
    carried = cuda_of_driver(str(driver.get("version") or "")) if driver is not None else None
    index = llama_wheels(str(knew.get("system")), str(carried or (torch.get("cuda") if torch is not None else "") or ""))
    return {
        "index": index or None,
        "nvcc": "nvcc",
        "package_by_wheel": knew.get("package"),
        "package": None,
        "package_of_nvcc": knew.get("package"),
    }
