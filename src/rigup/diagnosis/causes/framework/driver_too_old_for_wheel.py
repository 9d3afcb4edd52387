"""The NVIDIA driver is too old for the CUDA that this build was made with."""

import re

from msgspec.structs import replace

from rigup.diagnosis.causes.framework.code_for_chip import left_behind
from rigup.diagnosis.causes.framework.torch_builds import Machine, branch_for, holes_of
from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.cuda import cuda_of_driver, driver_carries, driver_minimum, version_key
from rigup.knowledge.driver_choice import stable_branch
from rigup.knowledge.torch_builds import TorchBuild, build, builds, last_of_conda
from rigup.knowledge.torch_changes import Wish, nearest_build
from rigup.machine.kinds import Driver, Gpu, KernelModule, Package, Platform, PythonEnv, Symptom, SystemPackage, Toolkit, Torch, World


def _system(platform: Platform | None) -> str:
    """Of WSL the Linux side counts."""
    return "windows" if platform and platform.get("system") == "windows" else "linux"


@rule("driver-too-old-for-wheel")
def driver_below_the_builds_minimum(
    torch: Torch = one(), driver: Driver = one(vendor="nvidia"), platform: Platform | None = None
) -> Verdict:
    """The driver does not carry the toolkit's major (before 11: its very version)."""
    if torch.get("available") or torch.get("hip") or torch.cuda is None:
        return False
    if driver_carries(driver.version, torch.cuda, _system(platform)) is not False:
        return False
    return {"have": driver.version, "cuda": torch.cuda, "branch": driver_minimum(torch.cuda, _system(platform))}


@rule("driver-too-old-for-wheel", "likely")
def asked_for_more_than_the_driver_carries(
    asked: Symptom = seen("conda-wants-cuda", "pip-wants-cuda"), driver: Driver = one(vendor="nvidia"), torch: Torch | None = None
) -> Verdict:
    """What was installed is known from the command alone."""
    want = asked.get("want") or f"{asked.get('major')}.{asked.get('minor')}"
    if (torch and (torch.get("available") or torch.get("cuda"))) or driver_carries(driver.version, want) is not False:
        return False
    return {"have": driver.version, "cuda": want, "branch": driver_minimum(want)}


@rule("driver-too-old-for-wheel", "possible")
def initialisation_fails_on_a_driver_below_all(
    _said: Symptom = seen("cuda-init-failed-no-gpu"), driver: Driver = one(vendor="nvidia"), torch: Torch | None = None
) -> Verdict:
    """Which build it is nobody tells; the releases that speak so are made for a newer major of CUDA."""
    carried, unknown = driver.get("cuda") or cuda_of_driver(driver.version), torch is None or not torch.knows("cuda")
    return unknown and bool(carried) and version_key(str(carried)) < version_key("11") and {"have": driver.version}


@rule("driver-too-old-for-wheel", "likely")
def pypis_build_wants_more(
    torch: Torch = one(available=False), driver: Driver = one(vendor="nvidia"), platform: Platform | None = None
) -> Verdict:
    """A plain version is mostly PyPI's build; which CUDA that has, the table knows."""
    if torch.knows("cuda") or "+" in torch.version or _system(platform) != "linux":
        return False
    row = build(torch.version)
    if row is None or row.extrapolated or not row.cuda or driver_carries(driver.version, row.cuda) is not False:
        return False
    return {"have": driver.version, "cuda": row.cuda, "branch": driver_minimum(row.cuda)}


@text_rule("driver-too-old-for-wheel", "likely")
def program_asks_for_a_later_driver(symptom: Symptom = seen("program-wants-a-driver"), driver: Driver = one(vendor="nvidia")) -> Verdict:
    """The program names the first driver that it works with, and an earlier one is there."""
    return version_key(driver.version) < version_key(symptom.wanted) and {"needs": symptom.wanted, "have": driver.version}


