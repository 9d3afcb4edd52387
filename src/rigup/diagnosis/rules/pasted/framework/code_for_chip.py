"""Programs and extensions without code for the chip that is there."""

import re

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.compiled_for import newer_than_most
from rigup.diagnosis.rules.pasted.heard import HIP_HAS_NO_CODE, JETSONS_IN_WORDS, KFD_REFUSED, OURS, SERVERS
from rigup.diagnosis.rules.pasted.reckoned import age_of_code
from rigup.diagnosis.rules.rocm import ANOTHERS, NO_CODE, OVERRIDE, helps, inside_a_processor, left, wheels_have
from rigup.diagnosis.rules.told import Told
from rigup.knowledge.chips import runs_on, why_not
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Gpu, Jetson, Package, Platform, Symptom, Torch, Variable

_SERVERS_NAMED = {
    "tensorflow-on-hip-shown": "TensorFlow", "xla-code-object-not-loaded": "XLA", "runtime-of-models-shown": "ONNX Runtime", "kobold-named": "koboldcpp",
    "lm-studio-named": "LM Studio", "lemonade-named": "Lemonade", "julia-of-amd-shown": "AMDGPU.jl",
}  # fmt: skip
_NOT_OF_ONES_OWN = (
    "torch-named",
    "rocm-named",
    "rocm-named-in-lower-case",
    "rocm-named-with-a-capital",
    "gfx-named",
    "amd-radeon-named",
    "amd-rx-named",
)
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
_HIP_NO_CODE = (*NO_CODE, "hsa-isa-invalid")
_LIST = "TORCH_CUDA_ARCH_LIST"
_OWN = "torchs-own-call-has-no-code"
_CUDA_NO_CODE = ("no-kernel-image", "device-function-invalid")


def program_of(named: Symptom) -> dict[str, str]:
    """The program that a text names, as people call it."""
    return {"program": _SERVERS_NAMED[named.id]} if named.id in _SERVERS_NAMED else {}


@rule("binary-arch-missing", "likely")
def build_was_given_other_targets(
    error: Symptom = seen(*NO_CODE), built: Symptom = seen("targets-of-a-build-shown"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="amd", integrated=False),
    override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """None of the targets runs on the card; a processor's graphics beside a card are left out by right."""
    isa = card.get("isa") or ""
    aside = bool(card.get("integrated") and other) or bool(override and isa and helps(isa, override.get("value")))
    code = re.findall(r"gfx[0-9a-f]{3,4}", str(built.code))
    return bool(isa) and not aside and not runs_on(isa, code) and {"said": error.id, "why": built.id}


@rule("binary-arch-missing", "likely")
def compiler_of_arrays_supports_none_of_them(
    said: Symptom = seen("xla-supports-no-device-of-rocms"), card: Gpu | None = one(vendor="amd"), denied: Symptom | None = seen(*KFD_REFUSED)
) -> Verdict:  # fmt: skip
    """XLA saw devices and took none: where there are none to be seen it says so in other words."""
    return denied is None and not (card is not None and left(card.get("isa") or "")) and {"said": said.id, "program": "XLA"}  # fmt: skip


@rule("binary-arch-missing", "likely")
def list_of_chips_lacks_the_card(
    said: Symptom = seen("tensorflow-lists-supported-chips"), card: Gpu = one(vendor="amd"), made: Symptom | None = seen("tensorflow-made-a-device"), whole: Symptom | None = seen("tensorflow-leaves-the-chip-out"),
) -> Verdict:  # fmt: skip
    """TensorFlow prints the list where it leaves a device out; two names without a comma between them are no name."""
    isa = card.get("isa") or ""
    spared = made is not None and inside_a_processor(isa)
    lacks = bool(isa) and isa not in re.split(r"[,.\s]+", str(said.listed))
    return whole is None and lacks and not spared and not left(isa) and {"gfx": isa, "package": "tensorflow"}


@rule("binary-arch-missing", "likely")
def compiler_is_older_than_the_chip(
    said: Symptom = seen("clang-knows-no-such-chip"), torch: Torch | None = None, named: Symptom | None = seen("torch-named", "miopen-build-failed"),
) -> Verdict:  # fmt: skip
    """A program is to be built for a chip that ROCm's compiler has not heard of."""
    return named is None and torch is None and {"said": said.id, "gfx": said.get("gfx") or said.get("gfx2")}


@rule("binary-arch-missing", "likely")
def program_of_ones_own_has_no_code(
    said: Symptom = seen("hip-names-its-own-source"),
    torch: Torch | None = None,
    named: Symptom | None = seen("torch-named"),
) -> Verdict:
    """The message names the source file that called HIP, and it is none of torch's."""
    own = not any(part in str(said.get("file")) for part in ("aten/", "c10/", "pytorch"))
    return own and torch is None and named is None and {"said": said.id}


@rule("binary-arch-missing", "likely")
def programs_bundle_lacks_the_chip(
    said: Symptom = seen("bundle-without-the-chip"), dgpu: Gpu | None = one(vendor="amd", integrated=False)
) -> Verdict:
    """HIP's log names a library that is none of torch's; a processor's graphics beside a card are left out by right."""
    gfx, path = str(said.get("gfx")), str(said.get("path"))
    meant = not (inside_a_processor(gfx) and dgpu is not None)
    return meant and "/torch/" not in path and "torch_hip" not in path and {"gfx": gfx, "said": said.id}


@rule("binary-arch-missing", "possible")
def a_program_of_ones_own_has_no_code(
    error: Symptom = seen("device-function-told"), named: Symptom = seen("ollama-named", "own-build-told", "lemonade-named"), card: Gpu | None = one(vendor="amd"),
    rocm: Symptom | None = seen(*OURS),
) -> Verdict:  # fmt: skip
    """What somebody compiled, or a server's bundle, is without the card's target."""
    ours = card is not None or rocm is not None
    return ours and not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **program_of(named)}


