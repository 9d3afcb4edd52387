"""What ollama's interface tells of the models that are served: `/api/tags`, `/api/ps`, `/api/show`."""

import hashlib
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from rigup.fit.errors import FitError
from rigup.fit.judge import Asked, of_file, quantisation
from rigup.llm.server.models import Served

_LATEST = ":latest"
_MOST = 64  # numbers of a list in a header that are told: tokens are none of them


def served_name(body: Mapping[str, Any], known: Mapping[str, Served], *, prefixed: bool) -> object:
    """The name under which a model is served, for one that a client of ollama's interface asks for.

    The tag that ollama adds to names without any may end it; `name` is how older clients call the field. With `prefixed` it may
    also begin with a word and a dot: Open WebUI has such prefixes for its connections, takes them off before it chats or embeds,
    and leaves them on when it asks what a model is.
    """
    name = body.get("model") or body.get("name")
    while isinstance(name, str) and name not in known:
        if name.removesuffix(_LATEST) in known:
            return name.removesuffix(_LATEST)
        _prefix, dot, rest = name.partition(".")
        if not (prefixed and dot and rest):
            return body.get("model") or body.get("name")
        name = rest
    return name


def listed(model: Served) -> dict[str, Any]:
    """A model as `/api/tags` lists it."""
    name = model.name if ":" in model.name else model.name + _LATEST
    found = _read(model)
    path = Path(model.wish.model)
    stat = path.stat() if found else None
    identity = f"{model.wish.model} {stat.st_size} {stat.st_mtime_ns}" if stat else f"{model.wish.api} {model.wish.model}"
    return {
        "name": name,
        "model": name,
        "modified_at": moment(stat.st_mtime if stat else 0.0),
        "size": stat.st_size if stat else 0,
        "digest": hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest(),
        "details": _details(found),
    }


def running(model: Served, idle: float) -> dict[str, Any]:
    """A loaded model as `/api/ps` lists it; one that is never ended by itself has no `expires_at`."""
    fields = {name: value for name, value in listed(model).items() if name != "modified_at"}
    settings = model.engine.settings if model.engine is not None else None
    if idle:
        fields["expires_at"] = moment(time.time() + max(0.0, idle - (time.monotonic() - model.last_used)))
    if settings:
        fields["context_length"] = settings.request.context // settings.request.parallel
    return {**fields, "size_vram": settings.on_devices if settings else 0}


def shown(model: Served) -> dict[str, Any]:
    """A model as `/api/show` tells it."""
    found = _read(model)
    keys = found.model.keys if found else {}
    template = keys.get("tokenizer.chat_template")
    template = template if isinstance(template, str) else ""
    abilities = {
        "completion": True,
        "tools": "tools" in template,
        "thinking": "<think>" in template or "enable_thinking" in template,
        "vision": bool(model.wish.projector),
        "embedding": model.wish.embeddings,
    }
    return {
        "modelfile": f"# served by rigup\nFROM {Path(model.wish.model).name}\n",
        "parameters": "",
        "template": template,
        "details": _details(found),
        "model_info": {name: value for name, value in keys.items() if _is_short(value) and name != "tokenizer.chat_template"},
        "capabilities": [name for name, has in abilities.items() if has],
        "modified_at": listed(model)["modified_at"],
    }


def _is_short(value: object) -> bool:
    return isinstance(value, str | int | float) or (isinstance(value, list | tuple) and len(value) <= _MOST)


def _read(model: Served) -> Asked | None:
    """The header of its file; None for what an endpoint or ollama has, a folder, or a file that is gone or broken."""
    path = Path(model.wish.model)
    try:
        return _header(path, path.stat().st_mtime_ns) if not model.wish.api and path.is_file() else None
    except (FitError, OSError):
        return None


@lru_cache(maxsize=64)
def _header(path: Path, _changed: int) -> Asked:
    return of_file(path)


def _details(found: Asked | None) -> dict[str, Any]:
    if found is None:
        return {"parent_model": "", "format": "", "family": "", "families": [], "parameter_size": "", "quantization_level": ""}
    family, count = str(found.model.keys.get("general.architecture") or ""), found.model.parameters
    size = next(f"{count / unit:.1f}{sign}" for unit, sign in ((1e9, "B"), (1e6, "M"), (1e3, "K"), (1, "")) if count >= unit or unit == 1)
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": size,
        "quantization_level": quantisation(found.model),
    }


def moment(seconds: float) -> str:
    """A time as ollama writes it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
