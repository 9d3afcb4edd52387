"""What is wrong with a process on a GPU."""

from collections.abc import Iterator
from itertools import pairwise

from msgspec import UNSET

from rigup.schemas.watch import Watch, WatchedProcess
from rigup.watch.history import History, memory_of
from rigup.watch.rule import Match, rule

_LONG = 300.0  # seconds that a GPU is held and idle before it is told
_HELD = 256 * 1024**2  # bytes from which on a process holds a GPU
_GROWING = 600.0  # seconds over which memory must have grown
_CORE = 0.9
_GIB = 1024**3


def _seen(process: WatchedProcess, path: str, value: object) -> tuple[str, str, str]:
    return path, str(value), f"process {process.pid}"


def _called(process: WatchedProcess) -> str:
    return f"{process.name} ({process.pid})" if process.name is not UNSET else str(process.pid)


@rule("memory-leak")
def _leak(sample: Watch, history: History) -> Iterator[Match]:
    """Memory that never falls and grew in each third of the time: a cache that fills stops growing."""
    for process in sample.processes:
        life = history.life(process)
        if life is None or len(life.points) < 6 or life.points[-1].at - life.points[0].at < _GROWING:
            continue
        points = life.points
        if life.fell is not None and life.fell > points[0].at:
            continue
        third = len(points) // 3
        marks = [points[0].memory, points[third].memory, points[2 * third].memory, points[-1].memory]
        grown = marks[-1] - marks[0]
        if all(a < b for a, b in pairwise(marks)) and grown >= max(_HELD, marks[0] // 10):
            minutes = (points[-1].at - points[0].at) / 60
            words: dict[str, str | None] = {
                "process": _called(process),
                "grown": f"{grown / _GIB:.1f}",
                "minutes": f"{minutes:.0f}",
                "pid": str(process.pid),
            }
            yield Match("memory-leak", str(process.pid), words, [_seen(process, "memory", f"{marks[0]} … {marks[-1]}")])


@rule("gpu-asked-for-and-idle", "works-on-the-cpu")
def _held_and_idle(sample: Watch, history: History) -> Iterator[Match]:
    """It holds a GPU that does nothing; where at least a core is busy with it meanwhile, its work is on the CPU."""
    for process in sample.processes:
        life = history.life(process)
        if life is None or life.idle_since is None:
            continue
        points, idle = life.points, life.points[-1].at - life.idle_since
        if memory_of(process) < _HELD or idle < _LONG:
            continue
        cores = [point.cpu for point in points if point.at >= life.idle_since and point.cpu is not None]
        works = bool(cores) and sum(cores) / len(cores) >= _CORE
        words: dict[str, str | None] = {
            "process": _called(process),
            "minutes": f"{idle / 60:.0f}",
            "memory": f"{memory_of(process) / _GIB:.1f}",
            "gpus": ", ".join(str(part.index) for part in process.gpus),
            "pid": str(process.pid),
            "job": process.slurm_job if process.slurm_job is not UNSET else None,
        }
        evidence = [_seen(process, "utilisation.gpu", 0), _seen(process, "memory", memory_of(process))]
        yield Match("works-on-the-cpu" if works else "gpu-asked-for-and-idle", str(process.pid), words, evidence)
