"""The work needs more memory than the GPU has."""

import re

from rigup.diagnosis.causes.hardware.memory_figures import Figures
from rigup.diagnosis.causes.hardware.memory_holders import FULL, LEFT
from rigup.diagnosis.causes.less_memory import cards_there, less_in_words_of_the_program, signs_of_the_program
from rigup.diagnosis.causes.memory_sizes import GIB, size
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.gtt import pages_to_share
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Gpu, Memory, Platform, Symptom

_LEAST_CONTEXT = 2048  # tokens
_SURE = 0.97  # of what an engine says that there is room for: at the next start a little less may be free
_SHARE, _MORE_SHARE = (
    0.90,
    0.95,
)  # of the card that vLLM takes unless it is told otherwise, and that it may take where nothing else is on it
_OF_FP8 = 89  # the first NVIDIA chip that keeps keys and values in eight bits by itself
_MOSTLY = 0.7  # of a card's memory held by one program: the work is too large for it
_WANTED_OPTION = lazy_regex(
    r"(?i)(?:(?P<more>increas\w{1,3}|rais\w{1,3}|(?:larger|higher|bigger)[\w ]{1,20})|reduc\w{1,3}|decreas\w{1,3}|(?:smaller|lower)[\w ]{1,20}) "
    r"[`'\"]?(?P<option>--[a-z][a-z-]{3,40}|[a-z]{2,20}(?:_[a-z]{2,20}){1,4})\b"
)


def _work(figures: Figures) -> bool:
    """Neither others nor the order of the pieces explain it."""
    contradicts = (figures.free or 0) > (figures.total or 0)
    pieces = figures.in_pieces or figures.would_do
    return not (figures.taken or pieces or contradicts or figures.roomy)


@rule("oom-model-too-large")
def work_fills_the_card(
    symptom: Symptom = seen(tag="torch-out-of-memory"),
    shared: Gpu | None = one(vendor="amd", integrated=True),
    carved: Symptom | None = seen("amdgpu-vram-ready", "amdgpu-vram-span"),
) -> Verdict:
    """Nearly all is in use by the work itself; a total far below what the kernel has for graphics is no whole card's."""
    figures = Figures(symptom)
    whole = carved is None or (size(f"{carved.mib} M") or 0) < 1.5 * (figures.total or 0)
    return shared is None and whole and figures.own and _work(figures)


@rule("oom-model-too-large", "likely")
def work_fills_what_the_graphics_may_use(
    symptom: Symptom = seen(tag="torch-out-of-memory"), _shared: Gpu = one(vendor="amd", integrated=True)
) -> Verdict:
    """How much that is, is a matter of settings where the memory is the system's."""
    figures = Figures(symptom)
    return figures.own and _work(figures)


@rule("oom-model-too-large", "likely")
def nothing_else_tells(symptom: Symptom = seen(tag="torch-out-of-memory")) -> Verdict:
    """Too little is free; the figures leave open whose a part of the memory is, or how it lies."""
    figures = Figures(symptom)
    return figures.told and not figures.own and _work(figures)


@rule("oom-model-too-large", "possible")
def refused_beside_free_memory(
    symptom: Symptom = seen(tag="torch-out-of-memory"), own: Symptom | None = seen("test-caps-its-own-memory")
) -> Verdict:
    """The card has room for the request: a limit of the process or of the system refuses it (a test's own is meant), or figures of another moment."""
    figures = Figures(symptom)
    aside = own is not None or figures.taken or figures.in_pieces
    return figures.roomy and not aside and (figures.free or 0) <= (figures.total or 0)


@rule("oom-model-too-large", "possible")
def out_of_memory_without_figures(
    symptom: Symptom = seen("cuda-out-of-memory-plain", "cuda-out-of-memory-constant", "torch-allocation-on-device"),
    known: Symptom | None = seen("context-out-of-memory", "context-out-of-memory-in-java", tag="torch-out-of-memory"),
) -> Verdict:
    """What the message says; it does not tell whose the memory is."""
    return known is None and symptom.knows("id")


