"""What every way to mend an AMD card's causes asks first: which system, which program, which chip."""

import re
from collections.abc import Iterator

from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.knowledge.amd_ways import isa_of_machine, program_behind
from rigup.machine.kinds import Gpu, Platform, Symptom, Torch

_WINDOWS = wordings(tag="windows-in-words")
_NAMED = wordings(tag="amd-program-named")
_OF_CHIPS = ("gfx-not-in-rocblas", "gfx-not-in-torch-wheel", "rocm-dropped-arch")
_OF_BUILDS = (
    "cuda-torch-on-amd", "broken-wheel-missing-library", "rocm-abi-mismatch", "hipblaslt-no-arch-library", "garbage-output-on-gfx",
)  # fmt: skip
_OF_VARIABLES = ("igpu-visible-beside-dgpu", "wrong-hsa-override", "override-not-in-service")


@mends(*_OF_CHIPS, *_OF_BUILDS, *_OF_VARIABLES)
def who_computes_where(
    knew: Params, card: Gpu | None = one(vendor="amd"), platform: Platform | None = None, windows: Symptom | None = seen(tag="windows-in-words"),
    named: Symptom | None = seen(tag="amd-program-named"), torch: Torch | None = None, machine: Symptom | None = seen("steam-deck-named"),
) -> Params:  # fmt: skip
    """The program is the one that wrote the finding's own messages, else torch where one is, else one that the text names."""
    mine = program_behind(ids_in(knew)) or program_behind(["torch-named"] if torch else [named.id] if named else [])
    return {
        "system": system_of(knew, platform, windows), "isa": _isa(knew, card) or (isa_of_machine(machine.id) if machine else None), "program": mine.name if mine else None,
        "by_torch": "torch" if mine and mine.torch else None, "backend": mine.backend if mine else None,
        "package_of": mine.package if mine else None, "heeds": mine.heeds_override if mine else None, "vulkan": mine.variable if mine else None, "vulkan_value": mine.value if mine else None,
        "version_of_torch": torch.get("version") if torch else None, "hip_of_torch": torch.get("hip") if torch else None,
    }  # fmt: skip


def symptoms_in(knew: Params) -> Iterator[Symptom]:
    """The messages that a finding rests on."""
    return (held for held in knew.values() if isinstance(held, Symptom))


def ids_in(knew: Params) -> list[str]:
    """Their ids, also those that a rule gives as text."""
    texts = [str(knew[name]) for name in ("said", "why", "where", "error") if isinstance(knew.get(name), str)]
    return [*(str(symptom.id) for symptom in symptoms_in(knew)), *texts]


def system_of(knew: Params, platform: Platform | None, windows: Symptom | None) -> str:
    """Windows also where only a path tells it; Linux where nothing does."""
    if platform is not None and platform.get("system"):
        return str(platform.get("system"))
    paths = (reading.value for symptom in symptoms_in(knew) for reading in symptom.fields.values())
    drive = any(re.match(r'"?[A-Z]:\\', str(path)) for path in paths)
    return "windows" if drive or windows is not None else "linux"


def _isa(knew: Params, card: Gpu | None) -> str | None:
    target = str(knew.get("gfx") or "")
    if target.startswith("gfx"):
        return target
    cards = [held for held in knew.values() if isinstance(held, Gpu) and held.get("vendor") == "amd"]
    return next((str(gpu.get("isa")) for gpu in (*cards, *([card] if card else [])) if gpu.get("isa")), None)


def boxed(knew: Params) -> bool:
    """Whether the messages come from a container."""
    return any(symptom.place.world.startswith("container") for symptom in symptoms_in(knew))
