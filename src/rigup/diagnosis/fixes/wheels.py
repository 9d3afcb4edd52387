"""What mends a wheel that is not for this Python, this libc or this processor, and a TensorFlow without its GPU part."""

import re

from rigup.diagnosis.fixes.words import plain_system
from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.diagnosis.rules.wheels import libc_of
from rigup.knowledge.conda_forge import any_with_cuda, channel, conda_package
from rigup.knowledge.cuda import version_key
from rigup.knowledge.cuda_libraries import asked_by, runtime_of
from rigup.knowledge.program_builds import addon_of_module, force_build, is_package, plain_name, program_of
from rigup.knowledge.pythons import (
    plain_tensorflow_for_processors,
    pythons,
    supported,
    tensorflow_extra,
    tensorflow_with_windows,
)
from rigup.knowledge.torch_builds import TorchBuild, builds, companions, index_url
from rigup.knowledge.wheels import families
from rigup.machine.kinds import Cpu, Distribution, Gpu, Package, Platform, PythonEnv, Symptom, TensorFlow, Torch

_ASKED = wordings(tag="wheel-refused")
_MUSL = wordings(tag="musl-system")
_PLUS = wordings(tag="libstdc-too-old")
_RELEASES = 5  # that have to have a Python before it is named unasked
_EMULATED = ("QEMU", "KVM")
_GUESTS = "guest-processor-made-up"
_OF_TORCH = ("torch", "torchvision", "torchaudio")


# -- the Python
@mends("python-version-without-wheels")
def a_python_that_has_wheels(
    knew: Params, symptom: Symptom | None = seen(tag="wheel-refused"), python: PythonEnv | None = None, platform: Platform | None = None, index: Symptom | None = seen("pip-looks-in"),
    poetry: Symptom | None = seen("poetry-has-no-candidate"), narrow: Symptom | None = seen("python-of-32-bits"),
) -> Params:  # fmt: skip
    """The one nearest to what is there for which the release has wheels; which release, the text tells, or nobody."""
    name = str(knew.get("name") or (symptom.get("name") if symptom else "") or "")
    poetry = poetry if poetry is not None and name in ("", poetry.get("name")) else None
    have = str(knew.get("have") or (python.get("version") if python else "") or "")
    program = program_of(name) if name else None
    name = "torch" if program and program.name == "torch" and name not in _OF_TORCH else name
    release = _release(symptom) or _plain_release(
        str((poetry.get("version") if poetry else None) or knew.get("version") or "")
    )
    found = (
        _pythons(name, release, plain_system(platform), str(index.get("variant") or "") if index else "")
        if name
        else []
    )
    if not found and program and program.on == "torch" and have and not release:
        found = [
            python for python in pythons("torch") if version_key(python) < version_key(have)[:2]
        ]  # that one has none, the text says
    fitting = _in_range(found, str(knew.get("want") or "")) or _of_tag(symptom)
    wish = program.wish if program and plain_name(name) in program.packages and program.name != "onnxruntime" else ""
    wish = wish or (name if any(name in family.called for family in families()) else "")
    asked = wish or (name if is_package(name) else "")
    if symptom is not None and symptom.id == "wheel-tag-refused" and not wish:
        asked = ""  # the wheel itself is installed there, and may lie on no index
    exact = f"{asked}=={release}" if asked and release and (found or not wish) else asked
    chosen = _nearest(fitting, have) if fitting else None
    variant = str(index.get("variant") or "") if index else ""
    friends = companions(release) if asked == "torch" and release and variant and chosen else None
    if friends is not None:
        return {"python": chosen, "release": release, "torchvision": friends.torchvision, "index": index_url(variant)}
    return {
        "python": f"{chosen} (64-bit)" if chosen and narrow is not None else chosen, "torch": None if fitting or name else "torch",
        "wish": exact or None if wish else None, "exact": None if wish else exact or None, "only": None if asked else "only",
    }  # fmt: skip


def _plain_release(version: str) -> str:
    return version.partition("+")[0] if re.fullmatch(r"\d+\.\d[\w.+]*", version) else ""


