"""What mends a compiler of another CUDA than torch's, and libraries that Windows does not find."""

import re

from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.diagnosis.rules.told import Passes
from rigup.knowledge.cuda import toolkits_knowing, version_key
from rigup.knowledge.cuda_libraries import faulty, toolkit_on_windows
from rigup.knowledge.cuda_toolkits import conda_toolkit
from rigup.knowledge.torch_builds import build, companions, index_url, variants_of
from rigup.machine.kinds import Platform, PythonEnv, Symptom, Toolkit, Torch

_ENVIRONMENT = re.compile(r"/(?:[\w.-]+/){1,8}envs/[\w.-]+")
_NVCC, _DLL = "nvcc-differs-from-torch-cuda", "windows-runtime-dll-missing"


# -- the compiler
@mends(_NVCC)
def cuda_of_torch(
    knew: Params, torch: Torch | None = None,
    arch: Symptom | None = seen("nvcc-unknown-arch"), platform: Platform | None = None,
) -> Params:  # fmt: skip
    """The release that torch was built with; where nobody tells it, the first whose compiler knows the card."""
    row = build(str(torch.version)) if torch is not None and torch.knows("version") else None
    want = knew.get("want") or (torch.get("cuda") if torch else None) or (row.cuda if row else None)
    if not want and arch is not None:
        want = toolkits_knowing("sm_" + str(arch.arch))
    if not want:
        return {"want": None, "unknown": "torch", "release": None}
    short = ".".join(str(want).split(".")[:2])
    windows = platform is not None and platform.get("system") == "windows"
    toolkit = None if windows else conda_toolkit(short)
    compiles = (
        toolkit
        if toolkit and any("toolkit" in name and "cudatoolkit" not in name for name in toolkit.packages)
        else None
    )
    return {
        "want": short, "unknown": None, "to_be": toolkit_on_windows(short) if windows else f"/usr/local/cuda-{short}",
        **({"or_conda": ", ".join(compiles.packages), "channel": compiles.channel} if compiles else {}),
    }  # fmt: skip


@mends(_NVCC)
def toolkit_that_fits(knew: Params, toolkit: Toolkit = one(name="cuda")) -> Params:
    """One of that release is there, and is not the one that compiles."""
    fits = version_key(str(toolkit.version))[:2] == version_key(str(knew.get("want") or "0"))[:2]
    return {"home": toolkit.path, "to_be": None} if fits and toolkit.knows("path") and toolkit.path else {}


@mends(_NVCC)
def environment_of_conda(
    knew: Params, env: PythonEnv | None = one(kind=("conda", "venv", "user")), folder: Symptom | None = seen("conda-environments-folder-shown"),
) -> Params:  # fmt: skip
    """conda brings a toolkit of any release into its environment, without root; pip's environments have none of it."""
    if env is None and folder is None:
        return {}
    if env is not None and env.kind != "conda":
        return {"or_conda": None}
    shown = _ENVIRONMENT.search(folder.fields["id"].where.text) if folder is not None else None
    prefix = (env.get("prefix") if env is not None else None) or (shown[0] if shown else None)
    packages = knew.get("or_conda")
    return {
        "conda": packages if prefix else None,
        "prefix": prefix,
        "conda_alone": None if prefix else packages,
        "or_conda": None,
    }


@mends(_NVCC)
def torch_of_the_toolkit(knew: Params, torch: Torch, nvcc: Symptom | None = seen("nvcc-answers")) -> Params:
    """The other way round: the same torch as a build for the toolkit that is there, where there is one."""
    have = str(knew.get("have") or (nvcc.get("version") if nvcc else "") or "")
    release = str(torch.version).partition("+")[0]
    variant, friends = "cu" + have.replace(".", ""), companions(release)
    if not have or friends is None or variant not in variants_of(release):
        return {}
    return {"release": release, "index": index_url(variant), "torchvision": friends.torchvision}


# -- libraries of Windows
@mends(_DLL)
def releases_that_lack_it(knew: Params, torch: Torch | None = one(version=Passes(bool))) -> Params:
    """Some releases asked for a file that they did not bring; later ones do."""
    known = faulty(str(knew.get("lib") or knew.get("lib2") or knew.get("lib3") or ""))
    if known is None:
        return {}
    newer = torch is not None and version_key(str(torch.version)) >= version_key(known.fixed)
    return {"of_tools": known.lib, **({} if newer else {"package": known.package, "fixed": known.fixed})}


@mends(_DLL)
def library_of_hip(knew: Params, symptom: Symptom = seen("hip-dll-missed")) -> Params:
    """AMD's own, which no runtime of Microsoft's brings."""
    match = re.search(
        r"amdhip64\w{0,4}\.dll", str(knew.get("lib") or symptom.get("lib") or symptom.get("other") or ""), re.IGNORECASE
    )
    return {"what": "AMD HIP SDK", "lib": match[0] if match else "amdhip64.dll"}
