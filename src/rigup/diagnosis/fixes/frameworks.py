"""Which torch to install in place of one that does not serve: the smallest change that the tables know."""

from typing import NamedTuple

from msgspec.structs import replace

from rigup.diagnosis.fixes.words import named_programs, plain_system, wish_of
from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.knowledge.conda_forge import any_with_cuda, channel
from rigup.knowledge.cuda import cuda_of_driver, driver_minimum, reaches
from rigup.knowledge.driver_choice import branch_left_for, first_branch, stable_branch
from rigup.knowledge.program_builds import is_package
from rigup.knowledge.torch_builds import TorchBuild, build, companions, index_url
from rigup.knowledge.torch_changes import Wish, ever_built, nearest_build, of_amds_index, variant_of_index
from rigup.machine.kinds import Driver, Gpu, Package, Platform, PythonEnv, Symptom, Torch

_KINDS = {"nvidia": "cuda", "amd": "rocm", "intel": "xpu"}
_OF_CONDA = ("cpuonly", "pytorch", "pytorch-cpu", "pytorch-mutex", "libtorch")
_IMAGES = wordings(tag="frameworks-images")
_CONDA_SAID = wordings(tag="frameworks-conda-said")


class _Machine(NamedTuple):
    """What a choice of a build asks the machine."""

    gpu: Gpu | None
    driver: Driver | None
    python: PythonEnv | None
    platform: Platform | None
    torch: Torch | None

    def wish(self) -> Wish:
        """The same as the tables take it."""
        vendor = str(self.gpu.get("vendor") or "") if self.gpu else "nvidia" if self.driver else ""
        machine = str(self.platform.get("architecture") or "") if self.platform else ""
        version = self.driver.get("version") if self.driver and vendor in ("nvidia", "") else None
        return Wish(
            isa=str(self.gpu.get("isa") or "") if self.gpu else "", kind=_KINDS.get(vendor, ""), have=_release(self.torch),
            driver=str(version or ""), python=_minor(self.python), system=plain_system(self.platform), machine=machine or "x86_64",
        )  # fmt: skip


@mends("cpu-only-torch", "gpu-arch-newer-than-wheel", "gpu-arch-older-than-wheel")
def a_build_that_serves_the_card(
    knew: Params, gpu: Gpu | None = None, driver: Driver | None = one(vendor="nvidia"), python: PythonEnv | None = None,
    platform: Platform | None = None, torch: Torch | None = None,
) -> Params:  # fmt: skip
    """The release that is there, or the nearest that has code for the card; where the text names too little, who chooses it there."""
    wish = wish_of(named_programs(knew)) if knew.get("wish") is None else str(knew["wish"])
    if packages := str(knew.get("packages") or ""):
        clashing = packages.removesuffix("-gpu")  # both packages write into one folder
        return {
            "wish": None,
            "clashing": clashing if clashing != packages else None,
            "packages": packages,
            "clear": "yes" if clashing == packages else None,
        }
    if wish != "torch":
        return {"wish": wish, "gpus": None if wish else "any"}
    known = _Machine(gpu, driver, python, platform, torch).wish()
    if not known.kind or not (known.isa or (known.have and known.driver) or known.kind == "xpu"):
        return {"wish": wish}
    if known.isa and known.kind == "cuda" and not _buildable(known):
        return {"processor": _for_the_processor(), "cpu_index": index_url("cpu"), "wish": None}
    if (
        known.kind == "rocm"
        and (amd := of_amds_index(known.isa, known.system))
        and not ever_built(known.isa, known.system)
    ):
        row, extra = amd
        return {"amds": f"torch[{extra}]", "amds_index": row.index, "wish": wish}
    row_, driver_too = _relax(known)
    return {
        "wish": wish,
        **_holes_of(row_, *(("later", "later_vision", "later_index") if driver_too else ())),
        **driver_too,
    }


def _buildable(wish: Wish) -> bool:
    return ever_built(wish.isa, wish.system, wish.machine) or ever_built(wish.isa, "linux", wish.machine)


def _for_the_processor() -> str:
    return "pip install torch --index-url " + index_url("cpu")


def _relax(wish: Wish) -> tuple[TorchBuild | None, Params]:
    """Wishes are let go one by one where no build meets them all: the Python can be changed, then the driver."""
    for driver, python in ((wish.driver, wish.python), (wish.driver, ""), ("", wish.python), ("", "")):
        if row := nearest_build(replace(wish, driver=driver, python=python)):
            return row, {} if driver == wish.driver else {"needed": _branch(row.cuda, wish.isa)}
    return None, {}


def _holes_of(
    row: TorchBuild | None, release: str = "release", vision: str = "torchvision", index: str = "index"
) -> Params:
    if row is None:
        return {}
    friends = companions(row.torch)
    return {
        release: row.torch, index: row.index or index_url(row.variant), vision: friends.torchvision if friends else None,
    }  # fmt: skip


def _branch(cuda: str, isa: str) -> str | None:
    """The branch to install for a CUDA and a card; None where the card's last branch is older."""
    least, last = driver_minimum(cuda) or "", branch_left_for(isa) if isa else None
    if not least or (last and not reaches(last, least)):
        return None
    first = first_branch(isa) if isa else None
    return stable_branch(first if first and not reaches(least, first) else least, [isa] if isa else [])


