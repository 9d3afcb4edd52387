"""What mends packages that do not go together, and processes that do not come together."""

import re

from rigup.diagnosis.rule import Params, mends, seen
from rigup.knowledge.conda_forge import channel
from rigup.knowledge.cuda import toolkits_knowing
from rigup.machine.kinds import Symptom, Torch

_NVCC = "/usr/local/cuda{version}/bin/nvcc"


@mends("package-versions-clash")
def versions_that_go_together(
    knew: Params,
    by: Symptom | None = seen("package-imports-from-another"),
    array: Symptom | None = seen("package-compiled-for-numpy"),
) -> Params:
    """pip's own words name who asks for what; else the package that stopped is the one that is out of date."""
    owner, version = str(knew.get("owner") or ""), str(knew.get("version") or "")
    if owner and version:
        return {"owner": f"{owner}=={version}", "want": str(knew.get("want")).strip()}
    if knew.get("wanting"):
        wished = f"{knew['major']}.{knew['minor']}" if knew.get("major") else None
        return {"override": "CONDA_OVERRIDE_CUDA", "wished": wished, "check": None if wished else "all"}
    if knew.get("argument"):
        return {"importer": str(knew.get("importer")).replace("_", "-"), "check": "all"}
    if knew.get("name"):
        importer = str(by.importer).replace("_", "-") if by is not None else ""
        package = str(knew.get("package") or "").replace("_", "-")
        return {"importer": importer or None, "user": importer or "the program", "package": package}
    compiled = str(array.package) if array is not None else None
    return {"compiled": compiled, "package": None, "check": None if knew.get("requirement") or compiled else "all"}


@mends("cuda-runtime-library-missing")
def program_for_another_cuda_than_torch(
    knew: Params, torch: Torch, by: Symptom = seen("package-imports-from-another"),
) -> Params:  # fmt: skip
    """An extension of torch that asks for another major's runtime was compiled for another torch: it is installed again with its own."""
    wanted, had = (
        re.search(r"libcudart\.so\.(\d{2})", str(knew.get("lib") or "")),
        re.search(r"\+cu(\d{2})\d", str(torch.get("version"))),
    )
    return (
        {"again": str(by.importer).replace("_", "-"), "package": None} if wanted and had and wanted[1] != had[1] else {}
    )


@mends("ranks-not-all-joined")
def where_the_first_rank_waits(asked: Symptom = seen("torchrun-names-its-master")) -> Params:
    """The address and the port that the command line names."""
    port = asked.get("port") or asked.get("at") or "29500"
    return {"address": f"{asked.host}:{port}", "host": asked.host, "port": port}


@mends("ranks-not-all-joined")
def where_nobody_listens(symptom: Symptom = seen("first-rank-refuses")) -> Params:
    """The machine answers, and nothing listens there: the first rank has not started, or listens elsewhere."""
    return {"address": f"{symptom.host}:{symptom.port}", "host": symptom.host, "port": symptom.port}


@mends("build-tools-missing")
def nvcc_that_cmake_misses(_said: Symptom = seen("cmake-finds-no-nvcc"), conda: Symptom | None = seen(tag="conda-shown")) -> Params:  # fmt: skip
    """NVIDIA's own packages put it where no path leads; conda has it for its environments."""
    if conda is not None:
        return {"nvcc_of_conda": "cuda-nvcc", "nvidia": channel()}
    return {"nvcc": _NVCC.format(version=""), "packages": None}


@mends("build-tools-missing")
def builder_that_torch_misses(_said: Symptom = seen("torch-extension-wants-ninja")) -> Params:
    """A package of PyPI, as the message says."""
    return {"of_pip": "ninja", "packages": None, "of_conda": None}


@mends("more-gpus-asked-than-there")
def as_many_as_there_are(symptom: Symptom = seen("vllm-world-too-large")) -> Params:
    """The number that the message names."""
    return {"option": f"--tensor-parallel-size {symptom.have}"} if symptom.get("have") not in (None, "0") else {}


@mends("more-gpus-asked-than-there")
def card_of_each_rank(_said: Symptom = seen("nccl-duplicate-gpu", "nccl-ranks-on-one-gpu")) -> Params:
    """torchrun tells each process its number on the node; the program has to choose its card by it."""
    return {"binding": "torch.cuda.set_device", "local": "int(os.environ['LOCAL_RANK'])"}


@mends("cuda-toolkit-older-than-chip")
def toolkit_that_knows_the_chip(knew: Params) -> Params:
    """The first release whose compiler knows it, beside the one that is there."""
    version = toolkits_knowing("sm_" + str(knew.get("arch"))) if knew.get("arch") else None
    return {"toolkit": version, "compiler": _NVCC.format(version=f"-{version}") if version else None}
