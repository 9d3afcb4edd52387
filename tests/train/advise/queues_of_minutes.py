"""A queue simulated on a grid of minutes, brute force and independent of the replay: what the tests hold it against."""

from collections.abc import Iterable
from typing import NamedTuple

HORIZON = 400


class Task(NamedTuple):
    """A job: GPUs on each of its nodes, minutes asked for and really used; `start` and `on` where it runs."""

    nodes: int
    gpus: int
    limit: int
    real: int
    start: int = 0
    on: tuple[int, ...] = ()


def started(gpus: list[int], running: list[Task], waiting: list[Task], closed: dict[int, tuple[int, int]]) -> list[int]:
    """The minute at which each waiting job starts, planned anew each minute with limits. `closed`: reservations by node."""
    runs = [(task, task.start + task.limit, task.start + task.real) for task in running]
    begun: dict[int, int] = {}
    for minute in range(HORIZON):
        runs = [run for run in runs if run[2] > minute]
        free = [[count] * (2 * HORIZON) for count in gpus]
        for task, planned, _real in runs:
            _take(free, task.on, task.gpus, minute, max(planned, minute + 1))
        for number, task in enumerate(waiting):
            if number in begun:
                continue
            start, nodes = _earliest(free, task, minute, closed)
            _take(free, nodes, task.gpus, start, start + task.limit)
            if nodes and start == minute:
                begun[number] = minute
                runs.append((task._replace(on=tuple(nodes)), minute + task.limit, minute + task.real))
        if len(begun) == len(waiting):
            break
    return [begun.get(number, -1) for number in range(len(waiting))]


def _take(free: list[list[int]], nodes: Iterable[int], gpus: int, start: int, end: int) -> None:
    for node in nodes:
        for at in range(start, min(2 * HORIZON, end)):
            free[node][at] -= gpus


def _earliest(free: list[list[int]], task: Task, minute: int, closed: dict[int, tuple[int, int]]) -> tuple[int, list[int]]:
    for start in range(minute, HORIZON + minute):
        end = min(2 * HORIZON, start + task.limit)
        nodes = [
            node
            for node in range(len(free))
            if all(free[node][at] >= task.gpus for at in range(start, end)) and not _meets(closed.get(node), start, start + task.limit)
        ]
        if len(nodes) >= task.nodes:
            return start, nodes[: task.nodes]
    return -1, []


def _meets(span: tuple[int, int] | None, start: int, end: int) -> bool:
    return span is not None and start < span[1] and end > span[0]