@rule("binary-arch-missing", "possible")
def one_bundle_has_the_card_and_another_not(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen("runs-on-cpu-told"), _program: Symptom = seen(*SERVERS), works: Symptom | None = seen("works-told"),
    override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """A server with a bundle of its own computes on the processor, and the card is one that needs no override."""
    modern = override is None and not left(card.isa) and override_for(card.isa) is None
    return works is None and modern and {"gfx": card.isa}


@rule("binary-arch-missing", "likely")
def program_was_built_for_others(
    error: Symptom = seen(*HIP_HAS_NO_CODE, "hip-invalid-device-function-constant"), program: Symptom = seen("hip-program-named", "hip-program-tells-no-function", "image-for-instinct-named"), card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """A program of its own, or an image that names the cards for which it is."""
    return not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **program_of(program)}


@rule("binary-arch-missing", "likely")
def another_framework_has_no_code(
    error: Symptom = seen(*HIP_HAS_NO_CODE, "hip-invalid-device-function-constant"), shown: Symptom = seen(*ANOTHERS), card: Gpu | None = one(vendor="amd"),
    torch: Torch | None = None, named: Symptom | None = seen("torch-named"),
) -> Verdict:  # fmt: skip
    """HIP's own words, in a text that shows another framework than torch at work."""
    alone = named is None and (torch is None or not torch.knows("version"))
    return alone and not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **program_of(shown)}


