"""The installed oneAPI is of another generation than the program was built for."""

from rigup.diagnosis.causes.intel.oneapi import KITS, RUNTIME, generation, shell_that_has_its_variables, whose_library_it_is
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.intel import release_of, runtime_of_torch
from rigup.machine.kinds import Package, PathLibrary, Symptom, Toolkit, Torch


@rule("intel-oneapi-version-mismatch")
def other_generation_is_shown(
    missing: Symptom = seen(tag="oneapi-library-missed"), shown: Symptom = seen("oneapi-mkl-shown", "oneapi-sycl-shown")
) -> Verdict:
    """What is wanted and what a listing shows differ in the number alone."""
    lib, number = str(missing.get("lib")), missing.get("number")
    other = shown.get("base") == missing.get("base") and number is not None and shown.get("number") != number
    return other and {"lib": lib, "have": str(shown.get("base")) + ".so." + str(shown.get("number"))}


@rule("intel-oneapi-version-mismatch")
def other_generation_is_installed(library: PathLibrary, missing: Symptom = seen(tag="oneapi-library-missed")) -> Verdict:
    """The same of a library that lies on a search path."""
    (base, number), (wanted, want) = generation(library.soname), generation(str(missing.get("lib")))
    return base == wanted and bool(want) and number != want and {"lib": missing.get("lib"), "have": library.soname}


def _year_wanted(missing: Symptom) -> str | None:
    """The year of the kit that brings what is missed."""
    release = release_of(*generation(str(missing.get("lib"))))
    return release[:4] if release else None


@rule("intel-oneapi-version-mismatch", "likely")
def another_release_lies_in_its_folder(
    missing: Symptom = seen(tag="oneapi-library-missed"), kits: Every[Toolkit] = every(Toolkit)
) -> Verdict:
    """The base kit that is there is of other years than the one that brings what is missed."""
    wanted = _year_wanted(missing)
    versions = [kit.version for kit in kits if kit.get("name") in KITS and kit.get("version")]
    other = bool(versions) and wanted is not None and not any(version.startswith(wanted) for version in versions)
    return other and {"lib": missing.get("lib"), "have": "oneAPI " + max(versions)}


@rule("intel-oneapi-version-mismatch", "likely")
def another_release_is_listed(missing: Symptom = seen(tag="oneapi-library-missed"), kit: Toolkit = one(name="oneapi")) -> Verdict:
    """The same of what a package manager, the compiler or a path of Windows names; where those name two years, nothing is read."""
    wanted = _year_wanted(missing)
    return wanted not in (None, str(kit.version)[:4]) and {"lib": missing.get("lib"), "have": "oneAPI " + kit.version}


@rule("intel-oneapi-version-mismatch", "likely")
def another_release_lies_beside_python(
    missing: Symptom = seen(tag="oneapi-library-missed"), part: Package = one(name=(*RUNTIME, "mkl-dpcpp"))
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
    elsewhere = statement.id == "oneapi-release-in-words" and unlinked is not None  # no generation is there: another machine's is spoken of
    return bool(release) and not same and not elsewhere and {"lib": missing.get("lib"), **named}


@rule("intel-oneapi-version-mismatch", "likely")
def runtime_of_another_release_was_put_over_its_own(
    torch: Torch, part: Package = one(name=RUNTIME), works: Torch | None = one(xpu_available=True)
) -> Verdict:
    """PyTorch's build for Intel pins the compiler's runtime; in its environment lies one of another release."""
    wanted = runtime_of_torch(str(torch.version)) if "+xpu" in str(torch.get("version")) else None
    same_env = torch.knows("env") and part.get("env") == torch.env and works is None
    other = wanted is not None and not str(part.version).startswith(wanted + ".")
    return same_env and other and {"lib": part.name, "have": f"{part.name} {part.version}"}


@text_rule("intel-oneapi-version-mismatch", "likely")
def another_generation_stands_in_its_folder(
    missing: Symptom = seen("oneapi-library-not-found", "ldd-oneapi-not-found", "mkl-library-not-found"),
    shown: Symptom = seen("oneapi-folder-shown"),
) -> Verdict:
    """The folder is of one year's base kit, and the library that is missed of another's."""
    release, wanted = (shown.get("release") or shown.get("other"), release_of(str(missing.get("base")), str(missing.get("number"))))
    return wanted is not None and wanted != release and {"lib": missing.get("lib"), "have": "oneAPI " + str(release)}


def _dll(base: str, number: str) -> str:
    return f"{base}{'' if base.lower() == 'sycl' else '.'}{number}.dll"


@text_rule("intel-oneapi-version-mismatch", "likely")
def folder_has_a_file_of_another_number(
    wanted: Symptom = seen("oneapi-dll-named-alone"), located: Symptom = seen("oneapi-dll-in-a-folder")
) -> Verdict:
    """Windows numbers these files by generation: one is asked for by its name, and the same of another number lies in a folder."""
    base, number = (str(located.get(name) or located.get(name + "2")) for name in ("base", "number"))
    same = base.lower() == str(wanted.base).lower()
    return same and number != wanted.number and {"lib": _dll(wanted.base, wanted.number), "have": _dll(base, number)}


mends("intel-oneapi-version-mismatch")(whose_library_it_is)


@mends("intel-oneapi-version-mismatch")
def runtime_that_torch_pins(
    knew: Params,
    differs: Symptom | None = seen("runtime-of-oneapi-differs-from-what-is-pinned"),
    torch: Torch | None = None,
    part: Package | None = one(name=RUNTIME),
) -> Params:
    """It is a package of the environment: that one is set right, and no kit is installed beside it."""
    if differs is not None:
        return {"pinned": f"{differs.get('lib')}=={differs.get('want')}", "release": None, "lib": None}
    wanted = runtime_of_torch(str(torch.get("version"))) if torch and "+xpu" in str(torch.get("version")) else None
    if wanted and part is not None and knew.get("lib") == part.name:
        return {"pinned": f"{part.name}=={wanted}.*", "release": None, "lib": None}
    return {}


mends("intel-oneapi-version-mismatch")(shell_that_has_its_variables)
