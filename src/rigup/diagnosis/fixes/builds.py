"""What mends a package or a program whose compiled code is not for this card, this system, this Python or this processor."""

import re

from rigup.diagnosis.fixes.amd_chips import amd_holes
from rigup.diagnosis.fixes.words import named_programs, packages_named, plain_system
from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.diagnosis.rules.compiled_for import of_today
from rigup.knowledge.chips import isa_order
from rigup.knowledge.program_builds import (
    Program,
    compiled_against_torch,
    is_package,
    least_card,
    plain_name,
    program_of,
)
from rigup.knowledge.rocm import override_for
from rigup.knowledge.torch_builds import builds, companions
from rigup.machine.kinds import Gpu, Platform, Symptom, Torch

_ON_WINDOWS = wordings(tag="windows-without-build")
_ON_A_MAC = wordings(tag="mac-without-build")
_AMDS_BITSANDBYTES = wordings(tag="builds-amds-bitsandbytes")
_ONE_OF_MANY = 5  # a row of so many packages describes a kind of them
_TOO_OLD = wordings(tag="card-too-old-told")
_REFUSED = wordings(tag="card-too-old-told")
_TAGS = {"win": "windows", "macosx": "macos", "manylinux": "linux", "linux": "linux", "musllinux": "linux"}
_ARM = ("aarch64", "arm64", "armv7l", "ppc64le", "riscv64")


# -- the card
@mends("binary-arch-missing")
def how_to_get_code_for_the_card(
    knew: Params, gpu: Gpu | None = None, platform: Platform | None = None, old: Symptom | None = seen(tag="card-too-old-told"), refused: Symptom | None = seen(tag="card-too-old-told"),
) -> Params:  # fmt: skip
    """Where the package has none for such a card, something else; else a newer release, or a build that is told the card; on AMD a sibling's code."""
    if refused is not None and refused.get("want"):
        want = str(refused.want).replace(".", "")
        least = "sm_" + want if want.isdigit() else want
        left = str(refused.get("method") or knew.get("package") or "")
        whose = program_of(left) if left else None
        return {
            "left": left or None,
            "least": least,
            "plain": None,
            "instead": (whose.instead or None) if whose else None,
        }
    spoke = [speaker for speaker in named_programs(knew) if speaker.wish != "torch"]
    rows = [*packages_named(knew), *(spoke if len(spoke) == 1 else [])]  # a row that names several does not tell which
    program = next((candidate for candidate in rows if candidate.wish != "torch"), None)
    isa = str((gpu.get("isa") if gpu else "") or knew.get("isa") or _of_arch(knew) or "")
    isa = isa if isa.startswith(("sm_", "gfx")) else ""
    system = plain_system(platform)
    named = _package(knew, program)
    plain = {
        "newer": None,
        "compiled": (named if len(program.packages) > _ONE_OF_MANY else program.name) if program else None,
        "chip": isa or None,
        "override": None,
        "variable": None,
    }
    if named and (_never(named, isa) or (old is not None and least_card(named)[0])):
        return {
            **plain,
            "left": named,
            "instead": (program.instead or None) if program else None,
            "chip": None,
            "least": least_card(named)[0] or ", ".join(least_card(named)[1]),
            "plain": None,
        }
    holes = {**plain, "vulkan": "Vulkan" if program and program.vulkan else None}
    if isa.startswith("gfx"):
        return {**holes, "override": _override(isa, system), **_own_build(program, isa)}
    newer = named if program and program.pypi and (not isa or (of_today(isa) and isa not in program.failing)) else None
    planned = program is not None and not program.option and (not isa or (of_today(isa) and isa not in program.failing))
    by_plan = (program.wish or None) if program and planned and not newer else None
    chip = {"chip": None} if by_plan else {}
    return {
        **holes,
        **_upgrade("newer", newer),
        "wish": by_plan,
        **chip,
        **_by_pip(program, named, isa, system),
        **_own_build(program, isa),
    }


