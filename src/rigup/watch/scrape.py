"""Exporters read again: the text that Prometheus scrapes, turned back into a sample."""

import math
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from rigup.knowledge.patterns import lazy_regex
from rigup.schemas.watch import Watch

_MOST_BYTES = 8 * 1024**2
_MOST_GPUS = 1024
_LATE = 5.0  # seconds for an answer
_LINE = lazy_regex(r"([a-zA-Z_:][\w:]{0,199})(?:\{([^\n]{0,4000})\})?[ \t]+(\S{1,40})(?:[ \t]+-?\d{1,20})?")
_LABEL = lazy_regex(r'[ ,]{0,4}([a-zA-Z_]\w{0,99})="((?:[^"\\]|\\.){0,1000})"')
_ESCAPED = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}
# Dotted path of a value, by series and the label that tells which one it is.
_PATHS = {
    "rigup_gpu_utilization_ratio": ("utilisation", "engine"),
    "rigup_gpu_memory_used_bytes": ("memory", "kind", "used"),
    "rigup_gpu_memory_size_bytes": ("memory", "kind", "total"),
    "rigup_gpu_memory_reserved_bytes": ("memory", "kind", "reserved"),
    "rigup_gpu_temperature_celsius": ("temperature", "sensor"),
    "rigup_gpu_power_watts": ("power", "", "draw"),
    "rigup_gpu_power_limit_watts": ("power", "", "limit"),
    "rigup_gpu_clock_hertz": ("clock", "clock"),
}
_KNOWN = {
    "utilisation": ("gpu", "memory", "encoder", "decoder", "media", "compute", "copy", "tensor", "sm"),
    "memory": ("vram", "gtt", "unified", "visible_vram"),
    "temperature": ("edge", "junction", "memory"),
    "clock": ("graphics", "memory", "media", "soc"),
}
# DCGM's exporter (METRICS of docs/commands/watch.md): series, path, factor to base units.
_DCGM = {
    "DCGM_FI_DEV_GPU_UTIL": (("utilisation", "gpu"), 0.01),
    "DCGM_FI_DEV_FB_USED": (("memory", "vram", "used"), 2**20),
    "DCGM_FI_DEV_FB_FREE": (("memory", "vram", "free"), 2**20),
    "DCGM_FI_DEV_GPU_TEMP": (("temperature", "edge"), 1.0),
    "DCGM_FI_DEV_MEMORY_TEMP": (("temperature", "memory"), 1.0),
    "DCGM_FI_DEV_POWER_USAGE": (("power", "draw"), 1.0),
    "DCGM_FI_DEV_SM_CLOCK": (("clock", "graphics"), 1e6),
}
_BLANK = 1e17  # DCGM writes a value that it has not as 9223372036854775794 and the like


class NoAnswer(Exception):
    """An exporter that gave no sample; the text says why."""


class Series(NamedTuple):
    """One line of an exposition."""

    name: str
    labels: dict[str, str]
    value: float


def series_of(text: str) -> Iterator[Series]:
    """The lines that are series; others are passed over."""
    for line in text.splitlines():
        hit = None if line.startswith("#") else _LINE.fullmatch(line.strip())
        if hit is None:
            continue
        try:
            value = float(hit[3])
        except ValueError:
            continue
        if math.isfinite(value):
            labels = {
                name: re.sub(r"\\.", lambda pair: _ESCAPED.get(pair[0], pair[0]), word) for name, word in _LABEL.findall(hit[2] or "")
            }
            yield Series(hit[1], labels, value)


def sample_of(text: str, now: float) -> Watch:
    """What an exporter of rigup's or DCGM's tells, as a sample. Raises NoAnswer where it tells of no GPU and of no rigup."""
    gpus: dict[str, dict[str, object]] = {}
    ours = False
    for name, labels, value in series_of(text):
        ours = ours or name.startswith("rigup_")
        if ours and name.startswith("DCGM_FI_"):
            continue  # the same once more, for dashboards that know these names
        key = labels.get("gpu", labels.get("UUID", ""))[:200]
        if not name.startswith(("rigup_gpu_", "DCGM_FI_")) or not key or (key not in gpus and len(gpus) >= _MOST_GPUS):
            continue
        _put(gpus.setdefault(key, {"state": "active", "source": {}, "not_available": []}), name, labels, value)
    if not gpus and not ours:
        raise NoAnswer("it tells of no GPU")
    rows = [_whole(key, gpu, index) for index, (key, gpu) in enumerate(sorted(gpus.items()))]
    plain = {
        "schema": "rigup.watch/1",
        "time": now,
        "took": {"wall": 0.0, "cpu": 0.0},
        "gpus": rows,
        "processes": [],
        "findings": [],
        "errors": [],
    }
    return msgspec.convert(plain, Watch)


