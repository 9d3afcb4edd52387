"""Builds and libraries in threads of frameworks: two figures of one report that do not go together, where no message says so.

A list of code beside a card, the cuDNN that Paddle was built with beside the one that it loads, a build for the processor whose program weighs a device and ends.
"""

import re

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.framework import worth_a_build
from rigup.knowledge.chips import age_beside, isa_of_capability, runs_on, why_not
from rigup.knowledge.cuda import version_key
from rigup.machine.kinds import Gpu, Symptom, Torch, Variable

_LIST = "TORCH_CUDA_ARCH_LIST"
_OWN = "torchs-own-call-has-no-code"
_NO_CODE = ("no-kernel-image", "device-function-invalid")


# -- code for the card
@rule("binary-arch-missing", "likely")
def detectron2_was_compiled_for_newer_cards(
    flags: Symptom = seen("detectron2-code-list"), cards: Every[Gpu] = every(Gpu, vendor="nvidia")
) -> Verdict:
    """Its own report lists both; nothing newer runs on an older card, while an older list may hold code to be compiled."""
    code = [f"sm_{digits}" for digits in re.findall(r"\d{2,3}", str(flags.code).replace(".", ""))]
    reasons = [why_not(str(card.isa), code) for card in cards if card.knows("isa")]
    older = [why for why in reasons if why is not None and why.kind == "older-chip"]
    return bool(older) and len(older) == len(reasons) and {"package": "detectron2"}


@rule("gpu-arch-newer-than-wheel", "likely")
def torch_was_compiled_for_older_cards(
    asked: Variable = one(name=_LIST), gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen(_OWN)
) -> Verdict:
    """The list that somebody gave to his own build of torch ends below the card, and a call of torch itself fails."""
    return _age(asked, gpu) == "newer-chip" and {"said": said.id}


@rule("gpu-arch-older-than-wheel", "likely")
def torch_was_compiled_for_newer_cards(
    asked: Variable = one(name=_LIST), gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen(_OWN)
) -> Verdict:
    """The same with a list that begins above it."""
    return _age(asked, gpu) == "older-chip" and {"said": said.id}


@rule("binary-arch-missing", "possible")
def extension_was_compiled_for_other_cards(
    asked: Variable = one(name=_LIST), gpu: Gpu = one(vendor="nvidia"), _said: Symptom = seen(*_NO_CODE), own: Symptom | None = seen(_OWN),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """The list given to a build lacks the card; torch itself has code for it, or nobody knows."""
    serves = torch is None or not torch.knows("code") or runs_on(gpu.isa, torch.code)
    return own is None and serves and _age(asked, gpu) is not None


def _age(asked: Variable, gpu: Gpu) -> str | None:
    """How the card stands to what was asked for; None where it is served, or generations are named in words."""
    code: list[str] = []
    for word in re.findall(r"[^\s;,\"']+", str(asked.value or "")):
        number, _plus, more = word.partition("+")
        isa = isa_of_capability(number)
        if isa is None:
            return None
        code += [isa, isa.replace("sm", "compute")] if more.upper() == "PTX" else [isa]
    return age_beside(why_not(gpu.isa, code), code) if code else None


# -- a build for the processor
@rule("cpu-only-torch", "likely")
def device_was_weighed_and_the_message_is_cut(
    torch: Torch = one(), _weighed: Symptom = seen("ultralytics-weighs-a-device-and-ends"), gpu: Gpu | None = None
) -> Verdict:
    """Its function that chooses a device ends with an error, and the head line names a build for the processor."""
    cpu = str(torch.version).endswith("+cpu") and not torch.get("available")
    return cpu and (gpu is None or worth_a_build(gpu))


# -- libraries
@rule("cudnn-version-incompatible", "likely")
def paddle_loads_an_older_cudnn(
    built: Symptom = seen("paddle-built-with-cudnn"), loaded: Symptom = seen("paddle-loads-a-cudnn")
) -> Verdict:
    """It tells what it was built with, and what the loader gave it: a newer one serves, an older one does not."""
    was, found = version_key(str(built.built))[:2], version_key(str(loaded.found))[:2]
    return found < was and {"built": built.built, "found": loaded.found}
