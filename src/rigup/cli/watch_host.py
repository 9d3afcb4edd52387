"""The machine beside its GPUs, in words: processors, memory, disks, network; for the table and the live view."""

from msgspec import UNSET

from rigup.language import _
from rigup.schemas.watch_host import WatchedHost
from rigup.visible import visible

_GIB = 1024**3
_MOST_DISKS = 4
_BETWEEN = " · "


def host_rows(host: WatchedHost) -> list[tuple[str, str]]:
    """What it is about, and what is told of it; what nobody tells is left out."""
    rows = [("CPU", _processors(host)), ("RAM", _memory(host)), (_("Disk"), _disks(host)), (_("Net"), _network(host))]
    return [(name, text) for name, text in rows if text]


def _processors(host: WatchedHost) -> str:
    words = []
    if host.cpu is not UNSET:
        share = f"{host.cpu.utilisation:.0%}" if host.cpu.utilisation is not UNSET else "–"
        words.append(_("{share} of {cores} cores").format(share=share, cores=host.cpu.cores))
        words += [f"{host.cpu.temperature:.0f} °C"] if host.cpu.temperature is not UNSET else []
    if host.load is not UNSET and host.load:
        words.append(_("load") + " " + " ".join(f"{load:.2f}" for load in host.load))
    if host.running is not UNSET:
        words.append(_("{count} processes").format(count=host.running))
    return _BETWEEN.join(words)


def _memory(host: WatchedHost) -> str:
    if host.memory is UNSET:
        return ""
    swap = host.swap
    words = [f"{size(host.memory.used)} / {size(host.memory.total)} ({host.memory.used / max(host.memory.total, 1):.0%})"]
    if swap is not UNSET and swap.total:
        words.append(_("swap") + f" {size(swap.used)} / {size(swap.total)}")
    return _BETWEEN.join(words)


def _disks(host: WatchedHost) -> str:
    disks = sorted(host.disk, key=lambda disk: -disk.used / max(disk.total, 1)) if host.disk is not UNSET else []
    words = [
        f"{visible(disk.mount)} {size(disk.used)} / {size(disk.total)} ({disk.used / max(disk.total, 1):.0%})"
        for disk in disks[:_MOST_DISKS]
    ]
    if host.disk_traffic is not UNSET:
        words.append(
            _("read {read}/s, written {written}/s").format(read=size(host.disk_traffic.read), written=size(host.disk_traffic.written))
        )
    return _BETWEEN.join(words)


def _network(host: WatchedHost) -> str:
    if host.network is UNSET:
        return ""
    return _("↓ {received}/s · ↑ {sent}/s").format(received=size(host.network.rx), sent=size(host.network.tx))


def size(amount: float) -> str:
    """Bytes in few letters."""
    if amount >= 1024 * _GIB:
        return f"{amount / 1024 / _GIB:.1f} TiB"
    if amount >= _GIB / 10:
        return f"{amount / _GIB:.1f} GiB"
    return f"{amount / 1024**2:.1f} MiB" if amount >= 1024**2 / 10 else f"{amount / 1024:.0f} KiB"
