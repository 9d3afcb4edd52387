"""Cards that are modules on a board, and in no slot: who exchanges one that fails."""

from rigup.diagnosis.rule import Params, seen
from rigup.machine.kinds import Symptom


def who_exchanges_a_module(_module: Symptom = seen("module-of-a-board-named")) -> Params:
    """What sits on a board with its neighbours is its maker's to exchange."""
    return {"module": "GPU"}
