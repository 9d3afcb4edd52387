"""How fast rigup is, as whole processes, beside what people use today.

    python benchmarks/run.py [--once] [--runs N] [--json FILE] [--peers PYTHON]

Prints median and spread of each command and the budget of the design where there is one. `--peers` names
a Python with torch, env-doctor and cuda-doctor installed; those that are missing are left out.
`--once` runs everything a single time and judges nothing.
"""

import argparse
import json
import random
import statistics
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
LANGUAGES = ("en", "ru", "zh_CN", "zh_TW")
PLAIN = [sys.executable, "-c", "pass"]
RIGUP = [sys.executable, "-m", "rigup"]
MACHINES = (
    "2x RTX 3090 + GTX 1080 Ti, driver 550.163.01, ubuntu 22.04, python 3.12",
    "8x MI300X, ubuntu 22.04, python 3.10",
    "RTX 5080, driver 535.183.01, ubuntu 22.04, python 3.11, no root",
)


def seconds(argv: list[str]) -> float:
    """How long a command takes as a whole process."""
    start = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def commands(peers: str | None, scratch: Path) -> dict[str, list[str]]:
    """What is timed, by name. They are run in turn, so that a busy moment hits all alike."""
    python = peers or sys.executable
    log, below, words = scratch / "long.log", scratch / "below.log", scratch / "words.log"
    report = (HERE / "data" / "report.txt").read_text()
    log.write_text(long_log(5_000_000))
    below.write_text(report + long_log(5_000_000))
    words.write_text(report + many_words(5_000_000))
    told = {
        "python -c pass": PLAIN,
        "rigup --version": [*RIGUP, "--version"],
        "rigup --help": [*RIGUP, "--help"],
        "rigup doctor": [*RIGUP, "doctor"],
        "rigup doctor --json": [*RIGUP, "doctor", "--json"],
        "rigup doctor --from a report": [*RIGUP, "doctor", "--from", str(HERE / "data" / "report.txt")],
        "rigup plan --for a machine in words": [*RIGUP, "plan", "torch", "--no-resolve", "--for", MACHINES[0], "--json"],
        "rigup doctor --from a 5 MB log": [*RIGUP, "doctor", "--from", str(log)],
        "rigup doctor --from a 5 MB log below a report": [*RIGUP, "doctor", "--from", str(below)],
        "rigup doctor --from 5 MB of lines that all differ": [*RIGUP, "doctor", "--from", str(words)],
    }
    others = {
        "torch.utils.collect_env": ([python, "-m", "torch.utils.collect_env"], "torch"),
        "env-doctor check": ([str(Path(python).parent / "env-doctor"), "check"], "env_doctor"),
        "cuda-doctor diagnose": ([str(Path(python).parent / "cuda-doctor"), "diagnose"], "cuda_doctor"),
    }
    return told | {name: argv for name, (argv, module) in others.items() if has(python, module)}


def has(python: str, module: str) -> bool:
    """Whether that Python can import a module."""
    return (
        subprocess.run(
            [python, "-c", "import importlib.util, sys; sys.exit(not importlib.util.find_spec('" + module + "'))"], check=False
        ).returncode
        == 0
    )


def long_log(size: int) -> str:
    """A training log of that size with a few known messages in it."""
    line = "2026-11-21 10:00:{:02d} INFO step {} loss 0.{:04d} lr 1e-4 tokens/s 51234 grad_norm 0.87\n"
    lines, length = [], 0
    while length < size:
        number = len(lines)
        lines.append(line.format(number % 60, number, number % 10000))
        if number % 5000 == 4999:
            lines.append("NVRM: Xid (PCI:0000:01:00): 31, pid=4242, name=python, Ch 00000008\n")
        length += len(lines[-1])
    return "".join(lines)


def many_words(size: int) -> str:
    """Lines of that size together, none of which says what another says."""
    chance = random.Random(1)
    known = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 9))) for _ in range(5000)]
    lines, length = [], 0
    while length < size:
        lines.append(" ".join(chance.choices(known, k=12)) + "\n")
        length += len(lines[-1])
    return "".join(lines)


