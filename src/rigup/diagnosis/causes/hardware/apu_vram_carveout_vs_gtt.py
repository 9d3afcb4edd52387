"""A large carve-out leaves torch the smaller half of the memory."""

from rigup.diagnosis.causes.hardware.graphics_memory import MIB, pages_to_allow, total_of
from rigup.diagnosis.causes.hardware.memory_figures import OUT, Figures
from rigup.diagnosis.causes.memory_sizes import GIB, size
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.gtt import maps_always
from rigup.machine.kinds import Gpu, Platform, Symptom, Torch

_ROUND = 0.08 * GIB  # what of a card's last gigabyte its driver keeps


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_starves_torch(
    gpu: Gpu = one(integrated=True), symptom: Symptom = seen("hip-memory-figures", tag="torch-out-of-memory")
) -> Verdict:
    """torch has the system's half only, and the larger half lies in a carve-out that it does not use."""
    total = size(symptom.get("total") or symptom.get("total2"))
    return bool(total) and abs((total or 0) - gpu.gtt) < 0.1 * gpu.gtt and gpu.vram > gpu.gtt / 2


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_starves_torch_by_the_kernels_words(
    symptom: Symptom = seen("hip-memory-figures", "hip-memory-tuple", tag="torch-out-of-memory"),
    carved: Symptom = seen("amdgpu-vram-ready"),
    mapped: Symptom | None = seen("amdgpu-gtt-ready"),
    card: Gpu | None = one(integrated=False),
    inside: Gpu | None = one(vendor="amd", integrated=True),
) -> Verdict:
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


@rule("apu-vram-carveout-vs-gtt", "likely")
def large_carve_out_with_torch(platform: Platform, torch: Torch, gpu: Gpu = one(integrated=True, vendor="amd")) -> Verdict:
    """A carve-out larger than all that the GPU may map besides, and a torch for ROCm on a kernel that maps all the same."""
    starved = gpu.vram >= 8 * GIB and gpu.vram > gpu.gtt and maps_always(str(platform.release))
    return bool(torch.get("hip")) and starved


