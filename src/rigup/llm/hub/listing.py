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
    for number, entry in enumerate(disk.entries):
        for identity in entry.identities:
            users.setdefault(identity, set()).add(number)
    rows = [(entry, judge(entry, pools)) for entry in disk.entries]
    models = [_row(entry, found, users, disk.entries) for entry, found in rows]
    stores = [Store(source=place.store, path=str(place.path), fault=None, free=_free(place.path)) for place in disk.looked]
    stores += [Store(source=place.store, path=str(place.path), fault=why, free=None) for place, why in disk.refused]
    return Models(
        models=sorted(models, key=lambda row: (-row.bytes, row.name)), bytes=total(disk.entries), stores=stores, context=USUAL_CONTEXT
    )


def _free(path: Path) -> int | None:
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return None


def _row(entry: Entry, found: Judgement | None, users: dict[tuple[int, int], set[int]], entries: Sequence[Entry]) -> OnDisk:
    shared = {identity: size for identity, size in entry.identities.items() if len(users[identity]) > 1}
    others = Counter(number for identity in shared for number in users[identity])
    used = datetime.fromtimestamp(entry.used, UTC).isoformat(timespec="seconds") if entry.used else None
    more: dict[str, Any] = {}
    if found:
        more = {name: getattr(found.model, name) for name in ("architecture", "quantisation", "parameters")} | {
            "fits": found.fits,
            "runs_on": found.where if found.fits else None,
            "gpu_layers": found.layers[0],
            "layers": found.layers[1],
            "tokens_per_second": found.speed,
        }
    return OnDisk(
        name=entry.name,
        source=entry.store,
        path=str(entry.model) if entry.model and entry.state == "whole" else None,
        files=[str(file.path) for file in entry.files],
        bytes=entry.bytes,
        shared_bytes=sum(shared.values()),
        used_with=sorted(f"{entries[other].store}:{entries[other].name}" for other in others if entries[other] is not entry),
        state=entry.state,  # type: ignore[arg-type]
        fault=entry.fault or None,
        form=entry.form,  # type: ignore[arg-type]
        last_used=used,
        **more,
    )


def removal_answer(removal: Removal, removed: bool) -> ModelRemoved:
    """What goes with a model, as an answer."""
    return ModelRemoved(
        name=removal.entry.name,
        source=removal.entry.store,
        removed=removed,
        paths=[str(path) for path in removal.paths],
        folder=str(removal.folder) if removal.folder else None,
        kept=[KeptFile(path=str(file.path), because=file.because) for file in removal.kept],
        used_by=list(removal.used_by),
        running=list(removal.running),
        frees=removal.frees,
    )


def check_answer(found: Iterable[Checked]) -> ModelsChecked:
    """What became of checksums, as an answer."""
    return ModelsChecked(
        files=[
            CheckedFile(name=file.entry.name, source=file.entry.store, path=str(file.path), verdict=file.verdict)  # type: ignore[arg-type]
            for file in found
        ]
    )
