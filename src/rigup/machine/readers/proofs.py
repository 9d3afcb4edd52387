"""Records of `rigup verify`: what was proven to work, and under which facts."""

import json
from typing import Any

from rigup.machine.kinds import Proof
from rigup.machine.proofs import SCHEMA
from rigup.machine.reader import File, Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Text

_STATE = "{.local/state,Library/Application Support,AppData/Local/rigup}/"
_RECORDS = "rigup/proofs/*/*.json"
_MOST = 200  # devices of one record
_FIELDS = {**dict.fromkeys(("env", "framework", "build", "name", "isa", "pci_address", "uuid", "driver", "kernel",
                            "override", "recorded_at"), str), "checks": int}  # fmt: skip


@reads(
    Proof,
    inputs=[File("{HomeFolder.path}/" + _STATE + _RECORDS), File("{StateFolder.path}/" + _RECORDS)],
    marks=('"' + SCHEMA + '"',),
)
def proof(text: Text) -> Statements:
    """`{"environment": …, "devices": [{"env": …, "framework": "torch", "build": …, "isa": …}]}`."""
    for one in _devices(text.body):
        draft = Draft(text, Proof, 0)
        for name, kind in _FIELDS.items():
            value = one.get(name)
            draft.add(name, value if isinstance(value, kind) else None)
        yield from draft.facts()


def _devices(body: str) -> list[dict[str, Any]]:
    """The devices of a record; none where it is none of ours, or was cut."""
    try:
        kept = json.loads(body)
    except (ValueError, RecursionError):
        return []
    if not isinstance(kept, dict) or kept.get("schema") != SCHEMA or not isinstance(kept.get("devices"), list):
        return []
    found = [one for one in kept["devices"][:_MOST] if isinstance(one, dict) and isinstance(one.get("env"), str)]
    return [{**one, "recorded_at": kept.get("recorded_at")} for one in found]
