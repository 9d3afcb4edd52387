"""What mends programs on AMD's cards that are of another maker, of another ROCm, or not whole."""

import re

from rigup.diagnosis.fixes.amd_chips import amd_holes, torch_holes, without_a_gpu
from rigup.diagnosis.fixes.amd_told import ids_in, symptoms_in
from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.diagnosis.rules.rocm import left
from rigup.knowledge.amd_ways import (
    last_rocm_for,
    newest_for_rocm,
    newest_of,
    newest_rocm,
    rocm_for_python,
    setting,
    wrapper_of,
)
from rigup.knowledge.chips import runs_on
from rigup.knowledge.cuda import version_key
from rigup.knowledge.directml import newest_directml
from rigup.knowledge.rocm_libraries import rocm_of_library
from rigup.knowledge.torch_builds import TorchBuild, build, builds, newest_build
from rigup.machine.kinds import KernelLibrary, Symptom, Toolkit, Torch

_INDEX = wordings(tag="torch-index-asked")
_GONE = wordings(tag="amd-index-gone")
_OF_AMDS_WHEELS = wordings(tag="amd-wheels-of-two-releases")
_RELEASE = re.compile(r"/rocm-(\d{1,2}\.\d{1,2})")
_NAME_OF_AMD = re.compile(r"lib(?:hip|roc|hsa|amd|rccl|miopen|MIOpen|aotriton|magma|drm)")
_VARIANT = re.compile(r"/((?:rocm|cu)[\d.]+)/?$")


# -- builds for another maker's cards
@mends("cuda-torch-on-amd")
def build_for_this_maker(
    knew: Params, gone: Symptom | None = seen("pip-replaced-torch-for-rocm", tag="amd-index-gone"), index: Symptom | None = seen(tag="torch-index-asked"), directml: Symptom | None = seen("directml-spoken-of", "directml-in-words", "sdnext-directml-device", "directml-option"),
) -> Params:  # fmt: skip
    """The one that was there before, or that somebody asked for, if it has the chip; else the newest that has it.

    Of several messages the one that tells the build stands first.
    """
    isa, system = str(knew.get("isa") or ""), str(knew.get("system"))
    if system == "windows":
        return _on_windows(isa, directml is not None)
    before = _before(gone) or _of_index(index)
    newest = newest_build(isa) if isa else newest_for_rocm()
    chosen = before if before and _serves(isa, before.code) else newest
    if chosen is None or not chosen.rocm:
        return amd_holes(isa, system) or {"chip": isa or None, **without_a_gpu(system)}
    return {**torch_holes(chosen), "kept": f"torch=={chosen.torch}+{chosen.variant}"}


def _on_windows(isa: str, directml: bool) -> Params:
    """AMD's own builds; a program that was made for DirectML gets that."""
    pinned = newest_directml()
    holes = {} if directml else amd_holes(isa, "windows")
    return holes or ({"pinned": pinned.packages} if pinned else {})


def _before(gone: Symptom | None) -> TorchBuild | None:
    """The build for ROCm that a message says was there."""
    if gone is None:
        return None
    version = str(gone.get("have") or f"{gone.get('old')}+{gone.get('local')}")
    release, _, variant = version.partition("+")
    return newest_of(variant, release) if variant.startswith("rocm") else None


def _of_index(index: Symptom | None) -> TorchBuild | None:
    """The newest build on an index that somebody named."""
    variant = _variant(index)
    return newest_of(variant) if variant.startswith("rocm") else None


def _variant(index: Symptom | None) -> str:
    match = _VARIANT.search(str(index.get("index"))) if index is not None else None
    return match[1] if match else ""


def _serves(isa: str, code: list[str]) -> bool:
    return not isa or runs_on(isa, code)


# -- builds that are not whole
@mends("broken-wheel-missing-library")
def release_that_is_whole(
    knew: Params, index: Symptom | None = seen(tag="torch-index-asked"), conda: Symptom | None = seen("conda-wants-cuda"), torch: Torch | None = None,
) -> Params:  # fmt: skip
    """A release in place of a build of the night, of the variant that was asked for; where it is not torch's, what brings the library."""
    other = _not_torchs(knew)
    if other:
        return other
    lib, isa = str(knew.get("lib") or ""), str(knew.get("isa") or "")
    if conda is not None:
        return torch_holes(newest_of("cu" + str(conda.get("want")).replace(".", "")))
    variant = _variant(index) or _local(str(torch.get("version") if torch else ""))
    same = newest_of(variant) if variant else None
    if same is not None and not _past_the_chip(isa, same):
        return torch_holes(same)
    if lib.startswith("libcu") or variant.startswith("cu"):
        return {"update": "torch"}
    if not (
        isa
        or variant
        or rocm_of_library(lib, str(knew.get("want") or ""))
        or knew.get("hip_of_torch")
        or _NAME_OF_AMD.match(lib)
    ):
        return {}  # nothing tells that it is a build for AMD's cards
    newest = newest_build(isa) if isa else newest_for_rocm()
    return torch_holes(newest) if newest and newest.rocm else amd_holes(isa, str(knew.get("system")))


def _past_the_chip(isa: str, build: TorchBuild) -> bool:
    """Whether the ROCm inside no longer has the chip's kernels: matrix products fail there, whatever torch itself was compiled for."""
    last = last_rocm_for(isa) if isa.startswith("gfx") else None
    return bool(last and build.rocm and version_key(build.rocm)[:2] > version_key(last)[:2])


def _local(version: str) -> str:
    return version.partition("+")[2].partition(".git")[0]


