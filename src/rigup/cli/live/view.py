"""What the person chose, and what is shown: the two things that a picture is made of."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UNSET, Struct

from rigup.schemas.watch import Watch, WatchedProcess
from rigup.watch.history import History, key_of, mark_of, memory_of

POINTS = 400  # samples of a graph
HOST = "host"  # whose graphs are no GPU's
METRICS = ("gpu", "memory", "power", "temperature")
SORTS = ("memory", "use", "cpu", "pid", "user", "gpu", "rss", "time", "command")
OF_GPUS = ("memory", "use", "gpu")  # sorts that tell nothing apart where there is no GPU
_TEXTS = ("user", "command")


class Frame(NamedTuple):
    """A sample with the graphs to it.

    Attributes:
        sample: what is shown.
        graphs: by GPU and name of a series, the last values, the oldest first; NaN where one was not known.
        parents: the parent of each process, where a tree was asked for.
        note: what else must be said: that a recording waits, where a replay is.

    """

    sample: Watch
    graphs: dict[str, dict[str, Sequence[float]]]
    parents: dict[int, int] = {}  # noqa: RUF012  # of a tuple, and nobody writes it
    note: str = ""


class View(Struct):
    """What the person chose.

    Attributes:
        sort: by what processes stand, of SORTS.
        reverse: the other way round.
        words: processes that hold these are shown.
        others: all processes of the machine that use most of its processors are shown, not those on GPUs alone.
        tree: children stand below their parents.
        metric: what graphs show where there are several GPUs.
        graphs: whether there are graphs.
        gpu: the position of the chosen GPU.
        chosen: the chosen process, None for the first.
        first: how many rows of processes stand above the first shown.
        paused: the picture stands still.
        typing: the words are being typed.
        message: said in the last line until the next key.
        late: seconds since the last sample where it should have come, else 0.
        replay: a recording is shown.

    """

    sort: str = "memory"
    reverse: bool = False
    words: str = ""
    others: bool = False
    tree: bool = False
    metric: str = "gpu"
    graphs: bool = True
    gpu: int = 0
    chosen: tuple[int, float] | None = None
    first: int = 0
    paused: bool = False
    typing: bool = False
    message: str = ""
    late: float = 0.0
    replay: bool = False


def frame_of(sample: Watch, history: History, parents: dict[int, int] | None = None, note: str = "") -> Frame:
    """A frame of the last sample of a history."""
    graphs: dict[str, dict[str, Sequence[float]]] = {}
    for key in map(key_of, sample.gpus):
        rings = history.series.get(key, {})
        graphs[key] = {name: rings[name].tail(POINTS) for name in METRICS if name in rings}
    graphs[HOST] = {name: ring.tail(POINTS) for name, ring in history.host.items()}
    return Frame(sample, graphs, parents or {}, note)


def use_of(process: WatchedProcess) -> float | None:
    """The busiest of its GPUs, as far as it is told."""
    shares = [part.utilisation.gpu for part in process.gpus if isinstance(part.utilisation.gpu, float | int)]
    return max(shares) if shares else None


def words_of(process: WatchedProcess) -> str:
    """The words of a process, else its name, else why there are none."""
    return next((word for word in (process.command, process.name, process.because) if isinstance(word, str) and word), "")


def shown(frame: Frame, view: View) -> list[tuple[int, WatchedProcess]]:
    """The processes in the order of the view, each with its depth in the tree."""
    found = [process for process in processes_of(frame.sample, view) if _holds(process, view.words)]
    sort = sort_of(frame.sample, view)
    descending = (sort not in _TEXTS and sort not in ("pid", "gpu")) != view.reverse
    found.sort(key=lambda process: _key(process, sort, frame.sample.time), reverse=descending)
    if view.tree:
        return list(_nested(found, frame.parents))
    return [(0, process) for process in found]


def processes_of(sample: Watch, view: View) -> list[WatchedProcess]:
    """Those on GPUs; where somebody asked for all, or there is no GPU, those too that use most of the processors."""
    others = sample.host_processes if sample.host_processes is not UNSET else []
    if not (view.others or not sample.gpus):
        return list(sample.processes)
    users = {process.pid for process in sample.processes}
    return [*sample.processes, *(process for process in others if process.pid not in users)]


def sort_of(sample: Watch, view: View) -> str:
    """By what processes stand."""
    return "cpu" if not sample.gpus and view.sort in OF_GPUS else view.sort


def _holds(process: WatchedProcess, words: str) -> bool:
    if not words:
        return True
    parts = (str(process.pid), process.user, words_of(process), process.name, process.slurm_job)
    text = " ".join(part for part in parts if isinstance(part, str))
    if process.container is not UNSET:
        text += f" {process.container.engine} {process.container.id}"
    return all(word in text.lower() for word in words.lower().split())


def _key(process: WatchedProcess, sort: str, now: float) -> tuple[float | str, int]:
    values: dict[str, object] = {
        "memory": memory_of(process),
        "use": use_of(process),
        "cpu": process.cpu,
        "pid": process.pid,
        "rss": process.rss,
        "user": process.user,
        "command": words_of(process),
        "gpu": process.gpus[0].index if process.gpus else -1,
        "time": now - process.start if isinstance(process.start, float) else None,
    }
    value = values[sort]
    if sort in _TEXTS:
        return value.lower() if isinstance(value, str) else "", process.pid
    return float(value) if isinstance(value, int | float) else -1.0, process.pid


def _nested(processes: Sequence[WatchedProcess], parents: dict[int, int]) -> list[tuple[int, WatchedProcess]]:
    """Each below the nearest of its ancestors that is shown, in the order given."""
    by_pid = {process.pid: process for process in processes}
    above: dict[int, int] = {}
    for pid in by_pid:
        seen, parent = {pid}, parents.get(pid, 0)
        while parent and parent not in by_pid and parent not in seen:
            seen.add(parent)
            parent = parents.get(parent, 0)
        above[pid] = parent if parent in by_pid and parent not in seen else 0
    below: dict[int, list[WatchedProcess]] = {}
    for process in processes:
        below.setdefault(above[process.pid], []).append(process)
    answer, waiting = [], [(0, process) for process in reversed(below.get(0, []))]
    while waiting:
        depth, process = waiting.pop()
        answer.append((depth, process))
        waiting += [(depth + 1, child) for child in reversed(below.pop(process.pid, []))]
    placed = {process.pid for _depth, process in answer}
    return answer + [(0, process) for process in processes if process.pid not in placed]


def position(rows: list[tuple[int, WatchedProcess]], view: View) -> int:
    """The row of the chosen process; the first where it went."""
    return next((at for at, (_depth, process) in enumerate(rows) if mark_of(process) == view.chosen), 0)
