"""A library that torch needs is missing on Windows."""

import re

from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen
from rigup.knowledge.cuda import version_key
from rigup.knowledge.cuda_libraries import faulty
from rigup.knowledge.torch_builds import builds, companions, index_url
from rigup.machine.kinds import PythonEnv, Symptom, SystemPackage, Torch


@rule("windows-runtime-dll-missing", "likely")
def torchs_own_part_is_not_loaded(
    symptom: Symptom = seen("dll-load-failed-of-old"), _where: Symptom = seen("torch-c-part-imported")
) -> Verdict:
    """Older Pythons do not say which part it was; the line above tells that it is torch's."""
    return {"said": symptom.id}


@rule("windows-runtime-dll-missing", "possible")
def program_lacks_a_library(
    symptom: Symptom = seen(tag="windows-status"), where: Symptom | None = seen("oneapi-in-words", "ipex-imported", "intel-gpu-in-words")
) -> Verdict:
    """The same where nobody tells which library it may be."""
    return where is None and {"said": symptom.id}


@rule("windows-runtime-dll-missing", "likely")
def runtime_of_visual_c_is_not_installed(
    torch: Torch,
    _gone: SystemPackage = one(name="vc-runtime", state="absent"),
    conda: PythonEnv | None = one(kind="conda"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """torch's libraries stand on it, and pip's wheels do not bring it; conda does."""
    return torch.knows("env") and conda is None and works is None


@mends("windows-runtime-dll-missing")
def releases_that_lack_it(knew: Params, torch: Torch | None = one(version=Passes(bool))) -> Params:
    """Some releases asked for a file that they did not bring, nor does Microsoft's runtime; later ones do."""
    lib = str(knew.get("lib") or knew.get("lib2") or knew.get("lib3") or "")
    known = faulty(lib)
    if known is None:
        return {"of_runtime": lib or "vcruntime140.dll"}
    have, friends = str(torch.version) if torch is not None else "", companions(known.fixed)
    holes: Params = {"of_tools": known.lib}
    if (have and version_key(have) >= version_key(known.fixed)) or friends is None:
        return holes
    holes["vision"] = friends.torchvision
    variants = [row.variant for row in builds("windows") if row.torch == known.fixed]
    variant = have.partition("+")[2]
    if variant in variants:
        return holes | {"release": known.fixed, "index": index_url(variant)}
    least = min((name for name in variants if name.startswith("cu")), key=lambda name: int(name[2:]))  # which driver there is nobody tells
    return holes | {"package": known.package, "fixed": known.fixed, "variant": least}


@mends("windows-runtime-dll-missing")
def library_of_hip(knew: Params, symptom: Symptom = seen("hip-dll-missed")) -> Params:
    """AMD's own, which no runtime of Microsoft's brings."""
    match = re.search(r"amdhip64\w{0,4}\.dll", str(knew.get("lib") or symptom.get("lib") or symptom.get("other") or ""), re.IGNORECASE)
    return {"what": "AMD HIP SDK", "lib": match[0] if match else "amdhip64.dll"}
