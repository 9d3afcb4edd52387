"""The image wants a newer driver than the host has."""

import re

from rigup.diagnosis.causes.driver.nvml_driver_library_mismatch import release_of_package
from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, seen, text_rule
from rigup.knowledge.branches import branch_carrying
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.machine.kinds import Driver, Symptom, SystemPackage


@text_rule("container-requires-newer-driver", "likely")
def condition_of_the_image_is_not_met(condition: Symptom = seen("image-requires-cuda"), driver: Driver = one(vendor="nvidia")) -> Verdict:
    """The driver shows an older CUDA than the image requires, and is of no branch that the image lets pass."""
    shown = driver.get("cuda") or cuda_of_driver(str(driver.version))
    passes = re.findall(r"driver>=(\d{3,4})", condition.get("rest") or "")
    older = bool(shown) and version_key(str(shown)) < version_key(condition.need)
    return older and str(driver.version).partition(".")[0] not in passes and {"what": "CUDA", "want": condition.need}


def _of_the_driver(name: str) -> bool:
    return name.startswith(
        ("nvidia-driver-", "nvidia-utils-", "libnvidia-compute-", "xserver-xorg-video-nvidi", "xorg-x11-drv-nvidia", "nvidia-utils")
    )


@mends("container-requires-newer-driver")
def driver_for_the_image(
    knew: Params,
    error: Symptom | None = seen(tag="image-wants-driver"),
    driver: Driver | None = one(vendor="nvidia"),
    package: SystemPackage | None = one(name=Passes(_of_the_driver), state="installed"),
) -> Params:
    """The oldest branch that carries the image's CUDA; and the CUDA that the driver carries, where somebody tells it."""
    variable_name, want = (error.get("what"), error.get("want")) if error is not None else (knew.get("what"), knew.get("want"))
    listed = release_of_package(package) if package is not None else ""
    carried = driver.get("cuda") if driver is not None else cuda_of_driver(listed) if listed else None
    if not want:
        return {"carried": carried} if carried else {}
    cuda = str(variable_name).lower() == "cuda"
    branch = branch_carrying(str(want)) if cuda else str(want).partition(".")[0]
    below = None if carried else {"below": want} if cuda else {"above": want}
    return {"vendor": "nvidia", "branch": branch, "carried": carried, **(below or {})}
