"""Whether `rigup bench` finds the CPU's best matrix product: beside a loop that is tuned by hand, in turns.

    python benchmarks/products.py TORCH_PYTHON [--rounds 3]

The loop tries sizes by itself for as long as it is given, keeps its buffers, and takes the best of many. Prints both
best rates of each round and the share; 0.95 and more is what is to be reached. A busy machine spoils both.
"""

import json
import os
import subprocess
import sys

LOOP = """
import time, torch
best = 0.0
for n in (512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120, 6144):
    a, b, c = torch.randn(n, n), torch.randn(n, n), torch.empty(n, n)
    torch.mm(a, b, out=c)
    end = time.perf_counter() + 1.5
    while time.perf_counter() < end:
        began = time.perf_counter()
        torch.mm(a, b, out=c)
        best = max(best, 2.0 * n**3 / (time.perf_counter() - began))
print(best)
"""


def by_hand(python: str) -> float:
    """The best rate of the loop."""
    return float(subprocess.run([python, "-c", LOOP], capture_output=True, text=True, check=True).stdout)


def by_rigup(python: str) -> float:
    """The best rate that rigup tells."""
    words = [sys.executable, "-m", "rigup", "bench", python, "--devices", "cpu", "--only", "matmul-float32", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=dict(os.environ))
    results = json.loads(done.stdout)["devices"][0]["results"]
    return float(next(one["best"] for one in results if one["name"] == "matmul"))


def main() -> None:
    """Both in turns."""
    python = sys.argv[1]
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 3
    for number in range(rounds):
        hand, told = by_hand(python), by_rigup(python)
        print(f"round {number + 1}: by hand {hand / 1e9:.1f} GFLOP/s, rigup {told / 1e9:.1f}, share {told / hand:.3f}", flush=True)


if __name__ == "__main__":
    main()
