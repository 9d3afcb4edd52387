"""The GPU is older than all that this build was compiled for."""

from rigup.diagnosis.causes.framework.code_for_chip import _todays_code, isa_of, left_behind, of_today, refused, why_unserved
from rigup.diagnosis.causes.framework.torch_builds import a_build_that_serves_the_card
from rigup.diagnosis.causes.pci import NVIDIA
from rigup.diagnosis.rule import Every, Passes, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.chips import isa_of_capability, isa_order, relative_age, runs_on, why_not
from rigup.knowledge.gpus import gpu_by_pci
from rigup.machine.kinds import Gpu, PciDevice, Symptom, Torch

_COMPARABLE = 0.5  # share of a served card's memory from which on a card beside it is worth computing on


@rule("gpu-arch-older-than-wheel")
def card_older_than_the_code(
    gpu: Gpu = one(vendor="nvidia"), torch: Torch = one(), symptom: Symptom = seen("torch-cannot-serve-card", "no-kernel-image")
) -> Verdict:
    """There is code for newer cards and none for this one, and the program came to feel it."""
    return why_unserved(gpu, torch) == "older-chip" and (symptom.get("isa") in (None, gpu.isa))


def _worth_as_much(gpu: Gpu, cards: Every[Gpu], torch: Torch) -> bool:
    """Whether a card that is left out has about the memory of those that are served: somebody bought it to compute."""
    served = [card.get("vram") or 0 for card in cards if card.get("isa") and runs_on(card.isa, torch.code)]
    return bool(served) and max(served) > 0 and (gpu.get("vram") or 0) >= _COMPARABLE * max(served)


@rule("gpu-arch-older-than-wheel")
def old_card_that_nobody_used_yet(
    gpu: Gpu = one(vendor="nvidia"),
    torch: Torch = one(),
    bus: Every[PciDevice] = every(PciDevice, vendor_id=NVIDIA),
    cards: Every[Gpu] = every(Gpu, vendor="nvidia"),
) -> Verdict:
    """The same, where nothing failed. Beside a card that is served and far larger an old one is there for the screen."""
    if why_unserved(gpu, torch) != "older-chip":
        return False
    rows = [gpu_by_pci(device.vendor_id, device.get("device_id") or "") for device in bus]
    if not any(row and row.isa and runs_on(row.isa, torch.code) for row in rows):
        return True
    return {"severity": "warning" if _worth_as_much(gpu, cards, torch) else "note"}


@rule("gpu-arch-older-than-wheel")
def old_card_in_a_report(
    gpu: Gpu = one(vendor="nvidia"), torch: Torch = one(), newer: Gpu | None = one(vendor="nvidia", isa=Passes(of_today))
) -> Verdict:
    """A report lists the card beside the build; that torch may say it is available proves nothing."""
    if torch.get("available") is False or why_unserved(gpu, torch) != "older-chip":
        return False
    if not (newer and runs_on(newer.isa, torch.code)):
        return True
    alike = (gpu.get("vram") or 0) >= _COMPARABLE * newer.get("vram", 0) > 0
    return {"severity": "warning" if alike else "note"}


@rule("gpu-arch-older-than-wheel")
def torch_dropped_the_card(gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("torch-dropped-card")) -> Verdict:
    """torch names the card and the lowest capability that it was built for."""
    return gpu.isa == isa_of(symptom)


@rule("gpu-arch-older-than-wheel")
def below_the_range(gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("torch-capability-range")) -> Verdict:
    """Below the lowest that torch was built for."""
    return gpu.isa == isa_of(symptom) and isa_order(gpu.isa) < isa_order(isa_of_capability(symptom.low) or "")


@rule("gpu-arch-older-than-wheel")
def torch_refuses_an_older_card(gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("torch-cannot-serve-card")) -> Verdict:
    """torch's list has numbers above the card's, and none that would serve it."""
    return gpu.isa == symptom.isa and refused(symptom) == "older-chip"


@rule("gpu-arch-older-than-wheel", "likely")
def no_image_for_a_dropped_card(
    gpu: Gpu = one(vendor="nvidia"),
    _said: Symptom = seen("no-kernel-image"),
    library: Symptom | None = seen(tag="code-list-of-a-library"),
    torch: Torch | None = None,
    own: Symptom | None = seen("ggml-finds-devices"),
) -> Verdict:
    """Nothing tells what torch was built for, and no build of today serves the card; llama.cpp and its kin are no torch."""
    unknown = (torch is None and own is None) or (torch is not None and not torch.knows("code"))
    return unknown and library is None and isa_order(gpu.isa) < min(isa_order(code) for code in _todays_code())


@rule("gpu-arch-older-than-wheel", "likely")
def compiler_knows_the_card_no_more(_said: Symptom = seen("nvrtc-unknown-arch"), gpu: Gpu = one(vendor="nvidia")) -> Verdict:
    """NVRTC is asked for an architecture that it has dropped."""
    return not of_today(gpu.isa)


@text_rule("gpu-arch-older-than-wheel", "likely")
def toolkit_has_dropped_the_card(symptom: Symptom = seen(tag="chip-unknown-to-compiler")) -> Verdict:
    """Toolkits drop cards from below."""
    return left_behind(f"sm_{symptom.arch}") and {"isa": f"sm_{symptom.arch}"}


@text_rule("gpu-arch-older-than-wheel", "likely")
def the_warnings_first_line_and_an_older_card(
    _said: Symptom = seen("card-and-its-capability-cut"), gpu: Gpu = one(vendor="nvidia"), torch: Torch = one()
) -> Verdict:
    """torch names a card and its capability so only where it warns; what it warns of was cut off."""
    code = list(torch.get("code") or [])
    return bool(code) and relative_age(why_not(gpu.isa, code), code) == "older-chip"


mends("gpu-arch-older-than-wheel")(a_build_that_serves_the_card)
