"""Test material kept as text: the files of many cases, or of a captured machine, in one TOML table.

`tests/cases/CAUSE.toml` holds an array of tables `[[case]]`. `id` names the case among those of its cause. Its label
says what the doctor must answer:

    expect   a cause, or "healthy"; it may lack where `silent` says all
    top3     the cause may be among the first three findings
    silent   causes that must not be named
    fix      the kinds of steps of the first fix
    place    a part of the place of the finding
    mended   the rules alone name the cause first; true: and a way to mend it can be told
    twin     another case of this cause: the same fault of the same machine, once a tree and once a pasted text
    why      for the reader

Its machine is one of three: `[case.files]`, texts as somebody pasted them; `[case.tree]`, a captured machine; or a
break: `base` names a machine of `tests/machines/NAME.toml`, from which the paths in `remove` go and over which
`[case.patch]` is laid. `commands.json`, `links.json`, `nodes.json` and `who.json` of a patch replace single rows of the
base's.

Each of these tables maps a path to what is there: a string, exact to the byte when encoded as UTF-8, or `{link = TARGET}`
for a symbolic link, or `{base64 = "..."}` for bytes that are no UTF-8. `scripts/case` writes and unpacks them.
"""

import base64
import functools
import json
import shutil
import tempfile
import tomllib
from pathlib import Path, PurePosixPath
from typing import NamedTuple

HERE = Path(__file__).parent
CASES, MACHINES = HERE / "cases", HERE / "machines"
COMPANIONS = ("commands.json", "links.json", "nodes.json", "who.json")
KINDS = ("files", "tree", "patch")

Files = dict[str, str | dict[str, str]]


class Case(NamedTuple):
    """A machine, and what the doctor must say of it."""

    name: str  # CAUSE/ID
    label: dict
    files: Files
    tree: Files
    patch: Files

    @property
    def cause(self) -> str:
        """The pack that the case stands in."""
        return self.name.partition("/")[0]

    def unpack(self, scratch: Path) -> str:
        """Write the machine into a new folder below `scratch`, without its label, and return the folder's path."""
        machine = scratch / "machine"
        if base := self.label.get("base"):
            unpack(machine_files(base), machine)
            remove(self.label.get("remove", ()), machine)
            lay_over(self.patch, machine)
        else:
            unpack(self.tree or self.files, machine)
        return str(machine)


@functools.cache
def cases() -> dict[str, Case]:
    """Every case of every pack, by name."""
    return {case.name: case for path in sorted(CASES.glob("*.toml")) for case in read_pack(path)}


def read_pack(path: Path) -> list[Case]:
    """The cases of one file."""
    return cases_of(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))


def cases_of(cause: str, pack: dict) -> list[Case]:
    """The cases of a pack that is read already."""
    return [Case(f"{cause}/{row['id']}", _label(row), *(row.get(kind, {}) for kind in KINDS)) for row in pack["case"]]


def _label(row: dict) -> dict:
    return {key: value for key, value in row.items() if key not in ("id", *KINDS)}


def machine_names() -> list[str]:
    """The healthy machines, by name."""
    return sorted(path.stem for path in MACHINES.glob("*.toml"))


@functools.cache
def machine_files(name: str) -> Files:
    """What lies on a healthy machine."""
    return tomllib.loads((MACHINES / f"{name}.toml").read_text(encoding="utf-8"))["tree"]


@functools.cache
def _unpacked() -> tempfile.TemporaryDirectory:
    """Where this process keeps machines for its tests; it goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="rigup-machines-")


@functools.cache
def machine_folder(name: str) -> Path:
    """A healthy machine as a folder that all tests of this process share: it is not to be written to."""
    folder = Path(_unpacked().name, name)
    unpack(machine_files(name), folder)
    return folder


def clean_up() -> None:
    """Take the machines' folders away: a worker of pytest-xdist ends without telling them that it does."""
    if _unpacked.cache_info().currsize:
        _unpacked().cleanup()
    for kept in (_unpacked, machine_folder):
        kept.cache_clear()


def unpack(files: Files, folder: Path) -> None:
    """Write every entry below the folder; what lies there under the same path is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, held in files.items():
        put(held, folder / path)


def put(held: str | dict[str, str], target: Path) -> None:
    """Write one entry."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    if isinstance(held, str):
        target.write_bytes(held.encode())
    elif "link" in held:
        target.symlink_to(held["link"])
    else:
        target.write_bytes(base64.b64decode(held["base64"]))


def remove(paths, folder: Path) -> None:
    """Take files and whole folders away."""
    for path in paths:
        gone = folder / path
        shutil.rmtree(gone) if gone.is_dir() and not gone.is_symlink() else gone.unlink()


def lay_over(patch: Files, folder: Path) -> None:
    """Replace and add files; of the companions, single rows."""
    for path, held in patch.items():
        target = folder / path
        if PurePosixPath(path).name in COMPANIONS and target.exists():
            put(json.dumps(merged(json.loads(target.read_text()), json.loads(held))), target)
        else:
            put(held, target)


def merged(below, above):
    """Rows of `above` replace those of one name; a row that is null takes one away. `variables` change single ones."""
    if isinstance(below, list):
        rows = {json.dumps(row["argv"]): row for row in (*below, *above)}
        return [row for row in rows.values() if row.get("stdout") is not None]
    both = {key: value for key, value in {**below, **above}.items() if value is not None}
    if changed := both.pop("variables", None):
        both["environment"] = merged(both["environment"], changed)
    return both
