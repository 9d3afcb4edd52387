"""What can be seen of a program while it lives: the Python in it, its variables, its processes, kills for memory."""

import contextlib
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator

_LOOKS = (0.05, 0.3, 1.0, 3.0, 10.0)  # seconds after one look at which the next is; then again and again
_MOST = 2000  # processes that are looked at
_EVENTS = (("/sys/fs/cgroup", "/memory.events", ""), ("/sys/fs/cgroup/memory", "/memory.oom_control", "memory"))


class ProcessFamily:
    """A program's Python and its environment: as far as its processes show them, else as it was to be started."""

    def __init__(self, argv: tuple[str, ...]) -> None:
        self.interpreter = named_interpreter(argv[0])
        self.variables = dict(os.environ)  # as it inherits them
        self.pids: set[int] = set()
        self._pythons: set[tuple[int, str]] = set()
        self._kills = oom_kills()
        self._next = iter(_LOOKS)
        self._at = time.monotonic() + next(self._next)

    def look(self, pid: int) -> None:
        """Look at its processes, now and then."""
        if time.monotonic() < self._at:
            return
        self._at = time.monotonic() + next(self._next, _LOOKS[-1])
        if not self._pythons:
            self.variables = _variables(pid) or self.variables
        for member in _family(pid):
            self.pids.add(member)
            python = _interpreter(member)
            if python and (member, python) not in self._pythons:  # a launcher that outlives its ranks is not news
                self.interpreter, self.variables = python, _variables(member) or self.variables
                self._pythons.add((member, python))

    def kills(self) -> int:
        """Programs that the memory limit of our control group killed since the start."""
        return max(0, oom_kills() - self._kills)


def _family(pid: int) -> Iterator[int]:
    """A process and its descendants, parents first."""
    waiting = [pid]
    for _count in range(_MOST):
        if not waiting:
            return
        member = waiting.pop(0)
        yield member
        waiting += _children(member)


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                children += [int(child) for child in file.read(100_000).split()[:_MOST]]
    return children


# -- which Python ------------------------------------------------------------------------------------


def named_interpreter(program: str) -> str:
    """The Python that a program is, or that the first line of a script names; "" for anything else."""
    path = shutil.which(program) or ""
    if is_python(os.path.basename(path)):
        return os.path.abspath(path)
    try:
        with open(path, "rb") as file:
            words = file.read(256).split(b"\n")[0].decode("utf-8", "replace").removeprefix("#!").split()
    except OSError:
        return ""
    if not words or not path:
        return ""
    interpreter = words[0] if os.path.basename(words[0]) != "env" else shutil.which(words[-1]) or ""
    return interpreter if is_python(os.path.basename(interpreter)) and os.path.isabs(interpreter) else ""


def is_python(name: str) -> bool:
    """`python`, `python3.12`, `pypy3`; not python-config."""
    return re.fullmatch(r"(?:python|pypy)w?[\d.]{0,6}t?(?:\.exe)?", name) is not None


def _interpreter(pid: int) -> str:
    """The path by which a Python was started: a link in an environment tells which one that is."""
    with contextlib.suppress(OSError, IndexError):
        real = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        if is_python(real):
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                first = file.read(4096).split(b"\0")[0].decode("utf-8", "replace")
            return _absolute(first, pid)
    return ""


def _absolute(name: str, pid: int) -> str:
    """Where a name leads from the program's own folder, or on its own path."""
    if name.startswith("/"):
        return name
    if "/" in name:
        return os.path.normpath(os.path.join(os.readlink(f"/proc/{pid}/cwd"), name))
    return shutil.which(name, path=(_variables(pid) or {}).get("PATH")) or ""


def _variables(pid: int) -> dict[str, str] | None:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = file.read(1_000_000).decode("utf-8", "replace").split("\0")
    except OSError:
        return None
    return {name: value for name, equals, value in (pair.partition("=") for pair in pairs) if equals}


# -- kills -------------------------------------------------------------------------------------------


def oom_kills(root: str = "") -> int:
    """Kills for want of memory in our own control group, of either version, as far as it may be read."""
    for path in _counters(root):
        with contextlib.suppress(OSError, ValueError, IndexError), open(path, encoding="ascii") as file:
            return sum(int(line.split()[1]) for line in file.read(10_000).splitlines() if line.startswith("oom_kill "))
    return 0


def _counters(root: str) -> Iterator[str]:
    """Files that count them: the group's own, and the one of a container that sees its group as the top."""
    if not sys.platform.startswith("linux"):
        return
    groups = {}
    with contextlib.suppress(OSError), open(root + "/proc/self/cgroup", encoding="utf-8") as file:
        lines = (line.strip().split(":", 2) for line in file.read(100_000).splitlines())
        groups = {name: parts[2] for parts in lines if len(parts) == 3 for name in parts[1].split(",")}
    for top, name, controller in _EVENTS:
        yield from (root + top + groups[controller].rstrip("/") + name for _ in (1,) if controller in groups)
        yield root + top + name
