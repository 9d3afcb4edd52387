"""There is no room on a disk that the program writes to."""

from collections.abc import Iterable

from rigup.diagnosis.rule import Every, Params, every, mends, one, seen
from rigup.machine.kinds import ContainerEngine, DiskSpace, Platform, Symptom

_SERVICE = "/usr/share/ollama/"  # home of the account that ollama's own installer makes
_OF_ALL = ("/", "/home", "/tmp", "/var", "/usr", "/boot")
_OF_A_MAC = ("/System/", "/Volumes/")  # where Docker runs in a machine of its own
_ROOM = 20 * 2**30  # bytes that a model, an image or a build of torch wants with what it unpacks


def _upper(path: str) -> str:
    """The folder below which one looks for what fills a disk: an account's home, a place of the system, the cache of a program."""
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[1:2] in (["tmp"], ["root"], ["scratch"]) else 3])


def _roomiest(rooms: Iterable[DiskSpace]) -> DiskSpace | None:
    """The one with most of it, where that is enough for a model or a build."""
    free = max(rooms, key=lambda room: int(room.get("free") or 0), default=None)
    return free if free is not None and int(free.get("free") or 0) > _ROOM else None


@mends("disk-full")
def models_of_a_service(
    knew: Params, _models: Symptom = seen("ollama-finds-no-room"), rooms: Every[DiskSpace] = every(DiskSpace)
) -> Params:
    """Its account must own the folder that it is given, and a shell's variables do not reach it."""
    path = str(knew.get("path") or "")
    free = _roomiest(rooms)
    if not path.startswith(_SERVICE) or free is None:
        return {}
    kept = path.partition("/models")[0] + "/models"
    return {"kept": kept, "given": f"{free.path.rstrip('/')}/ollama-models", "variable": None, "service": "ollama"}


@mends("disk-full")
def place_beside_a_quota(
    knew: Params, rooms: Every[DiskSpace] = every(DiskSpace), named: Symptom | None = seen("room-of-a-variable-asked")
) -> Params:
    """The home's own disk may have room for others: what a cluster gives for data besides has another quota."""
    if not knew.get("quota"):
        return {}
    free = _roomiest([room for room in rooms if room.path not in _OF_ALL and not str(knew.get("path") or "").startswith(room.path)])
    return {"roomy_by_quota": str(named.variable) if named is not None else free.path} if free is not None else {}


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
        "shown_full": full.path if full is not None else None,
        "temporary": knew.get("temporary") or ("TMPDIR" if path == "/tmp" else None),
        "anywhere": "disk",
        "unknown": None if path else "disk",
        "windows": "disk" if windows is not None else None,
    }


@mends("disk-full")
def disk_that_has_room(
    knew: Params, rooms: Every[DiskSpace] = every(DiskSpace), other: ContainerEngine | None = one(flavour=("desktop", "snap"))
) -> Params:
    """The one with most of it, where that is enough for a model or a build."""
    free = _roomiest(rooms)
    if free is None or free.path == knew.get("path"):
        return {}
    name = str(knew.get("variable") or knew.get("temporary") or "")
    folder = f"{free.path.rstrip('/')}/{name.lower()}" if name and free.path.startswith("/") else None
    hub = {"hub": name, "variable": None} if folder and name == "HF_HOME" else {}
    own = knew.get("engine") == "docker" and other is None and free.path.startswith("/") and not free.path.startswith(_OF_A_MAC)
    kept = {"roomy_for_checkpoints": free.path} if knew.get("checkpoints") else {}
    return {"roomy": free.path, **kept, "new": folder, "moved": free.path.rstrip("/") if own else None, **hub}
