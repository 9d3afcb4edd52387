"""An environment at another path: every file that names its old one is written anew.

Programs begin with the path of their interpreter, activation scripts set it, pyvenv.cfg and kernels name it, conda
writes it into texts and libraries. A file is written beside and renamed into place, so a hard link of another
environment keeps its own. Hashes of the written scripts are put right in the RECORD of their package.
"""

import base64
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rigup.plan.environments.conda_prefix import in_library, listed
from rigup.plan.environments.shebang import scripted

_MOST = 1_000_000  # bytes of a text in which the path may stand
_WORD = rb"A-Za-z0-9_\-.+~\x80-\xff"
_STAGED = re.compile(r"\.(?P<name>.{1,240})\.rigup-new", re.DOTALL)
_ELF = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_TEMPORARY = ".rigup-moved"


class Move(NamedTuple):
    """From where to where, as bytes of paths; `name` is what the prompt shows, where that changes too."""

    old: bytes
    new: bytes
    name: tuple[bytes, bytes] | None = None


def relocate(folder: Path, old: Path, new: Path) -> list[Path]:
    """Make the environment that lies at `folder` name itself `new` wherever it named itself `old`.

    Args:
        folder: where it lies now; as a rule one of the two.
        old: the path for which it was made.
        new: the path at which it is to work. Where `old` is a staging name, the name in the prompt changes too.

    Returns:
        The files and links that were changed, sorted; none if it is done already.

    Raises:
        OSError: one cannot be read or written. To be called again is enough: what is done stays done.
        ValueError: a conda library has no room for the longer path.

    """
    move = _move(old, new)
    changed = [path for path in _links(folder) if _led_anew(path, move)]
    sizes = listed(folder)
    written = [path for path in _candidates(folder, sizes) if _written(path, move, sizes.get(path))]
    _tell_records(folder, written)
    return sorted((*changed, *written))


def _move(old: Path, new: Path) -> Move:
    match = _STAGED.fullmatch(old.name)
    name = (os.fsencode(old.name), os.fsencode(new.name)) if match else None
    return Move(os.fsencode(os.path.abspath(old)), os.fsencode(os.path.abspath(new)), name)


# -- which files -------------------------------------------------------------------------------------


def _links(folder: Path) -> Iterator[Path]:
    for above, names, files in os.walk(folder):
        for name in (*names, *files):
            path = Path(above, name)
            if path.is_symlink():
                yield path


def _candidates(folder: Path, listed_there: Iterable[Path]) -> Iterator[Path]:
    """Files in which programs write the path: scripts, settings, kernels, path files; what conda lists.

    Nothing outside the folder, wherever a link in it leads.
    """
    seen, real = set(), os.path.realpath(folder)
    for path in (*(path for pattern in _PLACES for path in folder.glob(pattern)), *listed_there):
        if path not in seen and path.is_file() and not path.is_symlink():
            seen.add(path)
            if Path(os.path.realpath(path.parent)).is_relative_to(real):
                yield path


_SITE = ("lib/python*/site-packages/", "Lib/site-packages/")
_PLACES = (
    "*",
    "bin/*",
    "Scripts/*",
    "etc/**/*",
    "conda-meta/*",
    "lib/pkgconfig/*.pc",
    "share/jupyter/kernels/*/kernel.json",
    "share/pkgconfig/*.pc",
    *(site + name for site in _SITE for name in ("*.pth", "*.egg-link", "__editable__*")),
)


# -- one file ----------------------------------------------------------------------------------------


def _led_anew(path: Path, move: Move) -> bool:
    target = os.fsencode(os.readlink(path))
    if target != move.old and not target.startswith(move.old + b"/"):
        return False
    temporary = path.with_name(path.name + _TEMPORARY)
    temporary.unlink(missing_ok=True)
    os.symlink(move.new + target[len(move.old) :], os.fsencode(temporary))
    os.replace(temporary, path)
    return True


def _written(path: Path, move: Move, room: int | None) -> bool:
    """Whether the file named the old path; then it names the new one."""
    with open(path, "rb") as file:
        data = file.read(_MOST + 1 if room is None else -1)
    if not data or (room is None and len(data) > _MOST):
        return False
    renamed = _renamed(path, data, move, room)
    if renamed == data:
        return False
    _replace(path, renamed)
    return True