@text_rule("driver-too-old-for-wheel", "possible")
def toolkit_beside_the_wheel_is_of_older_drivers(
    torch: Torch = one(available=False),
    toolkit: Toolkit = one(name="cuda"),
    driver: Driver | None = None,
    card: Gpu | None = None,
    world: World | None = None,
    guest: Platform | None = one(wsl=(1, 2)),
    other: Symptom | None = seen(tag="nvidia-driver-silent nvidia-finds-none other-accelerators macs"),
) -> Verdict:
    """Toolkit and driver mostly come together; what the wheel was built with wants a newer driver than the toolkit does."""
    if not torch.get("cuda") or any(known is not None for known in (driver, card, world, guest, other)):
        return False
    wanted, had = driver_minimum(str(torch.cuda)), driver_minimum(str(toolkit.version))
    return bool(wanted and had) and version_key(str(wanted)) > version_key(str(had)) and {"cuda": torch.cuda}


def _of_a_major(name: str) -> bool:
    return re.fullmatch(r"jax-cuda1\d-(?:plugin|pjrt)|cupy-cuda1\dx?|nvidia-cuda-runtime-cu1\d", name) is not None


@text_rule("driver-too-old-for-wheel", "likely")
def plugin_of_a_newer_major(
    package: Package = one(name=Passes(_of_a_major)),
    driver: Driver = one(vendor="nvidia"),
    works: Torch | None = one(available=True),
    torch: Torch | None = one(cuda=Passes(bool)),
) -> Verdict:
    """The name of jax's plugin, or of CuPy's wheel, tells its major of CUDA."""
    major = re.search(r"cuda(1\d)", package.name)
    if major is None or works or torch or driver_carries(driver.version, major[1] + ".0") is not False:
        return False
    return {"have": driver.version, "cuda": major[1], "branch": driver_minimum(major[1] + ".0")}


