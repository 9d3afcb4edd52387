"""Libraries of different ROCm releases meet in one process."""

import re

from rigup.diagnosis.causes.grounds import ids_in, symptoms_in
from rigup.diagnosis.causes.rocm.libraries import HIP, major, missed_and_there, numbered, of_its_own_release
from rigup.diagnosis.causes.rocm.torch_builds import amd_holes, of_card, serves, torch_holes
from rigup.diagnosis.causes.rocm.who_computes import who_computes_where
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, wordings
from rigup.knowledge.amd_ways import newest_of, newest_rocm
from rigup.knowledge.rocm_libraries import keeps_its_number, rocm_of_library
from rigup.machine.kinds import Gpu, KernelLibrary, PathLibrary, SearchPath, Symptom, Toolkit, Torch

_OF_AMDS_WHEELS = wordings(tag="amd-wheels-of-two-releases")
_RELEASE = re.compile(r"/rocm-(\d{1,2}\.\d{1,2})")


@rule("rocm-abi-mismatch")
def library_of_another_major(torch: Torch, error: Symptom = seen("rocm-library-not-loaded")) -> Verdict:
    """Something was built for another ROCm than torch."""
    return error.get("lib") == HIP and bool(torch.hip) and major(torch.hip) != error.get("want") and {"have": major(torch.hip)}


@rule("rocm-abi-mismatch", strength="likely")
def library_of_another_release(
    rocm: Toolkit = one(name="rocm"), error: Symptom = seen("rocm-library-not-loaded"), torch: Torch | None = None
) -> Verdict:
    """Something was built for another ROCm than is installed."""
    unlike = error.get("lib") == HIP and major(rocm.version) != error.get("want")
    return unlike and not (torch and torch.get("hip")) and {"have": major(rocm.version)}


@rule("rocm-abi-mismatch", strength="likely")
def program_was_linked_with_another_release(
    error: Symptom = seen("program-not-linked-with-rocm"), rocm: Toolkit = one(name="rocm")
) -> Verdict:
    """A program of the system, which no environment's torch concerns, was built for another ROCm than is installed."""
    return major(rocm.version) != error.want and {"have": major(rocm.version)}


@rule("rocm-abi-mismatch", strength="likely")
def another_rocm_stands_first(
    torch: Torch, rocm: Toolkit = one(name="rocm"), library: PathLibrary = one(), path: SearchPath = one(variable="LD_LIBRARY_PATH")
) -> Verdict:
    """A wheel brings its own ROCm, and the variable leads to one of another major before it."""
    held = library.soname.startswith((HIP, "librocblas")) and library.folder == path.path
    is_elsewhere = path.path.startswith(rocm.path.rstrip("/") + "/") and major(torch.get("hip")) not in ("", major(rocm.version))
    return held and is_elsewhere and not torch.get("available") and {"have": major(torch.hip), "folder": path.path}


@rule("rocm-abi-mismatch", strength="likely")
def library_is_not_there(
    error: Symptom = seen("rocm-library-not-loaded"),
    own: Symptom | None = seen("torch-import-lacks-library"),
    part: Symptom | None = seen("torch-c-part-imported"),
    built: Symptom | None = seen("wheel-runpath-told"),
    named: Symptom | None = seen(tag="rocm-stack-wheels"),
    torch: Torch | None = None,
    rocm: Toolkit | None = one(name="rocm"),
    in_environment: Symptom | None = seen("rocm-library-lies-in-the-environment"),
    night: Symptom | None = seen(tag="builds-of-a-night"),
) -> Verdict:
    """An extension wants a library of some ROCm; what is there is not told."""
    is_known = error.get("lib") == HIP and bool((torch and torch.get("hip")) or rocm)
    bundled = (named is not None and keeps_its_number(str(error.get("lib")))) or (
        (part is not None or (night is not None and rocm is None)) and not numbered(error)
    )
    return (
        not is_known
        and not bundled
        and not (part is not None and of_its_own_release(error, torch))
        and not missed_and_there(error, in_environment)
        and built is None
        and not (own and str(own.get("lib")).startswith(str(error.get("lib"))))
    )


@rule("rocm-abi-mismatch", strength="likely")
def kernels_of_another_rocblas(
    error: Symptom = seen("rocblas-loads-from-system"), library: KernelLibrary | None = one(name="rocblas")
) -> Verdict:
    """A file that is there and cannot be read was written for another rocBLAS than the one that runs."""
    named = re.search(r"gfx[0-9a-f]{3,4}(?![0-9a-f])", str(error.path))
    absent = library is not None and named is not None and named[0] not in (library.get("code") or ())
    return not absent


@rule("rocm-abi-mismatch", "possible")
def server_waits_for_rocm_in_vain(
    symptom: Symptom = seen("ollama-waits-for-rocm-in-vain"), other: Gpu | None = one(vendor="nvidia"), own: Gpu | None = one(vendor="amd")
) -> Verdict:
    """The search for ROCm's devices does not end; beside another maker's card alone there are none to find."""
    return (other is None or own is not None) and symptom.values()


mends("rocm-abi-mismatch")(who_computes_where)


def _beside_torch(knew: Params, major: str, have: str, lib: str) -> Params:
    """What is built for another ROCm than torch: built again for torch's, or a torch of its own ROCm."""
    paths = " ".join(str(symptom.get("path") or "") for symptom in symptoms_in(knew))
    folder = _RELEASE.search(paths)
    wanted = folder[1] if folder else major if major != have else ""
    other = newest_of("rocm" + wanted) if wanted else None
    isa = str(knew.get("isa") or "")
    chosen = other if other and serves(isa, other.code) else None if lib else of_card(isa)
    return {"lib_asked": lib or None, "rocm": have or None, **torch_holes(chosen)}


@mends("rocm-abi-mismatch")
def one_release_for_all(
    knew: Params,
    rocm: Toolkit | None = one(name="rocm"),
    torch: Torch | None = None,
    error: Symptom | None = seen("rocm-library-not-loaded", "program-not-linked-with-rocm"),
) -> Params:
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
        return torch_holes(of_card(str(knew.get("isa") or "")))
    release, installed = newest_rocm(major) if lib else "", str(rocm.get("version")) if rocm else ""
    asked = f"{lib}.so.{want}" if lib and installed else None
    renew = None if release or installed else knew.get("program")
    return {"release": release or None, "lib_asked": asked, "rocm": installed or None, "renew": renew}


def other_number(error: Symptom, package: Symptom) -> bool:
    """Whether the package is of that library, and of another major: these libraries bear their package's."""
    want = str(error.get("want") or "")
    return str(error.get("lib")) == f"lib{package.name}" and want.isdigit() and want != str(package.major)
