"""How a step gets root: as it is, by sudo, by pkexec, or not at all. A person is asked once for all steps of a run."""

import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from typing import Literal

Argv = tuple[str, ...]
Way = Literal["root", "sudo", "pkexec", "none"]
_AGAIN = 60.0  # seconds after which sudo is told that its ticket is still needed
_BRIEF = 10.0  # seconds that a question without a person may take


class Elevation:
    """A way to root on this machine; use it as a context, within which the permission is kept awake."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self._done = threading.Event()

    def argv(self, argv: Argv) -> Argv:
        """The command as it is started. The permission was given before: nothing asks in the middle of a run."""
        before = {"sudo": ("sudo", "-n", "--"), "pkexec": ("pkexec", "--disable-internal-agent")}.get(self.way, ())
        return (*before, *argv)

    def granted(self, interactive: bool) -> bool:
        """Ask now, once. Without a terminal only a permission that needs no password counts."""
        if self.way in ("root", "pkexec"):
            return True
        if self.way == "none":
            return False
        if _quiet(("sudo", "-n", "-v")) or _quiet(("sudo", "-n", "true")):
            return True
        return interactive and subprocess.run(("sudo", "-v"), check=False).returncode == 0

    def __enter__(self) -> "Elevation":
        if self.way == "sudo":
            threading.Thread(target=self._keep_awake, daemon=True).start()
        return self

    def __exit__(self, *_told: object) -> None:
        self._done.set()

    def _keep_awake(self) -> None:
        while not self._done.wait(_AGAIN):
            _quiet(("sudo", "-n", "-v"))


def elevation(variables: Mapping[str, str]) -> Elevation:
    """The way to root that this machine has."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Elevation("root")
    if shutil.which("sudo"):
        return Elevation("sudo")
    if shutil.which("pkexec") and (variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY")):
        return Elevation("pkexec")
    return Elevation("none")


def _quiet(argv: Argv) -> bool:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_BRIEF, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
