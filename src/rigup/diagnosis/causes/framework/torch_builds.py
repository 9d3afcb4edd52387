"""Which build of torch serves a card, with this driver and this Python."""

from typing import NamedTuple

from msgspec.structs import replace

from rigup.diagnosis.causes.framework.programs import named_programs, plain_system, wish_of
from rigup.diagnosis.rule import Params, one, seen
from rigup.knowledge.amd_ways import torch_of_amd
from rigup.knowledge.chips import isa_order
from rigup.knowledge.conda_forge import any_with_cuda, channel
from rigup.knowledge.cuda import driver_minimum, reaches, version_key
from rigup.knowledge.driver_choice import branch_left_for, first_branch, stable_branch
from rigup.knowledge.rocm import override_for
from rigup.knowledge.torch_builds import TorchBuild, builds, companions, index_url, newest_build
from rigup.knowledge.torch_changes import Wish, ever_built, nearest_build
from rigup.machine.kinds import Driver, Gpu, Jetson, Package, Platform, PythonEnv, Symptom, Torch

_OF_CONDA = ("cpuonly", "pytorch", "pytorch-cpu", "pytorch-mutex", "libtorch")
KINDS = {"nvidia": "cuda", "amd": "rocm", "intel": "xpu"}


def worth_a_build(gpu: Gpu) -> bool:
    """Whether some build would serve the card; a guest's card is not ours."""
    isa = gpu.get("isa")
    if gpu.get("driver") == "vfio-pci":
        return False
    if isa and newest_build(isa) is None:  # a card of its own may run on a sibling's code
        return gpu.get("integrated") is False and override_for(isa) is not None
    return bool(isa) or gpu.vendor == "nvidia"


def release_of(torch: Torch | None) -> str:
    """torch's release without its variant; "" where nobody tells it."""
    return str(torch.get("version") or "").partition("+")[0] if torch else ""


def minor(python: PythonEnv | None) -> str:
    """The environment's Python as `3.12`; "" where nobody tells it."""
    version = python.get("version") if python else None
    return ".".join(str(version).split(".")[:2]) if version else ""


class Machine(NamedTuple):
    """What a choice of a build asks the machine."""

    gpu: Gpu | None
    driver: Driver | None
    python: PythonEnv | None
    platform: Platform | None
    torch: Torch | None

    def _last_with_such_code(self) -> str:
        """The last release that knew no newer card than torch's own list, where that is so old that no Python of it has a wheel of today's."""
        own = [isa_order(code) for code in (self.torch.get("code") or () if self.torch else ()) if code.startswith("sm_")]
        known = builds(plain_system(self.platform))
        rows = (row for row in known if own and row.cuda and row.code)
        alike = (row for row in rows if max(isa_order(code) for code in row.code if code.startswith("sm_")) <= max(own))
        last = max(alike, key=lambda row: version_key(row.torch), default=None)
        return last.torch if last and not {*last.python} & {*known[0].python} else ""

    def wish(self) -> Wish:
        """The same as the tables take it."""
        vendor = str(self.gpu.get("vendor") or "") if self.gpu else "nvidia" if self.driver else ""
        machine = str(self.platform.get("architecture") or "") if self.platform else ""
        version = self.driver.get("version") if self.driver and vendor in ("nvidia", "") else None
        return Wish(
            isa=str(self.gpu.get("isa") or "") if self.gpu else "",
            kind=KINDS.get(vendor, ""),
            have=release_of(self.torch) or self._last_with_such_code(),
            driver=str(version or ""),
            python=minor(self.python),
            system=plain_system(self.platform),
            machine=machine or "x86_64",
        )


def buildable(wish: Wish) -> bool:
    """Whether some build was ever made for the card, here or on Linux."""
    return ever_built(wish.isa, wish.system, wish.machine) or ever_built(wish.isa, "linux", wish.machine)


