"""A library of the system is not installed."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.knowledge.package_managers import package_manager
from rigup.machine.kinds import Distribution, Symptom


@mends("system-library-missing")
def package_of_the_library(knew: Params, system: Distribution | None = None, conda: Symptom | None = seen(tag="conda-shown")) -> Params:
    """By the names of the family; conda has none of them for the system."""
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    named = knew.get(manager.family) if manager is not None else None
    return {
        "packages": named,
        "sought": None if knew.get("drivers") else knew.get("lib"),  # else it is there, and its folder is known
        "of_conda": "libgl" if conda is not None and "libGL" in str(knew.get("lib")) else None,
    }


@mends("system-library-missing")
def folders_that_a_shell_of_nix_names(
    knew: Params, _nix: Symptom = seen("nix-shown"), torch: Symptom | None = seen("torch-import-lacks-library")
) -> Params:
    """There no library lies where wheels look for it, and none can be put there: the shell names what they miss, and mostly the next one too."""
    own = str(knew.get("nix") or "pkgs.zlib")
    always = ["pkgs.stdenv.cc.cc.lib", "pkgs.zlib"]
    attributes = " ".join(dict.fromkeys([*always, own]))
    return {
        "attributes": attributes,
        "of_nix": "torch-bin" if torch is not None else None,
        "packages": None,
        "of_conda": None,
        "sought": None,
    }
