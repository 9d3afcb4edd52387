"""The kit of a GPU's maker that a build wants: what of it is there, and where it comes from."""

from rigup.diagnosis.rule import Params, one, seen
from rigup.knowledge.amd_ways import last_rocm_for, newest_rocm
from rigup.knowledge.build_sdks import sdk_packages, sdk_page
from rigup.knowledge.cuda import cuda_of_driver
from rigup.knowledge.cuda_toolkits import nearest_toolkit
from rigup.knowledge.rocm_install import installation
from rigup.machine.kinds import Distribution, Driver, Gpu, Platform, Symptom, Toolkit


def toolkit_that_cmake_does_not_see(
    _said: Symptom = seen("cmake-finds-no-nvcc"),
    listed: Symptom | None = seen("nvcc-is-listed"),
    toolkit: Toolkit | None = one(name="cuda"),
) -> Params:
    """One that is there is named to the build, and not installed again."""
    path = listed.path if listed is not None else toolkit.get("path") if toolkit is not None else None
    there = {"compiler": f"{path}/bin/nvcc", "nvcc": None, "nvcc_of_conda": None} if path else {}
    return {"backend": "CUDA"} | there


def toolkit_for_driver_and_chip(
    knew: Params,
    driver: Driver = one(vendor="nvidia"),
    distribution: Distribution | None = None,
    gpu: Gpu | None = one(vendor="nvidia"),
    conda: Symptom | None = seen(tag="conda-shown"),
    _said: Symptom = seen("cmake-finds-no-nvcc"),
) -> Params:
    """The newest of NVIDIA's repository that the driver carries, else the oldest of the same major there."""
    if knew.get("compiler") or conda is not None or distribution is None or not driver.get("version"):
        return {}
    carried = str(driver.get("cuda") or cuda_of_driver(str(driver.version)) or "")
    isa = str(gpu.isa) if gpu is not None and gpu.get("isa") else ""
    found = nearest_toolkit(carried, isa, str(distribution.get("id")), str(distribution.get("version") or ""))
    return {"toolkit": found, "to_be": f"/usr/local/cuda-{found}/bin/nvcc", "nvcc": None} if found else {}


def kit_of_vulkan(
    _said: Symptom = seen("cmake-finds-no-vulkan"),
    distribution: Distribution | None = None,
    platform: Platform | None = one(system="windows"),
) -> Params:
    """Headers, loader and the compiler of shaders: as the distribution packs them, else LunarG's kit."""
    return _kit("Vulkan", distribution, platform)


def kit_of_rocm(
    _said: Symptom = seen("cmake-finds-no-hip"),
    distribution: Distribution | None = None,
    platform: Platform | None = one(system="windows"),
    gpu: Gpu | None = one(vendor="amd"),
) -> Params:
    """AMD's release for the system, or the distribution's packages; Vulkan needs none of it."""
    kit = _kit("HIP", distribution, platform) | {"vulkan": "-DGGML_VULKAN=ON"}
    if distribution is None or kit.get("sdk"):
        return kit
    wanted = (last_rocm_for(str(gpu.isa)) if gpu is not None and gpu.get("isa") else "") or newest_rocm()
    known = installation(wanted, "rocm", str(distribution.get("id")), str(distribution.get("version") or ""))
    return kit | ({"rocm": known.version, "page": None, "kit": None} if known is not None else {})


def _kit(name: str, distribution: Distribution | None, platform: Platform | None) -> Params:
    page = sdk_page(name)
    plain: Params = {"backend": name, "packages": None, "of_conda": None, "nvcc": None}
    if platform is not None and page is not None:
        address = None if page.winget else page.address_of_windows or page.address
        return plain | {"winget": page.winget or None, "kit": name if address else None, "page": address, "windows": None}
    packages: tuple[str, ...] = ()
    if distribution is not None and distribution.get("id"):
        packages = sdk_packages(name, str(distribution.id), str(distribution.get("version") or ""))
    if packages or page is None:
        return plain | {"sdk": ", ".join(packages) or None}
    return plain | {"kit": name, "page": page.address}
