"""NVIDIA's libraries as packages, and which release of CUDA a build wants."""

import re

from rigup.diagnosis.rule import HasForm, Params, one, seen
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
