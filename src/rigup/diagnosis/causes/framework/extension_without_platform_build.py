"""A compiled extension has no binaries for this operating system."""

import re

from rigup.diagnosis.causes.framework.offered_packages import nothing_offered, offered_nothing
from rigup.diagnosis.causes.framework.programs import named_programs, plain_system, upgrade
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule, wordings
from rigup.knowledge.amd_ways import torch_of_amd
from rigup.knowledge.package_systems import is_compiled
from rigup.knowledge.program_builds import Program, is_package, plain_name, program_of
from rigup.knowledge.pythons import pythons, supported
from rigup.knowledge.torch_builds import builds, companions
from rigup.machine.kinds import Gpu, Platform, PythonEnv, Symptom, Torch

_TORCH_INDEX = re.compile(r"https://download\.pytorch\.org/whl/(?:nightly/|test/)?(?P<kind>rocm|cu|xpu)[\d.]*")
# What a wheel's tag says of the system, and what a system calls itself.
_TAGS = (("win", "windows"), ("macosx", "macos"), ("manylinux", "linux"), ("musllinux", "linux"), ("linux", "linux"))
_MACHINES = {"amd64": "x86_64", "aarch64": "arm64"}
# Packages with compiled code that were long made for Intel's processors alone.
_INTEL_ONLY = re.compile(
    r"triton|onnxruntime-gpu|tensorflow-gpu|xformers|faiss-gpu[\w-]{0,10}|bitsandbytes|decord|torch-tensorrt|paddlepaddle-gpu|flash-attn-3|open3d|mxnet-cu\d{2,3}|cupy-cuda1[01]\w{1,2}|auto-gptq|exllamav2"
)
_ON_WINDOWS = wordings(tag="windows-without-build")
_AMDS_BITSANDBYTES = wordings(tag="builds-amds-bitsandbytes")
_ARM = ("aarch64", "arm64", "armv7l", "ppc64le", "riscv64")


@rule("extension-without-platform-build")
def package_of_windows_elsewhere(
    symptom: Symptom = seen("pip-windows-only-package"), platform: Platform = one(system=("linux", "macos"))
) -> Verdict:
    """DirectML is a part of Windows; its packages are built for nothing else."""
    return {"name": symptom.get("name"), "platform": platform.system}


@rule("extension-without-platform-build", "likely")
def package_of_windows_in_a_shell(
    symptom: Symptom = seen("pip-windows-only-package"), shell: Symptom = seen("unix-launcher-typed"), platform: Platform | None = None
) -> Verdict:
    """The same where only the launcher's name tells the system."""
    return (platform is None or platform.get("system") != "windows") and {"name": symptom.get("name"), "typed": shell.id}


