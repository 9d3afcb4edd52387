"""A framework's own code and the chip: one too new for the wheel, one too old for it, and the driver between them."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.compiled_for import left_behind
from rigup.diagnosis.rules.told import Passes
from rigup.knowledge.chips import relative_age, why_not
from rigup.knowledge.cuda import cuda_of_driver, driver_carries, driver_minimum, version_key
from rigup.knowledge.gpus import one_gpu
from rigup.knowledge.torch_builds import builds
from rigup.machine.kinds import Driver, Gpu, Package, Platform, Symptom, Toolkit, Torch, World


def age_of_listed_code(symptom: Symptom, isa: str) -> str:
    """Whether a chip comes before or after the code that a message lists; "" where nobody can tell."""
    code = re.findall(r"(?:sm|compute)_\d{2,3}", str(symptom.code))
    return relative_age(why_not(isa, code), code) or ""


def isa_of_named_card(card: Symptom) -> str:
    """The architecture of the NVIDIA card that a message names, "" where no table knows it."""
    row = one_gpu(str(card.name))
    return (row.isa or "") if row and row.vendor == "nvidia" else ""


def _code_of(torch: Torch) -> list[str]:
    """All that the builds of a release have; one from before the table has what the oldest CUDA in it has, at most."""
    release, cuda = str(torch.get("version") or "").partition("+")[0], torch.get("cuda")
    known = [row for row in builds() if row.code and row.cuda]
    mine = [row for row in known if row.torch == release]
    if release and not mine and version_key(release) < min(version_key(row.torch) for row in known):
        cuda = cuda or min((row.cuda for row in known), key=version_key)
        mine = known
    return sorted({code for row in mine if cuda in (None, row.cuda) for code in row.code})


def age(isa: str, torch: Torch) -> str:
    """Whether the card lies before or after what this torch was built for; "" where it is served, or nobody knows."""
    if not isa or torch.get("hip"):
        return ""
    code = list(torch.get("code") or []) or _code_of(torch)
    return (relative_age(why_not(isa, code), code) or "") if code else ""


def _of_a_major(name: str) -> bool:
    return re.fullmatch(r"jax-cuda1\d-(?:plugin|pjrt)|cupy-cuda1\dx?|nvidia-cuda-runtime-cu1\d", name) is not None


@rule("gpu-arch-newer-than-wheel", "likely")
def toolkit_is_older_than_the_card(symptom: Symptom = seen(tag="chip-unknown-to-compiler")) -> Verdict:
    """And come to know new ones with new releases."""
    return not left_behind(f"sm_{symptom.arch}") and {"isa": f"sm_{symptom.arch}"}


@rule("gpu-arch-older-than-wheel", "likely")
def toolkit_has_dropped_the_card(symptom: Symptom = seen(tag="chip-unknown-to-compiler")) -> Verdict:
    """Toolkits drop cards from below."""
    return left_behind(f"sm_{symptom.arch}") and {"isa": f"sm_{symptom.arch}"}


@rule("gpu-arch-older-than-wheel", "likely")
def the_warnings_first_line_and_an_older_card(
    _said: Symptom = seen("card-and-its-capability-cut"), gpu: Gpu = one(vendor="nvidia"), torch: Torch = one()
) -> Verdict:  # fmt: skip
    """torch names a card and its capability so only where it warns; what it warns of was cut off."""
    code = list(torch.get("code") or [])
    return bool(code) and relative_age(why_not(gpu.isa, code), code) == "older-chip"


@rule("driver-too-old-for-wheel", "likely")
def program_asks_for_a_later_driver(
    symptom: Symptom = seen("program-wants-a-driver"), driver: Driver = one(vendor="nvidia")
) -> Verdict:
    """The program names the first driver that it works with, and an earlier one is there."""
    return version_key(driver.version) < version_key(symptom.wanted) and {
        "needs": symptom.wanted,
        "have": driver.version,
    }


@rule("driver-too-old-for-wheel", "possible")
def toolkit_beside_the_wheel_is_of_older_drivers(
    torch: Torch = one(available=False), toolkit: Toolkit = one(name="cuda"), driver: Driver | None = None, card: Gpu | None = None, world: World | None = None,
    guest: Platform | None = one(wsl=(1, 2)), other: Symptom | None = seen(tag="nvidia-driver-silent nvidia-finds-none other-accelerators macs"),
) -> Verdict:  # fmt: skip
    """Toolkit and driver mostly come together; what the wheel was built with wants a newer driver than the toolkit does."""
    if not torch.get("cuda") or any(known is not None for known in (driver, card, world, guest, other)):
        return False
    wanted, had = driver_minimum(str(torch.cuda)), driver_minimum(str(toolkit.version))
    return bool(wanted and had) and version_key(str(wanted)) > version_key(str(had)) and {"cuda": torch.cuda}


@rule("driver-too-old-for-wheel", "likely")
def plugin_of_a_newer_major(
    package: Package = one(name=Passes(_of_a_major)), driver: Driver = one(vendor="nvidia"), works: Torch | None = one(available=True),
    torch: Torch | None = one(cuda=Passes(bool)),
) -> Verdict:  # fmt: skip
    """The name of jax's plugin, or of CuPy's wheel, tells its major of CUDA."""
    major = re.search(r"cuda(1\d)", package.name)
    if major is None or works or torch or driver_carries(driver.version, major[1] + ".0") is not False:
        return False
    return {"have": driver.version, "cuda": major[1], "branch": driver_minimum(major[1] + ".0")}


@rule("driver-too-old-for-wheel", "likely")
def driver_does_not_take_what_xla_compiled(
    symptom: Symptom = seen("xla-finds-no-kernel-image"), card: Gpu | None = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """XLA compiles for the card that it finds: the image is there, and of a newer CUDA than the driver's."""
    old = card is not None and card.knows("isa") and left_behind(card.isa)
    have = driver.get("version") if driver is not None else None
    return not old and {"said": symptom.id, **({"have": have} if have else {})}


@rule("driver-too-old-for-wheel", "possible")
def driver_refuses_what_triton_compiled(
    _said: Symptom = seen("triton-image-is-invalid"), brought: Symptom | None = seen("triton-brings-a-ptxas"), driver: Driver | None = one(vendor="nvidia"),
    amd: Gpu | None = one(vendor="amd"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Triton brings a ptxas of its own, mostly newer than the driver; with the older one of a toolkit the same kernel loads."""
    wanted = str((brought.get("cuda") if brought else torch.get("cuda") if torch else "") or "")
    if amd is not None or driver is None:
        return amd is None
    carried = str(driver.get("cuda") or cuda_of_driver(driver.version) or "")
    older = bool(carried and wanted) and version_key(carried) < version_key(wanted)
    return older and {"have": driver.version, "cuda": wanted}
