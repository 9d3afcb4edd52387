"""Intel's GPUs: a torch without code for them, a way to them that is shut, a library of oneAPI that is not there or of another generation."""

import re

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.knowledge.intel import release_of, runtime_of_torch
from rigup.machine.kinds import Gpu, Package, PathLibrary, Platform, Symptom, Toolkit, Torch

_OTHER_WAYS = ("intel-extension-for-pytorch", "openvino", "ipex-llm", "torch-directml")
_KITS = ("oneapi", "oneapi-compiler", "oneapi-mkl", "oneapi-ccl", "oneapi-dnnl")  # parts that carry libraries
_RUNTIME = ("intel-sycl-rt", "intel-cmplr-lib-rt", "dpcpp-cpp-rt")  # of the compiler, as pip has it


def generation(soname: str) -> tuple[str, str]:
    """libmkl_sycl.so.3 in base and number; Windows's sycl8.dll and mkl_sycl_blas.5.dll as Linux names them."""
    if dll := re.fullmatch(r"(\w{3,40}?)\.?(\d{1,2})(?:\.dll)?", soname.lower()):
        return "lib" + dll[1].removeprefix("lib"), dll[2]
    base, _, number = soname.partition(".so")
    return base, number.strip(".").partition(".")[0]


def _year_wanted(missing: Symptom) -> str | None:
    """The year of the kit that brings what is missed."""
    release = release_of(*generation(str(missing.get("lib"))))
    return release[:4] if release else None


@rule("cpu-only-torch", "likely")
def a_program_found_no_code_for_intel(
    symptom: Symptom = seen("torch-not-linked-with-xpu", "torch-not-compiled-with-xpu"), torch: Torch | None = None
) -> Verdict:
    """torch says so itself; a build for Intel's GPUs has them, with or without Intel's extension."""
    return not (torch and (torch.get("xpu_available") or "+xpu" in str(torch.get("version")))) and {
        "said": symptom.id,
        **_foreign(torch),
    }


@rule("cpu-only-torch", "likely")
def files_without_code_for_a_card_of_intels(
    torch: Torch, card: Gpu = one(vendor="intel", integrated=False), other: Gpu | None = one(vendor=("nvidia", "amd")),
    ipex: Package | None = one(name=_OTHER_WAYS), works: Torch | None = one(xpu_available=True),
) -> Verdict:  # fmt: skip
    """The version names the processor alone, beside a card that PyTorch has builds for; other ways to the card are not there."""
    plain = str(torch.get("version")).partition("+")[2].startswith("cpu") and not torch.knows("xpu_available")
    return (
        plain
        and bool(card.get("name"))
        and other is None
        and ipex is None
        and works is None
        and {"have": torch.version}
    )


@rule("cpu-only-torch", "likely")
def build_of_another_maker_beside_a_card_of_intels(
    torch: Torch = one(xpu_available=False), card: Gpu | None = one(vendor="intel", integrated=False),
    named: Symptom | None = seen("intel-gpu-in-words"), other: Gpu | None = one(vendor=("nvidia", "amd")),
) -> Verdict:  # fmt: skip
    """Somebody asked torch for Intel's GPU, and its version names another backend or none."""
    local = str(torch.get("version")).partition("+")[2]
    foreign = local.startswith(("cpu", "cu", "rocm"))
    return foreign and other is None and bool(card or named) and {"have": torch.get("version"), **_foreign(torch)}


def _foreign(torch: Torch | None) -> dict[str, str]:
    """The version of a build that has code for another maker's GPUs: such a one is not for the CPU alone."""
    version = str(torch.get("version")) if torch else ""
    return {"foreign": version} if version.partition("+")[2].startswith(("cu", "rocm")) else {}


@rule("cpu-only-torch", "possible")
def no_such_device_in_torch(
    symptom: Symptom = seen("xpu-attribute-missing"), torch: Torch | None = None, ipex: Symptom | None = seen("ipex-imported")
) -> Verdict:  # fmt: skip
    """Releases before torch knew Intel's GPUs, or a build without them; Intel's extension, once imported, adds the name."""
    return ipex is None and not (torch and "+xpu" in str(torch.get("version"))) and {"said": symptom.id}


# -- the way to the card