@rule("oom-model-too-large", "likely")
def no_room_beside_the_weights(
    symptom: Symptom = seen("vllm-no-room-for-cache"), small: Symptom | None = seen("vllm-small-share")
) -> Verdict:
    """The engine leaves a part of the card alone; who wished it to take less than half gets what he asked for."""
    return small is None and {"said": symptom.id}


@text_rule("oom-model-too-large", "likely")
def hip_tells_that_the_whole_card_would_not_do(symptom: Symptom = seen("hip-log-tells-what-was-wanted")) -> Verdict:
    """One piece is wanted that is larger than all there is."""
    return int(symptom.wanted) > int(symptom.total) and {"said": symptom.id}


@text_rule("oom-model-too-large", "possible")
def hip_tells_that_too_little_is_free(symptom: Symptom = seen("hip-log-tells-what-was-wanted")) -> Verdict:
    """The card would do, and what is free does not; whose the rest is, the line does not tell."""
    return int(symptom.free) < int(symptom.wanted) <= int(symptom.total) and {"said": symptom.id}


@text_rule("oom-model-too-large", "likely")
def one_program_fills_intels_card(symptom: Symptom = seen("xpu-memory-full")) -> Verdict:
    """torch's own figures: what it holds is most of the card."""
    total = size(symptom.get("total") or symptom.get("total2")) or 0
    held = size(symptom.get("allocated") or symptom.get("allocated2")) or 0
    return total > 0 and held + (size(symptom.wanted) or 0) >= _MOSTLY * total and {"said": symptom.id}


@text_rule("oom-model-too-large", "likely")
def allocator_is_full(symptom: Symptom = seen("tf-allocator-tells-its-limit")) -> Verdict:
    """The same with a card's memory to go by, nearly all of it in the program's own use."""
    return int(symptom.limit) >= 4 * LEFT and int(symptom.used) > _MOSTLY * int(symptom.limit) and {"said": symptom.id}


@text_rule("oom-model-too-large", "likely")
def hashcat_wants_more_than_a_free_card_has(
    card: Symptom = seen("hashcat-tells-what-is-free"), symptom: Symptom = seen("cuda-out-of-memory-plain")
) -> Verdict:
    """It tells what it may allocate of the card, which is nearly all, and that it does not do."""
    return int(card.free) > (1 - FULL) * int(card.total) and {"said": symptom.id}


def in_pieces(symptom: Symptom) -> bool:
    """Whether what is free would do, and lies in pieces."""
    slack = size(symptom.slack) or 0
    return slack >= (size(symptom.wanted) or 0) and slack >= 0.12 * (size(symptom.total) or 0)


@text_rule("oom-model-too-large", "likely")
def memory_of_an_intel_card_is_full(symptom: Symptom = seen("xpu-out-of-memory-figures")) -> Verdict:
    """torch for Intel tells no free memory; what it holds nearly fills the card."""
    held = (size(symptom.allocated) or 0) + (size(symptom.slack) or 0)
    return held + (size(symptom.wanted) or 0) > (size(symptom.total) or 0) - GIB / 2 and not in_pieces(symptom)


@text_rule("oom-model-too-large", "likely")
def message_is_cut_after_what_is_free(
    symptom: Symptom = seen("torch-out-of-memory-cut"),
    full: Symptom | None = seen("torch-out-of-memory-figures", "other-process-holds-memory"),
) -> Verdict:
    """The first sentence alone: less is free than was asked for; whose the rest is, it does not tell."""
    return full is None and (size(symptom.free) or 0) < (size(symptom.wanted) or 0)


@text_rule("oom-model-too-large", "possible")
def message_is_cut_after_what_was_wanted(symptom: Symptom = seen("torch-out-of-memory-start")) -> Verdict:
    """Less still: what was asked for."""
    return bool(symptom.wanted) and not Figures(symptom).told


