"""The memories of a machine: this one, one in words, a captured or reported one."""

import os
import re
from typing import TYPE_CHECKING, Any

from rigup.fit.errors import FitError
from rigup.fit.measured import with_measured
from rigup.fit.pools import Pool, host_pool, pools_of
from rigup.language import _

if TYPE_CHECKING:
    from rigup.machine.store import Facts

_SIZE = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d)?) ?Gi?B\b", re.IGNORECASE)
_OF_SYSTEM = re.compile(r"\b(?:ram|memory|disk)\b", re.IGNORECASE)
_COUNT = re.compile(r"(\d{1,2}) ?[x×*] ")
_MOST_CARDS = 64
_CUDA = {"vendor": "nvidia", "name": "cuda"}


def pools_on(where: str | None) -> tuple[Pool, ...]:
    """What `--on` names: None is this machine, "cpu" its processor alone, "cuda" some card of which nothing is known.

    Raises:
        FitError: it names nothing.

    """
    if where == "cpu":
        return with_measured((_own_memory(),))
    if where == "cuda":
        return (Pool(name="CUDA0", kind="vram", backend="cuda"), _own_memory())
    if where is None:
        return with_measured(_looked_at(None))
    if os.path.exists(where):
        return _looked_at(where)
    return _in_words(where)


def _own_memory() -> Pool:
    """This machine's main memory, read at once."""
    from rigup.machine.local import Local

    sizes: dict[str, int] = {}
    for line in (Local().read("/proc/meminfo").body or "").splitlines():
        words = line.split()
        if len(words) == 3 and words[1].isdecimal() and words[2] == "kB":
            sizes[words[0]] = int(words[1]) << 10
    if "MemTotal:" not in sizes:
        return _looked_at(None)[-1]
    return host_pool(sizes["MemTotal:"], sizes.get("MemAvailable:"))


def _looked_at(path: str | None) -> tuple[Pool, ...]:
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.look import look
    from rigup.machine.sources import SourceError, close_sources, open_source

    try:
        return pools_seen(look(open_source(path)))
    except SourceError as error:
        raise FitError(str(error)) from error
    finally:
        close_sources()


def pools_seen(facts: "Facts") -> tuple[Pool, ...]:
    """The memories of a machine that was looked at; the system's is the last."""
    from rigup.machine.inventory import accelerators
    from rigup.machine.kinds import Gpu, Memory

    memory = next(iter(facts.of(Memory)), None)
    host = host_pool(memory.get("total") if memory else None, memory.get("available") if memory else None)
    used = {gpu.get("pci_address"): gpu.get("memory_used") for gpu in facts.of(Gpu) if gpu.get("pci_address")}
    devices = [{**card, "used": used.get(card.get("pci_address"))} for card in accelerators(facts) or ()]
    return pools_of(devices, host)


def _in_words(where: str) -> tuple[Pool, ...]:
    from rigup.stack.profile import ProfileError, read_profile

    try:
        site = read_profile(where)
    except ProfileError as error:
        raise FitError(str(error)) from error
    if not site.gpus and site.ram is None:
        template = _("Nobody told how much memory {machine} has: write for instance RTX 3090, ram 32GB.")
        raise FitError(template.format(machine=where[:100]))
    sizes = _sizes(where)
    devices: list[dict[str, Any]] = []
    for gpu in site.gpus:
        size = sizes.pop(0) if sizes and not gpu.memory and not gpu.integrated else 0
        memory = {"vram": size} if size else gpu.memory
        if not memory and not gpu.integrated and gpu.vendor != "apple":
            template = _("There are cards called {card} with more and with less memory: write how much, for instance {card} 12GB.")
            raise FitError(template.format(card=gpu.name))
        devices.append({"vendor": gpu.vendor, "name": gpu.name, "integrated": gpu.integrated, "memory": memory})
    return pools_of(devices, host_pool(site.ram, None))


def _sizes(where: str) -> list[int]:
    """Memory sizes that stand with a card's name, in their order: "RTX 3060 12GB" is one of two."""
    sizes = []
    for part in where.split(","):
        words = _SIZE.search(part)
        if words and not _OF_SYSTEM.search(part):
            many = _COUNT.match(part.strip())
            sizes += [int(float(words[1]) * (1 << 30))] * min(int(many[1]) if many else 1, _MOST_CARDS)
    return sizes
