#!/usr/bin/env python3
"""What a sample of `rigup watch` costs here, and what the same costs nvitop and gpustat where they are installed; what a scrape and a recording cost.

    benchmarks/watch.py [--samples N] [--python INTERPRETER]

Figures are of this machine's own GPUs, or of those that a library shows which stands in for NVIDIA's (LD_LIBRARY_PATH).
INTERPRETER is one that has nvitop or gpustat. Each cost is the CPU time of a process with N samples less that of one
with one, so that starting is not in it.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import UNSET, structs

from rigup.watch.exporter import Exporter
from rigup.watch.history import History
from rigup.watch.recording import Recorder
from rigup.watch.sampler import Sampler
from rigup.watch.watcher import Watcher

PROGRAMS = {
    "rigup": "from rigup.watch.watcher import Watcher\nw = Watcher()\nfor _ in range({n}): w.sample()",
    "nvitop": "from nvitop import Device, GpuProcess\nd = Device.all()\nfor _ in range({n}):\n"
    "    [x.as_snapshot() for x in d]\n"
    "    GpuProcess.take_snapshots([p for x in d for p in x.processes().values()], failsafe=True)",
    "gpustat": "import gpustat\nfor _ in range({n}): gpustat.new_query()",
}


def cpu_of(argv: list[str]) -> tuple[float, float, int]:
    """CPU seconds, wall seconds and the exit status of a process."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    status = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - began, status


def exporter() -> None:
    """CPU time of a sample with its text, and of a scrape by itself."""
    exporter = Exporter(Sampler(anonymous=True).sample, 1.0)
    exporter.take()
    begin, count = time.process_time(), 100
    for _number in range(count):
        exporter.take()
    taken = time.process_time()
    for _number in range(count):
        exporter.page()
    scraped = time.process_time()
    print(
        f"exporter: {(taken - begin) / count * 1000:.2f} ms of CPU a sample with its text, {(scraped - taken) / count * 1000:.3f} ms a scrape, {len(exporter.page()[1])} bytes"
    )


def recording() -> None:
    """An hour at one sample a second on a simulated clock: the file's size as that of a day, and how memory grows in its last 50 minutes."""

    def memory() -> int:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")

    sample, begun = Watcher().sample(), 0
    with tempfile.TemporaryDirectory() as folder:
        path, history = os.path.join(folder, "run.db"), History()
        recorder = Recorder(path)
        for second in range(3600):
            gpus = [
                structs.replace(
                    gpu,
                    utilisation=structs.replace(gpu.utilisation, gpu=random.random()),
                    power=structs.replace(gpu.power, draw=400 * random.random()),
                )
                for gpu in sample.gpus
            ]
            moved = structs.replace(sample, time=sample.time + second, interval=1.0 if second else UNSET, gpus=gpus)
            history.add(moved)
            recorder.add(moved)
            begun = memory() if second == 600 else begun
        grown = memory() - begun
        recorder.close()
        size = sum(entry.stat().st_size for entry in os.scandir(folder))
    print(
        f"recording: {size * 24 / 1e6:.1f} MB a day with {len(sample.gpus)} GPUs and {len(sample.processes)} processes; memory grows by {grown / 1e6:.1f} MB in 50 minutes"
    )


def main() -> None:
    """Print a line for each program, and one for `--once`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--python", default=sys.executable)
    asked = parser.parse_args()
    for name, program in PROGRAMS.items():
        python = sys.executable if name == "rigup" else asked.python
        costs = [cpu_of([python, "-c", program.format(n=count)]) for count in (1, asked.samples + 1)]
        if any(status for _cpu, _wall, status in costs):
            print(f"{name:8} is not there, or shows no GPU")
            continue
        print(f"{name:8} {(costs[1][0] - costs[0][0]) / asked.samples * 1000:7.2f} ms of CPU a further sample")
    runs = sorted(cpu_of([sys.executable, "-m", "rigup", "watch", "--once"])[:2] for _ in range(5))
    print(f"rigup watch --once: {runs[2][0]:.3f} s of CPU, {sorted(wall for _cpu, wall in runs)[2]:.3f} s in all (medians of 5)")
    exporter()
    recording()


if __name__ == "__main__":
    main()
