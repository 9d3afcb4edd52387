"""Programs and libraries whose own compiled code does not serve a card that torch serves."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.chips import isa_order, runs_on
from rigup.machine.kinds import Gpu, Symptom, Torch


@rule("binary-arch-missing")
def torch_has_what_another_lacks(gpu: Gpu, torch: Torch, _said: Symptom = seen("no-kernel-image")) -> Verdict:
    """No kernel image, though torch's own list serves every card that is known."""
    return runs_on(gpu.isa, torch.code, torch.get("cuda"))


@rule("binary-arch-missing", "likely")
def the_last_frame_is_a_library(
    symptom: Symptom = seen("no-kernel-image-in-library"), gpu: Gpu | None = None, torch: Torch | None = None
) -> Verdict:
    """The error rose from a library with kernels of its own; torch's own list may still be to blame."""
    blame = gpu and torch and gpu.knows("isa") and torch.knows("code") and not runs_on(gpu.isa, torch.code)
    return False if blame else {"package": symptom.package} if symptom.get("package") else True


@rule("binary-arch-missing", "likely")
def tensorflow_cannot_compile_for_it(
    _jit: Symptom = seen("tf-jit-from-ptx"), _failed: Symptom = seen("ptx-invalid")
) -> Verdict:
    """No machine code for the card, and what was to be compiled for it is refused."""
    return {"package": "tensorflow"}


@rule("binary-arch-missing", "likely")
def llama_lists_what_it_was_built_for(
    gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("ggml-archs")
) -> Verdict:
    """llama.cpp prints `ARCHS = 600,700`: all of it is for newer chips than this one."""
    code = ["sm_" + number[:-1] for number in re.findall(r"\d{2,4}(?=a?\b)", symptom.code)]
    return bool(code) and not runs_on(gpu.isa, code) and isa_order(gpu.isa) < min(map(isa_order, code))


@rule("binary-arch-missing", "likely")
def program_that_lists_its_devices_has_no_code(
    symptom: Symptom = seen("no-kernel-image"), _own: Symptom = seen("ggml-finds-devices"), card: Gpu = one(vendor="nvidia"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """llama.cpp and its kin list what CUDA sees, and have no code for it; nothing speaks of torch."""
    return torch is None and bool(card.isa) and {"said": symptom.id}


@rule("binary-arch-missing", "possible")
def program_without_torch_has_no_code(
    symptom: Symptom = seen("no-kernel-image", "cuda-image-invalid"), _program: Symptom = seen("ollama-named"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """ollama is named and torch is not: the library with kernels is its own."""
    return torch is None and {"said": symptom.id, "package": "ollama"}
