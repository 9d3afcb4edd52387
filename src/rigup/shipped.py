"""What comes packed with an installed rigup, tables and catalogues of messages, unpacked once into the account's cache folder.

Together they are packed to half of what a wheel would make of them. A checkout has them beside their sources, and packs nothing.
"""

import os
import sys
from functools import cache
from pathlib import Path

ARCHIVE = Path(__file__).with_name("shipped.tar.xz")


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
            if not folder.is_dir():
                _unpack(archive, folder)
            if _is_ours(folder):
                return folder
        except OSError as error:
            refused = error
    raise refused


def _bases() -> list[Path]:
    """Folders of this account in which it may stand, the better first."""
    import tempfile

    if sys.platform in ("win32", "darwin"):
        import platformdirs

        cache_folder = platformdirs.user_cache_path("rigup", appauthor=False)
    else:
        cache_folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "rigup")  # noqa: TID251
    account = os.getuid() if hasattr(os, "getuid") else "user"
    return [cache_folder, Path(tempfile.gettempdir(), f"rigup-{account}")]


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
        part.rename(folder)
    except OSError:
        if not folder.is_dir():  # else another process was first
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    """Whether nobody else may have put it there."""
    status = folder.stat()
    return os.name != "posix" or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)