@text_rule("driver-too-old-for-wheel", "likely")
def driver_does_not_take_what_xla_compiled(
    symptom: Symptom = seen("xla-finds-no-kernel-image"),
    card: Gpu | None = one(vendor="nvidia"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:
    """XLA compiles for the card that it finds: the image is there, and of a newer CUDA than the driver's."""
    old = card is not None and card.knows("isa") and left_behind(card.isa)
    have = driver.get("version") if driver is not None else None
    return not old and {"said": symptom.id, **({"have": have} if have else {})}


@text_rule("driver-too-old-for-wheel", "possible")
def driver_refuses_what_triton_compiled(
    _said: Symptom = seen("triton-image-is-invalid"),
    brought: Symptom | None = seen("triton-brings-a-ptxas"),
    driver: Driver | None = one(vendor="nvidia"),
    amd: Gpu | None = one(vendor="amd"),
    torch: Torch | None = None,
) -> Verdict:
    """Triton brings a ptxas of its own, mostly newer than the driver; with the older one of a toolkit the same kernel loads."""
    wanted = str((brought.get("cuda") if brought else torch.get("cuda") if torch else "") or "")
    if amd is not None or driver is None:
        return amd is None
    carried = str(driver.get("cuda") or cuda_of_driver(driver.version) or "")
    older = bool(carried and wanted) and version_key(carried) < version_key(wanted)
    return older and {"have": driver.version, "cuda": wanted}


def _of_the_driver(name: str) -> bool:
    return name.startswith(("nvidia-driver", "nvidia-headless", "nvidia-utils", "xorg-x11-drv-nvidia", "akmod-nvidia", "kmod-nvidia"))


@text_rule("driver-too-old-for-wheel", "likely")
def installed_driver_package_is_below_the_builds_minimum(
    package: SystemPackage = one(name=Passes(_of_the_driver), state="installed"),
    torch: Torch = one(),
    driver: Driver | None = one(vendor="nvidia"),
    platform: Platform | None = one(wsl=(1, 2)),
) -> Verdict:
    """The driver itself was not asked; the distribution's package of it is of a branch that the build does not run on."""
    have, cuda = str(package.version).partition(":")[2] or str(package.version), torch.get("cuda")
    short = have.partition("-")[0]
    alone = driver is None and platform is None and not torch.get("available")
    fails = alone and bool(cuda) and driver_carries(short, str(cuda)) is False
    return fails and {"have": short, "cuda": cuda, "branch": driver_minimum(str(cuda))}


@text_rule("driver-too-old-for-wheel", "likely")
def loaded_module_is_below_the_builds_minimum(
    module: KernelModule | None = one(name="nvidia", loaded=True),
    log: Symptom | None = seen("module-tells-its-release-as-it-loads"),
    torch: Torch = one(),
    driver: Driver | None = one(vendor="nvidia"),
    differs: Symptom | None = seen("nvml-version-mismatch", "nvml-version-mismatch-constant"),
) -> Verdict:
    """The kernel's own part tells its release, where nobody asked the driver."""
    have = str((module.get("version") if module else None) or (log.get("version") if log else None) or "")
    alone = driver is None and differs is None and not torch.get("available") and not torch.get("hip")
    cuda = torch.get("cuda")
    fails = alone and bool(have and cuda) and driver_carries(have, str(cuda)) is False
    return fails and {"have": have, "cuda": cuda, "branch": driver_minimum(str(cuda))}


def _cuda_of(symptom: Symptom | None) -> str:
    """`found version 11040` is CUDA 11.4."""
    number = int(str(symptom.get("found"))) if symptom and symptom.get("found") else 0
    return f"{number // 1000}.{number % 1000 // 10}" if number else ""


def _next(carried: str) -> str:
    return str(int(carried.partition(".")[0]) + 1) if carried else ""


def _carried_build(known: Wish, carried: str) -> TorchBuild | None:
    if not carried or known.kind not in ("", "cuda"):
        return None
    wish = replace(known, kind="cuda", driver="", carried=carried)
    return nearest_build(wish) or nearest_build(replace(wish, python=""))


@mends("driver-too-old-for-wheel")
def an_older_build_or_a_newer_driver(
    knew: Params,
    symptom: Symptom | None = seen("torch-driver-too-old"),
    driver: Driver | None = one(vendor="nvidia"),
    gpu: Gpu | None = None,
    python: PythonEnv | None = None,
    platform: Platform | None = None,
    torch: Torch | None = None,
    amds: Symptom | None = seen("hsa-kernel-older-than-runtime"),
    image: Symptom | None = seen(tag="frameworks-images"),
    asked: Symptom | None = seen("conda-wants-cuda"),
) -> Params:
    """The same release for what the driver carries, or one where none is told; else a driver for what the build wants, and an older release where that cannot be had."""
    carried = _cuda_of(symptom) or (str(cuda_of_driver(driver.version) or "") if driver and driver.get("version") else "")
    known = Machine(gpu, driver, python, platform, torch).wish()
    wanted = str(torch.get("cuda") or "") if torch else str(knew.get("cuda") or "")
    branch = branch_for(wanted or _next(carried), known.isa) if wanted or carried else stable_branch("", [known.isa] if known.isa else [])
    branch = None if amds is not None else branch
    holes = {"carried": carried or None, "branch": branch, "least": driver_minimum(wanted) or branch}
    condas = last_of_conda(carried) if asked is not None else None
    if condas is not None:
        return {**holes, "wish": None, "any": None, "of_conda": carried, "condas": condas.torch, "condas_vision": condas.torchvision}
    if torch is None and symptom is None:
        return {**holes, "wish": None, "any": None if branch else "any"}
    row = _carried_build(known, carried)
    if row is None:
        return {**holes, "wish": None if branch else "torch"}
    kept = bool(known.have) and version_key(row.torch) >= version_key(known.have)  # an older release may lack what the program wants
    names = () if kept or (not known.have and image is None) else ("older", "older_vision", "older_index")
    return {**holes, "wish": "torch", **holes_of(row, *names)}


@mends("driver-too-old-for-wheel")
def image_in_the_place_of_nvidias(
    knew: Params, _image: Symptom = seen("torch-of-nvidias-image-shown"), torch: Torch | None = None
) -> Params:
    """What NVIDIA compiled beside its torch belongs to that alone: no wheel takes its place, but an older image does; one that costs the program its torch comes last."""
    carried, known = str(knew.get("carried") or ""), [row for row in builds() if row.cuda]
    reached = [row.torch for row in known if carried and version_key(row.cuda) <= version_key(carried)]
    there = str((torch and torch.get("version")) or known[0].torch)
    costs = bool(carried) and version_key(max(reached, key=version_key, default="0"))[0] < version_key(there)[0]
    return {"imaged_at_last" if costs else "imaged": knew.get("carried"), **dict.fromkeys(("release", "older", "wish"))}
