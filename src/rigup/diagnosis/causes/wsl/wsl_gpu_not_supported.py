"""ROCm in WSL does not support this card."""

from rigup.diagnosis.causes.places import WSL
from rigup.diagnosis.causes.rocm_overrides import OVERRIDE
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge import wsl
from rigup.knowledge.amd_ways import torch_of_amd
from rigup.knowledge.rocm import override_for
from rigup.language import _
from rigup.machine.kinds import Gpu, Platform, Symptom


def _found(card: Gpu) -> bool:
    return card.get("seen_by") is not None or card.knows("shown_isa")


@rule("wsl-gpu-not-supported", "likely")
def rocminfo_lists_the_processor_only(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), _only: Symptom = seen("rocminfo-processor-only")
) -> Verdict:
    """ROCm's runtime speaks to Windows and leaves this card out."""
    return not _found(card) and (wsl.chip_without_wsl(card.isa) or card.get("integrated") is True)


@rule("wsl-gpu-not-supported", "possible")
def rocminfo_lists_no_card(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), _only: Symptom = seen("rocminfo-processor-only")
) -> Verdict:
    """The same with a card that newer releases have."""
    return not _found(card)


@rule("wsl-gpu-not-supported", strength="likely")
def chip_before_the_first_generation(
    _platform: Platform = one(wsl=WSL),
    card: Gpu = one(vendor="amd"),
    _error: Symptom = seen("hip-no-device", "torch-no-cuda-gpus", "rock-module-not-loaded", tag="wsl-no-runtime"),
) -> Verdict:
    """ROCm in WSL began with a later generation."""
    return wsl.chip_without_wsl(card.isa)


@rule("wsl-gpu-not-supported", strength="likely")
def chip_before_the_first_generation_beside_windows(
    _platform: Platform = one(system="windows"), card: Gpu = one(vendor="amd"), symptom: Symptom = seen("rock-module-not-loaded")
) -> Verdict:
    """Only Linux's rocminfo says so: where the system around it is Windows, it ran in WSL."""
    return wsl.chip_without_wsl(card.isa) and {"said": symptom.id}


@text_rule("wsl-gpu-not-supported", "possible")
def card_that_wsl_has_not(
    card: Gpu = one(vendor="amd"),
    _wsl: Symptom = seen("wsl-detected"),
    listed: Gpu | None = one(vendor="amd", seen_by=("rocminfo", "rocm_agent_enumerator")),
) -> Verdict:
    """ROCm's runtime knows that it is in WSL, and the card is one that it leaves out there."""
    return listed is None and not card.knows("shown_isa") and wsl.chip_without_wsl(card.isa)


@mends("wsl-gpu-not-supported")
def what_else_runs_there(card: Gpu | None = one(vendor="amd")) -> Params:
    """Windows's own ways to the card; Linux on the machine itself, where a chip without code of its own runs a sibling's."""
    isa = str(card.get("isa") or "") if card else ""
    own, row = torch_of_amd(isa, "windows") if isa else None, override_for(isa) if isa else None
    told = {"builds": own.packages, "index": own.address} if own else {}
    if row is not None and not row.shun:
        return {
            **told,
            "backend": _(
                "native Linux with {variable}={value}, or a build for Vulkan on Windows (llama.cpp: winget install -e --id ggml.llamacpp)"
            ).format(variable=OVERRIDE, value=row.value),
        }
    return {**told, "backend": _("native Linux, or on Windows Vulkan, DirectML or AMD's Windows builds")}
