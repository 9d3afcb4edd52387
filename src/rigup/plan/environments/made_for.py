"""The machine that something was made for, as small plain data; and what differs on another."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from rigup.language import _
from rigup.stack.site import Site

Facts = dict[str, Any]
_MOST = 64  # devices that are compared


def made_for(site: Site) -> Facts:
    """What an environment depends on: system, processor, C library, Python, drivers, devices. Unknown is left out."""
    facts = {
        "system": site.system,
        "distribution": site.distribution,
        "release": site.release,
        "machine": site.machine,
        "glibc": site.glibc,
        "kernel": site.kernel,
        "nvidia_driver": site.nvidia_driver,
        "amd_driver": site.amd_driver,
        "wsl": site.wsl or None,
        "container": site.container or None,
    }
    known: Facts = {name: value for name, value in facts.items() if value not in (None, "")}
    if site.devices is not None:
        known["devices"] = [_device(device.name, device.isa, device.vendor, device.pci_id) for device in site.devices]
    return known


def _device(name: str, isa: str | None, vendor: str, pci_id: str) -> dict[str, str]:
    fields = {"vendor": vendor, "name": name, "isa": isa or "", "pci_id": pci_id}
    return {key: value for key, value in fields.items() if value}


def differences(then: Facts, site: Site) -> list[str]:
    """What is otherwise on this machine than on the one that something was made for, as sentences; none if nothing is.

    What either does not know is not compared.
    """
    return [*_values(then, made_for(site)), *_devices(then.get("devices"), made_for(site).get("devices"))]


def _values(then: Facts, here: Facts) -> Iterator[str]:
    for name, title in _titles().items():
        was, now = then.get(name), here.get(name)
        if isinstance(was, str) and isinstance(now, str) and was != now:
            yield _("{what}: {then} there, {here} here.").format(what=title, then=_shortened(was), here=now)


def _titles() -> dict[str, str]:
    """What a person calls what is compared; a kernel's number alone changes nothing for an environment."""
    return {
        "system": _("The system"),
        "distribution": _("The distribution"),
        "release": _("The release"),
        "machine": _("The processor's architecture"),
        "glibc": _("The C library"),
        "nvidia_driver": _("NVIDIA's driver"),
        "amd_driver": _("AMD's driver"),
    }


def _devices(then: Any, here: Any) -> Iterator[str]:
    if not isinstance(then, list) or not isinstance(here, list):
        return
    was, now = Counter(map(_device_name, then[:_MOST])), Counter(map(_device_name, here[:_MOST]))
    for name, count in (was - now).items():
        yield _("{count} × {device} was there and is not here.").format(count=count, device=name)
    for name, count in (now - was).items():
        yield _("{count} × {device} is here and was not there.").format(count=count, device=name)


def _device_name(device: Any) -> str:
    """A device by what it is; data that came from elsewhere may be anything."""
    fields = device if isinstance(device, dict) else {}
    words = [fields.get(key) for key in ("name", "isa")]
    return _shortened(" ".join(word for word in words if isinstance(word, str) and word) or _("a device without a name"))


def _shortened(text: str) -> str:
    return "".join(letter for letter in text[:120] if letter.isprintable())
