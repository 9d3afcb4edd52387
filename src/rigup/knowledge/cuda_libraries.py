"""NVIDIA's libraries and the Python packages that bring them."""

import re

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.patterns import lazy_regex

_FILE = lazy_regex(
    r"(?:lib)?(?P<stem>[A-Za-z]{3,12}?(?:-builtins)?)(?:_\w{2,30}?)?(?:64)?(?:_(?P<dll>\d{1,4})(?:_\d{1,2})?\.dll|\.so(?:\.(?P<so>\d{1,3}))?[\d.]{0,12})"
)
_PACKAGE = lazy_regex(r"(?P<base>nvidia-[a-z-]{3,30}?)-cu(?P<major>\d{2})")


class CudaLibrary(msgspec.Struct, frozen=True, kw_only=True):
    """A library of NVIDIA's.

    Attributes:
        stem: of its file: "cudnn" in libcudnn.so.9 and cudnn64_9.dll.
        package: what brings it, without the -cu12.
        folder: under site-packages/nvidia.
        shares: "always", "same-version" or "": whether packages for two CUDA majors
            write one and the same file.
        suffix_from: "cuda" where the file's number is not CUDA's own.
        product: what it is a part of.

    """

    stem: str
    package: str
    folder: str
    shares: str = ""
    suffix_from: str = ""
    product: str = "CUDA"
    source: str = ""
    checked: str = ""
    how: str = ""


def libraries() -> tuple[CudaLibrary, ...]:
    """List all libraries of the table.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return tuple(tables.rows("cuda_libraries", "library", CudaLibrary))


def library_of(file: str) -> tuple[CudaLibrary, str] | None:
    """Find the library behind a file's name, and the number in the name.

    Args:
        file: "libcublas.so.12", "cudnn_ops64_9.dll", "cudart64_101.dll".

    Returns:
        The row and "12", "9", "101" ("" where the name has none); None for other files.

    Raises:
        KnowledgeError: the table is malformed.

    """
    match = _FILE.fullmatch(file.strip())
    if not match:
        return None
    row = next((row for row in libraries() if row.stem == match["stem"]), None)
    return (row, match["so"] or match["dll"] or "") if row else None


def overwrite(package: str, its_version: str, other: str, other_version: str) -> bool:
    """Whether two packages for different CUDA majors write the same file.

    Args:
        package: "nvidia-nccl-cu11".
        its_version: "2.21.5".
        other: "nvidia-nccl-cu12".
        other_version: "2.27.3".

    Raises:
        KnowledgeError: the table is malformed.

    """
    mine, theirs = _PACKAGE.fullmatch(package), _PACKAGE.fullmatch(other)
    if not mine or not theirs or mine["base"] != theirs["base"] or mine["major"] == theirs["major"]:
        return False
    shares = {row.shares for row in libraries() if row.package == mine["base"]}
    same = version_key(its_version)[:1] == version_key(other_version)[:1]
    return "always" in shares or ("same-version" in shares and same)


class CudaRelease(msgspec.Struct, frozen=True, kw_only=True):
    """Releases of CUDA whose files bear the same numbers.

    Attributes:
        first, last: the releases, both included; last is "" for all that came since.
        numbers, dlls: of the files, by stem; a DLL has that of `numbers` without its dot where `dlls` has none.
        pip: the ending of the packages' names, "" where PyPI has none.
        bare: the toolkit's own packages go without that ending.
        folder, windows_folder: under site-packages/nvidia, where it is not each library's own.
        usual: most builds are made with these.

    """

    first: str
    last: str
    numbers: dict[str, str]
    dlls: dict[str, str] = {}
    pip: str = ""
    bare: bool = False
    folder: str = ""
    windows_folder: str = ""
    usual: bool = False

    @property
    def major(self) -> str:
        """As packages bear it in their names: "12"."""
        return self.first.partition(".")[0]

    def holds(self, cuda: str) -> bool:
        """Whether "12.4" is one of these."""
        asked = version_key(cuda)[:2]
        return version_key(self.first) <= asked and (not self.last or asked <= version_key(self.last))


class _OwnNumbering(msgspec.Struct, frozen=True, kw_only=True):
    stem: str
    number: str
    first: str
    last: str
    usual: str = ""


class Extra(msgspec.Struct, frozen=True, kw_only=True):
    """What brings a program the libraries that it misses: a newer release of it, or a call; on Windows below a release of it something goes first."""

    program: str
    upgrade: str = ""
    call: str = ""
    windows: str = ""
    windows_to: str = ""


class Faulty(msgspec.Struct, frozen=True, kw_only=True):
    """A DLL of a package that asks for `lib`, which some of its releases did not bring; `fixed` does."""

    dll: str
    package: str
    fixed: str
    lib: str


def faulty(dll: str) -> Faulty | None:
    """What is known of a DLL that does not load; None for most.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row for row in tables.rows("cuda_libraries", "faulty", Faulty) if row.dll == dll.lower()), None)


class _Windows(msgspec.Struct, frozen=True, kw_only=True):
    folder: str


def toolkit_on_windows(version: str) -> str:
    """The folder of a toolkit of a release, as its installer makes it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next(iter(tables.rows("cuda_libraries", "windows", _Windows))).folder.replace("{version}", version)


def extra_of(program: str) -> Extra | None:
    """What a program has of its own for it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row for row in tables.rows("cuda_libraries", "extra", Extra) if row.program == program), None)


