"""Servers of models and programs that draw: where two of their own lines decide together."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import Gpu, Symptom

_DIED = ("ollamas-runner-died-of-an-entry-point", "windows-dll-not-found-status", "windows-dll-not-found-status-in-decimal", "windows-dll-not-found-status-unsigned")  # fmt: skip


@rule("library-clash-ld-library-path", "likely")
def runner_loads_another_programs_library(
    said: Symptom = seen("ollama-finds-a-foreign-library"), _died: Symptom = seen(*_DIED)
) -> Verdict:
    """A library of another program's lies on the path, and the runner ends where it is loaded."""
    return {"said": said.id}


@rule("library-clash-ld-library-path", "possible")
def part_is_of_another_build(
    said: Symptom = seen("ggmls-library-is-of-another-build"), goes: Symptom | None = seen("layers-all-offloaded")
) -> Verdict:
    """An old file beside the program's own; one whose whole model lies on the card does without it."""
    return goes is None and said.values()


@rule("cuda-runtime-library-missing", "possible")
def part_for_cuda_does_not_load(
    said: Symptom = seen("ggmls-cuda-library-not-loaded-on-windows", "engine-of-windows-does-not-load-its-cuda-part"), other: Gpu | None = one(vendor=("amd", "intel"), integrated=False), own: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A program that tries one part after the other goes on to that of another maker's card."""
    return (other is None or own is not None) and said.values()


@rule("gpu-memory-held-by-others", "likely")
def nothing_goes_on_a_card_that_is_taken(
    said: Symptom = seen("layers-none-offloaded"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """An engine counts what is free and puts no layer there; nvidia-smi shows that most of it is in use."""
    used, whole = gpu.get("memory_used"), gpu.get("vram")
    return bool(used and whole) and used > 0.8 * whole and {"said": said.id}
