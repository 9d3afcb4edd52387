"""What a distribution's release ships."""

import re

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key

_ALSO = {
    "almalinux": ("alma",),
    "rhel": ("red hat", "redhat"),
    "opensuse-leap": ("opensuse", "leap", "opensuse leap"),
    "ol": ("oracle",),
    "ubuntu": ("kubuntu", "xubuntu", "lubuntu"),
    "fedora": ("nobara",),
    "fedora-silverblue": ("silverblue", "fedora silverblue", "kinoite", "fedora kinoite"),
}
_IMAGES = {"fedora": "fedora-silverblue"}  # the same files, as an image that is not changed package by package
_ROLLING = (
    "arch",
    "manjaro",
    "nixos",
    "gentoo",
    "steamos",
    "opensuse tumbleweed",
    "endeavouros",
    "cachyos",
    "bazzite",
    "kali",
    "void",
    "garuda",
)
_SPELT = {
    "sles": ("suse", "suse linux enterprise", "sles"),
    "amzn": ("amazon linux", "amazon", "al"),
    "linuxmint": ("mint", "linux mint"),
    "pop": ("pop!_os", "pop_os", "popos", "pop os"),
    "centos": ("centos stream",),
    "opensuse tumbleweed": ("tumbleweed",),
    "debian": ("debian sid", "debian testing", "debian unstable"),
}


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """A release of a distribution.

    Attributes:
        id: as os-release has it ("ubuntu").
        release: "22.04"; a major release stands for its minor ones.
        glibc: version of the C library, "musl" where it is that one.
        python: what `python3` is, "" if none or unknown.
        codename: "jammy", "" where its maker gives none that people use.
        last_driver: the last branch of NVIDIA's driver that builds for its kernel, "" where none is known.

    """

    id: str
    release: str
    glibc: str
    python: str = ""
    codename: str = ""
    last_driver: str = ""
    source: str = ""


def distribution(name: str, release: str) -> Distribution | None:
    """Find a release; "9.4" is found under "9". None where the table does not know it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(release)
    plain = next((id_ for id_, image in _IMAGES.items() if image == name), name)
    rows = [row for row in tables.rows("distributions", "distribution", Distribution) if row.id == plain]
    fitting = [row for row in rows if version_key(row.release) == asked[: len(version_key(row.release))] and asked]
    return max(fitting, key=lambda row: len(row.release), default=None)


class _Mark(msgspec.Struct, frozen=True, kw_only=True):
    pattern: str
    id: str
    source: str = ""


def of_mark(version: str) -> tuple[str, str] | None:
    """The distribution, and its release or "", that writes such releases of kernels and packages; None where others do too.

    Args:
        version: as `uname -r` or a package manager has it ("6.15.4-200.fc42.x86_64").

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows("distributions", "mark", _Mark):
        if found := re.search(row.pattern, version):
            return row.id, found.groupdict().get("release") or ""
    return None


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """How the releases of kernels end that a family of distributions builds; `like` is the one whose files lie where the others' do."""

    pattern: str = ""
    family: str = ""
    like: str = ""
    source: str = ""


def kernels_builder(release: str) -> Kernel:
    """The family of distributions ("debian") that builds kernels of such a release, and whom they are like; empty where nobody knows. Raises KnowledgeError."""
    rows = tables.rows("distributions", "kernel", Kernel)
    return next((row for row in rows if re.search(row.pattern, release)), Kernel())


def family_of_kernel(release: str) -> str:
    """The family alone; "" where nobody knows. Raises KnowledgeError."""
    return kernels_builder(release).family


def as_image(name: str) -> str:
    """What a distribution is called where its system is an image; itself where that makes no difference."""
    return _IMAGES.get(name, name)


def of_codename(word: str) -> Distribution | None:
    """The release that a word such as "jammy" stands for.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("distributions", "distribution", Distribution)
    return next((row for row in rows if row.codename and row.codename == word), None)


def spoken() -> dict[str, str]:
    """What people call distributions, by the word that they write.

    Raises:
        KnowledgeError: the table is malformed.

    """
    ids = {row.id for row in tables.rows("distributions", "distribution", Distribution)}
    words = {word: id_ for known in (_ALSO, _SPELT) for id_, words_of_id in known.items() for word in words_of_id}
    return {id_: id_ for id_ in ids} | words | {word: word for word in _ROLLING}
