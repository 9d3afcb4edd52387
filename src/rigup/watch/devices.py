"""Which GPUs there are: found on the bus, so that one whose library is silent is shown as well."""

from rigup.knowledge.patterns import lazy_regex
from rigup.watch.files import Files, number_of, text_of
from rigup.watch.values import Identity

_DEVICES = "/sys/bus/pci/devices"
_CARD = lazy_regex(r"card\d{1,4}")
_ADDRESS = lazy_regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_GPU_CLASSES = (0x03, 0x12)
_VENDORS = {0x10DE: "nvidia", 0x1002: "amd", 0x8086: "intel"}
_MOST = 256


def on_the_bus(files: Files) -> list[Identity]:
    """GPUs of the makers that are sampled, in the order of their addresses."""
    found = {identity.key: identity for folder in _folders(files) if (identity := _identity(files, folder))}
    return [found[key] for key in sorted(found)]


def _folders(files: Files) -> list[str]:
    """Folders of devices: of the bus, and where that was not captured of the cards alone."""
    try:
        addresses = [name for name in files.names(_DEVICES) if _ADDRESS.fullmatch(name)]
        folders = [f"{_DEVICES}/{address}" for address in addresses]
    except OSError:
        folders = []
    if not folders:
        try:
            cards = [name for name in files.names("/sys/class/drm") if _CARD.fullmatch(name)]
        except OSError:
            cards = []
        folders = [f"/sys/class/drm/{card}/device" for card in cards[:_MOST]]
    return folders


def _identity(files: Files, folder: str) -> Identity | None:
    """A device that is a GPU; None for any other, and for displays of remote consoles."""
    kind = number_of(files, folder + "/class")
    of_a_card = "/drm/" in folder and kind is None
    if not of_a_card and (kind is None or kind >> 16 not in _GPU_CLASSES):
        return None  # most of the hundreds on a bus
    ids = tuple(number_of(files, f"{folder}/{name}") or 0 for name in ("vendor", "device", "subsystem_vendor", "subsystem_device"))
    vendor = _VENDORS.get(ids[0], "")
    if not vendor:
        return None
    try:
        address = files.real(folder).rpartition("/")[2]
        driver = files.link(folder + "/driver").rpartition("/")[2]
    except OSError:
        address, driver = "", ""
    address = address if _ADDRESS.fullmatch(address) else folder.rpartition("/")[2]
    known = _ADDRESS.fullmatch(address) is not None
    driver = driver or _driver_of(files, folder)
    identity = Identity(key=address, vendor=vendor, pci_address=address if known else "", driver=driver, folder=folder)
    return _named(identity, ids, number_of(files, folder + "/revision") or 0)


def _driver_of(files: Files, folder: str) -> str:
    content = text_of(files, folder + "/uevent") or ""
    return next((line.partition("=")[2] for line in content.splitlines() if line.startswith("DRIVER=")), "")


def _named(identity: Identity, ids: tuple[int, ...], revision: int) -> Identity | None:
    """With its name from the catalogue; NVIDIA's own library gives it, so that there the catalogue is not opened."""
    if identity.vendor == "nvidia":
        return identity
    from msgspec import structs

    from rigup.knowledge.gpus import gpu_by_pci, is_display_only

    words = [f"{number:04x}" for number in ids]
    if is_display_only(words[0], words[1]):
        return None
    known = gpu_by_pci(words[0], words[1], f"{revision:02x}", words[2], words[3])
    if known is None:
        return identity
    return structs.replace(identity, name=known.name, isa=known.isa or "", integrated=known.integrated)


def power_state(files: Files, folder: str) -> str:
    """`active`, `suspended` …; reading it wakes nothing. "" where the kernel does not say."""
    return text_of(files, folder + "/power/runtime_status") or "" if folder else ""
