"""The catalogue of GPUs: by PCI id, by name, and what holds for a whole architecture."""

from collections.abc import Iterable
from typing import Any

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.names import MAX_LENGTH, Key, has_number, key_of, maker_of, parts

GIB = 1024**3
_SERIES = frozenset(("rx", "pro", "wx", "series", "processor"))  # words of whole families, which some chip has for its name
VENDORS = {"10de": "nvidia", "1002": "amd", "8086": "intel", "106b": "apple"}


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """What the catalogue knows of one product.

    Attributes:
        vendor: "nvidia", "amd", "intel" or "apple".
        isa: None where the name is sold with several ISAs, and for Intel and Apple.
        memory_bytes: nominal size of its own memory; None where it is sold with several sizes,
            shares the system's memory, or nobody says.
        integrated: shares the system's memory as its only memory; None if not known.
        chip: the die ("GA102", "Navi 31"), "" if not known.
        devices: as how many devices programs list one card, by mode of partitions; "" where it is not split.
        how: "measured", "documented" or "reported".

    """

    vendor: str
    name: str
    isa: str | None = None
    architecture: str = ""
    memory_bytes: int | None = None
    integrated: bool | None = None
    chip: str = ""
    devices: tuple[tuple[str, int], ...] = ()
    source: str = ""
    how: str = ""


class _Product(msgspec.Struct, frozen=True):
    name: str
    architecture: str = ""
    isa: str | None = None
    isas: list[str] = []
    chip: str = ""
    codename: str = ""
    chips: list[str] = []
    aliases: list[str] = []
    memory_gib: Any = None
    variants: list[dict[str, Any]] = []
    integrated: bool | None = None
    dies: int = 1
    partitions: dict[str, int] = {}
    source: str = ""
    how: str = ""


class _Device(msgspec.Struct, frozen=True):
    id: str
    subvendor: str = ""
    subdevice: str = ""
    name: str = ""
    pci_name: str = ""
    chip: str = ""
    isa: str | None = None
    architecture: str = ""
    family: str = ""
    integrated: bool | None = None
    revisions: dict[str, str] = {}
    source: str = ""
    how: str = ""


class _Display(msgspec.Struct, frozen=True):
    vendor_id: str
    ids: list[str] = []


class _Architecture(msgspec.Struct, frozen=True):
    isas: list[str]
    last_driver_branch: str | None = None
    open_module: str = "optional"


def gpu_by_pci(vendor_id: str, device_id: str, revision: str = "", subvendor: str = "", subdevice: str = "") -> Gpu | None:
    """The product of a PCI id; ids are hexadecimal, with or without "0x".

    Where one id is sold under several names and the subsystem does not decide, what they
    have in common is returned, under the first of their names.

    Raises:
        KnowledgeError: a table is malformed.

    """
    vendor = VENDORS.get(_hex(vendor_id), "")
    rows = _devices(vendor).get(_hex(device_id), ()) if vendor in ("nvidia", "amd", "intel") else ()
    board = (_hex(subvendor), _hex(subdevice))
    exact = [row for row in rows if (row.subvendor, row.subdevice) == board and row.subvendor]
    plain = [row for row in rows if not row.subvendor]
    chosen = exact or plain or list(rows)
    gpus = [_of_device(vendor, row, _hex(revision, 2)) for row in chosen]
    return in_common(gpus) if gpus else None


def gpu_by_name(name: str) -> tuple[Gpu, ...]:
    """All products that a name may mean, whichever tool printed it; () if none.

    Raises:
        KnowledgeError: a table is malformed.

    """
    key, maker = key_of(name), maker_of(name)
    if not has_number(key):
        gpus = _of_maker(maker, key)
        return gpus if set(key) - _SERIES else tuple(gpu for gpu in gpus if gpu.name.lower() == name.strip().lower())
    for run in parts(key):
        if gpus := _of_maker(maker, run):
            return gpus if "laptop" in run or "laptop" not in key else _as_laptop(gpus)
    return tuple(gpu for other in _longer(key) for gpu in _of_maker(maker, other))


def _of_maker(maker: str, key: Key) -> tuple[Gpu, ...]:
    if key and (own := tuple(gpu for gpu in _product_index().get(key, ()) if gpu.vendor == maker)):
        return own  # what the PCI lists alone name is none of these, and reading them takes longer than the rest
    gpus = _index().get(key, ()) if key in _names() else ()
    return tuple(gpu for gpu in gpus if gpu.vendor == maker) if maker else gpus


