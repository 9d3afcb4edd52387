"""Images that an environment's recipe is built upon."""

from collections.abc import Iterator

import msgspec

from rigup.knowledge import tables


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """A vendor's image that holds releases of a framework.

    Attributes:
        package: the framework as pip calls it.
        kind: how it reaches a device: "cuda" or "rocm".
        image: its name, with {version} and {cuda} for what varies.
        python: its own.
        cuda, rocm: toolkits inside; of several CUDAs there is one image each.
        code: architectures compiled in; empty where the wheel of the same release and toolkit tells.
        brings: packages that belong to the framework and are in it.

    """

    package: str
    kind: str
    image: str
    versions: list[str]
    python: str
    cuda: list[str] = []
    rocm: str = ""
    code: list[str] = []
    brings: list[str] = []
    note: str = ""
    source: str = ""


class Base(msgspec.Struct, frozen=True, kw_only=True, rename={"made_for": "for"}):
    """An image without a framework.

    Attributes:
        made_for: "any", a kind of build, or a JetPack's major ("jetpack 6").
        image: its name, with {python}.
        glibc: its C library.
        python: its own, "" where the name chooses it.
        setup: shell commands that a recipe runs first; constant texts.

    """

    made_for: str
    image: str
    glibc: str
    python: str = ""
    setup: list[str] = []
    source: str = ""


def images(package: str) -> Iterator[Image]:
    """Images that hold a framework. Raises KnowledgeError for a malformed table."""
    return (row for row in tables.rows("environment_images", "image", Image) if row.package == package)


def base_for(kind: str = "", jetpack: str = "") -> Base:
    """The image for a kind of build, or for a Jetson's system.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = "jetpack " + jetpack.partition(".")[0] if jetpack else kind
    rows = {row.made_for: row for row in tables.rows("environment_images", "base", Base)}
    return rows.get(wanted) or rows["any"]
