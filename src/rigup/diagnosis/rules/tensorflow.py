"""TensorFlow: whether its build and its libraries come to the GPU."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.knowledge.pythons import tensorflow_on_windows
from rigup.machine.kinds import (
    Driver,
    Gpu,
    LoaderEntry,
    Package,
    PathLibrary,
    Platform,
    PythonEnv,
    Symptom,
    TensorFlow,
    Toolkit,
    Torch,
)

_TENSORFLOWS = ("tensorflow", "tensorflow-intel", "tensorflow-gpu", "tensorflow-cpu")


def _system(platform: Platform | None) -> str:
    return str(platform.get("system") or "linux") if platform else "linux"


@rule("tensorflow-windows-no-gpu")
def tensorflow_package_on_windows(
    package: Package = one(name=_TENSORFLOWS),
    platform: Platform = one(system="windows"),
    _gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """From this release on there is no CUDA in TensorFlow's wheels for Windows."""
    return (
        platform.get("wsl") is None and tensorflow_on_windows(package.version) is False and {"version": package.version}
    )


@rule("tensorflow-windows-no-gpu")
def tensorflow_says_so_on_windows(
    answered: TensorFlow = one(), platform: Platform = one(system="windows"), gpu: Gpu | None = one(vendor="nvidia"), torch: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Its version, or its own answer, where something else shows that a GPU is there."""
    without = (
        answered.get("built_with_cuda") is False or tensorflow_on_windows(str(answered.get("version") or "")) is False
    )
    return without and platform.get("wsl") is None and bool(gpu or torch)


@rule("tensorflow-windows-no-gpu", "likely")
def somebody_on_windows_counts_on_a_gpu(
    answered: TensorFlow = one(), platform: Platform = one(system="windows"), toolkit: Toolkit | None = one(name="cuda")
) -> Verdict:
    """A release without CUDA there, asked for its GPUs, or beside a toolkit that was installed for it."""
    without = tensorflow_on_windows(str(answered.get("version") or "")) is False
    return without and platform.get("wsl") is None and (answered.get("gpus") == 0 or toolkit is not None)


@rule("tensorflow-windows-no-gpu", "likely")
def somebody_misses_the_gpu_on_windows(
    _told: Symptom = seen(tag="gpu-not-used"), intel: Symptom | None = seen("tensorflow-intel-told"), answered: TensorFlow | None = None,
    platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """tensorflow-intel is what pip installs on Windows alone; or the release is told, and the system."""
    windows = platform is not None and platform.get("system") == "windows" and platform.get("wsl") is None
    without = answered is not None and tensorflow_on_windows(str(answered.get("version") or "")) is False
    return intel is not None or (windows and without)


@rule("tensorflow-windows-no-gpu", "likely")
def built_without_cuda_beside_a_torch_that_works(
    _answered: TensorFlow = one(built_with_cuda=False), _torch: Torch = one(available=True), platform: Platform | None = None,
    hosted: Symptom | None = seen(tag="hosted-notebook"),
) -> Verdict:  # fmt: skip
    """On Linux the plain package always says True; where the system is not told, this is how Windows looks."""
    return hosted is None and (platform is None or not platform.knows("system"))


@rule("tensorflow-cpu-build")
def built_without_cuda_on_linux(
    answered: TensorFlow = one(built_with_cuda=False),
    _platform: Platform = one(system="linux"),
    _gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """The package for the CPU, on a machine with a card."""
    return {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def built_without_cuda_in_a_hosted_notebook(
    answered: TensorFlow = one(built_with_cuda=False), _torch: Torch = one(available=True), _hosted: Symptom = seen(tag="hosted-notebook")
) -> Verdict:  # fmt: skip
    """Such notebooks run on Linux; torch shows that a GPU is there."""
    return {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def it_knows_no_device_and_says_no_reason(
    _said: Symptom = seen("tf-no-known-devices"), _told: Symptom = seen(tag="gpu-not-used"), named: Symptom | None = seen(tag="tf-misses tensorflow-refused"),
) -> Verdict:  # fmt: skip
    """A build with CUDA tells why it has no device; this one never looked for any."""
    return named is None


@rule("tensorflow-cpu-build")
def the_package_for_the_cpu(
    package: Package = one(name="tensorflow-cpu"), _gpu: Gpu = one(vendor="nvidia"), platform: Platform | None = None,
    _driver: Driver = one(vendor="nvidia"), other: Package | None = one(name=("tensorflow", "tensorflow-gpu")),
) -> Verdict:  # fmt: skip
    """Its name says it."""
    return other is None and _system(platform) == "linux" and {"version": package.version}


@rule("tensorflow-cpu-build", "likely")
def libraries_of_its_extra_are_not_there(
    _said: Symptom = seen("tf-no-cuda-libraries", "tf-cannot-dlopen"), driver: Driver = one(vendor="nvidia"), platform: Platform | None = None,
    named: Symptom | None = seen(tag="tf-misses"),
) -> Verdict:  # fmt: skip
    """The driver is there, and TensorFlow finds no CUDA library beside it."""
    return named is None and _system(platform) != "windows" and bool(driver.get("version"))


@rule("tensorflow-cpu-build", "likely")
def it_counted_gpus_and_skipped_them(
    _said: Symptom = seen("tf-cannot-dlopen", "tf-skips-gpus"), platform: Platform | None = None, named: Symptom | None = seen(tag="tf-misses"),
) -> Verdict:  # fmt: skip
    """It comes to its libraries where the driver has counted a GPU; newer releases do not say which one is missing."""
    return named is None and _system(platform) == "linux"


@rule("tensorflow-cpu-build", "likely")
def somebody_has_a_card_and_it_finds_no_library(
    _said: Symptom = seen("tf-no-cuda-libraries"), gpu: Gpu = one(vendor="nvidia"), platform: Platform | None = None, named: Symptom | None = seen(tag="tf-misses"),
) -> Verdict:  # fmt: skip
    """On a machine without a GPU the same line is noise; here somebody names his card beside it."""
    return named is None and _system(platform) == "linux" and bool(gpu.fields)


@rule("tensorflow-cpu-build", "possible")
def somebody_misses_the_gpu_and_it_finds_no_library(
    _said: Symptom = seen("tf-no-cuda-libraries"), _told: Symptom = seen(tag="gpu-not-used"), platform: Platform | None = None, named: Symptom | None = seen(tag="tf-misses"),
) -> Verdict:  # fmt: skip
    """The same where the complaint alone shows that a GPU is there."""
    return named is None and _system(platform) == "linux"


@rule("tensorflow-cpu-build", "likely")
def it_sees_no_gpu_beside_a_driver(
    answered: TensorFlow = one(gpus=0), _driver: Driver = one(vendor="nvidia"), platform: Platform | None = None, named: Symptom | None = seen(tag="tf-misses"),
) -> Verdict:  # fmt: skip
    """It lists no GPU where the driver is there, and names no library that it misses."""
    return named is None and _system(platform) == "linux" and {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def the_plain_package_and_no_library_of_cuda(
    env: PythonEnv = one(active=True), package: Package = one(name="tensorflow", manager="pip"), _driver: Driver = one(vendor="nvidia"),
    platform: Platform | None = None, packages: Every[Package] = every(Package), entries: Every[LoaderEntry] = every(LoaderEntry),
    folders: Every[PathLibrary] = every(PathLibrary), answered: TensorFlow | None = None,
) -> Verdict:  # fmt: skip
    """The environment in force has the plain package, and no cuDNN lies in it, in the loader's cache or on its path."""
    brought = any(_brings_cudnn(other) and other.get("env") == env.prefix for other in packages)
    names = [entry.soname for entry in entries] + [library.soname for library in folders]
    has_cudnn = any(name.startswith("libcudnn") for name in names)
    mine = package.get("env") == env.prefix and answered is None and _system(platform) == "linux" and bool(entries)
    return mine and not brought and not has_cudnn and {"version": package.version}


def _brings_cudnn(package: Package) -> bool:
    return package.name.startswith(("nvidia-cudnn", "cudnn"))


@rule("tensorflow-cpu-build")
def conda_chose_tensorflow_for_the_cpu(
    package: Package = one(manager="conda", name=("tensorflow", "tensorflow-base")), _gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """conda names the variant in the build string."""
    return str(package.get("build") or "").startswith(("mkl_", "eigen_", "cpu_")) and {"version": package.version}
