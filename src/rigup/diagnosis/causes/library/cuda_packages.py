"""NVIDIA's libraries as packages, and which release of CUDA a build wants."""

import re

from rigup.diagnosis.rule import HasForm, Params, one, seen
from rigup.knowledge.cuda_libraries import Asked, CudaRelease, library_of
from rigup.knowledge.cuda_toolkits import conda_toolkit
from rigup.knowledge.framework_cuda import jax_extra
from rigup.machine.kinds import Driver, Symptom, Torch

NAMED = HasForm(r"nvidia-[a-z-]{3,40}-cu\d{2}")
LIBRARY_PATH = "LD_LIBRARY_PATH"


def jax_brings_its_own(_said: Symptom = seen("jax-library-older", "jaxlib-raises"), driver: Driver | None = one(vendor="nvidia")) -> Params:
    """Its extra pins the releases that it was built with."""
    return {"jax": jax_extra(str(driver.get("version") or "") if driver else "")}


def of_a_night(version: str | None) -> bool:
    """Whether that is a build of one night, as `2.8.0.dev20250501+cu128` is."""
    return re.match(r"\d{1,2}\.\d{1,3}\.\d{1,3}\.dev\d{8}", version or "") is not None


def wanted_by_what_was_compiled(symptom: Symptom, nvcc: Symptom, torch: Torch) -> bool:
    """Whether the runtime that is missed is that of the nvcc that is shown, and torch is of another major."""
    is_of_nvcc = str(symptom.lib) == f"libcudart.so.{nvcc.version}"
    return is_of_nvcc and str(nvcc.version).partition(".")[0] != str(torch.cuda).partition(".")[0]


def product_name(lib: str, release: CudaRelease, tested: Asked | None) -> str:
    """As people look for it: "CUDA 11.8", "cuDNN 9 for CUDA 12", "CUDA 10.1 and cuDNN 7.6"."""
    if tested:
        return f"CUDA {tested.cuda} + cuDNN {tested.cudnn}"
    library = library_of(lib)
    if library and library[0].suffix_from:
        return f"{library[0].product} {library[1]} (CUDA {release.major})"
    return f"CUDA {release.last or release.major}"


def conda_of(tested: Asked) -> Params:
    """The same libraries for an environment of conda's."""
    toolkit = conda_toolkit(tested.cuda)
    if toolkit is None:
        return {}
    return {"conda": ",".join((*toolkit.packages, f"cudnn={tested.cudnn}")), "channel": toolkit.channel}
