"""Records of `rigup verify`: what was proven to work, and under which facts."""

import json
import re
from typing import Any

from rigup.machine.kinds import Proof, ProvenPackage
from rigup.machine.proofs import SCHEMA
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Text

_MOST = 200  # devices of one record
_FIELDS = {
    **dict.fromkeys(
        (
            "env",
            "framework",
            "build",
            "name",
            "isa",
            "pci_address",
            "uuid",
            "driver",
            "kernel",
            "override",
            "recorded_at",
            "failed",
            "prefix",
        ),
        str,
    ),
    "checks": int,
}


@reads(Proof, inputs=[File("{StateFolder.path}/rigup/proofs/*/*.json")], marks=('"' + SCHEMA + '"',))
def proof(text: Text) -> Statements:
    """`{"environment": …, "devices": [{"env": …, "framework": "torch", "build": …, "isa": …}]}`."""
    for row in _devices(text.body):
        draft = Draft(text, Proof, 0)
        for name, kind in _FIELDS.items():
            value = row.get(name)
            draft.add(name, value if isinstance(value, kind) else None)
        named = row.get("packages")
        draft.add("packages", [str(part)[:200] for part in named[:_MOST]] if isinstance(named, list) else [])
        yield from draft.facts()


def _devices(body: str) -> list[dict[str, Any]]:
    """The devices of a record; none where it is none of ours, or was cut."""
    try:
        record = json.loads(body)
    except (ValueError, RecursionError):
        return []
    if not isinstance(record, dict) or record.get("schema") != SCHEMA or not isinstance(record.get("devices"), list):
        return []
    rows = [row for row in record["devices"][:_MOST] if isinstance(row, dict) and isinstance(row.get("env"), str)]
    return [{**row, "recorded_at": record.get("recorded_at")} for row in rows]


@reads(
    ProvenPackage,
    inputs=[
        Listing("{Proof.env}/lib{,64}/python3*/{site,dist}-packages/*-*.dist-info"),
        Listing("{Proof.env}/Lib/site-packages/*-*.dist-info"),
    ],
)
def packages_of_proofs(text: Text) -> Statements:
    """`/home/ada/dl/lib/python3.12/site-packages/torch-2.9.1.dist-info`: what lies in a proven environment now."""
    form = (
        r"(?P<env>/[^\n]{1,300}?|[A-Za-z]:/[^\n]{1,300}?)/(?:lib(?:64)?/python3[\w.]{0,6}|Lib)/(?:site|dist)-packages/"
        r"(?P<name>[A-Za-z][\w.]{0,80})-(?P<version>\d[\w.+!]{0,60})\.dist-info$"
    )
    for hit in text.each(form):
        name = re.sub(r"[_.]+", "-", hit["name"]).lower()
        yield hit.states(ProvenPackage, env=hit["env"][hit["env"].find("/") :], name=name, version=hit["version"])
