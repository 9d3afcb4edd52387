"""Memory that processor and graphics share, DirectML and Intel's libraries, by what short pastes show of them."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.directml import small
from rigup.diagnosis.rules.memory import GIB, OUT, more_free_than_there_is, size
from rigup.knowledge.intel import release_of
from rigup.machine.kinds import Gpu, ModuleParameter, Symptom
from rigup.machine.names import same_name

_MIB, _PAGE = 1 << 20, 4096
_TOTALS = ("hip-memory-figures", "hip-memory-tuple", "torch-out-of-memory-total", "rocminfo-gpu-pool", "vllm-memory-taken", *OUT)  # fmt: skip
_CARVED = tuple(share * GIB for share in (0.25, 0.5, 1, 2, 3, 4))  # what firmware's menus offer


def _total(said: Symptom) -> float:
    """Bytes that a runtime counts as the GPU's."""
    if said.get("kib"):
        return int(said.kib) * 1024.0
    total = said.get("total") or said.get("total2")
    return (size(total + " G") if said.id == "vllm-memory-taken" and total else size(total)) or 0.0


# -- memory that processor and graphics share
@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_is_larger_than_what_is_used(
    said: Symptom = seen(*_TOTALS), gpu: Gpu = one(vendor="amd"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The kernel's figure of the carve-out is much more than all that the runtime has."""
    total = _total(said)
    alone = card is None and total > GIB and not gpu.get("partitions")
    return alone and gpu.vram >= 16 * GIB and gpu.vram > 1.7 * total and {"severity": "error" if said.id in OUT else "warning"}  # fmt: skip


@rule("apu-vram-carveout-vs-gtt", "likely")
def engine_has_what_may_be_mapped(
    said: Symptom = seen("vllm-memory-taken", "torch-out-of-memory-total"), carved: Symptom = seen("amdgpu-vram-ready"), mapped: Symptom = seen("amdgpu-gtt-ready"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """Its total is the mapped pool of the kernel's log, and the carve-out beside it is larger."""
    vram, gtt = int(carved.get("mib") or 0) * _MIB, int(mapped.get("mib") or 0) * _MIB
    return card is None and vram > 1.5 * gtt and abs(_total(said) - gtt) < 0.1 * gtt and {"severity": "error"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_cannot_be_filled(
    said: Symptom = seen("vllm-memory-taken"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The carve-out is the engine's total, and what is free of it is no more than the smaller pool that can be mapped."""
    free = (size(str(said.get("free")) + " G")) or 0.0
    whole = abs(_total(said) - gpu.vram) < 0.05 * gpu.vram
    return card is None and whole and gpu.vram >= 8 * GIB and free < gpu.gtt < gpu.vram and {"severity": "error"}


@rule("igpu-vram-counted-without-gtt", "likely")
def total_is_a_size_of_the_firmwares_menu(
    said: Symptom = seen("torch-out-of-memory-total"), card: Gpu | None = one(integrated=False), known: Symptom | None = seen(OUT[1]),
    told: Symptom | None = seen("hip-memory-figures", "hip-memory-tuple"),
) -> Verdict:  # fmt: skip
    """Of the sizes that a firmware offers for a carve-out, and that no card for computing has."""
    wrong = told is not None and bool(more_free_than_there_is(told))  # two pools are mixed, as the figures tell
    return card is None and known is None and not wrong and _total(said) in _CARVED and {"severity": "error"}


@rule("igpu-vram-counted-without-gtt", "likely")
def interface_counts_the_carve_out(
    said: Symptom = seen("comfyui-totals"),
    gpu: Gpu | None = one(vendor="amd"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """Less than two gigabytes, of a machine with much more, on AMD's."""
    vram, ram = int(said.get("vram") or 0), int(said.get("ram") or 0)
    return gpu is not None and card is None and vram <= 2048 and ram > 4 * vram and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def server_puts_nothing_on_it(
    said: Symptom = seen("ollama-compute"), _none: Symptom = seen("ollama-offloads-nothing"), gpu: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """The total is a carve-out's, and no layer fits into it; what the graphics may map besides is not counted."""
    return card is None and 0 < (size(said.get("total")) or 0) <= 4 * GIB and gpu.get("vendor") == "amd"


@rule("igpu-vram-counted-without-gtt", "possible")
def server_finds_too_little_on_a_radeon(
    said: Symptom = seen("ollama-not-enough-vram"), _radeon: Symptom = seen("ollama-radeon-detected"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """Which Radeon it is nobody tells; so little has a carve-out more often than a card."""
    return card is None and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def torch_counts_the_carve_out(
    _named: Symptom = seen("torch-names-integrated-graphics"), asked: Symptom = seen("torch-total-asked"), mapped: Symptom = seen("amdgpu-gtt-ready"),
) -> Verdict:  # fmt: skip
    """torch's own total is a small part of what the kernel lets the graphics map."""
    total = float(asked.get("gib") or 0) * GIB
    return 0 < total < 0.5 * int(mapped.get("mib") or 0) * _MIB


@rule("apu-gtt-limit-not-applied", "likely")
def kernel_maps_less_than_was_wished(
    wish: ModuleParameter = one(module=("amdgpu", "ttm", "amdttm"), name=("gttsize", "pages_limit")), mapped: Symptom = seen("amdgpu-gtt-ready"),
) -> Verdict:  # fmt: skip
    """The kernel's log has another size than the configured one: it was not taken up, or the boot loader not written anew."""
    told = str(wish.get("configured") or "")
    wished = int(told) * (_MIB if wish.name == "gttsize" else _PAGE) if told.isdigit() else 0
    return wished > 1.2 * int(mapped.get("mib") or 0) * _MIB and {"name": wish.name}


@rule("apu-gtt-limit-not-applied", "likely")
def ttm_has_no_such_parameter(
    wish: ModuleParameter = one(module=("ttm", "amdttm"), name=("page_limit", "pages_limits", "page_limits", "pagelimit", "gttsize", "gtt_size", "limit_pages", "pages")),
) -> Verdict:  # fmt: skip
    """A name that is like the right one."""
    return not wish.knows("running") and {"name": wish.name}


# -- DirectML and Intel
@rule("directml-wrong-adapter", "likely")
def first_of_a_list_is_integrated(
    used: Symptom = seen("directml-adapter-printed", "directml-numbered-in-use"), other: Gpu = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The adapter with the first number is used unless told otherwise."""
    name, better = str(used.get("name")).strip(), str(other.get("name") or "")
    return bool(better) and small(name) and not same_name(better, name) and {"used": name, "better": better}


@rule("intel-oneapi-version-mismatch", "likely")
def another_generation_stands_in_its_folder(
    missing: Symptom = seen("oneapi-library-not-found", "ldd-oneapi-not-found", "mkl-library-not-found"), shown: Symptom = seen("oneapi-folder-shown"),
) -> Verdict:  # fmt: skip
    """The folder is of one year's base kit, and the library that is missed of another's."""
    there, wanted = (
        shown.get("release") or shown.get("other"),
        release_of(str(missing.get("base")), str(missing.get("number"))),
    )
    return wanted is not None and wanted != there and {"lib": missing.get("lib"), "have": "oneAPI " + str(there)}