@rule("container-without-gpu", "likely")
def no_device_in_a_container(symptom: Symptom = seen(tag="intel-gpu-unseen", at="container")) -> Verdict:
    """torch has code for Intel's GPUs, and the container shows it none."""
    return {"option": "--device=/dev/dri", "said": symptom.id}


@rule("container-without-gpu", "likely")
def no_device_in_a_container_as_people_say(
    symptom: Symptom = seen(tag="intel-gpu-unseen"), where: Symptom = seen(tag="container-spoken-of")
) -> Verdict:
    """The same where only the words tell that it was in a container."""
    return {"option": "--device=/dev/dri", "said": symptom.id, "where": where.id}


@rule("render-group-missing", "possible")
def no_device_on_linux(
    symptom: Symptom = seen(tag="intel-gpu-unseen"), platform: Platform = one(system="linux"), where: Symptom | None = seen(tag="container-spoken-of"), torch: Torch | None = None
) -> Verdict:  # fmt: skip
    """A build with code for Intel's GPUs that finds none: mostly the account may not open the card's node."""
    built = torch is None or "+xpu" in str(torch.get("version")) or not torch.knows("version")
    return where is None and built and not platform.get("wsl") and not symptom.place.world and {"vendor": "intel"}


@rule("render-group-missing", "possible")
def build_for_intel_sees_none_on_linux(
    torch: Torch = one(xpu_available=False),
    platform: Platform = one(system="linux"),
    where: Symptom | None = seen(tag="container-spoken-of"),
) -> Verdict:
    """The same by torch's own answer."""
    return where is None and "+xpu" in str(torch.get("version")) and not platform.get("wsl") and {"vendor": "intel"}


@rule("intel-oneapi-version-mismatch")
def other_generation_is_shown(
    missing: Symptom = seen(tag="oneapi-library-missed"), shown: Symptom = seen("oneapi-mkl-shown", "oneapi-sycl-shown")
) -> Verdict:
    """What is wanted and what a listing shows differ in the number alone."""
    lib, number = str(missing.get("lib")), missing.get("number")
    other = shown.get("base") == missing.get("base") and number is not None and shown.get("number") != number
    return other and {"lib": lib, "have": str(shown.get("base")) + ".so." + str(shown.get("number"))}


@rule("intel-oneapi-version-mismatch")
def other_generation_is_installed(
    library: PathLibrary, missing: Symptom = seen(tag="oneapi-library-missed")
) -> Verdict:
    """The same of a library that lies on a search path."""
    (base, number), (wanted, want) = generation(library.soname), generation(str(missing.get("lib")))
    return base == wanted and bool(want) and number != want and {"lib": missing.get("lib"), "have": library.soname}


@rule("intel-oneapi-version-mismatch", "likely")
def another_release_lies_in_its_folder(
    missing: Symptom = seen(tag="oneapi-library-missed"), kits: Every[Toolkit] = every(Toolkit)
) -> Verdict:
    """The base kit that is there is of other years than the one that brings what is missed."""
    wanted = _year_wanted(missing)
    versions = [kit.version for kit in kits if kit.get("name") in _KITS and kit.get("version")]
    other = bool(versions) and wanted is not None and not any(version.startswith(wanted) for version in versions)
    return other and {"lib": missing.get("lib"), "have": "oneAPI " + max(versions)}


@rule("intel-oneapi-version-mismatch", "likely")
def another_release_is_listed(
    missing: Symptom = seen(tag="oneapi-library-missed"), kit: Toolkit = one(name="oneapi")
) -> Verdict:
    """The same of what a package manager, the compiler or a path of Windows names; where those name two years, nothing is read."""
    wanted = _year_wanted(missing)
    return wanted not in (None, str(kit.version)[:4]) and {"lib": missing.get("lib"), "have": "oneAPI " + kit.version}


@rule("intel-oneapi-version-mismatch", "likely")
def another_release_lies_beside_python(
    missing: Symptom = seen(tag="oneapi-library-missed"), part: Package = one(name=(*_RUNTIME, "mkl-dpcpp"))
) -> Verdict:
    """The same of the compiler's runtime, or of MKL's part for SYCL, as pip and conda bring it: its library has another number each year."""
    wanted, of_mkl = _year_wanted(missing), generation(str(missing.get("lib")))[0].startswith("libmkl")
    own = of_mkl == (part.name == "mkl-dpcpp")
    return (
        own
        and wanted is not None
        and not str(part.version).startswith(wanted)
        and {"lib": missing.get("lib"), "have": f"{part.name} {part.version}"}
    )


