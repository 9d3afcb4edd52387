"""Lists of packages: pip, uv, conda, and the distribution's own; and the torch that they name."""

import re
from collections.abc import Iterator

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.kinds import Package, SystemPackage, Torch
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Hit, Text

_VERSION = r"\d[\w.!+-]{0,80}"
# What is kept of the thousands: what torch, its kin and their libraries are called.
_MATTERS = lazy_regex(
    r"(?:py|lib)?torch\w*(?:-\w+){0,3}|nvidia-[\w-]+|cuda[\w-]*|cudnn|cudatoolkit|cpuonly|triton[\w-]*|tensorflow[\w-]*|tf-nightly"
    r"|jax[\w-]*|rocm[\w-]*|hip\w*|amd[\w-]*|onnxruntime[\w-]*|numpy|xformers|flash-attn|flash-attention|vllm[\w-]*|sglang"
    r"[\w-]*|bitsandbytes|deepspeed|transformers|accelerate|diffusers|lightning|pytorch-lightning|llama-cpp-python|ctransformers"
    r"|intel-extension[\w-]*|intel-(?:sycl-rt|cmplr-[\w-]+)|dpcpp-cpp-rt|oneccl[\w-]*|ipykernel|jupyter\w*|notebook|keras|cupy[\w-]*|mkl[\w-]*|intel-openmp|libgomp|nccl"
    r"|safetensors|peft|unsloth[\w-]*|exllamav?\d?|auto-gptq|gptqmodel|autoawq|apex|mmcv[\w-]*|detectron2|fairseq|dgl[\w-]*"
    r"|paddlepaddle[\w-]*|mxnet[\w-]*|torch|pytorch|openvino|ultralytics|faiss[\w-]*|numba|pycuda|lmcache|pyopencl|setuptools"
    r"|cudf[\w-]*|cuml[\w-]*|rmm[\w-]*|pylibraft[\w-]*|jaxlib|ctranslate2|faster-whisper|xgboost|lightgbm|catboost|spacy"
    r"|pip|python|libstdcxx-ng|libgcc-ng|__\w+"
)
_CONDAS_CHOICE = "_pytorch_select"  # its build tells which torch conda's solver may take
_CONDA = (
    r"^[> \t]{0,40}(?:\+[ \t]{1,4})?(?P<name>[a-z_][\w.-]{1,60})[ \t]{1,60}(?P<version>"
    + _VERSION
    + r")[ \t]{1,40}(?P<build>[\w.*]{1,80})(?:[ \t]{1,20}\[[\w-]{1,20}\])?(?:[ \t]{1,40}(?P<channel>[\w./:-]{1,80}))?[ \t]*$"
)
_PIP = (
    r"^[> \t]{0,40}(?P<name>[A-Za-z][\w.-]{1,60})(?:[ \t]{1,60}|==)(?P<version>" + _VERSION + r")[ \t]*(?:(?:/|[A-Za-z]:\\)[^\n]{0,200})?$"
)
_OLD_PIP = r"^[> \t]{0,40}(?P<name>[A-Za-z][\w.-]{1,60}) \((?P<version>" + _VERSION + r")(?:, [^)\n]{1,120})?\)[ \t]*$"
_SECTION = (
    r"^[> \t]{0,40}\[(?P<manager>pip3?|conda)\] (?P<name>[A-Za-z_][\w.-]{1,60})(?:==|[ \t]{1,40})(?P<version>"
    + _VERSION
    + r")(?:[ \t]{1,40}(?P<build>[\w.]{1,80})(?:[ \t]{1,20}\[[\w-]{1,20}\])?(?:[ \t]{1,40}(?P<channel>[\w./:-]{1,80}))?)?[ \t]*$"
)
_SHOW = r"^[> \t]{0,40}Name: (?P<name>[\w.-]{2,60})\n[> \t]{0,40}Version: (?P<version>" + _VERSION + r")"


