"""Intel's oneAPI: a library that is not there, or there in another generation."""

from rigup.diagnosis.rule import Verdict, rule, seen
from rigup.machine.kinds import Package, PathLibrary, Symptom, Torch

_MISSING = ("oneapi-library-not-found", "mkl-library-not-found", "ldd-oneapi-not-found")


def _generation(soname: str) -> tuple[str, str]:
    """libmkl_sycl.so.3 in base and number."""
    base, _, number = soname.partition(".so")
    return base, number.strip(".").partition(".")[0]


@rule("cpu-only-torch", "likely")
def a_program_found_no_code_for_intel(
    said: Symptom = seen("torch-not-linked-with-xpu"), torch: Torch | None = None
) -> Verdict:
    """torch says so itself; a build for Intel's GPUs has them, with or without Intel's extension."""
    return not (torch and (torch.get("xpu_available") or "+xpu" in str(torch.get("version")))) and {"said": said.id}


@rule("intel-oneapi-version-mismatch")
def other_generation_is_shown(
    missing: Symptom = seen(*_MISSING), shown: Symptom = seen("oneapi-mkl-shown", "oneapi-sycl-shown")
) -> Verdict:
    """What is wanted and what a listing shows differ in the number alone."""
    lib, number = str(missing.get("lib")), missing.get("number")
    other = shown.get("base") == missing.get("base") and number is not None and shown.get("number") != number
    return other and {"lib": lib, "have": str(shown.get("base")) + ".so." + str(shown.get("number"))}


@rule("intel-oneapi-version-mismatch")
def other_generation_is_installed(library: PathLibrary, missing: Symptom = seen(*_MISSING)) -> Verdict:
    """The same of a library that lies on a search path."""
    (base, number), (wanted, want) = _generation(library.soname), _generation(str(missing.get("lib")))
    return base == wanted and bool(want) and number != want and {"lib": missing.get("lib"), "have": library.soname}


@rule("intel-oneapi-runtime-missing", "likely")
def extension_lacks_a_library_of_mkl(
    missing: Symptom = seen("mkl-library-not-found"), _ipex: Symptom = seen("ipex-imported")
) -> Verdict:
    """MKL alone may be anybody's; here Intel's extension asks for it."""
    return {"lib": missing.get("lib")}


@rule("intel-oneapi-runtime-missing", "possible")
def environment_of_the_extension_lacks_it(
    package: Package, missing: Symptom = seen("mkl-library-not-found")
) -> Verdict:
    """The extension is installed where the library is missed."""
    return package.name == "intel-extension-for-pytorch" and {"lib": missing.get("lib")}
