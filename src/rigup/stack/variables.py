"""What an environment must set so that its devices work: overrides, and who must not be seen."""

from rigup.knowledge.surroundings import loader
from rigup.language import _
from rigup.stack.candidate import Served
from rigup.stack.site import Device, Site

OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
_LIBRARIES = "LD_LIBRARY_PATH"
_MASK = "ROCR_VISIBLE_DEVICES"
ServedDevices = tuple[tuple[Device, Served], ...]


def of_driver(devices: ServedDevices, site: Site) -> dict[str, str]:
    """Where the libraries of NVIDIA's driver lie, on a system whose loader does not look there; those that were set stay.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = loader(site.distribution) if site.holder in ("venv", "conda") else None
    if row is None or not any(device.vendor == "nvidia" and served.served for device, served in devices):
        return {}
    value = site.variables.get(_LIBRARIES, "")
    known = row.driver_libraries in value.split(":")
    return {_LIBRARIES: value if known else ":".join(filter(None, (row.driver_libraries, value)))}


def for_devices(devices: ServedDevices) -> tuple[dict[str, str], ServedDevices]:
    """Variables for the devices that are served, and the devices as they are under them.

    An override of one AMD card among several takes the form of its KFD node: the global form would change
    every card. An integrated GPU that is not served natively beside a card of its own is hidden.
    """
    cards = [(device, served) for device, served in devices if device.vendor == "amd"]
    hidden = {device.index for device, served in cards if _hides(device, served, cards)}
    variables = _overrides([(device, served) for device, served in cards if device.index not in hidden and served.served], cards)
    if hidden:
        visible = [str(place) for place, (device, _answer) in enumerate(cards) if device.index not in hidden]
        variables[_MASK] = ",".join(visible)
    return variables, tuple((device, _hidden(served) if device.index in hidden else served) for device, served in devices)


def _hides(device: Device, answer: Served, cards: list[tuple[Device, Served]]) -> bool:
    discrete_serves = any(not other.integrated and served.served for other, served in cards)
    return bool(device.integrated) and discrete_serves and answer.how != "native"


def _hidden(answer: Served) -> Served:
    because = _("It is hidden, so that programs take the card beside it; its own code is not in this build.")
    return Served(how="no", because=because, source=answer.source)


def _overrides(served: list[tuple[Device, Served]], cards: list[tuple[Device, Served]]) -> dict[str, str]:
    values = {answer.override for _device, answer in served}
    if values <= {""}:
        return {}
    if len(cards) == 1 or len(values) == 1 == len({device.isa for device, _answer in cards}):
        return {OVERRIDE: next(iter(values))}
    places = {device.index: place for place, (device, _answer) in enumerate(cards)}
    # Nodes of CPU sockets come first; on a machine with one the first GPU is node 1 (gfx_overrides, per_device).
    return {f"{OVERRIDE}_{places[device.index] + 1}": answer.override for device, answer in served if answer.override}
