"""TensorFlow and JAX without a part for GPUs."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.reckoned import is_of_cuda
from rigup.diagnosis.rules.told import Told
from rigup.knowledge.pythons import tensorflow_on_windows
from rigup.machine.kinds import Driver, Gpu, Package, Platform, Symptom, TensorFlow, Toolkit, Variable

_CARDS = ("graphics-card-on-a-line", "nvidia-geforce-named")
_TF_OF_WINDOWS = "tensorflow-intel-told"
_TF_BUILDS = ("tensorflow", "tensorflow-base")
_NOT_LINUX = ("windows", "macos")
_NAMED = ("tf-library-not-loaded", "tf-library-not-dlopened", "tf-speaks-of-cuda", "cudnn-not-located")


def _is_named_after_cuda(build: str) -> bool:
    return build.startswith(("cuda", "gpu_"))


# -- tensorflow-cpu-build
@rule("tensorflow-cpu-build", "likely")
def says_no_to_cuda_and_somebody_names_a_card(
    answered: TensorFlow = one(built_with_cuda=False), _card: Symptom = seen(*_CARDS), platform: Platform | None = one(system=("windows", "macos")),
    intel: Symptom | None = seen(_TF_OF_WINDOWS),
) -> Verdict:  # fmt: skip
    """Built without CUDA, where a card is named."""
    return platform is None and intel is None and {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def plain_package_on_amd(
    _said: Symptom = seen("tf-built-without-rocm"),
    _card: Gpu = one(vendor="amd"),
    rocm: Package | None = one(name="tensorflow-rocm"),
) -> Verdict:
    """For AMD's cards there is a package of its own; this one was built without ROCm."""
    return rocm is None


@rule("tensorflow-cpu-build", "likely")
def package_for_processors_on_a_line(
    said: Symptom = seen("tensorflow-cpu-on-a-line"), _card: Symptom = seen(*_CARDS), platform: Platform | None = one(system=("windows", "macos")),
) -> Verdict:  # fmt: skip
    """The package's name says it, and a card is named on the same page."""
    return platform is None and {"version": said.version}


