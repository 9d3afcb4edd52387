"""What comes packed with an installed rigup, tables, catalogues of messages and programs for other environments, unpacked once into the account's cache folder.

Together they are packed to half of what a wheel would make of them. A checkout has them beside their sources, and packs nothing.
"""

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ARCHIVE = Path(__file__).with_name("shipped.tar.xz")
CATALOGUES = "locales/catalogues"  # all of them in one file, from which each is written where they are unpacked
_ITEM, _LIST = b"\1", b"\2"  # what separates messages, and the lists of a language's messages
_MAGIC = 0x950412DE  # of gettext's compiled catalogues


def path(name: str) -> Path:
    """Where a file or folder of the package is, by its name below the package; beside the code, or unpacked.

    Raises:
        OSError: it is packed, and can be unpacked nowhere.

    """
    sibling = ARCHIVE.parent / name
    return sibling if sibling.exists() or not ARCHIVE.exists() else _unpacked(ARCHIVE) / name


@cache
def _unpacked(archive: Path) -> Path:
    """The folder with what the archive holds, made if it is not there: in the cache folder, else among temporary files."""
    status = archive.stat()
    name = f"shipped-{status.st_size:x}-{status.st_mtime_ns:x}"
    refused = OSError(f"no folder of this account holds what {archive} has packed")
    for base in _bases():
        folder = base / name
        try:
            if is_new := not folder.is_dir():
                _unpack(archive, folder)
            _held(folder)
            if _is_ours(folder):
                if is_new:
                    _remove_left(folder)
                return folder
        except OSError as error:
            refused = error
    raise refused


def _bases() -> Iterator[Path]:
    """Folders of this account in which it may stand, the better first."""
    if sys.platform in ("win32", "darwin"):
        import platformdirs

        cache_folder = platformdirs.user_cache_path("rigup", appauthor=False)
    else:
        cache_folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "rigup")  # noqa: TID251
    yield cache_folder
    import tempfile  # seldom needed

    account = os.getuid() if hasattr(os, "getuid") else "user"
    yield Path(tempfile.gettempdir(), f"rigup-{account}")


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack it whole under another name first: another process never sees half of it."""
    import shutil
    import tarfile
    import tempfile

    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".shipped-", dir=folder.parent))
    try:
        with tarfile.open(archive, "r:xz") as packed:
            packed.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.0 to 3.11.3 have none
            packed.extractall(part)  # noqa: S202  (what our own build has packed)
        if (part / CATALOGUES).exists():
            _write_catalogues((part / CATALOGUES).read_bytes(), part / CATALOGUES)
        part.rename(folder)
    except OSError:
        if not folder.is_dir():  # else another process was first
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _held(folder: Path, wanted: str = "LOCK_SH") -> bool:
    """Lock a folder for as long as this process lives; False where another process has it, or the system knows no such lock."""
    try:
        import fcntl

        fcntl.flock(os.open(folder, os.O_RDONLY), getattr(fcntl, wanted) | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_left(folder: Path) -> None:
    """Remove what earlier releases unpacked and no process uses; an installation that still needs it unpacks it anew."""
    import shutil

    for left in folder.parent.glob("shipped-*"):
        if left != folder and _is_ours(left) and _held(left, "LOCK_EX"):
            shutil.rmtree(left, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    """Whether nobody else may have put it there."""
    status = folder.stat()
    return os.name != "posix" or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def pack_catalogues(catalogues: dict[str, dict[bytes, bytes]]) -> bytes:
    """Catalogues by language, each text by its message, as one file: the messages once, and no places of theirs in it.

    Raises:
        ValueError: a message has a character that is to separate them.

    """
    messages = sorted({message for catalogue in catalogues.values() for message in catalogue})
    languages = list(catalogues)
    lists = [[language.encode() for language in languages], messages]
    lists += [[catalogues[language].get(message, b"") for message in messages] for language in languages]
    if any(sign in text for texts in lists for text in texts for sign in (_ITEM, _LIST)):
        raise ValueError("a message has a control character")
    return _LIST.join(_ITEM.join(texts) for texts in lists)


def unpack_catalogues(packed: bytes) -> dict[str, dict[bytes, bytes]]:
    """What `pack_catalogues` was given, without messages that a language lacks."""
    languages, messages, *lists = (part.split(_ITEM) for part in packed.split(_LIST))
    return {
        language.decode(): {message: text for message, text in zip(messages, texts, strict=True) if text}
        for language, texts in zip(languages, lists, strict=True)
    }


def _write_catalogues(packed: bytes, where: Path) -> None:
    for language, catalogue in unpack_catalogues(packed).items():
        folder = where.with_name(language) / "LC_MESSAGES"
        folder.mkdir(parents=True)
        (folder / "rigup.mo").write_bytes(compiled_catalogue(catalogue))
    where.unlink()


def compiled_catalogue(catalogue: dict[bytes, bytes]) -> bytes:
    """A catalogue as gettext reads it: lengths and places of messages and of texts, then these.

    Source: https://www.gnu.org/software/gettext/manual/html_node/MO-Files.html
    """
    import struct

    texts = [text for column in zip(*sorted(catalogue.items()), strict=True) for text in column]
    count, head = len(catalogue), struct.calcsize("<7I")
    places, at = [], head + 2 * 8 * count
    for text in texts:
        places += [len(text), at]
        at += len(text) + 1
    header = struct.pack("<7I", _MAGIC, 0, count, head, head + 8 * count, 0, at)
    return header + struct.pack(f"<{len(places)}I", *places) + b"".join(text + b"\0" for text in texts)
