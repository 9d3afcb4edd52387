"""What container images are for, which is taken for a wish, where programs in them look for caches, and what engines can do from which release on."""

import re

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """What images of a name are for; see the table `container_runs`."""

    repository: str = ""
    tag: str = ""
    vendor: str = ""
    framework: str = ""
    server: bool = False
    own_token: bool = False
    shm: bool = False
    guarded: bool = False
    compat: bool = False
    jetson: bool = False
    system: bool = False
    sets_arch: bool = False
    isa_min: str = ""
    cuda: str = ""
    rocm: str = ""
    code: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()
    user: str = ""
    cache: str = ""
    gpu_tag: str = ""
    source: str = ""


class Cache(msgspec.Struct, frozen=True, kw_only=True):
    """A folder below a home that a program looks into, and the variable that says where it is."""

    id: str
    folder: str
    variable: str
    inside: str = ""
    below_root: bool = False
    source: str = ""


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The image for a wish where none of the framework's own is for the machine."""

    wish: str
    kind: str
    image: str
    machine: str = ""
    jetpack: str = ""


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """From which release on an engine, or a policy, can do something."""

    id: str
    version: str
    source: str = ""


class Ngc(msgspec.Struct, frozen=True, kw_only=True):
    """NVIDIA's image of torch of a month: `gpu_archs` names generations of cards."""

    tag: str
    torch: str
    cuda: str
    ubuntu: str = ""
    python: str = ""
    gpu_archs: str = ""


def limit(name: str) -> tuple[int, ...]:
    """The release from which on an engine can do something. Raises KnowledgeError for a malformed table."""
    return next(version_key(row.version) for row in tables.rows("container_runs", "limit", Limit) if row.id == name)


def caches() -> tuple[Cache, ...]:
    """Folders that programs look into. Raises KnowledgeError for a malformed table."""
    return tables.rows("container_runs", "cache", Cache)


def kind_of(repository: str, tag: str) -> Kind:
    """What images of a name are for, by the first row that fits. Raises KnowledgeError for a malformed table."""
    for row in tables.rows("container_runs", "kind", Kind):
        if re.fullmatch(row.repository, repository) and re.search(row.tag, tag):
            return row
    return Kind()


def image_for(wish: str, kind: str, jetpack: str, machine: str) -> str:
    """The image for a wish where none of the framework's own is for the machine; "" for none.

    Args:
        wish: as the tables call it.
        kind: how it reaches a device: "cuda", "rocm", "xpu", "cpu".
        jetpack: the major of a Jetson's system, "" elsewhere.
        machine: as `uname -m` says it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows("container_runs", "chosen", Chosen):
        if (row.wish, row.kind, row.jetpack) == (wish, kind, jetpack) and row.machine in ("", machine):
            return row.image
    return ""


def ngc_images() -> tuple[Ngc, ...]:
    """NVIDIA's images of torch, the newest first. Raises KnowledgeError for a malformed table."""
    rows = tables.rows("containers", "ngc_pytorch", Ngc)
    return tuple(sorted(rows, key=lambda row: version_key(row.tag), reverse=True))
