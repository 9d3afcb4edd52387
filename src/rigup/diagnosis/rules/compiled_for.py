"""Whether a framework's build has code for the card, where it has code for others."""

from typing import Any

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.told import Passes
from rigup.knowledge.chips import isa_of_capability, isa_order, relative_age, runs_on, why_not
from rigup.knowledge.gpus import gpu_by_pci
from rigup.knowledge.torch_builds import builds
from rigup.machine.kinds import Gpu, PciDevice, Symptom, Torch

_NVIDIA = "10de"
_COMPARABLE = 0.5  # share of a served card's memory from which on a card beside it is worth computing on


def _todays_code() -> list[str]:
    """What PyPI's newest build was compiled for."""
    return next(row.code for row in builds() if row.pypi and row.code)


def of_today(isa: str) -> bool:
    """Whether PyPI's newest build has something for the card."""
    return runs_on(isa, _todays_code())


def left_behind(isa: str) -> bool:
    """Whether the chip is older than all that PyPI's newest build has code for."""
    why = why_not(isa, _todays_code())
    return why is not None and why.kind == "older-chip"


@rule("gpu-arch-newer-than-wheel")
def card_newer_than_the_code(gpu: Gpu = one(vendor="nvidia"), torch: Torch = one()) -> Verdict:
    """No machine code for the card, and nothing that could be compiled for it."""
    return _why_unserved(gpu, torch) == "newer-chip"


@rule("gpu-arch-older-than-wheel")
def card_older_than_the_code(
    gpu: Gpu = one(vendor="nvidia"), torch: Torch = one(), symptom: Symptom = seen("torch-cannot-serve-card", "no-kernel-image"),
) -> Verdict:  # fmt: skip
    """There is code for newer cards and none for this one, and the program came to feel it."""
    return _why_unserved(gpu, torch) == "older-chip" and (symptom.get("isa") in (None, gpu.isa))


