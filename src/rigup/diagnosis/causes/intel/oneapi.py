"""Intel's oneAPI: its parts, the generations of its libraries, and where each comes from."""

import re

from rigup.diagnosis.causes.grounds import ids_in, system_of
from rigup.diagnosis.rule import Params, one, seen
from rigup.knowledge.amd_ways import newest_of
from rigup.knowledge.intel import newest_kit, part_of, release_of, variables_script
from rigup.knowledge.torch_builds import companions, index_url
from rigup.machine.kinds import Platform, Symptom, Toolkit, Torch

KITS = ("oneapi", "oneapi-compiler", "oneapi-mkl", "oneapi-ccl", "oneapi-dnnl")  # parts that carry libraries
RUNTIME = ("intel-sycl-rt", "intel-cmplr-lib-rt", "dpcpp-cpp-rt")  # of the compiler, as pip has it
GONE = "oneapi-script-not-there"
_FOLDER = re.compile(r"[\\/]oneapi[\\/][\w-]+[\\/](\d{4}\.\d)[\\/]", re.IGNORECASE)


def _torch_for_intel(torch: Torch | None) -> Params:
    """PyTorch's own builds bring the runtime that they want; one of that kind is put back as it was."""
    have = str(torch.get("version") if torch and torch.knows("version") else "")
    release = have.partition("+")[0] if "+xpu" in have else ""
    newest = newest_of("xpu")
    companion_versions = companions(release or (newest.torch if newest else ""))
    wanted = release or (newest.torch if newest else None)
    return (
        {"torch": wanted, "torchvision": companion_versions and companion_versions.torchvision, "index": index_url("xpu")} if wanted else {}
    )


def _for_torch(package: str, torch: Torch | None) -> str:
    """The extension's release has the first two numbers of torch's."""
    version = str(torch.get("version") if torch and torch.knows("version") else "").partition("+")[0]
    minor = ".".join(version.split(".")[:2])
    return f"{package}=={minor}.*" if minor and package.startswith("intel-extension") else package


def generation(soname: str) -> tuple[str, str]:
    """libmkl_sycl.so.3 in base and number; Windows's sycl8.dll and mkl_sycl_blas.5.dll as Linux names them."""
    if dll := re.fullmatch(r"(\w{3,40}?)\.?(\d{1,2})(?:\.dll)?", soname.lower()):
        return "lib" + dll[1].removeprefix("lib"), dll[2]
    base, _, number = soname.partition(".so")
    return base, number.strip(".").partition(".")[0]


def whose_library_it_is(
    knew: Params,
    platform: Platform | None = None,
    windows: Symptom | None = seen(tag="windows-in-words"),
    torch: Torch | None = None,
    ipex: Symptom | None = seen(tag="ipex-named"),
    by_torch: Symptom | None = seen(tag="intel-by-torch"),
) -> Params:
    """A package of Python's or the distribution's, with the torch that is there; else the base kit's release by the library's number."""
    path = str(knew.get("lib") or "")
    lib = re.split(r"[\\/]", path)[-1]
    dll = lib.lower().endswith(".dll")
    system = "windows" if dll else system_of(knew, platform, windows)
    part = part_of(lib)
    own = torch is not None and "+xpu" in str(torch.get("version"))
    wheels = own or ipex is not None or by_torch is not None or bool(part and part.package)
    holes: Params = {"system": system, "lib": lib or None, **(_torch_for_intel(torch) if wheels else {})}
    if part is not None:
        return holes | {"again": _for_torch(part.package, torch) or None, "brought": part.system_package or None, "lib": None}
    if ".cpython-" in lib or lib.endswith(".pyd"):
        return holes | {"owner": lib, "lib": None}
    folder = _FOLDER.search(path)
    return holes | {"release": folder[1] if folder else release_of(*generation(lib)) or None, "alone": folder[1] if folder else None}


def shell_that_has_its_variables(
    knew: Params,
    kit: Toolkit | None = one(name=KITS),
    installed_kit: Symptom | None = seen(tag="oneapi-there"),
    gone: Symptom | None = seen(GONE),
) -> Params:
    """Where the kit is there its variables are what is missed; else they are loaded after it has been installed."""
    if any(knew.get(hole) for hole in ("pinned", "again", "brought", "owner", "packages")):
        return {"release": None, "lib": None}
    script = variables_script(str(knew.get("system")), str(knew.get("alone") or ""))
    if knew.get("alone"):
        return {"script": script, "lib": None, "release": None}
    lib, absent = knew.get("lib"), gone is not None or any("script" in name for name in ids_in(knew))
    release = knew.get("release") or (newest_kit() if absent else None)
    lib = lib or (re.split(r"[\\/]", script.strip('"'))[-1] if absent else None)
    first = (kit is not None or installed_kit is not None or lib is None) and not absent and knew.get("have") is None
    return {
        "script": script if first else None,
        "afterwards": None if first else script,
        "release": release,
        "lib": lib,
        "unknown": None if release else lib,
    }
