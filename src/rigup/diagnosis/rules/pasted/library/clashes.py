"""Libraries of CUDA: missed, of two releases, or shadowed by others on the path."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.told import Passes
from rigup.knowledge.cuda import version_key
from rigup.knowledge.framework_cuda import cuda_of_package, named_alike
from rigup.knowledge.pythons import tensorflow_on_windows
from rigup.knowledge.torch_builds import build
from rigup.machine.kinds import Gpu, Package, Platform, Symptom, TensorFlow, Toolkit, Torch

_FIRST = ("cudart", "nccl")  # the one it opens at import, GPU or not; the other it opens for collectives alone
_CONDAS_CUDA = ("cuda-cudart", "cuda-libraries", "libcublas", "cuda-runtime")
_CONDAS = ("conda", "miniforge", "mamba")


def _is_of_nvidia(name: str) -> bool:
    return re.fullmatch(r"nvidia-[a-z-]{3,30}-cu\d{2,3}", name) is not None


def is_cupy(name: str) -> bool:
    """Whether a package is CuPy for CUDA."""
    return re.fullmatch(r"cupy-cuda\d{2,3}x?", name) is not None


@rule("cuda-runtime-library-missing", "possible")
def tensorflow_was_made_for_another_toolkit(
    answered: TensorFlow = one(gpus=0), toolkit: Toolkit = one(name="cuda"), _card: Gpu = one(vendor="nvidia"), platform: Platform | None = None,
    skips: Symptom | None = seen("tf-library-not-loaded", "tf-library-not-dlopened", "cudnn-not-located", "tf-no-cuda-libraries"),
) -> Verdict:  # fmt: skip
    """It lists no GPU; it was made for a toolkit whose libraries have other names than those of the one that is told."""
    release = str(answered.get("version") or "")
    wanted = cuda_of_package("tensorflow-gpu", release) or cuda_of_package("tensorflow", release)
    windows = platform is not None and platform.get("system") == "windows"
    idle = windows and tensorflow_on_windows(release) is False
    differs = wanted is not None and not named_alike(wanted, str(toolkit.version))
    return not idle and skips is None and differs and {"program": "tensorflow", "lib": f"CUDA {wanted}"}


@rule("cuda-runtime-library-missing", "likely")
def tensorflow_asks_for_what_lies_behind_the_runtime(
    symptom: Symptom = seen(tag="tf-misses"), none: Symptom | None = seen("libcuda-not-found", "tf-no-cuda-libraries", "library-asked-for-by-jax", tag="nvidia-driver-silent nvidia-finds-none"),
) -> Verdict:  # fmt: skip
    """It opens the runtime at import, and all others where the driver has counted a GPU. JAX asks for them at once."""
    lib = str(symptom.lib)
    behind = not any(name in lib for name in _FIRST)
    return behind and none is None and {"lib": lib, "program": "tensorflow"}


@rule("library-clash-ld-library-path", "possible")
def another_release_lists_the_card(
    symptom: Symptom = seen("xpu-runtime-does-not-start"), _listed: Symptom = seen("xpu-lists-a-card"), inside: Symptom | None = seen(tag="container-spoken-of"),
) -> Verdict:  # fmt: skip
    """The driver serves one torch and not the other, which lies in an environment of conda's: its libraries come first there."""
    conda = any(name in str(symptom.get("path")) for name in _CONDAS)
    return conda and inside is None and {"said": symptom.id}


@rule("pip-cuda-mix", "likely")
def linker_of_another_minor_than_torch(
    package: Package = one(name=Passes(_is_of_nvidia)),
    torch: Torch = one(),
    symptom: Symptom = seen(tag="cuda-symbol-missed"),
) -> Verdict:
    """nvJitLink counts as CUDA does: another minor than torch's is of another CUDA."""
    row = build(str(torch.get("version"))) if torch.get("version") else None
    cuda = str(torch.get("cuda") or (row.cuda if row else "") or "")
    mine = ".".join(str(package.version).split(".")[:2])
    differs = package.name.startswith("nvidia-nvjitlink") and bool(cuda) and version_key(mine) != version_key(cuda)
    return differs and {"one": package.name, "symbol": symptom.symbol}


