"""Libraries of CUDA: missed, of two releases, or shadowed by others on the path."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.library import wanted_by_what_was_compiled
from rigup.diagnosis.rules.pasted.heard import CONTAINERS_TOLD
from rigup.diagnosis.rules.told import OTHER_ACCELERATORS, Told
from rigup.knowledge.cuda import version_key
from rigup.knowledge.framework_cuda import cuda_of_package, named_alike
from rigup.knowledge.pythons import tensorflow_on_windows
from rigup.knowledge.torch_builds import build
from rigup.machine.kinds import Gpu, Package, Platform, SearchPath, Symptom, TensorFlow, Toolkit, Torch, Variable

_SYMBOLS = ("cuda-symbol-undefined", "cuda-symbol-not-defined-at-link-time")
_DIED = ("ollamas-runner-died-of-an-entry-point", "windows-dll-not-found-status", "windows-dll-not-found-status-in-decimal", "windows-dll-not-found-status-unsigned")  # fmt: skip
_SCALES = (1000, 10000)  # NVIDIA's libraries write 12.2.0 as 12200, newer ones as 120200
_TF_MISSES = ("tf-library-not-loaded", "tf-library-not-dlopened")
_FIRST = ("cudart", "nccl")  # the one it opens at import, GPU or not; the other it opens for collectives alone
_PIP_TELLS = ("pip-check-nvidia-package", "pip-check-nvidia-package-of-another-program")
_CONDAS_CUDA = ("cuda-cudart", "cuda-libraries", "libcublas", "cuda-runtime")
_CONDAS = ("conda", "miniforge", "mamba")


def _is_of_nvidia(name: str) -> bool:
    return re.fullmatch(r"nvidia-[a-z-]{3,30}-cu\d{2,3}", name) is not None


def _is_cupy(name: str) -> bool:
    return re.fullmatch(r"cupy-cuda\d{2,3}x?", name) is not None


# -- cuda-runtime-library-missing
@rule("cuda-runtime-library-missing", "possible")
def jax_sees_none_where_torch_counts_some(
    _said: Symptom = seen("jax-falls-back-to-the-processor"), torch: Torch | None = one(available=True), counted: Torch | None = one(devices=Told(bool)),
    card: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"), listed: Symptom | None = seen("jax-lists-gpus"),
) -> Verdict:  # fmt: skip
    """torch, or the driver's tool, finds the card; jax looks for libraries of its own, or is a build without CUDA."""
    return listed is None and any(part is not None for part in (torch, counted, card)) and {"program": "jax"}


@rule("cuda-runtime-library-missing")
def jax_does_not_load_one(
    said: Symptom = seen("jax-library-not-loaded"), other: Symptom | None = seen("loader-takes-it-from-the-variable")
) -> Verdict:
    """It names the library; where the loader shows that it took another one of that kind, that is what it could not use."""
    return other is None and {**said.values(), "program": "jax"}


@rule("cuda-runtime-library-missing", "likely")
def jax_misses_one_and_fails(
    said: Symptom = seen("tf-library-not-loaded", "tf-library-not-dlopened"), _failed: Symptom = seen("jax-operation-failed")
) -> Verdict:  # fmt: skip
    """The operation that failed is of the library that was not there."""
    return {"lib": said.lib, "program": "jax"}


@rule("cuda-runtime-library-missing", "likely")
def kernels_are_compiled_when_used(
    said: Symptom = seen("gsplat-finds-no-toolkit"),
    mac: Platform | None = one(system="macos"),
    other: Gpu | None = one(vendor=("amd", "apple")),
) -> Verdict:
    """It compiles them by nvcc at its first use; on a Mac there is nothing to compile for."""
    return mac is None and other is None and {**said.values(), "program": "gsplat"}


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
    apart = wanted is not None and not named_alike(wanted, str(toolkit.version))
    return not idle and skips is None and apart and {"program": "tensorflow", "lib": f"CUDA {wanted}"}


@rule("cuda-runtime-library-missing", "likely")
def tensorflow_for_gpus_misses_one(
    said: Symptom = seen("tf-library-not-loaded", "tf-library-not-dlopened"), package: Package = one(name="tensorflow-gpu"), works: TensorFlow | None = one(gpus=Told(bool)),
) -> Verdict:  # fmt: skip
    """Who installed the package for GPUs wants one, and a library of CUDA is not found."""
    return works is None and bool(package.version) and {"lib": said.lib, "program": "tensorflow"}