@rule("intel-oneapi-version-mismatch", "likely")
def dll_of_another_number_is_shown(
    missing: Symptom = seen(tag="oneapi-library-missed"), shown: Symptom = seen("oneapi-dll-shown")
) -> Verdict:
    """Windows puts the generation into the file's name."""
    (base, number), (wanted, want) = generation(str(shown.get("lib"))), generation(str(missing.get("lib")))
    return base == wanted and number != want and {"lib": missing.get("lib"), "have": shown.get("lib")}


@rule("intel-oneapi-version-mismatch", "likely")
def another_release_is_told(
    missing: Symptom = seen(tag="oneapi-library-missed"),
    statement: Symptom = seen("oneapi-release-in-words", "oneapi-package-there", "oneapi-other-generation-told"),
    unlinked: Symptom | None = seen("ldd-oneapi-not-found"),
) -> Verdict:
    """A library is missed, and a person or a package manager says which oneAPI is there: then it is of another generation. Where the table knows both years, they tell."""
    release, wanted = str(statement.get("release") or statement.get("other") or ""), _year_wanted(missing)
    named = {"have": "oneAPI " + release} if release[:1].isdigit() else {}
    same = bool(named) and wanted is not None and release.startswith(wanted)
    elsewhere = (
        statement.id == "oneapi-release-in-words" and unlinked is not None
    )  # no generation is there: another machine's is spoken of
    return bool(release) and not same and not elsewhere and {"lib": missing.get("lib"), **named}


@rule("intel-oneapi-version-mismatch", "likely")
def runtime_of_another_release_was_put_over_its_own(
    torch: Torch, part: Package = one(name=_RUNTIME), works: Torch | None = one(xpu_available=True)
) -> Verdict:
    """PyTorch's build for Intel pins the compiler's runtime; in its environment lies one of another release."""
    wanted = runtime_of_torch(str(torch.version)) if "+xpu" in str(torch.get("version")) else None
    same_env = torch.knows("env") and part.get("env") == torch.env and works is None
    other = wanted is not None and not str(part.version).startswith(wanted + ".")
    return same_env and other and {"lib": part.name, "have": f"{part.name} {part.version}"}


@rule("intel-oneapi-runtime-missing", "likely")
def nothing_of_its_runtime_is_there(
    torch: Torch, packages: Every[Package] = every(Package), kit: Toolkit | None = one(name=_KITS),
    works: Torch | None = one(xpu_available=True),
) -> Verdict:  # fmt: skip
    """PyTorch's build for Intel stands on the compiler's runtime; its environment has no package of it, and the system no oneAPI."""
    mine = [package for package in packages if torch.knows("env") and package.get("env") == torch.env]
    from_pip = "+xpu" in str(torch.get("version")) and any(package.get("manager") == "pip" for package in mine)
    brought = any(package.name in _RUNTIME for package in mine)
    return from_pip and not brought and kit is None and works is None and {"lib": "libsycl"}


@rule("intel-oneapi-runtime-missing", "likely")
def extension_lacks_a_library_of_mkl(
    missing: Symptom = seen("mkl-library-not-found"), _ipex: Symptom = seen(tag="ipex-named")
) -> Verdict:
    """MKL alone may be anybody's; here Intel's extension asks for it."""
    return {"lib": missing.get("lib")}


@rule("intel-oneapi-runtime-missing", "possible")
def environment_of_the_extension_lacks_it(
    package: Package, missing: Symptom = seen("mkl-library-not-found")
) -> Verdict:
    """The extension is installed where the library is missed."""
    return package.name == "intel-extension-for-pytorch" and {"lib": missing.get("lib")}


@rule("intel-oneapi-runtime-missing", "possible")
def torch_itself_lacks_a_library_of_mkl(
    missing: Symptom = seen("mkl-library-not-found"), _torch: Symptom = seen("torch-c-part-imported"), other: Symptom | None = seen(tag="ipex-named"),
    toolkit: Gpu | None = one(vendor=("nvidia", "amd")),
) -> Verdict:  # fmt: skip
    """PyTorch's own wheels bring MKL in themselves; a build that looks for it is Intel's, or somebody's own."""
    return other is None and toolkit is None and {"lib": missing.get("lib")}
