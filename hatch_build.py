"""Build hook: compile the knowledge tables and the message catalogues, so that nothing is parsed at the start."""

from __future__ import annotations

import importlib
import lzma
import struct
import subprocess  # noqa: TID251  (runs our own code, and learns nothing of the machine)
import sys
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = Path("src", "rigup")
KNOWLEDGE, LOCALES = PACKAGE / "knowledge", PACKAGE / "locales"
PROBES = ("verify/probe", "bench/probe")
INDEXES = {"rigup/diagnosis/files.msgpack": "rigup.diagnosis.loading", "rigup/machine/readers.msgpack": "rigup.machine.reader_index"}
PACKED = "rigup/shipped.tar.xz"


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the tables and the catalogues; the wheel holds them in one archive, and no sources (see ``rigup/shipped.py``)."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files are collected; a malformed table stops the build. A checkout in use keeps what its tests read."""
        if self.target_name != "wheel":
            return
        root, editable = Path(self.root), version == "editable"
        folder = root if editable else Path(self.directory)
        if not editable:  # before the tables: a checkout's own are compiled whole when they are read
            for name, module in INDEXES.items():
                build_data["force_include"][str(_indexed(root, folder / Path(name).name, module))] = name
        knowledge = root / KNOWLEDGE
        tables = knowledge / "compiled.msgpack" if editable else folder / "compiled.msgpack"
        _own(root, "rigup.knowledge.compile").compile_tables(knowledge / "data", tables, shipped=not editable)
        catalogues = [_catalogue(path) for path in sorted((root / LOCALES).glob("*/LC_MESSAGES/*.po"))]
        if not editable:
            weights = "knowledge/text_classifier.bin"
            joined = folder / "catalogues"
            joined.write_bytes(_joined(root, catalogues))
            files = {tables: "knowledge/compiled.msgpack", knowledge.parent / weights: weights, joined: "locales/catalogues"}
            files |= {
                path: path.relative_to(root / PACKAGE).as_posix()
                for probe in PROBES
                for path in sorted((root / PACKAGE / probe).rglob("*.py"))
            }
            build_data["force_include"][str(_packed(files, folder))] = PACKED

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Take away what stands in the wheel now."""
        for name in (*INDEXES, PACKED, "compiled.msgpack", "catalogues"):
            Path(self.directory, Path(name).name).unlink(missing_ok=True)


def _packed(files: dict[Path, str], folder: Path) -> Path:
    """One archive of files under their names below the package, the same bytes for the same files."""
    target = folder / Path(PACKED).name
    packer = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}  # for text, not for numbers of 4 bytes
    with lzma.open(target, "wb", filters=[packer]) as stream, tarfile.open(fileobj=stream, mode="w|") as archive:
        for path, name in files.items():
            member = tarfile.TarInfo(name)
            member.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(member, content)
    return target


def _indexed(root: Path, target: Path, module: str) -> Path:
    """An index of rules or readers, made by this checkout's own code, in a process that has no other rigup."""
    target.parent.mkdir(parents=True, exist_ok=True)
    code = (
        "import importlib, pathlib, sys\ntarget, module, *sys.path = sys.argv[1:]\n"
        "importlib.import_module(module).build(pathlib.Path(target), shipped=True)"
    )
    words = (sys.executable, "-I", "-c", code, str(target), module, str(root / "src"), *sys.path)
    subprocess.run(words, check=True, timeout=120)
    return target


def _catalogue(path: Path) -> Path:
    """Compile one catalogue, beside its source."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with path.open("rb") as source, path.with_suffix(".mo").open("wb") as target:
        write_mo(target, read_po(source))
    return path.with_suffix(".mo")


def _joined(root: Path, catalogues: list[Path]) -> bytes:
    """Compiled catalogues as one file, which is unpacked to the same."""
    shipped = _own(root, "rigup.shipped")
    by_language = {path.parent.parent.name: _messages(path.read_bytes()) for path in catalogues}
    joined: bytes = shipped.pack_catalogues(by_language)
    if shipped.unpack_catalogues(joined) != by_language:
        raise ValueError("the catalogues do not come back as they were")
    return joined


def _messages(compiled: bytes) -> dict[bytes, bytes]:
    """The texts of a compiled catalogue by their messages."""
    count, *starts = struct.unpack_from("<3I", compiled, 8)

    def text(start: int, number: int) -> bytes:
        length, at = struct.unpack_from("<2I", compiled, start + 8 * number)
        return compiled[at : at + length]

    return {text(starts[0], number): text(starts[1], number) for number in range(count)}


def _own(root: Path, name: str) -> ModuleType:
    """A module of this checkout, and not of a rigup which may be installed beside the build."""
    sys.path.insert(0, str(root / "src"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(root / "src"))