@rule("extension-without-platform-build")
def wheels_for_other_systems_only(symptom: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """Nothing among what is offered is for this system."""
    mark = {"windows": "win_", "linux": "linux", "macos": "macosx"}.get(symptom.system.lower(), "")
    return bool(mark) and mark not in symptom.offered and {"name": symptom.name}


def _system_and_machine(tag: str) -> tuple[str, str]:
    """`macosx_15_0_x86_64` is (macosx, x86_64); a Mac's universal wheels serve both."""
    match = re.fullmatch(
        r"(manylinux|musllinux|linux|macosx|win)\w{0,12}?(?:_\d{1,2}){0,2}_(x86_64|aarch64|arm64|amd64|i686|universal2)", tag
    )
    return (match[1], match[2]) if match else ("", "")


@rule("extension-without-platform-build")
def resolver_finds_wheels_for_other_systems(
    symptom: Symptom = seen("uv-no-platform-tag"), offer: Symptom | None = seen("uv-wheels-for-platforms")
) -> Verdict:
    """The same in the words of uv's resolver; a processor of another kind counts as another system. On a Mac it may be the Python that is for another one."""
    system, machine = _system_and_machine(str(symptom.have))
    listed = re.findall(r"\w+", str(offer.offered)) if offer is not None and offer.name == symptom.name else []
    served = any(_system_and_machine(tag) in ((system, machine), (system, "universal2")) for tag in listed)
    cut = offer is None and re.fullmatch(r"manylinux_2_(?:1?\d|2[0-7])_\w{3,12}", str(symptom.have))  # an older libc?
    mac = (system, machine) == ("macosx", "x86_64")
    return bool(system) and not served and not cut and not mac and {"name": symptom.name}


@rule("extension-without-platform-build", "likely")
def triton_is_for_linux(_said: Symptom = seen("no-working-triton"), platform: Platform = one(system="windows")) -> Verdict:
    """torch.compile wants Triton, which has no wheels of its makers for Windows."""
    return platform.get("wsl") is None and {"name": "triton"}


@rule("extension-without-platform-build", "likely")
def a_build_for_processors_on_another_system(
    _said: Symptom = seen("bitsandbytes-for-cpu"),
    platform: Platform = one(system=("windows", "macos")),
    trains: Symptom | None = seen("epoch-with-its-loss"),
    torch: Torch | None = None,
) -> Verdict:
    """Its releases of that time have GPU code for Linux only, and fall back to the processor elsewhere; who does not use it trains on.

    Beside a torch without a GPU build every release says so.
    """
    cpu_build = torch is not None and "+cpu" in str(torch.get("version"))
    return platform.get("wsl") is None and trains is None and not cpu_build and {"name": "bitsandbytes"}


@rule("extension-without-platform-build", "likely")
def a_package_for_linux_alone(
    symptom: Symptom = seen("pip-linux-only-package"),
    platform: Platform = one(system=("windows", "macos")),
    part: Symptom | None = seen("cuda-part-of-tensorflow-not-offered"),
) -> Verdict:
    """The package has wheels for Linux only; nobody wants it itself where it is a part of TensorFlow's."""
    wanted = part is None or platform.system == "macos"
    return wanted and platform.get("wsl") is None and {"name": symptom.name}


@text_rule("extension-without-platform-build", "likely")
def extension_is_for_cuda_alone(
    symptom: Symptom = seen(tag="bitsandbytes-for-cuda"),
    card: Gpu | None = one(vendor="amd"),
    named: Symptom | None = seen(tag="of-amds"),
    other: Gpu | None = one(vendor="nvidia"),
    nvidia: Symptom | None = seen(tag="nvidia-card-spoken-of"),
) -> Verdict:
    """The wheel has code for CUDA and for processors, and the GPU is AMD's."""
    ours = card is not None or named is not None
    name = "xformers" if symptom.id.startswith("xformers") else "bitsandbytes"
    return ours and other is None and nvidia is None and {"name": name, "said": symptom.id}


@text_rule("extension-without-platform-build", "likely")
def nothing_of_triton_for_windows(
    symptom: Symptom = seen("pip-no-version"),
    platform: Platform = one(system="windows"),
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
) -> Verdict:
    """Its makers publish it for Linux alone."""
    named = symptom.name in ("triton", "vllm", "deepspeed") and symptom.get("offered") in ("none", "", None)
    return offline is None and named and platform.get("wsl") is None and {"name": symptom.name}


@text_rule("extension-without-platform-build", "likely")
def phone_has_no_wheels(symptom: Symptom = seen(tag="pip-offers-none"), _phone: Symptom = seen("android-system-shown")) -> Verdict:
    """Wheels for Linux are not for Android, whose libraries are others."""
    name = offered_nothing(symptom)
    return bool(name and (pythons(name) or is_compiled(name))) and {"name": symptom.name, "platform": "Android"}


@text_rule("extension-without-platform-build")
def refused_wheel_is_for_another_machine(
    symptom: Symptom = seen("wheel-tag-refused"), platform: Platform = one(system=("linux", "macos", "windows"))
) -> Verdict:
    """`manylinux1_x86_64` on a processor of another kind, `win_amd64` on Linux."""
    tag = str(symptom.get("os"))
    system = next((name for start, name in _TAGS if tag.startswith(start)), "")
    machine = next((arch for arch in ("x86_64", "amd64", "arm64", "aarch64") if tag.endswith(arch)), "")
    mine = str(platform.get("architecture") or "")
    other = bool(machine and mine) and _MACHINES.get(machine, machine) != _MACHINES.get(mine.lower(), mine)
    return bool(system) and (system != platform.system or other) and {"name": symptom.name, "platform": platform.system}


@text_rule("extension-without-platform-build", "likely")
def nothing_is_offered_to_intels_macs(
    symptom: Symptom = seen("uv-no-platform-tag"),
    offer: Symptom | None = seen("uv-wheels-for-platforms"),
    chip: Gpu | None = one(vendor="apple"),
    named: Symptom | None = seen("apple-chip-named", "apple-chip-in-words", "apple-silicon-in-words"),
) -> Verdict:
    """Who asks is built for Intel's processors, and nobody tells of Apple's chip, on which that would be the wrong Python."""
    asks = re.fullmatch(r"macosx_\d{2}_\d{1,2}_x86_64", str(symptom.have)) is not None
    served = offer is not None and re.search(r"\bmacosx_\w{3,12}_(?:x86_64|universal2)\b", str(offer.offered))
    return asks and not served and chip is None and named is None and {"name": symptom.name}


@text_rule("extension-without-platform-build", "likely")
def offered_wheels_are_for_other_processors(symptom: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """Wheels for Linux are offered, and none for this processor."""
    match = re.fullmatch(r"(?:many|musl)linux_\d_\d{1,2}_(\w{3,12})", str(symptom.have))
    return (
        bool(match)
        and "linux" in str(symptom.offered)
        and not re.search(r"_" + str(match and match[1]) + r"\b", str(symptom.offered))
        and {"name": symptom.name}
    )


@text_rule("extension-without-platform-build", "likely")
def package_is_not_made_for_this_processor(
    symptom: Symptom = seen(tag="pip-offers-none"),
    _arm: Symptom = seen(tag="arm-shown"),
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
    python: PythonEnv | None = None,
    platform: Platform | None = one(system=("windows", "macos")),
) -> Verdict:
    """uname names ARM's processor, and pip is offered nothing of a package that is made for Intel's."""
    name = nothing_offered(symptom)
    aside = offline is not None or platform is not None
    wrong = python is not None and python.knows("version") and supported(name, python.version) is False
    return not aside and not wrong and bool(_INTEL_ONLY.fullmatch(name)) and {"name": symptom.name}


def _plain(name: str) -> str:
    """A package's name; a file's `libdecord` is of decord, and a folder's is none."""
    bare = plain_name(name)
    return bare.removeprefix("lib") if program_of(bare.removeprefix("lib")) else bare if is_package(name) else ""


def _system(knew: Params, platform: Platform | None, symptom: Symptom | None, named: Symptom | None) -> str:
    if named is not None:
        return "windows" if named.id in _ON_WINDOWS else "macos"
    if platform and platform.get("system"):
        return plain_system(platform)
    name = str((symptom.get("system") or symptom.get("have")) if symptom else knew.get("platform") or "").lower()
    return next((system for mark, system in (*_TAGS, ("windows", "windows"), ("mac", "macos")) if name.startswith(mark)), "")


def _machine(platform: Platform | None, symptom: Symptom | None, arm: Symptom | None) -> str:
    have = str(symptom.get("have") or "") if symptom else ""
    tagged = next((arch for arch in _ARM if have.endswith(arch)), "")
    return tagged or (str(platform.get("architecture") or "") if platform else "") or ("aarch64" if arm else "")


def _on_rocm(torch: Torch | None, gpu: Gpu | None) -> bool:
    built = torch is not None and bool(torch.get("hip") or "+rocm" in str(torch.get("version")))
    return built or (gpu is not None and gpu.get("vendor") == "amd")


def _has_torch(package: str, system: str, machine: str) -> bool:
    """Whether torch is what is asked for, and has builds there: the file was of another machine."""
    return package == "torch" and bool(builds(system or "linux", machine or "x86_64"))


def _on_a_mac(program: Program | None, package: str) -> Params:
    build = program.macos if program else ""
    return {"here": build or None, "linux": None if build else package or "it", "platform": "macOS"}


def _for_windows_mostly(program: Program | None, rocm: bool) -> bool:
    """Whether it is Windows' people who miss such a package, where nobody tells the system and no card of AMD's is in sight."""
    return program is not None and bool(program.windows or "windows" in program.not_for) and not rocm


def _for_windows(program: Program | None, torch: Torch | None) -> str | None:
    """What is made for Windows; of what stands on a release of torch, the one that belongs to that."""
    if program is None or not program.windows:
        return None
    friends = companions(str(torch.version)) if torch and torch.get("version") and program.name == "Triton" else None
    minor = ".".join(str(friends.triton).split(".")[:2]) if friends and friends.triton[:1].isdigit() else ""
    return f"{program.windows}=={minor}.*" if minor else program.windows


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
    return {**upgrade("upgraded", upgraded or None), "wsl": None if system == "linux" or rocm else "wsl"}


@mends("extension-without-platform-build")
def what_serves_the_system(
    knew: Params,
    platform: Platform | None = None,
    torch: Torch | None = None,
    symptom: Symptom | None = seen("uv-other-platform-only", "uv-no-platform-tag"),
    named: Symptom | None = seen(tag="windows-without-build mac-without-build"),
    arm: Symptom | None = seen("processor-of-arm-answers", "aarch64-in-words"),
    phone: Symptom | None = seen("android-system-shown"),
    gpu: Gpu | None = None,
    hip: Symptom | None = seen("torch-for-rocm-named-by-a-build", "rocm-torch-installed"),
) -> Params:
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


@text_rule("extension-without-platform-build", "likely")
def index_is_of_linux_alone(
    symptom: Symptom = seen("pip-no-version", offered="none"),
    index: Symptom = seen("index-url-of-torch", "pip-single-index"),
    offline: Symptom | None = seen(tag="pip-index-not-reached"),
    platform: Platform = one(system=("windows", "macos")),
) -> Verdict:
    """pytorch.org has its builds for ROCm for Linux, and for CUDA and XPU none for Macs: another number in the address changes nothing."""
    match = _TORCH_INDEX.search(str(index.get("index")))
    lacks = match is not None and (match["kind"] == "rocm" or platform.system == "macos")
    own = str(symptom.name).partition("=")[0] in ("torch", "torchvision", "torchaudio")
    clear = offline is None and platform.get("wsl") is None
    return clear and own and lacks and {"name": match and match[0], "index": index.id}


@mends("extension-without-platform-build")
def torch_of_this_system(
    knew: Params,
    _none: Symptom = seen("pip-no-version", offered="none"),
    card: Gpu | None = one(vendor="amd"),
    platform: Platform = one(system=("windows", "macos")),
) -> Params:
    """An index of pytorch.org has nothing for it: AMD's own has builds for Windows, and PyPI's torch is a Mac's."""
    if not str(knew.get("name")).startswith("https://download.pytorch.org/whl/"):
        return {}
    if platform.system == "macos":
        return {"here": "torch", "linux": None}
    own = torch_of_amd(str(card.get("isa") or ""), "windows") if card is not None else None
    return {"packages": own.packages, "index_of_amd": own.address, "here": None} if own else {}
