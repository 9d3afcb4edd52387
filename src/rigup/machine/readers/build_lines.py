"""Single lines that tell of builds: the libc, a prompt of Windows, a package's folder, a version beside its question."""

from rigup.machine.kinds import Cpu, Distribution, Package, Platform, TensorFlow, Torch
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.packages import kept
from rigup.machine.readers.torch_build import dotted
from rigup.machine.readers.values import says
from rigup.machine.texts import Text

_CUT_TAIL = r"[ \t]*$"


@reads(marks=("glibc-2.", "glibc 2.", "manylinux_2_"), adds=(Distribution,), rank=0)
def libc_on_a_line(text: Text) -> Statements:
    """`rpm -q glibc`, `getconf GNU_LIBC_VERSION`, and the newest tag that pip would take."""
    forms = (r"^glibc-(?P<glibc>2\.\d{1,2})-\d{1,4}\.\S{1,60}" + _CUT_TAIL, r"^glibc (?P<glibc>2\.\d{1,2})" + _CUT_TAIL)
    for form in forms:
        if hit := text.first(form):
            yield hit.states(Distribution, glibc=hit["glibc"])
            return
    if hit := text.first(r"^[ \t]{0,4}cp\d{2,3}-cp\d{2,3}-manylinux_2_(?P<minor>\d{1,2})_\w{3,10}" + _CUT_TAIL):
        yield hit.states(Distribution, glibc="2." + hit["minor"])


@reads(marks=(":\\",), adds=(Platform,), rank=0)
def prompt_of_windows(text: Text) -> Statements:
    r"""`C:\>where nvcc`, `(base) D:\ai>`, `PS K:\work>`: a drive and what is typed behind it."""
    if hit := text.first(r"^(?:\([^)\n]{1,60}\) ?)?(?:PS )?[A-Z]:\\[^\n>|<\"]{0,100}>"):
        yield hit.states(Platform, system="windows")


@reads(marks=("constant_tsc", " pni "), adds=(Cpu,), rank=-1)
def processor_flags(text: Text) -> Statements:
    """The line of /proc/cpuinfo by itself, as grep gives it, its tab mostly lost."""
    if hit := text.first(r"^[> ]{0,4}flags[ \t]{1,24}: (?P<flags>fpu [a-z0-9_ ]{40,6000})" + _CUT_TAIL):
        yield hit.states(Cpu, flags=hit["flags"].split())


@reads(marks=("nvidia_",), adds=(Package,), rank=-1)
def folders_of_nvidias_packages(text: Text) -> Statements:
    """`nvidia_nccl_cu12-2.27.3.dist-info`: what lies in site-packages under that name is installed."""
    for hit in text.each(r"(?<![\w.-])(?P<name>nvidia_[a-z_]{3,30}_cu\d{2,3})-(?P<version>\d[\d.]{1,20}\d)\.dist-info\b"):
        yield from _package(text, hit.start, hit["name"], hit["version"])


@reads(marks=("Requirement already satisfied: ", "Downgrading nvidia-"), adds=(Package,), rank=-1)
def already_installed(text: Text) -> Statements:
    """pip's `Requirement already satisfied: torch==1.10.1 in … (1.10.1+cu113)`; poetry's `Downgrading nvidia-… (A -> B)`."""
    form = r"^[ \t]{0,4}Requirement already satisfied: (?P<name>[A-Za-z][\w.-]{1,60})[^\n]{0,300} \((?P<version>\d[\w.+]{1,40})\)"
    for hit in text.each(form + _CUT_TAIL):
        yield from _package(text, hit.start, hit["name"], hit["version"])
    poetry = r"(?:Installing|Updating|Downgrading) (?P<name>torch|nvidia-[a-z-]{3,30}-cu\d{2}) \((?:[\d.]{1,20} -> )?(?P<version>\d[\w.+]{1,30})\)"
    for hit in text.each(r"^[ \t]{0,4}[-•] " + poetry):
        yield from _package(text, hit.start, hit["name"], hit["version"])