@rule("tensorflow-cpu-build", "likely")
def archs_package_for_processors(
    _package: Symptom = seen("tensorflow-of-arch-for-processors"), answered: TensorFlow = one(gpus=0)
) -> Verdict:
    """Arch has another package with CUDA; this one lists no GPU."""
    return {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def answers_no_beside_a_driver(
    answered: TensorFlow = one(built_with_cuda=False), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia"),
    brought: Package | None = one(name=Told(is_of_cuda)), named: Package | None = one(manager="conda", name=_TF_BUILDS, build=Told(_is_named_after_cuda)),
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


@rule("tensorflow-cpu-build", "likely")
def nothing_for_tensorflow_where_devicequery_passes(
    _passed: Symptom = seen("devicequery-passed", "devicequery-sums-up"), answered: TensorFlow | None = one(gpus=0), mapped: Symptom | None = seen("tf-no-known-devices"),
    named: Symptom | None = seen(*_NAMED), windows: Platform | None = one(system="windows"),
) -> Verdict:  # fmt: skip
    """CUDA's own sample finds a card; TensorFlow lists the processor alone and names nothing that it misses."""
    return named is None and windows is None and bool(answered or mapped)


@rule("tensorflow-cpu-build", "likely")
def no_known_devices_beside_a_toolkit(
    _mapped: Symptom = seen("tf-no-known-devices"), toolkit: Toolkit | None = one(name="cuda"), driver: Driver | None = one(vendor="nvidia"),
    card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*_NAMED), windows: Platform | None = one(system="windows"),
    release: Symptom | None = seen("nvcc-answers"),
) -> Verdict:  # fmt: skip
    """A build with CUDA would say what it found or missed before it maps devices."""
    return named is None and windows is None and bool(toolkit or driver or card or release)


@rule("tensorflow-cpu-build", "likely")
def trains_without_a_word_of_cuda(
    _advice: Symptom = seen("tf-greets", "tf-could-use-more-instructions"), _trains: Symptom = seen("tf-trains-after-its-advice"),
    driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia"), asked: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
    spoke: Symptom | None = seen("tf-speaks-of-cuda", *_NAMED), windows: Platform | None = one(system="windows"),
) -> Verdict:  # fmt: skip
    """A build with CUDA names its devices between its advice on the processor and the first step."""
    meant = asked is not None and bool(re.match(r"\d", str(asked.get("value"))))
    return spoke is None and windows is None and bool(driver or card or meant)


# -- tensorflow-windows-no-gpu
@rule("tensorflow-windows-no-gpu", "likely")
def package_of_windows_and_somebody_names_a_card(
    package: Package = one(name="tensorflow-intel"), card: Symptom | None = seen(*_CARDS), toolkit: Symptom | None = seen("cuda-toolkit-under-windows-named"),
    answered: TensorFlow | None = one(built_with_cuda=False),
) -> Verdict:  # fmt: skip
    """pip installs this package on Windows alone; a card, or CUDA's toolkit, stands beside it."""
    meant = bool(card or toolkit or answered)
    return tensorflow_on_windows(package.version) is False and meant and {"version": package.version}


@rule("tensorflow-windows-no-gpu", "likely")
def release_of_windows_and_somebody_names_cuda(
    answered: TensorFlow = one(), platform: Platform = one(system="windows"), card: Symptom | None = seen(*_CARDS),
    toolkit: Symptom | None = seen("cuda-toolkit-under-windows-named"), known: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A release without CUDA there, and what a GPU would need beside it."""
    without = tensorflow_on_windows(str(answered.get("version") or "")) is False
    return without and platform.get("wsl") is None and bool(card or toolkit or known)


@rule("tensorflow-windows-no-gpu", "likely")
def package_of_windows_beside_a_driver(
    package: Package = one(name="tensorflow-intel"), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """pip installs this package on Windows alone."""
    return tensorflow_on_windows(package.version) is False and bool(driver or card) and {"version": package.version}


@rule("tensorflow-windows-no-gpu", "possible")
def no_gpu_on_windows_and_no_release_told(
    answered: TensorFlow = one(gpus=0), platform: Platform = one(system="windows"), named: Symptom | None = seen("tf-speaks-of-cuda"),
) -> Verdict:  # fmt: skip
    """Which release it is nobody tells; those of today have no CUDA there, and say nothing of it."""
    return named is None and platform.get("wsl") is None and not answered.knows("version")


@rule("tensorflow-windows-no-gpu", "possible")
def build_on_windows_says_that_it_has_none(
    answered: TensorFlow = one(built_with_cuda=False), platform: Platform = one(system="windows")
) -> Verdict:
    """Somebody asked the build what it has; whether there is a card nobody shows."""
    release = str(answered.get("version") or "")
    return platform.get("wsl") is None and tensorflow_on_windows(release) is False


@rule("tensorflow-windows-no-gpu", "likely")
def package_for_windows_counts_none(
    package: Package = one(name="tensorflow-intel"), answered: TensorFlow = one(gpus=0), plugin: Package | None = one(name="tensorflow-directml-plugin"),
) -> Verdict:  # fmt: skip
    """pip installs tensorflow-intel on native Windows alone, and somebody asked for the GPUs."""
    return plugin is None and answered.gpus == 0 and {"version": package.get("version")}


@rule("tensorflow-windows-no-gpu", "likely")
def extra_of_linux_was_asked_for_on_windows(
    said: Symptom = seen("release-of-tensorflow-without-that-extra"), platform: Platform = one(system="windows")
) -> Verdict:
    """Who asks for that extra wants the GPU; this release's wheel for Windows has no CUDA."""
    return platform.get("wsl") is None and tensorflow_on_windows(said.version) is False and {"version": said.version}


@rule("tensorflow-windows-no-gpu", "likely")
def parts_of_linux_were_asked_for_on_windows(
    said: Symptom = seen("cuda-part-of-tensorflow-not-offered"), platform: Platform = one(system="windows")
) -> Verdict:
    """The extra's parts have wheels for Linux alone: this TensorFlow would have no GPU there with them either."""
    return platform.get("wsl") is None and {"said": said.id}
