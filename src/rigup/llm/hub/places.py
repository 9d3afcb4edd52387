"""The folders in which programs keep models on this machine."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rigup.knowledge.model_stores import StoreRow, stores

FOLDER = "folder"
HUGGINGFACE, OLLAMA, JAN = "huggingface", "ollama", "jan"
_VARIABLE = re.compile(r"\$([A-Z_]{1,40})")
_SERVICE = re.compile(r"""^\s*Environment=.*?\bOLLAMA_MODELS=(?P<path>[^"'\s]+)""", re.MULTILINE)
_UNITS = ("/etc/systemd/system/ollama.service", "/etc/systemd/system/ollama.service.d/*.conf")
_MOST_SETTINGS = 1 << 20


class Place(NamedTuple):
    """A folder of a store: "huggingface", "ollama", "lmstudio", "jan", "llama.cpp", or a "folder" that was named."""

    store: str
    path: Path


def places(environ: Mapping[str, str], folders: Iterable[str] = (), root: str = "/") -> list[Place]:
    """Where models may lie, without a look at whether the folders exist; each place once.

    Args:
        environ: the variables of the account.
        folders: further ones that a person names.
        root: where units of systemd are looked for.

    Raises:
        KnowledgeError: the table of stores is malformed.

    """
    home = environ.get("HOME") or environ.get("USERPROFILE") or str(Path.home())
    found = [Place(FOLDER, Path(folder).expanduser()) for folder in folders]
    ended: set[str] = set()
    for row in stores():
        if row.store in ended or row.system not in ("", sys.platform):
            continue
        path = _of_row(row, environ, home)
        if path is not None:
            found.append(Place(row.store, path))
            ended |= {row.store} if row.exclusive else set()
    found += [Place(OLLAMA, path) for path in _of_service(root)]
    return list({_key(place.path): place for place in reversed(found)}.values())[::-1]


def _key(path: Path) -> str:
    try:
        return str(path.resolve())
    except (OSError, RuntimeError, ValueError):
        return str(path)


def _of_row(row: StoreRow, environ: Mapping[str, str], home: str) -> Path | None:
    if not row.settings:
        return _expanded(row.path, environ, home)
    file = _expanded(row.settings, environ, home)
    settings = read_json(file) if file else None
    folder = settings.get(row.key) if isinstance(settings, dict) else None
    if not isinstance(folder, str) or not folder or "\0" in folder:
        return None
    return _expanded(folder, environ, home, row.below)


def _expanded(path: str, environ: Mapping[str, str], home: str, below: str = "") -> Path | None:
    """A path with its variables; None where one is not set."""
    for name in _VARIABLE.findall(path):
        if not environ.get(name):
            return None
        path = path.replace("$" + name, environ[name])
    path = home + path[1:] if path == "~" or path.startswith("~/") else path
    found = Path(path, below) if below else Path(path)
    return found if found.is_absolute() else Path.cwd() / found


def read_json(path: Path, most: int = _MOST_SETTINGS) -> object:
    """A small file of JSON; None where it is none, too large, or no plain file."""
    try:
        if not path.is_file() or path.stat().st_size > most:
            return None
        with path.open("rb") as file:
            return json.loads(file.read(most))
    except (OSError, ValueError, RecursionError):
        return None


def _of_service(root: str) -> Iterator[Path]:
    """What ollama's own service has as its folder."""
    for pattern in _UNITS:
        for unit in sorted(Path(root).glob(pattern.lstrip("/"))):
            try:
                text = unit.read_text("utf-8", "replace")[:_MOST_SETTINGS] if unit.is_file() else ""
            except OSError:
                continue
            if match := _SERVICE.search(text):
                yield Path(match["path"])