# `conda list --export`, and what a person writes of one package in the same form.
_EXPORT = r"^[> \t(]{0,40}(?P<name>[a-z_][\w.-]{1,60})=(?P<version>\d[\w.]{0,40})=(?P<build>[\w.]{2,80})[) \t.]*$"


def normal(name: str) -> str:
    """The one spelling of a distribution's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


@reads(adds=(Package,), marks=("[pip3] ", "[pip] ", "[conda] "))
def listed_libraries(text: Text) -> Statements:
    """collect_env's `[pip3] torch==2.1.0` and `[conda] pytorch 2.1.0 py3.11_cuda12.1_cudnn8_0 pytorch`."""
    for hit in text.each(_SECTION):
        yield from _package(hit, "conda" if hit["manager"] == "conda" and hit["channel"] not in ("pypi", "") else "pip")


@reads(
    adds=(Package,),
    marks=(
        "packages in environment at",
        "# Name  ",
        " pypi_0 ",
        "_cudnn",
        "py3.",
        "=py3",
        "=cpu_",
        "=cuda",
        "conda-forge",
        "cpuonly",
        " mkl_py",
        " eigen_py",
        " gpu_py",
        " intel_",
    ),
)
def conda_listing(text: Text) -> Statements:
    """`conda list`, micromamba's and pixi's alike: name, version, build, channel."""
    for hit in text.each(_CONDA):
        if re.match(r"py\w*?_|py\d|(?:mkl|eigen|gpu)_py|[0-9a-z]*_\d|pypi|cuda|cpu|h[0-9a-f]{7}|\d{1,3}$", hit["build"]):
            yield from _package(hit, "pip" if "pypi" in (hit["build"], hit["channel"]) or hit["build"].startswith("pypi") else "conda")
    for hit in text.each(_EXPORT):
        yield from _package(hit, "pip" if hit["build"].startswith("pypi") else "conda")


@reads(
    adds=(Package,),
    marks=(
        "torch",
        "tensorflow",
        "nvidia-",
        "\nVersion: ",
        "onnxruntime",
        "numpy",
        "jax",
        "cupy-cuda",
        "-cu1",
        "paddlepaddle-gpu",
        "ctranslate2",
    ),
)
def pip_list(text: Text) -> Statements:
    """`pip list`, `pip freeze`, `uv pip list`, `pip show`: lines of a name and a version and nothing else."""
    for hit in text.each(_PIP):
        if "==" in hit.match[0] or _neighbours(hit):
            yield from _package(hit, "pip")
    for regex in (_OLD_PIP, _SHOW):
        for hit in text.each(regex):
            yield from _package(hit, "pip")


def _neighbours(hit: Hit) -> bool:
    """A line of a list has another such line beside it: prose that looks like one has not."""
    body, start, end = hit.text.body, hit.start, hit.match.end()
    before = body[body.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)]
    stop = body.find("\n", end + 1)
    after = body[end + 1 : stop if stop >= 0 else len(body)]
    return any(re.fullmatch(_PIP.strip("^$"), line[:200]) or re.match(r"[> \t]{0,40}-{4,}[ -]*$", line[:200]) for line in (before, after))


def kept(name: str) -> str | None:
    """The one spelling of a distribution's name; None for one that has nothing to do with GPUs."""
    if name == _CONDAS_CHOICE:
        return name
    spelt = normal(name)
    return spelt if _MATTERS.fullmatch(spelt) else None


def _package(hit: Hit, manager: str) -> Iterator[Package]:
    groups = hit.found()
    name = kept(groups["name"])
    if not name or not re.search(r"\d", groups["version"]):
        return
    draft = Draft(hit.text, Package, hit.start)
    draft.add("name", name)
    draft.add("version", groups["version"].rstrip(".,"))
    draft.add("manager", manager)
    build = groups.get("build", "")
    draft.add("build", build if build and not build.startswith("pypi") else None)
    yield from draft.facts()


