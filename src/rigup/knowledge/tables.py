"""Read the tables: the shipped ones, with an administrator's and a person's laid over.

Only the table that is asked for is decoded.  Rows of an overlay replace the
shipped row of the same key as a whole; ``[meta] keys`` of the shipped file
names the key fields of each array.
"""

import contextlib
import mmap
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import msgspec

from rigup import plugins, shipped
from rigup.knowledge import compile as compiling
from rigup.knowledge.compile import KnowledgeError, Table

if TYPE_CHECKING:
    from typing_extensions import Buffer

Row = TypeVar("Row")
Given = ParamSpec("Given")
Found = TypeVar("Found")

OVERLAY = "overlay"
"""The field that tells, in a row of an overlay, which file it came from."""

__all__ = ["OVERLAY", "KnowledgeError", "Store", "default_store", "explain", "forget"]
__all__ += ["names", "overlay_folders", "problems", "remembered", "rows", "table", "table_date"]

_SIGNATURES = "signatures/"
_forgets: list[Callable[[], None]] = []


class _Compiled(msgspec.Struct):
    format: int = 0
    shipped: bool = False  # without what only tests read
    stamps: dict[str, tuple[int, int]] = {}
    tags: dict[str, list[str]] = {}  # the signatures that carry each tag
    wordings: memoryview = memoryview(b"")  # as a wheel has them: without
    wordings_of_kernel: memoryview = memoryview(b"")  # the same
    names_of_pci: memoryview = memoryview(b"")  # the same
    tables: dict[str, memoryview] = {}  # each packed by itself: those that nobody asks for are not even copied


