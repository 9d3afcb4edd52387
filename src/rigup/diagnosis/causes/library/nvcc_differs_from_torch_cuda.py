"""The CUDA compiler does not fit the CUDA that torch was built with."""

import re

from rigup.diagnosis.rule import Every, Params, Passes, Verdict, every, mends, one, seen, text_rule
from rigup.knowledge.cuda import cuda_of_driver, toolkits_knowing, version_key
from rigup.knowledge.cuda_libraries import toolkit_on_windows
from rigup.knowledge.cuda_toolkits import conda_toolkit
from rigup.knowledge.torch_builds import build, companions, index_url, variants_of
from rigup.machine.kinds import Driver, Package, Platform, PythonEnv, Symptom, Toolkit, Torch

_ENVIRONMENT = re.compile(r"/(?:[\w.-]+/){1,8}envs/[\w.-]+")


@text_rule("nvcc-differs-from-torch-cuda", "likely")
def operations_are_compiled_by_another_major(
    _asked: Symptom = seen("deepspeed-operations-asked-for"), torch: Torch = one(cuda=Passes(bool)), toolkit: Toolkit = one(name="cuda")
) -> Verdict:
    """DeepSpeed is told to compile as it is installed, and nvcc is of another major than torch."""
    return version_key(str(toolkit.version))[:1] != version_key(str(torch.cuda))[:1] and {"want": torch.cuda}


@text_rule("nvcc-differs-from-torch-cuda", "likely")
def word_of_a_newer_toolkit_is_not_known(
    _said: Symptom = seen("symbol-unknown-to-this-toolkit"),
    torch: Torch = one(cuda=Passes(bool)),
    toolkit: Toolkit | None = one(name="cuda"),
    nvcc: Symptom | None = seen("nvcc-answers"),
) -> Verdict:
    """A source for torch's CUDA is compiled by an older nvcc."""
    have = str((toolkit.get("version") if toolkit else None) or (nvcc.version if nvcc else ""))
    return bool(have) and version_key(have)[:2] < version_key(str(torch.cuda))[:2] and {"have": have, "want": torch.cuda}


@mends("nvcc-differs-from-torch-cuda")
def cuda_of_torch(
    knew: Params, torch: Torch | None = None, arch: Symptom | None = seen("nvcc-unknown-arch"), platform: Platform | None = None
) -> Params:
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
    compiles = toolkit if toolkit and any("toolkit" in name and "cudatoolkit" not in name for name in toolkit.packages) else None
    return {
        "want": short,
        "unknown": None,
        "to_be": toolkit_on_windows(short) if windows else f"/usr/local/cuda-{short}",
        **({"or_conda": ", ".join(compiles.packages), "channel": compiles.channel} if compiles else {}),
    }


@mends("nvcc-differs-from-torch-cuda")
def toolkit_that_fits(knew: Params, toolkit: Toolkit = one(name="cuda")) -> Params:
    """One of that release is there, and is not the one that compiles."""
    fits = version_key(str(toolkit.version))[:2] == version_key(str(knew.get("want") or "0"))[:2]
    return {"home": toolkit.path, "to_be": None} if fits and toolkit.knows("path") and toolkit.path else {}


@mends("nvcc-differs-from-torch-cuda")
def module_that_the_cluster_offers(knew: Params, offered: Every[Symptom] = every(Symptom, id="cuda-module-is-offered")) -> Params:
    """A list of modules has one of torch's release, which needs neither root nor room; what a system keeps in /usr/local is then none of the job's."""
    fits = [str(hit.module) for hit in offered if hit.version == knew.get("want")]
    return {"offered": fits[0], "to_be": None} if fits else {}


@mends("nvcc-differs-from-torch-cuda")
def environment_of_conda(
    knew: Params,
    env: PythonEnv | None = one(kind=("conda", "venv", "user")),
    folder: Symptom | None = seen("conda-environments-folder-shown"),
) -> Params:
    """conda brings a toolkit of any release into its environment, without root; pip's environments have none of it."""
    if env is None and folder is None:
        return {}
    if env is not None and env.kind != "conda":
        return {"or_conda": None}
    shown = _ENVIRONMENT.search(folder.fields["id"].where.text) if folder is not None else None
    prefix = (env.get("prefix") if env is not None else None) or (shown[0] if shown else None)
    packages = knew.get("or_conda")
    return {"conda": packages if prefix else None, "prefix": prefix, "conda_alone": None if prefix else packages, "or_conda": None}


@mends("nvcc-differs-from-torch-cuda")
def torch_of_the_toolkit(
    knew: Params,
    torch: Torch,
    nvcc: Symptom | None = seen("nvcc-answers"),
    vision: Package | None = one(name="torchvision"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Params:
    """The other way round: the same torch as a build for the toolkit that is there, where there is one and the driver carries its major."""
    have = str(knew.get("have") or (nvcc.get("version") if nvcc else "") or "")
    release = str(torch.version).partition("+")[0]
    variant, friends = "cu" + have.replace(".", ""), companions(release)
    carried = cuda_of_driver(str(driver.version)) if driver is not None and driver.knows("version") else None
    carries = carried is None or version_key(carried)[:1] >= version_key(have)[:1]
    if not have or not carries or friends is None or variant not in variants_of(release):
        return {}
    if vision is None:
        return {"torch_alone": f"torch=={release}+{variant}", "index": index_url(variant)}
    return {"release": release, "index": index_url(variant), "torchvision": friends.torchvision}
