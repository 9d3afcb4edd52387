"""A compiled library or program was not built for this GPU."""

import re
from collections.abc import Iterable

from rigup.diagnosis.causes.framework.code_for_chip import of_today
from rigup.diagnosis.causes.framework.programs import named_programs, plain_system, upgrade
from rigup.diagnosis.causes.rocm_chips import inside_a_processor, left
from rigup.diagnosis.causes.rocm_overrides import OVERRIDE, helps
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.chips import isa_order, runs_on, why_not
from rigup.knowledge.program_builds import Program, is_package, least_card, of_then, plain_name, program_of, ready_build
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Gpu, Platform, Symptom, Toolkit, Torch, Variable

_SERVERS_NAMED = {
    "tensorflow-on-hip-shown": "TensorFlow",
    "xla-code-object-not-loaded": "XLA",
    "runtime-of-models-shown": "ONNX Runtime",
    "kobold-named": "koboldcpp",
    "lm-studio-named": "LM Studio",
    "lemonade-named": "Lemonade",
    "julia-of-amd-shown": "AMDGPU.jl",
}
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
_ONE_OF_MANY = 5  # a row of so many packages describes a kind of them


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
def tensorflow_cannot_compile_for_it(_jit: Symptom = seen("tf-jit-from-ptx"), _failed: Symptom = seen("ptx-invalid")) -> Verdict:
    """No machine code for the card, and what was to be compiled for it is refused."""
    return {"package": "tensorflow"}


@rule("binary-arch-missing", "likely")
def llama_lists_what_it_was_built_for(gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("ggml-archs")) -> Verdict:
    """llama.cpp prints `ARCHS = 600,700`: all of it is for newer chips than this one."""
    code = ["sm_" + number[:-1] for number in re.findall(r"\d{2,4}(?=a?\b)", symptom.code)]
    return bool(code) and not runs_on(gpu.isa, code) and isa_order(gpu.isa) < min(map(isa_order, code))


@rule("binary-arch-missing", "likely")
def program_that_lists_its_devices_has_no_code(
    symptom: Symptom = seen("no-kernel-image"),
    _own: Symptom = seen("ggml-finds-devices"),
    card: Gpu = one(vendor="nvidia"),
    torch: Torch | None = None,
) -> Verdict:
    """llama.cpp and its kin list what CUDA sees, and have no code for it; nothing speaks of torch."""
    return torch is None and bool(card.isa) and {"said": symptom.id}


@rule("binary-arch-missing", "possible")
def program_without_torch_has_no_code(
    symptom: Symptom = seen("no-kernel-image", "cuda-image-invalid"), _program: Symptom = seen("ollama-named"), torch: Torch | None = None
) -> Verdict:
    """ollama is named and torch is not: the library with kernels is its own."""
    return torch is None and {"said": symptom.id, "package": "ollama"}


@rule("binary-arch-missing", strength="likely")
def no_code_objects_in_a_program(
    error: Symptom = seen("hip-no-code-objects"),
    torch: Torch | None = None,
    symptom: Symptom | None = seen(tag="no-code-for-amd-chip"),
    own: Symptom | None = seen("ggml-finds-devices"),
) -> Verdict:
    """The same in a program of its own: nothing speaks of torch, or the program names itself."""
    return (symptom is None or own is not None) and not (torch and torch.get("hip")) and {"gfx": error.get("gfx")}


@text_rule("binary-arch-missing", "likely")
def build_was_given_other_targets(
    error: Symptom = seen(tag="no-code-for-amd-chip"),
    built: Symptom = seen("targets-of-a-build-shown"),
    card: Gpu = one(vendor="amd"),
    other: Gpu | None = one(vendor="amd", integrated=False),
    override: Variable | None = one(name=OVERRIDE),
) -> Verdict:
    """None of the targets runs on the card; a processor's graphics beside a card are left out by right."""
    isa = card.get("isa") or ""
    aside = bool(card.get("integrated") and other) or bool(override and isa and helps(isa, override.get("value")))
    code = re.findall(r"gfx[0-9a-f]{3,4}", str(built.code))
    return bool(isa) and not aside and not runs_on(isa, code) and {"said": error.id, "why": built.id}