@rule("binary-arch-missing", "possible")
def torch_has_the_card_and_something_lacks_it(
    error: Symptom = seen(*HIP_HAS_NO_CODE), card: Gpu = one(vendor="amd"), _named: Symptom = seen("torch-named", "torch-program-named"),
    override: Variable | None = one(name=OVERRIDE), torch: Torch | None = None, other: Gpu | None = one(vendor="nvidia"), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """Every wheel of ROCm has code for the chip: what lacks it was compiled apart."""
    clear = works is None and other is None and not (override and override.get("value"))
    return clear and wheels_have(card.isa, torch) and {"said": error.id, "gfx": card.isa}


@rule("binary-arch-missing", "possible")
def target_is_left_out(said: Symptom = seen("target-left-out-told"), torch: Torch | None = None) -> Verdict:
    """A person says which target a program's build is without."""
    return not (torch and torch.knows("version")) and {"said": said.id}


@rule("binary-arch-missing", "likely")
def compiled_for_one_architecture(
    _told: Symptom = seen("nvcc-told-one-architecture"), _said: Symptom = seen("device-function-invalid"), amd: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """What was compiled for one architecture has no function for the card that is there."""
    return amd is None


@rule("binary-arch-missing", "possible")
def function_is_invalid_in_a_build_of_ones_own(
    _said: Symptom = seen("device-function-invalid"), other: Symptom | None = seen(*_NOT_OF_ONES_OWN), torch: Torch | None = None, amd: Gpu | None = one(vendor="amd"),
    released: Package | None = one(name=("torch", "tensorflow", "tensorflow-gpu", "cupy")),
) -> Verdict:  # fmt: skip
    """A wheel has a card's code or its framework says which it lacks; of a program that somebody compiled, nobody knows."""
    return other is None and torch is None and amd is None and released is None


@rule("binary-arch-missing", "likely")
def program_for_the_processor_beside_a_card(
    said: Symptom = seen(*_PROGRAMS), _card: Gpu = one(vendor="nvidia")
) -> Verdict:
    """A build without any code for GPUs, where one is shown."""
    return {"said": said.id, "program": _PROGRAMS[said.id]}


@rule("binary-arch-missing", "likely")
def ctranslate2_multiplies_in_a_way_that_the_card_has_not(
    said: Symptom = seen("ctranslate2-product-not-supported"), card: Gpu = one(vendor="nvidia")
) -> Verdict:
    """Its products of whole numbers are laid out as older cards want them."""
    return newer_than_most(str(card.isa)) and {"said": said.id, "package": "ctranslate2"}


@rule("binary-arch-missing", "likely")
def program_takes_none_of_the_cards(
    said: Symptom = seen("gromacs-card-incompatible"), other: Symptom | None = seen("gromacs-card-compatible")
) -> Verdict:
    """A card that it has no code for; beside one that it takes, it draws the screen."""
    return other is None and {**said.values(), "program": "GROMACS"}


@rule("binary-arch-missing", "likely")
def detectron2_has_no_code_for_the_card(
    flags: Symptom = seen("detectron2-code-list"),
    gpu: Gpu = one(vendor="nvidia"),
    _said: Symptom = seen("no-kernel-image"),
) -> Verdict:
    """Its own report lists what it was compiled for, and the card beside it."""
    code = [f"sm_{digits}" for digits in re.findall(r"\d{2,3}", str(flags.code).replace(".", ""))]
    return bool(code) and why_not(gpu.isa, code) is not None and {"package": "detectron2"}


@rule("binary-arch-missing", "likely")
def tensorflow_compiled_for_it_in_vain(
    _jit: Symptom = seen("tf-jit-from-ptx"), said: Symptom = seen("tf-launch-handle-invalid")
) -> Verdict:
    """No machine code for the card, and what was compiled for it cannot be started."""
    return {"package": "tensorflow", "said": said.id}


@rule("binary-arch-missing", "likely")
def other_library_has_no_code_for_the_module(
    said: Symptom = seen("no-kernel-image"), torch: Torch = one(), where: Symptom | None = seen(*JETSONS_IN_WORDS), module: Jetson | None = None
) -> Verdict:  # fmt: skip
    """NVIDIA's own build has code for its modules: what fails is beside it, torchvision mostly."""
    return ".nv" in str(torch.get("version")) and bool(where or module) and {"said": said.id}


@rule("binary-arch-missing", "likely")
def shared_object_of_another_chip_in_a_program(program: Symptom = seen("ggml-device-failed")) -> Verdict:
    """HIP could not set up the code objects, in llama.cpp or what is built on it."""
    return "shared object init" in str(program.get("error")) and {"said": program.id, "program": "llama.cpp"}


@rule("binary-arch-missing", "likely")
def code_of_another_chip_in_a_program(
    said: Symptom = seen("hsa-isa-invalid"), torch: Torch | None = None, named: Symptom | None = seen("torch-named")
) -> Verdict:
    """The runtime was handed code for another chip, by a program that is not torch."""
    return named is None and not (torch and torch.get("hip")) and {"said": said.id}


@rule("binary-arch-missing", "likely")
def tensorflow_leaves_the_chip_out(
    said: Symptom = seen("tensorflow-leaves-the-chip-out", "tensorflow-wants-a-later-chip"),
    made: Symptom | None = seen("tensorflow-made-a-device"),
) -> Verdict:
    """Its own list has no such chip; a processor's graphics beside a card that it takes are left out by right."""
    gfx = str(said.get("gfx"))
    spared = made is not None and inside_a_processor(gfx)
    return not spared and not left(gfx) and {"gfx": gfx, "package": "tensorflow"}


@rule("binary-arch-missing", "likely")
def julia_has_no_code(said: Symptom = seen(*_HIP_NO_CODE), named: Symptom = seen("julia-of-amd-shown")) -> Verdict:
    """HIP found no code, in a program of Julia's."""
    return {"said": said.id, **program_of(named)}


@rule("binary-arch-missing", "likely")
def engine_of_ggml_has_no_code(
    _log: Symptom = seen("ggml-log-shown"), _said: Symptom = seen("no-kernel-image"), torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The last word is CUDA's; the lines before it are of an engine that is no torch."""
    return torch is None


@rule("binary-arch-missing", "likely")
def engine_of_ggml_has_an_invalid_image(
    log: Symptom = seen("ggml-log-shown", "kobold-named"), said: Symptom = seen("cuda-image-invalid"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same of an image that is not one for the chip."""
    return other is None and not left(card.get("isa") or "") and {"gfx": card.get("isa"), "said": log.id, "why": said.id}  # fmt: skip


@rule("binary-arch-missing", "likely")
def package_beside_torch_has_no_code(
    said: Symptom = seen("package-beside-torch-fails-in-its-own-folder"), card: Gpu = one(vendor="amd"), torch: Torch | None = None, other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The last frame is the package's own call, and torch itself has code for the chip."""
    return other is None and wheels_have(card.isa, torch) and {"gfx": card.isa, "package": said.get("package"), "said": said.id}  # fmt: skip


@rule("binary-arch-missing", "likely")
def extension_was_built_for_other_chips(
    listed: Symptom = seen("extension-lists-its-targets"),
    error: Symptom = seen(*HIP_HAS_NO_CODE),
    card: Gpu = one(vendor="amd"),
) -> Verdict:
    """The extension's own list has nothing that runs on the card."""
    code = re.findall(r"gfx[0-9a-f]{3,4}", str(listed.code))
    package = re.split(r"[_.]ext\b|\.", str(listed.file))[0]
    return not runs_on(card.isa, code) and {"said": error.id, "gfx": card.isa, "package": package}


@rule("binary-arch-missing", "likely")
def tensorflow_gets_no_handle_of_what_it_compiled(
    _jit: Symptom = seen("tf-jit-from-ptx"), said: Symptom = seen("cuda-handle-invalid-constant")
) -> Verdict:  # fmt: skip
    """No machine code for the card, and what was compiled in its place cannot be started."""
    return {"package": "tensorflow", "said": said.id}


@rule("binary-arch-missing", "possible")
def attention_runs_on_the_processor(
    said: Symptom = seen("deformable-attention-without-its-operators"), asked: Symptom | None = seen("processor-asked-for-by-an-option"), mac: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """Its operators for the GPU were not built; the processor, where it was asked for, does without."""
    return asked is None and mac is None and {**said.values(), "package": "GroundingDINO"}


@rule("binary-arch-missing", "likely")
def detectron2_was_compiled_for_newer_cards(
    flags: Symptom = seen("detectron2-code-list"), cards: Every[Gpu] = every(Gpu, vendor="nvidia")
) -> Verdict:
    """Its own report lists both; nothing newer runs on an older card, while an older list may hold code to be compiled."""
    code = [f"sm_{digits}" for digits in re.findall(r"\d{2,3}", str(flags.code).replace(".", ""))]
    reasons = [why_not(str(card.isa), code) for card in cards if card.knows("isa")]
    older = [why for why in reasons if why is not None and why.kind == "older-chip"]
    return bool(older) and len(older) == len(reasons) and {"package": "detectron2"}


@rule("binary-arch-missing", "possible")
def extension_was_compiled_for_other_cards(
    asked: Variable = one(name=_LIST), gpu: Gpu = one(vendor="nvidia"), _said: Symptom = seen(*_CUDA_NO_CODE), own: Symptom | None = seen(_OWN),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """The list given to a build lacks the card; torch itself has code for it, or nobody knows."""
    serves = torch is None or not torch.knows("code") or runs_on(gpu.isa, torch.code)
    return own is None and serves and age_of_code(asked, gpu) is not None


@rule("binary-arch-missing", "likely")
def llama_has_nothing_below(
    said: Symptom = seen("ggml-has-no-architecture-below"), gpu: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """Its message names the card's own number; beside a card of another number it is a fault of the program."""
    wanted = f"sm_{int(said.arch) // 10}"
    same = gpu is None or not gpu.knows("isa") or gpu.isa == wanted
    return same and {"isa": wanted, "package": "llama.cpp"}


@rule("binary-arch-missing", "likely")
def program_for_an_older_toolkit_on_a_newer_card(
    _said: Symptom = seen("ptx-of-a-program-not-compiled-by-the-driver"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """The driver compiles a program's PTX for a card that came later, and this PTX is not fit for it."""
    return newer_than_most(gpu.isa) and {"isa": gpu.isa}