def _renamed(path: Path, data: bytes, move: Move, room: int | None) -> bytes:
    if room:
        return in_library(data, move.old, move.new, room)
    if data.startswith(_ELF):
        return data
    if path.suffix == ".exe" and data.startswith(b"MZ"):
        return _launcher(data, move)
    data = scripted(data, move.old, move.new)
    data = _activated(path.name, data, move) if path.name.lower().startswith("activate") else data
    return _in_text(path, data, move)


def _in_text(path: Path, data: bytes, move: Move) -> bytes:
    for old, new in {(move.old, move.new), (_json(move.old), _json(move.new))}:
        data = re.sub(rb"(?<![" + _WORD + rb"])" + re.escape(old) + rb"(?![" + _WORD + rb"])", lambda _hit: new, data)  # noqa: B023
    named = path.name == "pyvenv.cfg" or path.name.lower().startswith("activate")
    return data.replace(*move.name) if move.name and named else data


def _json(path: bytes) -> bytes:
    """As JSON writes it: kernels' files escape all that is not ASCII."""
    return json.dumps(os.fsdecode(path))[1:-1].encode("ascii", "replace")


def _launcher(data: bytes, move: Move) -> bytes:
    """A Windows program of a package: its interpreter stands between the program and the archive behind it."""
    start = data.rfind(b"#!")
    end = data.find(b"\n", start)
    if start < 0 or end < 0:
        return data
    return data[:start] + data[start:end].replace(move.old, move.new) + data[end:]


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(path.name + _TEMPORARY)
    temporary.unlink(missing_ok=True)
    temporary.write_bytes(data)
    shutil.copymode(path, temporary)
    os.replace(temporary, path)


# -- activation --------------------------------------------------------------------------------------


def _activated(name: str, data: bytes, move: Move) -> bytes:
    """Where the path stands alone, in whatever quotes, it is quoted as the shell of the script needs it."""
    quote = _QUOTES.get(os.path.splitext(name)[1].lower())
    if quote is None:
        return data
    old = re.escape(move.old)
    quoted = b"|".join(re.escape(write(move.old)) for write in (quote, _for_sh))  # uv writes all as for a POSIX shell
    forms = b"|".join((quoted, b'"' + old + b'"', b"'" + old + b"'", old + rb"(?=[\s)]|\Z)"))
    return re.sub(rb"(?<=[=\s(])(?:" + forms + rb")(?=[\s);]|\Z)", lambda _hit: quote(move.new), data)


def _for_sh(path: bytes) -> bytes:
    return b"'" + path.replace(b"'", b"'\"'\"'") + b"'"


def _for_fish(path: bytes) -> bytes:
    return b"'" + path.replace(b"\\", b"\\\\").replace(b"'", b"\\'") + b"'"


def _for_csh(path: bytes) -> bytes:
    return b"'" + path.replace(b"'", b"'\\''").replace(b"!", b"\\!") + b"'"


def _for_nu(path: bytes) -> bytes:
    return b"r#'" + path + b"'#" if b"'" in path else b"'" + path + b"'"


_QUOTES = {"": _for_sh, ".sh": _for_sh, ".fish": _for_fish, ".csh": _for_csh, ".nu": _for_nu}


# -- records of packages -----------------------------------------------------------------------------


def _tell_records(folder: Path, written: list[Path]) -> None:
    """Put hash and size of the written files right in the RECORD of their package."""
    for record in (path for site in _SITE for path in folder.glob(site + "*.dist-info/RECORD")):
        above = record.parent.parent
        names = {os.path.relpath(path, above).replace(os.sep, "/").encode(): path for path in written}
        data = record.read_bytes()
        rewritten = b"".join(_row(line, names) for line in data.splitlines(keepends=True)) if _speaks_of(data, names) else data
        if rewritten != data:
            _replace(record, rewritten)


def _speaks_of(data: bytes, names: Iterable[bytes]) -> bool:
    return any(name in data for name in names)


def _row(line: bytes, names: dict[bytes, Path]) -> bytes:
    """One row of a RECORD: path, hash, size; one without a hash stays without."""
    parts = line.rstrip(b"\r\n").rsplit(b",", 2)
    path = names.get(parts[0].strip(b'"'))
    if path is None or len(parts) != 3 or not parts[1]:
        return line
    body = path.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=")
    return parts[0] + b",sha256=" + digest + b"," + str(len(body)).encode() + line[len(line.rstrip(b"\r\n")) :]
