"""What every way to mend an AMD card's causes asks first: which system, which program, which chip."""

from rigup.diagnosis.causes.grounds import ids_in, symptoms_in, system_of
from rigup.diagnosis.causes.rocm.ollama import of_ollama
from rigup.diagnosis.rule import Params, one, seen
from rigup.knowledge.amd_ways import isa_of_machine, program_behind
from rigup.knowledge.program_builds import of_then, program_of
from rigup.machine.kinds import Gpu, Platform, Symptom, Torch


def _isa(knew: Params, card: Gpu | None) -> str | None:
    target = str(knew.get("gfx") or "")
    if target.startswith("gfx"):
        return target
    cards = [held for held in knew.values() if isinstance(held, Gpu) and held.get("vendor") == "amd"]
    return next((str(gpu.get("isa")) for gpu in (*cards, *([card] if card else [])) if gpu.get("isa")), None)


def who_computes_where(
    knew: Params,
    card: Gpu | None = one(vendor="amd"),
    platform: Platform | None = None,
    windows: Symptom | None = seen(tag="windows-in-words"),
    named: Symptom | None = seen(tag="amd-program-named"),
    torch: Torch | None = None,
    machine: Symptom | None = seen("steam-deck-named"),
    release: Symptom | None = seen("ollama-tells-its-release"),
    typed: Symptom | None = seen("ollama-is-typed", "llama-cpp-is-typed", "llama-cpp-of-ones-own-build"),
    former: Symptom | None = seen("llama-cpp-before-the-renaming"),
) -> Params:
    """The program is the one that wrote the finding's own messages, else torch where one is, else one that the text names."""
    told = [*[id_ for id_ in ids_in(knew) if not id_.endswith("-named")], *([typed.id] if typed else []), *ids_in(knew)]
    told = ["ollama-", *told] if any(of_ollama(symptom) for symptom in symptoms_in(knew)) else told
    mine = program_behind(told) or program_behind(["torch-named"] if torch else [named.id] if named else [])
    sources = program_of(mine.name) if mine and former else None
    then = of_then(sources, [former.id]) if sources and former else None
    return {
        "system": system_of(knew, platform, windows),
        "isa": _isa(knew, card) or (isa_of_machine(machine.id) if machine else None),
        "program": mine.name if mine else None,
        "by_torch": "torch" if mine and mine.torch else None,
        "backend": mine.backend if mine else None,
        "package_of": mine.package if mine else None,
        "heeds": mine.heeds_override if mine else None,
        "vulkan": mine.variable if mine else None,
        "vulkan_value": mine.value if mine else None,
        "since": mine.since or None if mine else None,
        "vulkan_build": (then.option_vulkan if then and mine.build else mine.build or None) if mine else None,
        "release_there": release.get("version") if release else None,
        "version_of_torch": torch.get("version") if torch else None,
        "hip_of_torch": torch.get("hip") if torch else None,
    }


def boxed(knew: Params) -> bool:
    """Whether the messages come from a container."""
    return any(symptom.place.world.startswith("container") for symptom in symptoms_in(knew))
