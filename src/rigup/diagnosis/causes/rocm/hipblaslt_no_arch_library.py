"""hipBLASLt has no kernels for this chip."""

from rigup.diagnosis.causes.grounds import symptoms_in
from rigup.diagnosis.causes.rocm.torch_builds import newer, torch_holes
from rigup.diagnosis.causes.rocm.who_computes import boxed, who_computes_where
from rigup.diagnosis.rule import Params, Verdict, mends, one, seen, text_rule
from rigup.knowledge.amd_ways import newest_bundle, newest_rocm, setting
from rigup.knowledge.cuda import version_key
from rigup.machine.kinds import Gpu, KernelLibrary, Symptom


@text_rule("hipblaslt-no-arch-library", "likely")
def listed_kernels_are_of_other_chips(
    symptom: Symptom = seen("hipblaslt-not-for-chip"), listed: Symptom = seen("hipblaslts-chips-listed"), card: Gpu = one(vendor="amd")
) -> Verdict:
    """torch does without it, and the files of the installed library are of other chips."""
    isa = card.get("isa") or ""
    return bool(isa) and isa not in str(listed.get("listed")).split() and {"gfx": isa, "said": symptom.id}


mends("hipblaslt-no-arch-library")(who_computes_where)


@mends("hipblaslt-no-arch-library")
def without_hipblaslt(knew: Params, library: KernelLibrary | None = one(name="hipblaslt")) -> Params:
    """A newer release of whose it is; until then rocBLAS's own kernels, which torch and rocBLAS can be told to take."""
    path = " ".join(str(symptom.get("path") or "") for symptom in symptoms_in(knew)) + str(library.get("path") if library else "")
    if knew.get("program") == "ollama" or "/ollama/" in path.replace("\\", "/"):
        switch = setting("rocblas-without-hipblaslt")  # its releases bring the library without kernels again and again
        box, windows = boxed(knew), knew.get("system") == "windows"
        option = f"-e {switch.name}={switch.value}" if box else None
        unit = None if box or windows else "ollama"
        there, newest = str(knew.get("release_there") or ""), newest_bundle("ollama")
        old = unit is not None and (not there or version_key(there) < version_key(newest))
        return {
            "service": unit,
            "container": option,
            "alone": switch.name if windows else None,
            "name": switch.name,
            "value": switch.value,
            "bundle": "ollama" if old else None,
            "bundled": newest if old else None,
        }
    if knew.get("by_torch") or "site-packages" in path:
        switch = setting("torch-without-hipblaslt")
        return {**torch_holes(newer(knew)), "alone": switch.name, "value": switch.value}
    switch = setting("rocblas-without-hipblaslt")
    return {"release": newest_rocm() or None, "alone": switch.name, "value": switch.value}