@text_rule("binary-arch-missing", "likely")
def list_of_chips_lacks_the_card(
    symptom: Symptom = seen("tensorflow-lists-supported-chips"),
    card: Gpu = one(vendor="amd"),
    created: Symptom | None = seen("tensorflow-made-a-device"),
    whole: Symptom | None = seen("tensorflow-leaves-the-chip-out"),
) -> Verdict:
    """TensorFlow prints the list where it leaves a device out; two names without a comma between them are no name."""
    isa = card.get("isa") or ""
    spared = created is not None and inside_a_processor(isa)
    lacks = bool(isa) and isa not in re.split(r"[,.\s]+", str(symptom.listed))
    return whole is None and lacks and not spared and not left(isa) and {"gfx": isa, "package": "tensorflow"}


def server_named(named: Symptom) -> dict[str, str]:
    """The program that a text names, as people call it."""
    return {"program": _SERVERS_NAMED[named.id]} if named.id in _SERVERS_NAMED else {}


@text_rule("binary-arch-missing", "possible")
def a_program_of_ones_own_has_no_code(
    error: Symptom = seen("device-function-told"),
    named: Symptom = seen("ollama-named", "own-build-told", "lemonade-named"),
    card: Gpu | None = one(vendor="amd"),
    rocm: Symptom | None = seen(tag="ours"),
) -> Verdict:
    """What somebody compiled, or a server's bundle, is without the card's target."""
    ours = card is not None or rocm is not None
    return ours and not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **server_named(named)}


@text_rule("binary-arch-missing", "likely")
def program_was_built_for_others(
    error: Symptom = seen("hip-invalid-device-function-constant", tag="no-code-for-amd-chip"),
    program: Symptom = seen("hip-program-named", "hip-program-tells-no-function", "image-for-instinct-named"),
    card: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """A program of its own, or an image that names the cards for which it is."""
    return not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **server_named(program)}


@text_rule("binary-arch-missing", "likely")
def another_framework_has_no_code(
    error: Symptom = seen("hip-invalid-device-function-constant", tag="no-code-for-amd-chip"),
    shown: Symptom = seen(tag="anothers"),
    card: Gpu | None = one(vendor="amd"),
    torch: Torch | None = None,
    named: Symptom | None = seen("torch-named"),
) -> Verdict:
    """HIP's own words, in a text that shows another framework than torch at work."""
    alone = named is None and (torch is None or not torch.knows("version"))
    return alone and not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **server_named(shown)}


@text_rule("binary-arch-missing", "likely")
def program_for_the_processor_beside_a_card(symptom: Symptom = seen(*_PROGRAMS), _card: Gpu = one(vendor="nvidia")) -> Verdict:
    """A build without any code for GPUs, where one is shown."""
    return {"said": symptom.id, "program": _PROGRAMS[symptom.id]}


@text_rule("binary-arch-missing", "likely")
def release_for_the_processor_beside_a_card(
    symptom: Symptom = seen("llama-for-the-processor"), _loaded: Symptom = seen("ggml-loads-its-processor-backend"), card: Gpu = one()
) -> Verdict:
    """The archive for the processor alone was unpacked; whose card is there makes no odds."""
    return card.get("vendor") in ("amd", "intel") and {"said": symptom.id, "program": _PROGRAMS[symptom.id]}


