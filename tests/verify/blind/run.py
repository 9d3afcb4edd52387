"""Run `verify` over a set of drawn faults, and say which were caught and named.

    python run.py SET.jsonl RESULT.jsonl [--full] [--only ROW,ROW]     # RIGUP_TORCH_PYTHON names the Python with a real torch

Several faults that do not hide each other are laid over one torch; those of what everything is built of stand alone. One
counts as caught where a failed check names its operator.
"""

import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import broken
from naming import pattern

from rigup.machine.store import Facts
from rigup.schemas.machine import Machine
from rigup.verify.answer import answer
from rigup.verify.child import Limits
from rigup.verify.observe import observe

CORE = set(
    """
    unsqueeze squeeze to reshape view expand expand_as permute transpose T t cat stack clone contiguous full_like
    ones_like zeros_like zeros ones full float double long half bfloat16 int bool matmul sum mul add sub div neg eq ne
    flatten select narrow __getitem__ fill zero_ where arange any all index_select view_as reshape_as movedim slice
    unbind copy_ exp log isfinite isnan real as_strided squeeze lt gt le ge unflatten mean
    """.split()  # noqa: SIM905
)
BATCH = 8


def batches(rows):
    """Which are laid over one torch."""
    alone = [[row] for row in rows if row["owner"] == "op" and row["name"].split(".")[-1] in CORE and not _seldom(row)]
    rest = [row for row in rows if [row] not in alone]
    rest.sort(key=lambda row: (row["owner"], row["name"]))
    count = max(1, -(-len(rest) // BATCH))
    return alone + [batch for batch in (rest[number::count] for number in range(count)) if batch]


def _seldom(row):
    """Whether it shows in few calls, so that what is built of the operator still works."""
    seldom = ("argument", "noncontiguous", "large", "inplace", "out", "nan")
    return row["kind"] in seldom or row["way"] == "twice" or row["dtype"] not in ("", "float32", "int64")


def failing(rows, full, python, folder):
    """The names that failed checks tell, under a torch with these faults."""
    body = f"import json; sys.path.insert(0, {str(HERE)!r}); import faults; faults.lay(torch, json.loads({json.dumps(rows)!r}))"
    variables = {**broken.build(Path(folder), body), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    return names(python, variables, full, "torch")


def names(python, variables, full, framework):
    """Ask an interpreter under these variables, which are this process's own from now on."""
    os.environ.update(variables)
    seen = observe(python, [], full, Limits(start=400, check=900), frameworks=(framework,))
    verified = answer(seen, Machine(displays=[], drivers=[], accelerators=[]), Facts(), full, [])
    found = []
    for device in verified.devices:
        for check in device.checks:
            if check.passed is False:
                measured = check.measured or {}
                found += [
                    check.name + ": " + str(part)
                    for part in [*measured.get("failed", []), *measured.get("wrong", []), measured.get("of", ""), check.because or ""]
                ]
    if seen.frameworks and seen.frameworks[0].deaths:
        found.append("died: " + seen.frameworks[0].said.decode("utf-8", "replace")[-3000:])
    return found


def one(task):
    """One batch, in a process of its own."""
    rows, full, python = task
    import subprocess

    code = "import sys, json; sys.path.insert(0, sys.argv[1]); import run; print('\\n' + json.dumps(run.failing(json.loads(sys.argv[2]), sys.argv[3] == '1', sys.argv[4], sys.argv[5])))"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", code, str(HERE), json.dumps(rows), "1" if full else "0", python, folder],
            capture_output=True,
            text=True,
            check=False,
        )
    try:
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        found = ["no answer: " + done.stderr[-500:]]
    return [
        {
            **row,
            "caught": any(pattern(row).search(failure) for failure in found),
            "failed": [failure for failure in found if pattern(row).search(failure)][:3],
            "others": found[:4],
        }
        for row in rows
    ]


def main(argv):
    """Run, and count."""
    full = "--full" in argv
    with open(argv[0], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    if "--only" in argv:
        wanted = {int(number) for number in argv[argv.index("--only") + 1].split(",")}
        rows = [row for at, row in enumerate(rows) if at in wanted]
    python = os.environ["RIGUP_TORCH_PYTHON"]
    with ThreadPoolExecutor(int(os.environ.get("WORKERS", "2"))) as pool:
        outcomes = [row for several in pool.map(one, [(rows, full, python) for rows in batches(rows)]) for row in several]
    with open(argv[1], "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in outcomes)
    missed = [row for row in outcomes if not row["caught"]]
    print(f"{len(outcomes) - len(missed)} of {len(outcomes)} caught and named")
    for row in missed:
        print(
            "missed:",
            row["owner"],
            row["name"],
            row["kind"],
            row["way"],
            row["dtype"],
            row["argument"],
            row["form"],
            row["over"] if row["kind"] == "large" else "",
            "|",
            row["others"][:1],
        )


if __name__ == "__main__":
    main(sys.argv[1:])
