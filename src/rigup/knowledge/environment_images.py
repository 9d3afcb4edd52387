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
        builder: the same with a compiler, by its name with the same holes; "" where the image has one, or nobody makes one.

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
    builder: str = ""
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


def builder_of(name: str) -> str:
    """The image with a compiler for an image of the table, "" for none. Raises KnowledgeError for a malformed table."""
    for row in tables.rows("environment_images", "image", Image):
        for version in row.versions if row.builder else ():
            for cuda in row.cuda or [""]:
                if row.image.format(version=version, cuda=cuda) == name:
                    return row.builder.format(version=version, cuda=cuda)
    return ""


def base_for(kind: str = "", jetpack: str = "") -> Base:
    """The image for a kind of build, or for a Jetson's system.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = "jetpack " + jetpack.partition(".")[0] if jetpack else kind
    rows = {row.made_for: row for row in tables.rows("environment_images", "base", Base)}
    return rows.get(wanted) or rows["any"]