# dpkg -l: "ii  nvidia-driver-535  535.129.03-0ubuntu1  amd64  …"
_GPU_PACKAGE = (
    r"(?:lib)?(?:nvidia|cuda|cudnn|nccl|xserver-xorg-video-nvid|rocm|rocr|hip|amdgpu|hsa|comgr|rocblas|miopen|migraphx"
    r"|rocminfo|rocm-smi|kmod-nvidia|akmod-nvidia|dkms|nvidia-container|intel-opencl|intel-level-zero|level-zero|ze\d|ze-intel|xpu)[\w.+:-]{0,80}"
)
_DPKG = (
    r"^[> \t]{0,40}(?P<state>[uirph][a-zA-Z][RU]?)[ \t]{1,10}(?P<name>"
    + _GPU_PACKAGE
    + r")[ \t]{1,80}(?P<version>\d[\w.+:~-]{0,80})(?:[ \t]|$)"
)
_APT = (
    r"^[> \t]{0,40}(?P<name>" + _GPU_PACKAGE + r")/[\w,.-]{1,60} (?P<version>\d[\w.+:~-]{0,80}) [a-z0-9]{3,8} \[(?P<state>[^\]\n]{1,60})\]"
)
_RPM = (
    r"^[> \t]{0,40}(?P<name>(?:x11-drv-|xorg-x11-drv-)?"
    r"(?:(?:k|ak)mod-)?(?:nvidia|cuda|rocm|hip|amdgpu|hsa|rocblas|miopen|libnvidia|intel-(?:level|compute|opencl)|oneapi-level)[\w.+]*(?:-[a-z][\w.+]*){0,5}(?:-\d[\w.]{0,30}-\d[\w.]{0,30}\.(?:x86_64|aarch64))?)-(?P<version>(?:\d:)?\d[\w.+~]{0,60}-\d[\w.+~]{0,60})\.(?:x86_64|noarch|aarch64|i686)[ \t]*$"
)
_PACMAN = r"^[> \t]{0,40}(?:local/)?(?P<name>(?:lib32-)?(?:nvidia|cuda|cudnn|rocm|hip|hsa|lib32-nvidia|opencl-nvidia|rocblas|miopen)[\w.+-]{0,60}) (?P<version>(?:\d:)?\d[\w.+]{0,40}-\d{1,3}(?:\.\d)?)(?: \[installed\])?[ \t]*$"


# dpkg --get-selections: "libnvidia-compute-510:amd64    install"; dpkg-query -W: a version instead of the word
_CHOSEN = (
    r"^[> \t]{0,8}(?P<name>" + _GPU_PACKAGE + r")(?:[ \t]{1,80}(?P<word>install|hold|deinstall|purge)|\t{1,8}\d[\w.+:~-]{2,60})[ \t]*$"
)


# dpkg -l … | awk '{print $2,$3}': a name and its version, below the command that printed them.
_TWO_COLUMNS = (
    r"\bdpkg(?:-query)? (?:-l|--list)\b[^\n]{0,160}\bawk ['\"]\{ ?print \$2[^\n]{0,40}\n(?P<rows>(?:"
    + _GPU_PACKAGE
    + r"(?:[ \t]{1,8}\d[\w.+:~-]{0,80})?[ \t]*(?:\n|\Z)){1,60})"
)
_ROW = lazy_regex(r"(?m)^(?P<name>[\w.+-]{2,80})(?::\w{2,8})?(?:[ \t]{1,8}(?P<version>\d\S{0,80}))?[ \t]*$")


@reads(adds=(SystemPackage,), marks=("awk",))
def packages_in_two_columns(text: Text) -> Statements:
    """What awk leaves of `dpkg -l`: those that are installed, for the rest are seldom asked for so."""
    for hit in text.each(_TWO_COLUMNS):
        for row in _ROW.finditer(hit["rows"]):
            version = {"version": row["version"]} if row["version"] else {}
            yield hit.states(SystemPackage, name=row["name"], state="installed", manager="dpkg", **version)


