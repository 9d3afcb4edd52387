"""torch wants a library that its wheel does not bring."""

import re

from rigup.diagnosis.causes.grounds import ids_in
from rigup.diagnosis.causes.rocm.libraries import HIP, major
from rigup.diagnosis.causes.rocm.torch_builds import amd_holes, torch_holes, variant_of
from rigup.diagnosis.causes.rocm.who_computes import who_computes_where
from rigup.diagnosis.rule import Params, Verdict, mends, rule, seen
from rigup.knowledge.amd_ways import last_rocm_for, newest_for_rocm, newest_of, rocm_for_python, wrapper_of
from rigup.knowledge.cuda import version_key
from rigup.knowledge.rocm_libraries import keeps_its_number, rocm_of_library
from rigup.knowledge.torch_builds import TorchBuild, newest_build
from rigup.machine.kinds import Symptom, Torch

_NAME_OF_AMD = re.compile(r"lib(?:hip|roc|hsa|amd|rccl|miopen|MIOpen|aotriton|magma|drm)")


@rule("broken-wheel-missing-library", strength="likely")
def torch_itself_lacks_a_library(
    error: Symptom = seen("torch-import-lacks-library", "torch-typed-import-lacks-library"),
    torch: Torch | None = None,
    system: Symptom | None = seen("rocm-package-of-a-library"),
    basic: Symptom | None = seen(tag="basic-library-not-found"),
) -> Verdict:
    """Its own import fails on a library that the wheel does not bring; what every system has none brings."""
    lib = str(error.get("lib"))
    want = lib.partition(".so.")[2].partition(".")[0]
    other = lib.startswith(HIP) and bool(torch and torch.get("hip")) and major(torch.hip) != want  # type: ignore[union-attr]
    installed = system is not None and lib.startswith(f"lib{system.name}.so.") and want != str(system.major)
    return basic is None and not (other or installed) and {"lib": lib}


@rule("broken-wheel-missing-library", strength="likely")
def wheel_brings_none_of_it(error: Symptom = seen("rocm-library-not-loaded"), _named: Symptom = seen(tag="rocm-stack-wheels")) -> Verdict:
    """A wheel for ROCm brings ROCm's libraries; this one never had another number, so it was left out."""
    lib = str(error.get("lib"))
    return keeps_its_number(lib) and {"lib": lib}


@rule("broken-wheel-missing-library", strength="likely")
def wheel_looks_elsewhere(error: Symptom = seen("rocm-library-not-loaded"), _built: Symptom = seen("wheel-runpath-told")) -> Verdict:
    """What is in the wheel looks for its libraries where they lay when it was built."""
    return {"lib": error.get("lib")}


mends("broken-wheel-missing-library")(who_computes_where)


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


def _local(version: str) -> str:
    return version.partition("+")[2].partition(".git")[0]


def _past_the_chip(isa: str, build: TorchBuild) -> bool:
    """Whether the ROCm inside no longer has the chip's kernels: matrix products fail there, whatever torch itself was compiled for."""
    last = last_rocm_for(isa) if isa.startswith("gfx") else None
    return bool(last and build.rocm and version_key(build.rocm)[:2] > version_key(last)[:2])


@mends("broken-wheel-missing-library")
def release_that_is_whole(
    knew: Params,
    index: Symptom | None = seen(tag="torch-index-asked"),
    conda: Symptom | None = seen("conda-wants-cuda"),
    torch: Torch | None = None,
) -> Params:
    """A release in place of a build of the night, of the variant that was asked for; where it is not torch's, what brings the library."""
    other = _not_torchs(knew)
    if other:
        return other
    lib, isa = str(knew.get("lib") or ""), str(knew.get("isa") or "")
    if conda is not None:
        return torch_holes(newest_of("cu" + str(conda.get("want")).replace(".", "")))
    variant = variant_of(index) or _local(str(torch.get("version") if torch else ""))
    same = newest_of(variant) if variant else None
    if same is not None and not _past_the_chip(isa, same):
        return torch_holes(same)
    if lib.startswith("libcu") or variant.startswith("cu"):
        return {"update": "torch"}
    if not (isa or variant or rocm_of_library(lib, str(knew.get("want") or "")) or knew.get("hip_of_torch") or _NAME_OF_AMD.match(lib)):
        return {}  # nothing tells that it is a build for AMD's cards
    newest = newest_build(isa) if isa else newest_for_rocm()
    return torch_holes(newest) if newest and newest.rocm else amd_holes(isa, str(knew.get("system")))
