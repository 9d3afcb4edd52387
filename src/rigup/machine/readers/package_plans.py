"""What package managers say while they work: conda's and mamba's plans, pixi's list, what is replaced by what, and for which system."""

from collections.abc import Iterator

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Package, Platform
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.packages import kept
from rigup.machine.readers.values import says
from rigup.machine.texts import Hit, Text

_NAME = r"(?P<name>[a-z_][\w.-]{1,60})"
_VERSION = r"(?P<version>\d[\w.!]{0,40})"
_BUILD = r"(?P<build>[\w.]{1,80}~?)"
_BEGINS = r"^[ \t>|│]{0,16}(?:[+~o]|│|└─|├─)?[ \t]{0,8}"
_PLANS = (
    # conda: `pytorch  pytorch/linux-64::pytorch-2.1.0-py3.10_cpu_0`, behind an arrow where it replaces another
    _BEGINS + _NAME + r"[ \t]{1,60}(?:\S{3,120} -->[ \t]{1,8})?(?P<channel>[\w./-]{2,60})::(?P=name)-" + _VERSION + "-" + _BUILD,
    # conda: `pytorch  2.1.0-py3.11_cuda12.1_cudnn8.9.2_0 --> 2.1.0-py3.11_cpu_0 [channel]`
    _BEGINS + _NAME + r":?[ \t]{1,60}\d[\w.!~-]{1,80}(?: \S{2,40})? -->[ \t]{1,8}" + _VERSION + "-" + _BUILD + r"(?:[ \t]|$)",
    # mamba and pixi: name, version, build, then channel, size or kind in any order
    _BEGINS
    + _NAME
    + r"[ \t]{1,60}"
    + _VERSION
    + r"[ \t]{1,60}"
    + _BUILD
    + r"[ \t]{1,60}(?:[\w./-]{2,60}[ \t]{1,40})?[\d.]{1,8}[ \t]?[kKMG]i?B?(?:[ \t]|$)",
)
_ASKED = r"\b(?:install|create|add|update)\b[^\n]{0,200}(?:\bcpuonly\b|\bpytorch-cpu\b|=cpu|\btensorflow-cpu\b|-mutex=\S{0,8}cpu)"
_VARIANT = lazy_regex(r"(?:^|_)(?:cpu|cuda|gpu|mkl|eigen|rocm)|^py\d|^h[0-9a-f]{7}|_\d{1,3}~?$|^\d{1,3}$|~$")


_PLANNED = (
    "::pytorch",
    "::libtorch",
    "::tensorflow",
    "::cpuonly",
    "::torchvision",
    " --> ",
    "pytorch ",
    "libtorch ",
    "cpuonly ",
    "tensorflow ",
)


def _near(text: Text, forms: tuple[str, ...], marks: tuple[str, ...]) -> Iterator[Hit]:
    """Only on the lines that bear a mark: such logs are long."""
    spots = sorted(at for mark in marks for at in text.spots(mark))
    return (hit for form in forms for hit in text.near(form, spots)) if spots else iter(())


@reads(marks=_PLANNED, adds=(Package, Platform), rank=-1)
def planned_packages(text: Text) -> Statements:
    """The state that a plan leads to; a build that the line cuts off (`cuda11.3_cud~`) tells its variant all the same."""
    wanted = text.first(_ASKED) is not None  # who asks for a CPU build gets what was meant
    for hit in _near(text, _PLANS, _PLANNED) if not wanted else ():
        name = kept(hit["name"])
        if name and _VARIANT.search(hit["build"]):
            yield hit.states(Package, name=name, version=hit["version"], build=hit["build"].rstrip("~"), manager="conda")
    if hit_ := text.first(r"/osx-(?:arm64|64)::"):
        yield hit_.states(Platform, system="macos")


_EXPORTED = r"^[ \t]{0,8}- [\"']?(?P<name>pytorch|pytorch-cpu|pytorch-gpu|libtorch|torchvision|tensorflow|tensorflow-base|tensorflow-gpu|jaxlib|cpuonly)={1,2}(?P<version>\d[\w.]{0,20})=(?P<build>\w{3,60})[\"']?[ \t]*$"


@reads(marks=("=cpu", "=py3", "=cuda", "=mkl_", "=eigen_", "=gpu_"), adds=(Package,), rank=-1)
def exported_environment(text: Text) -> Statements:
    """`- pytorch=2.1.0=cpu_generic_py311h1584c1f_0` of an environment's file."""
    for hit in text.each(_EXPORTED):
        yield hit.states(Package, **hit.found(), manager="conda")


_AT_WINDOWS = (
    r"^[ \t>]{0,8}(?:Editable project )?[Ll]ocation: [A-Za-z]:\\",
    r"\bin [a-z]:\\[^\n]{3,200}site-packages\b",
    r"^[ \t]{0,6}(?:Using cached|Downloading|Processing|Saved) \S{3,300}-win_amd64\.whl\b",
    r"^[> \t]{0,40}tensorflow[-_]intel(?:==|[ \t]{1,60})\d",
    r"^[> \t]{0,40}(?:pywin32|pywinpty|win32-setctime|pywin32-ctypes)(?:==|[ \t]{1,60})\d",
)
_AT_MAC = (
    r"^[ \t>]{0,8}Location: /(?:Users|opt/homebrew|Library)/",
    r"^[ \t]{0,6}(?:Using cached|Downloading|Processing|Saved) \S{3,300}-macosx_\d{1,2}_\d{1,2}_\w{5,12}\.whl\b",
    r"^[> \t]{0,40}(?:tensorflow[-_]macos|tensorflow[-_]metal|pyobjc(?:-core)?|appnope)(?:==|[ \t]{1,60})\d",
)


