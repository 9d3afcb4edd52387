"""This build of llama.cpp crashes in its AMX code."""

from rigup.diagnosis.rule import Verdict, rule, seen
from rigup.machine.kinds import Cpu, Symptom


@rule("amx-build-broken")
def crash_at_a_tile_instruction(
    _where: Symptom = seen("amx-tile-load", "amx-frame"), _fault: Symptom = seen(tag="segmentation-fault illegal-instruction")
) -> Verdict:
    """The fault lies in AMX code."""
    return True


@rule("amx-build-broken", "likely")
def crash_after_repacking_for_amx(
    _buffer: Symptom = seen("amx-buffer"), _fault: Symptom = seen(tag="segmentation-fault illegal-instruction"), cpu: Cpu | None = None
) -> Verdict:
    """Weights were repacked for AMX, then it crashed."""
    return cpu is None or not cpu.knows("flags") or "amx_tile" in cpu.flags
