"""What is wrong with a GPU right now."""

from collections.abc import Iterator

from msgspec import UNSET

from rigup.diagnosis.slowing import harmful, slowed_words
from rigup.knowledge.pcie import speed_words
from rigup.schemas.shared import Severity
from rigup.schemas.watch import Watch
from rigup.schemas.watch_gpu import WatchedGpu
from rigup.watch.history import History, key_of, memory_of, memory_share
from rigup.watch.rule import Match, rule

_BUSY = 0.5  # share of time from which on a GPU works
_STEADY = 3  # samples in which something must hold before it is told, where there are so many
_FULL = 0.98
_HEARD = 3600.0  # seconds for which an Xid is told


def _seen(gpu: WatchedGpu, path: str, value: object) -> tuple[str, str, str]:
    return path, str(value), gpu.source.get(path, "")


def name_of(gpu: WatchedGpu) -> str:
    """A GPU as a sentence calls it."""
    return f"GPU {gpu.index}" + (f" ({gpu.name})" if gpu.name is not UNSET else "")


def _words(gpu: WatchedGpu, **more: str | None) -> dict[str, str | None]:
    """What texts and steps ask of every GPU."""
    vendor = gpu.vendor if gpu.vendor is not UNSET else None
    return {"card": name_of(gpu), "vendor": vendor, **more}


def _address(gpu: WatchedGpu) -> str | None:
    return gpu.pci_address if gpu.pci_address is not UNSET else None


def _steady(history: History, gpu: WatchedGpu) -> bool:
    """Whether it was throttled in all of the last samples, as far as there are any."""
    known = [value for value in history.recent(gpu, "throttled", _STEADY) if value is not None]
    return bool(known) and all(known)


@rule("gpu-fell-off-bus", "nvidia-module-not-loaded")
def _lost(sample: Watch, _history: History) -> Iterator[Match]:
    """It was there and answers no more: off the bus, or without its driver."""
    for gpu in sample.gpus:
        if gpu.state == "lost":
            because = gpu.because if gpu.because is not UNSET else ""
            unloaded = gpu.vendor == "nvidia" and "driver not loaded" in because.lower()
            cause = "nvidia-module-not-loaded" if unloaded else "gpu-fell-off-bus"
            yield Match(cause, key_of(gpu), _words(gpu, address=_address(gpu)), [_seen(gpu, "state", because)])


@rule("xid", "gpu-fell-off-bus", "gsp-timeout-xid-119", "gpu-memory-ecc-error", "gpu-hardware-init-failure", "illegal-memory-access")
def _xid(sample: Watch, _history: History) -> Iterator[Match]:
    """What the driver told of, by the cause that a number stands for."""
    for gpu in sample.gpus:
        xids = gpu.errors.xid if gpu.errors.xid is not UNSET else []
        codes = sorted({xid.code for xid in xids if sample.time - xid.time <= _HEARD})
        if codes:
            yield from _xids_of(gpu, codes)


def _xids_of(gpu: WatchedGpu, codes: list[int]) -> Iterator[Match]:
    from rigup.knowledge.xids import meaning_of_xid

    by_cause: dict[tuple[str, Severity], list[int]] = {}
    for code in codes:
        by_cause.setdefault(meaning_of_xid(code), []).append(code)
    for (cause, severity), numbers in by_cause.items():
        listed = ", ".join(map(str, numbers))
        kernels = {"serial": "CUDA_LAUNCH_BLOCKING", "how": "1"} if cause == "illegal-memory-access" else {}
        words = _words(gpu, codes=listed, xid=listed, **_of_broken_memory(gpu), **kernels)
        folded = () if cause == "xid" else ("xid",)
        yield Match(cause, key_of(gpu), words, [_seen(gpu, "errors.xid", listed)], severity, folded)


def _of_broken_memory(gpu: WatchedGpu) -> dict[str, str | None]:
    """NVIDIA's tool resets one card; others are reset with the machine."""
    address = _address(gpu)
    return {"address": address, "index": address if gpu.vendor == "nvidia" else None, "again": "exchange"}


@rule("gpu-memory-ecc-error")
def _memory_errors(sample: Watch, _history: History) -> Iterator[Match]:
    """Counted since the driver was loaded: of memory, and of every block that AMD's driver counts (RAS)."""
    for gpu in sample.gpus:
        counts = {"errors.ecc_uncorrected": gpu.errors.ecc_uncorrected if gpu.errors.ecc_uncorrected is not UNSET else 0}
        blocks = gpu.errors.ras if gpu.errors.ras is not UNSET else {}
        counts |= {f"errors.ras.{block}.uncorrected": count.uncorrected for block, count in blocks.items()}
        bad = {path: count for path, count in counts.items() if count}
        words = _words(gpu, **_of_broken_memory(gpu))
        if bad:
            yield Match("gpu-memory-ecc-error", key_of(gpu), words, [_seen(gpu, *pair) for pair in bad.items()])
        elif gpu.errors.remap_pending is True:
            evidence = [_seen(gpu, "errors.remap_pending", True)]
            yield Match("gpu-memory-ecc-error", key_of(gpu), words, evidence, "warning")


