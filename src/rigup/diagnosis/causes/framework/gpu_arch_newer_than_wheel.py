"""The GPU is newer than all that this build was compiled for."""

import re

from rigup.diagnosis.causes.framework.code_for_chip import isa_of, left_behind, newer_than_most, of_today, refused, why_unserved
from rigup.diagnosis.causes.framework.torch_builds import a_build_that_serves_the_card
from rigup.diagnosis.rule import Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.chips import isa_of_capability, isa_order, relative_age, why_not
from rigup.machine.kinds import Gpu, Symptom, Torch


@rule("gpu-arch-newer-than-wheel")
def card_newer_than_the_code(gpu: Gpu = one(vendor="nvidia"), torch: Torch = one()) -> Verdict:
    """No machine code for the card, and nothing that could be compiled for it."""
    return why_unserved(gpu, torch) == "newer-chip"


@rule("gpu-arch-newer-than-wheel")
def above_the_range(gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("torch-capability-range")) -> Verdict:
    """Above the highest, and of another major: within one major newer cards run older code."""
    return gpu.isa == isa_of(symptom) and isa_order(gpu.isa)[:1] > isa_order(isa_of_capability(symptom.high) or "")[:1]


@rule("gpu-arch-newer-than-wheel")
def torch_refuses_a_newer_card(gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("torch-cannot-serve-card")) -> Verdict:
    """torch counts machine code alone: what it could compile from PTX it does not trust."""
    return gpu.isa == symptom.isa and refused(symptom) == "newer-chip"


@rule("gpu-arch-newer-than-wheel", "possible")
def no_image_for_a_recent_card(
    gpu: Gpu = one(vendor="nvidia"),
    _said: Symptom = seen("no-kernel-image"),
    library: Symptom | None = seen(tag="code-list-of-a-library"),
    torch: Torch | None = None,
) -> Verdict:
    """Nothing tells what torch was built for, and most of its releases are older than the card."""
    unknown = torch is None or not torch.knows("code")
    return unknown and library is None and newer_than_most(gpu.isa)


@rule("gpu-arch-newer-than-wheel", "likely")
def compiler_does_not_know_the_card_yet(_said: Symptom = seen("nvrtc-unknown-arch"), gpu: Gpu | None = one(vendor="nvidia")) -> Verdict:
    """NVRTC is asked for an architecture that came after it."""
    return gpu is None or not gpu.knows("isa") or of_today(gpu.isa)


@rule("gpu-arch-newer-than-wheel", "possible")
def no_image_for_the_newest_generation(
    symptom: Symptom = seen("no-kernel-image"),
    named: Symptom = seen(tag="newest-generation"),
    torch: Torch | None = None,
    gpu: Gpu | None = one(vendor="nvidia"),
    library: Symptom | None = seen("no-kernel-image-in-library", "ggml-no-kernel-image", "ggml-archs"),
    older: Symptom | None = seen("older-generation-named"),
) -> Verdict:
    """As with a card that a tool lists, where only the person's words tell of its generation, and of no other."""
    unknown = torch is None or not torch.knows("code")
    return unknown and gpu is None and library is None and older is None and {"said": symptom.id, "named": named.id}


@text_rule("gpu-arch-newer-than-wheel", "likely")
def toolkit_is_older_than_the_card(symptom: Symptom = seen(tag="chip-unknown-to-compiler")) -> Verdict:
    """And come to know new ones with new releases."""
    return not left_behind(f"sm_{symptom.arch}") and {"isa": f"sm_{symptom.arch}"}


mends("gpu-arch-newer-than-wheel")(a_build_that_serves_the_card)


def age_of_listed_code(symptom: Symptom, isa: str) -> str:
    """Whether a chip comes before or after the code that a message lists; "" where nobody can tell."""
    code = re.findall(r"(?:sm|compute)_\d{2,3}", str(symptom.code))
    return relative_age(why_not(isa, code), code) or ""
