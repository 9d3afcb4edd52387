"""Files of requirements as pip reads them: packages, options, files that they name.

What is here kept or refused is told by https://pip.pypa.io/en/stable/reference/requirements-file-format/. Nothing is left
out without a word: an option that cannot be kept is named, with its file and line.
"""

import codecs
import errno
import os
import re
import shlex
from collections.abc import Callable, Iterator
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rigup.language import _
from rigup.stack.terms import Asked, Terms, WishError, masked, place

_MOST_BYTES = 2_000_000
_MOST_FILES = 50
_MOST_LINES = 20_000
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CODING = re.compile(rb"coding[:=]\s*([-\w.]{1,40})")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}")
_HASH = re.compile(r"sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})")
_HOST = re.compile(r"\[?[A-Za-z0-9_.:-]{1,253}\]?")
_OF_PACKAGES = re.compile(r":all:|:none:|[A-Za-z0-9](?:[A-Za-z0-9._-]{0,198}[A-Za-z0-9])?")
_DIRECT = re.compile(r"[a-z+]{2,20}:(?://|\S)|[./~\\]|[A-Za-z]:[\\/]|.{1,300}\.(?:whl|zip|tar\.\w{2,3}|tgz)(?:\Z|[\s;#\[])", re.IGNORECASE)
_ARCHIVE = re.compile(r"\S{1,300}\.(?:whl|zip|tgz|tbz|txz|tar|tar\.\w{2,3})(?:\[.{0,100}\])?", re.IGNORECASE)
_SHORT = {"-r": "--requirement", "-c": "--constraint", "-i": "--index-url", "-f": "--find-links", "-e": "--editable"}
_OTHER_NAMES = {"--pypi-url": "--index-url"}


class Line(NamedTuple):
    """A logical line, without its comment; `where` is "requirements.txt:12"."""

    where: str
    text: str
    folder: str


def of_requirements(path: str) -> Asked:
    """What a file of requirements asks for, with the files that it names.

    Raises:
        WishError: it cannot be read, or holds what cannot be kept.

    """
    reading = _Reading()
    reading.file(path, False, ())
    return reading.asked(path)