def _in_range(known: list[str], want: str) -> list[str]:
    """Those that a text's own range of Pythons allows; that decides also where the tables know nothing."""
    if not re.fullmatch(r"[<>=!~\d., *]{3,80}", want):
        return known
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        allowed = SpecifierSet(want.replace(" ", ""))
    except InvalidSpecifier:
        return known
    return [python for python in known or pythons("torch") if python in allowed or python + ".99" in allowed]


def _of_tag(wheel: Symptom | None) -> list[str]:
    """A wheel's own name tells its Python: `cp310`."""
    tag = (
        re.match(r"cp(\d)(\d{1,2})\b", str(wheel.get("tag") or ""))
        if wheel and wheel.id == "wheel-tag-refused"
        else None
    )
    return [f"{tag[1]}.{tag[2]}"] if tag else []


def _pythons(name: str, release: str, system: str, alone: str) -> list[str]:
    """Those of the release; where none is asked for, those that the last releases had all along."""
    exact = pythons(name, release, system, alone) or pythons(name, release, system) or pythons(name, release)
    if release or alone or name not in _OF_TORCH:
        return exact
    last = list(dict.fromkeys(row.torch for row in builds(system)))[:_RELEASES]
    steady = [python for python in exact if all(python in pythons("torch", release_, system) for release_ in last)]
    return steady or exact


def _nearest(known: list[str], have: str) -> str:
    """Of those with wheels the one nearest to what is there; the newest where nobody tells what is."""
    mine = (*version_key(have), 0)[:2] if have else ()
    above = [python for python in known if mine and version_key(python) > mine]
    return above[-1] if mine and above and not [python for python in known if version_key(python) <= mine] else known[0]


def _release(symptom: Symptom | None) -> str:
    """`==1.13.1` asks for one release; a wheel's name tells it."""
    if symptom is None:
        return ""
    asked = str(symptom.get("asked") or "")
    if asked.startswith("==") and "," not in asked and "*" not in asked:
        return asked.lstrip("= ").partition("+")[0]
    return str(symptom.get("version") or "").partition("+")[0] if symptom.knows("abi") else ""


@mends("python-version-without-wheels")
def python_older_than_what_is_there(
    _said: Symptom = seen("rust-to-build-a-wheel-is-missing"),
    python: PythonEnv | None = None,
    asked: Symptom | None = seen("package-is-asked-for"),
) -> Params:
    """The installer falls back to sources in Rust, because the release has no wheel for this Python: one below has."""
    have = str(python.get("version") or "") if python is not None else ""
    below = [
        release
        for release in pythons("torch")
        if not release.endswith("t") and (not have or version_key(release) < version_key(have)[:2])
    ]
    chosen = below[min(1, len(below) - 1)] if below else None
    name = str(asked.get("package") or "") if asked is not None else ""
    return {"python": chosen, "wish": None, "torch": None, "exact": name or None, "only": None if name else "only"}


# -- the libc
@mends("glibc-too-old-for-wheel")
def what_runs_on_this_libc(
    knew: Params, system: Distribution | None = None, torch: Torch | None = None, python: PythonEnv | None = None, symptom: Symptom | None = seen(tag="wheel-refused"),
    musl: Symptom | None = seen(tag="musl-system"), plus: Symptom | None = seen(tag="libstdc-too-old"), tagged: Symptom | None = seen("uv-other-platform-only", "uv-no-platform-tag"),
) -> Params:  # fmt: skip
    """A release of torch whose wheels this libc takes; a system with a newer one; musl takes none of them."""
    if (
        musl is not None
        or (system is not None and libc_of(system) == "musl")
        or (tagged is not None and str(tagged.get("have")).startswith("musl"))
    ):
        return {"least": None, "musl": "musl"}
    if plus is not None:
        return {"least": None, "library": conda_package("libstdc++.so.6"), "channel": channel()}
    name = str(knew.get("file") or knew.get("name") or (symptom.get("name") if symptom else "") or "")
    owner = name.rpartition("/site-packages/")[2].partition("/")[0] if "/site-packages/" in name else ""
    of_torch = owner in ("", *_OF_TORCH) and (torch is not None or name.partition("-")[0] in _OF_TORCH)
    have = str(knew.get("have") or (libc_of(system) if system else ""))
    row = _that_old(have, python) if of_torch and have else None
    friends = companions(row.torch) if row else None
    return {
        "least": knew.get("want") or (next((build.glibc for build in builds() if build.glibc), None)), "release": row.torch if row else None,
        "torchvision": friends.torchvision if friends else None, "index": index_url(row.variant) if row else None,
    }  # fmt: skip


