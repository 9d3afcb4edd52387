"""The answer of `rigup models`: what lies where, how large it is, who shares it, and what of it runs here."""

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rigup.fit.pools import Pool
from rigup.llm.hub.checking import Checked
from rigup.llm.hub.entry import Entry, total
from rigup.llm.hub.judging import USUAL_CONTEXT, Judgement, judge
from rigup.llm.hub.on_disk import Disk
from rigup.llm.hub.removal import Removal
from rigup.schemas.models import CheckedFile, KeptFile, ModelRemoved, Models, ModelsChecked, OnDisk, Store


def listed(disk: Disk, pools: Sequence[Pool]) -> Models:
    """All models, the largest first, judged by the memories of a machine."""
    users: dict[tuple[int, int], set[int]] = {}
    for number, one in enumerate(disk.entries):
        for identity in one.identities:
            users.setdefault(identity, set()).add(number)
    rows = [(one, judge(one, pools)) for one in disk.entries]
    told = [_told(one, found, users, disk.entries) for one, found in rows]
    stores = [Store(source=one.store, path=str(one.path), fault=None, free=_free(one.path)) for one in disk.looked]
    stores += [Store(source=one.store, path=str(one.path), fault=why, free=None) for one, why in disk.refused]
    return Models(
        models=sorted(told, key=lambda one: (-one.bytes, one.name)), bytes=total(disk.entries), stores=stores,
        context=USUAL_CONTEXT,
    )  # fmt: skip


def _free(path: Path) -> int | None:
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return None


def _told(
    entry: Entry, found: Judgement | None, users: dict[tuple[int, int], set[int]], entries: Sequence[Entry]
) -> OnDisk:
    shared = {identity: size for identity, size in entry.identities.items() if len(users[identity]) > 1}
    others = Counter(number for identity in shared for number in users[identity])
    used = datetime.fromtimestamp(entry.used, UTC).isoformat(timespec="seconds") if entry.used else None
    more: dict[str, Any] = {}
    if found:
        more = {name: getattr(found.model, name) for name in ("architecture", "quantisation", "parameters")} | {
            "fits": found.fits, "runs_on": found.where if found.fits else None, "gpu_layers": found.layers[0],
            "layers": found.layers[1], "tokens_per_second": found.speed,
        }  # fmt: skip
    return OnDisk(
        name=entry.name, source=entry.store, path=str(entry.model) if entry.model and entry.state == "whole" else None,
        files=[str(one.path) for one in entry.files], bytes=entry.bytes, shared_bytes=sum(shared.values()),
        used_with=sorted(f"{entries[one].store}:{entries[one].name}" for one in others if entries[one] is not entry),
        state=entry.state, fault=entry.fault or None, form=entry.form, last_used=used, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def removal_told(removal: Removal, removed: bool) -> ModelRemoved:
    """What goes with a model, as an answer."""
    return ModelRemoved(
        name=removal.entry.name, source=removal.entry.store, removed=removed, paths=[str(one) for one in removal.paths],
        folder=str(removal.folder) if removal.folder else None,
        kept=[KeptFile(path=str(one.path), because=one.because) for one in removal.kept],
        used_by=list(removal.used_by), running=list(removal.running), frees=removal.frees,
    )  # fmt: skip


def checked_told(found: Iterable[Checked]) -> ModelsChecked:
    """What became of checksums, as an answer."""
    return ModelsChecked(
        files=[
            CheckedFile(name=one.entry.name, source=one.entry.store, path=str(one.path), verdict=one.verdict)  # type: ignore[arg-type]
            for one in found
        ]
    )