def _package(text: Text, at: int, name: str, version: str) -> Statements:
    if known := kept(name):
        yield from says(text, Package, at, name=known, version=version, manager="pip")


@reads(marks=(" (cu1", " (cu9"), adds=(Torch,), rank=-1)
def torch_and_its_toolkit(text: Text) -> Statements:
    """`torch==1.9.0  (cu102)`: the toolkit in brackets behind the release."""
    for hit in text.each(r"\btorch(?:==| )v?(?P<version>[12]\.\d{1,2}\.\d)[ \t]{1,4}\((?P<cuda>cu\d{2,3})\)"):
        yield hit.states(Torch, version=hit["version"], cuda=dotted(hit["cuda"]))


@reads(marks=("ensorflow",), adds=(TensorFlow,), rank=-1)
def tensorflow_on_a_line(text: Text) -> Statements:
    """`tensorflow 2.18.0  keras 3.8.0`, and a module's file with its release behind it."""
    forms = (
        r"^[ \t]{0,4}tensorflow[ =]{1,3}(?P<version>2\.\d{1,2}\.\d{1,2})(?:[ \t]{1,4}[^\n]{0,100})?$",
        r"tensorflow[\\/]__init__\.py[ \t]{1,4}(?P<version>2\.\d{1,2}\.\d{1,2})" + _CUT_TAIL,
        r"^Successfully installed [^\n]{0,2000}\btensorflow-(?P<version>2\.\d{1,2}\.\d{1,2})\b",
    )
    if hit := next((found for form in forms if (found := text.first(form))), None):
        yield hit.states(TensorFlow, version=hit["version"])


@reads(marks=("tf.__version__",), adds=(TensorFlow,), rank=0)
def tensorflow_asked_for_several(text: Text) -> Statements:
    """What is no print: two questions of a notebook's cell, and its pair of answers."""
    for hit in text.each(
        r"tf\.__version__, tf\.sysconfig\.get_build_info\(\)\['is_cuda_build'\]\n(?:Out ?\[\d{1,4}\]: )?\('(?P<version>2\.\d{1,2}\.\d{1,2})', (?P<built>True|False)\)"
    ):
        yield hit.states(TensorFlow, version=hit["version"], built_with_cuda=hit["built"] == "True")


@reads(marks=("tf$version$VERSION", "GPUs visible:", "list_physical_devices(", "gpu_device_name()"), adds=(TensorFlow,), rank=0)
def tensorflow_asked_one_by_one(text: Text) -> Statements:
    """Each question with its answer below, from R too."""
    if hit := text.first(r"tf\$version\$VERSION[ \t]*\n\[1\] \"(?P<version>2\.\d{1,2}\.\d{1,2})\""):
        yield hit.states(TensorFlow, version=hit["version"])
    if hit := text.first(r"list_physical_devices\(\"GPU\"\)[ \t]*\nlist\(\)|^GPUs visible:[ \t]{1,4}\[\]" + _CUT_TAIL):
        yield hit.states(TensorFlow, gpus=0)
    if hit := text.first(r"\(tf\.test\.gpu_device_name\(\), tf\.__version__\)\"?\n\s{0,4}\n? ?(?P<version>2\.\d{1,2}\.\d{1,2})"):
        yield hit.states(TensorFlow, version=hit["version"], gpus=0)


@reads(marks=("Windows-10-10", "indows 11 x64"), adds=(Platform,), rank=0)
def windows_and_release(text: Text) -> Statements:
    """Python's own name of it, `Windows-10-10.0.22631-SP0`, and R's."""
    if hit := text.first(r"\bWindows-10-10\.0\.\d{5}\b|^# R \d[^\n]{0,80}\bWindows 1[01] x64\b"):
        yield hit.states(Platform, system="windows")