@rule("throttled")
def _throttled(sample: Watch, history: History) -> Iterator[Match]:
    """At its power limit every GPU arrives that works; that is worth a note where somebody lowered the limit."""
    for gpu in sample.gpus:
        reasons = harmful(gpu.throttle) if gpu.throttle is not UNSET else []
        if not reasons or not _steady(history, gpu):
            continue
        evidence = [_seen(gpu, "throttle", ", ".join(reasons))]
        if (hot := _hottest(gpu)) is not None:
            evidence.append(_seen(gpu, "temperature." + hot[0], f"{hot[1]:g}"))
        words = _words(gpu)
        words |= slowed_words(reasons, words["vendor"], _address(gpu))
        words["unknown"] = "limit" if words["heat"] else None  # by how much less power it stays cool
        yield Match("throttled", key_of(gpu), words, evidence)


def _hottest(gpu: WatchedGpu) -> tuple[str, float] | None:
    heat = {"edge": gpu.temperature.edge, "junction": gpu.temperature.junction}
    known = {name: value for name, value in heat.items() if value is not UNSET}
    return max(known.items(), key=lambda pair: pair[1]) if known else None


@rule("power-limit-lowered")
def _lowered(sample: Watch, history: History) -> Iterator[Match]:
    for gpu in sample.gpus:
        limit, usual, address = gpu.power.limit, gpu.power.limit_default, _address(gpu)
        at_limit = gpu.throttle is not UNSET and "power" in gpu.throttle and _steady(history, gpu)
        if at_limit and limit is not UNSET and usual is not UNSET and limit < usual * 0.99:
            words = _words(
                gpu,
                limit=f"{limit:.0f}",
                usual=f"{usual:.0f}",
                watts=f"{usual:.0f}",
                former=f"{limit:.0f}",
                index=address if gpu.vendor == "nvidia" else None,
                address=address if gpu.vendor == "amd" else None,
                microwatts=f"{limit * 1e6:.0f}",
            )
            evidence = [_seen(gpu, "power.limit", limit), _seen(gpu, "power.limit_default", usual)]
            yield Match("power-limit-lowered", key_of(gpu), words, evidence)


@rule("link-narrower-than-card")
def _narrow(sample: Watch, history: History) -> Iterator[Match]:
    """Lanes do not change with load; the speed does, so that a slow link counts only while the GPU works."""
    for gpu in sample.gpus:
        pcie, address = gpu.pcie, _address(gpu)
        if gpu.state != "active" or gpu.integrated is True:
            continue
        if pcie.width is not UNSET and pcie.width_max is not UNSET and 0 < pcie.width < pcie.width_max:
            words = _words(gpu, have=f"x{pcie.width}", want=f"x{pcie.width_max}", narrow=address)
            evidence = [_seen(gpu, "pcie.width", pcie.width), _seen(gpu, "pcie.width_max", pcie.width_max)]
            half = 2 * pcie.width >= pcie.width_max
            yield Match("link-narrower-than-card", key_of(gpu), words, evidence, "note" if half else None)
        elif pcie.speed is not UNSET and pcie.speed_max is not UNSET and pcie.speed < pcie.speed_max:
            busy = history.recent(gpu, "gpu", _STEADY)
            if len(busy) == _STEADY and all(share is not None and share >= _BUSY for share in busy):
                words = _words(gpu, have=speed_words(pcie.speed), want=speed_words(pcie.speed_max), slow=address)
                evidence = [_seen(gpu, "pcie.speed", pcie.speed), _seen(gpu, "pcie.speed_max", pcie.speed_max)]
                yield Match("link-narrower-than-card", key_of(gpu), words, evidence, "note")


@rule("memory-almost-full")
def _full(sample: Watch, _history: History) -> Iterator[Match]:
    for gpu in sample.gpus:
        share = memory_share(gpu)
        if share is not None and share >= _FULL and gpu.integrated is not True:
            holders = [process for process in sample.processes if any(part.index == gpu.index for part in process.gpus)]
            most = max(holders, key=memory_of, default=None)
            words = _words(gpu, share=f"{share:.0%}", pid=str(most.pid) if most is not None else None)
            yield Match("memory-almost-full", key_of(gpu), words, [_seen(gpu, "memory.vram.used", f"{share:.3f}")])
