"""Turn the TOML tables into the one file that the program reads.

Parsing all tables takes a fifth of a second, decoding one of them from the
compiled file well under a millisecond.  This module knows nothing of overlays
and imports what a build environment has, so that the build hook can run it.

Run as ``python -m rigup.knowledge.compile`` it rewrites the compiled file.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rigup.knowledge.patterns import lazy_regex

if TYPE_CHECKING:
    import tomllib

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
COMPILED = HERE / "compiled.msgpack"

FORMAT = 14
"""Raised when the compiled form changes, so that an old file is not misread."""

MAX_BYTES, MAX_FILES, MAX_DEPTH = 4 * 1024 * 1024, 2000, 4
_DEEPEST_TABLE = 30  # tables within tables

PROVENANCE = ("source", "checked", "how")

TRIALS = ("example", "near_miss")
"""The fields of a signature that tests try it by."""

PEOPLE = ("people", "people who ask", "a person", "user")
"""Who speaks in a signature, where it is no program's message."""

IN_KERNEL_LOG = frozenset({"Linux", "NVIDIA driver", "amdgpu", "i915", "xe", "nouveau", "bbswitch", "vendor-reset", "SELinux", "systemd"})
"""Who writes into the kernel's log beside what has the kernel in its name: drivers, its audit, and who starts the system."""

KERNEL, PROGRAM = 1, 2
"""Bits of a wording: the kernel may say it in its log, a program in its own output; people may say anything."""

Table = dict[str, Any]
Wording = tuple[int, str, str, list[str], int, int, int, int]
"""Of a signature: its place among all, its id, its literal, the words of which one stands beside it, who may say it; and where
its row is packed: the number of the table among those of signatures, the first byte, the one after the last."""
Stamp = tuple[int, int]
"""Size in bytes and CRC-32 of one source file."""

_SIGNATURES = "signatures/"
_AT_LINE = lazy_regex(r"at line (\d+)")
_HOLE = lazy_regex(r"<<([a-z][a-z0-9-]*)>>")  # in a row of a table that has parts
_WITH_PARTS = ("regex", "asks", "fills", "outputs", "about", "commands", "undo")  # keys of a row whose values may name parts
_DEEPEST = 6  # parts within parts


class KnowledgeError(Exception):
    """A table that cannot be used.

    Attributes:
        path: the file at fault.
        line: its line, or None where the parser does not tell.
        problem: what is wrong, in words.

    """

    def __init__(self, path: Path | str, problem: str, line: int | None = None) -> None:
        self.path = str(path)
        self.problem = problem
        self.line = line
        super().__init__(path, problem, line)

    @property
    def where(self) -> str:
        """The path, with the line if it is known."""
        return self.path if self.line is None else f"{self.path}:{self.line}"

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


def sources(folder: Path) -> dict[str, Path]:
    """All table files below a folder, by table name (``causes/driver``).

    Bounded in number and depth: an overlay folder may be anything.
    """
    return {name: Path(entry.path) for name, entry in entries(folder).items()}


def entries(folder: Path) -> dict[str, os.DirEntry[str]]:
    """The same as they stand in their folders: a path for each would take longer than to look at it."""
    return dict(sorted(_walk(str(folder), "", MAX_DEPTH), key=lambda entry: entry[0]))


def _walk(folder: str, prefix: str, depth: int) -> Iterator[tuple[str, os.DirEntry[str]]]:
    try:
        with os.scandir(folder) as scan:
            inside = sorted(scan, key=lambda entry: entry.name)[:MAX_FILES]
    except OSError:
        return
    for entry in inside:
        name = prefix + entry.name
        if entry.name.startswith("."):
            continue
        if entry.name.endswith(".toml"):
            yield name.removesuffix(".toml"), entry
        elif depth and _is_folder(entry):
            yield from _walk(entry.path, name + "/", depth - 1)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def read_bytes(path: Path) -> bytes:
    """The content of one table file.

    Raises:
        KnowledgeError: not a plain file, too large, or not readable.

    """
    try:
        # A pipe or a device under this name would make open() wait for ever.
        if not path.is_file():
            raise KnowledgeError(path, "not a plain file")
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise KnowledgeError(path, f"cannot be read ({error.strerror})") from error
    if len(content) > MAX_BYTES:
        raise KnowledgeError(path, f"larger than {MAX_BYTES} bytes")
    return content