def _not_torchs(knew: Params) -> Params:
    """Ways for a program with everything in one file, a library's wrapper, AMD's own package, a bundled library."""
    ids, lib = ids_in(knew), str(knew.get("lib") or "")
    if any(name.startswith("engine-of-a-bundle") for name in ids):
        return {"renew": knew.get("program"), "vulkan_of_program": knew.get("backend")}
    if "wrapper-misses-its-library" in ids and (package := wrapper_of(lib)):
        return {"update": package}
    if any(name.startswith(("rocms-own-package", "rocm-sdk-")) for name in ids):
        own = rocm_for_python()
        return {"packages": own.packages, "index_of_amd": own.address} if own else {}
    return {"bundled": lib} if "vendored-library-is-not-there" in ids else {}


# -- libraries of another release
@mends("rocm-abi-mismatch")
def one_release_for_all(
    knew: Params, rocm: Toolkit | None = one(name="rocm"), torch: Torch | None = None, error: Symptom | None = seen("rocm-library-not-loaded", "program-not-linked-with-rocm"),
) -> Params:  # fmt: skip
    """The program's own next release; else the ROCm whose library is asked for, told by the library's number."""
    if "ollama-turns-down-amds-driver" in ids_in(knew):
        return {"vendor": "AMD"}
    if knew.get("package_of"):
        return {"update": knew["package_of"]}
    if any(name in _OF_AMDS_WHEELS for name in ids_in(knew)):
        return amd_holes(str(knew.get("isa") or ""), str(knew.get("system")))
    lib, want = (str(knew.get(name) or (error.get(name) if error else "") or "") for name in ("lib", "want"))
    major = rocm_of_library(lib, want)
    if torch is not None and torch.get("hip"):
        have = str(knew.get("have") or torch.get("hip")).partition(".")[0]
        return _beside_torch(knew, major, have, f"{lib}.so.{want}" if lib else "")
    if (knew.get("by_torch") and not major) or not (lib or knew.get("program")):
        return torch_holes(_of_card(str(knew.get("isa") or "")))
    release, installed = newest_rocm(major) if lib else "", str(rocm.get("version")) if rocm else ""
    asked = f"{lib}.so.{want}" if lib and installed else None
    renew = None if release or installed else knew.get("program")
    return {"release": release or None, "lib_asked": asked, "rocm": installed or None, "renew": renew}


def _beside_torch(knew: Params, major: str, have: str, lib: str) -> Params:
    """What is built for another ROCm than torch: built again for torch's, or a torch of its own ROCm."""
    paths = " ".join(str(symptom.get("path") or "") for symptom in symptoms_in(knew))
    folder = _RELEASE.search(paths)
    wanted = folder[1] if folder else major if major != have else ""
    other = newest_of("rocm" + wanted) if wanted else None
    isa = str(knew.get("isa") or "")
    chosen = other if other and _serves(isa, other.code) else None if lib else _of_card(isa)
    return {"lib_asked": lib or None, "rocm": have or None, **torch_holes(chosen)}


def _of_card(isa: str) -> TorchBuild | None:
    newest = newest_build(isa) if isa else newest_for_rocm()
    return newest if newest and newest.rocm else newest_for_rocm()


# -- kernels and numbers
@mends("hipblaslt-no-arch-library")
def without_hipblaslt(knew: Params, library: KernelLibrary | None = one(name="hipblaslt")) -> Params:
    """A newer release of whose it is; until then rocBLAS's own kernels, which torch and rocBLAS can be told to take."""
    path = " ".join(str(symptom.get("path") or "") for symptom in symptoms_in(knew)) + str(
        library.get("path") if library else ""
    )
    if knew.get("program") == "ollama" or "/ollama/" in path.replace("\\", "/"):
        return {"renew": "ollama"}
    if knew.get("by_torch") or "site-packages" in path:
        switch = setting("torch-without-hipblaslt")
        return {**torch_holes(_newer(knew)), "name": switch.name, "value": switch.value}
    switch = setting("rocblas-without-hipblaslt")
    return {"release": newest_rocm() or None, "name": switch.name, "value": switch.value}


def _newer(knew: Params) -> TorchBuild | None:
    """The newest build for the card, unless it is there already."""
    newest = _of_card(str(knew.get("isa") or ""))
    have = str(knew.get("version_of_torch") or "").partition("+")[0]
    return None if newest is None or newest.torch == have else newest


@mends("garbage-output-on-gfx")
def release_that_computes_right(knew: Params) -> Params:
    """Another release than the one that is there, and another way to the card for programs that have one."""
    isa, program = str(knew.get("isa") or ""), knew.get("program")
    if isa and left(isa):
        return {"backend": knew.get("backend") or "Vulkan", "chip": isa}
    if knew.get("by_torch"):
        return torch_holes(_newer(knew) or _older(knew)) | {"backend": None}
    package = knew.get("package_of")
    release = newest_rocm() if knew.get("system") == "linux" else None
    if program and "," not in program:
        return {"renew": None if package else program, "update": package}
    return {"release": release, "backend": knew.get("backend") or (None if release else "Vulkan")}


def _older(knew: Params) -> TorchBuild | None:
    """The last build of the ROCm before the one that is there."""
    have = build(str(knew.get("version_of_torch") or ""))
    rows = [row for row in builds() if have and row.rocm and version_key(row.rocm) < version_key(have.rocm)]
    fitting = [row for row in rows if _serves(str(knew.get("isa") or ""), row.code)]
    return max(fitting, key=lambda row: (version_key(row.torch), version_key(row.rocm)), default=None)
