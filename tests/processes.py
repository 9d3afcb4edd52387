"""What became of processes and ports."""

import socket
import subprocess
import time
from pathlib import Path

_TRIES, _PAUSE = 1200, 0.05


def listens(url):
    """Whether anybody takes connections at an address."""
    host, _, port = url.split("/")[2].partition(":")
    with socket.socket() as door:
        return door.connect_ex((host, int(port))) == 0


def gone(pid):
    """Whether a process has ended, within a minute; one whose threads have not all ended still is."""
    for _ in range(_TRIES):
        try:
            if (
                Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
                and len(list(Path(f"/proc/{pid}/task").iterdir())) < 2
            ):
                return True
        except OSError:
            return True
        time.sleep(_PAUSE)
    return False


def descendants(pid):
    """All processes below one."""
    text = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    rows = [tuple(map(int, line.split())) for line in text.splitlines()]
    found = [pid]
    for one in found:
        found += [child for child, parent in rows if parent == one]
    return found[1:]