@text_rule("binary-arch-missing", "likely")
def detectron2_was_compiled_for_newer_cards(
    flags: Symptom = seen("detectron2-code-list"), cards: Every[Gpu] = every(Gpu, vendor="nvidia")
) -> Verdict:
    """Its own report lists both; nothing newer runs on an older card, while an older list may hold code to be compiled."""
    code = [f"sm_{digits}" for digits in re.findall(r"\d{2,3}", str(flags.code).replace(".", ""))]
    reasons = [why_not(str(card.isa), code) for card in cards if card.knows("isa")]
    older = [why for why in reasons if why is not None and why.kind == "older-chip"]
    return bool(older) and len(older) == len(reasons) and {"package": "detectron2"}


@text_rule("binary-arch-missing", "likely")
def llama_has_nothing_below(symptom: Symptom = seen("ggml-has-no-architecture-below"), gpu: Gpu | None = one(vendor="nvidia")) -> Verdict:
    """Its message names the card's own number; beside a card of another number it is a fault of the program."""
    wanted = f"sm_{int(symptom.arch) // 10}"
    same = gpu is None or not gpu.knows("isa") or gpu.isa == wanted
    return same and {"isa": wanted, "package": "llama.cpp"}


def packages_named(knew: Params) -> Iterable[Program]:
    """The programs that a rule names as the package, or the program, which lacks something."""
    names = (str(knew.get(hole) or "") for hole in ("package", "program", "name", "companion"))
    return [program for name in names if name and (program := program_of(name))]


def _of_arch(knew: Params) -> str:
    """llama.cpp writes the card's capability times a hundred: 610 is 6.1."""
    arch = str(knew.get("arch") or "")
    return f"sm_{arch[:-1]}" if re.fullmatch(r"[3-9]\d0|1[0-2]\d0", arch) and knew.get("runtime") != "HIP" else ""


def _package(knew: Params, program: Program | None) -> str:
    """The package that the text names, as pip calls it; the program's own where that is one of PyPI's."""
    name = next((str(knew[hole]) for hole in ("package", "name") if knew.get(hole) and is_package(str(knew[hole]))), "")
    if program and program.pypi:
        return plain_name(name) if plain_name(name) in program.packages else program.pypi
    return plain_name(name) if program and plain_name(name) in program.packages else ""


def _never(package: str, isa: str) -> bool:
    """Whether no release has code for such a card."""
    least, amd = least_card(package)
    if isa.startswith("gfx"):
        return bool(amd) and isa not in amd
    return bool(isa and least) and isa_order(isa) < isa_order(least)


def _override(isa: str, system: str) -> str | None:
    """Windows' driver reads no such variable."""
    sibling = override_for(isa) if system == "linux" else None
    return sibling.value if sibling else None


def _own_build(program: Program | None, isa: str) -> Params:
    option = "" if program is None or not isa else program.option_amd if isa.startswith("gfx") else program.option
    number = isa.removeprefix("sm_")
    filled = option.format(sm=number, capability=f"{number[:-1]}.{number[-1:]}", gfx=isa)
    return {"option": filled, "chip": None} if filled else {}


def _by_pip(program: Program | None, package: str, isa: str, system: str) -> Params:
    """A build by pip, where a variable tells it the card; `env` is no command of Windows'."""
    if not (program and program.variable and package and system == "linux"):
        return {}
    if not isa:  # torch's own builder compiles for the cards that it sees
        here = package if program.variable == "TORCH_CUDA_ARCH_LIST" else None
        return {"built_here": here, "optional": here and program.instead and here, "instead": program.instead or None}
    number = isa.removeprefix("sm_")
    return {
        "variable": program.variable,
        "built": package,
        "chip": None,
        "capability": number if program.form == "plain" else f"{number[:-1]}.{number[-1]}",
    }


def _below(isa: str, least: str) -> bool:
    """Whether a card is older than the least that is wanted; one that nobody names may be."""
    return bool(least) and (not isa.startswith("sm_") or isa_order(isa) < isa_order(least))


