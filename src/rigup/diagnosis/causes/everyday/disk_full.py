"""There is no room on a disk that the program writes to."""

from rigup.diagnosis.rule import Every, Params, every, mends, one, seen
from rigup.machine.kinds import DiskSpace, Platform, Symptom

_ROOM = 20 * 2**30  # bytes that a model, an image or a build of torch wants with what it unpacks


def _upper(path: str) -> str:
    """The folder below which one looks for what fills a disk: an account's home, a place of the system, the cache of a program."""
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[1:2] in (["tmp"], ["root"], ["scratch"]) else 3])


@mends("disk-full")
def disk_that_is_full(
    knew: Params,
    full: Symptom | None = seen("df-shows-a-full-disk"),
    crowded: Symptom | None = seen("df-shows-no-inode-left"),
    windows: Platform | None = one(system="windows"),
) -> Params:
    """The one that is shown full, else that of the file; and which has no inode left."""
    path = str(full.path) if full is not None else _upper(str(knew.get("path") or ""))
    return {
        "crowded": crowded.path if crowded is not None else None,
        "path": path or None,
        "temporary": knew.get("temporary") or ("TMPDIR" if path == "/tmp" else None),
        "anywhere": "disk",
        "unknown": None if path else "disk",
        "windows": "disk" if windows is not None else None,
    }


@mends("disk-full")
def disk_that_has_room(knew: Params, rooms: Every[DiskSpace] = every(DiskSpace)) -> Params:
    """The one with most of it, where that is enough for a model or a build."""
    free = max(rooms, key=lambda room: int(room.get("free") or 0), default=None)
    roomy = free is not None and int(free.get("free") or 0) > _ROOM and free.path != knew.get("path")
    return {"roomy": free.path} if roomy and free is not None else {}
