"""Wheels and builds that do not serve a machine, by what public threads show beside their message."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.compiled_for import newer_than_most
from rigup.diagnosis.rules.wheels import libc_of
from rigup.knowledge.cuda import version_key
from rigup.knowledge.pythons import supported
from rigup.machine.kinds import Distribution, Driver, Gpu, Platform, PythonEnv, Symptom, TensorFlow, Toolkit, Variable

_NONE = ("pip-no-version", "pip-no-distribution")
_UNREACHABLE = ("pip-connection-broken", "pip-could-not-fetch")
_ARM = ("processor-of-arm-answers", "aarch64-in-words")
_NAMED = ("tf-library-not-loaded", "tf-library-not-dlopened", "tf-speaks-of-cuda", "cudnn-not-located")
# Packages with compiled code that were long made for Intel's processors alone.
_INTEL_ONLY = re.compile(
    r"triton|onnxruntime-gpu|tensorflow-gpu|xformers|faiss-gpu[\w-]{0,10}|bitsandbytes|decord|torch-tensorrt|paddlepaddle-gpu|flash-attn-3|open3d|mxnet-cu\d{2,3}|cupy-cuda1[01]\w{1,2}|auto-gptq|exllamav2"
)


def _nothing(said: Symptom) -> str:
    """The package of which pip was offered nothing at all."""
    none = not said.knows("offered") or said.offered in ("none", "")
    return re.sub(r"[-_.]{1,9}", "-", str(said.get("name"))).lower() if none else ""


# -- another system
@rule("extension-without-platform-build", "likely")
def package_is_not_made_for_this_processor(
    said: Symptom = seen(*_NONE), _arm: Symptom = seen(*_ARM), offline: Symptom | None = seen(*_UNREACHABLE), python: PythonEnv | None = None,
    platform: Platform | None = one(system=("windows", "macos")),
) -> Verdict:  # fmt: skip
    """uname names ARM's processor, and pip is offered nothing of a package that is made for Intel's."""
    name = _nothing(said)
    aside = offline is not None or platform is not None
    wrong = python is not None and python.knows("version") and supported(name, python.version) is False
    return not aside and not wrong and bool(_INTEL_ONLY.fullmatch(name)) and {"name": said.name}


@rule("extension-without-platform-build", "possible")
def nothing_of_triton_and_no_system_told(
    said: Symptom = seen("pip-linux-only-package"), platform: Platform | None = one(system=("linux", "windows", "macos")),
    offline: Symptom | None = seen(*_UNREACHABLE), python: PythonEnv | None = None, arm: Symptom | None = seen(*_ARM),
) -> Verdict:  # fmt: skip
    """Who is offered nothing of it is mostly on another system than Linux."""
    aside = offline is not None or python is not None or arm is not None
    return not aside and platform is None and said.name in ("triton", "vllm", "deepspeed") and {"name": said.name}


@rule("extension-without-platform-build", "possible")
def library_of_another_system_on_linux(said: Symptom = seen("python-library-is-no-elf-file")) -> Verdict:
    """What was compiled on a Mac, or fetched as a pointer, is no file that Linux can load."""
    return not said.name.startswith(("libc.so", "libm.so", "libpthread.so")) and {"name": said.name}


# -- the libc
@rule("glibc-too-old-for-wheel", "likely")
def wheel_is_for_any_python_and_was_refused(
    said: Symptom = seen("wheel-tag-refused"), platform: Platform | None = one(system=("windows", "macos")), arm: Symptom | None = seen(*_ARM)
) -> Verdict:  # fmt: skip
    """`abi3` and `py3` serve every later Python; what is left of the tag is the libc."""
    any_python = said.get("abi") == "abi3" or str(said.get("tag")).startswith("py3")
    newer = re.match(r"manylinux_2_(2[89]|3\d|4\d)_x86_64", str(said.get("os")))
    fits = any_python and newer is not None and platform is None and arm is None
    return fits and {"want": f"2.{newer[1] if newer else ''}", "file": said.name}


@rule("glibc-too-old-for-wheel", "likely")
def wheel_that_was_asked_for_is_for_a_newer_libc(
    said: Symptom = seen("wheel-with-a-tag-is-installed"), system: Distribution = one()
) -> Verdict:
    """The file's name tells for which libc it was made, and the system's is older."""
    have, wanted = libc_of(system), [int(minor) for minor in re.findall(r"manylinux_2_(\d{1,2})", str(said.os))]
    older = bool(have and wanted) and have != "musl" and version_key(have) < (2, min(wanted))
    return older and {"want": f"2.{min(wanted)}", "have": have, "file": said.name}


@rule("glibc-too-old-for-wheel", "likely")
def refused_wheel_is_not_for_musl(
    said: Symptom = seen("wheel-tag-refused"), system: Distribution = one(id="alpine")
) -> Verdict:
    """`manylinux` means glibc."""
    return str(said.get("os")).startswith("manylinux") and {
        "want": None,
        "have": "musl",
        "file": said.name,
        "distro": system.id,
    }


@rule("glibc-too-old-for-wheel", "likely")
def library_of_glibc_beside_musl(
    _libc: Symptom = seen("musl-is-the-libc-that-is-listed"), said: Symptom = seen("onnxruntime-says-no-reason")
) -> Verdict:
    """ldd resolves a library that was made for glibc by musl, and the program that loads it gives no reason."""
    return {"want": None, "have": "musl", "said": said.id}


# -- the Python
@rule("python-version-without-wheels", "likely")
def index_of_builds_has_none_for_this_python(
    said: Symptom = seen(*_NONE), index: Symptom = seen("index-url-of-torch"), python: PythonEnv = one(), platform: Platform | None = None,
    offline: Symptom | None = seen(*_UNREACHABLE),
) -> Verdict:  # fmt: skip
    """The one index that was asked holds the wheels of a CUDA from before this Python."""
    variant, system = (
        str(index.index).rstrip("/").rpartition("/")[2],
        str(platform.get("system") or "linux") if platform else "linux",
    )
    wanting = supported(_nothing(said), python.version, "", system, variant) is False
    return offline is None and wanting and {"name": said.name, "have": python.version}


@rule("python-version-without-wheels", "likely")
def programs_installer_asks_for_a_torch_from_before(
    said: Symptom = seen("installer-got-no-torch"), python: PythonEnv = one(), offline: Symptom | None = seen(*_UNREACHABLE), platform: Platform | None = None
) -> Verdict:  # fmt: skip
    """The release of torch that the program pins was never made for this Python."""
    system = str(platform.get("system") or "linux") if platform else "linux"
    wanting = supported("torch", str(python.get("version") or ""), str(said.version), system) is False
    return offline is None and wanting and {"name": "torch", "have": python.version}


@rule("python-version-without-wheels", "likely")
def refused_wheel_is_for_this_system(
    said: Symptom = seen("wheel-tag-refused", os="win_amd64"), platform: Platform = one(system="windows"), python: PythonEnv | None = None
) -> Verdict:  # fmt: skip
    """The system is right; what else the name tells is the Python."""
    told = python is not None and python.knows("version")
    plain = said.tag.startswith("cp") and said.abi != "abi3" and platform.get("wsl") is None
    return plain and not told and {"name": said.name}


# -- workers
@rule("cuda-initialised-before-fork", "likely")
def child_cannot_start_cuda(
    _child: Symptom = seen("child-of-multiprocessing-failed", "worker-process-failed", "worker-loop-failed"), said: Symptom = seen("mxnet-cannot-start-cuda"),
) -> Verdict:  # fmt: skip
    """In the parent CUDA works; in a copy of it it does not."""
    return {"said": said.id}


# -- notebooks
@rule("jupyter-kernel-other-env", "likely")
def search_paths_of_two_environments(
    one_of: Symptom = seen("search-path-of-a-python-printed"), other: Symptom = seen("search-path-of-a-python-printed"),
    _where: Symptom = seen("home-of-ipython-in-a-search-path"),
) -> Verdict:  # fmt: skip
    """Somebody printed it twice, in a notebook at least once, and the Pythons are two."""
    return one_of.prefix.startswith(other.prefix + "/") and {"python": other.prefix + "/bin/python"}


# -- the card and the code
@rule("binary-arch-missing", "likely")
def llama_has_nothing_below(
    said: Symptom = seen("ggml-has-no-architecture-below"), gpu: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """Its message names the card's own number; beside a card of another number it is a fault of the program."""
    wanted = f"sm_{int(said.arch) // 10}"
    same = gpu is None or not gpu.knows("isa") or gpu.isa == wanted
    return same and {"isa": wanted, "package": "llama.cpp"}