def one_gpu(name: str) -> Gpu | None:
    """The product of a name, if the catalogue has one answer.

    Several products of one name and one ISA (two memory sizes, say) count as one: what they do
    not share is left out. One product made with chips of several ISAs has no single `isa`.

    Raises:
        KnowledgeError: a table is malformed.

    """
    gpus = gpu_by_name(name)
    if not gpus or len({gpu.vendor for gpu in gpus}) > 1:
        return None
    same_name = len({key_of(gpu.name) for gpu in gpus}) == 1
    if len({gpu.isa for gpu in gpus}) > 1 and not (same_name and has_number(key_of(name))):
        return None
    common = in_common(gpus)
    # "V100-SXM2" stands for two products: neither's name is told.
    return common if same_name or common is None else _replace(common, name=name.strip()[:MAX_LENGTH])


def architecture_of(card: dict[str, Any]) -> str:
    """The generation of a card's chip by its PCI id, else by its name; "" where the catalogue has neither."""
    vendor, _colon, device = str(card.get("pci_id", "")).partition(":")
    known = gpu_by_pci(vendor, device) if device else None
    named = known or next(iter(gpu_by_name(str(card.get("name", "")))), None)
    return named.architecture if named else ""


def _as_laptop(gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """Leave out what the laptop chip of a number need not share with the desktop card."""
    return tuple(_replace(gpu, memory_bytes=None, chip="") for gpu in gpus)


def gpus_beginning(name: str) -> list[Gpu]:
    """All products whose names begin so; a narrow table cuts names.

    Raises:
        KnowledgeError: a table is malformed.

    """
    key = key_of(name)
    for start in ("".join(key), "".join(key[:-1])):  # the last word may be the head of one that no key has
        found = [gpus for other, gpus in _index().items() if has_number((start,)) and "".join(other).startswith(start)]
        if found:
            return [gpu for gpus in found for gpu in gpus]
    return []


def driver_branch_for(isa: str) -> str | None:
    """The last driver branch that drives a chip ("470", "580"); None while it is supported.

    Raises:
        KnowledgeError: a table is malformed.

    """
    row = _architectures().get(isa)
    return row.last_driver_branch if row else None


def last_branches() -> list[str]:
    """The driver branches that are the last of some chips, the oldest first. Raises KnowledgeError for a malformed table."""
    return sorted({row.last_driver_branch for row in _architectures().values() if row.last_driver_branch}, key=int)


def open_module(isa: str) -> str:
    """Whether NVIDIA's open kernel module is the "only" one, "optional" or "impossible".

    An unknown newer chip needs the open one; an ISA of another vendor gives "impossible".

    Raises:
        KnowledgeError: a table is malformed.

    """
    row = _architectures().get(isa)
    if row:
        return row.open_module
    return "only" if isa.startswith("sm_") else "impossible"


def is_display_only(vendor_id: str, device_id: str) -> bool:
    """Whether a display adapter is no accelerator (ASPEED, Matrox, virtio, Cirrus, VMware …).

    Raises:
        KnowledgeError: the table is malformed.

    """
    ids = _displays().get(_hex(vendor_id))
    return ids is not None and (not ids or _hex(device_id) in ids)


def _hex(text: str, width: int = 4) -> str:
    digits = text.strip().lower().removeprefix("0x")
    return digits.rjust(width, "0") if digits else ""


def _memory(row: _Product) -> int | None:
    """Bytes, if every variant has the same memory."""
    sizes = {variant["memory_gib"] for variant in row.variants if "memory_gib" in variant}
    if isinstance(row.memory_gib, (int, float)):
        sizes.add(row.memory_gib)
    return int(sizes.pop() * GIB) if len(sizes) == 1 else None


def _of_product(vendor: str, row: _Product) -> Gpu:
    isas = row.isas or ([row.isa] if row.isa else [])
    return Gpu(
        vendor=vendor,
        name=row.name,
        isa=isas[0] if len(isas) == 1 else None,
        architecture=row.architecture,
        memory_bytes=_memory(row),
        integrated=bool(row.integrated) if vendor == "nvidia" else vendor == "apple" or row.integrated,
        chip=row.chip or row.codename or (row.chips[0] if len(row.chips) == 1 else ""),
        devices=(("", row.dies), *row.partitions.items()),
        source=row.source,
        how=row.how,
    )


def _of_device(vendor: str, row: _Device, revision: str) -> Gpu:
    name = row.revisions.get(revision) or row.name or row.pci_name or row.family
    products = _product_index().get(key_of(name), ()) if has_number(key_of(name)) else ()
    product = in_common(gpu for gpu in products if gpu.vendor == vendor)
    same = product is not None and product.isa in (row.isa, None)
    return Gpu(
        vendor=vendor,
        name=product.name if product and same and vendor == "nvidia" else name,
        isa=row.isa,
        architecture=row.architecture or (product.architecture if product else ""),
        memory_bytes=product.memory_bytes if product and same else None,
        integrated=product.integrated if product and vendor == "nvidia" else row.integrated,
        chip=row.chip or (product.chip if product and same else ""),
        devices=product.devices if product and same else (),
        source=row.source,
        how=row.how,
    )


def _replace(gpu: Gpu, **changes: Any) -> Gpu:
    return msgspec.structs.replace(gpu, **changes)


def in_common(gpus: Iterable[Gpu]) -> Gpu | None:
    """The first of several products, without what the others contradict."""
    rows = list(gpus)
    if not rows:
        return None
    unsure: dict[str, Any] = {}
    for field, nothing in (("isa", None), ("architecture", ""), ("memory_bytes", None), ("integrated", None), ("chip", "")):
        values = {getattr(row, field) for row in rows} - {"", None}
        unsure[field] = values.pop() if len(values) == 1 else nothing
    return _replace(rows[0], **unsure)


@tables.remembered
def _longer(key: Key) -> list[Key]:
    """The catalogue's names that hold all words of a short name ("H100") in a row."""
    size = len(key)
    starts = {other: len(other) - size for other in _names() if len(other) > size}
    return [o for o, last in starts.items() if any(o[i : i + size] == key for i in range(last + 1))]


@tables.remembered
def _names() -> dict[Key, None]:
    """The keys of `_index`, in its order; most words that may be a card's name are none, and its rows need not be read for them."""
    told = tables.default_store().names_of_pci()
    if told is None:
        return dict.fromkeys(_index())
    names = dict.fromkeys((*_product_index(), *(tuple(name.split(" ")) for name in told if name)))
    names.pop((), None)
    return names


@tables.remembered
def _index() -> dict[Key, tuple[Gpu, ...]]:
    """All names of the catalogue: of products, and what only PCI lists name."""
    by_key = dict(_product_index())
    for key, gpus in _names_of_pci().items():
        known = {gpu.vendor for gpu in by_key.get(key, ())}
        by_key[key] = (*by_key.get(key, ()), *(gpu for gpu in gpus if gpu.vendor not in known))
    by_key.pop((), None)
    return by_key


@tables.remembered
def _product_index() -> dict[Key, tuple[Gpu, ...]]:
    by_key: dict[Key, tuple[Gpu, ...]] = {}
    for vendor, row in _products():
        gpu = _of_product(vendor, row)
        for name in (row.name, *row.aliases):
            key = key_of(name)
            by_key[key] = (*by_key.get(key, ()), gpu)
    return by_key


def _products() -> list[tuple[str, _Product]]:
    products = [("nvidia", row) for row in tables.rows("gpus_nvidia", "gpu", _Product)]
    products += [("nvidia", _jetson(row)) for row in tables.rows("gpus_nvidia", "jetson", _Product)]
    products += [("amd", row) for row in tables.rows("gpus_amd", "gpu", _Product)]
    products += [("intel", row) for row in tables.rows("gpus_intel", "gpu", _Product)]
    products += [("apple", row) for row in tables.rows("apple", "chip", _Product)]
    return products


def _jetson(row: _Product) -> _Product:
    return msgspec.structs.replace(row, integrated=True)


def _names_of_pci() -> dict[Key, tuple[Gpu, ...]]:
    """Names that stand in the PCI lists alone, each once for every ISA it has."""
    by_key: dict[Key, dict[object, Gpu]] = {}
    for vendor in ("nvidia", "amd", "intel"):
        for rows in _devices(vendor).values():
            for row in rows:
                for name in filter(None, dict.fromkeys((*row.revisions.values(), row.name, row.pci_name))):
                    gpu = Gpu(
                        vendor=vendor,
                        name=name,
                        isa=row.isa,
                        architecture=row.architecture,
                        integrated=row.integrated if vendor != "nvidia" else False,
                        chip=row.chip,
                        source=row.source,
                        how=row.how,
                    )
                    by_key.setdefault(key_of(name), {}).setdefault((row.isa, row.chip), gpu)
    return {key: tuple(gpus.values()) for key, gpus in by_key.items()}


@tables.remembered
def _devices(vendor: str) -> dict[str, tuple[_Device, ...]]:
    by_vendor: dict[str, tuple[_Device, ...]] = {}
    for row in tables.rows(f"pci_{vendor}", "device", _Device):
        by_vendor[row.id] = (*by_vendor.get(row.id, ()), row)
    return by_vendor


@tables.remembered
def _displays() -> dict[str, frozenset[str]]:
    rows = tables.rows("displays", "display", _Display)
    return {row.vendor_id: frozenset(row.ids) for row in rows}


@tables.remembered
def _architectures() -> dict[str, _Architecture]:
    rows = tables.rows("gpus_nvidia", "architecture", _Architecture)
    return {isa: row for row in rows for isa in row.isas}


class _Dies(msgspec.Struct, frozen=True):
    name: str
    dies: int = 1


def gpus_of_a_card(name: str) -> int:
    """As how many GPUs runtimes count one card of that name: a card of two dies is two to them.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return max((row.dies for row in tables.rows("gpus_amd", "gpu", _Dies) if row.name == name), default=1)
