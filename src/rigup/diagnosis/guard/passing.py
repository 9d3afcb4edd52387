"""Tools that list the cards in the text already: their list would look the same before and after."""

from rigup.diagnosis.findings import Finding
from rigup.knowledge.doctor_tables import signatures_of
from rigup.machine.kinds import Driver, Gpu
from rigup.machine.store import Facts

_SAID = "symptom "
_HEAD = "NVIDIA-SMI"  # of its table, with the driver's version
_OF_SOME_CARDS = ("hardware", "bus", "firmware")  # family and layers of what befalls one card, beside which the others are listed


def listing(finding: Finding, facts: Facts) -> frozenset[str]:
    """Tools that are shown to reach the cards in the finding's place, without those on whose own words it rests."""
    if {finding.row.family, finding.row.layer} & {*_OF_SOME_CARDS}:
        return frozenset()
    here = [fact for fact in (*facts.of(Gpu), *facts.of(Driver)) if fact.place.meet(finding.place) is not None]
    shown = {str(gpu.get("seen_by")) for gpu in here if isinstance(gpu, Gpu)}
    if any(_HEAD in reading.where.text for fact in here if isinstance(fact, Driver) for reading in fact.fields.values()):
        shown.add("nvidia-smi")
    rows = signatures_of({line.fact.removeprefix(_SAID) for line in finding.evidence})
    return frozenset(shown - {row.program for row in rows} - {argv[0] for argv in finding.failed})
