"""A library of Intel's oneAPI is not found."""

from rigup.diagnosis.causes.grounds import ids_in
from rigup.diagnosis.causes.intel.oneapi import KITS, RUNTIME, shell_that_has_its_variables, whose_library_it_is
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen
from rigup.knowledge.intel import compute_packages, kit_packages
from rigup.machine.kinds import Distribution, Gpu, Package, Symptom, Toolkit, Torch


@rule("intel-oneapi-runtime-missing", "likely")
def nothing_of_its_runtime_is_there(
    torch: Torch,
    packages: Every[Package] = every(Package),
    kit: Toolkit | None = one(name=KITS),
    works: Torch | None = one(xpu_available=True),
) -> Verdict:
    """PyTorch's build for Intel stands on the compiler's runtime; its environment has no package of it, and the system no oneAPI."""
    mine = [package for package in packages if torch.knows("env") and package.get("env") == torch.env]
    from_pip = "+xpu" in str(torch.get("version")) and any(package.get("manager") == "pip" for package in mine)
    brought = any(package.name in RUNTIME for package in mine)
    return from_pip and not brought and kit is None and works is None and {"lib": "libsycl"}


@rule("intel-oneapi-runtime-missing", "likely")
def extension_lacks_a_library_of_mkl(missing: Symptom = seen("mkl-library-not-found"), _ipex: Symptom = seen(tag="ipex-named")) -> Verdict:
    """MKL alone may be anybody's; here Intel's extension asks for it."""
    return {"lib": missing.get("lib")}


@rule("intel-oneapi-runtime-missing", "possible")
def environment_of_the_extension_lacks_it(package: Package, missing: Symptom = seen("mkl-library-not-found")) -> Verdict:
    """The extension is installed where the library is missed."""
    return package.name == "intel-extension-for-pytorch" and {"lib": missing.get("lib")}


@rule("intel-oneapi-runtime-missing", "possible")
def torch_itself_lacks_a_library_of_mkl(
    missing: Symptom = seen("mkl-library-not-found"),
    _torch: Symptom = seen("torch-c-part-imported"),
    other: Symptom | None = seen(tag="ipex-named"),
    toolkit: Gpu | None = one(vendor=("nvidia", "amd")),
) -> Verdict:
    """PyTorch's own wheels bring MKL in themselves; a build that looks for it is Intel's, or somebody's own."""
    return other is None and toolkit is None and {"lib": missing.get("lib")}


@rule("intel-oneapi-runtime-missing", "likely")
def program_for_intel_lacks_a_library(
    symptom: Symptom = seen(tag="windows-status"), where: Symptom = seen("oneapi-in-words", "ipex-imported", "intel-gpu-in-words")
) -> Verdict:
    """Windows ends a program with this number where a library of its is not found; this one speaks of SYCL."""
    return {"said": symptom.id, "where": where.id}


mends("intel-oneapi-runtime-missing")(whose_library_it_is)


@mends("intel-oneapi-runtime-missing")
def all_of_level_zero(knew: Params, distribution: Distribution | None = None) -> Params:
    """Who misses the loader misses the driver behind it too, without which no device is found: they come from one source."""
    if not str(knew.get("brought") or "").startswith("libze") or distribution is None or not distribution.get("id"):
        return {}
    source = compute_packages(str(distribution.get("id")), str(distribution.get("version")))
    if source is None:
        return {}
    packages = ", ".join(source.packages)
    return {"provider": source.provider, "packages": packages, "brought": None} if source.setup else {"brought": packages}


mends("intel-oneapi-runtime-missing")(shell_that_has_its_variables)


@mends("intel-oneapi-runtime-missing")
def packages_of_the_years_kit(knew: Params, distribution: Distribution = one(id=("ubuntu", "debian"))) -> Params:
    """apt's packages of a year's release by their names; a look comes first, for the kit may be there and its variables missing."""
    packages = ", ".join(kit_packages(str(knew.get("release") or ""))) if knew.get("afterwards") and distribution.get("id") else ""
    if not packages:
        return {}
    script = str(knew["afterwards"]).rpartition(" ")[2]
    absent = any("script" in name for name in ids_in(knew))
    return {"release": None, "kit_alone": packages} if absent else {"release": None, "kit": packages, "maybe": script}
