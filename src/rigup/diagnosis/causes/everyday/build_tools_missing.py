"""What is compiled here lacks its tools: no compiler of C++ or CUDA, or not the headers of Python."""

from rigup.diagnosis.causes.everyday.kits_for_builds import (
    kit_of_rocm,
    kit_of_vulkan,
    toolkit_for_driver_and_chip,
    toolkit_that_cmake_does_not_see,
)
from rigup.diagnosis.causes.everyday.nvcc import NVCC
from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.knowledge.conda_forge import channel
from rigup.knowledge.package_managers import package_manager
from rigup.knowledge.system_pythons import headers_of
from rigup.machine.kinds import Distribution, Platform, PythonEnv, Symptom


@mends("build-tools-missing")
def tools_by_the_system(
    header: Symptom | None = seen("python-headers-not-found"),
    cl: Symptom | None = seen("inductor-finds-no-cl"),
    system: Distribution | None = None,
    platform: Platform | None = one(system="windows"),
    conda: Symptom | None = seen(tag="conda-shown"),
    python: PythonEnv | None = None,
    folder: Symptom | None = seen("folder-of-pythons-headers"),
) -> Params:
    """Windows has them from Visual Studio, a distribution under names of its own, conda for its environments."""
    if cl is not None or platform is not None:
        return {"windows": "cl.exe"}
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    if system is not None and manager is not None and manager.compiler:
        minor = folder.get("minor") if folder is not None else python.get("version") if python is not None else None
        own = headers_of(str(system.id), ".".join(str(minor).split(".")[:2])) if minor else ()
        headers = own[0] if own else manager.python_headers
        return {"packages": headers if header is not None else ", ".join(manager.compiler)}
    return {"of_conda": "gxx"} if conda is not None and header is None else {}


@mends("build-tools-missing")
def nvcc_that_cmake_misses(_said: Symptom = seen("cmake-finds-no-nvcc"), conda: Symptom | None = seen(tag="conda-shown")) -> Params:
    """NVIDIA's own packages put it where no path leads; conda has it for its environments."""
    if conda is not None:
        return {"nvcc_of_conda": "cuda-nvcc", "nvidia": channel()}
    return {"nvcc": NVCC.format(version=""), "packages": None}


@mends("build-tools-missing")
def builder_that_torch_misses(_said: Symptom = seen("torch-extension-wants-ninja")) -> Params:
    """A package of PyPI, as the message says."""
    return {"of_pip": "ninja", "packages": None, "of_conda": None}


mends("build-tools-missing")(toolkit_that_cmake_does_not_see)
mends("build-tools-missing")(toolkit_for_driver_and_chip)
mends("build-tools-missing")(kit_of_vulkan)
mends("build-tools-missing")(kit_of_rocm)
