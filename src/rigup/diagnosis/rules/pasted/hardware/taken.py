"""A card's memory: held by others, in pieces, or too small for the model."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside as from_inside
from rigup.diagnosis.rules.memory import GIB, Figures, size
from rigup.machine.kinds import Gpu, GpuProcess, Platform, Symptom, World

_MOSTLY = 0.7  # of a card's memory held by one program: the work is too large for it
_MUCH = 2**30
_FULL = 0.3  # share of a card that is left where others have taken it
_LEFT = 1 << 29  # bytes; less than any card that TensorFlow takes has
_HOLDS_MUCH = 4 * 2**30


def _own(symptom: Symptom) -> float:
    return max(size(symptom.get("reserved")) or 0.0, size(symptom.get("allocated")) or 0.0)


def is_mostly_taken(gpu: Gpu) -> bool:
    """Whether more than four fifths of a card's memory are in use."""
    used, whole = gpu.get("memory_used"), gpu.get("vram")
    return bool(used and whole) and used > 0.8 * whole


def in_pieces(symptom: Symptom) -> bool:
    """Whether what is free would do, and lies in pieces."""
    slack = size(symptom.slack) or 0
    return slack >= (size(symptom.wanted) or 0) and slack >= 0.12 * (size(symptom.total) or 0)


@rule("gpu-memory-held-by-others", "likely")
def tensorflow_gets_a_rest_of_a_full_card(gpu: Gpu, device: Symptom = seen("tensorflow-made-a-device")) -> Verdict:
    """TensorFlow takes nearly all that is free, and that is little of a card which is full."""
    room = size(device.room)
    return is_mostly_taken(gpu) and room is not None and room < 0.2 * gpu.vram


@rule("gpu-memory-held-by-others", "likely")
def radeon_is_full_before_the_work(
    symptom: Symptom = seen("hip-out-of-memory-plain", "cuda-out-of-memory-plain", "cuda-out-of-memory-constant", "ggml-out-of-memory"), shown: Symptom = seen("rocm-smi-tells-used-memory"),
    inner: Gpu | None = one(vendor="amd", integrated=True), full: Symptom | None = seen(tag="torch-out-of-memory"),
) -> Verdict:  # fmt: skip
    """rocm-smi shows a card of its own that is nearly full."""
    total, used = int(shown.total), int(shown.used)
    return (
        inner is None
        and full is None
        and total >= 4 * GIB
        and used > 0.8 * total
        and {"said": symptom.id, "severity": "error"}
    )


@rule("gpu-memory-held-by-others", "likely")
def other_process_is_listed_and_there_is_no_room(
    holder: Symptom = seen("nvidia-smi-lists-holder"), symptom: Symptom = seen("cuda-out-of-memory-plain", "cuda-out-of-memory-constant"),
    full: Symptom | None = seen("torch-out-of-memory-figures", "torch-out-of-memory"),
) -> Verdict:  # fmt: skip
    """The driver's list names a process with gigabytes, and another program gets none."""
    return (
        full is None
        and int(holder.get("mib") or holder.get("mib2") or "0") > 4000
        and {"said": symptom.id, "severity": "error"}
    )


@rule("gpu-memory-held-by-others", "likely")
def used_by_nobody_in_the_rows(
    none: Symptom = seen("nvidia-smi-none-running"), gpu: Gpu = one(vendor="nvidia"), platform: Platform | None = None, split: Gpu | None = one(mig=True),
    box: Symptom | None = seen("container-commands-shown"),
) -> Verdict:  # fmt: skip
    """Most of a card is used, and the driver knows of no process there. On Windows, in a WSL and in a container it never does."""
    listed = not gpu.get("driver_model") and not (
        platform and (platform.get("wsl") or platform.get("system") == "windows")
    )
    return (
        listed
        and box is None
        and not from_inside(none)
        and split is None
        and gpu.memory_used > gpu.vram / 4
        and gpu.memory_used > 2**30
    )


@rule("gpu-memory-held-by-others", "likely")
def memory_of_a_process_that_kill_does_not_find(
    symptom: Symptom = seen("kill-finds-no-process"), gpu: Gpu = one(vendor=("nvidia", "amd")), split: Gpu | None = one(mig=True), held: Symptom | None = seen("nvidia-smi-lists-holder"),
) -> Verdict:  # fmt: skip
    """Somebody wants to end what uses the card, and there is no such process: a context without its owner, or an owner elsewhere."""
    used = gpu.get("memory_used")
    return split is None and held is None and bool(used) and used > _MUCH and {"said": symptom.id}


