"""Builds of frameworks, from short texts that show output and nothing else: a list, an answer, a log's few lines."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.compiled_for import refused
from rigup.diagnosis.rules.framework import worth_a_build
from rigup.diagnosis.rules.told import MACS, Told
from rigup.diagnosis.rules.wheels import ILLEGAL, libc_of
from rigup.knowledge.cuda import driver_carries, driver_minimum, version_key
from rigup.knowledge.distributions import distribution
from rigup.knowledge.pythons import pythons, supported, tensorflow_on_windows
from rigup.machine.kinds import (
    Cpu,
    Distribution,
    Driver,
    Gpu,
    Package,
    PciDevice,
    Platform,
    PythonEnv,
    Symptom,
    TensorFlow,
    Toolkit,
    Torch,
)

_TF_BUILDS = ("tensorflow", "tensorflow-base")
_UNREACHABLE = ("pip-connection-broken", "pip-could-not-fetch")
_NOT_LINUX = ("windows", "macos")
_OF_WHEELS = "2.17"  # what manylinux2014 asks for: no wheel of today is made for an older one


def _is_of_cuda(name: str) -> bool:
    return re.fullmatch(r"nvidia-(?:cuda-runtime|cublas|cudnn)(?:-cu\d{2})?", name) is not None


def _is_named_after_cuda(build: str) -> bool:
    return build.startswith(("cuda", "gpu_"))


def _is_cupy(name: str) -> bool:
    return re.fullmatch(r"cupy-cuda\d{2,3}x?", name) is not None


# -- torch
@rule("gpu-arch-older-than-wheel", "likely")
def torch_says_so_of_some_card(
    said: Symptom = seen("torch-dropped-some-card"), amd: Gpu | None = one(vendor="amd"), hip: Torch | None = one(hip=Told(bool)),
) -> Verdict:  # fmt: skip
    """The sentence alone. A build for AMD compares numbers of another maker's scale, and goes on."""
    return amd is None and hip is None and {"said": said.id}


@rule("cpu-only-torch", "likely")
def pip_took_a_wheel_without_cuda(
    _taken: Symptom = seen("pip-takes-a-small-torch"), card: Gpu | None = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia"),
    torch: Torch | None = one(cuda=Told(bool)), answered: Torch | None = one(available=False),
) -> Verdict:  # fmt: skip
    """A wheel of 200 MB has no code for any GPU: with CUDA it would be ten times as large."""
    return torch is None and bool(card or driver or answered) and (card is None or worth_a_build(card))