# -- conda
@mends("cpu-only-torch")
def what_conda_is_asked(
    knew: Params, package: Package | None = one(manager="conda", name=_OF_CONDA), symptom: Symptom | None = seen(tag="frameworks-conda-said"),
    held: Package | None = one(name="cpuonly"), vision: Package | None = one(manager="conda", name="torchvision"),
    audio: Package | None = one(manager="conda", name="torchaudio"),
) -> Params:  # fmt: skip
    """conda solved to a build for the processor: what holds it there goes, and the build string is asked for."""
    if (package is None and symptom is None) or knew.get("packages"):
        return {}
    family = [str(friend.name) for friend in (vision, audio) if friend is not None]
    fixed = "cpuonly" if held is not None or (symptom is not None and symptom.id == "conda-plans-cpu-build") else None
    packages = ", ".join((*any_with_cuda("torch"), *family))
    empty = dict.fromkeys(("release", "later", "wish", "amds"))
    return {**empty, "channel": channel(), "asked": packages, "fixed": fixed, "free": None if fixed else "nothing"}


# -- the driver
@mends("driver-too-old-for-wheel")
def an_older_build_or_a_newer_driver(
    knew: Params, symptom: Symptom | None = seen("torch-driver-too-old"), driver: Driver | None = one(vendor="nvidia"), gpu: Gpu | None = None,
    python: PythonEnv | None = None, platform: Platform | None = None, torch: Torch | None = None,
    amds: Symptom | None = seen("hsa-kernel-older-than-runtime"), image: Symptom | None = seen(tag="frameworks-images"),
) -> Params:  # fmt: skip
    """The same release for what the driver carries, or one where none is told; else a driver for what the build wants, and an older release where that cannot be had."""
    carried = _cuda_of(symptom) or (
        str(cuda_of_driver(driver.version) or "") if driver and driver.get("version") else ""
    )
    known = _Machine(gpu, driver, python, platform, torch).wish()
    wanted = str(torch.get("cuda") or "") if torch else str(knew.get("cuda") or "")
    branch = (
        _branch(wanted or _next(carried), known.isa)
        if wanted or carried
        else stable_branch("", [known.isa] if known.isa else [])
    )
    branch = None if amds is not None else branch
    holes = {"carried": carried or None, "branch": branch}
    if torch is None and symptom is None:
        return {**holes, "wish": None, "any": None if branch else "any"}
    row = _carried_build(known, carried)
    if row is None:
        return {**holes, "wish": None if branch else "torch"}
    names = (
        ()
        if row.torch == known.have or (not known.have and image is None)
        else ("older", "older_vision", "older_index")
    )
    return {**holes, "wish": "torch", **_holes_of(row, *names)}


def _cuda_of(symptom: Symptom | None) -> str:
    """`found version 11040` is CUDA 11.4."""
    number = int(str(symptom.get("found"))) if symptom and symptom.get("found") else 0
    return f"{number // 1000}.{number % 1000 // 10}" if number else ""


def _carried_build(known: Wish, carried: str) -> TorchBuild | None:
    if not carried or known.kind not in ("", "cuda"):
        return None
    wish = replace(known, kind="cuda", driver="", carried=carried)
    return nearest_build(wish) or nearest_build(replace(wish, python=""))


def _next(carried: str) -> str:
    return str(int(carried.partition(".")[0]) + 1) if carried else ""


# -- what belongs to torch
@mends("torch-torchvision-mismatch")
def the_pair(
    knew: Params, torch: Torch, vision: Package | None = one(name="torchvision"), audio: Package | None = one(name="torchaudio"), platform: Platform | None = None,
) -> Params:  # fmt: skip
    """What belongs to the torch that is there, from the index that it came from."""
    if knew.get("paired") or knew.get("newer") or knew.get("optional"):
        return {}  # what does not fit is no part of torch's family
    release, _, local = str(torch.version).partition("+")
    friends, system = companions(release), plain_system(platform)
    if friends is None or friends.extrapolated:
        return {}
    row = build(torch.version, system=system)
    variant = variant_of_index(local, system) if local else row.variant if row and row.pypi else ""
    pair = {"release": release, "torchvision": friends.torchvision, "torchaudio": friends.torchaudio}
    if variant:
        return {**pair, "index": index_url(variant)}
    wanted = [f"{name}=={pair[name]}" for name, package in (("torchvision", vision), ("torchaudio", audio)) if package]
    return {"alone": ", ".join(wanted) or f"torchvision=={friends.torchvision}"}


@mends("torch-torchvision-mismatch")
def what_does_not_fit(knew: Params) -> Params:
    """An extension is compiled again, where its name is one and not a folder's; torchaudio comes along where it is what does not fit."""
    extension = str(knew.get("extension") or "")
    named = extension if is_package(extension) else None
    audio = "torchaudio" in (knew.get("companion"), knew.get("name"), knew.get("package")) and not knew.get("alone")
    return {
        "rebuilt": named, "audio": (knew.get("torchaudio") or None) if audio else None, "pair": None if audio and knew.get("torchaudio") else "pair",
        **(dict.fromkeys(("release", "alone", "again")) if named else {"again": None if knew.get("release") or knew.get("alone") else "torch"}),
    }  # fmt: skip


def _minor(python: PythonEnv | None) -> str:
    version = python.get("version") if python else None
    return ".".join(str(version).split(".")[:2]) if version else ""


def _release(torch: Torch | None) -> str:
    return str(torch.get("version") or "").partition("+")[0] if torch else ""
