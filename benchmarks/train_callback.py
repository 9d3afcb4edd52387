"""What the recording costs for a step, beside a step of 10 ms. Needs torch, and nothing else.

    python benchmarks/train_callback.py [STEPS]

Steps that do nothing are run with and without it, in turn, so that the difference is its own cost. The budget is 1 %.
"""

import statistics
import sys
import tempfile
import time

import torch

from rigup.train import Recording

STEP, BUDGET = 0.010, 0.01


def seconds(recording: Recording | None, batches: list[torch.Tensor]) -> float:
    """Of one step."""
    start = time.perf_counter()
    for _batch in recording.steps(batches) if recording else batches:
        pass
    return (time.perf_counter() - start) / len(batches)


def main() -> None:
    """Print the median cost and its share."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    batches = [torch.zeros(8, 4)] * count
    with tempfile.TemporaryDirectory() as folder:
        model = torch.nn.Linear(4, 4)
        with Recording(folder, model=model, every=0.5) as recording:
            costs = [seconds(recording, batches) - seconds(None, batches) for _turn in range(7)]
    cost = statistics.median(costs)
    print(
        f"{cost * 1e6:.1f} µs a step (from {min(costs) * 1e6:.1f} to {max(costs) * 1e6:.1f}): {cost / STEP:.3%} of 10 ms, budget {BUDGET:.0%}"
    )
    sys.exit(cost / STEP > BUDGET)


if __name__ == "__main__":
    main()
