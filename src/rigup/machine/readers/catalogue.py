"""What the catalogue of GPUs adds to a card that was seen: its ISA, its maker, its full name."""

from collections.abc import Iterator
from typing import Any

from rigup.knowledge.chips import vendor_of
from rigup.knowledge.gpus import gpu_by_pci, gpus_beginning, in_common, one_gpu
from rigup.knowledge.rocm import gfx_family, target_of_codename
from rigup.machine.facts import Reading, Where
from rigup.machine.kinds import Gpu
from rigup.machine.names import CUT, same_name
from rigup.machine.reader import derives

_BY_PCI, _BY_NAME, _BY_RUNTIME = -1, -2, -3  # ranks: an id is surer than a name, a name than a runtime's word


@derives(Gpu)
def of_catalogue(gpu: Gpu) -> Iterator[Gpu]:
    """Fields that nobody read from the machine itself. What was seen counts, whatever the catalogue says."""
    product, named = _by_pci(gpu), None
    if product:
        _add(gpu, product, "pci_" + product.vendor, _BY_PCI)
    if name := gpu.get("name"):
        _by_codename(gpu, name)
        named = in_common(gpus_beginning(name.removesuffix(CUT))) if name.endswith(CUT) else one_gpu(name)
        if named and gpu.get("vendor") in (None, named.vendor):
            _add(gpu, named, "gpus_" + named.vendor, _BY_NAME)
            _plain(gpu, named)
    _trust_runtime(gpu)
    yield gpu


def _by_pci(gpu: Gpu) -> Any:
    if not gpu.knows("pci_id"):
        return None
    vendor, _, device = gpu.pci_id.partition(":")
    board = str(gpu.get("subsystem") or ":").partition(":")
    return gpu_by_pci(vendor, device, gpu.get("revision") or "", board[0], board[2])


def _add(gpu: Gpu, product: Any, table: str, rank: int) -> None:
    fields: dict[str, Any] = {"vendor": product.vendor or None, "isa": product.isa, "integrated": product.integrated}
    if rank == _BY_PCI:
        fields["name"] = product.name or None
    source = "knowledge/" + table
    # a bare "False" says nothing to who reads why: the product's name does
    readings = {
        name: Reading(value, Where(source, None, product.name if isinstance(value, bool) else str(value)), rank)
        for name, value in fields.items()
        if value is not None
    }
    gpu.absorb({name: new for name, new in readings.items() if name not in gpu.fields or gpu.fields[name].rank < rank})


def _by_codename(gpu: Gpu, name: str) -> None:
    """lspci's "Renoir [Radeon RX Vega 6]": the chip's own name is surer than the product's, which several chips share."""
    target = target_of_codename(name) if gpu.get("vendor") in (None, "amd") else None
    if target:
        source = Where("knowledge/gfx_targets", None, target.isa)
        fields = {"vendor": "amd", "isa": target.isa, **({"integrated": True} if target.integrated else {})}
        gpu.absorb({key: Reading(value, source, _BY_NAME) for key, value in fields.items() if key not in gpu.fields})


def _plain(gpu: Gpu, product: Any) -> None:
    """lspci's "GA102 [GeForce RTX 3090]" is the chip and, in brackets, what it is sold as."""
    held = gpu.fields["name"]
    if "[" in held.value and "/" not in held.value and same_name(held.value, product.name):
        source = Where("knowledge/gpus_" + product.vendor, None, product.name)
        gpu.fields["name"] = Reading(product.name, source, held.rank)


def _trust_runtime(gpu: Gpu) -> None:
    """What a runtime shows is what the chip is, where nothing else tells; an override may speak there."""
    if gpu.get("shown_isa") and not gpu.knows("isa"):
        reading = gpu.fields["shown_isa"]
        gpu.absorb({"isa": reading._replace(rank=_BY_RUNTIME)})
        if not gpu.knows("vendor") and (maker := vendor_of(gpu.shown_isa)):
            gpu.absorb({"vendor": reading._replace(value=maker, rank=_BY_RUNTIME)})
    _within_a_processor(gpu)


def _within_a_processor(gpu: Gpu) -> None:
    """Some chips are built into processors only."""
    family = gfx_family(gpu.isa) if gpu.get("vendor") == "amd" and gpu.get("isa") and not gpu.knows("integrated") else None
    if family and family.integrated:
        gpu.absorb({"integrated": gpu.fields["isa"]._replace(value=True, rank=_BY_RUNTIME)})