@rule("gpu-arch-older-than-wheel", "likely")
def hashcat_cannot_compile_for_an_outdated_card(
    card: Symptom = seen("hashcat-calls-the-card-outdated"), failed: Symptom = seen("hashcat-cannot-compile")
) -> Verdict:
    """What compiles its kernels has dropped the card."""
    return {"capability": card.capability, "said": failed.id}


@rule("gpu-arch-older-than-wheel", "likely")
def cudnn_does_not_serve_the_card(
    _said: Symptom = seen("cudnn-of-another-architecture"), gpu: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """cuDNN answers so of a card that is below what it was made for."""
    return gpu is None or not gpu.knows("isa") or not newer_than_most(gpu.isa)


@rule("binary-arch-missing", "likely")
def program_for_an_older_toolkit_on_a_newer_card(
    _said: Symptom = seen("ptx-of-a-program-not-compiled-by-the-driver"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """The driver compiles a program's PTX for a card that came later, and this PTX is not fit for it."""
    return newer_than_most(gpu.isa) and {"isa": gpu.isa}


# -- TensorFlow
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


# -- numbers of cards
@rule("cuda-device-order-differs", "likely")
def cores_are_not_in_the_order_of_names(
    zero: Symptom = seen("program-counts-cores-of-each-card", number="0"), other: Symptom = seen("program-counts-cores-of-each-card"),
    first: Gpu = one(nvml_index=0, vendor="nvidia"), listed: Gpu = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Two cards have one name in nvidia-smi's list, and two numbers of cores in a program's list, or the other way round."""
    number = int(other.number)
    pair = number > 0 and listed.get("nvml_index") == number
    return pair and (first.name == listed.name) != (zero.cores == other.cores) and {"number": number}
