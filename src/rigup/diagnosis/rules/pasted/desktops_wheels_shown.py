"""What installers print that find no build: of a package for another system, another machine, another Python."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.patterns import late
from rigup.knowledge.pythons import pythons, supported
from rigup.machine.kinds import Distribution, Platform, PythonEnv, Symptom

_NONE = ("pip-no-version", "pip-no-distribution")
_LINUX = late(
    r"triton|vllm|sglang|nvidia-[\w-]{1,40}-cu\d{2}|jax-cuda\d{2}[\w-]{0,20}|faiss-gpu[\w-]{0,10}|(?:cudf|cuml|cugraph|rmm)-cu\d{2}|tensorflow-rocm|deepspeed|pytorch-triton(?:-rocm|-xpu)?|amdsmi|jax-rocm\d{2}[\w-]{0,20}|onnxruntime-rocm|onnxruntime-migraphx|horovod"
)
_NO_WINDOWS = late(r"mlx|mlx-(?:lm|vlm|whisper)|flash-attn-3|nccl|torch-xla|libtpu")
_NO_MAC = late(
    r"cupy-cuda\w{2,4}|cupy-rocm[\w-]{2,6}|onnxruntime-gpu|tensorrt(?:[-_]cu\d{2}\w{0,12})?|tensorflow-gpu|torch-tensorrt|paddlepaddle-gpu|mxnet-cu\d{2,3}|intel-extension-for-(?:pytorch|tensorflow)|torch-directml|dgl-cu\d{2,3}|nvidia-\w[\w-]{1,40}"
)
_WINDOWS = late(r"onnxruntime-directml|tensorflow-directml(?:-plugin)?|tensorflow-intel|triton-windows|pywin32|wmi")
_MAC = late(r"tensorflow-(?:macos|metal)|jax-metal|mlx-metal|coremltools-metal|pyobjc[\w-]{0,40}")
_COMPILED = late(
    r"xformers|tensorrt(?:[-_]cu\d{2}\w{0,12})?|tensorflow-(?:gpu|macos|metal|rocm|intel)|intel-extension-for-(?:pytorch|tensorflow)|cupy-cuda\w{2,4}|jaxlib|paddlepaddle(?:-gpu)?|open3d|mxnet-cu\d{2,3}|mlx|torch-(?:scatter|sparse|cluster)|numba|onnxruntime-\w{3,10}"
)
_OLDER_LIBC = late(r"manylinux_2_(?:\d|1\d|2[0-7])_(?:x86_64|aarch64)")
_BESIDE = ("numpy", "pillow", "typing-extensions", "requests", "filelock", "jinja2", "networkx", "sympy", "fsspec", "setuptools", "packaging")  # fmt: skip


def _nothing(said: Symptom) -> str:
    """The package of which pip was offered nothing at all, as it is written everywhere."""
    none = not said.knows("offered") or re.fullmatch(r"(?:none)?|0\.0\.1(?:\.dev\d)?", said.offered)  # a name kept free
    return re.sub(r"[-_.]{1,9}", "-", str(said.get("name"))).lower() if none else ""


@rule("extension-without-platform-build", "likely")
def package_is_not_made_for_this_system(
    said: Symptom = seen(*_NONE), platform: Platform = one(system=("linux", "macos", "windows"))
) -> Verdict:
    """pip reached its index, and there is nothing of the package for such a system."""
    name, system = _nothing(said), "linux" if platform.get("wsl") else platform.system
    lists = {"linux": (_WINDOWS, _MAC), "macos": (_LINUX, _NO_MAC, _WINDOWS), "windows": (_LINUX, _MAC, _NO_WINDOWS)}
    other = any(form.fullmatch(name) for form in lists.get(system, ()))
    return other and {"name": said.name, "platform": platform.system}


@rule("extension-without-platform-build", "likely")
def phone_has_no_wheels(said: Symptom = seen(*_NONE), _phone: Symptom = seen("android-system-shown")) -> Verdict:
    """Wheels for Linux are not for Android, whose libraries are others."""
    name = _nothing(said)
    return bool(name and (pythons(name) or _COMPILED.fullmatch(name))) and {"name": said.name, "platform": "Android"}


@rule("glibc-too-old-for-wheel", "likely")
def musl_has_no_wheels(
    said: Symptom = seen(*_NONE), system: Distribution = one(id="alpine"), python: PythonEnv | None = None
) -> Verdict:
    """There is no wheel for musl, where others have one for every Python that is in use."""
    name = _nothing(said)
    fits = python is None or not python.knows("version") or supported(name, python.version) is not False
    return fits and bool(name and (pythons(name) or _COMPILED.fullmatch(name))) and {"want": None, "have": system.id}


@rule("python-version-without-wheels", "likely")
def python_of_32_bits_has_none(said: Symptom = seen(*_NONE), _narrow: Symptom = seen("python-of-32-bits")) -> Verdict:
    """Frameworks are built for 64 bits alone."""
    name = _nothing(said)
    return bool(name and (pythons(name) or _COMPILED.fullmatch(name))) and {"name": said.name}


@rule("python-version-without-wheels", "possible")
def compiled_package_has_nothing_to_offer(
    said: Symptom = seen(*_NONE), platform: Platform | None = None, index: Symptom | None = seen("pip-single-index", "pip-connection-broken", "pip-could-not-fetch"),
    phone: Symptom | None = seen("android-system-shown"), system: Distribution | None = one(id="alpine"),
) -> Verdict:  # fmt: skip
    """A package that is built for each Python anew, and no reason is shown but the Python."""
    name = _nothing(said)
    plain = index is None and phone is None and system is None
    apart = platform is not None and bool(package_is_not_made_for_this_system(said, platform))
    return plain and not apart and bool(_COMPILED.fullmatch(name)) and {"name": said.name}


@rule("python-version-without-wheels", "possible")
def poetry_finds_no_wheel(said: Symptom = seen("poetry-has-no-candidate", "pipenv-has-no-version")) -> Verdict:
    """None of the files that the lock file names is for this Python, or for this system."""
    name = str(said.get("name")).lower()
    return bool(pythons(name) or _COMPILED.fullmatch(name)) and {"name": said.name}


# What a wheel's tag says of the system, and what a system calls itself.
_TAGS = (("win", "windows"), ("macosx", "macos"), ("manylinux", "linux"), ("musllinux", "linux"), ("linux", "linux"))
_MACHINES = {"amd64": "x86_64", "aarch64": "arm64"}


@rule("extension-without-platform-build")
def refused_wheel_is_for_another_machine(
    said: Symptom = seen("wheel-tag-refused"), platform: Platform = one(system=("linux", "macos", "windows"))
) -> Verdict:
    """`manylinux1_x86_64` on a processor of another kind, `win_amd64` on Linux."""
    tag = str(said.get("os"))
    system = next((name for start, name in _TAGS if tag.startswith(start)), "")
    machine = next((one_ for one_ in ("x86_64", "amd64", "arm64", "aarch64") if tag.endswith(one_)), "")
    mine = str(platform.get("architecture") or "")
    other = bool(machine and mine) and _MACHINES.get(machine, machine) != _MACHINES.get(mine.lower(), mine)
    return bool(system) and (system != platform.system or other) and {"name": said.name, "platform": platform.system}


@rule("glibc-too-old-for-wheel", "likely")
def offered_wheels_are_for_glibc(said: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """The system is built on musl, and what is offered for its processor is not."""
    found = re.fullmatch(r"musllinux_\d_\d{1,2}_(\w{3,12})", str(said.have))
    offered = found and re.search(r"manylinux\w{1,20}_" + found[1] + r"\b", str(said.offered))
    return bool(offered) and {"want": None, "have": "musl", "file": said.name}


@rule("glibc-too-old-for-wheel", "possible")
def older_libc_and_the_offer_is_cut(
    said: Symptom = seen("uv-no-platform-tag"), offer: Symptom | None = seen("uv-wheels-for-platforms")
) -> Verdict:
    """uv names what the system takes; wheels of its processor are mostly made for a newer libc."""
    return offer is None and bool(_OLDER_LIBC.fullmatch(str(said.have))) and {"have": said.have, "file": said.name}


@rule("extension-without-platform-build", "likely")
def offered_wheels_are_for_other_processors(said: Symptom = seen("uv-other-platform-only")) -> Verdict:
    """Wheels for Linux are offered, and none for this processor."""
    found = re.fullmatch(r"(?:many|musl)linux_\d_\d{1,2}_(\w{3,12})", str(said.have))
    return bool(found) and "linux" in str(said.offered) and not re.search(r"_" + str(found and found[1]) + r"\b", str(said.offered)) and {"name": said.name}  # fmt: skip


@rule("pip-index-url-hides-pypi", "likely")
def index_of_builds_has_other_releases(
    said: Symptom = seen("pip-no-version"),
    index: Symptom = seen("pip-single-index"),
    builds: Symptom = seen("pip-looks-in"),
) -> Verdict:
    """torch's index keeps some releases of what torch stands on, and not the one that is wanted."""
    plain = str(said.get("name")).lower() in _BESIDE and said.get("offered", "none") != "none"
    return plain and {"index": index.get("index"), "package": said.name, "said": builds.id}
