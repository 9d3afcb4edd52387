"""A machine as an archive that can be sent to somebody: all that the doctor reads of it, and nothing private.

What is inside plays again: `rigup doctor --from ARCHIVE` comes to the same facts and findings.
"""

import datetime as dt
import gzip
import io
import json
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from rigup.machine import private_file
from rigup.machine.facts import Place
from rigup.machine.local import Local
from rigup.machine.recorder import Recorder
from rigup.machine.redaction import Redactor
from rigup.machine.snapshot import Entry, Snapshot
from rigup.machine.sources import COVER, Source, open_source, texts_at, world_of
from rigup.machine.store import Facts
from rigup.machine.tree import Tree
from rigup.version import __version__

SCHEMA = "rigup.capture/1"
_TOP = "rigup-capture"


@dataclass
class Capture:
    """What was kept of a machine, by place ("" is the one that was asked), and the reports of it."""

    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def recorded(path: str | None = None, wake: bool = False) -> tuple[Facts, Capture]:
    """Look at a machine, or at what `--from` takes, and keep all that was seen. Raises SourceError."""
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.look import look

    sources = _listening(path)
    facts = look(sources, wake)
    capture = Capture()
    for source in sources:
        if isinstance(source.host, Recorder):
            capture.snapshots[_place(source.host, first=not capture.snapshots)] = source.host.kept
    if path == "-":  # it can be read once only
        for text in (text for source in sources if source.host is None for text in source.texts):
            capture.texts[text.source] = capture.texts.get(text.source, "") + text.body + "\n"
    elif path is not None and not capture.snapshots:
        capture.texts = texts_at(path)
    return facts, capture


def _listening(path: str | None) -> list[Source]:
    """The sources, with somebody who notes down what they answer."""
    if path is None:
        recorder = Recorder(Local())
        return [Source(Place(world=world_of(recorder)), recorder)]
    return [_with_recorder(source) for source in open_source(path)]


def _with_recorder(source: Source) -> Source:
    if source.host is None:
        return source
    recorder = Recorder(source.host)
    recorder.kept.recorded = [recording for recording in source.host.recorded() if not recording.asked]
    if isinstance(source.host, Tree):  # what the answers to questions do not show
        recorder.kept.nodes |= source.host.nodes
        recorder.kept.who |= source.host.who
    return source._replace(host=recorder)


def _place(recorder: Recorder, first: bool) -> str:
    return "" if first or not isinstance(recorder.inner, Tree) else os.path.basename(recorder.inner.root)


def redacted(capture: Capture, redactor: Redactor) -> Capture:
    """The same without what is private: names are learnt from all of it before any is taken out."""
    for snapshot in capture.snapshots.values():
        redactor.learn_all(snapshot)
    for name, body in capture.texts.items():
        redactor.learn(name + "\n" + body, name)
    return Capture(
        {redactor.text(place): redactor.snapshot(snapshot) for place, snapshot in capture.snapshots.items()},
        {redactor.text(name): redactor.listed(redactor.text(name), body, name) for name, body in capture.texts.items()},
    )


def entries(capture: Capture, taken_out: dict[str, int]) -> Iterator[Entry]:
    """Everything that the archive holds."""
    cover = {"schema": SCHEMA, "rigup": __version__, "captured_at": _now(), "taken_out": taken_out}
    yield Entry("/" + COVER, json.dumps(cover, indent=1).encode())
    for name, body in capture.texts.items():
        yield Entry("/" + name.lstrip("/"), body.encode("utf-8", "surrogatepass"))
    for place, snapshot in capture.snapshots.items():
        top = "/places/" + place if place else ""
        for name, content in snapshot.companions().items():
            yield Entry(top + "/" + name, content)
        yield from (entry._replace(path=top + entry.path) for entry in snapshot.entries())


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def write(path: str, capture: Capture, taken_out: dict[str, int], replace: bool = False) -> int:
    """Write the archive, readable by its owner alone; returns its size in bytes.

    Raises FileExistsError where something stands at the path and must not be replaced, and OSError.
    """
    private_file.write(path, lambda file: pack(file, capture, taken_out), replace)
    return os.path.getsize(path)


def pack(file: IO[bytes], capture: Capture, taken_out: dict[str, int]) -> None:
    """Write the archive into a file that is open."""
    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        _pack(packed, capture, taken_out)


def _pack(packed: Any, capture: Capture, taken_out: dict[str, int]) -> None:
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for entry in entries(capture, taken_out):
            if entry.path.isprintable():
                archive.addfile(_info(entry), io.BytesIO(entry.body or b""))


def _info(entry: Entry) -> tarfile.TarInfo:
    """A header that names nobody."""
    info = tarfile.TarInfo(_TOP + entry.path)
    info.mode = 0o644
    if entry.target is not None:
        info.type, info.linkname = tarfile.SYMTYPE, entry.target
    elif entry.body is None:
        info.type, info.mode = tarfile.DIRTYPE, 0o755
    else:
        info.size = len(entry.body)
    return info