@rule("pip-cuda-mix", "likely")
def one_library_twice(
    one_of: Package = one(name=Passes(_is_of_nvidia)), other: Package = one(name=Passes(_is_of_nvidia)), _said: Symptom = seen(tag="cuda-symbol-missed")
) -> Verdict:  # fmt: skip
    """`nvidia-cublas-cu11` and `nvidia-cublas-cu117` bring one file."""
    same = one_of.name.rpartition("-cu")[0] == other.name.rpartition("-cu")[0] and one_of.name < other.name
    return same and one_of.get("env") == other.get("env") and {"one": one_of.name, "other": other.name}


@rule("pip-cuda-mix", "likely")
def condas_toolkits_of_two_majors(
    one_of: Package = one(manager="conda", name="cudatoolkit"), other: Package = one(manager="conda", name=_CONDAS_CUDA), _said: Symptom = seen(tag="cuda-symbol-missed")
) -> Verdict:  # fmt: skip
    """conda's package of old, and those that came after it, bring libraries of two majors into one folder."""
    same = one_of.get("env") == other.get("env")
    differs = version_key(str(one_of.version))[:1] != version_key(str(other.version))[:1]
    return same and differs and {"one": one_of.name, "other": other.name}


@rule("pip-cuda-mix", "likely")
def library_of_another_major_than_torch_asks(statement: Symptom = seen(tag="pip-check-nvidia")) -> Verdict:
    """pip says that torch, or another program, asks for one major of a library, and another is there: its file has another name."""
    differs = version_key(statement.want)[:1] != version_key(statement.have)[:1]
    return differs and {"one": statement.package}


@rule("pip-cuda-mix", "possible")
def libraries_are_of_another_minor_than_a_program_asks(
    statement: Symptom = seen(tag="pip-check-nvidia"),
    again: Symptom = seen(tag="pip-check-nvidia"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """pip says of two libraries that they are of another release of CUDA than the one that a program was made for."""
    differs = all(version_key(one_of.want)[:2] != version_key(one_of.have)[:2] for one_of in (statement, again))
    return works is None and differs and str(statement.package) < str(again.package) and {"one": statement.package}


@rule("nvcc-differs-from-torch-cuda", "likely")
def operations_are_compiled_by_another_major(
    _asked: Symptom = seen("deepspeed-operations-asked-for"), torch: Torch = one(cuda=Passes(bool)), toolkit: Toolkit = one(name="cuda"),
) -> Verdict:  # fmt: skip
    """DeepSpeed is told to compile as it is installed, and nvcc is of another major than torch."""
    return version_key(str(toolkit.version))[:1] != version_key(str(torch.cuda))[:1] and {"want": torch.cuda}


@rule("nvcc-differs-from-torch-cuda", "likely")
def word_of_a_newer_toolkit_is_not_known(
    _said: Symptom = seen("symbol-unknown-to-this-toolkit"), torch: Torch = one(cuda=Passes(bool)), toolkit: Toolkit | None = one(name="cuda"),
    nvcc: Symptom | None = seen("nvcc-answers"),
) -> Verdict:  # fmt: skip
    """A source for torch's CUDA is compiled by an older nvcc."""
    have = str((toolkit.get("version") if toolkit else None) or (nvcc.version if nvcc else ""))
    return bool(have) and version_key(have)[:2] < version_key(str(torch.cuda))[:2] and {"have": have, "want": torch.cuda}  # fmt: skip


@rule("cudnn-version-incompatible", "likely")
def tensorrt_loads_an_older_cudnn(symptom: Symptom = seen("tensorrt-loads-another-cudnn")) -> Verdict:
    """It says so of a newer one too, with which it works."""
    return version_key(symptom.found) < version_key(symptom.built) and {"built": symptom.built, "found": symptom.found}


@rule("cudnn-version-incompatible", "likely")
def paddle_loads_an_older_cudnn(
    built: Symptom = seen("paddle-built-with-cudnn"), loaded: Symptom = seen("paddle-loads-a-cudnn")
) -> Verdict:
    """It tells what it was built with, and what the loader gave it: a newer one serves, an older one does not."""
    was, found = version_key(str(built.built))[:2], version_key(str(loaded.found))[:2]
    return found < was and {"built": built.built, "found": loaded.found}
