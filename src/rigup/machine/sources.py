"""Where a diagnosis comes from: this machine, a captured tree, files that somebody sent, standard input."""

import os
import stat
import sys
from pathlib import Path
from typing import NamedTuple

from rigup.knowledge.patterns import lazy_regex
from rigup.language import _
from rigup.machine.facts import Place
from rigup.machine.host import Host
from rigup.machine.limits import MOST_STREAM, MOST_TEXT, TOO_LONG, TOO_MUCH, named, shares
from rigup.machine.local import Local
from rigup.machine.readable import readable
from rigup.machine.texts import Text

_MOST_FILES = 500
_STREAMS = (b"@rigup-stream/", "@rigup-stream/".encode("utf-16-le"))  # what a collecting script prints first
_STREAM_HEAD = 200_000  # bytes in which that stands, if anywhere
COVER = "capture.json"  # what an archive of ours says about itself
_PYTHON = lazy_regex(r"(?:\S{0,200}/)?python(?:3(?:\.\d{1,2})?)?(?:\.exe)?\Z")
_NOT_TEXT = 0.02  # share of control characters from which on a file is no text

_TAR_BLOCK = 512  # bytes of a header, whose fields are filled up with zeros
_ZIP_END = 66_000  # bytes in which a zip archive's last record stands, with its comment
_ZIP, _MAGIC = b"PK\x05\x06", (b"BZh", b"\x28\xb5\x2f\xfd")  # bzip2, zstd; gzip and xz begin with control characters
_CONTROLS = frozenset((*range(9), *range(14, 27), *range(28, 32)))


class SourceError(Exception):
    """A source that cannot be diagnosed; the text tells what and what to do."""


class Source(NamedTuple):
    """A host that can be asked, texts that can be read, or both; and what was too much of either."""

    place: Place
    host: Host | None = None
    texts: tuple[Text, ...] = ()
    left_out: tuple[str, ...] = ()


def open_source(path: str | None) -> list[Source]:
    """The sources behind `--from PATH`; None is this machine. Raises SourceError."""
    if path is None:
        host = Local(still=True)
        return [Source(Place(world=world_of(host)), host)]
    if path == "-":
        return _from_pipe(sys.stdin.buffer.read(MOST_STREAM))
    if not os.path.lexists(path):
        sentence = _("{path} does not exist. Give a report, a log, a folder of them or a capture; - reads standard input.")
        raise SourceError(sentence.format(path=path))
    try:
        return _from_pipe(_of_pipe(path), path) if stat.S_ISFIFO(os.stat(path).st_mode) else _open(path)
    except FileNotFoundError as error:
        raise SourceError(_("{path} leads nowhere.").format(path=path)) from error
    except PermissionError as error:
        refused = _("{path} may not be read by you: ask its owner for read access.")
        raise SourceError(refused.format(path=error.filename or path)) from error


def _open(path: str) -> list[Source]:
    """A captured machine, a part of one, an archive of either, or texts."""
    from rigup.machine.tree import Tree, is_tree, mount_of  # none of them is needed for this machine

    if os.path.isfile(path):
        if streamed := _from_script_output(path):
            return streamed
        path = _unpack(path)
    if os.path.isdir(path) and is_tree(path):
        return _tree(path)
    if os.path.isdir(path) and (mount := mount_of(path)):
        return [Source(Place(world="host"), Tree(path, mount))]
    files, cut = _files(path)
    return [_from_texts(files, cut)]


def _of_pipe(path: str) -> bytes:
    """What a pipe gives that somebody named, as a shell's `<(command)` does."""
    with open(path, "rb") as pipe:
        return pipe.read(MOST_STREAM)


def _from_pipe(body: bytes, name: str = "standard input") -> list[Source]:
    """A pipe: what a collecting script printed, or a text."""
    if not _is_stream(body):
        return [_from_texts({name: body[:MOST_TEXT]}, named([name] if len(body) > MOST_TEXT else [], TOO_MUCH))]
    return _from_stream(body)


def _is_stream(head: bytes) -> bool:
    """Whether a collecting script printed it; who reads such things is loaded for one that may be."""
    if not any(mark in head[:_STREAM_HEAD] for mark in _STREAMS):
        return False
    from rigup.machine.collect import stream

    return stream.is_stream(head)


def _from_script_output(path: str) -> list[Source] | None:
    """What a collecting script printed into a file; None for any other file."""
    with open(path, "rb") as file:
        head = file.read(_STREAM_HEAD)
        return _from_stream(head + file.read(MOST_STREAM)) if _is_stream(head) else None


def _from_stream(body: bytes) -> list[Source]:
    from rigup.machine.collect import stream, tree

    collected = stream.parse(body)
    first, *inside = _tree(tree.kept(collected))
    return [first._replace(left_out=collected.left_out()), *inside]


def _unpack(path: str) -> str:
    """The folder of an archive; a file that is none stays itself. What unpacks is loaded for this alone."""
    if _is_text(path):
        return path
    from rigup.machine.archive import ArchiveError, is_archive, unpacked

    try:
        return unpacked(path) if is_archive(path) else path
    except ArchiveError as error:
        raise SourceError(str(error)) from error


def _is_text(path: str) -> bool:
    """Whether a file is surely no archive: it begins with no control characters and no archive's letters, and no zip ends it."""
    try:
        with open(path, "rb") as file:
            head = file.read(_TAR_BLOCK)
            file.seek(max(file.seek(0, os.SEEK_END) - _ZIP_END, 0))
            return not (head.startswith(_MAGIC) or _CONTROLS.intersection(head)) and _ZIP not in file.read()
    except OSError:
        return False


