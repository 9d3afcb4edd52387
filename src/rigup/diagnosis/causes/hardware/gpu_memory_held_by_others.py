"""Another process holds the GPU's memory."""

import math

from rigup.diagnosis.causes.hardware.card_index import index_of_the_card
from rigup.diagnosis.causes.hardware.memory_figures import Figures
from rigup.diagnosis.causes.hardware.memory_holders import (
    FULL,
    HOLDERS,
    LEFT,
    is_mostly_taken,
    name_of,
    node_that_is_held,
    process_that_is_named,
    way_to_end,
)
from rigup.diagnosis.causes.memory_sizes import GIB, size
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.machine.kinds import Gpu, GpuProcess, HostedNotebook, Platform, Symptom, World

_NOTHING = 0.02  # of a card's memory: too little for a library's own start
_MUCH = 2**30
_HOLDS_MUCH = 4 * 2**30
_LEAST_SHARE = 0.1  # of a card, below which no server is worth starting


@rule("gpu-memory-held-by-others", "likely")
def cudnn_starts_on_a_full_card(symptom: Symptom = seen("cudnn-tells-the-memory")) -> Verdict:
    """A library's first handle finds next to nothing free: what fills the card was there before."""
    return int(symptom.free) < _NOTHING * int(symptom.total) and {"severity": "error"}


@rule("gpu-memory-held-by-others", "possible")
def shared_card_is_busy(
    error: Symptom = seen("ollama-driver-init-failed", tag="gpu-busy"), gpu: Gpu = one(compute_mode="Default")
) -> Verdict:
    """Nothing forbids a second process: mostly one that ended badly still has its context there."""
    return error.get("code", "46") == "46" and gpu.knows("compute_mode") and {"severity": "error"}


