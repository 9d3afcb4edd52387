"""The pools of memory that an AMD processor's graphics have, and the figures that programs print of them."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import GIB, size
from rigup.machine.kinds import Gpu, KernelModule, ModuleParameter, Symptom

_MIB, _PAGE = 1 << 20, 4096
_PRINTED = ("torch-total-in-bytes", "torch-total-in-mib", "torch-total-divided", "torch-total-asked", "comfyui-totals", "ggml-total-of-an-integrated-device")  # fmt: skip


def _printed(said: Symptom) -> float:
    """Bytes that a program counts as the GPU's."""
    if said.get("bytes"):
        return float(said.bytes)
    if said.get("power"):
        return float(said.value) * 2.0 ** int(said.power)
    if said.get("gib"):
        return float(said.gib) * GIB
    return float(said.get("mib") or said.get("vram") or 0) * _MIB


@rule("apu-vram-carveout-vs-gtt", "likely")
def program_counts_the_mapped_pool(
    said: Symptom = seen(*_PRINTED), carved: Symptom = seen("amdgpu-vram-ready", "amdgpu-vram-span"), mapped: Symptom = seen("amdgpu-gtt-ready"),
) -> Verdict:  # fmt: skip
    """Its total is the pool that the kernel may map, and the carve-out is larger: no card of its own counts so."""
    vram, gtt = int(carved.get("mib") or 0) * _MIB, int(mapped.get("mib") or 0) * _MIB
    return vram > 1.2 * gtt and abs(_printed(said) - gtt) < 0.1 * gtt and {"severity": "warning"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def program_counts_the_pool_of_the_files(
    said: Symptom = seen(*_PRINTED), gpu: Gpu = one(vendor="amd"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The same by the kernel's files: what may be mapped is the program's total, and the carve-out is larger."""
    fits = abs(_printed(said) - gpu.gtt) < 0.1 * gpu.gtt
    return card is None and gpu.vram > 1.2 * gpu.gtt and fits and {"severity": "warning"}


@rule("apu-memory-miscount", "likely")
def more_is_free_than_the_total(said: Symptom = seen("hip-free-and-total", "hip-total-and-free")) -> Verdict:
    """A total below what is free counts another pool than the free one."""
    unit = " GiB" if said.get("unit") == "30" else ""
    free, total = (size(str(said.get(name)) + unit) or 0.0 for name in ("free", "total"))
    return total > 0 and free > 1.05 * total


@rule("apu-memory-miscount", "likely")
def server_counts_more_than_the_system_has(
    said: Symptom = seen("ollama-compute"), system: Symptom = seen("ollama-system-memory"), gpu: Gpu = one(vendor="amd", integrated=True),
) -> Verdict:  # fmt: skip
    """The processor's graphics cannot have more than the machine."""
    total, whole = size(said.get("total")) or 0.0, size(system.get("total")) or 0.0
    return 0 < 1.08 * whole < total and {"name": gpu.get("name")}


@rule("apu-memory-miscount", "likely")
def killed_where_the_program_saw_enough(
    told: Symptom = seen("llama-does-not-fit"), killed: Symptom = seen("oom-killer"), gpu: Gpu | None = one(vendor="amd"), carved: Symptom | None = seen("carve-out-told"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """It fits into what the program counts as the GPU's, and the kernel ends it for want of memory."""
    wanted, free = int(told.get("wanted") or 0), int(told.get("free") or 0)
    shared = card is None and (gpu is not None or carved is not None)
    return shared and 0 < wanted < free and {"said": killed.id}


@rule("apu-memory-miscount", "likely")
def killed_where_the_total_is_nearly_all(
    told: Symptom = seen("comfyui-totals"), killed: Symptom = seen("oom-killer"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """The program takes nearly all that the machine has for the GPU's own, and the kernel ends it."""
    vram, ram = int(told.get("vram") or 0), int(told.get("ram") or 0)
    return card is None and vram > 0.85 * ram and {"said": killed.id, "name": gpu.get("name")}


@rule("igpu-vram-counted-without-gtt", "likely")
def server_counts_a_small_part(
    said: Symptom = seen("ollama-compute"), mapped: Symptom = seen("amdgpu-gtt-ready"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """The kernel maps much more than the server's total, which is a carve-out's."""
    total, gtt = size(said.get("total")) or 0.0, int(mapped.get("mib") or 0) * _MIB
    return card is None and 0 < total <= 4 * GIB and gtt > 2.5 * total and {"name": gpu.get("name")}


@rule("igpu-vram-counted-without-gtt", "likely")
def interface_counts_a_small_part(
    said: Symptom = seen("comfyui-totals"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The graphics may map much more than the interface's total."""
    total = int(said.get("vram") or 0) * _MIB
    return card is None and 0 < total <= 8 * GIB and gpu.gtt > 2.5 * total and {"said": said.id}


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
