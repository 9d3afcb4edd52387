"""A GPU has a memory error that could not be corrected."""

from rigup.diagnosis.causes.hardware.card_index import index_of, index_of_the_card
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.machine.kinds import Gpu, Symptom


@rule("gpu-memory-ecc-error", "likely")
def uncorrected_errors_are_counted(gpu: Gpu) -> Verdict:
    """The driver counts errors since it was loaded."""
    return gpu.ecc_errors > 0 and index_of(gpu)


@rule("gpu-memory-ecc-error", "likely")
def row_waits_for_its_replacement(gpu: Gpu) -> Verdict:
    """A row was found bad, and is replaced at the next reset."""
    return gpu.remap_pending and index_of(gpu)


@rule("gpu-memory-ecc-error", "likely")
def row_is_marked_for_remapping(symptom: Symptom = seen("xid-row-remap"), done: Symptom | None = seen("rows-are-remapped")) -> Verdict:
    """The driver sets a bad row aside at the next reset; where none waits any more, and none failed, that has been done."""
    return {**symptom.values(), **({"severity": "note"} if done else {})}


@mends("gpu-memory-ecc-error")
def card_of_the_kernels_line(symptom: Symptom = seen("xid-memory-error", "xid-row-remap", "xid-92")) -> Params:
    """The driver's tool takes the place on the bus too."""
    address = symptom.get("address")
    return {"index": f"{address}.0"} if address else {}


mends("gpu-memory-ecc-error")(index_of_the_card)


@mends("gpu-memory-ecc-error")
def card_of_the_report(knew: Params, gpu: Gpu = one(vendor="nvidia", remap_pending=True)) -> Params:
    """Where no number is told, its place is."""
    return {"index": gpu.pci_address} if knew.get("index") is None else {}


@mends("gpu-memory-ecc-error")
def what_is_left_to_do(
    knew: Params,
    broken: Symptom | None = seen(tag="gpu-cells-broken"),
    amd: Symptom | None = seen(tag="amd-memory-fault"),
    card: Gpu | None = one(vendor="amd"),
    waiting: Gpu | None = one(vendor="nvidia", remap_pending=True),
) -> Params:
    """A card that has no spare rows left is exchanged; AMD's is reset by its kernel, or with the machine."""
    of_amd = amd is not None or (card is not None and card.get("vendor") == "amd")
    unknown = not of_amd and knew.get("index") is None
    return {
        "index": None if of_amd or broken is not None else knew.get("index"),
        "broken": "exchange" if broken is not None else None,
        "counters": "nvidia-smi" if unknown else None,
        "waits": "row" if waiting is not None and broken is None else None,
        "again": None if broken is not None else "exchange",
    }