def _of_arch(knew: Params) -> str:
    """llama.cpp writes the card's capability times a hundred: 610 is 6.1."""
    arch = str(knew.get("arch") or "")
    return f"sm_{arch[:-1]}" if re.fullmatch(r"[3-9]\d0|1[0-2]\d0", arch) and knew.get("runtime") != "HIP" else ""


def _upgrade(hole: str, package: str | None) -> Params:
    """In the hole of the step that builds beside torch, where the package's own set-up asks for it."""
    compiled = bool(package) and compiled_against_torch(str(package))
    return {hole: None if compiled else package, f"{hole}_extension": package if compiled else None}


def _package(knew: Params, program: Program | None) -> str:
    """The package that the text names, as pip calls it; the program's own where that is one of PyPI's."""
    name = next((str(knew[hole]) for hole in ("package", "name") if knew.get(hole) and is_package(str(knew[hole]))), "")
    if program and program.pypi:
        return plain_name(name) if plain_name(name) in program.packages else program.pypi
    return plain_name(name) if program and plain_name(name) in program.packages else ""


def _never(package: str, isa: str) -> bool:
    """Whether no release has code for such a card."""
    least, amd = least_card(package)
    if isa.startswith("gfx"):
        return bool(amd) and isa not in amd
    return bool(isa and least) and isa_order(isa) < isa_order(least)


def _override(isa: str, system: str) -> str | None:
    """Windows' driver reads no such variable."""
    sibling = override_for(isa) if system == "linux" else None
    return sibling.value if sibling else None


def _by_pip(program: Program | None, package: str, isa: str, system: str) -> Params:
    """A build by pip, where a variable tells it the card; `env` is no command of Windows'."""
    if not (program and program.variable and package and isa and system == "linux"):
        return {}
    number = isa.removeprefix("sm_")
    return {
        "variable": program.variable,
        "built": package,
        "chip": None,
        "capability": number if program.form == "plain" else f"{number[:-1]}.{number[-1]}",
    }


def _own_build(program: Program | None, isa: str) -> Params:
    option = "" if program is None or not isa else program.option_amd if isa.startswith("gfx") else program.option
    number = isa.removeprefix("sm_")
    filled = option.format(sm=number, capability=f"{number[:-1]}.{number[-1:]}", gfx=isa)
    return {"option": filled, "chip": None} if filled else {}


# -- the system
@mends("extension-without-platform-build")
def what_serves_the_system(
    knew: Params, platform: Platform | None = None, torch: Torch | None = None, symptom: Symptom | None = seen("uv-other-platform-only", "uv-no-platform-tag"),
    named: Symptom | None = seen(tag="windows-without-build mac-without-build"), arm: Symptom | None = seen("processor-of-arm-answers", "aarch64-in-words"),
    phone: Symptom | None = seen("android-system-shown"), gpu: Gpu | None = None, hip: Symptom | None = seen("torch-for-rocm-named-by-a-build", "rocm-torch-installed"),
) -> Params:  # fmt: skip
    """A release or another package that is made for the system; else the system that it is made for, or its sources."""
    package = _plain(str(knew.get("name") or ""))
    program = program_of(package) if package else next(iter(named_programs(knew)), None)
    system, machine = _system(knew, platform, symptom, named), _machine(platform, symptom, arm)
    rocm = hip is not None or _on_rocm(torch, gpu)
    if phone is not None:
        return {"linux": package or "it", "platform": "Android"}
    if _has_torch(package, system, machine):
        return {"wish": "torch"}
    if system == "macos":
        return _on_a_mac(program, package)
    if system == "windows" or (not system and _for_windows_mostly(program, rocm)):
        amd = named is not None and named.id in _AMDS_BITSANDBYTES
        return {"here": None if amd else _for_windows(program, torch), "wsl": "wsl"}
    return _on_linux(program, package, system, machine, rocm)


