"""The program's figure for the GPU's memory is wrong."""

from rigup.diagnosis.causes.hardware.memory_figures import OUT, WRAPPED
from rigup.diagnosis.causes.memory_sizes import GIB, size
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.amd_ways import setting
from rigup.machine.kinds import Gpu, Memory, Symptom

_OF_THE_SYSTEM = 4 * GIB  # what a system and its services hold themselves, at the least


@rule("apu-memory-miscount", "likely")
def total_is_wrong_as_people_say(symptom: Symptom = seen("hip-total-wrong-in-words"), gpu: Gpu = one(integrated=True)) -> Verdict:
    """Somebody knows how much there is, and the runtime tells another figure."""
    return {"said": symptom.id, "name": gpu.get("name")}


@rule("apu-memory-miscount")
def more_free_than_there_is(symptom: Symptom = seen("hip-memory-figures", "hip-memory-tuple", tag="torch-out-of-memory")) -> Verdict:
    """A total below what is free counts another pool than the free one."""
    free, total = size(symptom.get("free") or symptom.get("free2")), size(symptom.get("total") or symptom.get("total2"))
    below = symptom.id in OUT and (free or 0) >= WRAPPED  # no other pool: more is in use than the total
    wrong = bool(free and total and free > 1.05 * total) and not below
    return wrong and ({"severity": "error"} if symptom.id in OUT else True)


@rule("apu-memory-miscount", "likely")
def pools_were_added(symptom: Symptom = seen("ollama-compute"), gpu: Gpu = one(vendor="amd")) -> Verdict:
    """The program's total is carve-out and mapped memory together, which the machine does not have at once."""
    total = size(symptom.get("total")) or 0.0
    added = abs(total - gpu.vram - gpu.gtt) < 0.02 * total
    return gpu.get("integrated") is not False and total > 0 and 0 < gpu.vram < gpu.gtt and added


@rule("apu-memory-miscount")
def more_than_the_machine_has(memory: Memory, gpu: Gpu = one(integrated=True), symptom: Symptom = seen("ollama-compute")) -> Verdict:
    """The program's total is more than the memory that is there, carve-out included."""
    total, vram = size(symptom.get("total")) or 0.0, gpu.get("vram", 0)
    differs = abs(vram - total) > 0.02 * total  # else the same line told it
    return total > memory.total + (vram if differs else 0) + GIB


@text_rule("apu-memory-miscount", "likely")
def engine_takes_shared_memory_for_the_gpus_own(
    _said: Symptom = seen("vllm-memory-taken"),
    inner: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
    carved: Symptom | None = seen("carve-out-told"),
) -> Verdict:
    """The engine's share is of a total that the processor uses as well."""
    is_carved = carved is not None or (inner.knows("vram") and inner.vram > 16 * GIB)
    return card is None and bool(inner.integrated) and not is_carved and {"severity": "error"}


@text_rule("apu-memory-miscount", "possible")
def little_is_free_of_a_large_pool(
    symptom: Symptom = seen("ollama-compute"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:
    """The server starts, and calls a quarter of the pool free: it takes another pool's free part beside this one's total."""
    total, free = size(symptom.get("total")) or 0.0, size(symptom.get("free")) or 0.0
    return card is None and total > 16 * GIB and 0 < free < 0.25 * total and {"name": gpu.get("name")}


@mends("apu-memory-miscount")
def what_the_machine_lends(
    gpu: Gpu | None = one(vendor="amd"),
    memory: Memory | None = None,
    told: Symptom | None = seen("main-memory-told"),
    figures: Symptom | None = seen("hip-memory-figures", "hip-memory-tuple"),
    counted: Symptom | None = seen("ollama-compute"),
) -> Params:
    """The least of what may be mapped, what is free, and the main memory beside the carve-out; of it the system needs its part."""
    carved, mapped = (float(gpu.get(name) or 0) if gpu else 0.0 for name in ("vram", "gtt"))
    ram = float(memory.get("total") or 0) if memory else 0.0
    if told is not None and not ram:
        ram = (size(told.get("total")) or 0.0) - (carved if told.get("whole") else 0.0)
    known = [figure for figure in (mapped, ram, (size(figures.get("free")) or 0.0) if figures else 0.0) if figure > _OF_THE_SYSTEM]
    if not known:
        return {"unknown": "unknown"}
    most = min(known) - _OF_THE_SYSTEM
    over = (size(counted.get("total")) or 0.0) - most if counted else 0.0
    switch = setting("kept-free-by-ollama")
    unit = "ollama" if counted and over > 0 and not inside(counted) else None
    return {"most": f"{most / GIB:.0f} GiB", "service": unit, "name": switch.name, "over": str(int(over))}