@mends("binary-arch-missing")
def how_to_get_code_for_the_card(
    knew: Params,
    gpu: Gpu | None = None,
    platform: Platform | None = None,
    old: Symptom | None = seen(tag="card-too-old-told"),
    refused: Symptom | None = seen(tag="card-too-old-told"),
    kit: Toolkit | None = one(name="cuda"),
    former: Symptom | None = seen("llama-cpp-before-the-renaming"),
) -> Params:
    """Where the package has none for such a card, something else; else a newer release, or a build that is told the card; on AMD a sibling's code."""
    if refused is not None and refused.get("want"):
        want = str(refused.want).replace(".", "")
        least = "sm_" + want if want.isdigit() else want
        left = str(refused.get("method") or knew.get("package") or "")
        whose = program_of(left) if left else None
        return {"left": left or None, "least": least, "plain": None, "instead": (whose.instead or None) if whose else None}
    spoke = [speaker for speaker in named_programs(knew) if speaker.wish != "torch"]
    rows = [*packages_named(knew), *(spoke if len(spoke) == 1 else [])]  # a row that names several does not tell which
    program = next((candidate for candidate in rows if candidate.wish != "torch"), None)
    program = of_then(program, [former.id] if former else []) if program else None
    isa = str((gpu.get("isa") if gpu else "") or knew.get("isa") or _of_arch(knew) or "")
    isa = isa if isa.startswith(("sm_", "gfx")) else ""
    system = plain_system(platform)
    named = _package(knew, program)
    plain = {
        "newer": None,
        "compiled": (named if len(program.packages) > _ONE_OF_MANY else program.name) if program else None,
        "chip": isa or None,
        "override": None,
        "variable": None,
    }
    if named and (_never(named, isa) or (old is not None and _below(isa, least_card(named)[0]))):
        return {
            **plain,
            "left": named,
            "instead": (program.instead or None) if program else None,
            "chip": None,
            "least": least_card(named)[0] or ", ".join(least_card(named)[1]),
            "plain": None,
        }
    by_hand = program.option_vulkan if program and system != "windows" else ""
    holes = {**plain, "vulkan": "Vulkan" if program and program.vulkan and not by_hand else None, "vulkan_build": by_hand or None}
    if isa.startswith("gfx"):
        built = _own_build(program, isa)
        ready = {"chip": None} if holes["vulkan"] and not built.get("option") else {}  # nobody builds what comes built alone
        return {**holes, "override": _override(isa, system), **built, **ready}
    newer = named if program and program.pypi and (not isa or (of_today(isa) and isa not in program.failing)) else None
    planned = program is not None and not program.option and (not isa or (of_today(isa) and isa not in program.failing))
    by_plan = (program.wish or None) if program and planned and not newer else None
    chip = {"chip": None} if by_plan else {}
    own = _own_build(program, isa)
    if kit is None and re.search("GGML_CUDA|LLAMA_CUBLAS", str(own.get("option"))):
        own |= {"nvcc": "nvcc", "cuda_build": own["option"], "option": None}
    return {**holes, **upgrade("newer", newer), "wish": by_plan, **chip, **_by_pip(program, named, isa, system), **own}


@mends("binary-arch-missing")
def ready_made_builds(
    knew: Params, loaded: Symptom = seen("ggml-loads-its-processor-backend"), gpu: Gpu | None = None, platform: Platform | None = None
) -> Params:
    """Releases bring one library for each kind of processor: such a program was unpacked, and there are no sources beside it."""
    system = "windows" if ":\\" in str(loaded.get("path")) else plain_system(platform)
    vendor = str(gpu.get("vendor") if gpu else "")
    if knew.get("compiled") != "llama.cpp" or (row := ready_build("llama.cpp", system, vendor)) is None:
        return {}
    return {
        **dict.fromkeys(("option", "cuda_build", "nvcc", "chip", "vulkan", "vulkan_build", "override")),
        "ready": row.program,
        "files": row.files,
        "page": row.page,
        "ready_for_vulkan": row.program if system == "windows" else None,
    }
