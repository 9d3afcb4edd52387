"""What the ranks of a run recorded of their steps: how fast, limited by what, and how it scaled."""

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from rigup.machine.host import Host
from rigup.machine.training import Line, run_history
from rigup.schemas.launch import Progress, Scaling
from rigup.schemas.train_history import Ended, Started, Stepped
from rigup.train.launch.record import Run


class _Part(NamedTuple):
    """What one rank tells of one attempt."""

    start: Started
    steps: list[Stepped]
    end: Ended | None


def history_folders(run: Run, state: str) -> list[str]:
    """Where the histories of a run lie.

    Args:
        run: of which they are.
        state: the folder for states of rigup's.

    """
    named = run.job.program.variables.get("RIGUP_TRAIN_HISTORY", "")
    if named or run.launcher != "slurm":
        return [named or os.path.join(str(run.folder), "history")]
    return [os.path.join(state, "training", f"slurm-{job}") for job in run.jobs]


def progress(host: Host, folders: Sequence[str]) -> list[Progress]:
    """Of each attempt that recorded steps, what its ranks tell together, in order of time."""
    found: list[tuple[float, Progress]] = []
    for folder in folders:
        ranks = run_history(host, re.sub(r"([][*?])", r"[\1]", folder)).values()
        attempts: dict[tuple[str | None, int, int], list[_Part]] = {}
        for part in (part for lines in ranks for part in _parts(lines)):
            attempts.setdefault((part.start.job, part.start.attempt, part.start.world_size), []).append(part)
        found += [(min(part.start.at for part in parts), _together(parts)) for parts in attempts.values()]
    return [attempt for _at, attempt in sorted(found, key=lambda pair: pair[0]) if attempt.steps]


def _parts(lines: Sequence[Line]) -> list[_Part]:
    parts: list[_Part] = []
    for line in lines:
        if isinstance(line, Started):
            parts.append(_Part(line, [], None))
        elif parts and isinstance(line, Stepped):
            parts[-1].steps.append(line)
        elif parts and isinstance(line, Ended):
            parts[-1] = parts[-1]._replace(end=line)
    return parts


def _together(parts: list[_Part]) -> Progress:
    """One attempt: ranks wait for each other, so that the slowest one's rate is everybody's."""
    parts.sort(key=lambda part: part.start.rank)
    start, steps = parts[0].start, [step for part in parts for step in part.steps]
    seconds = sum(step.seconds for step in steps)
    rates = [_rate(part.steps, "steps") for part in parts]
    samples = [_rate(part.steps, "samples") for part in parts]
    end = next((part.end for part in parts if part.end is not None), None)
    whole = len(parts) == start.world_size and all(samples)
    return Progress(
        job=start.job,
        attempt=start.attempt + 1,
        world_size=start.world_size,
        ranks=len(parts),
        nodes=start.nodes,
        device=start.chip or start.device,
        steps=max((sum(step.steps for step in part.steps) for part in parts), default=0),
        steps_per_second=min(rates, default=0.0),
        samples_per_second=min(samples) * start.world_size if whole else None,
        wait=_share(sum(step.wait for step in steps), seconds) or 0.0,
        idle=_known([step.idle for step in steps], seconds),
        communication=_known([step.communication for step in steps], seconds),
        memory_peak=max((step.memory_peak for step in steps if step.memory_peak is not None), default=None),
        gpus_asked=max((step.gpus_asked for step in steps if step.gpus_asked is not None), default=None),
        gpus_used=max((step.gpus_used for step in steps if step.gpus_used is not None), default=None),
        bottleneck=end.bottleneck if end is not None else "unknown",
        sentence=end.sentence if end is not None else "",
        ended=end.reason if end is not None else None,
    )


def _rate(steps: list[Stepped], name: str) -> float:
    """Steps or samples of a rank in a second, without its first span, in which kernels are chosen and caches filled."""
    counted = steps[1:] or steps
    seconds = sum(step.seconds for step in counted)
    return float(sum(getattr(step, name) for step in counted)) / seconds if seconds > 0 else 0.0


def _known(values: list[float | None], seconds: float) -> float | None:
    known = [value for value in values if value is not None]
    return _share(sum(known), seconds) if known else None


def _share(part: float, seconds: float) -> float | None:
    return round(min(1.0, max(0.0, part / seconds)), 4) if seconds > 0 else None


def scaling(attempts: Sequence[Progress]) -> list[Scaling]:
    """How rates of samples grew with the number of ranks, beside the fewest; empty where all had as many, or on unlike chips."""
    rates: dict[tuple[str, int], list[float]] = {}
    for attempt in attempts:
        if attempt.samples_per_second:
            rates.setdefault((attempt.device, attempt.world_size), []).append(attempt.samples_per_second)
    found = []
    for device, count in sorted(rates):
        fewest = min(other for chip, other in rates if chip == device)
        gain = max(rates[device, count]) / max(rates[device, fewest])
        if count > fewest:
            found.append(
                Scaling(device=device, of=fewest, world_size=count, speedup=round(gain, 4), efficiency=round(gain * fewest / count, 4))
            )
    return found