_OF_SYSTEMS = (
    "ocation: ",
    "site-packages",
    "-win_amd64.whl",
    "tensorflow-intel",
    "tensorflow_intel",
    "pywin",
    "win32-setctime",
    "-macosx_",
    "tensorflow-macos",
    "tensorflow-metal",
    "pyobjc",
)


@reads(marks=_OF_SYSTEMS, adds=(Platform,), rank=-2)
def system_of_packages(text: Text) -> Statements:
    """Folders, wheels' names and packages that one system alone has."""
    for system, forms in (("windows", _AT_WINDOWS), ("macos", _AT_MAC)):
        if hit := next(_near(text, forms, _OF_SYSTEMS), None):
            yield hit.states(Platform, system=system)
            return


_COLLECTED = r"^[ \t]{0,6}(?:Using cached |Downloading |Obtaining )(?:https?://\S{1,120}/)?(?P<name>[A-Za-z][\w.]{1,40})-(?P<version>\d[\w.]{0,20}(?:(?:%2B|\+)\w[\w.]{1,16})?)-(?:cp|py)\d"


_FETCHES = ("Using cached ", "Downloading ", "Obtaining ")


@reads(marks=_FETCHES, adds=(Package,), rank=-3)
def collected_wheels(text: Text) -> Statements:
    """`Downloading torch-2.3.1-cp310-cp310-manylinux1_x86_64.whl (779.1 MB)`: what pip is about to install."""
    for hit in _near(text, (_COLLECTED,), _FETCHES):
        if name := kept(hit["name"]):
            yield from _pip(text, hit.start, name, hit["version"].replace("%2B", "+"))


def _pip(text: Text, at: int, name: str, version: str) -> Iterator[Package]:
    yield from says(text, Package, at, name=name, version=version, manager="pip")


_KIN = r"(?:torch|torchvision|torchaudio|tensorflow|tensorflow-cpu|tensorflow-gpu|xformers|jaxlib|onnxruntime|onnxruntime-gpu|nvidia-[a-z-]{3,30}-cu1\d)"
_PINNED = (
    r"^[ \t]{0,8}(?P<name>" + _KIN + r")==(?P<version>\d[\w.+]{2,30})[ \t]*(?:\\|--hash=)",
    r"^[ \t]{0,8}\"?(?P<name>" + _KIN + r")\"? ?= ?\{ ?version ?= ?\"={0,2}(?P<version>\d[\w.+]{2,30})\"",
    r"(?:^|[{,(\s])['\"](?P<name>" + _KIN + r")['\"] ?[:,] ?['\"](?P<version>\d\.\d{1,2}\.\d{1,2}[\w.+]{0,16})['\"]",
)
_PINS = ("torch==", "tensorflow==", "jaxlib==", "{version", "{ version", "'torch'", '"torch"', "'torchvision'", '"torchvision"')


@reads(marks=_PINS, adds=(Package,), rank=-3)
def pinned_packages(text: Text) -> Statements:
    """`torch==2.5.1+cpu --hash=…`, `torch = {version = "2.5.1+cu124"}`, `'torch': '2.6.0'`: what a lock, a project or a program names."""
    for hit in _near(text, _PINNED, _PINS):
        if name := kept(hit["name"]):
            yield from _pip(text, hit.start, name, hit["version"])


@reads(marks=('name = "nvidia-',), adds=(Package,), rank=-3)
def locked_packages(text: Text) -> Statements:
    """`name = "nvidia-cublas-cu12"` and `version = "12.1.3.1"` below it: a lock of Poetry's, uv's or PDM's."""
    for hit in text.each(r"^name = \"(?P<name>nvidia-[a-z-]{3,30}-cu1\d)\"\nversion = \"(?P<version>\d[\w.+]{2,30})\""):
        yield from _pip(text, hit.start, hit["name"], hit["version"])


_FETCHED = r"^[ \t]{0,8}(?:Downloading |Extracting |Linking )?(?P<name>pytorch|libtorch|torchvision|tensorflow|tensorflow-base|jaxlib)-(?P<version>\d[\w.]{0,20})(?:-(?P<build>\w{3,60}?)(?:\.conda|\.tar\.bz2)?[ \t]*$|[ \t]{1,30}\|[ \t]{1,30}(?P<shown>[\w.]{3,60})[ \t]{1,30}[\d.]{1,8} ?[kKMG]?B\b)"
_FILES = ("pytorch-", "libtorch-", "tensorflow-", "jaxlib-")


@reads(marks=_FILES, adds=(Package,), rank=-3)
def fetched_conda_packages(text: Text) -> Statements:
    """`pytorch-1.12.1 | py3.9_cpu_0   85.6 MB  pytorch`, `pytorch-1.13.1-cpu_py39h6d20f9b_1.conda`: what conda fetches."""
    wanted = text.first(_ASKED) is not None
    for hit in _near(text, (_FETCHED,), _FILES) if not wanted else ():
        name, build = kept(hit["name"]), hit["build"] or hit["shown"]
        if name and _VARIANT.search(build):
            yield hit.states(Package, name=name, version=hit["version"], build=build, manager="conda")
