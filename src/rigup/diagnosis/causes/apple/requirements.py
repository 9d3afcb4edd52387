"""What macOS, and which processor, PyTorch wants for MPS."""

from rigup.knowledge.apple import is_older, mps_minimum, next_mps_minimum
from rigup.machine.kinds import Platform, Symptom, Torch

ARM = "arm64"


def behind(symptom: Symptom, platform: Platform, torch: Torch | None) -> str | None:
    """The minimum that was meant, where the message names one that this system has."""
    want, have = str(symptom.get("want")), platform.version
    if is_older(have, want) or want.partition(".")[0] != have.partition(".")[0]:
        return None
    known = mps_minimum(torch.version) if torch is not None and torch.knows("version") and torch.version else None
    minimum = known or next_mps_minimum(have)
    return minimum if minimum and is_older(have, minimum) else None
