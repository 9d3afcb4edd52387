"""What an environment must set so that its devices work: overrides, and who must not be seen."""

from rigup.knowledge.surroundings import loader
from rigup.language import _
from rigup.stack.candidate import Served
from rigup.stack.site import Device, Site

OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
_LIBRARIES = "LD_LIBRARY_PATH"
_MASK = "ROCR_VISIBLE_DEVICES"
Told = tuple[tuple[Device, Served], ...]


def of_driver(devices: Told, site: Site) -> dict[str, str]:
    """Where the libraries of NVIDIA's driver lie, on a system whose loader does not look there; those that were told stay.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = loader(site.distribution) if site.holder in ("venv", "conda") else None
    if row is None or not any(device.vendor == "nvidia" and told.served for device, told in devices):
        return {}
    there = site.variables.get(_LIBRARIES, "")
    known = row.driver_libraries in there.split(":")
    return {_LIBRARIES: there if known else ":".join(filter(None, (row.driver_libraries, there)))}


def for_devices(devices: Told) -> tuple[dict[str, str], Told]:
    """Variables for the devices that are served, and the devices as they are under them.

    An override of one AMD card among several takes the form of its KFD node: the global form would change
    every card. An integrated GPU that is not served natively beside a card of its own is hidden.
    """
    cards = [(device, told) for device, told in devices if device.vendor == "amd"]
    hidden = {device.index for device, told in cards if _hides(device, told, cards)}
    found = _overrides([(device, told) for device, told in cards if device.index not in hidden and told.served], cards)
    if hidden:
        shown = [str(place) for place, (device, _told) in enumerate(cards) if device.index not in hidden]
        found[_MASK] = ",".join(shown)
    return found, tuple((device, _hidden(told) if device.index in hidden else told) for device, told in devices)


def _hides(device: Device, told: Served, cards: list[tuple[Device, Served]]) -> bool:
    beside = any(not other.integrated and served.served for other, served in cards)
    return bool(device.integrated) and beside and told.how != "native"


def _hidden(told: Served) -> Served:
    because = _("It is hidden, so that programs take the card beside it; its own code is not in this build.")
    return Served(how="no", because=because, source=told.source)


def _overrides(served: list[tuple[Device, Served]], cards: list[tuple[Device, Served]]) -> dict[str, str]:
    values = {told.override for _device, told in served}
    if values <= {""}:
        return {}
    if len(cards) == 1 or len(values) == 1 == len({device.isa for device, _told in cards}):
        return {OVERRIDE: next(iter(values))}
    places = {device.index: place for place, (device, _told) in enumerate(cards)}
    # Nodes of CPU sockets come first; on a machine with one the first GPU is node 1 (gfx_overrides, per_device).
    return {f"{OVERRIDE}_{places[device.index] + 1}": told.override for device, told in served if told.override}
