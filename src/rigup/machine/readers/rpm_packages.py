"""Packages of distributions with rpm: its database is no text, so that rpm itself is asked, for what matters alone."""

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import SystemPackage
from rigup.machine.reader import Run, Statements, reads
from rigup.machine.texts import Text

_ASKED = (
    "*nvidia*",
    "cuda*",
    "libcudnn*",
    "libnccl*",
    "rocm*",
    "hip-*",
    "hip",
    "hsa*",
    "rocblas*",
    "*amdgpu*",
    "miopen*",
    "intel-opencl*",
    "intel-level-zero*",
    "level-zero*",
    "intel-compute-runtime*",
    "dkms",
    "bumblebee*",
)
_NAMES = lazy_regex(
    r"(?:(?:a|k|d)?kmod-|xorg-x11-drv-|lib|nvidia-kmod|opencl-|xorg-x11-)?(?:nvidia|cuda|cudnn|nccl|rocm|rocr|rocblas|hip|hsa|amdgpu|miopen|"
    r"intel-opencl|intel-level-zero|intel-compute-runtime|level-zero|dkms|bumblebee)[\w.+-]{0,80}"
)
_VERSION = r"(?:\d{1,3}:)?\d[\w.+~^]{0,60}-\d[\w.+~^]{0,60}?"
_FORMS = (
    rf"^(?P<name>[A-Za-z][\w.+-]{{1,80}}) (?P<version>{_VERSION})$",
    rf"^[> \t]{{0,20}}(?P<name>[A-Za-z][\w.+-]{{1,80}}?)-(?P<version>{_VERSION})\.(?:x86_64|aarch64|noarch|i686|ppc64le)[ \t]*$",
    rf"^[> \t]{{0,20}}(?P<name>[A-Za-z][\w.+-]{{1,80}}?)\.(?:x86_64|aarch64|noarch|i686|ppc64le)[ \t]{{1,60}}(?P<version>{_VERSION})[ \t]{{1,60}}@[^\n]{{1,80}}$",
)


@reads(
    SystemPackage,
    inputs=[
        Run(
            ("rpm", "-qa", "--queryformat", "%{NAME} %{VERSION}-%{RELEASE}\n", *_ASKED),
            seconds=6,
            given="/{var/lib/rpm,usr/lib/sysimage/rpm}/{rpmdb.sqlite,Packages,Packages.db}",
        )
    ],
)
def rpm_database(text: Text) -> Statements:
    """`nvidia-driver 550.90.07-1.el9`, a package a line."""
    yield from _packages(text, _FORMS[0])


@reads(marks=(".x86_64\n", ".noarch\n", ".aarch64\n", ".x86_64 ", ".noarch ", ".aarch64 "), adds=(SystemPackage,))
def rpm_lists(text: Text) -> Statements:
    """`rpm -qa | grep nvidia`: `akmod-nvidia-550.67-1.fc40.x86_64`; `dnf list`: `nvidia-driver.x86_64  3:550.90-1.el9  @cuda`."""
    for form in _FORMS[1:]:
        yield from _packages(text, form)


def _packages(text: Text, form: str) -> Statements:
    for hit in text.each(form):
        if _NAMES.fullmatch(hit["name"]):
            version = hit["version"].partition(":")[2] or hit["version"]
            yield hit.states(SystemPackage, name=hit["name"], version=version, state="installed", manager="rpm")
