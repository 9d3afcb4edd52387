"""Parts of a card are not made, destroyed or switched on."""

from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.machine.kinds import Gpu, Symptom


@mends("mig-change-refused")
def what_stands_in_the_way(
    said: Symptom = seen(
        "mig-part-has-no-room",
        "mig-profile-is-not-of-the-card",
        "mig-part-is-in-use",
        "mig-mode-waits-for-clients",
        "mig-mode-is-not-on",
        "mig-is-not-for-the-card",
    ),
    gpu: Gpu | None = one(vendor="nvidia"),
    pending: Symptom | None = seen("mig-mode-waits-for-clients"),
) -> Params:
    """Slices that are taken, a profile of another card, a client, or a mode that is not on yet."""
    number = gpu.get("nvml_index") if gpu is not None else None
    index = str(said.get("index") or (pending and pending.get("address")) or (0 if number is None else number))
    node = f"/dev/nvidia{index}" if index.isdigit() else "/dev/nvidiactl"
    if pending is not None:
        off = pending.get("wish") == "disable"
        return {"in_use": index} | ({"leaving": node, "pending_off": "off"} if off else {"waiting": node, "pending": index})
    known: dict[str, Params] = {
        "mig-part-has-no-room": {"full": index, "room": "taken", "node": node, "used": index},
        "mig-profile-is-not-of-the-card": {"room": "taken"},
        "mig-part-is-in-use": {"in_use": index, "node": node, "used": index},
        "mig-mode-is-not-on": {"off": index},
        "mig-is-not-for-the-card": {"unable": "card"},
    }
    return known[said.id]