def releases_with(file: str) -> tuple[CudaRelease, ...]:
    """The releases of CUDA that have a file, or that a library with a release of its own is made for; () where nobody knows.

    Args:
        file: "libcusolver.so.11" (of CUDA 11.1 and later, and of 12), "cudart64_101.dll", "libcudnn_ops.so.9".

    Raises:
        KnowledgeError: the table is malformed.

    """
    library = library_of(file)
    number = _number(file) if library else ""
    if not library or not number:
        return ()
    rows = tuple(tables.rows("cuda_libraries", "release", CudaRelease))
    if library[0].suffix_from:
        numbering = _own_numbering(library[0].stem, library[1])
        return tuple(row for row in rows if numbering and _meets(row, numbering))
    if library[0].stem.endswith("-builtins"):
        return tuple(row for row in rows if row.holds(_dotted(number)))
    return tuple(row for row in rows if _has_library(row, library[0].stem, number, file.lower().endswith(".dll")))


def usual_release(file: str, releases: tuple[CudaRelease, ...]) -> CudaRelease | None:
    """Of the releases that come into question, the one that most builds of programs which ask for that file are made with.

    Raises:
        KnowledgeError: the table is malformed.

    """
    library = library_of(file)
    numbering = _own_numbering(library[0].stem, library[1]) if library else None
    own = (row for row in releases if numbering and numbering.usual and row.holds(numbering.usual))
    return next(own, None) or next((row for row in releases if row.usual), releases[-1] if releases else None)


def is_usual_alone(file: str) -> bool:
    """Whether programs ask for that file of a library's own release mostly as builds for one CUDA.

    Raises:
        KnowledgeError: the table is malformed.

    """
    library = library_of(file)
    numbering = _own_numbering(library[0].stem, library[1]) if library else None
    return numbering is not None and bool(numbering.usual)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a program that names the files which it misses was built with."""

    program: str
    cuda: str
    cudnn: str


def asked_by(program: str) -> tuple[Asked, ...]:
    """What its builds ask for, the oldest first; () for a program of which the tables know none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return tuple(row for row in tables.rows("cuda_libraries", "asked", Asked) if row.program == program)


class BuiltWith(msgspec.Struct, frozen=True, kw_only=True):
    """What a build was made with that asks for cuDNN without a number, and the release of conda's that serves it."""

    program: str
    cuda: str
    cudnn: str
    conda: str


def built_with(program: str, cuda: str) -> BuiltWith | None:
    """What a program's build for a release of CUDA wants; None where the tables do not know.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("cuda_libraries", "bare", BuiltWith)
    return next((row for row in rows if (row.program, row.cuda) == (program, cuda)), None)


def runtime_of(cuda: str, windows: bool) -> str:
    """The file of the runtime that a release has, "libcudart.so.10.1" or "cudart64_101.dll"; "" where nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("cuda_libraries", "release", CudaRelease)
    number = next((row.numbers["cudart"] for row in rows if row.holds(cuda)), "")
    if not number:
        return ""
    return f"cudart64_{number.replace('.', '')}.dll" if windows else f"libcudart.so.{number}"


def package_of(file: str, release: CudaRelease) -> str:
    """What pip installs for a file, of a release: "nvidia-cudnn-cu12==9.*"; "" where there is no such package.

    Raises:
        KnowledgeError: the table is malformed.

    """
    library = library_of(file)
    if not library or not release.pip or not library[0].package.startswith("nvidia-"):
        return ""
    row, number = library
    bare = release.bare and not row.suffix_from
    named = row.package + ("" if bare else release.pip)
    pinned = bare or row.stem == "cudnn"  # packages of one name that bring files of several numbers
    return f"{named}=={_first(number, bare)}.*" if pinned and number else named


def folder_of(file: str, release: CudaRelease) -> str:
    """Where that package puts it, under site-packages: "nvidia/cudnn/lib".

    Raises:
        KnowledgeError: the table is malformed.

    """
    library = library_of(file)
    windows = file.lower().endswith(".dll")
    own = library is not None and bool(library[0].suffix_from)
    if release.folder and not own:
        return "nvidia/" + (release.windows_folder if windows else release.folder + "/lib")
    return f"nvidia/{library[0].folder if library else ''}/{'bin' if windows else 'lib'}"


def _first(number: str, bare: bool) -> str:
    """DLLs of the compiler write their minor too: 130 is 13."""
    return number[:2] if bare else number


def _number(file: str) -> str:
    """All of the number: "11.0" of libcudart.so.11.0, "101" of cudart64_101.dll."""
    match = re.search(r"\.so\.(\d{1,3}(?:\.\d{1,3})?)|_(\d{1,4})(?:_\d{1,2})?\.dll", file.strip(), re.IGNORECASE)
    return (match[1] or match[2]) if match else ""


def _has_library(release: CudaRelease, stem: str, number: str, dll: bool) -> bool:
    has_number = release.numbers.get(stem, "")
    if dll:
        return bool(has_number) and number == (release.dlls.get(stem) or has_number.replace(".", ""))
    return bool(has_number) and (number == has_number or number.startswith(has_number + "."))


def _own_numbering(stem: str, number: str) -> _OwnNumbering | None:
    rows = tables.rows("cuda_libraries", "beside", _OwnNumbering)
    return next((row for row in rows if (row.stem, row.number) == (stem, number)), None)


def _meets(release: CudaRelease, numbering: _OwnNumbering) -> bool:
    begins = not numbering.last or version_key(release.first) <= version_key(numbering.last)
    return begins and (not release.last or version_key(numbering.first) <= version_key(release.last))


def _dotted(number: str) -> str:
    """118 is 11.8."""
    return number if "." in number else number[:2] + "." + number[2:]
