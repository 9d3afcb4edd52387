"""What is asked of a container, checked: no name becomes an option, another command or another line."""

import re
from posixpath import isabs, join, normpath

import msgspec

from rigup.language import _

ENGINES = ("docker", "podman", "apptainer", "singularity", "nerdctl")
_PART = r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:docker://)?(?:[A-Za-z0-9][A-Za-z0-9.-]{{0,200}}(?::\d{{1,5}})?/)?{_PART}(?:/{_PART}){{0,20}}"
    r"(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?",
    re.ASCII,
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,200}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}", re.ASCII)
_GPU = re.compile(r"(?:GPU|MIG)-[0-9a-fA-F-]{8,60}|\d{1,3}:\d{1,3}|\d{1,3}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class ContainerError(Exception):
    """A request that no command can be made of, as a sentence."""


class Mount(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of the host, and where it is inside."""

    source: str
    target: str
    read_only: bool = False


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request.

    Attributes:
        what: an image, or a wish.
        engine: the one to take; "" for the one that needs the fewest changes.
        form: "" for a command, else the file that holds it ("compose", "devcontainer").
        gpu: "all", "none", "optional", or devices separated by commas; "" where nobody said.
        publish: ports that are reached from this machine under the same number.
        variables: names, each with the value that it gets, or None for the caller's.
        own_program: the command is no word for the image's server: it works in the caller's folder, and that server is not started.
        terminal: a person sits before it.

    """

    what: str = "torch"
    engine: str = ""
    form: str = ""
    gpu: str = ""
    publish: tuple[int, ...] = ()
    mounts: tuple[Mount, ...] = ()
    variables: dict[str, str | None] = {}
    detach: bool = False
    name: str = ""
    command: tuple[str, ...] = ()
    terminal: bool = True
    own_program: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The devices that are named; none for all of them."""
        return () if self.gpu in ("", "all", "none", "optional") else tuple(self.gpu.split(","))


def checked(asked: Asked) -> Asked:
    """The request, if every name in it can be a word of a command. Raises ContainerError."""
    if _CONTROL.search(asked.what) or not (is_file(asked.what) or _IMAGE.fullmatch(asked.what) or _is_wish(asked.what)):
        raise ContainerError(_("{word} is no name of an image.").format(word=repr(asked.what)[:200]))
    if asked.name and not _NAME.fullmatch(asked.name):
        raise ContainerError(_("{word} is no name of a container.").format(word=repr(asked.name)[:200]))
    for part in asked.parts:
        if not _GPU.fullmatch(part):
            template = _("{word} names no GPU: write all, none, optional, numbers such as 0,1, or GPU:INSTANCE.")
            raise ContainerError(template.format(word=repr(part)[:200]))
    for port in asked.publish:
        if not 0 < port < 65536:
            raise ContainerError(_("{word} is no port.").format(word=port))
    for word in asked.command:
        if "\x00" in word:
            raise ContainerError(_("{word} is no word of a command.").format(word=repr(word)[:200]))
    return asked


def _is_wish(word: str) -> bool:
    """A package with what its version is to be: torch, "torch>=2.4,<2.8"."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[\w,-]*\])?(?:[<>=!~]=?[\w.*<>=!~, ]+)?", word) is not None


def names_image(word: str) -> bool:
    """A word that cannot be a wish: it names a registry, a folder, a tag or a file."""
    return "/" in word or ":" in word or word.endswith(".sif")


def is_file(word: str) -> bool:
    """The file or the folder of an image, as Apptainer takes it."""
    return (word.endswith(".sif") or isabs(word)) and not word.startswith("-")


def variable(word: str) -> tuple[str, str | None]:
    """NAME or NAME=VALUE. Raises ContainerError for a name that no variable has."""
    name, equals, value = word.partition("=")
    if not _VARIABLE.fullmatch(name) or _CONTROL.search(value):
        raise ContainerError(_("{word} is no variable: write NAME or NAME=VALUE.").format(word=repr(name)[:200]))
    return name, value if equals else None


def mount(word: str, cwd: str, home: str) -> Mount:
    """FOLDER or FOLDER:ro, at the same path inside. Raises ContainerError for what no folder's path can be."""
    path = word.removesuffix(":ro")
    path = home + path[1:] if path == "~" or path.startswith("~/") else path
    path = normpath(join(cwd, path))
    if not path.strip() or _CONTROL.search(path) or path == "/":
        raise ContainerError(_("{word} is no folder that can be mounted.").format(word=repr(word)[:200]))
    return Mount(source=path, target=path, read_only=word.endswith(":ro"))