def branch_for(cuda: str, isa: str) -> str | None:
    """The branch to install for a CUDA and a card; None where the card's last branch is older."""
    least, last = driver_minimum(cuda) or "", branch_left_for(isa) if isa else None
    if not least or (last and not reaches(last, least)):
        return None
    first = first_branch(isa) if isa else None
    return stable_branch(first if first and not reaches(least, first) else least, [isa] if isa else [])


def _relax(wish: Wish) -> tuple[TorchBuild | None, Params]:
    """Wishes are let go one by one where no build meets them all: the Python can be changed, then the driver."""
    for driver, python in ((wish.driver, wish.python), (wish.driver, ""), ("", wish.python), ("", "")):
        if row := nearest_build(replace(wish, driver=driver, python=python)):
            return row, {} if driver == wish.driver else {"needed": branch_for(row.cuda, wish.isa)}
    return None, {}


def holes_of(row: TorchBuild | None, release: str = "release", vision: str = "torchvision", index: str = "index") -> Params:
    """What the step that installs the build is filled with, under these names of holes."""
    if row is None:
        return {}
    friends = companions(row.torch)
    return {release: row.torch, index: row.index or index_url(row.variant), vision: friends.torchvision if friends else None}


def a_build_that_serves_the_card(
    knew: Params,
    gpu: Gpu | None = None,
    driver: Driver | None = one(vendor="nvidia"),
    python: PythonEnv | None = None,
    platform: Platform | None = None,
    torch: Torch | None = None,
    xpu: Symptom | None = seen(tag="intel-asked-of-torch"),
    jetson: Jetson | None = None,
) -> Params:
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
    if wish != "torch" or jetson is not None:  # a Jetson's driver comes with its system, and its builds from other places
        return {"wish": wish, "gpus": None if wish else "any"}
    known = Machine(gpu, driver, python, platform, torch).wish()
    if xpu is not None and gpu is None:
        known = replace(known, kind=KINDS["intel"], driver="")
    if not known.kind or not (known.isa or (known.have and known.driver) or known.kind == "xpu"):
        return {"wish": wish}
    if known.isa and known.kind == "cuda" and not buildable(known):
        return {"processor": "processor", "hidden": "-1", "wish": None}
    if known.kind == "rocm" and (amd := torch_of_amd(known.isa, known.system)) and not ever_built(known.isa, known.system):
        return {"amds": amd.packages, "amds_index": amd.address, "wish": wish}
    row_, driver_too = _relax(known)
    return {"wish": wish, **holes_of(row_, *(("later", "later_vision", "later_index") if driver_too else ())), **driver_too}


def what_conda_is_asked(
    knew: Params,
    package: Package | None = one(manager="conda", name=_OF_CONDA),
    symptom: Symptom | None = seen(tag="frameworks-conda-said"),
    held: Package | None = one(name="cpuonly"),
    vision: Package | None = one(manager="conda", name="torchvision"),
    audio: Package | None = one(manager="conda", name="torchaudio"),
    torch: Torch | None = None,
) -> Params:
    """conda solved to a build for the processor: what holds it there goes, and the build string is asked for."""
    if (package is None and symptom is None) or knew.get("packages"):
        return {}
    family = [str(friend.name) for friend in (vision, audio) if friend is not None]
    fixed = "cpuonly" if held is not None or (symptom is not None and symptom.id == "conda-plans-cpu-build") else None
    packages = ", ".join((*any_with_cuda("torch", str(torch.get("version") or "") if torch else ""), *family))
    empty = dict.fromkeys(("release", "later", "wish", "amds"))
    return {**empty, "channel": channel(), "asked": packages, "fixed": fixed, "free": None if fixed else "nothing"}


def environment_that_has_one_for_cards(found: Symptom = seen("environment-with-a-torch-for-cards")) -> Params:
    """Another environment is shown that has it: then the wrong Python was started, and nothing is to be installed."""
    python = str(found.python)
    return {"other": python + ("python.exe" if "Scripts" in python else "python"), "build": found.build}
