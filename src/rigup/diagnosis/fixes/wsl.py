"""What the ways to mend WSL need: which side is old, which packages shadow Windows's driver, which release is made for it."""

import re

from rigup.diagnosis.rule import Every, Params, every, mends, one, seen
from rigup.diagnosis.rules.access import inside
from rigup.knowledge import wsl
from rigup.knowledge.package_managers import package_manager
from rigup.language import _
from rigup.machine.kinds import Distribution, Gpu, Platform, Symptom, SystemPackage, Torch


@mends("wsl-libcuda-link")
def where_to_link(knew: Params, linker: Symptom | None = seen("linker-finds-no-libcuda")) -> Params:
    """A place that loaders and compilers look at; one link does not help where the loader knows nothing of the folder.

    A compiler's linker does not look where LD_LIBRARY_PATH leads, but where LIBRARY_PATH does.
    """
    return {
        "path": wsl.library_folder(), "link": None if knew.get("searched") else "/usr/local/lib/libcuda.so",
        "variable": "LD_LIBRARY_PATH" if linker is None else "LIBRARY_PATH",
    }  # fmt: skip


@mends("wsl-gpu-not-supported")
def what_else_runs_there() -> Params:
    """Windows's own ways to the card."""
    return {"backend": _("native Linux, or on Windows Vulkan, DirectML or AMD's Windows builds")}


@mends("wsl-linux-driver-inside")
def packages_by_their_names(knew: Params, system: Distribution | None = None) -> Params:
    """Where no package is listed, whatever the package manager has by such names; a library without a package is set aside."""
    path = str(knew.get("path") or "")
    foreign = path.startswith("/") and not path.startswith(wsl.library_folder())
    debian = system is None or _debian(str(system.get("id") or ""))
    return {
        "packages": None, "pattern": wsl.shadow_pattern() if debian else None, "path": path if foreign else None,
        "searched": None if debian else "nvidia",
    }  # fmt: skip


@mends("wsl-linux-driver-inside")
def packages_to_remove(packages: Every[SystemPackage] = every(SystemPackage, state="installed")) -> Params:
    """All packages of a Linux driver that are listed."""
    names = sorted(package.name for package in packages if wsl.shadows(package.name) and not inside(package))
    if all(wsl.brings_only_others(name) for name in names):
        return {}  # what it brought is not listed, and stays where it alone goes
    return {"packages": ",".join(names), "pattern": None, "path": None}


def _debian(distribution: str) -> bool:
    manager = package_manager(distribution)
    return manager is None or manager.family == "debian"


@mends("wsl-windows-too-old")
def which_side_is_old(
    knew: Params, windows: Platform | None = None, listed: Distribution | None = None,
) -> Params:  # fmt: skip
    """Windows first where its build is below what GPUs need, WSL alone where its kernel is."""
    if knew.get("distribution"):
        name = str((listed and listed.get("name")) or "")
        is_of_wsl = re.fullmatch(r"[A-Za-z0-9][\w.-]{0,60}", name) is not None  # as `wsl -l -v` lists it: one word
        return {"distribution": name} if is_of_wsl else {}
    build, _kernel = wsl.minimum()
    minimum = str(knew.get("minimum") or "")
    version, release = (windows.get("version"), windows.get("release")) if windows is not None else (None, None)
    version = version if version and version.startswith("10.") else None
    old = wsl.too_old(version, None if version else release)
    if old == "kernel" or minimum.startswith("kernel"):
        return {"kernel": "old"}
    return {"build": build} if old == "windows" or build in minimum else {}


@mends("wsl-rocm-release-not-supported")
def release_to_install(system: Distribution | None = None) -> Params:
    """The newest that is known to speak to WSL, on a distribution that AMD makes it for."""
    foreign = system is not None and system.get("id") not in (None, "ubuntu")
    holes = {"version": wsl.newest_rocm(), "usecase": "wsl,rocm"}
    return {**holes, "distribution": wsl.amds_distribution()} if foreign else {**holes, "here": "here"}


@mends("wsl-wheel-bundled-hsa-runtime")
def what_to_set_aside(knew: Params, torch: Torch | None = None, _card: Gpu | None = one(vendor="amd")) -> Params:
    """The wheel's copies of the runtime: by their path, or where Python says that torch lies."""
    reading = torch.fields.get("own_hsa") if torch is not None else None
    text = reading.where.text if reading else str(knew.get("path") or "")
    path = text[text.find("/") :].split(" ")[0] if "/" in text else ""
    file = wsl.hsa_runtime()
    if path.startswith("/") and ".so" in path:
        return {"path": path.partition(".so")[0] + ".so"}
    return {"path": None, "file": file, "anywhere": "torch/lib/" + file}