@rule("gpu-memory-held-by-others")
def others_hold_what_it_wants(
    symptom: Symptom = seen(tag="torch-out-of-memory"),
    shared: Gpu | None = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """Without the others the request would have been met. What a processor's graphics share is the system's as well."""
    return (shared is None or card is not None) and Figures(symptom).taken and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def message_names_the_holder(
    symptom: Symptom = seen(tag="torch-out-of-memory"),
    other: Symptom = seen("other-process-holds-memory"),
    full: Symptom | None = seen("torch-out-of-memory-figures"),
) -> Verdict:
    """The message names another process with more memory than was asked for."""
    held, figures = size(other.get("held")) or 0.0, Figures(full or symptom)
    much = figures.wanted is not None and held > figures.wanted and held > 0.2 * (figures.total or 0)
    return much and not figures.includes(held) and {"severity": "error"}


@rule("gpu-memory-held-by-others")
def used_by_nobody_that_is_listed(
    none: Symptom = seen("nvidia-smi-no-processes"),
    gpu: Gpu = one(vendor="nvidia"),
    platform: Platform | None = None,
    parts: Gpu | None = one(mig=True),
    box: Symptom | None = seen("container-commands-shown", "pod-is-asked-inside"),
    hosted: HostedNotebook | None = None,
    cache: Symptom | None = seen("torch-cache-asked", tag="server-holds-memory"),
) -> Verdict:
    """Much is used, and the list of processes is empty. On Windows, in a WSL, in a container and in a hosted notebook it always is.

    Who asks torch what it keeps has the process that holds it, and so has an engine that answers.
    """
    elsewhere = (platform and (platform.get("wsl") or platform.get("system") == "windows")) or hosted is not None
    listed = gpu.get("driver_model") is None and not elsewhere and box is None and cache is None and not inside(none)
    return listed and parts is None and gpu.memory_used > max(GIB, gpu.vram / 4)


def _wants(symptom: Symptom) -> float:
    return size(symptom.get("wanted")) or 0.0


@rule("gpu-memory-held-by-others", "likely")
def card_is_full_before_it_starts(
    gpu: Gpu, symptom: Symptom = seen("cuda-out-of-memory-plain", "cuda-out-of-memory-constant", "ggml-out-of-memory", "xla-out-of-memory")
) -> Verdict:
    """The message has no figures of use; nvidia-smi shows that most of the card is taken."""
    return gpu.memory_used > 0.8 * gpu.vram and _wants(symptom) < gpu.vram and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def taken_as_people_say(
    statement: Symptom = seen("memory-taken-in-words", "memory-taken-in-chinese-words"),
    symptom: Symptom = seen("cuda-out-of-memory-plain", "cuda-out-of-memory-constant", "torch-allocation-on-device"),
    full: Symptom | None = seen(tag="torch-out-of-memory"),
) -> Verdict:
    """Words tell of memory that is not the program's own; a message with figures knows better."""
    return full is None and {"told": statement.id, "said": symptom.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def memory_stays_when_its_process_is_gone(
    statement: Symptom = seen("memory-stays-in-words", "memory-taken-in-chinese-words"),
    gone: Symptom = seen("process-gone-in-words", "process-gone-in-chinese-words"),
) -> Verdict:
    """Somebody ended what used the memory, and it is not given back."""
    return {"told": statement.id, "gone": gone.id}


@rule("gpu-memory-held-by-others", "likely")
def program_is_halted_and_keeps_its_memory(process: GpuProcess) -> Verdict:
    """Ctrl+Z, or a signal, has halted a program that has gigabytes of a card: they come back only when it ends."""
    return bool(process.get("stopped")) and int(process.get("memory") or 0) > _MUCH


@text_rule("gpu-memory-held-by-others", "likely")
def tensorflow_gets_a_rest_of_a_full_card(gpu: Gpu, device: Symptom = seen("tensorflow-made-a-device")) -> Verdict:
    """TensorFlow takes nearly all that is free, and that is little of a card which is full."""
    room = size(device.room)
    return is_mostly_taken(gpu) and room is not None and room < 0.2 * gpu.vram


@text_rule("gpu-memory-held-by-others", "likely")
def radeon_is_full_before_the_work(
    symptom: Symptom = seen("hip-out-of-memory-plain", "cuda-out-of-memory-plain", "cuda-out-of-memory-constant", "ggml-out-of-memory"),
    shown: Symptom = seen("rocm-smi-tells-used-memory"),
    inner: Gpu | None = one(vendor="amd", integrated=True),
    full: Symptom | None = seen(tag="torch-out-of-memory"),
) -> Verdict:
    """rocm-smi shows a card of its own that is nearly full."""
    total, used = int(shown.total), int(shown.used)
    return inner is None and full is None and total >= 4 * GIB and used > 0.8 * total and {"said": symptom.id, "severity": "error"}


@text_rule("gpu-memory-held-by-others", "likely")
def other_process_is_listed_and_there_is_no_room(
    holder: Symptom = seen("nvidia-smi-lists-holder"),
    symptom: Symptom = seen("cuda-out-of-memory-plain", "cuda-out-of-memory-constant"),
    full: Symptom | None = seen("torch-out-of-memory-figures", "torch-out-of-memory"),
) -> Verdict:
    """The driver's list names a process with gigabytes, and another program gets none."""
    return full is None and int(holder.get("mib") or holder.get("mib2") or "0") > 4000 and {"said": symptom.id, "severity": "error"}


@text_rule("gpu-memory-held-by-others", "likely")
def used_by_nobody_in_the_rows(
    none: Symptom = seen("nvidia-smi-none-running"),
    gpu: Gpu = one(vendor="nvidia"),
    platform: Platform | None = None,
    split: Gpu | None = one(mig=True),
    box: Symptom | None = seen("container-commands-shown", "pod-is-asked-inside"),
    hosted: HostedNotebook | None = None,
    cache: Symptom | None = seen("torch-cache-asked", tag="server-holds-memory"),
) -> Verdict:
    """Most of a card is used, and the driver knows of no process there. On Windows, in a WSL, in a container and in a hosted notebook it never does."""
    listed = not gpu.get("driver_model") and not (platform and (platform.get("wsl") or platform.get("system") == "windows"))
    return (
        listed
        and hosted is None
        and cache is None
        and box is None
        and not inside(none)
        and split is None
        and gpu.memory_used > gpu.vram / 4
        and gpu.memory_used > 2**30
    )


@text_rule("gpu-memory-held-by-others", "likely")
def memory_of_a_process_that_kill_does_not_find(
    symptom: Symptom = seen("kill-finds-no-process"),
    gpu: Gpu = one(vendor=("nvidia", "amd")),
    split: Gpu | None = one(mig=True),
    held: Symptom | None = seen("nvidia-smi-lists-holder"),
) -> Verdict:
    """Somebody wants to end what uses the card, and there is no such process: a context without its owner, or an owner elsewhere."""
    used = gpu.get("memory_used")
    return split is None and held is None and bool(used) and used > _MUCH and {"said": symptom.id}


@text_rule("gpu-memory-held-by-others", "likely")
def jax_cannot_start_on_a_full_card(_said: Symptom = seen("jax-finds-memory-taken"), gpu: Gpu = one(vendor="nvidia")) -> Verdict:
    """Nothing was left for the libraries, and the driver's tool shows the card full."""
    return gpu.memory_used > (1 - FULL) * gpu.vram and {"severity": "error"}


@text_rule("gpu-memory-held-by-others", "likely")
def catboost_starts_with_little(symptom: Symptom = seen("catboost-finds-little-free")) -> Verdict:
    """It tells what is free before it takes anything itself."""
    return int(symptom.free) < FULL * int(symptom.total) and {"severity": "error"}


@text_rule("gpu-memory-held-by-others", "likely")
def program_starts_on_a_full_card(symptom: Symptom = seen(tag="taken-on-a-full-card"), gpu: Gpu = one(vendor="nvidia")) -> Verdict:
    """nvidia-smi shows that most of the card is taken."""
    wanted = size(symptom.get("wanted")) or 0.0
    return gpu.memory_used > 0.8 * gpu.vram and wanted < gpu.vram and {"severity": "error"}


@text_rule("gpu-memory-held-by-others", "likely")
def allocator_was_left_little(symptom: Symptom = seen("tf-allocator-tells-its-limit")) -> Verdict:
    """TensorFlow dumps its figures when it runs out; its limit is what was free at the start, and no card is that small."""
    return int(symptom.limit) < LEFT and {"severity": "error"}


@text_rule("gpu-memory-held-by-others", "likely")
def used_by_no_process_that_is_listed(
    _none: Symptom = seen("compute-processes-none-listed"),
    gpu: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"),
    symptom: Symptom = seen(tag="memory-refused"),
    platform: Platform | None = None,
    split: Gpu | None = one(mig=True),
) -> Verdict:
    """Most of the card is in use, the driver lists no process of this place, and a program gets no memory."""
    windows = platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    return not windows and split is None and gpu.memory_used > gpu.vram / 2 and {"said": symptom.id, "severity": "error"}


@text_rule("gpu-memory-held-by-others", "likely")
def used_by_nobody_in_the_long_report(
    _none: Symptom = seen("long-report-lists-no-process"),
    gpu: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"),
    platform: Platform | None = None,
    split: Gpu | None = one(mig=True),
    box: World | None = one(at="container"),
    server: Symptom | None = seen(tag="server-holds-memory"),
) -> Verdict:
    """Most of the card is in use, and the same report knows of no process. On Windows and in a container it never does."""
    windows = platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    return not windows and server is None and box is None and split is None and gpu.memory_used > gpu.vram / 2


@text_rule("gpu-memory-held-by-others", "likely")
def nothing_goes_on_a_card_that_is_taken(symptom: Symptom = seen("layers-none-offloaded"), gpu: Gpu = one(vendor="nvidia")) -> Verdict:
    """An engine counts what is free and puts no layer there; nvidia-smi shows that most of it is in use."""
    used, whole = gpu.get("memory_used"), gpu.get("vram")
    return bool(used and whole) and used > 0.8 * whole and {"said": symptom.id}


@text_rule("gpu-memory-held-by-others", "likely")
def rocm_smi_names_the_holder(
    holder: Symptom = seen("rocm-smi-lists-holder"),
    symptom: Symptom = seen(tag="memory-refused"),
    full: Symptom | None = seen(tag="torch-out-of-memory"),
) -> Verdict:
    """The list names a process with gigabytes, and another program gets none; a message with figures knows better."""
    return full is None and int(holder.bytes) > _HOLDS_MUCH and {"said": symptom.id, "severity": "error"}


@text_rule("gpu-memory-held-by-others", "likely")
def full_before_this_program_took_any(
    left: Symptom = seen("free-and-total-noted", "hip-memory-tuple"),
    _own: Symptom = seen("torch-holds-nothing-yet"),
    holder: Symptom = seen("nvidia-smi-lists-holder"),
) -> Verdict:
    """torch has reserved nothing, hardly any is free, and the driver lists a program with gigabytes."""
    much = int(holder.get("mib") or holder.get("mib2") or 0) > 4000
    return much and float(left.free) < 0.15 * float(left.total) and {"said": left.id, "severity": "error"}


@text_rule("gpu-memory-held-by-others", "likely")
def another_program_runs_there_for_long(
    symptom: Symptom = seen(tag="memory-refused"), holder: Symptom = seen("program-of-the-card-runs-for-long")
) -> Verdict:
    """A program was refused memory, and the one that has the card was started hours or days before."""
    long = "-" in str(holder.since) or str(holder.since).count(":") == 2
    return long and {"said": symptom.id, "severity": "error"}


@text_rule("gpu-memory-held-by-others", "likely")
def server_starts_with_little_and_the_holder_is_listed(
    left: Symptom = seen("ollama-compute"),
    holder: Symptom = seen("nvidia-smi-lists-holder"),
    failed: Symptom | None = seen(tag="taken-refused memory-refused"),
) -> Verdict:
    """It tells what is free before it loads anything, and the driver names who has the rest."""
    much = int(holder.get("mib") or holder.get("mib2") or 0) > 4000 and "ollama" not in str(holder.get("process") or holder.get("process2"))
    little = (size(left.free) or 0) < FULL * (size(left.total) or 0)
    return much and little and {"said": left.id, **({"severity": "error"} if failed else {})}


@text_rule("gpu-memory-held-by-others", "likely")
def card_is_full_of_a_listed_process(
    _said: Symptom = seen(tag="memory-full-in-words"), gpu: Gpu = one(vendor="nvidia"), holder: GpuProcess = one()
) -> Verdict:
    """Somebody finds the card full, and the driver lists a program that has most of it; whose `python` is, nobody can tell."""
    own = str(holder.get("name")).rpartition("/")[2].startswith("python")
    is_on_card = holder.get("gpu") in (None, gpu.get("nvml_index"))
    return not own and is_on_card and not holder.get("graphics") and int(holder.memory) > gpu.vram / 2


mends("gpu-memory-held-by-others")(index_of_the_card)
mends("gpu-memory-held-by-others")(node_that_is_held)


@mends("gpu-memory-held-by-others")
def whether_a_reset_is_left(
    listed: Symptom | None = seen(tag="holder-listed"), full: Symptom | None = seen(tag="holder-unlisted")
) -> Params:
    """Where a program is shown, it is ended; the card is reset for what is held by none."""
    return {"index": None} if listed is not None or full is None else {}


@mends("gpu-memory-held-by-others")
def share_that_is_free(symptom: Symptom = seen("vllm-memory-taken")) -> Params:
    """vLLM takes a share of the whole card, and tells what is free; a fiftieth is left for what comes and goes."""
    free, total = float(symptom.get("free") or 0), float(symptom.get("total") or 0)
    share = math.floor(100 * (free / total - 0.02)) / 100 if total else 0.0
    return {"share": f"--gpu-memory-utilization {share:.2f}"} if share >= _LEAST_SHARE else {}


@mends("gpu-memory-held-by-others")
def holder_that_a_list_names(knew: Params, holders: Every[Symptom] = every(Symptom, id=HOLDERS)) -> Params:
    """Its number is told, and asked after."""
    named = process_that_is_named(knew, holders)
    return {**named, "unknown": named.get("pid")} if named else {}


@mends("gpu-memory-held-by-others")
def card_that_nobody_uses(cards: Every[Gpu] = every(Gpu, vendor="nvidia")) -> Params:
    """A like one beside it, that needs no process ended."""
    free = [card for card in cards if card.get("vram") and (card.get("memory_used") or card.vram) < card.vram / 10]
    alike = len({card.get("name") for card in cards}) == 1
    return {"idle_card": free[0].get("nvml_index")} if free and alike else {}


@mends("gpu-memory-held-by-others")
def who_holds_it(processes: Every[GpuProcess] = every(GpuProcess), wsl: Platform | None = one(wsl=(1, 2))) -> Params:
    """The process that holds most, whose it is and how much; one of Windows has no number in WSL."""
    most = max(
        (process for process in processes if process.get("memory") and not process.get("graphics")),
        key=lambda process: int(process.memory),
        default=None,
    )
    if most is None or wsl is not None or int(most.memory) <= GIB:
        return {}
    held = f"{int(most.memory) / GIB:.1f} GiB"
    told = {"holder": name_of(most), "held": held, "owner": most.get("owner"), "pid": str(most.pid)}
    return {**told, "node": None, **way_to_end(most)}


@mends("gpu-memory-held-by-others")
def model_that_ollama_holds(knew: Params, loaded: Every[Symptom] = every(Symptom, id="ollama-runs-it-all-on-the-gpu")) -> Params:
    """It goes by its name; what else is to run beside it takes what is free."""
    models = {str(symptom.model) for symptom in loaded}
    if not knew.get("ollama") or len(models) != 1:
        return {}
    return {"loaded": models.pop(), "ollama": None, "share_beside": knew.get("share")}


_HALTED: Params = {"halted": "halted", "unknown": None, "shown": None, "orphan": None, "share": None, "node": None, "index": None}


@mends("gpu-memory-held-by-others")
def what_somebody_suspended(knew: Params, _said: Symptom = seen("suspended-in-words")) -> Params:
    """Ctrl+Z ends nothing: such a program keeps its memory, will not end by itself, and hears a plain kill only when it goes on."""
    return {**_HALTED, **({"suspended": pid} if (pid := knew.get("unknown") or knew.get("shown")) else {"suspended_here": "shell"})}


@mends("gpu-memory-held-by-others")
def what_was_only_stopped(processes: Every[GpuProcess] = every(GpuProcess), job: Symptom | None = seen("shell-job-is-stopped")) -> Params:
    """The same where the shell, or the state of its process, tells it."""
    holders = [process for process in processes if process.get("memory") and not process.get("graphics")]
    most = max(holders, key=lambda process: int(process.memory), default=None)
    name = str((most.get("name") if most else None) or "").lower().partition(":")[0].rstrip(".0123456789")
    if job is not None and name and name in str(job.command).lower():
        return {**_HALTED, "job": job.job, "suspended": None}
    if most is not None and most.get("stopped"):
        return {**_HALTED, "stopped": ",".join(most.stopped), "suspended": None}
    return {}