def matcher(scratch: Path) -> float:
    """Seconds that the matcher takes for a log of 5 MB, by itself."""
    script = (
        "import sys, time, pathlib; from rigup.machine import readers; from rigup.machine.matcher import match;"
        "from rigup.machine.texts import Text; body = pathlib.Path(sys.argv[1]).read_text(); list(match(Text('w', 'x')));"
        "t = time.perf_counter(); list(match(Text('log', body))); print(time.perf_counter() - t)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(scratch / "long.log")], capture_output=True, text=True, check=True)
    return float(done.stdout)


def judged(times: dict[str, list[float]]) -> list[tuple[str, float, float]]:
    """Name, measured and allowed seconds of each budget of the design."""
    middle = {name: statistics.median(runs) for name, runs in times.items()}
    budgets = [
        ("rigup --version over bare python", middle["rigup --version"] - middle["python -c pass"], 0.060),
        ("rigup doctor --from a report", middle["rigup doctor --from a report"], 0.300),
        ("rigup doctor --from a 5 MB log", middle["rigup doctor --from a 5 MB log"], 1.500),
        ("rigup doctor --from a 5 MB log below a report", middle["rigup doctor --from a 5 MB log below a report"], 1.500),
        ("rigup doctor --from 5 MB of lines that all differ", middle["rigup doctor --from 5 MB of lines that all differ"], 1.500),
        ("the matcher on a 5 MB log", middle["the matcher on a 5 MB log"], 0.300),
        ("a stack chosen", middle["a stack chosen"], 0.050),
        ("rigup plan --for a machine in words", middle["rigup plan --for a machine in words"], 0.500),
        ("the text of a finished diagnosis", middle["the text of a finished diagnosis"], 0.050),
    ]
    if "torch.utils.collect_env" in middle:
        budgets.append(("rigup doctor, a tenth of collect_env", middle["rigup doctor"], middle["torch.utils.collect_env"] / 10))
    return budgets


def stack() -> float:
    """Seconds that it takes to choose a stack with warm tables, the longest of several machines, by itself."""
    script = (
        "import sys, time; from rigup.stack.choose import choose; from rigup.stack.profile import read_profile;"
        "from rigup.stack.wish import Wish; sites = [read_profile(one) for one in sys.argv[1:]];"
        "[choose(Wish(), site) for site in sites]; clock = time.perf_counter;"
        "print(max((lambda start: (choose(Wish(), site), clock() - start)[1])(clock()) for site in sites))"
    )
    argv = [sys.executable, "-c", script, *MACHINES]
    return float(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)


def report() -> float:
    """Seconds from a finished diagnosis to its whole text, with the modules that write it, in the slowest language."""
    script = (
        "import sys, time; from rigup.language import choose; choose(sys.argv[2]);"
        "from rigup.diagnosis.answer import diagnose; told = diagnose(sys.argv[1]); start = time.perf_counter();"
        "from rigup.cli.report import text; text(told, 1); print(time.perf_counter() - start)"
    )
    argv = [sys.executable, "-c", script, str(HERE / "data" / "report.txt")]
    runs = (subprocess.run([*argv, code], capture_output=True, text=True, check=True) for code in LANGUAGES)
    return max(float(run.stdout) for run in runs)


def measure(runs: int, peers: str | None) -> dict[str, list[float]]:
    """Times of every command, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        timed: dict[str, Callable[[], float]] = {name: lambda argv=argv: seconds(argv) for name, argv in commands(peers, scratch).items()}
        timed["the matcher on a 5 MB log"] = lambda: matcher(scratch)
        timed["a stack chosen"] = stack
        timed["the text of a finished diagnosis"] = report
        times: dict[str, list[float]] = {name: [] for name in timed}
        for _ in range(runs):
            for name, once in timed.items():
                times[name].append(once())
    return times


def main() -> int:
    """Measure, print, judge."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--once", action="store_true", help="a single run, no judgement")
    ask.add_argument("--runs", type=int, default=7)
    ask.add_argument("--peers", help="a Python with torch, env-doctor and cuda-doctor")
    ask.add_argument("--json", type=Path)
    args = ask.parse_args()
    times = measure(1 if args.once else args.runs, args.peers)
    for name, runs in times.items():
        print(f"{name:40} {1000 * statistics.median(runs):8.0f} ms   ({1000 * min(runs):.0f} to {1000 * max(runs):.0f})")
    if args.json:
        args.json.write_text(json.dumps(times, indent=1))
    if args.once:
        return 0
    late = 0
    for name, measured, allowed in judged(times):
        late += measured > allowed
        print(f"{'ok ' if measured <= allowed else 'OVER'} {name}: {1000 * measured:.0f} ms of {1000 * allowed:.0f} ms")
    return int(late > 0)


if __name__ == "__main__":
    raise SystemExit(main())
