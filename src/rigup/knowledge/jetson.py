"""NVIDIA's Jetson modules: what a JetPack is, and where torch for it lies."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class JetPack(msgspec.Struct, frozen=True, kw_only=True):
    """A release of NVIDIA's system for Jetson; it stands for those after it up to the next row.

    Attributes:
        l4t: the release of Linux for Tegra that it starts with.
        cuda: the newest CUDA that its driver runs.
        cudnn: the number of its cuDNN.
        python, glibc: as its distribution ships them.
        ubuntu: the release that its system is made from.
        generic: whether it runs the wheels that are made for servers of its architecture.

    """

    release: str
    l4t: str
    cuda: str
    cudnn: str = ""
    python: str
    glibc: str
    ubuntu: str = ""
    generic: bool = False
    source: str = ""


class JetsonWheel(msgspec.Struct, frozen=True, kw_only=True):
    """A torch that is built for Jetson.

    Attributes:
        file: its address, where no version can name it in an index.
        before: packages of the system without which it does not start.
        jetpack: the first release that it runs on, and the first on which it does not.
        library: a package of NVIDIA's repository of CUDA without which it does not start, and which JetPack has not got; `keyring` makes that repository known.
        index: where it lies; "" where `links` names a folder of files.

    """

    torch: str
    torchvision: str = ""
    torchaudio: str = ""
    jetpack: list[str]
    cuda: str
    python: list[str]
    code: list[str]
    file: str = ""
    before: list[str] = []
    library: str = ""
    keyring: str = ""
    index: str = ""
    links: str = ""
    source: str = ""


def jetpack(release: str) -> JetPack | None:
    """Find a release ("6.2" is found in the row of 6.1); None for one older than the table.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(release)
    rows = [row for row in tables.rows("torch_jetson", "jetpack", JetPack) if version_key(row.release)[:1] <= asked[:1]]
    same = [row for row in rows if (*version_key(row.release), 0)[:2] <= (*asked, 99)[:2]]
    return max(same, key=lambda row: version_key(row.release), default=None)


def jetpack_of_l4t(l4t: str) -> JetPack | None:
    """Find the release of JetPack that a Linux for Tegra belongs to ("36.4.3").

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(l4t)
    rows = [row for row in tables.rows("torch_jetson", "jetpack", JetPack) if version_key(row.l4t) <= asked]
    return max(rows, key=lambda row: version_key(row.l4t), default=None) if asked else None


def jetson_wheels(release: str) -> list[JetsonWheel]:
    """List the builds of torch for a release of JetPack, the newest first.

    Raises:
        KnowledgeError: the table is malformed.

    """
    known = jetpack(release)
    asked = (*version_key(known.release), 0)[:2] if known else ()
    rows = tables.rows("torch_jetson", "wheel", JetsonWheel)
    fitting = [row for row in rows if asked and version_key(row.jetpack[0]) <= asked < version_key(row.jetpack[1])]
    return sorted(fitting, key=lambda row: version_key(row.torch), reverse=True)


class JetsonLibrary(msgspec.Struct, frozen=True, kw_only=True):
    """A library that builds for Jetson ask for and JetPack has not got, and the package of NVIDIA's that makes a repository of it known, under `folder`."""

    lib: str
    jetpack: list[str]
    packages: str
    repository: str
    folder: str
    source: str = ""
    how: str = ""


def jetson_library(lib: str, release: str) -> JetsonLibrary | None:
    """What brings a library on a release of JetPack; None where JetPack has it, or nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = (*version_key(release), 0)[:2]
    rows = tables.rows("torch_jetson", "library", JetsonLibrary)
    return next((r for r in rows if r.lib == lib and version_key(r.jetpack[0]) <= asked < version_key(r.jetpack[1])), None)


class _Image(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    jetpack: list[str]
    source: str = ""
    checked: str = ""
    how: str = ""


def jetson_image(release: str) -> str:
    """Name the image with torch for a release of JetPack; "" where none is known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    known = jetpack(release)
    asked = (*version_key(known.release), 0)[:2] if known else ()
    rows = tables.rows("torch_jetson", "image", _Image)
    return next((r.name for r in rows if asked and version_key(r.jetpack[0]) <= asked < version_key(r.jetpack[1])), "")


class _Module(msgspec.Struct, frozen=True):
    isa: str
    jetpack: str


def last_jetpack(isa: str) -> str:
    """The last JetPack of a module's generation ("4.6" for "sm_53"); "" where it is not known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row.jetpack for row in tables.rows("torch_jetson", "module", _Module) if row.isa == isa), "")
