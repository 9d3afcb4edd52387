"""Any answer of Slurm, known by its text."""

from datetime import UTC, tzinfo

from rigup.machine.slurm.from_json import read_json
from rigup.machine.slurm.from_pairs import read_pairs
from rigup.machine.slurm.from_tables import read_table
from rigup.machine.slurm.values import Dump


def read_answer(body: str, dump: Dump | None = None, zone: tzinfo = UTC) -> Dump | None:
    """Reads what one command printed into the dump (or a new one). None: it is no answer of Slurm that is known.

    `zone`: time zone of the text forms, which tell none. A kind that an answer has is put in place of what the dump had of it.
    """
    dump = Dump() if dump is None else dump
    body = body.lstrip("\ufeff \t\r\n")
    if "{" in body[:4000] and '"' in body[:8000] and "=" not in body[:40] and read_json(body, dump):
        return dump
    return dump if read_pairs(body, dump, zone) or read_table(body, dump, zone) else None
