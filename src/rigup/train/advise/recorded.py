"""Rates and memory from what training runs recorded of themselves (rigup.train.runtime.history)."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from rigup.knowledge.gpu_words import gpu_in_words
from rigup.language import _
from rigup.machine.host import Host
from rigup.machine.training import Line, run_history
from rigup.schemas.train_history import Started, Stepped
from rigup.train.advise.inputs import InputError, Rate
from rigup.train.launch.record import load, runs
from rigup.train.launch.shape import LaunchError

MOST_RUNS = 200


class Recorded(NamedTuple):
    """What a run tells: samples a second of all ranks together, and the most bytes that a GPU held."""

    chip: str
    nodes: int
    gpus: int
    samples: float
    peak: int


def recorded(host: Host, folder: str) -> Recorded:
    """Read the history of a run, of its last attempt. Raises InputError where it tells no rate."""
    ranks = [_last_attempt(lines) for lines in run_history(host, folder).values()]
    starts = [start for start, _steps in ranks if start]
    if not starts:
        raise InputError(_("{folder} has no history of a training run.").format(folder=folder[:200]))
    first = starts[0]
    rates = [_samples(steps) for _start, steps in ranks]
    if len(rates) < first.world_size or not all(rates) or first.world_size % max(1, first.nodes):
        text = _("{folder}: {count} of {ranks} ranks tell how many samples they trained on.")
        count = sum(rate > 0 for rate in rates)
        raise InputError(text.format(folder=folder[:200], count=count, ranks=first.world_size))
    peaks = [step.memory_peak or 0 for _start, steps in ranks for step in steps]
    # ranks wait for each other, so that the slowest one's rate is everybody's
    return Recorded(first.chip or "", first.nodes, first.world_size // max(1, first.nodes), min(rates) * first.world_size, max(peaks))


def _last_attempt(lines: Sequence[Line]) -> tuple[Started | None, list[Stepped]]:
    """Its start, and its steps without the first ones, in which kernels are chosen and caches filled."""
    place = max((at for at, line in enumerate(lines) if isinstance(line, Started)), default=-1)
    start = lines[place] if place >= 0 else None
    steps = [line for line in lines[place + 1 :] if isinstance(line, Stepped)]
    return (start if isinstance(start, Started) else None), (steps[1:] or steps)


def _samples(steps: Iterable[Stepped]) -> float:
    """Samples a second of one rank; 0 where it is not known."""
    seconds, samples = 0.0, 0
    for step in steps:
        seconds, samples = seconds + step.seconds, samples + step.samples
    return samples / seconds if seconds > 0 else 0.0


def runs_of(host: Host, script: Path, here: Path) -> list[Recorded]:
    """Runs of a script that were launched from a folder, by the histories in their folders or below rigup's state folder."""
    import platformdirs

    above, found = Path(platformdirs.user_state_path("rigup")) / "training", list[Recorded]()
    for folder in islice(runs(here), MOST_RUNS):
        with suppress(LaunchError):
            run = load(folder)
            if Path(run.job.program.script) == script:
                found += _first(host, [folder, *(above / f"slurm-{number}" for number in reversed(run.jobs))])
    return found


def _first(host: Host, folders: Iterable[Path]) -> list[Recorded]:
    """The first history that tells a rate."""
    for folder in folders:
        with suppress(InputError):
            return [recorded(host, str(folder))]
    return []


def as_rates(runs: Iterable[Recorded], devices: Iterable[str], samples: int) -> list[Rate]:
    """Rates of an epoch of so many samples, for types of GPU as the cluster spells them; runs on other chips are left out."""
    spelt = {same_chip(name): name for name in devices}
    rows: dict[tuple[str, int, int], list[float]] = {}
    for run in runs:
        if name := spelt.get(same_chip(run.chip)):
            rows.setdefault((name, run.nodes, run.gpus), []).append(samples / run.samples)
    return [Rate(name, nodes, gpus, tuple(seconds)) for (name, nodes, gpus), seconds in rows.items()]


def same_chip(words: str) -> str:
    """A name that is the same for a driver's words and a site's."""
    known = gpu_in_words(words)
    return known[0].name if known else words.lower()
