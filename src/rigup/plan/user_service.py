"""A command of rigup's as a service of the person's own systemd: where its files lie, and the steps that make and end it."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from rigup.language import _
from rigup.schemas.shared import Step
from rigup.steps import make


def _settings(environ: Mapping[str, str]) -> Path:
    folder = environ.get("XDG_CONFIG_HOME", "").strip()
    return Path(folder) if os.path.isabs(folder) else Path("~/.config").expanduser()


def key_file(environ: Mapping[str, str], command: str) -> Path:
    """Where the key of the service of a command (`serve`, `lab`) lies."""
    return _settings(environ) / "rigup" / f"{command}.key"


def unit_file(environ: Mapping[str, str], command: str) -> Path:
    """The service's unit."""
    return _settings(environ) / "systemd" / "user" / f"rigup-{command}.service"


def has_systemd(running: str = "/run/systemd/system") -> bool:
    """Whether systemd runs this machine, so that an account can have services of its own."""
    return os.path.isdir(running) and shutil.which("systemctl") is not None


def steps(environ: Mapping[str, str], command: str, text: str, key: Path | None) -> list[Step]:
    """What makes the service of a command, its key first; `text` is the unit's, "" takes the service away.

    Raises:
        StepError: a path or the text is of a form that no command is made of.

    """
    params = {"service": f"rigup-{command}", "folder": str(unit_file(environ, command).parent)}
    if not text:
        return [make("drop-user-service", params)]
    because = _("It ends with all that it started when systemd ends it, and is started again where it fails.")
    step = make("user-service", {**params, "text": text}, because=because)
    return [*([make("make-key", {"path": str(key)})] if key else []), step]
