"""A card's memory: held by others, in pieces, or too small for the model."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside as from_inside
from rigup.diagnosis.rules.memory import GIB, OUT, Figures, size
from rigup.diagnosis.rules.pasted.heard import MINER_REFUSED
from rigup.machine.kinds import Gpu, Platform, Symptom, World

_MOSTLY = 0.7  # of a card's memory held by one program: the work is too large for it
_MUCH = 2**30
_FULL = 0.3  # share of a card that is left where others have taken it
_OUT = ("program-out-of-gpu-memory", "program-out-of-gpu-memory-in-capitals", "onnxruntime-arena-out-of-memory")
_OUT_AT_START = ("cuda-out-of-memory-constant", "cuda-out-of-memory-plain", "tf-out-of-memory", *_OUT)
_ON_A_FULL_CARD = (
    *_OUT, "tf-out-of-memory", "tensorflow-did-not-copy-to-the-gpu", "xla-request-not-met", "tensorrt-out-of-memory", "cycles-was-refused-memory",
    "torch-allocation-on-device", "memory-refused-in-a-library-of-cuda", "rmm-pool-is-exhausted", "other-programs-out-of-gpu-memory",
    "opencl-was-refused-memory", "resolve-memory-full", "lmdeploy-has-no-room",
)  # fmt: skip
_FIGURES = ("paddle-memory-figures", "julia-memory-figures")
_LEFT = 1 << 29  # bytes; less than any card that TensorFlow takes has
_SMALL = 1 << 30  # bytes; what a process has that came to nothing
_MEMORY = (
    "cuda-out-of-memory-plain",
    "cuda-out-of-memory-constant",
    "torch-out-of-memory",
    "torch-out-of-memory-figures",
)
_REFUSED = (
    "ggml-allocation-refused", "ggml-buffer-refused", "ggml-device-buffer-not-given", "vulkan-memory-refused", "sycl-memory-refused", "picture-program-ran-out",
    "picture-program-had-an-oom", "turbomind-ran-out", "torch-of-old-ran-out", "server-has-no-room", "exllama-has-no-room", "tinygrad-allocation-failed", "gpt4all-out-of-vram", "engine-in-rust-or-whisper-ran-out",
    "quantised-model-does-not-fit-on-the-gpu",
)  # fmt: skip
_OUT_PLAIN = (
    "hip-out-of-memory-plain",
    "cuda-out-of-memory-plain",
    "cuda-out-of-memory-constant",
    "ggml-out-of-memory",
)
_HOLDS_MUCH = 4 * 2**30
_REFUSED_PLAIN = (
    "server-has-no-room",
    "cuda-out-of-memory-plain",
    "cuda-out-of-memory-constant",
    "torch-out-of-memory",
)


def _own(said: Symptom) -> float:
    return max(size(said.get("reserved")) or 0.0, size(said.get("allocated")) or 0.0)


def _free(said: Symptom) -> float:
    total, used = size(said.get("total")), size(said.get("used"))
    return (total or 0.0) - (used or 0.0) if total else size(said.get("free")) or 0.0


def _taken(gpu: Gpu) -> bool:
    used, whole = gpu.get("memory_used"), gpu.get("vram")
    return bool(used and whole) and used > 0.8 * whole


def _in_pieces(said: Symptom) -> bool:
    slack = size(said.slack) or 0
    return slack >= (size(said.wanted) or 0) and slack >= 0.12 * (size(said.total) or 0)


# -- gpu-memory-held-by-others
@rule("gpu-memory-held-by-others", "likely")
def radeon_is_full_before_the_work(
    said: Symptom = seen("hip-out-of-memory-plain", "cuda-out-of-memory-plain", "cuda-out-of-memory-constant", "ggml-out-of-memory"), shown: Symptom = seen("rocm-smi-tells-used-memory"),
    inner: Gpu | None = one(vendor="amd", integrated=True), full: Symptom | None = seen(*OUT),
) -> Verdict:  # fmt: skip
    """rocm-smi shows a card of its own that is nearly full."""
    total, used = int(shown.total), int(shown.used)
    return (
        inner is None
        and full is None
        and total >= 4 * GIB
        and used > 0.8 * total
        and {"said": said.id, "severity": "error"}
    )


@rule("gpu-memory-held-by-others", "likely")
def other_process_is_listed_and_there_is_no_room(
    holder: Symptom = seen("nvidia-smi-lists-holder"), said: Symptom = seen("cuda-out-of-memory-plain", "cuda-out-of-memory-constant"),
    full: Symptom | None = seen("torch-out-of-memory-figures", "torch-out-of-memory"),
) -> Verdict:  # fmt: skip
    """The driver's list names a process with gigabytes, and another program gets none."""
    return (
        full is None
        and int(holder.get("mib") or holder.get("mib2") or "0") > 4000
        and {"said": said.id, "severity": "error"}
    )


