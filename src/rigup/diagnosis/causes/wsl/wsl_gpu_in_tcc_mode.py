"""An NVIDIA card of the Windows host is in TCC mode."""

from rigup.diagnosis.causes.places import WSL
from rigup.diagnosis.rule import Verdict, one, rule, seen, text_rule
from rigup.machine.kinds import Gpu, Platform, Symptom


@rule("wsl-gpu-in-tcc-mode")
def a_card_computes_only(_platform: Platform = one(wsl=WSL), card: Gpu = one(driver_model="TCC")) -> Verdict:
    """Windows keeps such a card to itself, and one is enough to stop them all."""
    return bool(card.get("vendor", "nvidia") == "nvidia")


@rule("wsl-gpu-in-tcc-mode", strength="likely")
def a_card_computes_only_where_wsl_is_spoken_of(
    spoken: Symptom = seen(tag="wsl-spoken-of"), card: Gpu = one(driver_model="TCC"), platform: Platform | None = one(wsl=WSL)
) -> Verdict:
    """Windows's own list, and a person who wants the cards in WSL."""
    return platform is None and card.get("vendor", "nvidia") == "nvidia" and {"said": spoken.id}


@rule("wsl-gpu-in-tcc-mode", strength="likely")
def no_handle_inside(
    _platform: Platform = one(wsl=WSL),
    error: Symptom = seen("nvidia-smi-no-handle", "wsl-access-blocked"),
    drawing: Gpu | None = one(driver_model="WDDM"),
    computing: Gpu | None = one(driver_model="TCC"),
    card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """What the driver's Windows side refuses; where Windows's own list shows no such card, or the card knows no such mode, it is something else."""
    listed = drawing is not None and computing is None
    blocked = error.id == "wsl-access-blocked" and card is not None and may_be_in_tcc_mode(card)
    return (blocked or str(error.get("why")).startswith("Unknown Error")) and not listed


def may_be_in_tcc_mode(card: Gpu) -> bool:
    """Cards for games draw and know WDDM alone; those for servers come in TCC mode, those for workstations can be switched to it."""
    return card.knows("name") and "GeForce" not in str(card.name)


@text_rule("wsl-gpu-in-tcc-mode", "likely")
def a_card_computes_only_where_windows_starts_a_wsl(
    typed: Symptom = seen("wsl-command-typed"), card: Gpu = one(driver_model="TCC"), platform: Platform | None = one(wsl=WSL)
) -> Verdict:
    """Windows's own list has such a card, and a command asks a WSL for its GPUs."""
    return platform is None and card.get("vendor", "nvidia") == "nvidia" and {"said": typed.id}


@text_rule("wsl-gpu-in-tcc-mode", "likely")
def refused_beside_a_card_that_computes_only(
    card: Gpu = one(driver_model="TCC"), symptom: Symptom = seen("wsl-access-blocked", "nvidia-smi-no-handle")
) -> Verdict:
    """Windows's list has such a card, and elsewhere it is refused."""
    unknown = symptom.id == "wsl-access-blocked" or str(symptom.get("why")).startswith("Unknown Error")
    return unknown and card.get("vendor", "nvidia") == "nvidia" and {"said": symptom.id}