def _with_a_margin(room: int) -> int:
    """A round length that leaves a little of the room free."""
    step = 1024 if room >= 4 * _LEAST_CONTEXT else 256
    return int(room * _SURE) // step * step or room


@mends("oom-model-too-large")
def length_that_the_message_names(
    symptom: Symptom = seen("vllm-cache-shorter-than-context", "engine-names-the-length-that-fits"),
) -> Params:
    """vLLM tells how many tokens there is room for."""
    room = symptom.get("fits") or symptom.get("shorter") or symptom.get("length")
    return {"shorter": f"--max-model-len {_with_a_margin(int(room))}"} if room else {}


@mends("oom-model-too-large")
def whole_context_all_the_same(
    symptom: Symptom = seen("vllm-cache-shorter-than-context"), gpu: Gpu = one(), typed: Symptom | None = seen("vllm-share-typed")
) -> Params:
    """A larger share of the card, or a cache of half the size, where that is enough for what was asked for."""
    needed, left = (size(f"{symptom.get(name) or 0} GiB") or 0 for name in ("needed", "left"))
    if not needed or not left:
        return {}
    more = (_MORE_SHARE - _SHARE) * (gpu.get("vram") or 0) if typed is None else 0
    chip = re.fullmatch(r"sm_(\d{2,3})", str(gpu.get("isa")))
    halved = needed / 2 < left * _SURE and chip is not None and int(chip[1]) >= _OF_FP8
    return {
        "larger": f"--gpu-memory-utilization {_MORE_SHARE}" if needed < (left + more) * _SURE else None,
        "halved": "--kv-cache-dtype fp8" if halved else None,
    }


@mends("oom-model-too-large")
def option_that_the_message_names(
    refusals: Every[Symptom] = every(Symptom, id=("server-has-no-room", "vllm-no-room-for-cache")),
    short: Symptom | None = seen("vllm-has-less-than-nothing-for-its-cache"),
) -> Params:
    """Servers tell which of their options to raise or to lower; vLLM writes them as Python does, and asks so where the weights alone are too large."""
    if short is not None:
        return {}
    wanted = [hit for refusal in refusals if (hit := _WANTED_OPTION.search(refusal.fields["id"].where.text))]
    if not wanted:
        return {}
    option = "--" + wanted[0]["option"].strip("-").replace("_", "-")
    return {"raised" if wanted[0]["more"] else "lowered": option}


@mends("oom-model-too-large")
def model_that_an_engine_loads(
    _said: Symptom = seen("ggml-out-of-memory", "ggml-buffer-refused", "ollama-cannot-load-it-in-full"),
) -> Params:
    """Who runs an engine chooses model, quantisation and context."""
    return {"engine": "llama.cpp"}


@mends("oom-model-too-large")
def context_whose_cache_is_a_quarter(
    _refused: Symptom = seen("llama-cache-not-given"),
    context: Symptom = seen("llama-tells-its-context"),
    _typed: Symptom = seen("llama-program-typed"),
) -> Params:
    """What the cache takes falls with the context: a power of two that is at most a quarter of what was asked for."""
    fewer = 1 << (int(context.tokens) // 4).bit_length() - 1
    if fewer < _LEAST_CONTEXT:
        return {}
    return {"shorter": f"-c {fewer}", "context": context.tokens}


mends("oom-model-too-large")(cards_there)
mends("oom-model-too-large")(signs_of_the_program)
mends("oom-model-too-large")(less_in_words_of_the_program)


@mends("oom-model-too-large")
def memory_that_the_system_keeps(
    _card: Gpu = one(vendor="amd", integrated=True),
    own: Gpu | None = one(integrated=False),
    platform: Platform | None = one(system=("windows", "macos")),
    memory: Memory | None = None,
) -> Params:
    """By default the kernel lets the processor's graphics map half of the memory; more is a matter of one parameter."""
    if own is not None or platform is not None:
        return {}
    pages = pages_to_share(memory.total) if memory is not None and memory.get("total") else 0
    return {"pages": pages, "linux": None} if pages else {"linux": "ttm"}