class Store:
    """The tables of one data folder and its overlays; nothing is read before it is asked for.

    Args:
        data: folder of TOML sources.
        compiled: the compiled file; rewritten when the sources are newer.
        overlays: folders laid over the data, the strongest last.

    """

    def __init__(self, data: Path, compiled: Path, overlays: Iterable[Path] = ()) -> None:
        self._data = data
        self._file = compiled
        self._overlays = tuple(overlays)
        self._broken: dict[str, KnowledgeError] = {}
        self._tables: dict[str, Table] = {}
        self._arrays: dict[str, dict[str, msgspec.Raw]] = {}
        self._rows: dict[tuple[str, str, object], tuple[Any, ...]] = {}

    def table(self, name: str) -> Table:
        """One table as plain values: ``{"meta": {...}, array: [row, ...]}``.

        Raises:
            KnowledgeError: no such table, or one of its files is malformed.

        """
        if name not in self._tables:
            content = cast("Table", msgspec.msgpack.decode(self._raw(name)))
            for path in self._above.get(name, ()):
                content = _lay_over(content, _read_overlay(path), path)
            self._tables[name] = content
        return self._tables[name]

    def rows(self, name: str, array: str, form: type[Row]) -> tuple[Row, ...]:
        """The rows of one array as typed values; empty where the table has no such array.

        Raises:
            KnowledgeError: no such table, or a row does not fit the type.

        """
        key = (name, array, form)
        if key not in self._rows:
            self._rows[key] = tuple(self._typed(name, array, form))
        return self._rows[key]

    def tags(self) -> dict[str, list[str]] | None:
        """The ids of the shipped signatures that carry each tag; None where an overlay may have others."""
        return None if any(name.startswith(_SIGNATURES) for name in self._above) else self._compiled.tags

    def wordings(self, form: type[Row], of_kernel: bool = False) -> list[Row] | None:
        """All signatures as `compile.wordings` tells of them, or those that stand in a kernel's log; None where a table of somebody's own is laid over one."""
        packed = self._compiled.wordings_of_kernel if of_kernel else self._compiled.wordings
        if self._broken or any(name.startswith(_SIGNATURES) for name in self._above):
            return None
        return msgspec.msgpack.decode(packed, type=list[form] | None)  # type: ignore[valid-type]

    def names_of_pci(self) -> list[str] | None:
        """The comparable forms of all names in the lists of PCI ids; None where an overlay may have others."""
        from rigup.knowledge.pci_names import PCI_LISTS

        if self._broken or any(name in self._above for name in PCI_LISTS):
            return None
        return msgspec.msgpack.decode(self._compiled.names_of_pci, type=list[str] | None)

    def packed_row(self, number: int, start: int, end: int, form: type[Row]) -> tuple[str, Row]:
        """The table's name and the row that a wording tells the place of.

        Raises:
            KnowledgeError: the row does not fit the type.

        """
        name = self._signatures[number]
        try:
            return name, msgspec.msgpack.decode(self._compiled.tables[name][start:end], type=form)
        except msgspec.ValidationError as error:
            raise self._misfit(name, "signature", form, error) from error

    @cached_property
    def _signatures(self) -> list[str]:
        return sorted(name for name in self._compiled.tables if name.startswith(_SIGNATURES))

    def names(self, prefix: str = "") -> list[str]:
        """All table names that start with the prefix, sorted."""
        known = {*self._compiled.tables, *self._broken, *self._above}
        return sorted(name for name in known if name.startswith(prefix))

    def table_date(self, name: str) -> str:
        """The day up to which a table is known to be right (``2026-11-20``), or ``""``.

        Raises:
            KnowledgeError: no such table, or one of its files is malformed.

        """
        return str(self.table(name)["meta"].get("as_of", ""))

    def problems(self) -> list[KnowledgeError]:
        """What is wrong with any table or overlay; reads them all."""
        errors = []
        for name in self.names():
            try:
                self.table(name)
            except KnowledgeError as error:
                errors.append(error)
        return errors

    def _typed(self, name: str, array: str, form: type[Row]) -> list[Row]:
        try:
            if name in self._above:
                return msgspec.convert(self.table(name).get(array, []), list[form])  # type: ignore[valid-type]
            raw = self._arrays_of(name).get(array)
            return [] if raw is None else msgspec.msgpack.decode(raw, type=list[form])  # type: ignore[valid-type]
        except msgspec.ValidationError as error:
            raise self._misfit(name, array, form, error) from error

    def _misfit(self, name: str, array: str, form: type[Row], error: msgspec.ValidationError) -> KnowledgeError:
        """Name the file that the misfitting row came from."""
        for row in self.table(name).get(array, ()):
            try:
                msgspec.convert(row, form)
            except msgspec.ValidationError as cause:
                path = row.get(OVERLAY) if isinstance(row, dict) else None
                return KnowledgeError(path or self._source(name), f"[[{array}]]: {cause}")
        return KnowledgeError(self._source(name), f"[[{array}]]: {error}")

    def _arrays_of(self, name: str) -> dict[str, msgspec.Raw]:
        if name not in self._arrays:
            raw = self._raw(name)
            self._arrays[name] = msgspec.msgpack.decode(raw, type=dict[str, msgspec.Raw])
        return self._arrays[name]

    def _raw(self, name: str) -> bytes | memoryview:
        content = self._compiled.tables.get(name)
        if content is not None:
            return content
        if name in self._broken:
            raise self._broken[name].with_traceback(None)  # it is raised again and again, and would grow
        if name in self._above:
            return msgspec.msgpack.encode({"meta": {}})
        raise KnowledgeError(self._source(name), "there is no such table")

    def _source(self, name: str) -> Path:
        return self._data / f"{name}.toml"

    @cached_property
    def _above(self) -> dict[str, tuple[Path, ...]]:
        """The overlay files of each table, the strongest last."""
        overlays: dict[str, tuple[Path, ...]] = {}
        for folder in self._overlays:
            if os.path.isdir(folder):
                for name, path in compiling.sources(folder).items():
                    overlays[name] = (*overlays.get(name, ()), path)
        return overlays

    @cached_property
    def _compiled(self) -> _Compiled:
        compiled = self._load()
        if compiled is not None and self._fresh(compiled):
            if compiled.wordings:
                return compiled
            content = compiling.indexed(msgspec.structs.asdict(compiled))  # as it came in a wheel
        else:
            content, self._broken = compiling.build(self._data)
        if not self._broken:
            # An installation that only root may write works as well, only slower.
            with contextlib.suppress(OSError):
                compiling.write(content, self._file)
        return msgspec.msgpack.decode(content, type=_Compiled)

    def _load(self) -> _Compiled | None:
        try:
            compiled = msgspec.msgpack.decode(_content(self._file), type=_Compiled)
        except (OSError, ValueError, msgspec.MsgspecError):
            return None
        return compiled if compiled.format == compiling.FORMAT else None

    def _fresh(self, compiled: _Compiled) -> bool:
        """Whether the compiled file still says what its sources say."""
        entries = compiling.entries(self._data)
        if not entries:
            return True  # Installed without the sources.
        if compiled.shipped or entries.keys() != compiled.stamps.keys():
            return False
        compiled_at = self._file.stat().st_mtime_ns
        return all(_is_unchanged(entry, compiled.stamps[name], compiled_at) for name, entry in entries.items())