def _that_old(have: str, python: PythonEnv | None) -> TorchBuild | None:
    version = str(python.get("version") or "") if python else ""
    minor = ".".join(version.split(".")[:2])
    rows = [
        row
        for row in builds()
        if row.glibc and version_key(row.glibc) <= version_key(have) and row.cuda and (not minor or minor in row.python)
    ]
    return max(rows, key=lambda row: (version_key(row.torch), row.pypi, version_key(row.cuda)), default=None)


@mends("glibc-too-old-for-wheel")
def package_that_is_compiled_here(knew: Params) -> Params:
    """What was compiled elsewhere and is none of torch's own is compiled on the system itself, where its file tells whose it is."""
    _before, _folder, rest = str(knew.get("file") or "").rpartition("/site-packages/")
    module = re.split(r"[/.]", rest)[0] if rest else ""
    package = addon_of_module(module) or (plain_name(module) if "/" in rest else "")
    if not package or module in _OF_TORCH or knew.get("musl"):
        return {}
    force = force_build(package)
    return {"force": force or None, "compiled": package, "plain": None if force else package, "release": None}


# -- the processor
@mends("cpu-instruction-set-missing")
def where_the_instructions_are_hidden(
    knew: Params,
    platform: Platform | None = None,
    cpu: Cpu | None = None,
    guests: Symptom | None = seen(_GUESTS, "guest-processor-named", "guest-processor-of-a-level-named"),
) -> Params:
    """A guest is shown less than its processor has; on a machine of one's own there is nothing to be shown."""
    emulated = cpu is not None and any(mark in str(cpu.get("model") or "") for mark in _EMULATED)
    guest = emulated or guests is not None or bool(platform and platform.get("hypervisor"))
    bare = platform is not None and platform.knows("hypervisor") and not guest
    want = str(knew.get("want") or knew.get("need") or "")
    return {
        "guest": "guest" if guest else None,
        "perhaps": None if guest or bare else "perhaps",
        "want": (want.upper() if want.isalnum() else want) or None,
    }


# -- TensorFlow
@mends("tensorflow-cpu-build")
def tensorflow_with_its_libraries(
    knew: Params, package: Package | None = one(name="tensorflow-cpu"), answered: TensorFlow | None = None,
    conda: Package | None = one(manager="conda", name=("tensorflow", "tensorflow-base")), held: Package | None = one(name="tensorflow"),
    amd: Gpu | None = one(vendor="amd"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Params:  # fmt: skip
    """The same release with its extra, or as the package that had CUDA in its time; conda is asked for a build with CUDA; AMD's cards want another one."""
    if amd is not None and nvidia is None:
        return {"wish": "tensorflow", "wanted": None}
    if conda is not None:
        return {"channel": channel(), "asked": ", ".join(any_with_cuda("tensorflow")), "wanted": None}
    version = str(knew.get("version") or (answered.get("version") if answered else "") or "")
    old = version or str((held.get("version") if held else "") or "")
    if package is None and plain_tensorflow_for_processors(old) and version_key(old)[2:]:
        return {"wanted": f"tensorflow-gpu=={old}", "stray": "tensorflow", "plain": None}
    extra = tensorflow_extra(version)
    return {
        "wanted": f"{extra}=={version}" if extra and version_key(version)[2:] else "tensorflow[and-cuda]",
        "stray": "tensorflow-cpu" if package else None,
        "plain": None if package else "plain",
    }


@mends("tensorflow-windows-no-gpu")
def the_last_release_for_windows(python: PythonEnv | None = None) -> Params:
    """The last release with CUDA on Windows, and a Python that it has wheels for."""
    release = tensorflow_with_windows()
    fits = bool(python and python.get("version") and supported("tensorflow", str(python.version), release))
    newest = next(iter(pythons("tensorflow", release)), None)
    built = next(reversed(asked_by("tensorflow")), None)
    return {
        "cuda": f"CUDA {built.cuda} + cuDNN {built.cudnn}" if built else None,
        "lib": runtime_of(built.cuda, True) if built else None,
        "last": f"tensorflow=={release}.*" if release else None,
        "python": newest,
        "directly": "yes" if fits else None,
    }