@rule("cpu-only-torch", "possible")
def build_for_processors_beside_a_toolkit(
    torch: Torch, toolkit: Toolkit | None = one(name="cuda"), nvcc: Symptom | None = seen("nvcc-answers"), card: Gpu | None = None,
    none: Symptom | None = seen("report-without-a-gpu"), other: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """A report that is cut off before it says what it sees: somebody shows the compiler that the build has no use for."""
    cpu = torch.knows("version", "cuda") and torch.cuda is None and str(torch.version).endswith("+cpu")
    shown = bool(toolkit or nvcc) and card is None and none is None
    return cpu and shown and not torch.knows("available") and other is None


@rule("cpu-only-torch", "likely")
def build_for_processors_beside_a_driver(
    torch: Torch, driver: Driver = one(vendor="nvidia"), card: Gpu | None = None, other: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The cards nobody shows; the driver is there for one."""
    cpu = torch.knows("cuda") and torch.cuda is None and torch.get("hip") is None
    own = "+xpu" not in str(torch.get("version")) and not torch.get("available")
    return cpu and own and card is None and other is None and bool(driver.get("version"))


@rule("cpu-only-torch", "likely")
def build_for_processors_and_a_program_that_wants_cuda(
    torch: Torch, _wanted: Symptom = seen("cuda-wanted-by-a-program"), card: Gpu | None = None, other: Torch | None = one(cuda=Told(bool)),
    bus: PciDevice | None = None,
) -> Verdict:  # fmt: skip
    """A program tells that it was asked for CUDA and goes on without; where the bus was looked at and has no card, it has to."""
    if card is None and bus is not None:
        return False
    cpu = torch.knows("version", "cuda") and torch.cuda is None and str(torch.version).endswith("+cpu")
    return cpu and other is None and (card is None or worth_a_build(card))


@rule("gpu-arch-newer-than-wheel", "likely")
def refused_card_is_newer(
    gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen("torch-cannot-serve-card-cut")
) -> Verdict:
    """The sentence is cut off; what today's builds serve tells on which side the card lies."""
    return gpu.isa == said.isa and refused(said) == "newer-chip"


@rule("gpu-arch-older-than-wheel", "likely")
def refused_card_is_older(
    gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen("torch-cannot-serve-card-cut")
) -> Verdict:
    """The same for a card that no build of today serves."""
    return gpu.isa == said.isa and refused(said) == "older-chip"


@rule("torch-torchvision-mismatch", "likely")
def companion_for_processors(
    companion: Package = one(manager="pip", name=("torchvision", "torchaudio")), torch: Torch = one(cuda=Told(bool)), other: Torch | None = one(cuda=None),
) -> Verdict:  # fmt: skip
    """conda names torch's toolkit in the build string, pip that of what belongs to it in the version."""
    alone = other is None and companion.get("env") == torch.get("env") and "+" not in str(torch.get("version"))
    cpu = str(companion.version).endswith("+cpu")
    return alone and cpu and {"have": torch.get("version"), "other": companion.version, "companion": companion.name}


# -- the driver
@rule("driver-too-old-for-wheel", "likely")
def carried_cuda_is_below_the_builds(
    driver: Driver = one(vendor="nvidia"), torch: Torch = one(cuda=Told(bool)), table: Gpu | None = one(seen_by="torch"),
) -> Verdict:  # fmt: skip
    """What the driver carries was asked of the driver itself; its own version nobody shows."""
    if driver.knows("version") or torch.get("available") or table:
        return False
    carried, wanted = version_key(str(driver.cuda)), version_key(str(torch.cuda))
    below = carried[0] < wanted[0] if wanted[0] >= 11 else carried[:2] < wanted[:2]
    return below and {"have": f"CUDA {driver.cuda}", "cuda": torch.cuda, "branch": driver_minimum(str(torch.cuda))}


@rule("driver-too-old-for-wheel", "likely")
def packages_of_a_newer_cuda(
    package: Package = one(name=Told(_is_of_cuda)), driver: Driver = one(vendor="nvidia"), answered: TensorFlow | None = None,
    works: Torch | None = one(available=True), torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The CUDA of an environment is told by the package of its runtime alone."""
    runtime = package.name.startswith("nvidia-cuda-runtime") and works is None and torch is None and answered is None
    cuda = ".".join(str(package.version).split(".")[:2])
    if not runtime or driver_carries(driver.version, cuda) is not False:
        return False
    return {"have": driver.version, "cuda": cuda, "branch": driver_minimum(cuda)}


# -- TensorFlow
@rule("tensorflow-cpu-build", "likely")
def answers_no_beside_a_driver(
    answered: TensorFlow = one(built_with_cuda=False), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia"),
    brought: Package | None = one(name=Told(_is_of_cuda)), named: Package | None = one(manager="conda", name=_TF_BUILDS, build=Told(_is_named_after_cuda)),
    platform: Platform | None = one(system=_NOT_LINUX),
) -> Verdict:  # fmt: skip
    """It says that it was built without CUDA; the card, the driver, the packages of CUDA or a build's name tell that a GPU is meant."""
    meant = bool(driver or card or brought or named)
    return platform is None and meant and {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def lists_no_gpu_that_is_there(
    answered: TensorFlow = one(gpus=0), card: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"), platform: Platform | None = one(system=_NOT_LINUX),
    named: Symptom | None = seen("tf-library-not-loaded", "tf-library-not-dlopened", "tf-speaks-of-cuda"),
) -> Verdict:  # fmt: skip
    """A row of nvidia-smi shows that the driver works, and TensorFlow lists nothing and names nothing that it misses."""
    return named is None and platform is None and bool(card.fields) and {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def package_for_the_cpu_beside_a_card(
    package: Package = one(name="tensorflow-cpu"), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia"),
    other: Package | None = one(name=("tensorflow", "tensorflow-gpu")), platform: Platform | None = one(system=_NOT_LINUX),
    answered: TensorFlow | None = one(gpus=0),
) -> Verdict:  # fmt: skip
    """Its name says it; somebody shows the card, the driver or an empty list of GPUs beside it."""
    return other is None and platform is None and bool(driver or card or answered) and {"version": package.version}


@rule("tensorflow-cpu-build", "likely")
def conda_build_for_the_cpu_and_no_gpu(
    package: Package = one(manager="conda", name=_TF_BUILDS), answered: TensorFlow | None = one(gpus=0),
    meant: Package | None = one(name=("tensorflow-gpu", "cudatoolkit", "cudnn")), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """conda's build string names the variant; its devices were asked for, or packages for a GPU stand beside it."""
    cpu = str(package.get("build") or "").startswith(("mkl_", "eigen_", "cpu_"))
    return cpu and bool(answered or meant or driver) and {"version": package.version}


@rule("tensorflow-cpu-build", "likely")
def ran_without_a_word_of_cuda(
    _runs: Symptom = seen("tf-greets"), _ran: Symptom = seen("tf-has-run"), spoke: Symptom | None = seen("tf-speaks-of-cuda"),
    driver: Driver = one(vendor="nvidia"), platform: Platform | None = one(system=_NOT_LINUX),
) -> Verdict:  # fmt: skip
    """A build with CUDA speaks of its libraries or devices before it runs anything; this log goes past that point without."""
    return spoke is None and platform is None and bool(driver.get("version"))


@rule("tensorflow-windows-no-gpu", "likely")
def package_of_windows_beside_a_driver(
    package: Package = one(name="tensorflow-intel"), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """pip installs this package on Windows alone."""
    return tensorflow_on_windows(package.version) is False and bool(driver or card) and {"version": package.version}


# -- the libc
@rule("glibc-too-old-for-wheel", "likely")
def offers_end_before_what_is_asked(
    said: Symptom = seen("pip-no-version"), system: Distribution | None = None, told: Symptom | None = seen("older-centos-in-words"),
    python: PythonEnv | None = None, offline: Symptom | None = seen(*_UNREACHABLE),
) -> Verdict:  # fmt: skip
    """pip offers older releases alone, or none where no wheel is made for so old a libc; the Python is not to blame."""
    have, asked = _libc(system, told), str(said.get("asked") or "").lstrip("= ")
    if offline is not None or not have or not said.get("offered"):
        return False
    if python is not None and supported(said.name, python.version, asked.partition("+")[0]) is False:
        return False
    newest = str(said.offered).rpartition(",")[2].strip()
    none = newest == "none" and version_key(have) < version_key(_OF_WHEELS)
    older = newest != "none" and bool(asked) and version_key(newest) < version_key(asked)
    return (none or (older and version_key(have) < (2, 28))) and {"have": have, "file": said.name}


def _libc(system: Distribution | None, told: Symptom | None) -> str:
    if system is not None and (known := libc_of(system)):
        return known
    row = distribution(str(told.distro).lower(), str(told.release)) if told else None
    return row.glibc if row else ""


# -- packages and libraries
@rule("pip-cuda-mix", "likely")
def two_builds_of_cupy(
    one_of: Package = one(name=Told(_is_cupy)), other: Package = one(name=Told(_is_cupy))
) -> Verdict:
    """Both put one module into one place."""
    same = one_of.get("env") == other.get("env")
    return same and one_of.name < other.name and {"one": one_of.name, "other": other.name}


@rule("library-clash-ld-library-path", "likely")
def a_module_brings_another_cudnn(
    said: Symptom = seen("cudnn-differs-from-built", "cuda-symbol-undefined", "cuda-symbol-not-defined-at-link-time", "cudnn-older-than-compiled"),
    loaded: Symptom = seen("environment-module-of-cuda"),
) -> Verdict:  # fmt: skip
    """A loaded environment module puts its folder into the loader's path."""
    return {"folder": loaded.module, "lib": said.get("lib"), "symbol": said.get("symbol")}


@rule("nvcc-differs-from-torch-cuda", "likely")
def compiler_of_another_major_failed(
    _failed: Symptom = seen("nvcc-command-failed"), torch: Torch = one(cuda=Told(bool)), toolkit: Toolkit | None = one(name="cuda"),
    nvcc: Symptom | None = seen("nvcc-answers"),
) -> Verdict:  # fmt: skip
    """Something was compiled against torch and failed in nvcc, and the only nvcc that is shown is of another major."""
    have = str((toolkit.get("version") if toolkit else None) or (nvcc.version if nvcc else ""))
    return bool(have) and have.partition(".")[0] != str(torch.cuda).partition(".")[0] and {"want": torch.cuda}


# -- extensions
@rule("extension-without-platform-build", "likely")
def vllm_on_another_system(
    _said: Symptom = seen("vllm-unknown-runtime"), platform: Platform = one(system=_NOT_LINUX)
) -> Verdict:
    """Its setup knows the runtimes of Linux alone."""
    return platform.get("wsl") is None and {"name": "vllm"}


@rule("extension-without-platform-build", "likely")
def cuda_extension_on_a_mac(
    said: Symptom = seen("cuda-extension-from-source", "cuda-extension-not-there"), mac: Symptom | None = seen(*MACS),
    platform: Platform | None = one(system="macos"), card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """What is written in CUDA has no build for a Mac."""
    return bool(mac or platform) and card is None and {"name": said.package}


@rule("extension-without-platform-build", "likely")
def bitsandbytes_of_cuda_on_amd(
    _said: Symptom = seen("bitsandbytes-setup-failed"), card: Gpu | None = one(vendor="amd"), torch: Torch | None = one(hip=Told(bool)),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Its setup looks for CUDA's libraries; builds of that time have none for ROCm."""
    return bool(card or torch) and other is None and {"name": "bitsandbytes"}


# -- the processor
@rule("cpu-instruction-set-missing", "likely")
def fault_at_an_instruction_of_avx512(
    _said: Symptom = seen(*ILLEGAL), _at: Symptom = seen("avx512-at-the-fault"), cpu: Cpu = one()
) -> Verdict:
    """AVX2 is there; what faulted is of AVX-512, which is not."""
    return _up_to_avx2(cpu) and {"want": "AVX512F"}


@rule("cpu-instruction-set-missing", "possible")
def fault_at_an_instruction_that_nobody_shows(_said: Symptom = seen(*ILLEGAL), cpu: Cpu = one()) -> Verdict:
    """AVX2 is there, and more than AVX2 is not: a build for newer processors is the likeliest reason."""
    return _up_to_avx2(cpu) and {"want": "AVX512F"}


def _up_to_avx2(cpu: Cpu) -> bool:
    return "avx2" in cpu.flags and "avx512f" not in cpu.flags


# -- the Python
@rule("python-version-without-wheels", "possible")
def newer_than_all_that_is_offered(
    said: Symptom = seen("pip-no-version"), system: Distribution | None = None, told: Symptom | None = seen("older-centos-in-words"),
    python: PythonEnv | None = None, offline: Symptom | None = seen(*_UNREACHABLE),
) -> Verdict:  # fmt: skip
    """Newer releases are held back from this Python or this libc; mostly it is the Python, where no libc is told to be old."""
    asked, newest = str(said.get("asked") or ""), str(said.get("offered") or "").rpartition(",")[2].strip()
    if offline is not None or not asked.startswith("==") or newest in ("", "none") or not pythons(said.name):
        return False
    libc = version_key(_libc(system, told))
    old = bool(libc) and libc < (2, 28)
    fits = python is not None and supported(said.name, python.version, asked.lstrip("= ").partition("+")[0]) is True
    later = version_key(newest) < version_key(asked.lstrip("= ").partition("+")[0])
    return later and not old and not fits and {"name": said.name}


# -- Windows and notebooks
@rule("windows-runtime-dll-missing", "likely")
def tensorflows_own_part_is_not_loaded(
    said: Symptom = seen("dll-load-failed-of-old"), _where: Symptom = seen("tf-native-part-not-loaded"), found: Symptom | None = seen("tf-library-not-loaded", "cudnn-not-located"),
) -> Verdict:  # fmt: skip
    """Older Pythons do not say which part it was; the line above tells that it is TensorFlow's."""
    return found is None and {"said": said.id}


@rule("tensorflow-windows-no-gpu", "possible")
def no_gpu_on_windows_and_no_release_told(
    answered: TensorFlow = one(gpus=0), platform: Platform = one(system="windows"), named: Symptom | None = seen("tf-speaks-of-cuda"),
) -> Verdict:  # fmt: skip
    """Which release it is nobody tells; those of today have no CUDA there, and say nothing of it."""
    return named is None and platform.get("wsl") is None and not answered.knows("version")