@mends("extension-without-platform-build")
def torch_of_this_system(
    knew: Params, _none: Symptom = seen("pip-no-version", offered="none"), card: Gpu | None = one(vendor="amd"),
    platform: Platform = one(system=("windows", "macos")),
) -> Params:  # fmt: skip
    """An index of pytorch.org has nothing for it: AMD's own has builds for Windows, and PyPI's torch is a Mac's."""
    if not str(knew.get("name")).startswith("https://download.pytorch.org/whl/"):
        return {}
    if platform.system == "macos":
        return {"here": "torch", "linux": None}
    return {**amd_holes(str(card.get("isa") or ""), "windows"), "here": None} if card is not None else {}


def _for_windows_mostly(program: Program | None, rocm: bool) -> bool:
    """Whether it is Windows' people who miss such a package, where nobody tells the system and no card of AMD's is in sight."""
    return program is not None and bool(program.windows or "windows" in program.not_for) and not rocm


def _has_torch(package: str, system: str, machine: str) -> bool:
    """Whether torch is what is asked for, and has builds there: the file was of another machine."""
    return package == "torch" and bool(builds(system or "linux", machine or "x86_64"))


def _on_a_mac(program: Program | None, package: str) -> Params:
    build = program.macos if program else ""
    return {"here": build or None, "linux": None if build else package or "it", "platform": "macOS"}


def _on_linux(program: Program | None, package: str, system: str, machine: str, rocm: bool) -> Params:
    """Its sources, where nobody offers it compiled for the processor or for AMD's cards; else a release that has it."""
    other = machine if machine in _ARM else "ROCm" if rocm and not (program and program.rocm) else ""
    if other:
        sources = package or (program.name if program else "")
        return {"sources": sources or None, "platform": other, "linux": None if sources else "it"}
    upgraded = package or (program.pypi if program else "")
    if system == "linux" and program and "linux" in program.not_for:
        served = program_of(program.pypi)
        return {"wish": served.wish if served else None}
    return {**_upgrade("upgraded", upgraded or None), "wsl": None if system == "linux" or rocm else "wsl"}


def _plain(name: str) -> str:
    """A package's name; a file's `libdecord` is of decord, and a folder's is none."""
    bare = plain_name(name)
    return bare.removeprefix("lib") if program_of(bare.removeprefix("lib")) else bare if is_package(name) else ""


def _on_rocm(torch: Torch | None, gpu: Gpu | None) -> bool:
    built = torch is not None and bool(torch.get("hip") or "+rocm" in str(torch.get("version")))
    return built or (gpu is not None and gpu.get("vendor") == "amd")


def _system(knew: Params, platform: Platform | None, symptom: Symptom | None, named: Symptom | None) -> str:
    if named is not None:
        return "windows" if named.id in _ON_WINDOWS else "macos"
    if platform and platform.get("system"):
        return plain_system(platform)
    name = str((symptom.get("system") or symptom.get("have")) if symptom else knew.get("platform") or "").lower()
    return next(
        (
            system
            for mark, system in (*_TAGS.items(), ("windows", "windows"), ("mac", "macos"))
            if name.startswith(mark)
        ),
        "",
    )


def _machine(platform: Platform | None, symptom: Symptom | None, arm: Symptom | None) -> str:
    have = str(symptom.get("have") or "") if symptom else ""
    tagged = next((arch for arch in _ARM if have.endswith(arch)), "")
    return tagged or (str(platform.get("architecture") or "") if platform else "") or ("aarch64" if arm else "")


def _for_windows(program: Program | None, torch: Torch | None) -> str | None:
    """What is made for Windows; of what stands on a release of torch, the one that belongs to that."""
    if program is None or not program.windows:
        return None
    friends = companions(str(torch.version)) if torch and torch.get("version") and program.name == "Triton" else None
    minor = ".".join(str(friends.triton).split(".")[:2]) if friends and friends.triton[:1].isdigit() else ""
    return f"{program.windows}=={minor}.*" if minor else program.windows
