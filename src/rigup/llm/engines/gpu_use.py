"""Whether an engine really uses a GPU: what its log says of layers and buffers, and how much more its memory holds."""

import re
from collections.abc import Sequence

import msgspec

from rigup.fit.pools import CARD, HOST, Pool
from rigup.language import _, sentences
from rigup.sizes import size

_LAYERS = re.compile(r"offloaded (\d{1,5})/(\d{1,5}) layers to GPU")
_BUFFER = re.compile(r"load_tensors: +(\S{1,40}) +model buffer size = +(\d+(?:\.\d+)?) MiB")
_HOSTS = re.compile(r"^(?:CPU|Host|.*_Host$|BLAS|AMX|.*_Mapped$)")
_MAPPED = "_Mapped"
_MIB = 1 << 20
_LEAST = 0.5  # of the weights: a context of the GPU's own, and what other programs take and give back, is less


class GpuUse(msgspec.Struct, frozen=True, kw_only=True):
    """What the log tells.

    Attributes:
        used: whether weights lie on a device; None where the engine does not tell.
        layers: on devices; None where it is not told.
        of: layers in all.
        buffers: MiB of weights by the buffer's name.
        grown: bytes that the cards hold more than before the start; None where that cannot be read.
        text: for a person, where it is not as it should be.

    """

    used: bool | None
    layers: int | None = None
    of: int | None = None
    buffers: dict[str, float] = {}
    grown: int | None = None
    text: str = ""


def gpu_use(log: str, pools: Sequence[Pool], wanted: int | None) -> GpuUse:
    """What the log of llama.cpp's server says, against what was wanted.

    Args:
        log: the engine's.
        pools: this machine's memories.
        wanted: layers that were to lie on devices; None for as many as the engine likes.

    """
    buffers: dict[str, float] = {}
    for name, mib in _BUFFER.findall(log):
        buffers[name] = buffers.get(name, 0.0) + float(mib)
    match = _LAYERS.search(log)
    devices = {name for name in buffers if _on_device(name)}
    if not buffers and match is None:
        return GpuUse(used=None)
    used = bool(devices) or bool(match and int(match[1]))
    layers, count = (int(match[1]), int(match[2])) if match else (None, None)
    cards = [pool.name for pool in pools if pool.kind != HOST]
    text = ""
    if cards and wanted != 0 and not used:
        text = _("{cards} is not used: the engine has the whole model in main memory and computes on the processor.").format(
            cards=", ".join(cards)
        )
    elif layers is not None and wanted and layers < wanted:
        text = _("Of {wanted} layers that were to lie on devices, {layers} do.").format(wanted=wanted, layers=layers)
    return GpuUse(used=used, layers=layers, of=count, buffers=buffers, text=text)


def witnessed(use: GpuUse, before: Sequence[Pool], after: Sequence[Pool], weights: int) -> GpuUse:
    """The use, with what the cards' memory says beside the log: it speaks where the log is silent, or gainsays it.

    Args:
        use: by the log.
        before: the memories before the start.
        after: now.
        weights: bytes that were to lie on devices; 0 where nobody knows.

    """
    held, now = _free(before), _free(after)
    if not held or held.keys() != now.keys():
        return use
    grown = sum(held[key] - now[key] for key in held)
    use = msgspec.structs.replace(use, grown=grown)
    buffered = sum(mib for name, mib in use.buffers.items() if _on_device(name)) * _MIB
    least = _LEAST * (buffered or weights)
    if use.text or not least or use.used is False:
        return use
    cards = ", ".join(name for name, _number in held)
    if grown < least and use.used:
        template = _("The engine's log says that {size} lie on {cards}, but only {grown} more are in use there than before.")
        text = template.format(size=size(round(buffered or weights)), cards=cards, grown=size(max(grown, 0)))
        return msgspec.structs.replace(use, used=None, text=text)
    if grown < least:
        template = _("{cards} is probably not used: only {grown} more are in use there than before, and the model has {size}.")
        text = template.format(size=size(weights), cards=cards, grown=size(max(grown, 0)))
        return msgspec.structs.replace(use, used=False, text=text)
    return msgspec.structs.replace(use, used=True)


def _free(pools: Sequence[Pool]) -> dict[tuple[str, int], int]:
    """What is free on each card of its own memory, as far as that was read and not reckoned."""
    found: dict[tuple[str, int], int] = {}
    for number, pool in enumerate(pools):
        if pool.kind == CARD and pool.free is not None and not pool.assumed:
            found[pool.name, number] = pool.free
    return found


def _on_device(name: str) -> bool:
    """Metal maps a file into what is the GPU's memory too; a processor's mapping is none."""
    plain = name.removesuffix(_MAPPED)
    return not _HOSTS.match(plain)


def because(log: str, use: GpuUse) -> str:
    """The doctor's cause for a GPU that is not used, as sentences."""
    from rigup.diagnosis.answer import diagnose

    if not use.text or use.used:
        return ""
    found = [finding for finding in diagnose().findings if finding.severity == "error"]
    if found:
        template = _("The doctor says: {title} (`rigup explain {cause}`).")
        return template.format(title=found[0].title, cause=found[0].cause)
    devices = re.findall(r"^.*- +(\w+) +: .+MiB free\)", log, re.MULTILINE)
    if devices and all(_HOSTS.match(device) for device in devices):
        return sentences(
            _("This build of the engine knows no GPU at all."),
            _("Take a llama-server for your GPU, or xllamacpp from the index for it: `rigup explain llama-cpp-without-gpu`."),
        )
    return ""
