"""What `rigup.torch` costs, in an interpreter that has torch: beside `import torch`, and on tensors that are in place.

    PYTHONPATH=src PYTHON_WITH_TORCH benchmarks/torch_devices.py [--runs N]

Prints the best and the median of N processes, each with its budget. It needs nothing but torch.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

MANY = 10_000
BUDGETS = {"import rigup.torch": 5.0, "to, a list": 10.0, "to, a dict": 10.0, "to, a module": 10.0, "same_device": 200.0}  # ms
ONE = f"""
import json, time, torch
timed = {{}}
def time_it(name, go):
    go() if name != "import rigup.torch" else None
    begun = time.perf_counter()
    result = go()
    timed[name] = (time.perf_counter() - begun) * 1000
    return result
def load():
    import rigup.torch
time_it("import rigup.torch", load)
from rigup.torch import same_device, to
many = [torch.empty(1) for _ in range({MANY})]
named = {{str(n): one for n, one in enumerate(many)}}
model = torch.nn.ParameterList(torch.nn.Parameter(one) for one in many)
assert time_it("to, a list", lambda: to(many, "cpu")) is many
assert time_it("to, a dict", lambda: to(named, "cpu")) is named
assert time_it("to, a module", lambda: to(model, "cpu")) is model
assert time_it("same_device", lambda: same_device(many, model)).type == "cpu"
print(json.dumps(timed))
"""


def measured() -> dict[str, float]:
    """Milliseconds of one process."""
    told = subprocess.run([sys.executable, "-W", "ignore", "-c", ONE], capture_output=True, text=True, check=True, env=os.environ)
    found: dict[str, float] = json.loads(told.stdout)
    return found


def main() -> int:
    """Print a table; 1 where a budget is not kept by the best run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    runs = [measured() for _ in range(parser.parse_args().runs)]
    for name, budget in BUDGETS.items():
        times = [one[name] for one in runs]
        print(f"{name:20} best {min(times):7.2f} ms  median {statistics.median(times):7.2f} ms  budget {budget:5.1f} ms")
    return int(any(min(one[name] for one in runs) > budget for name, budget in BUDGETS.items()))


if __name__ == "__main__":
    sys.exit(main())