def parse(path: Path, content: bytes) -> Table:
    """One table as plain values; rows take over the provenance of ``[meta]``.

    Raises:
        KnowledgeError: not UTF-8, not TOML, or an array that mixes rows and values.

    """
    import tomllib  # reading compiled tables does without it

    try:
        table = tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise KnowledgeError(path, "not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise KnowledgeError(path, str(error), _line_of(error)) from error
    except RecursionError as error:
        raise KnowledgeError(path, "nested too deeply") from error
    if _too_deep(table):
        raise KnowledgeError(path, "nested too deeply")
    meta = table.setdefault("meta", {})
    if not isinstance(meta, dict):
        raise KnowledgeError(path, "meta must be a table: [meta]")
    for array, rows in table.items():
        if _holds_rows(path, array, rows):
            _inherit(meta, array, rows)
            _spell_out(path, meta, rows)
        elif isinstance(rows, dict) and rows is not meta:
            _inherit(meta, array, [rows])
    return table


def _too_deep(table: Table) -> bool:
    """Deeper than any table is; dotted keys nest without brackets."""
    level: list[Any] = [table]
    for _depth in range(_DEEPEST_TABLE):
        inner = [value.values() if isinstance(value, dict) else value for value in level]
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
        if not level:
            return False
    return True


def _line_of(error: "tomllib.TOMLDecodeError") -> int | None:
    match = _AT_LINE.search(str(error))
    return int(match[1]) if match else None


def _holds_rows(path: Path, array: str, rows: object) -> bool:
    if not isinstance(rows, list) or not rows:
        return False
    tables = sum(isinstance(row, dict) for row in rows)
    if tables not in (0, len(rows)):
        raise KnowledgeError(path, f"{array} mixes rows and plain values")
    return bool(tables)


def _spell_out(path: Path, meta: Table, rows: list[Table]) -> None:
    """Put what ``[meta.parts]`` names, and what a row itself puts, into its regular expressions and commands: ``<<name>>``."""
    parts = meta.get("parts")
    if not isinstance(parts, dict):
        return
    for row in rows:
        fill = {**parts, **row.pop("put", {})}
        for key in _WITH_PARTS:
            if key in row:
                row[key] = _spelled_out(path, row, row[key], fill)


def _spelled_out(path: Path, row: Table, value: object, fill: Table) -> object:
    if isinstance(value, list):
        return [_spelled_out(path, row, inner, fill) for inner in value]
    text = str(value)
    for _depth in range(_DEEPEST):
        holes = set(_HOLE.findall(text))
        if not holes:
            return text
        if missing := holes - set(fill):
            raise KnowledgeError(path, f"{row.get('id')} has holes that nothing fills: {', '.join(sorted(missing))}")
        text = _HOLE.sub(lambda hole: str(fill[hole[1]]), text)
    raise KnowledgeError(path, f"{row.get('id')} has parts that stand in each other")


def _inherit(meta: Table, array: str, rows: list[Table]) -> None:
    """Give rows what ``[meta]``, or ``[meta.defaults.<array>]``, says for all of them."""
    defaults = {key: meta[key] for key in PROVENANCE if key in meta}
    special = meta.get("defaults")
    if isinstance(special, dict) and isinstance(special.get(array), dict):
        defaults |= special[array]
    for row in rows:
        for key, value in defaults.items():
            row.setdefault(key, value)


def may_say(row: Table) -> int:
    """Who may say a signature's message: KERNEL, PROGRAM, both or none of them."""
    program, of_process = str(row["program"]), row.get("scope", "process") == "process"
    kernel = "kernel" in program or (not of_process and not IN_KERNEL_LOG.isdisjoint(program.split(", ")))
    return KERNEL * kernel + PROGRAM * (program not in PEOPLE)


def wordings(tables: dict[str, Table], packed: dict[str, bytes]) -> list[Wording]:
    """All signatures in the order of their files, each with the place of its packed row.

    So that of thousands of rows those are decoded whose literal stands in a text. Rows that say what another says
    are said by whom that one is.
    """
    names = sorted(name for name in tables if name.startswith(_SIGNATURES))
    rows = [(number, row) for number, name in enumerate(names) for row in tables[name].get("signature", ())]
    scopes = {row["id"]: row.get("scope", "process") for _number, row in rows}
    rows_of_wordings: list[Wording] = []
    ends = [0] * len(names)
    for number, row in rows:
        content, packed_row = packed[names[number]], msgspec.msgpack.encode(row)
        start = content.index(packed_row, ends[number])
        ends[number] = start + len(packed_row)
        scope = scopes.get(row.get("says"), row.get("scope", "process"))
        bits = may_say({**row, "scope": scope})
        here = (number, start, ends[number])
        rows_of_wordings.append((len(rows_of_wordings), row["id"], row["literal"], row.get("beside", []), bits, *here))
    return rows_of_wordings


def _add_tags(table: Table, tagged: dict[str, list[str]]) -> None:
    """Note which signatures carry which tag: rules ask for tags where nobody has decoded all signatures."""
    rows = table.get("signature")
    for row in rows if isinstance(rows, list) else ():
        for tag in row.get("tags", ()) if isinstance(row, dict) and not row.get("says") else ():
            tagged.setdefault(tag, []).append(str(row.get("id")))


def _without_trials(table: Table) -> None:
    """Take the texts by which tests try a signature out of its row, and of a translation from which English it was made."""
    rows = table.get("signature")
    for row in rows if isinstance(rows, list) else ():
        for name in TRIALS:
            row.pop(name, None)
    for row in table.values():
        if isinstance(row, dict):
            row.pop("english", None)


def stamp(content: bytes) -> Stamp:
    """What tells one content of a source file from another."""
    import zlib  # as all that only makes the compiled file

    return len(content), zlib.crc32(content)


def build(folder: Path, shipped: bool = False) -> tuple[bytes, dict[str, KnowledgeError]]:
    """Compile all tables of a folder.

    Args:
        folder: the TOML sources.
        shipped: leave out what only tests and translators read (examples and near misses of messages, digests of English texts),
            and what `indexed` adds; and keep the values of each column of a table together, which packs smaller.

    Returns:
        The compiled bytes, and the error of each table that is left out of them.

    """
    from rigup.knowledge.columns import by_columns
    from rigup.knowledge.needs import with_needs

    tables: dict[str, bytes] = {}
    parsed: dict[str, Table] = {}
    stamps: dict[str, Stamp] = {}
    errors: dict[str, KnowledgeError] = {}
    for name, path in sources(folder).items():
        try:
            content = read_bytes(path)
            parsed[name] = with_needs(parse(path, content))
            if shipped:
                _without_trials(parsed[name])
            tables[name] = msgspec.msgpack.encode(by_columns(parsed[name]) if shipped else parsed[name])
            stamps[name] = stamp(content)
        except KnowledgeError as error:
            errors[name] = error
    packed: dict[str, Any] = {"format": FORMAT, "shipped": shipped, "tables": tables}
    packed |= {} if shipped else {"stamps": stamps, **_index(parsed, tables)}
    return msgspec.msgpack.encode(packed), errors


def indexed(packed: Table) -> bytes:
    """Compiled tables as they came in a wheel, by rows and with their index, which can be told from them."""
    from rigup.knowledge.columns import by_rows

    parsed = {name: by_rows(msgspec.msgpack.decode(table)) for name, table in packed["tables"].items()}
    tables = {name: msgspec.msgpack.encode(table) for name, table in parsed.items()}
    return msgspec.msgpack.encode({**packed, "tables": tables, **_index(parsed, tables)})


def _index(parsed: dict[str, Table], packed: dict[str, bytes]) -> Table:
    """Which signatures carry which tag, all wordings, and the names of devices; None where a row is malformed: that is told where it is read."""
    from rigup.knowledge.pci_names import names_of_pci

    tagged: dict[str, list[str]] = {}
    for name in sorted(name for name in parsed if name.startswith(_SIGNATURES)):
        _add_tags(parsed[name], tagged)
    try:
        known: list[Wording] | None = wordings(parsed, packed)
    except (KeyError, TypeError, AttributeError):
        known = None
    of_kernel = known and [wording for wording in known if wording[4] & KERNEL]
    packed_index = {"wordings": known, "wordings_of_kernel": of_kernel, "names_of_pci": names_of_pci(parsed)}
    return {"tags": tagged, **{name: msgspec.msgpack.encode(content) for name, content in packed_index.items()}}


def write(content: bytes, target: Path) -> None:
    """Replace a file in one go, so that another process never reads half of it.

    Raises:
        OSError: the folder cannot be written.

    """
    import tempfile  # as above

    handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        # mkstemp makes private files; an installed table is read by everyone.
        os.chmod(name, 0o644)
        os.replace(name, target)
    except OSError:
        os.unlink(name)
        raise


def compile_tables(folder: Path = DATA, target: Path = COMPILED, shipped: bool = False) -> int:
    """Compile a folder of tables into a file; `shipped` as in `build`.

    Returns:
        The number of bytes written.

    Raises:
        KnowledgeError: the first table that cannot be read.
        OSError: the file cannot be written.

    """
    content, errors = build(folder, shipped)
    for error in errors.values():
        raise error
    write(content, target)
    return len(content)


def main() -> int:
    """Compile the shipped tables; the exit status says whether that worked."""
    try:
        size = compile_tables()
    except (KnowledgeError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{COMPILED}: {size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
