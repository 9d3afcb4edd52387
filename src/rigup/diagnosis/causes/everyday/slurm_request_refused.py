"""Slurm refuses what a job asks for: the account, the partition or the quality of service is not this account's."""

import re

from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.machine.kinds import JobRequest, Symptom

_MOST = 3  # values that a way names


def _cells(line: str, spans: list[tuple[int, int]]) -> list[str]:
    """Each word in the column that it lies in most: who copies a table shifts it by a blank here and there."""
    cells = [""] * len(spans)
    for word in re.finditer(r"\S+", line):
        shared = [min(word.end(), end) - max(word.start(), start) for start, end in spans]
        if shared and max(shared) > 0:
            cells[shared.index(max(shared))] = word[0]
    return cells


def associations(table: str) -> dict[str, list[str]]:
    """What `sacctmgr show assoc` lists, by the lower-case name of the column.

    Args:
        table: the command, the head, and the rows below it: columns that dashes measure, or parted by bars (-p, -P).

    """
    head, *rows = table.splitlines()[1:] or [""]
    if "|" in head:
        lines = [line.split("|") for line in (head, *rows)]
    else:
        spans = [match.span() for match in re.finditer("-+", rows.pop(0))] if rows and not rows[0].strip("- ") else []
        lines = [_cells(line, spans) for line in (head, *rows)]
    names, found = [name.strip().lower() for name in lines[0]], dict[str, list[str]]()
    for cells in lines[1:]:
        for name, cell in zip(names, cells, strict=False):
            found.setdefault(name, []).extend(value for value in cell.strip().split(",") if value)
    return {name: list(dict.fromkeys(values)) for name, values in found.items() if name}


def _in_place(option: str, asked: str | None, allowed: list[str]) -> Params:
    """What to say where the job names a value that is not among those allowed; several are parted by bars, to choose from."""
    if not allowed or not asked or asked in allowed:
        return {}
    return {"allowed": f"--{option}={'|'.join(allowed[:_MOST])}", "former": f"--{option}={asked}"}


@mends("slurm-request-refused")
def what_the_account_may_ask_for(
    knew: Params,
    table: Symptom | None = seen("sacctmgr-lists-associations"),
    account: Symptom | None = seen("job-names-its-account"),
    qos: Symptom | None = seen("job-names-its-qos"),
    job: JobRequest | None = one(),
    partitions: Symptom | None = seen("sinfo-lists-partitions"),
) -> Params:
    """The value that sacctmgr or sinfo lists, in place of the one that the job names."""
    listed = associations(str(table.table)) if table is not None else {}
    reason = str(knew.get("reason") or "").lower()
    asked = str(job.get("partition") or "") if job is not None else ""
    if "account" in reason:
        named = str(account.account) if account is not None else None
        return _in_place("account", named, listed.get("account", [])) or _in_place("partition", asked, listed.get("partition", []))
    if "qos" in reason:
        return _in_place("qos", str(qos.qos) if qos is not None else None, listed.get("qos", []))
    if "invalid partition" in reason and partitions is not None:
        names = [row.split()[0].rstrip("*") for row in str(partitions.rows).splitlines() if row.strip()]
        return _in_place("partition", asked, list(dict.fromkeys(names)))
    return {}
