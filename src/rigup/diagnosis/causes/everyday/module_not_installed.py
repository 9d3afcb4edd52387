"""A package is not installed in the Python that ran."""

from rigup.diagnosis.causes.framework.torch_builds import a_build_that_serves_the_card
from rigup.diagnosis.rule import Params, mends, one
from rigup.knowledge.program_builds import program_of
from rigup.machine.kinds import Driver, Gpu, Platform, PythonEnv

_OF_TORCH = ("torch", "torchvision", "torchaudio")
_PACKAGES = {
    "cv2": "opencv-python",
    "PIL": "pillow",
    "sklearn": "scikit-learn",
    "flash_attn": "",
    "yaml": "pyyaml",
    "llama_cpp": "llama-cpp-python",
}


@mends("module-not-installed")
def torch_for_the_card(
    knew: Params,
    gpu: Gpu = one(vendor="nvidia"),
    driver: Driver = one(vendor="nvidia"),
    python: PythonEnv | None = None,
    platform: Platform | None = None,
) -> Params:
    """Where card and driver are known, so is the build."""
    name = str(knew.get("module") or "").partition(".")[0]
    served = gpu.get("isa") and driver.get("version") and name in _OF_TORCH
    return a_build_that_serves_the_card({**knew, "wish": "torch"}, gpu, driver, python, platform) if served else {}


@mends("module-not-installed")
def package_of_the_module(knew: Params) -> Params:
    """torch is chosen by the machine; other packages bear the module's name, or one that the table of wishes knows."""
    name = str(knew.get("module") or "").partition(".")[0]
    program = program_of(name)
    wish = program.wish if program is not None else "torch" if name in _OF_TORCH else None
    if knew.get("release"):
        return {"wish": None, "package": None}
    package = None if wish else _PACKAGES.get(name, name) or None
    return {"wish": wish, "package": None, "upgrade": package} if knew.get("newest") else {"wish": wish, "package": package}