@rule("cuda-runtime-library-missing", "possible")
def part_for_cuda_does_not_load(
    said: Symptom = seen("ggmls-cuda-library-not-loaded-on-windows", "engine-of-windows-does-not-load-its-cuda-part"), other: Gpu | None = one(vendor=("amd", "intel"), integrated=False), own: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A program that tries one part after the other goes on to that of another maker's card."""
    return (other is None or own is not None) and said.values()


@rule("cuda-runtime-library-missing", "likely")
def bitsandbytes_finds_no_runtime_anywhere(
    _said: Symptom = seen("bitsandbytes-has-no-options-for-the-runtime"), unix: Symptom | None = seen("bitsandbytes-unix-folders-on-windows", "windows-path-not-iterable"),
    windows: Platform | None = one(system="windows"), card: Gpu | None = one(vendor="amd"), torch: Torch | None = None,
    other: Symptom | None = seen(*OTHER_ACCELERATORS),
) -> Verdict:  # fmt: skip
    """It has looked through all folders that variables name, and then through the usual ones."""
    rocm = card is not None or (torch is not None and bool(torch.get("hip")))
    return unix is None and windows is None and other is None and not rocm and {"lib": "libcudart.so", "program": "bitsandbytes"}  # fmt: skip


@rule("cuda-runtime-library-missing", "likely")
def hashcat_misses_what_the_loader_does_not_know(
    _said: Symptom = seen("hashcat-misses-the-toolkit"),
    none: Symptom = seen("loader-knows-no-such-library", lib="libnvrtc"),
) -> Verdict:
    """Its own words alone are no fault, for it goes on with OpenCL; somebody who looks for the library wants CUDA."""
    return {"lib": f"{none.lib}.so", "program": "hashcat"}


@rule("cuda-runtime-library-missing", "likely")
def tensorflow_asks_for_what_lies_behind_the_runtime(
    said: Symptom = seen(*_TF_MISSES), none: Symptom | None = seen(*SILENT, *NO_CUDA, "libcuda-not-found", "tf-no-cuda-libraries", "library-asked-for-by-jax"),
) -> Verdict:  # fmt: skip
    """It opens the runtime at import, and all others where the driver has counted a GPU. JAX asks for them at once."""
    lib = str(said.lib)
    behind = not any(name in lib for name in _FIRST)
    return behind and none is None and {"lib": lib, "program": "tensorflow"}


@rule("cuda-runtime-library-missing", "possible")
def quantiser_finds_no_runtime(
    said: Symptom = seen("bitsandbytes-main-runtime-not-detected"), asked: Symptom | None = seen("processor-asked-for-by-an-option"), mac: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """It looks for the library at its import, whoever computes on the processor."""
    return asked is None and mac is None and {**said.values(), "program": "bitsandbytes", "lib": "libcudart.so"}


# -- library-clash-ld-library-path
@rule("library-clash-ld-library-path", "likely")
def torchs_library_is_led_elsewhere(
    _asked: Symptom = seen("ldd-of-torchs-library"), shown: Symptom = seen("ldd-cuda-library"), way: Variable | None = one(name="LD_LIBRARY_PATH"),
    path: SearchPath | None = one(variable="LD_LIBRARY_PATH"), module: Symptom | None = seen("environment-module-of-cuda"),
) -> Verdict:  # fmt: skip
    """ldd of torch's own library ends in a folder of another toolkit, and the way there is shown."""
    return bool(way or path or module) and {"folder": shown.path, "lib": shown.lib}


@rule("library-clash-ld-library-path", "likely")
def nccl_of_another_cuda(
    banner: Symptom = seen("nccl-banner"), torch: Torch = one(cuda=Told(bool)), way: Symptom = seen("module-of-nccl-listed", "environment-module-of-cuda")
) -> Verdict:  # fmt: skip
    """NCCL says of which CUDA it is, torch is of another major, and a module brought it."""
    other = str(banner.cuda).partition(".")[0] != str(torch.cuda).partition(".")[0]
    return other and {"folder": way.module, "lib": "libnccl.so.2"}


@rule("library-clash-ld-library-path", "likely")
def a_module_brings_another_cudnn(
    said: Symptom = seen("cudnn-differs-from-built", "cuda-symbol-undefined", "cuda-symbol-not-defined-at-link-time", "cudnn-older-than-compiled"),
    loaded: Symptom = seen("environment-module-of-cuda"),
) -> Verdict:  # fmt: skip
    """A loaded environment module puts its folder into the loader's path."""
    return {"folder": loaded.module, "lib": said.get("lib"), "symbol": said.get("symbol")}


@rule("library-clash-ld-library-path", "likely")
def module_brings_another_cudnn(
    said: Symptom = seen("cudnn-older-than-compiled", "cudnn-differs-from-built", "cudnn-differs-in-caffe2", "cudnn-parts-differ"), _module: Symptom = seen("cudnn-module-loaded"),
) -> Verdict:  # fmt: skip
    """The environment module that was loaded puts its cuDNN before the one that torch brings."""
    return {"said": said.id}


@rule("library-clash-ld-library-path", "likely")
def julia_uses_a_library_of_the_systems_and_fails(
    said: Symptom = seen("julia-library-from-the-system"), _fails: Symptom = seen("julia-library-fails")
) -> Verdict:
    """Its own artifacts come with all libraries; a system's was found before them, and a call of such a library fails."""
    return {"lib": said.lib, "path": said.path}


@rule("library-clash-ld-library-path", "likely")
def runner_loads_another_programs_library(
    said: Symptom = seen("ollama-finds-a-foreign-library"), _died: Symptom = seen(*_DIED)
) -> Verdict:
    """A library of another program's lies on the path, and the runner ends where it is loaded."""
    return {"said": said.id}


@rule("library-clash-ld-library-path", "possible")
def part_is_of_another_build(
    said: Symptom = seen("ggmls-library-is-of-another-build"), goes: Symptom | None = seen("layers-all-offloaded")
) -> Verdict:
    """An old file beside the program's own; one whose whole model lies on the card does without it."""
    return goes is None and said.values()


@rule("library-clash-ld-library-path", "likely")
def environment_modules_cublas_refuses_a_value(
    _said: Symptom = seen("cublas-refuses-a-value"), way: Symptom = seen("environment-module-of-cuda"), torch: Symptom = seen("torch-named"),
) -> Verdict:  # fmt: skip
    """A plain product is refused by cuBLAS where a module puts a toolkit's folder before the one that torch brings."""
    return {"folder": way.module, "lib": "libcublas.so", "said": torch.id}


@rule("library-clash-ld-library-path", "likely")
def jax_finds_an_older_library_than_its_package(
    said: Symptom = seen("jax-library-older"), package: Package = one()
) -> Verdict:
    """The package that is installed is what jax was built against, so the older one comes from elsewhere."""
    named = re.fullmatch(r"nvidia-(\w{3,12})-cu\d{2}", package.name)
    parts = (*version_key(str(package.version))[:3], 0, 0)[:3]
    numbers = {parts[0] * scale + parts[1] * 100 + parts[2] for scale in _SCALES}
    same = bool(named) and named is not None and named[1].lower() == str(said.library).lower()
    return same and int(said.built) in numbers and {"lib": said.library}


@rule("library-clash-ld-library-path", "possible")
def another_release_lists_the_card(
    said: Symptom = seen("xpu-runtime-does-not-start"), _listed: Symptom = seen("xpu-lists-a-card"), inside: Symptom | None = seen(*CONTAINERS_TOLD),
) -> Verdict:  # fmt: skip
    """The driver serves one torch and not the other, which lies in an environment of conda's: its libraries come first there."""
    conda = any(name in str(said.get("path")) for name in _CONDAS)
    return conda and inside is None and {"said": said.id}


# -- pip-cuda-mix
@rule("pip-cuda-mix", "likely")
def linker_of_another_minor_than_torch(
    package: Package = one(name=Told(_is_of_nvidia)), torch: Torch = one(), said: Symptom = seen(*_SYMBOLS)
) -> Verdict:
    """nvJitLink counts as CUDA does: another minor than torch's is of another CUDA."""
    row = build(str(torch.get("version"))) if torch.get("version") else None
    cuda = str(torch.get("cuda") or (row.cuda if row else "") or "")
    mine = ".".join(str(package.version).split(".")[:2])
    apart = package.name.startswith("nvidia-nvjitlink") and bool(cuda) and version_key(mine) != version_key(cuda)
    return apart and {"one": package.name, "symbol": said.symbol}


@rule("pip-cuda-mix", "likely")
def pip_names_another_release(
    told: Symptom = seen("pip-check-nvidia-package"), _said: Symptom = seen(*_SYMBOLS, "cuda-library-not-found")
) -> Verdict:
    """pip says that a library is not the one that torch asks for, and torch misses a symbol."""
    return {"one": told.package}


@rule("pip-cuda-mix", "likely")
def one_library_twice(
    one_of: Package = one(name=Told(_is_of_nvidia)), other: Package = one(name=Told(_is_of_nvidia)), _said: Symptom = seen(*_SYMBOLS)
) -> Verdict:  # fmt: skip
    """`nvidia-cublas-cu11` and `nvidia-cublas-cu117` bring one file."""
    same = one_of.name.rpartition("-cu")[0] == other.name.rpartition("-cu")[0] and one_of.name < other.name
    return same and one_of.get("env") == other.get("env") and {"one": one_of.name, "other": other.name}


@rule("pip-cuda-mix", "likely")
def condas_toolkits_of_two_majors(
    one_of: Package = one(manager="conda", name="cudatoolkit"), other: Package = one(manager="conda", name=_CONDAS_CUDA), _said: Symptom = seen(*_SYMBOLS)
) -> Verdict:  # fmt: skip
    """conda's package of old, and those that came after it, bring libraries of two majors into one folder."""
    same = one_of.get("env") == other.get("env")
    apart = version_key(str(one_of.version))[:1] != version_key(str(other.version))[:1]
    return same and apart and {"one": one_of.name, "other": other.name}


@rule("pip-cuda-mix", "likely")
def two_builds_of_cupy(
    one_of: Package = one(name=Told(_is_cupy)), other: Package = one(name=Told(_is_cupy))
) -> Verdict:
    """Both put one module into one place."""
    same = one_of.get("env") == other.get("env")
    return same and one_of.name < other.name and {"one": one_of.name, "other": other.name}


@rule("pip-cuda-mix", "likely")
def onnxruntime_lies_over_its_own_build_for_the_card(
    said: Symptom = seen("onnxruntime-offers-no-cuda", "onnxruntime-cpu-alone"), _plain: Package = one(name="onnxruntime"), _gpu: Package = one(name="onnxruntime-gpu")
) -> Verdict:  # fmt: skip
    """Both packages write the same files, and the one for the processor came last."""
    return {"said": said.id}


@rule("pip-cuda-mix", "likely")
def library_of_another_major_than_torch_asks(told: Symptom = seen(*_PIP_TELLS)) -> Verdict:
    """pip says that torch, or another program, asks for one major of a library, and another is there: its file has another name."""
    apart = version_key(told.want)[:1] != version_key(told.have)[:1]
    return apart and {"one": told.package}


@rule("pip-cuda-mix", "possible")
def libraries_are_of_another_minor_than_a_program_asks(
    told: Symptom = seen(*_PIP_TELLS), again: Symptom = seen(*_PIP_TELLS), works: Torch | None = one(available=True)
) -> Verdict:
    """pip says of two libraries that they are of another release of CUDA than the one that a program was made for."""
    apart = all(version_key(one_of.want)[:2] != version_key(one_of.have)[:2] for one_of in (told, again))
    return works is None and apart and str(told.package) < str(again.package) and {"one": told.package}


# -- nvcc-differs-from-torch-cuda
@rule("nvcc-differs-from-torch-cuda", "likely")
def symbol_of_a_newer_minor(
    told: Symptom = seen("detected-cuda-of-another-minor"), _said: Symptom = seen("symbol-unknown-to-this-toolkit")
) -> Verdict:
    """torch's headers use what a minor release added; torch calls the difference harmless."""
    return version_key(told.have) < version_key(told.want) and {"have": told.have, "want": told.want}


@rule("nvcc-differs-from-torch-cuda", "likely")
def extension_fails_with_another_compiler(
    _failed: Symptom = seen("extension-not-built", "torchs-check-of-the-compiler"), torch: Torch = one(cuda=Told(bool)), toolkit: Toolkit | None = one(name="cuda"),
    nvcc: Symptom | None = seen("nvcc-answers"),
) -> Verdict:  # fmt: skip
    """torch's own builder failed, and the only nvcc that is shown is of another major."""
    have = str((toolkit.get("version") if toolkit else None) or (nvcc.version if nvcc else ""))
    return bool(have) and have.partition(".")[0] != str(torch.cuda).partition(".")[0] and {"want": torch.cuda}


@rule("nvcc-differs-from-torch-cuda", "likely")
def compiled_by_that_nvcc_and_its_library_is_wanted(
    said: Symptom = seen("cuda-library-not-found"), nvcc: Symptom = seen("nvcc-answers"), torch: Torch = one(cuda=Told(bool))
) -> Verdict:  # fmt: skip
    """What asks for the library was compiled by the nvcc that is shown, and torch is of another CUDA."""
    return wanted_by_what_was_compiled(said, nvcc, torch) and {"want": torch.cuda}


@rule("nvcc-differs-from-torch-cuda", "likely")
def compiler_of_another_major_failed(
    _failed: Symptom = seen("nvcc-command-failed"), torch: Torch = one(cuda=Told(bool)), toolkit: Toolkit | None = one(name="cuda"),
    nvcc: Symptom | None = seen("nvcc-answers"),
) -> Verdict:  # fmt: skip
    """Something was compiled against torch and failed in nvcc, and the only nvcc that is shown is of another major."""
    have = str((toolkit.get("version") if toolkit else None) or (nvcc.version if nvcc else ""))
    return bool(have) and have.partition(".")[0] != str(torch.cuda).partition(".")[0] and {"want": torch.cuda}


@rule("nvcc-differs-from-torch-cuda", "likely")
def operations_are_compiled_by_another_major(
    _asked: Symptom = seen("deepspeed-operations-asked-for"), torch: Torch = one(cuda=Told(bool)), toolkit: Toolkit = one(name="cuda"),
) -> Verdict:  # fmt: skip
    """DeepSpeed is told to compile as it is installed, and nvcc is of another major than torch."""
    return version_key(str(toolkit.version))[:1] != version_key(str(torch.cuda))[:1] and {"want": torch.cuda}


@rule("nvcc-differs-from-torch-cuda", "likely")
def word_of_a_newer_toolkit_is_not_known(
    _said: Symptom = seen("symbol-unknown-to-this-toolkit"), torch: Torch = one(cuda=Told(bool)), toolkit: Toolkit | None = one(name="cuda"),
    nvcc: Symptom | None = seen("nvcc-answers"),
) -> Verdict:  # fmt: skip
    """A source for torch's CUDA is compiled by an older nvcc."""
    have = str((toolkit.get("version") if toolkit else None) or (nvcc.version if nvcc else ""))
    return bool(have) and version_key(have)[:2] < version_key(str(torch.cuda))[:2] and {"have": have, "want": torch.cuda}  # fmt: skip


# -- cudnn-version-incompatible
@rule("cudnn-version-incompatible", "likely")
def dnn_library_beside_another_release(
    _said: Symptom = seen("tf-dnn-not-initialised"), cudnn: Package = one(manager="conda", name="cudnn"),
    _tf: Package = one(name=("tensorflow", "tensorflow-gpu"), manager="pip"),
) -> Verdict:  # fmt: skip
    """pip's TensorFlow and conda's cuDNN: nobody matched the one with the other."""
    return {"found": cudnn.version}


@rule("cudnn-version-incompatible", "likely")
def tensorrt_loads_an_older_cudnn(said: Symptom = seen("tensorrt-loads-another-cudnn")) -> Verdict:
    """It says so of a newer one too, with which it works."""
    return version_key(said.found) < version_key(said.built) and {"built": said.built, "found": said.found}


@rule("cudnn-version-incompatible")
def headers_and_library_are_of_two_majors(
    _said: Symptom = seen("cudnn-parts-differ"), header: Symptom = seen("cudnn-of-the-headers"), linked: Symptom = seen("ldd-cuda-library"),
) -> Verdict:  # fmt: skip
    """A program of one's own was compiled with the headers of one cuDNN, and the loader gives it another's library."""
    found = re.fullmatch(r"libcudnn\w{0,30}\.so\.(\d{1,2})", str(linked.lib))
    return bool(found) and found is not None and found[1] != header.major and {"built": header.major, "found": found[1]}


@rule("cudnn-version-incompatible", "likely")
def paddle_loads_an_older_cudnn(
    built: Symptom = seen("paddle-built-with-cudnn"), loaded: Symptom = seen("paddle-loads-a-cudnn")
) -> Verdict:
    """It tells what it was built with, and what the loader gave it: a newer one serves, an older one does not."""
    was, found = version_key(str(built.built))[:2], version_key(str(loaded.found))[:2]
    return found < was and {"built": built.built, "found": loaded.found}
