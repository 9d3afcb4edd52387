"""Which release of Intel's oneAPI a machine has, by what package managers, its compiler and Windows's folders tell."""

from collections.abc import Iterable

from rigup.machine.kinds import Toolkit
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import says
from rigup.machine.texts import Hit, Text

_PART = r"intel-oneapi-(?:compiler|dpcpp|mkl|base-?(?:tool)?kit|hpc-?(?:tool)?kit|dnnl)(?:-[a-z][a-z-]{0,40})?"
_RELEASE = r"(?P<version>20\d\d\.\d{1,2})[\w.:~+-]{0,40}"
# As apt, dpkg, dnf, rpm, zypper, pacman and conda list what is installed.
_LISTED = (
    r"^[> \t]{0,40}" + _PART + r"(?:-20\d\d\.\d{1,2})?/[\w,.-]{1,60} " + _RELEASE + r" [a-z0-9]{3,8} \[[^\]\n]{0,20}\binstalled\b",
    r"^[> \t]{0,40}ii[ \t]{1,10}" + _PART + r"(?:-20\d\d\.\d{1,2})?(?::\w{3,8})?[ \t]{1,80}" + _RELEASE + r"(?:[ \t]|$)",
    r"^[> \t]{0,40}" + _PART + r"(?:-20\d\d\.\d{1,2})?\.(?:x86_64|noarch)[ \t]{1,60}" + _RELEASE + r"[ \t]{1,60}@",
    r"^[> \t]{0,40}" + _PART + r"(?:-20\d\d\.\d{1,2})?-" + _RELEASE + r"\.(?:x86_64|noarch)[ \t]*$",
    r"^[> \t]{0,40}i\+?[ \t]{0,4}\|[ \t]{0,4}" + _PART + r"(?:-20\d\d\.\d{1,2})?[ \t]{0,60}\|[^\n]{0,120}?" + _RELEASE,
    r"^[> \t]{0,40}(?:local/)?" + _PART + r" " + _RELEASE + r"-\d{1,3}(?: \[installed\])?[ \t]*$",
)


@reads(adds=(Toolkit,), marks=("intel-oneapi-",), rank=-1)
def oneapi_packages(text: Text) -> Statements:
    """`intel-oneapi-mkl-2025.0/all,now 2025.0.1-14 amd64 [installed]`."""
    yield from _newest(hit for form in _LISTED for hit in text.each(form))


@reads(adds=(Toolkit,), marks=("oneAPI DPC++",), rank=-1)
def oneapi_compiler(text: Text) -> Statements:
    """`Intel(R) oneAPI DPC++/C++ Compiler 2025.1.1 (2025.1.1.20250418)`, the answer of `icpx --version`."""
    yield from _newest(text.each(r"\bIntel\(R\) oneAPI DPC\+\+/C\+\+ Compiler (?P<version>20\d\d\.\d{1,2})(?:\.\d{1,2})? \(20"))


_OF_WINDOWS = (
    r"\b[A-Z]:[\\/][^\n;\"]{0,60}?[\\/]oneAPI[\\/](?:compiler|mkl)[\\/](?P<version>20\d\d\.\d{1,2})(?=[\\/;\"'\s]|\.\d|\Z)"
    r"(?![^\n]{0,160}(?:cannot find|could not|not found|[Nn]o such file))"
)


@reads(adds=(Toolkit,), marks=("oneAPI\\compiler", "oneAPI\\mkl", "oneAPI/compiler", "oneAPI/mkl"), rank=-1)
def oneapi_folders_of_windows(text: Text) -> Statements:
    r"""`C:\Program Files (x86)\Intel\oneAPI\compiler\2025.0\bin` in a path or behind a variable's name."""
    yield from _newest(text.each(_OF_WINDOWS))


_LOADED = (
    r"\bintel/oneapi-[\w-]{3,30}:(?P<version>20\d\d\.\d{1,2})\b",
    r"\bmodule (?:load|add|switch|swap) [^\n]{0,60}?\b(?:intel-)?oneapi(?:-[a-z-]{3,20})?/(?P<version>20\d\d\.\d{1,2})\b",
)


@reads(adds=(Toolkit,), marks=("intel/oneapi-", "module load ", "module add ", "module sw"), rank=-1)
def oneapi_of_an_image_or_a_module(text: Text) -> Statements:
    """`FROM intel/oneapi-basekit:2025.0.1-0-devel-ubuntu22.04`; a cluster's `module load intel-oneapi/2023.2.1`."""
    yield from _newest(hit for form in _LOADED for hit in text.each(form))


_NAMES = r"\bls\b[^\n]{0,40}/intel/oneapi/?[ \t]*\n(?:[^\n$#>]{0,400}\n){0,20}?(?:[^\n$#>]{0,200}\s)?(?P<version>20\d\d\.\d)(?=\s|\Z)"


@reads(adds=(Toolkit,), marks=("/intel/oneapi",), rank=-1)
def oneapi_folder_listed(text: Text) -> Statements:
    """`ls /opt/intel/oneapi` and the release among its names: newer kits lie in a folder of their year."""
    yield from _newest(text.each(_NAMES))


def _newest(hits: Iterable[Hit]) -> Statements:
    """The newest; nothing where releases of two years are there, since nobody can tell which of them a shell has."""
    releases = sorted(hits, key=lambda hit: hit["version"])
    if releases and len({hit["version"][:4] for hit in releases}) == 1:
        yield from says(releases[-1].text, Toolkit, releases[-1].start, name="oneapi", version=releases[-1]["version"])