class _Reading:
    """What was found so far, in one file and those that it names."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.constraints: list[str] = []
        self.hashes: dict[str, list[str]] = {}
        self.lists: dict[str, list[str]] = {name: [] for name in ("extra", "links", "source", "binary", "hosts")}
        self.index = ""
        self.flags: set[str] = set()
        self.files = 0

    def asked(self, path: str) -> Asked:
        if "--no-index" in self.flags and not self.lists["links"]:
            template = _("{path} says --no-index, and names no --find-links to ask in its place.")
            raise WishError(template.format(path=path))
        lists = {name: tuple(dict.fromkeys(values)) for name, values in self.lists.items()}
        terms = Terms(
            index=self.index,
            extra_indexes=lists["extra"],
            find_links=lists["links"],
            no_index="--no-index" in self.flags,
            previews="--pre" in self.flags,
            wheels_first="--prefer-binary" in self.flags,
            no_binary=lists["source"],
            only_binary=lists["binary"],
            trusted_hosts=lists["hosts"],
            constraints=tuple(dict.fromkeys(self.constraints)),
            hashes={name: tuple(dict.fromkeys(hashes)) for name, hashes in self.hashes.items()},
            hashed=bool(self.hashes) or "--require-hashes" in self.flags,
            files=(path,),
        )
        return Asked(tuple(self.words), terms)

    def file(self, path: str, bounds: bool, above: tuple[str, ...]) -> None:
        """Read a file; one that names itself, by whichever way, is refused."""
        if "\0" in path:
            raise WishError(_("{path} cannot be read: {error}.").format(path=repr(path), error=os.strerror(errno.EINVAL)))
        real = os.path.realpath(path)
        self.files += 1
        if real in above:
            raise WishError(_("{path} names itself, by -r or -c.").format(path=path))
        if self.files > _MOST_FILES:
            raise WishError(_("{path}: more than {count} files name one another.").format(path=path, count=_MOST_FILES))
        for line in lines(path):
            if line.text.startswith("-"):
                self.option(line, bounds, (*above, real))
            else:
                self.package(line, bounds)

    # -- packages

    def package(self, line: Line, bounds: bool) -> None:
        text, _space, options = re.sub(r"\s+(?=--?[A-Za-z])", "\0", line.text, count=1).partition("\0")
        requirement = _requirement(line, text)
        name = canonicalize_name(requirement.name)
        self.hashes.setdefault(name, []).extend(hashes := list(_hashes(line, options)))
        if not hashes and not self.hashes[name]:
            del self.hashes[name]
        if not bounds:
            self.words.append(str(requirement))
        elif requirement.extras:
            raise WishError(_("{where}: a constraint names no extras.").format(where=line.where))
        else:
            self.constraints.append(str(requirement))

    # -- options

    def option(self, line: Line, bounds: bool, above: tuple[str, ...]) -> None:
        words = _split(line)
        while words:
            name, value = _taken(line, words)
            if name in ("--requirement", "--constraint"):
                self.file(_local_path(line, value), bounds or name == "--constraint", above)
            elif name in _SWITCHES:
                self.flags.add(name)
            elif name == "--index-url":
                self._index(line, place(line.where, value))
            elif name in _KEPT:
                field, check = _KEPT[name]
                self.lists[field] += check(line, value)
            else:
                raise WishError(_not_kept(line, name))

    def _index(self, line: Line, url: str) -> None:
        if self.index not in ("", url):
            template = _("{where}: a second index in place of the default one; the first is {first}. Keep one of them.")
            raise WishError(template.format(where=line.where, first=self.index))
        self.index = url


def _taken(line: Line, words: list[str]) -> tuple[str, str]:
    """The next option and its value; both leave `words`."""
    word = words.pop(0)
    name, equals, value = word.partition("=")
    if not word.startswith("--"):
        name, value = word[:2], word[2:].removeprefix("=")
        equals = value
    name = _OTHER_NAMES.get(_SHORT.get(name, name), _SHORT.get(name, name))
    if name in _WITH_VALUE and not equals:
        value = words.pop(0) if words else ""
    if name in _WITH_VALUE and not value:
        raise WishError(_("{where}: {option} has no value.").format(where=line.where, option=name))
    if name not in _WITH_VALUE and equals and name in _SWITCHES:
        raise WishError(_("{where}: {option} takes no value.").format(where=line.where, option=name))
    return name, value


def _not_kept(line: Line, option: str) -> str:
    if option == "--editable":
        return _direct(line, line.text)
    template = _(
        "{where}: the option {option} cannot be kept by rigup, which chooses builds itself and hands them to pip or uv. "
        "Take it out, or install this file with pip."
    )
    return template.format(where=line.where, option=masked(option)[:80])


def _direct(line: Line, text: str) -> str:
    template = _(
        "{where}: {what} names an address or a folder, and rigup chooses by name and version. Take it out, and when the "
        "rest is installed, install it by: rigup run -- python -m pip install …"
    )
    return template.format(where=line.where, what=masked(text)[:200])


def _links(line: Line, value: str) -> list[str]:
    """A page or a folder; one that is beside the file is meant before one that is where rigup was started, as pip has it."""
    if "://" in value:
        return [place(line.where, value)]
    if value.startswith("-") or not value.isprintable():
        raise WishError(_("{where}: {url} is no address of packages.").format(where=line.where, url=repr(value)[:200]))
    sibling = os.path.join(line.folder, value)
    return [os.path.abspath(sibling if os.path.exists(sibling) else value)]


def _packages(line: Line, value: str) -> list[str]:
    names = [name.strip() for name in value.split(",")]
    if not all(_OF_PACKAGES.fullmatch(name) for name in names):
        raise WishError(_("{where}: {word} is no list of packages.").format(where=line.where, word=repr(value)[:200]))
    return [name if name.startswith(":") else canonicalize_name(name) for name in names]


def _hosts(line: Line, value: str) -> list[str]:
    if not _HOST.fullmatch(value):
        raise WishError(_("{where}: {word} is no name of a host.").format(where=line.where, word=repr(value)[:200]))
    return [value]


def _address(line: Line, value: str) -> list[str]:
    return [place(line.where, value)]


_KEPT: dict[str, tuple[str, Callable[[Line, str], list[str]]]] = {
    "--extra-index-url": ("extra", _address),
    "--find-links": ("links", _links),
    "--no-binary": ("source", _packages),
    "--only-binary": ("binary", _packages),
    "--trusted-host": ("hosts", _hosts),
}
_SWITCHES = ("--no-index", "--pre", "--prefer-binary", "--require-hashes")
_WITH_VALUE = {"--requirement", "--constraint", "--index-url", *_KEPT}


def _local_path(line: Line, value: str) -> str:
    if "://" in value:
        template = _("{where}: {url} is a file elsewhere. Fetch it, look at it, and name it by its path.")
        raise WishError(template.format(where=line.where, url=masked(value)[:200]))
    return os.path.join(line.folder, value)


def _requirement(line: Line, text: str) -> Requirement:
    if _ARCHIVE.fullmatch(text):
        raise WishError(_direct(line, text))
    try:
        requirement = Requirement(text)
    except (InvalidRequirement, RecursionError) as error:
        if _DIRECT.match(text):
            raise WishError(_direct(line, text)) from error
        template = _("{where}: {word} is no package: write a name with a version, such as torch==2.6.")
        raise WishError(template.format(where=line.where, word=repr(masked(text))[:200])) from error
    if requirement.url:
        raise WishError(_direct(line, text))
    return requirement


def _hashes(line: Line, options: str) -> Iterator[str]:
    words = _split(line, options)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name != "--hash":
            raise WishError(_not_kept(line, name))
        value = value if equals else (words.pop(0) if words else "")
        if not _HASH.fullmatch(value.lower()):
            template = _("{where}: {value} is no hash that pip believes: write `sha256:` and 64 signs.")
            raise WishError(template.format(where=line.where, value=repr(value)[:120]))
        yield value.lower()


def _split(line: Line, text: str | None = None) -> list[str]:
    try:
        return shlex.split(line.text if text is None else text)
    except ValueError as error:
        raise WishError(_("{where}: a quote is not closed.").format(where=line.where)) from error


# -- lines -------------------------------------------------------------------------------------------


def lines(path: str) -> Iterator[Line]:
    """The logical lines of a file, joined and without comments as pip does it.

    Raises:
        WishError: it cannot be read, is too large, or holds a variable of the environment.

    """
    folder = os.path.dirname(os.path.abspath(path))
    for number, joined in _joined(decoded(read_whole(path, _MOST_LINES))):
        if not (text := _COMMENT.sub("", joined).strip()):
            continue
        where = f"{path}:{number}"
        if variable := _VARIABLE.search(text):
            template = _(
                "{where}: {name} would be read from the environment. Plans are shown and kept, so rigup puts no variable "
                "into them: write the value here, or put the address into pip's own configuration."
            )
            raise WishError(template.format(where=where, name=variable[0]))
        if "\ufffd" in text or not text.replace("\t", " ").isprintable():
            raise WishError(_("{where}: there are signs in it that no text has.").format(where=where))
        yield Line(where, text, folder)


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines that end with a backslash go on in the next one; a comment ends that."""
    parts: list[str] = []
    first = 1
    for number, line in enumerate(text.splitlines(), 1):
        first = first if parts else number
        comment = re.match(r"(?:^|\s+)#", line)
        if line.endswith("\\") and not comment:
            parts.append(line[:-1])
            continue
        yield first, "".join([*parts, " " + line if comment else line])
        parts = []
    if parts:
        yield first, "".join(parts)


def read_whole(path: str, lines: int | None = None) -> bytes:
    """A file in which somebody names packages. Raises WishError where it cannot be read, is too large, or has more lines."""
    try:
        with open(path, "rb") as file:
            body = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise WishError(_("{path} cannot be read: {error}.").format(path=path, error=why)) from error
    if len(body) > _MOST_BYTES or (lines is not None and body.count(b"\n") > lines):
        raise WishError(_("{path} is larger than a file of requirements is.").format(path=path))
    return body


def decoded(body: bytes) -> str:
    """Bytes as pip decodes them: by a mark at the beginning, by a coding in the first two lines, else UTF-8."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    coding = next((hit for line in body.split(b"\n")[:2] if line[:1] == b"#" and (hit := _CODING.search(line))), None)
    try:
        return body.decode(coding[1].decode() if coding else "utf-8", "replace")
    except (LookupError, UnicodeError, ValueError):
        return body.decode("utf-8", "replace")