@rule("gpu-memory-held-by-others", "likely")
def jax_cannot_start_on_a_full_card(
    _said: Symptom = seen("jax-finds-memory-taken"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """Nothing was left for the libraries, and the driver's tool shows the card full."""
    return gpu.memory_used > (1 - _FULL) * gpu.vram and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def catboost_starts_with_little(symptom: Symptom = seen("catboost-finds-little-free")) -> Verdict:
    """It tells what is free before it takes anything itself."""
    return int(symptom.free) < _FULL * int(symptom.total) and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def program_starts_on_a_full_card(
    symptom: Symptom = seen(tag="taken-on-a-full-card"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """nvidia-smi shows that most of the card is taken."""
    wanted = size(symptom.get("wanted")) or 0.0
    return gpu.memory_used > 0.8 * gpu.vram and wanted < gpu.vram and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def allocator_was_left_little(symptom: Symptom = seen("tf-allocator-tells-its-limit")) -> Verdict:
    """TensorFlow dumps its figures when it runs out; its limit is what was free at the start, and no card is that small."""
    return int(symptom.limit) < _LEFT and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def used_by_no_process_that_is_listed(
    _none: Symptom = seen("compute-processes-none-listed"), gpu: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"), symptom: Symptom = seen(tag="memory-refused"),
    platform: Platform | None = None, split: Gpu | None = one(mig=True),
) -> Verdict:  # fmt: skip
    """Most of the card is in use, the driver lists no process of this place, and a program gets no memory."""
    windows = platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    return (
        not windows and split is None and gpu.memory_used > gpu.vram / 2 and {"said": symptom.id, "severity": "error"}
    )


@rule("gpu-memory-held-by-others", "likely")
def used_by_nobody_in_the_long_report(
    _none: Symptom = seen("long-report-lists-no-process"), gpu: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"), platform: Platform | None = None,
    split: Gpu | None = one(mig=True), box: World | None = one(at="container"),
) -> Verdict:  # fmt: skip
    """Most of the card is in use, and the same report knows of no process. On Windows and in a container it never does."""
    windows = platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    return not windows and box is None and split is None and gpu.memory_used > gpu.vram / 2


@rule("gpu-memory-held-by-others", "likely")
def nothing_goes_on_a_card_that_is_taken(
    symptom: Symptom = seen("layers-none-offloaded"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """An engine counts what is free and puts no layer there; nvidia-smi shows that most of it is in use."""
    used, whole = gpu.get("memory_used"), gpu.get("vram")
    return bool(used and whole) and used > 0.8 * whole and {"said": symptom.id}


@rule("gpu-memory-held-by-others", "likely")
def rocm_smi_names_the_holder(
    holder: Symptom = seen("rocm-smi-lists-holder"),
    symptom: Symptom = seen(tag="memory-refused"),
    full: Symptom | None = seen(tag="torch-out-of-memory"),
) -> Verdict:
    """The list names a process with gigabytes, and another program gets none; a message with figures knows better."""
    return full is None and int(holder.bytes) > _HOLDS_MUCH and {"said": symptom.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def full_before_this_program_took_any(
    left: Symptom = seen("free-and-total-noted", "hip-memory-tuple"), _own: Symptom = seen("torch-holds-nothing-yet"), holder: Symptom = seen("nvidia-smi-lists-holder"),
) -> Verdict:  # fmt: skip
    """torch has reserved nothing, hardly any is free, and the driver lists a program with gigabytes."""
    much = int(holder.get("mib") or holder.get("mib2") or 0) > 4000
    return much and float(left.free) < 0.15 * float(left.total) and {"said": left.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def another_program_runs_there_for_long(
    symptom: Symptom = seen(tag="memory-refused"), holder: Symptom = seen("program-of-the-card-runs-for-long")
) -> Verdict:
    """A program was refused memory, and the one that has the card was started hours or days before."""
    long = "-" in str(holder.since) or str(holder.since).count(":") == 2
    return long and {"said": symptom.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def server_starts_with_little_and_the_holder_is_listed(
    left: Symptom = seen("ollama-compute"), holder: Symptom = seen("nvidia-smi-lists-holder"), failed: Symptom | None = seen(tag="taken-refused memory-refused")
) -> Verdict:  # fmt: skip
    """It tells what is free before it loads anything, and the driver names who has the rest."""
    much = int(holder.get("mib") or holder.get("mib2") or 0) > 4000 and "ollama" not in str(
        holder.get("process") or holder.get("process2")
    )
    little = (size(left.free) or 0) < _FULL * (size(left.total) or 0)
    return much and little and {"said": left.id, **({"severity": "error"} if failed else {})}


@rule("gpu-memory-held-by-others", "likely")
def card_is_full_of_a_listed_process(
    _said: Symptom = seen(tag="memory-full-in-words"), gpu: Gpu = one(vendor="nvidia"), holder: GpuProcess = one()
) -> Verdict:
    """Somebody finds the card full, and the driver lists a program that has most of it; whose `python` is, nobody can tell."""
    own = str(holder.get("name")).rpartition("/")[2].startswith("python")
    is_on_card = holder.get("gpu") in (None, gpu.get("nvml_index"))
    return not own and is_on_card and not holder.get("graphics") and int(holder.memory) > gpu.vram / 2


@rule("oom-fragmentation", "likely")
def free_memory_lies_in_pieces(symptom: Symptom = seen("tf-allocator-figures")) -> Verdict:
    """TensorFlow's allocator has more unused than was asked for, and no piece of that size."""
    unused = int(symptom.limit) - int(symptom.used)
    return unused > int(symptom.wanted) > int(symptom.largest)


@rule("oom-fragmentation", "likely")
def summary_shows_what_lies_idle(symptom: Symptom = seen("memory-summary-counts-refusals")) -> Verdict:
    """torch was refused memory and keeps a good part of what it reserved unused."""
    allocated, reserved = size(symptom.allocated) or 0.0, size(symptom.reserved) or 0.0
    return int(symptom.refused) > 0 and reserved - allocated > 0.3 * reserved


@rule("oom-model-too-large", "likely")
def hip_tells_that_the_whole_card_would_not_do(symptom: Symptom = seen("hip-log-tells-what-was-wanted")) -> Verdict:
    """One piece is wanted that is larger than all there is."""
    return int(symptom.wanted) > int(symptom.total) and {"said": symptom.id}


@rule("oom-model-too-large", "possible")
def hip_tells_that_too_little_is_free(symptom: Symptom = seen("hip-log-tells-what-was-wanted")) -> Verdict:
    """The card would do, and what is free does not; whose the rest is, the line does not tell."""
    return int(symptom.free) < int(symptom.wanted) <= int(symptom.total) and {"said": symptom.id}


@rule("oom-model-too-large", "likely")
def one_program_fills_intels_card(symptom: Symptom = seen("xpu-memory-full")) -> Verdict:
    """torch's own figures: what it holds is most of the card."""
    total = size(symptom.get("total") or symptom.get("total2")) or 0
    held = size(symptom.get("allocated") or symptom.get("allocated2")) or 0
    return total > 0 and held + (size(symptom.wanted) or 0) >= _MOSTLY * total and {"said": symptom.id}


@rule("oom-model-too-large", "likely")
def allocator_is_full(symptom: Symptom = seen("tf-allocator-tells-its-limit")) -> Verdict:
    """The same with a card's memory to go by, nearly all of it in the program's own use."""
    return int(symptom.limit) >= 4 * _LEFT and int(symptom.used) > _MOSTLY * int(symptom.limit) and {"said": symptom.id}


@rule("oom-model-too-large", "likely")
def hashcat_wants_more_than_a_free_card_has(
    card: Symptom = seen("hashcat-tells-what-is-free"), symptom: Symptom = seen("cuda-out-of-memory-plain")
) -> Verdict:
    """It tells what it may allocate of the card, which is nearly all, and that it does not do."""
    return int(card.free) > (1 - _FULL) * int(card.total) and {"said": symptom.id}


@rule("oom-model-too-large", "likely")
def memory_of_an_intel_card_is_full(symptom: Symptom = seen("xpu-out-of-memory-figures")) -> Verdict:
    """torch for Intel tells no free memory; what it holds nearly fills the card."""
    held = (size(symptom.allocated) or 0) + (size(symptom.slack) or 0)
    return held + (size(symptom.wanted) or 0) > (size(symptom.total) or 0) - GIB / 2 and not in_pieces(symptom)


@rule("oom-model-too-large", "likely")
def message_is_cut_after_what_is_free(
    symptom: Symptom = seen("torch-out-of-memory-cut"),
    full: Symptom | None = seen("torch-out-of-memory-figures", "other-process-holds-memory"),
) -> Verdict:
    """The first sentence alone: less is free than was asked for; whose the rest is, it does not tell."""
    return full is None and (size(symptom.free) or 0) < (size(symptom.wanted) or 0)


@rule("oom-model-too-large", "possible")
def message_is_cut_after_what_was_wanted(symptom: Symptom = seen("torch-out-of-memory-start")) -> Verdict:
    """Less still: what was asked for."""
    return bool(symptom.wanted) and not Figures(symptom).told