@text_rule("apu-vram-carveout-vs-gtt", "possible")
def shared_memory_is_full_beside_the_work(
    symptom: Symptom = seen(tag="torch-out-of-memory"),
    inner: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """Graphics in a processor: what neither is free nor torch's is the system's own, or lies in the pool that torch does not use."""
    return card is None and bool(inner.integrated) and Figures(symptom).taken and {"said": symptom.id, "severity": "error"}


@text_rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_is_larger_than_what_is_used(
    symptom: Symptom = seen(tag="vram-totals"), gpu: Gpu = one(vendor="amd"), card: Gpu | None = one(integrated=False)
) -> Verdict:
    """The kernel's figure of the carve-out is much more than all that the runtime has."""
    total = total_of(symptom)
    alone = card is None and total > GIB and not gpu.get("partitions")
    return alone and gpu.vram >= 16 * GIB and gpu.vram > 1.7 * total and {"severity": "error" if symptom.id in OUT else "warning"}


@text_rule("apu-vram-carveout-vs-gtt", "likely")
def engine_has_what_may_be_mapped(
    symptom: Symptom = seen("vllm-memory-taken", "torch-out-of-memory-total"),
    carved: Symptom = seen("amdgpu-vram-ready"),
    mapped: Symptom = seen("amdgpu-gtt-ready"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """Its total is the mapped pool of the kernel's log, and the carve-out beside it is larger."""
    vram, gtt = int(carved.get("mib") or 0) * MIB, int(mapped.get("mib") or 0) * MIB
    return card is None and vram > 1.5 * gtt and abs(total_of(symptom) - gtt) < 0.1 * gtt and {"severity": "error"}


@text_rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_cannot_be_filled(
    symptom: Symptom = seen("vllm-memory-taken"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:
    """The carve-out is the engine's total, and what is free of it is no more than the smaller pool that can be mapped."""
    free = (size(str(symptom.get("free")) + " G")) or 0.0
    whole = abs(total_of(symptom) - gpu.vram) < 0.05 * gpu.vram
    return card is None and whole and gpu.vram >= 8 * GIB and free < gpu.gtt < gpu.vram and {"severity": "error"}


@text_rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_that_is_told_starves_torch(
    symptom: Symptom = seen("hip-memory-figures", tag="torch-out-of-memory"),
    statement: Symptom = seen("carve-out-told"),
    gpu: Gpu = one(vendor="amd", integrated=True),
    other: Gpu | None = one(integrated=False),
) -> Verdict:
    """A person names the carve-out, and torch's total is a small part of it."""
    total, carved = (size(symptom.get("total") or symptom.get("total2")), int(statement.get("gib") or statement.get("gib2") or 0) * GIB)
    alone = other is None and not gpu.knows("gtt")
    return alone and bool(total) and carved > 2 * (total or 0) and {"severity": "error" if symptom.id in OUT else "warning"}


@text_rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_leaves_nothing_to_map(
    symptom: Symptom = seen("rocm-buffer-refused", "rocm-allocation-failed"),
    carved: Symptom = seen("amdgpu-vram-ready"),
    mapped: Symptom = seen("amdgpu-gtt-ready"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """The kernel's log: most of the memory is carved out and the rest is little; no card of its own has so much beside so little."""
    vram, gtt = int(carved.get("mib") or 0), int(mapped.get("mib") or 0)
    return card is None and vram >= 16 * 1024 and vram > 8 * gtt and {"said": symptom.id, "severity": "error"}


def _bytes_printed(symptom: Symptom) -> float:
    """Bytes that a program counts as the GPU's."""
    if symptom.get("bytes"):
        return float(symptom.bytes)
    if symptom.get("power"):
        return float(symptom.value) * 2.0 ** int(symptom.power)
    if symptom.get("gib"):
        return float(symptom.gib) * GIB
    return float(symptom.get("mib") or symptom.get("vram") or 0) * MIB


@text_rule("apu-vram-carveout-vs-gtt", "likely")
def program_counts_the_mapped_pool(
    symptom: Symptom = seen(tag="vram-printed"),
    carved: Symptom = seen("amdgpu-vram-ready", "amdgpu-vram-span"),
    mapped: Symptom = seen("amdgpu-gtt-ready"),
) -> Verdict:
    """Its total is the pool that the kernel may map, and the carve-out is larger: no card of its own counts so."""
    vram, gtt = int(carved.get("mib") or 0) * MIB, int(mapped.get("mib") or 0) * MIB
    return vram > 1.2 * gtt and abs(_bytes_printed(symptom) - gtt) < 0.1 * gtt and {"severity": "warning"}


@text_rule("apu-vram-carveout-vs-gtt", "likely")
def interfaces_total_is_less_than_the_carve_out(
    symptom: Symptom = seen("comfyui-totals"),
    carved: Symptom = seen("amdgpu-vram-span", "amdgpu-vram-ready"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """The kernel's figure of the carve-out is much more than the total of which the interface speaks, which is half of the rest."""
    vram, carve = int(symptom.get("vram") or 0), int(carved.get("mib") or 0)
    half = abs(2 * vram - int(symptom.get("ram") or 0)) < 0.1 * int(symptom.get("ram") or 1)
    return card is None and carve * MIB >= 16 * GIB and carve > 1.7 * vram and half and {"said": symptom.id}


@text_rule("apu-vram-carveout-vs-gtt", "possible")
def model_is_larger_than_what_is_counted(
    free: Symptom = seen("device-of-a-model-and-what-is-free"),
    file: Symptom = seen("model-file-of-a-size"),
    _shared: Symptom = seen("vulkan-device-of-shared-memory"),
    gpu: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """What the program counts for a processor's graphics is less than half of the model, and at least as much as an ordinary machine has."""
    counted = int(free.mib) * MIB
    return card is None and 8 * GIB < counted < 0.5 * (size(file.size) or 0.0) and {"said": free.id, "gpu": gpu.get("name")}


@text_rule("apu-vram-carveout-vs-gtt", "likely")
def total_is_a_part_of_the_carve_out_and_no_cards(
    symptom: Symptom = seen(tag="vram-totals"),
    carved: Symptom = seen("amdgpu-vram-ready", "amdgpu-vram-span"),
    cuda: Symptom | None = seen("torch-out-of-memory", runtime="CUDA"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """The kernel's log has more than twice the runtime's total; that of a card of its own is nearly a whole number of gigabytes."""
    total, vram = total_of(symptom), int(carved.get("mib") or 0) * MIB
    broken = total > GIB and -total % GIB > _ROUND
    return card is None and cuda is None and broken and vram > 2 * total and {"severity": "error" if symptom.id in OUT else "warning"}


@text_rule("apu-vram-carveout-vs-gtt", "likely")
def program_counts_a_part_of_what_a_tool_shows(
    symptom: Symptom = seen(tag="vram-printed"),
    gpu: Gpu = one(vendor="amd"),
    card: Gpu | None = one(integrated=False),
    nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The same where a tool shows the carve-out, and torch prints its own total."""
    total = _bytes_printed(symptom)
    broken = total > GIB and -total % GIB > _ROUND
    alone = card is None and nvidia is None and not gpu.get("partitions")
    return alone and broken and gpu.vram >= 16 * GIB and gpu.vram > 1.7 * total and {"severity": "warning"}


@text_rule("apu-vram-carveout-vs-gtt", "likely")
def runtime_sees_less_than_the_kernels_file_as_people_say(
    symptom: Symptom = seen("runtime-sees-so-much-alone"), gpu: Gpu = one(vendor="amd"), card: Gpu | None = one(integrated=False)
) -> Verdict:
    """Somebody tells how much a runtime sees alone, and the kernel has set much more aside for the graphics."""
    alone = card is None and not gpu.get("partitions")
    return alone and gpu.vram >= 16 * GIB and gpu.vram > 1.7 * float(symptom.gib) * GIB and {"said": symptom.id}


mends("apu-vram-carveout-vs-gtt")(pages_to_allow)


@mends("apu-vram-carveout-vs-gtt")
def system_that_shares_its_memory(platform: Platform | None = one(system="windows")) -> Params:
    """Windows gives no more than half to the GPU as shared memory, and nobody sets that: there the carve-out is what counts."""
    windows = platform is not None
    return {"linux": None if windows else "ttm", "carve_out": "larger" if windows else None, **({"pages": None} if windows else {})}