def _content(file: Path) -> "Buffer":
    """A file's bytes; of a mapped one only what is decoded is read. Windows replaces no file that is mapped.

    Raises:
        OSError: it cannot be read.
        ValueError: it is empty.

    """
    if os.name != "posix":
        return file.read_bytes()
    with file.open("rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)


def _is_unchanged(entry: "os.DirEntry[str]", stamp: compiling.Stamp, compiled_at: int) -> bool:
    try:
        status = entry.stat()
        if status.st_size != stamp[0]:
            return False
        # Installers write files in any order: a newer time alone does not mean other content.
        return status.st_mtime_ns <= compiled_at or compiling.stamp(Path(entry.path).read_bytes()) == stamp
    except OSError:
        return False


def _read_overlay(path: Path) -> Table:
    content = compiling.parse(path, compiling.read_bytes(path))
    for rows in content.values():
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                row[OVERLAY] = str(path)
                _check_pattern(path, row.get("regex"))
    return content


def _check_pattern(path: Path, value: object) -> None:
    """Report a malformed pattern with its file, and not where it is first tried."""
    import re

    if not isinstance(value, str):
        return
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError) as error:
        raise KnowledgeError(path, f"{value[:100]!r} is no pattern: {error}") from error


def _lay_over(below: Table, above: Table, path: Path) -> Table:
    """Join an overlay to what it lies on: rows by key, everything else by name."""
    meta = {**below["meta"], **above["meta"]}
    keys = {**_keys(below), **_keys(above)}
    joined = {**below, **above, "meta": {**meta, "keys": keys}}
    for array, rows in above.items():
        if isinstance(below.get(array), list):
            if not isinstance(rows, list):
                raise KnowledgeError(path, f"{array} must be rows: [[{array}]]")
            joined[array] = _join(below[array], rows, _fields(keys.get(array)))
    return joined


def _join(below: list[Any], above: list[Any], fields: list[str]) -> list[Any]:
    replaced = {_key(row, fields): row for row in above} if fields else {}
    kept = [replaced.pop(_key(row, fields), row) for row in below]
    appended = list(replaced.values()) if fields else above
    return kept + appended


def _keys(content: Table) -> dict[str, Any]:
    keys = content["meta"].get("keys")
    return keys if isinstance(keys, dict) else {}


def _fields(value: object) -> list[str]:
    return [str(field) for field in value] if isinstance(value, list) else []


def _key(row: object, fields: list[str]) -> str:
    # repr, because a key field may hold a list.
    return repr([row.get(field) for field in fields] if isinstance(row, dict) else row)


def overlay_folders() -> tuple[Path, ...]:
    """Where an administrator's and a person's own tables lie, the stronger last."""
    if sys.platform in ("win32", "darwin"):
        import platformdirs

        site, user = platformdirs.site_config_path("rigup"), platformdirs.user_config_path("rigup")
        return site / "knowledge", user / "knowledge"
    # The same folders that platformdirs names, without its import.
    site_dirs = os.getenv("XDG_CONFIG_DIRS", "").strip() or "/etc/xdg"
    user_dir = os.getenv("XDG_CONFIG_HOME", "").strip() or os.path.expanduser("~/.config")
    folders = (site_dirs.split(os.pathsep)[0], user_dir)
    return tuple(Path(folder, "rigup", "knowledge") for folder in folders)


def remembered(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Like `functools.cache`, for what is worked out from tables: `forget` empties it."""
    kept = cache(function)
    _forgets.append(kept.cache_clear)
    return cast("Callable[Given, Found]", kept)


@remembered
def default_store() -> Store:
    """The shipped tables with what packages bring, and with this machine's overlays above it."""
    try:
        compiled = shipped.path("knowledge/compiled.msgpack")
    except OSError as error:
        raise KnowledgeError(shipped.ARCHIVE, f"it can be unpacked nowhere: {error}") from error
    return Store(compiling.DATA, compiled, (*plugins.table_folders(), *overlay_folders()))


def forget() -> None:
    """Drop all that was read (the overlays or the environment have changed)."""
    for clear in _forgets:
        clear()


def table(name: str) -> Table:
    """One table as plain values; see :meth:`Store.table`."""
    return default_store().table(name)


def rows(name: str, array: str, form: type[Row]) -> tuple[Row, ...]:
    """The typed rows of one array; see :meth:`Store.rows`."""
    return default_store().rows(name, array, form)


def names(prefix: str = "") -> list[str]:
    """All table names that start with the prefix, sorted."""
    return default_store().names(prefix)


def table_date(name: str) -> str:
    """The day up to which a table is known to be right; see :meth:`Store.table_date`."""
    return default_store().table_date(name)


def problems() -> list[KnowledgeError]:
    """What is wrong with any table or overlay; reads them all."""
    return default_store().problems()


def explain(error: KnowledgeError) -> str:
    """What a person should read about a table that cannot be used, and what to do."""
    from rigup.language import _

    return _(
        "The knowledge table {where} cannot be used: {problem}. Correct that file or move it away; all other tables still work."
    ).format(where=error.where, problem=error.problem)