@reads(adds=(SystemPackage,), marks=("--get-selections", "\tinstall", "  install\n", "dpkg-query -W"))
def chosen_packages(text: Text) -> Statements:
    """`dpkg --get-selections`: a package, and that it is to be installed."""
    for hit in text.each(_CHOSEN):
        draft = Draft(text, SystemPackage, hit.start)
        draft.add("name", hit["name"].partition(":")[0])
        draft.add("state", "removed" if hit["word"] in ("deinstall", "purge") else "installed")
        draft.add("manager", "dpkg")
        yield from draft.facts()


@reads(
    adds=(SystemPackage,),
    marks=(
        "ii  ",
        "ii nvidia",
        "ii intel-",
        "ii libze",
        "ii  xserver-xorg-video-nvid",
        "rc  ",
        "iU  ",
        "iF  ",
        "/now ",
        "[installed",
        ".x86_64\n",
        ".noarch\n",
        "nvidia-utils",
        "nvidia-open",
        "nvidia-dkms",
        "local/nvidia",
        "rocm-hip-runtime",
    ),
)
def system_packages(text: Text) -> Statements:
    """`dpkg -l`, `apt list --installed`, `rpm -qa`, `pacman -Q`: those that have to do with GPUs."""
    for hit in text.each(_DPKG):
        yield from _system(hit, "dpkg", _dpkg_state(hit["state"]))
    for hit in text.each(_APT):
        if "installed" in hit["state"]:
            yield from _system(hit, "dpkg", "installed")
    for hit in text.each(_RPM):
        yield from _system(hit, "rpm", "installed")
    for hit in text.each(_PACMAN):
        yield from _system(hit, "pacman", "installed")


def _dpkg_state(letters: str) -> str:
    """What is there, by the second letter: i installed, c only its configuration, else half done."""
    return {"i": "installed", "c": "removed", "n": "removed"}.get(letters[1:2], "broken")


def _system(hit: Hit, manager: str, state: str) -> Iterator[Fact]:
    draft = Draft(hit.text, SystemPackage, hit.start)
    draft.add("name", hit["name"].partition(":")[0])
    draft.add("version", hit["version"])
    draft.add("state", state)
    draft.add("manager", manager)
    yield from draft.facts()


_RUNTIME = r"^[> \t]{0,40}(?:\[(?:pip3?|conda)\] )?nvidia-cuda-runtime(?:-cu\d{2})?(?:==|[ \t]{1,60})(?P<cuda>\d{1,2}\.\d{1,2})\."
_TORCH = r"^[> \t]{0,40}(?:\[(?:pip3?|conda)\] )?torch(?:==|[ \t]{1,60}|\n[> \t]{0,40}Version: )(?P<version>\d+\.\d+[\w.]{0,30})(?P<local>\+\w[\w.]{0,30})?(?:[ \t]{1,40}pypi_0[ \t]{1,20}pypi)?[ \t]*$"
_ON_WINDOWS = r"^[> \t]{0,40}(?:pywin32|pywinpty|wincertstore|win32-setctime|win-inet-pton)(?:==|[ \t]{1,60})\d"


@reads(adds=(Torch,), marks=("nvidia-cuda-runtime", "pywin", "win32-setctime", "wincertstore"))
def torch_of_list(text: Text) -> Statements:
    """A torch without a local version beside the CUDA runtime that PyPI's wheel asks for, or among Windows' packages."""
    runtime, windows = text.first(_RUNTIME), text.first(_ON_WINDOWS)
    for hit in text.each(_TORCH):
        if hit["local"] or (not runtime and not windows):
            continue
        draft = Draft(text, Torch, hit.start)
        draft.add("version", hit["version"])
        if runtime:
            draft.add("cuda", runtime["cuda"], runtime.start, -1)
        elif windows:
            draft.add("platform", "windows-x86_64")
        yield from draft.facts()