@rule("gpu-arch-older-than-wheel")
def old_card_that_nobody_used_yet(
    gpu: Gpu = one(vendor="nvidia"), torch: Torch = one(), bus: Every[PciDevice] = every(PciDevice, vendor_id=_NVIDIA),
    cards: Every[Gpu] = every(Gpu, vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same, where nothing failed. Beside a card that is served and far larger an old one is there for the screen."""
    if _why_unserved(gpu, torch) != "older-chip":
        return False
    rows = [gpu_by_pci(device.vendor_id, device.get("device_id") or "") for device in bus]
    if not any(row and row.isa and runs_on(row.isa, torch.code) for row in rows):
        return True
    return {"severity": "warning" if _worth_as_much(gpu, cards, torch) else "note"}


def _worth_as_much(gpu: Gpu, cards: Every[Gpu], torch: Torch) -> bool:
    """Whether a card that is left out has about the memory of those that are served: somebody bought it to compute."""
    served = [card.get("vram") or 0 for card in cards if card.get("isa") and runs_on(card.isa, torch.code)]
    return bool(served) and max(served) > 0 and (gpu.get("vram") or 0) >= _COMPARABLE * max(served)


@rule("gpu-arch-older-than-wheel")
def old_card_in_a_report(
    gpu: Gpu = one(vendor="nvidia"), torch: Torch = one(), newer: Gpu | None = one(vendor="nvidia", isa=Passes(of_today)),
) -> Verdict:  # fmt: skip
    """A report lists the card beside the build; that torch may say it is available proves nothing."""
    if torch.get("available") is False or _why_unserved(gpu, torch) != "older-chip":
        return False
    if not (newer and runs_on(newer.isa, torch.code)):
        return True
    alike = (gpu.get("vram") or 0) >= _COMPARABLE * newer.get("vram", 0) > 0
    return {"severity": "warning" if alike else "note"}


@rule("gpu-arch-older-than-wheel")
def torch_dropped_the_card(gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("torch-dropped-card")) -> Verdict:
    """torch names the card and the lowest capability that it was built for."""
    return gpu.isa == _isa_of(symptom)


@rule("gpu-arch-older-than-wheel")
def below_the_range(gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("torch-capability-range")) -> Verdict:
    """Below the lowest that torch was built for."""
    return gpu.isa == _isa_of(symptom) and isa_order(gpu.isa) < isa_order(isa_of_capability(symptom.low) or "")


@rule("gpu-arch-newer-than-wheel")
def above_the_range(gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("torch-capability-range")) -> Verdict:
    """Above the highest, and of another major: within one major newer cards run older code."""
    return gpu.isa == _isa_of(symptom) and isa_order(gpu.isa)[:1] > isa_order(isa_of_capability(symptom.high) or "")[:1]


@rule("gpu-arch-newer-than-wheel")
def torch_refuses_a_newer_card(
    gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("torch-cannot-serve-card")
) -> Verdict:
    """torch counts machine code alone: what it could compile from PTX it does not trust."""
    return gpu.isa == symptom.isa and refused(symptom) == "newer-chip"


@rule("gpu-arch-older-than-wheel")
def torch_refuses_an_older_card(
    gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("torch-cannot-serve-card")
) -> Verdict:
    """torch's list has numbers above the card's, and none that would serve it."""
    return gpu.isa == symptom.isa and refused(symptom) == "older-chip"


@rule("gpu-arch-older-than-wheel", "likely")
def no_image_for_a_dropped_card(
    gpu: Gpu = one(vendor="nvidia"), _said: Symptom = seen("no-kernel-image"), library: Symptom | None = seen(tag="code-list-of-a-library"),
    torch: Torch | None = None, own: Symptom | None = seen("ggml-finds-devices"),
) -> Verdict:  # fmt: skip
    """Nothing tells what torch was built for, and no build of today serves the card; llama.cpp and its kin are no torch."""
    unknown = (torch is None and own is None) or (torch is not None and not torch.knows("code"))
    return unknown and library is None and isa_order(gpu.isa) < min(isa_order(code) for code in _todays_code())


@rule("gpu-arch-newer-than-wheel", "possible")
def no_image_for_a_recent_card(
    gpu: Gpu = one(vendor="nvidia"), _said: Symptom = seen("no-kernel-image"), library: Symptom | None = seen(tag="code-list-of-a-library"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Nothing tells what torch was built for, and most of its releases are older than the card."""
    unknown = torch is None or not torch.knows("code")
    return unknown and library is None and newer_than_most(gpu.isa)


@rule("gpu-arch-newer-than-wheel", "likely")
def compiler_does_not_know_the_card_yet(
    _said: Symptom = seen("nvrtc-unknown-arch"), gpu: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """NVRTC is asked for an architecture that came after it."""
    return gpu is None or not gpu.knows("isa") or of_today(gpu.isa)


@rule("gpu-arch-older-than-wheel", "likely")
def compiler_knows_the_card_no_more(
    _said: Symptom = seen("nvrtc-unknown-arch"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """NVRTC is asked for an architecture that it has dropped."""
    return not of_today(gpu.isa)


def newer_than_most(isa: str) -> bool:
    """Whether builds of today serve the card, and fewer than half of all builds with machine code do."""
    lists = [row.code for row in builds() if row.cuda and row.code]
    return of_today(isa) and 2 * sum(runs_on(isa, code) for code in lists) < len(lists)


def _why_unserved(gpu: Gpu, torch: Torch) -> str | None:
    """Why this build has nothing for that card, in a word; None where it has."""
    if torch.get("hip"):
        return None
    return relative_age(why_not(gpu.isa, torch.code, torch.get("cuda")), torch.code)


def refused(symptom: Symptom) -> str:
    """Why torch's list has nothing for the card. Where the list is cut off, today's builds tell whether it is old."""
    listed = [code for code in str(symptom.get("code") or "").replace(",", " ").split() if code.startswith("sm_")]
    if not listed:
        return "newer-chip" if of_today(symptom.isa) else "older-chip"
    return relative_age(why_not(symptom.isa, listed), listed) or ""


def _isa_of(symptom: Symptom) -> str:
    symptom_fields: Any = symptom
    return "sm_" + str(symptom_fields.major) + str(symptom_fields.minor)
