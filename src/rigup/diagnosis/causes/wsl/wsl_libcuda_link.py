"""Programs that open libcuda.so by its plain name do not find it."""

from rigup.diagnosis.causes.places import WSL
from rigup.diagnosis.rule import Every, Params, Verdict, lacks, mends, one, rule, seen, text_rule
from rigup.knowledge import wsl
from rigup.machine.kinds import Distribution, LoaderEntry, Platform, Symptom, SystemPackage, Torch


@rule("wsl-libcuda-link")
def plain_name_wanted(
    _platform: Platform = one(wsl=WSL), _error: Symptom = seen("libcuda-plain-name-missing", "libcuda-of-no-name")
) -> Verdict:
    """A program opens the name without a number."""
    return {"path": wsl.library_folder()}


@rule("wsl-libcuda-link", strength="likely")
def plain_name_wanted_where_wsl_is_spoken_of(
    spoken: Symptom = seen(tag="wsl-spoken-of"),
    _error: Symptom = seen("libcuda-plain-name-missing", "libcuda-of-no-name"),
    platform: Platform | None = one(wsl=WSL),
) -> Verdict:
    """The same where only the person's words tell of WSL."""
    return platform is None and {"path": wsl.library_folder(), "said": spoken.id}


@rule("wsl-libcuda-link")
def plain_name_not_in_the_cache(
    missing: Every[LoaderEntry] = lacks(LoaderEntry, soname="libcuda.so"),
    entry: LoaderEntry = one(soname="libcuda.so.1"),
    torch: Torch | None = one(available=True),
) -> Verdict:
    """Most distributions in WSL are so, and most programs do not mind: it counts where somebody went looking for that name."""
    asked = missing.look.coverage != "whole"
    shown = asked and torch is None and entry.path.startswith(wsl.library_folder())
    return shown and {"path": wsl.library_folder(), "severity": "warning"}


@text_rule("wsl-libcuda-link", "possible")
def linker_misses_what_the_program_has_loaded(
    error: Symptom = seen("linker-finds-no-libcuda"),
    _works: Symptom = seen("tensor-on-a-device"),
    platform: Platform | None = None,
    system: Distribution | None = None,
    inside: Symptom | None = seen(tag="container-spoken-of"),
) -> Verdict:
    """CUDA works, and a kernel that is compiled on the spot finds no plain name: of a driver's packages it is WSL's that has none."""
    ubuntu = system is None or system.get("id") in ("ubuntu", None)
    return platform is None and ubuntu and inside is None and {"path": wsl.library_folder(), "said": error.id}


@text_rule("wsl-libcuda-link", "likely")
def driver_is_in_windows_folder_and_not_found(
    symptom: Symptom = seen("libcuda-not-found", tag="sides-libcuda"),
    _there: Symptom = seen("wsl-folder-has-libcuda", "wsl-tool-runs-by-its-path"),
    package: SystemPackage | None = one(state="installed"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """Windows's folder has the library, and a program that looks in the loader's own places finds none."""
    return works is None and not (package and wsl.shadows(package.name)) and {"path": wsl.library_folder(), "said": symptom.id}


@mends("wsl-libcuda-link")
def where_to_link(knew: Params, linker: Symptom | None = seen("linker-finds-no-libcuda")) -> Params:
    """A place that loaders and compilers look at; one link does not help where the loader knows nothing of the folder.

    A compiler's linker does not look where LD_LIBRARY_PATH leads, but where LIBRARY_PATH does.
    """
    return {
        "path": wsl.library_folder(),
        "link": None if knew.get("searched") else "/usr/local/lib/libcuda.so",
        "variable": "LD_LIBRARY_PATH" if linker is None else "LIBRARY_PATH",
    }