def _put(gpu: dict[str, object], name: str, labels: dict[str, str], value: float) -> None:
    """One series into the GPU that it is of."""
    if name == "rigup_gpu_info":
        gpu |= {word: labels[word] for word in ("vendor", "name", "uuid", "isa") if labels.get(word)}
    elif name == "rigup_gpu_state" and value and labels.get("state") in ("asleep", "lost", "error"):
        gpu["state"] = labels["state"]
    elif name == "rigup_gpu_throttled":
        reasons = gpu.setdefault("throttle", [])
        if (
            value
            and isinstance(reasons, list)
            and labels.get("reason") in ("power", "temperature", "current", "hardware", "external", "reliability", "sync", "other")
        ):
            reasons.append(labels["reason"])
    elif name in _PATHS:
        group, label, *rest = _PATHS[name]
        word = labels.get(label, "") if label else ""
        if not label or word in _KNOWN[group]:
            _set(gpu, (group, *([word] if label else []), *rest), value)
    elif name in _DCGM and abs(value) < _BLANK:
        path, factor = _DCGM[name]
        _set(gpu, path, value * factor)
        gpu |= {"vendor": "nvidia"} | ({"name": labels["modelName"]} if labels.get("modelName") else {})


def _set(gpu: dict[str, object], path: tuple[str, ...], value: float) -> None:
    here = gpu
    for part in path[:-1]:
        deeper = here.setdefault(part, {})
        if not isinstance(deeper, dict):
            raise AssertionError(path)
        here = deeper
    here[path[-1]] = round(value) if path[0] == "memory" else value


def _whole(key: str, gpu: dict[str, object], index: int) -> dict[str, object]:
    memory = gpu.get("memory")
    if isinstance(memory, dict) and isinstance(vram := memory.get("vram"), dict) and {"used", "free"} <= vram.keys():
        vram.setdefault("total", vram["used"] + vram["free"])
    return gpu | {"index": index, "pci_address": key}


def scrape(address: str, token: str = "") -> Watch:
    """A sample of an exporter, by its address (http or https). Raises NoAnswer."""
    if urlsplit(address).scheme not in ("http", "https"):
        raise NoAnswer("an exporter's address begins with http:// or https://")
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"} if token else {})  # noqa: S310  # of the two schemes
    try:
        with _OPENER.open(request, timeout=_LATE) as answer:
            content = answer.read(_MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise NoAnswer(f"it answers with HTTP {error.code}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", "") or error
        raise NoAnswer(getattr(reason, "strerror", None) or str(reason) or type(error).__name__) from error
    if len(content) > _MOST_BYTES:
        raise NoAnswer("its answer is longer than 8 MiB")
    try:
        return sample_of(content.decode("utf-8", "replace"), time.time())
    except msgspec.ValidationError as error:
        raise NoAnswer(str(error)) from error


class _Here(urllib.request.HTTPRedirectHandler):
    """Nobody is sent elsewhere with a token."""

    def redirect_request(self, *_words: object) -> None:
        """No other address is asked."""


_OPENER = urllib.request.build_opener(_Here(), urllib.request.ProxyHandler({}))


def address_of(word: str) -> str:
    """HOST, HOST:PORT or an address, as the address of its metrics."""
    whole = word if "://" in word else f"http://{word}"
    parts = urlsplit(whole)
    port = f"{parts.netloc}:9836" if "://" not in word and parts.netloc.rpartition("]")[2].count(":") == 0 else parts.netloc
    return f"{parts.scheme}://{port}{parts.path if parts.path not in ('', '/') else '/metrics'}"
