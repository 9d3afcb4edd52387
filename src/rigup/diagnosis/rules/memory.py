"""Memory that does not suffice: whose it is, whether it lies in pieces, and how much an integrated GPU really has."""

import re

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, wordings
from rigup.diagnosis.rules.access import inside
from rigup.knowledge.gtt import PAGE, maps_always
from rigup.machine.kinds import DeadLine, Gpu, Memory, ModuleParameter, Platform, Symptom, Torch

GIB = 1 << 30
NO_PARAMETERS_OF_AMDGPU = ("gtt_size", "gtt", "gttsize_mb", "pages_limit", "vram_size")
_UNITS = {"bytes": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": GIB, "t": 1 << 40}
_ASYNC = "torch-async-out-of-memory"  # CUDA's own pool: it reserves nothing beside what it gave
OUT = wordings(tag="torch-out-of-memory")
_OVERHEAD = 1.5 * GIB  # what a context and its libraries hold beside the allocator
_REST = 0.03  # share of a card below which what is reserved and not used is a mere rest
_WRAPPED = 1 << 60  # bytes; a count below nought, written without its sign, is beyond any memory


def size(text: str | None) -> float | None:
    """`7.13 GiB` in bytes."""
    match = re.match(r"([\d.]{1,16}) ?(bytes|[KMGTkmgt]?)", text or "")
    try:
        return float(match[1]) * _UNITS[match[2].lower() or "b"] if match else None
    except ValueError:
        return None


class Figures:
    """What one message says of a card's memory, in bytes; None where it does not tell."""

    def __init__(self, symptom: Symptom) -> None:
        self.wanted, self.total, self.free = (size(symptom.get(name)) for name in ("wanted", "total", "free"))
        self.over = self.free is not None and self.free >= _WRAPPED  # more is in use than there is
        self.free = 0.0 if self.over else self.free
        self.allocated, self.slack, self.mine = (size(symptom.get(name)) for name in ("allocated", "slack", "mine"))
        reserved = size(symptom.get("reserved"))
        if self.slack is None and reserved is not None and self.allocated is not None:
            differs = reserved < self.allocated  # up to 1.3 "cached" was what is held beside the allocated
            self.slack = reserved if differs else reserved - self.allocated
        if symptom.get("id") == _ASYNC:
            self.slack = 0.0

    @property
    def told(self) -> bool:
        """Whether the message has figures at all."""
        return None not in (self.wanted, self.total, self.free, self.allocated, self.slack)

    @property
    def others(self) -> float:
        """What neither is free nor belongs to the process that failed.

        In a container the driver may not know what that process holds, and tells less than torch has allocated.
        """
        allocated = self.allocated or 0
        known = self.mine is not None and self.mine >= allocated
        own = (self.mine or 0) if known else allocated + (self.slack or 0) + _OVERHEAD
        return max((self.total or 0) - (self.free or 0) - own, 0.0)

    def includes(self, held: float) -> bool:
        """Whether a process that holds so much is the one that failed.

        In a container it does not know its own number: there is then no room on the card for both.
        """
        if None in (self.total, self.free, self.allocated, self.slack):
            return False
        own, used = (self.allocated or 0) + (self.slack or 0), (self.total or 0) - (self.free or 0)
        return held >= own * 0.98 and held + own > used * 1.05

    @property
    def taken(self) -> bool:
        """Others hold more than was asked for, and a good part of the card."""
        return self.told and self.others > (self.wanted or 0) and self.others > 0.2 * (self.total or 0)

    @property
    def roomy(self) -> bool:
        """Far more is free than was asked for, and a good part of the card."""
        free = self.free or 0
        return self.told and free > 2 * (self.wanted or 0) and free > 0.25 * (self.total or 0)

    @property
    def beyond(self) -> bool:
        """More than the whole card, were it all in one piece: Windows lends a program main memory, and counts it as reserved."""
        return self.told and (self.over or (self.allocated or 0) + (self.wanted or 0) > (self.total or 0))

    @property
    def in_pieces(self) -> bool:
        """What is reserved and not used would do, and is not a mere rest."""
        slack = self.slack or 0
        return self.told and not self.beyond and slack >= (self.wanted or 0) and slack >= 0.12 * (self.total or 0)

    @property
    def would_do(self) -> bool:
        """What is reserved and not used would do: it is more than a rest, or what is free makes up for the difference."""
        wanted, slack, total = self.wanted or 0, self.slack or 0, self.total or 0
        alone = slack >= max(wanted, _REST * total)
        joined = slack + (self.free or 0) >= wanted and slack >= 0.12 * total
        return self.told and not self.beyond and not self.in_pieces and (alone or joined)

    @property
    def own(self) -> bool:
        """The work itself fills the card, and no order of its pieces would give what it asked for."""
        wanted, slack, total = self.wanted or 0, self.slack or 0, self.total or 0
        rest = slack < _REST * total or slack + (self.free or 0) < wanted
        return self.beyond or (rest and (self.allocated or 0) + slack > 0.75 * total)


@rule("gpu-memory-held-by-others")
def others_hold_what_it_wants(
    symptom: Symptom = seen(tag="torch-out-of-memory"), shared: Gpu | None = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """Without the others the request would have been met. What a processor's graphics share is the system's as well."""
    return (shared is None or card is not None) and Figures(symptom).taken and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def message_names_the_holder(
    symptom: Symptom = seen(tag="torch-out-of-memory"), other: Symptom = seen("other-process-holds-memory"),
    full: Symptom | None = seen("torch-out-of-memory-figures"),
) -> Verdict:  # fmt: skip
    """The message names another process with more memory than was asked for."""
    held, figures = size(other.get("held")) or 0.0, Figures(full or symptom)
    much = figures.wanted is not None and held > figures.wanted and held > 0.2 * (figures.total or 0)
    return much and not figures.includes(held) and {"severity": "error"}


@rule("gpu-memory-held-by-others")
def used_by_nobody_that_is_listed(
    none: Symptom = seen("nvidia-smi-no-processes"), gpu: Gpu = one(vendor="nvidia"), platform: Platform | None = None,
    parts: Gpu | None = one(mig=True), box: Symptom | None = seen("container-commands-shown"),
) -> Verdict:  # fmt: skip
    """Much is used, and the list of processes is empty. On Windows, in a WSL and in a container it always is."""
    elsewhere = platform and (platform.get("wsl") or platform.get("system") == "windows")
    listed = gpu.get("driver_model") is None and not elsewhere and box is None and not inside(none)
    return listed and parts is None and gpu.memory_used > max(GIB, gpu.vram / 4)


@rule("gpu-memory-held-by-others", "likely")
def card_is_full_before_it_starts(
    gpu: Gpu, symptom: Symptom = seen("cuda-out-of-memory-plain", "cuda-out-of-memory-constant", "ggml-out-of-memory", "xla-out-of-memory"),
) -> Verdict:  # fmt: skip
    """The message has no figures of use; nvidia-smi shows that most of the card is taken."""
    return gpu.memory_used > 0.8 * gpu.vram and _wants(symptom) < gpu.vram and {"severity": "error"}


def _wants(symptom: Symptom) -> float:
    return size(symptom.get("wanted")) or 0.0


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
    statement: Symptom = seen("memory-stays-in-words", "memory-taken-in-chinese-words"), gone: Symptom = seen("process-gone-in-words", "process-gone-in-chinese-words"),
) -> Verdict:  # fmt: skip
    """Somebody ended what used the memory, and it is not given back."""
    return {"told": statement.id, "gone": gone.id}


@rule("oom-fragmentation")
def reserved_in_pieces(symptom: Symptom = seen(tag="torch-out-of-memory")) -> Verdict:
    """Enough is reserved and unused, and no piece of it is long enough."""
    figures = Figures(symptom)
    return figures.in_pieces and not figures.taken


@rule("oom-fragmentation", "likely")
def reserved_would_do(symptom: Symptom = seen(tag="torch-out-of-memory")) -> Verdict:
    """Joined pieces would have met the request; whether the next one is met as well, no figure tells."""
    figures = Figures(symptom)
    return figures.would_do and not figures.taken and not figures.roomy


@rule("oom-model-too-large")
def work_fills_the_card(
    symptom: Symptom = seen(tag="torch-out-of-memory"), shared: Gpu | None = one(vendor="amd", integrated=True), carved: Symptom | None = seen("amdgpu-vram-ready", "amdgpu-vram-span")
) -> Verdict:  # fmt: skip
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


def _work(figures: Figures) -> bool:
    """Neither others nor the order of the pieces explain it."""
    contradicts = (figures.free or 0) > (figures.total or 0)
    pieces = figures.in_pieces or figures.would_do
    return not (figures.taken or pieces or contradicts or figures.roomy)


@rule("oom-model-too-large", "possible")
def refused_beside_free_memory(symptom: Symptom = seen(tag="torch-out-of-memory"), own: Symptom | None = seen("test-caps-its-own-memory")) -> Verdict:  # fmt: skip
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


@mends("oom-fragmentation")
def allocator_setting(symptom: Symptom = seen(tag="torch-out-of-memory")) -> Params:
    """The allocator's variable has its runtime's name; older releases know another setting."""
    runtime = "HIP" if symptom.get("runtime") == "HIP" else "CUDA"
    setting = "max_split_size_mb:512" if symptom.get("reserved") is not None else "expandable_segments:True"
    return {"variable": f"PYTORCH_{runtime}_ALLOC_CONF", "setting": setting}


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_starves_torch(
    gpu: Gpu = one(integrated=True), symptom: Symptom = seen("hip-memory-figures", tag="torch-out-of-memory")
) -> Verdict:
    """torch has the system's half only, and the larger half lies in a carve-out that it does not use."""
    total = size(symptom.get("total") or symptom.get("total2"))
    return bool(total) and abs((total or 0) - gpu.gtt) < 0.1 * gpu.gtt and gpu.vram > gpu.gtt / 2


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_starves_torch_by_the_kernels_words(
    symptom: Symptom = seen("hip-memory-figures", "hip-memory-tuple", tag="torch-out-of-memory"), carved: Symptom = seen("amdgpu-vram-ready"), mapped: Symptom | None = seen("amdgpu-gtt-ready"),
    card: Gpu | None = one(integrated=False), inside: Gpu | None = one(vendor="amd", integrated=True),
) -> Verdict:  # fmt: skip
    """The same, where only the kernel's log tells the two pools; a card of its own has its own memory as its total."""
    total = size(symptom.get("total") or symptom.get("total2")) or 0
    vram = size(f"{carved.get('mib') or 0} M") or 0
    gtt = size(f"{mapped.get('mib') or 0} M") or 0 if mapped else None
    fits = inside is not None if gtt is None else abs(total - gtt) < 0.1 * gtt
    alone = card is None and 0 < 2 * total < vram
    return alone and fits and {"severity": "error" if symptom.id in OUT else "warning"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def other_pool_is_used_as_people_say(
    symptom: Symptom = seen("gtt-instead-of-vram-in-words"), card: Gpu | None = one(integrated=False)
) -> Verdict:
    """Somebody gave the GPU memory of its own, and the program takes the mapped one."""
    return card is None and {"said": symptom.id}


@rule("apu-gtt-limit-not-applied", "likely")
def limit_is_not_in_force_as_people_say(
    symptom: Symptom = seen("gtt-not-set-in-words"),
    wish: Symptom = seen("gtt-limit-named", "gtt-pages-named", "gtt-size-named"),
) -> Verdict:
    """The parameter stands in the text, and somebody sees that it did not help."""
    return {"said": symptom.id, "wish": wish.id}


@rule("apu-memory-miscount", "likely")
def total_is_wrong_as_people_say(
    symptom: Symptom = seen("hip-total-wrong-in-words"), gpu: Gpu = one(integrated=True)
) -> Verdict:
    """Somebody knows how much there is, and the runtime tells another figure."""
    return {"said": symptom.id, "name": gpu.get("name")}


@rule("apu-vram-carveout-vs-gtt", "likely")
def large_carve_out_with_torch(
    platform: Platform, torch: Torch, gpu: Gpu = one(integrated=True, vendor="amd")
) -> Verdict:
    """A carve-out larger than all that the GPU may map besides, and a torch for ROCm on a kernel that maps all the same."""
    starved = gpu.vram >= 8 * GIB and gpu.vram > gpu.gtt and maps_always(str(platform.release))
    return bool(torch.get("hip")) and starved


@rule("apu-gtt-limit-not-applied")
def wished_and_not_in_force(
    limit: ModuleParameter = one(module=("ttm", "amdttm", "amdgpu"), name=("pages_limit", "gttsize")),
) -> Verdict:
    """The configured limit is not the one that runs."""
    wished, running = limit.configured, limit.running
    return (
        wished.isdigit()
        and running.lstrip("-").isdigit()
        and int(wished) != int(running)
        and not _auto(limit.name, running)
    )


def _auto(name: str, running: str) -> bool:
    return name == "gttsize" and running == "-1"


@rule("apu-gtt-limit-not-applied")
def no_such_parameter(
    wish: ModuleParameter = one(module="amdgpu", name=NO_PARAMETERS_OF_AMDGPU), refused: Symptom | None = seen(tag="device-out-of-memory taken-refused torch-out-of-memory"),
) -> Verdict:  # fmt: skip
    """amdgpu has no parameter of this name, and ignores it: what fails for want of memory fails by that."""
    ignored = not wish.knows("running") and bool(wish.configured)
    return ignored and {"name": wish.name, **({"severity": "error"} if refused is not None else {})}


@rule("apu-gtt-limit-not-applied")
def wished_and_the_ceiling_is_lower(
    gpu: Gpu = one(integrated=True, vendor="amd"),
    limit: ModuleParameter = one(module=("ttm", "amdttm"), name="pages_limit"),
) -> Verdict:
    """More pages were configured than the GPU may map."""
    wished = limit.configured
    return wished.isdigit() and int(wished) * PAGE > 1.1 * gpu.gtt


@rule("apu-gtt-limit-not-applied", "likely")
def line_that_nobody_reads(
    line: DeadLine = one(module=("amdgpu", "ttm", "amdttm")), limit: ModuleParameter | None = one(name="pages_limit")
) -> Verdict:
    """The line lacks its keyword, so that it sets nothing; where another line is in force, that is no harm."""
    wished = limit.get("configured") if limit else None
    in_force = bool(wished) and limit is not None and limit.get("running") == wished
    return line.name in ("pages_limit", "gttsize", "page_pool_size") and not in_force and {"name": line.name}


@rule("apu-memory-miscount")
def more_free_than_there_is(
    symptom: Symptom = seen("hip-memory-figures", "hip-memory-tuple", tag="torch-out-of-memory"),
) -> Verdict:
    """A total below what is free counts another pool than the free one."""
    free, total = size(symptom.get("free") or symptom.get("free2")), size(symptom.get("total") or symptom.get("total2"))
    below = symptom.id in OUT and (free or 0) >= _WRAPPED  # no other pool: more is in use than the total
    wrong = bool(free and total and free > 1.05 * total) and not below
    return wrong and ({"severity": "error"} if symptom.id in OUT else True)


@rule("apu-memory-miscount", "likely")
def pools_were_added(symptom: Symptom = seen("ollama-compute"), gpu: Gpu = one(vendor="amd")) -> Verdict:
    """The program's total is carve-out and mapped memory together, which the machine does not have at once."""
    total = size(symptom.get("total")) or 0.0
    added = abs(total - gpu.vram - gpu.gtt) < 0.02 * total
    return gpu.get("integrated") is not False and total > 0 and 0 < gpu.vram < gpu.gtt and added


@rule("apu-memory-miscount")
def more_than_the_machine_has(
    memory: Memory, gpu: Gpu = one(integrated=True), symptom: Symptom = seen("ollama-compute")
) -> Verdict:
    """The program's total is more than the memory that is there, carve-out included."""
    total, vram = size(symptom.get("total")) or 0.0, gpu.get("vram", 0)
    differs = abs(vram - total) > 0.02 * total  # else the same line told it
    return total > memory.total + (vram if differs else 0) + GIB


@rule("igpu-vram-counted-without-gtt", "likely")
def carve_out_alone_was_counted(
    symptom: Symptom = seen("ollama-compute"), gpu: Gpu = one(integrated=True, vendor="amd")
) -> Verdict:
    """The program's total is the carve-out, beside which the GPU may map much more."""
    total = size(symptom.get("total"))
    return bool(total) and abs((total or 0) - gpu.vram) < 0.05 * gpu.vram and gpu.gtt > 1.5 * gpu.vram


@rule("igpu-vram-counted-without-gtt", "possible")
def little_memory_for_an_integrated_gpu(
    symptom: Symptom = seen("ollama-compute"),
    _short: Symptom = seen("ollama-too-little-vram"),
    gpu: Gpu = one(integrated=True, vendor="amd"),
) -> Verdict:
    """The program calls a few gigabytes too little; an integrated GPU may map the system's memory."""
    total = size(symptom.get("total"))
    return bool(total) and (total or 0) <= 8 * GIB and not gpu.knows("gtt")
