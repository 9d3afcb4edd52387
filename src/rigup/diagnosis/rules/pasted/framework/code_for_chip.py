"""Programs and extensions without code for the chip that is there."""

import re

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.rocm import OVERRIDE, helps, inside_a_processor, left
from rigup.knowledge.chips import runs_on, why_not
from rigup.machine.kinds import Gpu, Symptom, Torch, Variable

_SERVERS_NAMED = {
    "tensorflow-on-hip-shown": "TensorFlow", "xla-code-object-not-loaded": "XLA", "runtime-of-models-shown": "ONNX Runtime", "kobold-named": "koboldcpp",
    "lm-studio-named": "LM Studio", "lemonade-named": "Lemonade", "julia-of-amd-shown": "AMDGPU.jl",
}  # fmt: skip
_PROGRAMS = {
    "xgboost-for-the-processor": "XGBoost",
    "lightgbm-for-the-processor": "LightGBM",
    "tvm-for-the-processor": "TVM",
    "candle-for-the-processor": "candle",
    "caffe-for-the-processor": "Caffe",
    "kaldi-for-the-processor": "Kaldi",
    "opencv-for-the-processor": "OpenCV",
    "opencv-networks-for-the-processor": "OpenCV",
    "gromacs-for-the-processor": "GROMACS",
    "colmap-for-the-processor": "COLMAP",
    "faiss-for-the-processor": "faiss",
    "dlib-for-the-processor": "dlib",
    "llama-for-the-processor": "llama.cpp",
}


def program_of(named: Symptom) -> dict[str, str]:
    """The program that a text names, as people call it."""
    return {"program": _SERVERS_NAMED[named.id]} if named.id in _SERVERS_NAMED else {}


@rule("binary-arch-missing", "likely")
def build_was_given_other_targets(
    error: Symptom = seen(tag="no-code-for-amd-chip"), built: Symptom = seen("targets-of-a-build-shown"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="amd", integrated=False),
    override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """None of the targets runs on the card; a processor's graphics beside a card are left out by right."""
    isa = card.get("isa") or ""
    aside = bool(card.get("integrated") and other) or bool(override and isa and helps(isa, override.get("value")))
    code = re.findall(r"gfx[0-9a-f]{3,4}", str(built.code))
    return bool(isa) and not aside and not runs_on(isa, code) and {"said": error.id, "why": built.id}


@rule("binary-arch-missing", "likely")
def list_of_chips_lacks_the_card(
    symptom: Symptom = seen("tensorflow-lists-supported-chips"), card: Gpu = one(vendor="amd"), created: Symptom | None = seen("tensorflow-made-a-device"), whole: Symptom | None = seen("tensorflow-leaves-the-chip-out"),
) -> Verdict:  # fmt: skip
    """TensorFlow prints the list where it leaves a device out; two names without a comma between them are no name."""
    isa = card.get("isa") or ""
    spared = created is not None and inside_a_processor(isa)
    lacks = bool(isa) and isa not in re.split(r"[,.\s]+", str(symptom.listed))
    return whole is None and lacks and not spared and not left(isa) and {"gfx": isa, "package": "tensorflow"}


@rule("binary-arch-missing", "possible")
def a_program_of_ones_own_has_no_code(
    error: Symptom = seen("device-function-told"), named: Symptom = seen("ollama-named", "own-build-told", "lemonade-named"), card: Gpu | None = one(vendor="amd"),
    rocm: Symptom | None = seen(tag="ours"),
) -> Verdict:  # fmt: skip
    """What somebody compiled, or a server's bundle, is without the card's target."""
    ours = card is not None or rocm is not None
    return ours and not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **program_of(named)}


@rule("binary-arch-missing", "likely")
def program_was_built_for_others(
    error: Symptom = seen("hip-invalid-device-function-constant", tag="no-code-for-amd-chip"), program: Symptom = seen("hip-program-named", "hip-program-tells-no-function", "image-for-instinct-named"), card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """A program of its own, or an image that names the cards for which it is."""
    return not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **program_of(program)}


@rule("binary-arch-missing", "likely")
def another_framework_has_no_code(
    error: Symptom = seen("hip-invalid-device-function-constant", tag="no-code-for-amd-chip"), shown: Symptom = seen(tag="anothers"), card: Gpu | None = one(vendor="amd"),
    torch: Torch | None = None, named: Symptom | None = seen("torch-named"),
) -> Verdict:  # fmt: skip
    """HIP's own words, in a text that shows another framework than torch at work."""
    alone = named is None and (torch is None or not torch.knows("version"))
    return alone and not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **program_of(shown)}


@rule("binary-arch-missing", "likely")
def program_for_the_processor_beside_a_card(
    symptom: Symptom = seen(*_PROGRAMS), _card: Gpu = one(vendor="nvidia")
) -> Verdict:
    """A build without any code for GPUs, where one is shown."""
    return {"said": symptom.id, "program": _PROGRAMS[symptom.id]}


@rule("binary-arch-missing", "likely")
def detectron2_was_compiled_for_newer_cards(
    flags: Symptom = seen("detectron2-code-list"), cards: Every[Gpu] = every(Gpu, vendor="nvidia")
) -> Verdict:
    """Its own report lists both; nothing newer runs on an older card, while an older list may hold code to be compiled."""
    code = [f"sm_{digits}" for digits in re.findall(r"\d{2,3}", str(flags.code).replace(".", ""))]
    reasons = [why_not(str(card.isa), code) for card in cards if card.knows("isa")]
    older = [why for why in reasons if why is not None and why.kind == "older-chip"]
    return bool(older) and len(older) == len(reasons) and {"package": "detectron2"}


@rule("binary-arch-missing", "likely")
def llama_has_nothing_below(
    symptom: Symptom = seen("ggml-has-no-architecture-below"), gpu: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """Its message names the card's own number; beside a card of another number it is a fault of the program."""
    wanted = f"sm_{int(symptom.arch) // 10}"
    same = gpu is None or not gpu.knows("isa") or gpu.isa == wanted
    return same and {"isa": wanted, "package": "llama.cpp"}
