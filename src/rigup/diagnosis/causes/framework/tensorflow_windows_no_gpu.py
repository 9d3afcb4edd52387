"""This TensorFlow has no GPU support on native Windows."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.knowledge.cuda_libraries import asked_by, runtime_of
from rigup.knowledge.pythons import pythons, supported, tensorflow_on_windows, tensorflow_with_windows
from rigup.machine.kinds import Gpu, Package, Platform, PythonEnv, Symptom, TensorFlow, Toolkit, Torch

_TENSORFLOWS = ("tensorflow", "tensorflow-intel", "tensorflow-gpu", "tensorflow-cpu")


@rule("tensorflow-windows-no-gpu")
def tensorflow_package_on_windows(
    package: Package = one(name=_TENSORFLOWS), platform: Platform = one(system="windows"), _gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """From this release on there is no CUDA in TensorFlow's wheels for Windows."""
    return platform.get("wsl") is None and tensorflow_on_windows(package.version) is False and {"version": package.version}


@rule("tensorflow-windows-no-gpu")
def tensorflow_says_so_on_windows(
    answered: TensorFlow = one(),
    platform: Platform = one(system="windows"),
    gpu: Gpu | None = one(vendor="nvidia"),
    torch: Torch | None = one(available=True),
) -> Verdict:
    """Its version, or its own answer, where something else shows that a GPU is there."""
    without = answered.get("built_with_cuda") is False or tensorflow_on_windows(str(answered.get("version") or "")) is False
    return without and platform.get("wsl") is None and bool(gpu or torch) and {"version": answered.get("version")}


@rule("tensorflow-windows-no-gpu", "likely")
def somebody_on_windows_counts_on_a_gpu(
    answered: TensorFlow = one(), platform: Platform = one(system="windows"), toolkit: Toolkit | None = one(name="cuda")
) -> Verdict:
    """A release without CUDA there, asked for its GPUs, or beside a toolkit that was installed for it."""
    without = tensorflow_on_windows(str(answered.get("version") or "")) is False
    return without and platform.get("wsl") is None and (answered.get("gpus") == 0 or toolkit is not None)


@rule("tensorflow-windows-no-gpu", "likely")
def somebody_misses_the_gpu_on_windows(
    _told: Symptom = seen(tag="gpu-not-used"),
    intel: Symptom | None = seen("tensorflow-intel-told"),
    answered: TensorFlow | None = None,
    platform: Platform | None = None,
) -> Verdict:
    """tensorflow-intel is what pip installs on Windows alone; or the release is told, and the system."""
    windows = platform is not None and platform.get("system") == "windows" and platform.get("wsl") is None
    without = answered is not None and tensorflow_on_windows(str(answered.get("version") or "")) is False
    return intel is not None or (windows and without)


@rule("tensorflow-windows-no-gpu", "likely")
def built_without_cuda_beside_a_torch_that_works(
    _answered: TensorFlow = one(built_with_cuda=False),
    _torch: Torch = one(available=True),
    platform: Platform | None = None,
    hosted: Symptom | None = seen(tag="hosted-notebook"),
) -> Verdict:
    """On Linux the plain package always says True; where the system is not told, this is how Windows looks."""
    return hosted is None and (platform is None or not platform.knows("system"))


@mends("tensorflow-windows-no-gpu")
def the_last_release_for_windows(python: PythonEnv | None = None) -> Params:
    """The last release with CUDA on Windows, and a Python that it has wheels for."""
    release = tensorflow_with_windows()
    fits = bool(python and python.get("version") and supported("tensorflow", str(python.version), release))
    newest = next(iter(pythons("tensorflow", release)), None)
    built = next(reversed(asked_by("tensorflow")), None)
    return {
        "cuda": f"CUDA {built.cuda} + cuDNN {built.cudnn}" if built else None,
        "lib": runtime_of(built.cuda, True) if built else None,
        "last": f"tensorflow=={release}.*" if release else None,
        "python": newest,
        "directly": "yes" if fits else None,
    }
