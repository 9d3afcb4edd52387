"""What ROCm, and its builds of torch, have for a chip."""

from rigup.knowledge.chips import runs_on
from rigup.knowledge.lifecycle import ended
from rigup.knowledge.rocm import gfx_family, override_for
from rigup.knowledge.torch_builds import build, builds
from rigup.machine.kinds import Torch


def left(isa: str) -> bool:
    """ROCm once had the chip, has left it, and no sibling's code runs on it."""
    return ended(isa) is not None and override_for(isa) is None


def inside_a_processor(isa: str) -> bool:
    """No card has that chip, only graphics in processors."""
    row = gfx_family(isa)
    return bool(row and row.integrated)


def wheels_have(isa: str, torch: Torch | None) -> bool:
    """This torch has code for the chip; where it tells neither its code nor its release, every ROCm wheel has."""
    if torch is not None and torch.get("code"):
        return runs_on(isa, torch.code)
    mine = build(torch.version) if torch is not None and torch.knows("version") and torch.version else None
    rows = [mine] if mine else [row for row in builds() if row.rocm and row.code]
    return bool(isa and rows) and all(row.rocm and runs_on(isa, row.code) for row in rows)