@rule("gpu-memory-held-by-others", "likely")
def little_is_left_when_tensorflow_starts(
    made: Symptom = seen("tf-device-with-little-memory"),
    gpu: Gpu = one(vendor="nvidia"),
    split: Gpu | None = one(mig=True),
) -> Verdict:
    """TensorFlow takes what is free: a few hundred megabytes of a large card are what others left."""
    left = int(made.mib) * 2**20
    return split is None and gpu.memory_used > 0.8 * gpu.vram and left < 0.15 * gpu.vram


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
    said: Symptom = seen("kill-finds-no-process"), gpu: Gpu = one(vendor=("nvidia", "amd")), split: Gpu | None = one(mig=True), held: Symptom | None = seen("nvidia-smi-lists-holder"),
) -> Verdict:  # fmt: skip
    """Somebody wants to end what uses the card, and there is no such process: a context without its owner, or an owner elsewhere."""
    used = gpu.get("memory_used")
    return split is None and held is None and bool(used) and used > _MUCH and {"said": said.id}


@rule("gpu-memory-held-by-others", "likely")
def jax_cannot_start_on_a_full_card(
    _said: Symptom = seen("jax-finds-memory-taken"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """Nothing was left for the libraries, and the driver's tool shows the card full."""
    return gpu.memory_used > (1 - _FULL) * gpu.vram and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def catboost_starts_with_little(said: Symptom = seen("catboost-finds-little-free")) -> Verdict:
    """It tells what is free before it takes anything itself."""
    return int(said.free) < _FULL * int(said.total) and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def program_starts_on_a_full_card(said: Symptom = seen(*_ON_A_FULL_CARD), gpu: Gpu = one(vendor="nvidia")) -> Verdict:
    """nvidia-smi shows that most of the card is taken."""
    wanted = size(said.get("wanted")) or 0.0
    return gpu.memory_used > 0.8 * gpu.vram and wanted < gpu.vram and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def little_is_free_before_it_starts(
    said: Symptom = seen("tf-free-memory-at-start", "tf-free-memory-at-start-of-old"),
    _out: Symptom = seen(*_OUT_AT_START),
) -> Verdict:
    """TensorFlow tells what is free before it takes anything itself."""
    total, free = size(said.total), size(said.free)
    return bool(total) and (free or 0) < _FULL * (total or 0) and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def allocator_was_left_little(said: Symptom = seen("tf-allocator-tells-its-limit")) -> Verdict:
    """TensorFlow dumps its figures when it runs out; its limit is what was free at the start, and no card is that small."""
    return int(said.limit) < _LEFT and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def figures_show_others(said: Symptom = seen(*_FIGURES)) -> Verdict:
    """The process itself holds next to nothing, and next to nothing is free."""
    return _own(said) < _SMALL and _free(said) < _SMALL and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def used_by_no_process_that_is_listed(
    _none: Symptom = seen("compute-processes-none-listed"), gpu: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"), said: Symptom = seen(*_MEMORY),
    platform: Platform | None = None, split: Gpu | None = one(mig=True),
) -> Verdict:  # fmt: skip
    """Most of the card is in use, the driver lists no process of this place, and a program gets no memory."""
    windows = platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    return not windows and split is None and gpu.memory_used > gpu.vram / 2 and {"said": said.id, "severity": "error"}


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
    said: Symptom = seen("layers-none-offloaded"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """An engine counts what is free and puts no layer there; nvidia-smi shows that most of it is in use."""
    used, whole = gpu.get("memory_used"), gpu.get("vram")
    return bool(used and whole) and used > 0.8 * whole and {"said": said.id}


@rule("gpu-memory-held-by-others", "likely")
def program_was_refused_on_a_card_that_is_taken(
    said: Symptom = seen(*_REFUSED), gpu: Gpu = one(vendor="nvidia"), full: Symptom | None = seen(*OUT)
) -> Verdict:
    """The same where nvidia-smi shows that most of the card is in use."""
    return full is None and _taken(gpu) and {"said": said.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def no_room_for_a_context(said: Symptom = seen("ollama-context-by-number", code="2")) -> Verdict:
    """A context takes little: what is left of the card is less."""
    return {"said": said.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def rocm_smi_names_the_holder(
    holder: Symptom = seen("rocm-smi-lists-holder"),
    said: Symptom = seen(*_OUT_PLAIN),
    full: Symptom | None = seen(*OUT),
) -> Verdict:
    """The list names a process with gigabytes, and another program gets none; a message with figures knows better."""
    return full is None and int(holder.bytes) > _HOLDS_MUCH and {"said": said.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def full_before_this_program_took_any(
    left: Symptom = seen("free-and-total-noted", "hip-memory-tuple"), _own: Symptom = seen("torch-holds-nothing-yet"), holder: Symptom = seen("nvidia-smi-lists-holder"),
) -> Verdict:  # fmt: skip
    """torch has reserved nothing, hardly any is free, and the driver lists a program with gigabytes."""
    much = int(holder.get("mib") or holder.get("mib2") or 0) > 4000
    return much and float(left.free) < 0.15 * float(left.total) and {"said": left.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def another_program_runs_there_for_long(
    said: Symptom = seen(*_REFUSED_PLAIN), holder: Symptom = seen("program-of-the-card-runs-for-long")
) -> Verdict:
    """A program was refused memory, and the one that has the card was started hours or days before."""
    long = "-" in str(holder.since) or str(holder.since).count(":") == 2
    return long and {"said": said.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def worker_outlived_its_parent(
    orphan: Symptom = seen("program-without-its-parent"), _open: Symptom = seen("fuser-lists-who-has-the-card-open")
) -> Verdict:
    """What has the card open belongs to nobody any longer: the program that started it has ended."""
    return {"said": orphan.id}


@rule("gpu-memory-held-by-others", "likely")
def server_starts_with_little_and_the_holder_is_listed(
    left: Symptom = seen("ollama-compute"), holder: Symptom = seen("nvidia-smi-lists-holder"), failed: Symptom | None = seen(*_REFUSED, *_MEMORY)
) -> Verdict:  # fmt: skip
    """It tells what is free before it loads anything, and the driver names who has the rest."""
    much = int(holder.get("mib") or holder.get("mib2") or 0) > 4000 and "ollama" not in str(
        holder.get("process") or holder.get("process2")
    )
    little = (size(left.free) or 0) < _FULL * (size(left.total) or 0)
    return much and little and {"said": left.id, **({"severity": "error"} if failed else {})}


# -- oom-fragmentation
@rule("oom-fragmentation", "likely")
def free_memory_lies_in_pieces(said: Symptom = seen("tf-allocator-figures")) -> Verdict:
    """TensorFlow's allocator has more unused than was asked for, and no piece of that size."""
    unused = int(said.limit) - int(said.used)
    return unused > int(said.wanted) > int(said.largest)


@rule("oom-fragmentation", "likely")
def much_is_reserved_and_not_in_use(
    said: Symptom = seen("torch-allocator-figures"),
    _out: Symptom = seen("cuda-out-of-memory-plain", "torch-allocation-on-device"),
) -> Verdict:
    """torch's own counters show twice as much reserved as allocated, and it ran out."""
    allocated, reserved = (int(said.get(name).replace(",", "")) for name in ("allocated", "reserved"))
    return reserved > 2 * allocated


@rule("oom-fragmentation", "likely")
def memory_of_an_intel_card_lies_in_pieces(said: Symptom = seen("xpu-out-of-memory-figures")) -> Verdict:
    """What it holds and does not use would have done."""
    return _in_pieces(said)


@rule("oom-fragmentation", "likely")
def summary_shows_what_lies_idle(said: Symptom = seen("memory-summary-counts-refusals")) -> Verdict:
    """torch was refused memory and keeps a good part of what it reserved unused."""
    allocated, reserved = size(said.allocated) or 0.0, size(said.reserved) or 0.0
    return int(said.refused) > 0 and reserved - allocated > 0.3 * reserved


# -- oom-model-too-large
@rule("oom-model-too-large", "likely")
def hip_tells_that_the_whole_card_would_not_do(said: Symptom = seen("hip-log-tells-what-was-wanted")) -> Verdict:
    """One piece is wanted that is larger than all there is."""
    return int(said.wanted) > int(said.total) and {"said": said.id}


@rule("oom-model-too-large", "possible")
def hip_tells_that_too_little_is_free(said: Symptom = seen("hip-log-tells-what-was-wanted")) -> Verdict:
    """The card would do, and what is free does not; whose the rest is, the line does not tell."""
    return int(said.free) < int(said.wanted) <= int(said.total) and {"said": said.id}


@rule("oom-model-too-large", "likely")
def one_program_fills_intels_card(said: Symptom = seen("xpu-memory-full")) -> Verdict:
    """torch's own figures: what it holds is most of the card."""
    total = size(said.get("total") or said.get("total2")) or 0
    held = size(said.get("allocated") or said.get("allocated2")) or 0
    return total > 0 and held + (size(said.wanted) or 0) >= _MOSTLY * total and {"said": said.id}


@rule("oom-model-too-large", "possible")
def program_says_that_memory_is_out(
    said: Symptom = seen(*_OUT), told: Symptom | None = seen(*_FIGURES), start: Symptom | None = seen("tf-free-memory-at-start", "program-asks-for-a-larger-pagefile-by-name"),
) -> Verdict:  # fmt: skip
    """What the message says; it does not tell whose the memory is."""
    return told is None and start is None and {"said": said.id}


@rule("oom-model-too-large", "likely")
def allocator_is_full(said: Symptom = seen("tf-allocator-tells-its-limit")) -> Verdict:
    """The same with a card's memory to go by, nearly all of it in the program's own use."""
    return int(said.limit) >= 4 * _LEFT and int(said.used) > _MOSTLY * int(said.limit) and {"said": said.id}


@rule("oom-model-too-large", "likely")
def figures_show_the_work_itself(said: Symptom = seen(*_FIGURES)) -> Verdict:
    """Most of what is in use belongs to the process that asks for more."""
    return _own(said) >= _SMALL and _own(said) > _free(said) and {"said": said.id}


@rule("oom-model-too-large", "likely")
def hashcat_wants_more_than_a_free_card_has(
    card: Symptom = seen("hashcat-tells-what-is-free"), said: Symptom = seen("cuda-out-of-memory-plain")
) -> Verdict:
    """It tells what it may allocate of the card, which is nearly all, and that it does not do."""
    return int(card.free) > (1 - _FULL) * int(card.total) and {"said": said.id}


@rule("oom-model-too-large", "possible")
def miner_was_refused_memory(
    said: Symptom = seen(*MINER_REFUSED), windows: Platform | None = one(system="windows")
) -> Verdict:
    """The data of most coins grow until a card's memory does not hold them."""
    return (windows is None or said.id == "miner-was-refused-memory") and {"said": said.id}


@rule("oom-model-too-large", "likely")
def program_was_refused_memory(
    said: Symptom = seen(*_REFUSED), full: Symptom | None = seen(*OUT, "context-out-of-memory", "nvml-version-mismatch"), holder: Symptom | None = seen("nvidia-smi-lists-holder", "program-of-the-card-runs-for-long"),
    gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """Its own message, without figures; what it asked for is mostly its own weights."""
    return full is None and holder is None and not (gpu is not None and _taken(gpu)) and {"said": said.id}


@rule("oom-model-too-large", "likely")
def memory_of_an_intel_card_is_full(said: Symptom = seen("xpu-out-of-memory-figures")) -> Verdict:
    """torch for Intel tells no free memory; what it holds nearly fills the card."""
    held = (size(said.allocated) or 0) + (size(said.slack) or 0)
    return held + (size(said.wanted) or 0) > (size(said.total) or 0) - GIB / 2 and not _in_pieces(said)


@rule("oom-model-too-large", "likely")
def message_is_cut_after_what_is_free(
    said: Symptom = seen("torch-out-of-memory-cut"),
    full: Symptom | None = seen("torch-out-of-memory-figures", "other-process-holds-memory"),
) -> Verdict:
    """The first sentence alone: less is free than was asked for; whose the rest is, it does not tell."""
    return full is None and (size(said.free) or 0) < (size(said.wanted) or 0)


@rule("oom-model-too-large", "possible")
def message_is_cut_after_what_was_wanted(said: Symptom = seen("torch-out-of-memory-start")) -> Verdict:
    """Less still: what was asked for."""
    return bool(said.wanted) and not Figures(said).told
