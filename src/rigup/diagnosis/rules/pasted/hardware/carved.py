"""Memory that processor and graphics share: how it is divided, and what was wished of it."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import GIB, OUT, Figures, size
from rigup.diagnosis.rules.pasted.reckoned import total_of
from rigup.machine.kinds import Gpu, KernelModule, ModuleParameter, Symptom

_MIB = 1 << 20
_PAGE = 4096
_GIB = 1 << 30
_ROUND = 0.08 * GIB  # what of a card's last gigabyte its driver keeps


def _bytes_printed(symptom: Symptom) -> float:
    """Bytes that a program counts as the GPU's."""
    if symptom.get("bytes"):
        return float(symptom.bytes)
    if symptom.get("power"):
        return float(symptom.value) * 2.0 ** int(symptom.power)
    if symptom.get("gib"):
        return float(symptom.gib) * GIB
    return float(symptom.get("mib") or symptom.get("vram") or 0) * _MIB


@rule("apu-vram-carveout-vs-gtt", "possible")
def shared_memory_is_full_beside_the_work(
    symptom: Symptom = seen(tag="torch-out-of-memory"),
    inner: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """Graphics in a processor: what neither is free nor torch's is the system's own, or lies in the pool that torch does not use."""
    return (
        card is None and bool(inner.integrated) and Figures(symptom).taken and {"said": symptom.id, "severity": "error"}
    )


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_is_larger_than_what_is_used(
    symptom: Symptom = seen(tag="vram-totals"), gpu: Gpu = one(vendor="amd"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The kernel's figure of the carve-out is much more than all that the runtime has."""
    total = total_of(symptom)
    alone = card is None and total > GIB and not gpu.get("partitions")
    return alone and gpu.vram >= 16 * GIB and gpu.vram > 1.7 * total and {"severity": "error" if symptom.id in OUT else "warning"}  # fmt: skip


@rule("apu-vram-carveout-vs-gtt", "likely")
def engine_has_what_may_be_mapped(
    symptom: Symptom = seen("vllm-memory-taken", "torch-out-of-memory-total"), carved: Symptom = seen("amdgpu-vram-ready"), mapped: Symptom = seen("amdgpu-gtt-ready"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """Its total is the mapped pool of the kernel's log, and the carve-out beside it is larger."""
    vram, gtt = int(carved.get("mib") or 0) * _MIB, int(mapped.get("mib") or 0) * _MIB
    return card is None and vram > 1.5 * gtt and abs(total_of(symptom) - gtt) < 0.1 * gtt and {"severity": "error"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_cannot_be_filled(
    symptom: Symptom = seen("vllm-memory-taken"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The carve-out is the engine's total, and what is free of it is no more than the smaller pool that can be mapped."""
    free = (size(str(symptom.get("free")) + " G")) or 0.0
    whole = abs(total_of(symptom) - gpu.vram) < 0.05 * gpu.vram
    return card is None and whole and gpu.vram >= 8 * GIB and free < gpu.gtt < gpu.vram and {"severity": "error"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_that_is_told_starves_torch(
    symptom: Symptom = seen("hip-memory-figures", tag="torch-out-of-memory"), statement: Symptom = seen("carve-out-told"), gpu: Gpu = one(vendor="amd", integrated=True),
    other: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """A person names the carve-out, and torch's total is a small part of it."""
    total, carved = (
        size(symptom.get("total") or symptom.get("total2")),
        int(statement.get("gib") or statement.get("gib2") or 0) * GIB,
    )
    alone = other is None and not gpu.knows("gtt")
    return (
        alone
        and bool(total)
        and carved > 2 * (total or 0)
        and {"severity": "error" if symptom.id in OUT else "warning"}
    )


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_leaves_nothing_to_map(
    symptom: Symptom = seen("rocm-buffer-refused", "rocm-allocation-failed"), carved: Symptom = seen("amdgpu-vram-ready"), mapped: Symptom = seen("amdgpu-gtt-ready"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """The kernel's log: most of the memory is carved out and the rest is little; no card of its own has so much beside so little."""
    vram, gtt = int(carved.get("mib") or 0), int(mapped.get("mib") or 0)
    return card is None and vram >= 16 * 1024 and vram > 8 * gtt and {"said": symptom.id, "severity": "error"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def program_counts_the_mapped_pool(
    symptom: Symptom = seen(tag="vram-printed"), carved: Symptom = seen("amdgpu-vram-ready", "amdgpu-vram-span"), mapped: Symptom = seen("amdgpu-gtt-ready"),
) -> Verdict:  # fmt: skip
    """Its total is the pool that the kernel may map, and the carve-out is larger: no card of its own counts so."""
    vram, gtt = int(carved.get("mib") or 0) * _MIB, int(mapped.get("mib") or 0) * _MIB
    return vram > 1.2 * gtt and abs(_bytes_printed(symptom) - gtt) < 0.1 * gtt and {"severity": "warning"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def interfaces_total_is_less_than_the_carve_out(
    symptom: Symptom = seen("comfyui-totals"), carved: Symptom = seen("amdgpu-vram-span", "amdgpu-vram-ready"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The kernel's figure of the carve-out is much more than the total of which the interface speaks, which is half of the rest."""
    vram, carve = int(symptom.get("vram") or 0), int(carved.get("mib") or 0)
    half = abs(2 * vram - int(symptom.get("ram") or 0)) < 0.1 * int(symptom.get("ram") or 1)
    return card is None and carve * _MIB >= 16 * _GIB and carve > 1.7 * vram and half and {"said": symptom.id}


@rule("apu-vram-carveout-vs-gtt", "possible")
def model_is_larger_than_what_is_counted(
    free: Symptom = seen("device-of-a-model-and-what-is-free"), file: Symptom = seen("model-file-of-a-size"), _shared: Symptom = seen("vulkan-device-of-shared-memory"),
    gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """What the program counts for a processor's graphics is less than half of the model, and at least as much as an ordinary machine has."""
    counted = int(free.mib) * _MIB
    return (
        card is None
        and 8 * GIB < counted < 0.5 * (size(file.size) or 0.0)
        and {"said": free.id, "gpu": gpu.get("name")}
    )


@rule("apu-vram-carveout-vs-gtt", "likely")
def total_is_a_part_of_the_carve_out_and_no_cards(
    symptom: Symptom = seen(tag="vram-totals"), carved: Symptom = seen("amdgpu-vram-ready", "amdgpu-vram-span"), cuda: Symptom | None = seen("torch-out-of-memory", runtime="CUDA"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """The kernel's log has more than twice the runtime's total; that of a card of its own is nearly a whole number of gigabytes."""
    total, vram = total_of(symptom), int(carved.get("mib") or 0) * _MIB
    broken = total > GIB and -total % GIB > _ROUND
    return card is None and cuda is None and broken and vram > 2 * total and {"severity": "error" if symptom.id in OUT else "warning"}  # fmt: skip


@rule("apu-vram-carveout-vs-gtt", "likely")
def program_counts_a_part_of_what_a_tool_shows(
    symptom: Symptom = seen(tag="vram-printed"), gpu: Gpu = one(vendor="amd"), card: Gpu | None = one(integrated=False), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same where a tool shows the carve-out, and torch prints its own total."""
    total = _bytes_printed(symptom)
    broken = total > GIB and -total % GIB > _ROUND
    alone = card is None and nvidia is None and not gpu.get("partitions")
    return alone and broken and gpu.vram >= 16 * GIB and gpu.vram > 1.7 * total and {"severity": "warning"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def runtime_sees_less_than_the_kernels_file_as_people_say(
    symptom: Symptom = seen("runtime-sees-so-much-alone"), gpu: Gpu = one(vendor="amd"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """Somebody tells how much a runtime sees alone, and the kernel has set much more aside for the graphics."""
    alone = card is None and not gpu.get("partitions")
    return alone and gpu.vram >= 16 * GIB and gpu.vram > 1.7 * float(symptom.gib) * GIB and {"said": symptom.id}


@rule("apu-memory-miscount", "likely")
def engine_takes_shared_memory_for_the_gpus_own(
    _said: Symptom = seen("vllm-memory-taken"), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False), carved: Symptom | None = seen("carve-out-told"),
) -> Verdict:  # fmt: skip
    """The engine's share is of a total that the processor uses as well."""
    is_carved = carved is not None or (inner.knows("vram") and inner.vram > 16 * GIB)
    return card is None and bool(inner.integrated) and not is_carved and {"severity": "error"}


@rule("apu-memory-miscount", "possible")
def little_is_free_of_a_large_pool(
    symptom: Symptom = seen("ollama-compute"),
    gpu: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """The server starts, and calls a quarter of the pool free: it takes another pool's free part beside this one's total."""
    total, free = size(symptom.get("total")) or 0.0, size(symptom.get("free")) or 0.0
    return card is None and total > 16 * GIB and 0 < free < 0.25 * total and {"name": gpu.get("name")}


@rule("apu-gtt-limit-not-applied", "likely")
def kernel_maps_less_than_was_wished(
    wish: ModuleParameter = one(module=("amdgpu", "ttm", "amdttm"), name=("gttsize", "pages_limit")), mapped: Symptom = seen("amdgpu-gtt-ready"),
) -> Verdict:  # fmt: skip
    """The kernel's log has another size than the configured one: it was not taken up, or the boot loader not written anew."""
    configured = str(wish.get("configured") or "")
    wished = int(configured) * (_MIB if wish.name == "gttsize" else _PAGE) if configured.isdigit() else 0
    return wished > 1.2 * int(mapped.get("mib") or 0) * _MIB and {"name": wish.name}


@rule("apu-gtt-limit-not-applied", "likely")
def limit_of_a_module_that_is_not_loaded(
    wish: ModuleParameter = one(module=("ttm", "amdttm"), name="pages_limit"), loaded: KernelModule = one(name=("ttm", "amdttm"), loaded=True),
    same: ModuleParameter | None = one(module=("ttm", "amdttm"), name="pages_limit"), gpu: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """AMD's own driver brings amdttm, the kernel's has ttm: a limit of the other one is not read."""
    alone = same is None or same.module == wish.module
    low = gpu is None or not gpu.knows("gtt") or int(wish.configured or 0) * _PAGE > 1.1 * gpu.gtt
    return alone and low and bool(wish.get("configured")) and wish.module != loaded.name and {"name": wish.name}


@rule("apu-gtt-limit-not-applied", "likely")
def graphics_map_less_than_was_wished(
    wish: ModuleParameter = one(module=("ttm", "amdttm"), name="pages_limit"), gpu: Gpu = one(vendor="amd"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """More pages were configured than the graphics may map; that they are a processor's, the wish tells."""
    wished = str(wish.configured or "")
    return card is None and wished.isdigit() and int(wished) * _PAGE > 1.2 * gpu.gtt > 0 and {"name": wish.name}


@rule("apu-gtt-limit-not-applied", "likely")
def mapped_total_is_less_than_was_wished(
    wish: ModuleParameter = one(module=("amdgpu", "ttm", "amdttm"), name=("gttsize", "pages_limit")), gpu: Gpu = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """sysfs has another total than the one that the kernel's line or a file of modprobe's asks for."""
    configured = str(wish.get("configured") or "")
    wished = int(configured) * (_MIB if wish.name == "gttsize" else _PAGE) if configured.isdigit() else 0
    return wished > 1.2 * gpu.gtt and {"name": wish.name}


@rule("apu-gtt-limit-not-applied", "likely")
def runtime_sees_less_than_was_wished(
    wish: ModuleParameter = one(module=("ttm", "amdttm"), name="pages_limit"), symptom: Symptom = seen("torch-out-of-memory-figures"), _hip: Symptom = seen("torch-out-of-memory", runtime="HIP"),
    card: Gpu | None = one(vendor="amd", integrated=False), named: Symptom | None = seen("amd-rx-named", "amd-xt-named"),
) -> Verdict:  # fmt: skip
    """The runtime's total is what the graphics may map; the line asks for much more, which only who shares memory does."""
    wished, total = str(wish.get("configured") or ""), Figures(symptom).total or 0
    alone = card is None and named is None
    return alone and wished.isdigit() and int(wished) * _PAGE > 1.3 * total > 0 and {"name": wish.name}
