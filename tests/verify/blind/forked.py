"""The same answer as run.py gives, sooner: one process has imported torch, and each fault is laid in a child of it.

    PYTHONPATH=src python forked.py SET.jsonl RESULT.jsonl [--full] [--workers N]     # with the Python of a real torch, which has msgspec too

Only a failed case that names the operator counts as caught, so that no other case needs to be run: the tables are asked for
those whose names hold it, and what else is checked is asked where its names can. Each fault stands alone.
"""

import json
import os
import sys
import time
import traceback
import types
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parents[2] / "src" / "rigup" / "verify" / "probe"))
module = types.ModuleType("rigup_probe")
module.Skip = type("Skip", (Exception,), {})
sys.modules["rigup_probe"] = module

import faults
from naming import pattern

from rigup.verify import judge
from rigup.verify.observe import Record

SKIPPED = ("compile", "memory", "gradients-held", "copy-host", "training", "evidence", "compiled-kernel", "toolkit-kernel")
CPU = {"id": "cpu", "type": "cpu"}
MADE_OF = {}


def failing(row, full):
    """Names that fail, of those that hold the operator's name."""
    faults.lay(torch, [row])
    import rigup_probe_torch as probe
    import rigup_probe_torch_measured as measured
    from rigup_probe_torch_tables import FURTHER, TABLES

    named = pattern(row)
    wanted = types.SimpleNamespace(search=lambda name: named.search(name + " " + MADE_OF.get(name, "")))
    real = {name: getattr(measured, name) for name in ("expected", "variants", "stirred", "further")}
    measured.expected = lambda case: real["expected"](case) if wanted.search(case.name) else None
    measured.variants = lambda case, *a: real["variants"](case, *a) if wanted.search(case.name) else ()
    measured.stirred = lambda report, case, *a: real["stirred"](report, case, *a) if wanted.search(case.name) else None
    measured.further = lambda report, case, *a: real["further"](report, case, *a) if wanted.search(case.name) else None
    torch.set_num_threads(1)
    found = []
    for name, check in probe.checks(CPU, full):
        if name in SKIPPED or (name != "made-with" and (name == "optimizers") != (row["owner"] == "optimizer")):
            continue
        if name not in TABLES and name not in FURTHER and name.startswith("matmul") and not wanted.search("matmul product mm"):
            continue
        try:
            measurement = check(CPU)
            judged = judge.judge(name, Record(measured=measurement))
        except module.Skip:
            continue
        except Exception as why:
            found.append(name + ": " + type(why).__name__ + ": " + traceback.format_exc()[-300:])
            continue
        if judged.passed is False:
            shown = judged.measured or {}
            found += [
                name + ": " + str(part)
                for part in [*shown.get("failed", []), *shown.get("wrong", []), shown.get("of", ""), judged.because or ""]
            ]
    return [failure for failure in found if named.search(failure.partition(": ")[2])]


def made_of():
    """Which functions of torch the calls of each case are made of: a failed case names them, and so it is run."""
    from rigup_probe_torch_cases import LAYOUTS, laid
    from rigup_probe_torch_forms import called_functions as names_of
    from rigup_probe_torch_tables import FURTHER, TABLES

    names = {}
    for table in (*TABLES.values(), *FURTHER.values()):
        for case in table():
            inputs = laid(CPU, case, "float32" if "float32" in case.dtypes else case.dtypes[0], LAYOUTS[0])
            names[case.name] = " ".join(name for call in case.calls for name in names_of(call, inputs))
    for name in [module_name for module_name in sys.modules if module_name.startswith("rigup_probe_")]:
        del sys.modules[name]  # the tables hold functions of a torch without a fault
    return names


def child(row, full, path):
    """One fault, in a process of its own."""
    begun = time.time()
    sys.stderr = open(os.devnull, "w")
    try:
        found = failing(row, full)
    except BaseException as why:
        found = ["the checks could not be made: " + type(why).__name__ + ": " + str(why)[:300]]
        found = found if pattern(row).search(found[0]) else []
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**row, "caught": bool(found), "failed": found[:4], "seconds": round(time.time() - begun, 1)}, file)
    os._exit(0)


def main(argv):
    """Fork, wait, count."""
    full = "--full" in argv
    torch.set_num_threads(1)  # threads are not there in a child
    MADE_OF.update(made_of())
    workers = int(argv[argv.index("--workers") + 1]) if "--workers" in argv else 2
    with open(argv[0], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    paths = [argv[1] + "." + str(at) for at in range(len(rows))]
    running = {}
    for at, row in enumerate(rows):
        while len(running) >= workers:
            running.pop(os.wait()[0], None)
        pid = os.fork()
        if not pid:
            child(row, full, paths[at])
        running[pid] = at
    while running:
        running.pop(os.wait()[0], None)
    outcomes = []
    for row, path in zip(rows, paths):
        try:
            with open(path, encoding="utf-8") as file:
                outcomes.append(json.load(file))
            os.remove(path)
        except (OSError, ValueError):
            outcomes.append({**row, "caught": False, "failed": ["no answer"]})
    with open(argv[1], "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in outcomes)
    missed = [row for row in outcomes if not row["caught"]]
    print(f"{len(outcomes) - len(missed)} of {len(outcomes)} caught and named ({'full' if full else 'quick'})")
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
        )


if __name__ == "__main__":
    main(sys.argv[1:])
