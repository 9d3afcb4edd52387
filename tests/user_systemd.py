"""A real systemd of a user, in namespaces and control groups of its own, for a script that a test runs beside it.

Nothing of the machine's own is touched: /run is another one, processes outside are not seen, and all ends with the script.
"""

import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

_SYSTEMD = Path("/usr/lib/systemd/systemd")
_GROUPS = Path("/sys/fs/cgroup")
_BEGIN = """
mount -t proc proc /proc && mount -t tmpfs tmpfs /run || exit 97
mkdir -p /run/systemd/system /run/user/0 && chmod 700 /run/user/0
export XDG_RUNTIME_DIR=/run/user/0 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/0/bus
"$0" --user 2>/run/said &
for _ in $(seq 200); do systemctl --user is-system-running >/dev/null 2>&1 && break; sleep 0.1; done
systemctl --user list-units >/dev/null || { cat /run/said >&2; exit 97; }
exec "$@"
"""


def _joined(group: str) -> None:
    """A group of its own in each hierarchy, so that systemd moves nobody else's processes."""
    for folder in (_GROUPS, *_GROUPS.iterdir()):
        if (folder / "cgroup.procs").exists() and not folder.is_symlink():
            inner = folder / group
            try:
                inner.mkdir()
                (inner / "cgroup.procs").write_text("0")
            except OSError:  # one that wants processors named first
                continue


def _left(group: str) -> None:
    for folder in sorted(_GROUPS.rglob(f"*{group}*/**/"), key=lambda path: -len(path.parts)):
        if group in folder.parts and folder.is_dir():
            folder.rmdir()


def beside_systemd(words: "list[str]", environ: "dict[str, str]", seconds: float) -> "subprocess.CompletedProcess[str]":
    """What a program says that runs beside the systemd of a user; skips where none can be had."""
    if sys.platform != "linux" or os.geteuid() or not _SYSTEMD.exists() or shutil.which("unshare") is None:
        pytest.skip("a systemd of a user of its own needs root, unshare and systemd")
    group = f"rigup-test-{uuid.uuid4().hex[:12]}"
    try:
        done = subprocess.run(
            [
                "unshare",
                "--mount",
                "--pid",
                "--ipc",
                "--propagation",
                "private",
                "--fork",
                "--kill-child",
                "bash",
                "-c",
                _BEGIN,
                str(_SYSTEMD),
                *words,
            ],
            env=environ,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            preexec_fn=lambda: _joined(group),
        )
    finally:
        _left(group)
    if done.returncode == 97 or "unshare failed" in done.stderr:
        pytest.skip(f"no systemd of a user starts here: {done.stderr[-300:]}")
    return done