def close_sources() -> None:
    """Remove what was unpacked for the sources, if anything was."""
    if "rigup.machine.archive" in sys.modules:
        from rigup.machine.archive import discard

        discard()
    if "rigup.machine.collect.tree" in sys.modules:
        from rigup.machine.collect import tree

        tree.discard()


def world_of(host: Host) -> str:
    """Whether a host is a container, by what every engine leaves inside."""
    marks = (("/.dockerenv", "docker"), ("/run/.containerenv", "podman"), ("/.singularity.d/runscript", "apptainer"))
    inside = any(host.read(path, 100).state in ("known", "refused") for path, _engine in marks)
    return "container" if inside else "host"


def _tree(folder: str) -> list[Source]:
    from rigup.machine.paste import hinted

    sources = [_tree_at(folder, Place())]
    places = Path(folder, "places")
    if places.is_dir() and not places.is_symlink():  # a link may lead out of the tree
        inside = sorted(inner for inner in places.iterdir() if inner.is_dir() and not inner.is_symlink())
        sources += [_tree_at(str(inner), hinted(inner.name)) for inner in inside]
    return sources


def _tree_at(folder: str, place: Place) -> Source:
    from rigup.machine.tree import Tree

    tree = Tree(folder)
    if not place.world:
        place = place._replace(world=world_of(tree))
    recordings = [recording for recording in tree.recorded() if not (recording.asked and recording.argv in _commands())]
    texts = [text for recording in recordings for text in _answers(recording.argv, recording.output, place)]
    for text in texts:
        text.whole = True
    return Source(place, tree, tuple(texts))


def _answers(argv: tuple[str, ...], output: str, place: Place) -> list[Text]:
    """What a command printed; where it is Python's answer to a line of code, below that line, as a terminal shows both."""
    from rigup.machine.paste import texts_of

    name = " ".join(argv)
    texts = texts_of(name, output, place)
    if len(texts) != 1 or not _PYTHON.match(argv[0]) or len(argv) < 3 or argv[-2] != "-c" or "\n" in argv[-1]:
        return texts
    lines = [1, *range(1, texts[0].body.count("\n") + 2), 0]  # the question stands beside the first line of its answer
    return [Text(name, f'$ python -c "{argv[-1]}"\n{texts[0].body}', place, lines=lines)]


def _commands() -> set[tuple[str, ...]]:
    """Commands that readers ask for: their answers are given to who asks, as on a live machine."""
    from rigup.machine.reader import READERS, Run

    return {query.argv for reader in READERS.values() for query in reader.inputs if isinstance(query, Run)}


def _files(path: str) -> tuple[dict[str, bytes], list[str]]:
    """The texts at a path, a folder's named by their path inside it; and what was left out of them."""
    if not os.path.isdir(path):
        return {readable(os.path.basename(path)): _read(path, MOST_TEXT)}, _cut({path: os.path.basename(path)}, MOST_TEXT)
    paths = sorted(file for file in Path(path).rglob("*") if file.is_file() and not file.is_symlink())
    paths = [file for file in paths if file.name != COVER]
    if not paths and not os.access(path, os.R_OK | os.X_OK):
        raise PermissionError(13, "", path)
    names = {str(file): str(file.relative_to(path)) for file in paths[:_MOST_FILES]}
    most = shares(map(os.path.getsize, names))
    more = named((str(file.relative_to(path)) for file in paths[_MOST_FILES:]), TOO_MUCH)
    return {readable(name): _read(file, most) for file, name in names.items()}, [*_cut(names, most), *more]


def _cut(names: dict[str, str], most: int) -> list[str]:
    return named((name for file, name in names.items() if os.path.getsize(file) > most), TOO_LONG)


def _read(path: str, most: int) -> bytes:
    """A file's head, and its end where it is long: a log's last lines are what it died of."""
    if not os.path.isfile(path):
        raise SourceError(_("{path} is not a file that can be read.").format(path=path))
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= most:
            return file.read(most)
        head = file.read(most // 2)
        file.seek(size - most // 2)
        return head + b"\n" + file.read(most // 2)


def _from_texts(files: dict[str, bytes], left_out: list[str]) -> Source:
    from rigup.machine.paste import texts_of

    bodies = {name: decoded(body) for name, body in files.items()}
    readable = {name: body for name, body in bodies.items() if body and body.strip()}
    if not readable:
        raise SourceError(_why_nothing(bodies))
    texts = [text for name, body in readable.items() for text in texts_of(name, body, _place_of(name))]
    return Source(Place(), None, tuple(texts), tuple(left_out))


def texts_at(path: str) -> dict[str, str]:
    """The readable texts at a path, or in the archive there, as `open_source` takes them. Raises SourceError."""
    texts = {name: decoded(body) for name, body in _files(_unpack(path) if os.path.isfile(path) else path)[0].items()}
    return {name: body for name, body in texts.items() if body and body.strip()}


def _place_of(name: str) -> Place:
    from rigup.machine.paste import hinted

    place = Place()
    for part in name.split("/"):
        place = hinted(part, place)
    return place


def _why_nothing(bodies: dict[str, str | None]) -> str:
    if not bodies:
        return _("There is no file to read there. Give a report, a log, or a folder of them.")
    if all(body is None for body in bodies.values()):
        return _("{names} holds no text but binary data. Give the text that a program printed.").format(names=", ".join(list(bodies)[:3]))
    return _("{names} is empty. Give the text that a program printed.").format(names=", ".join(list(bodies)[:3]))


def decoded(body: bytes) -> str | None:
    """Text in whatever form Windows or Linux wrote it; None where it is no text."""
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return body.decode("utf-16", "replace")
    sample = body[:65_536]
    odd = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in sample)
    if odd > _NOT_TEXT * max(len(sample), 1):
        return None
    return body.decode("utf-8-sig", "replace")
