"""Integrated graphics of which a program counts the carve-out alone."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import GIB, OUT, more_free_than_there_is, size
from rigup.diagnosis.rules.pasted.heard import KFD_REFUSED, OLLAMA_SERVED, PLAIN_NAMES
from rigup.diagnosis.rules.pasted.reckoned import total_of
from rigup.machine.kinds import Gpu, Memory, Symptom

_MAPPED = ("gtt-limit-named", "gtt-pages-named", "gtt-size-named")
_REFUSED = ("ollama-gfx-refused", "ollama-gfx-refused-early", "rocblas-without-arch")
_MIB = 1 << 20
_COUNTS = ("llama-counts-so-much-on-rocm", "llama-total-of-rocm", "llama-finds-little-device-memory", "planner-tells-the-gpus-memory", "planner-tells-a-chips-memory", "server-tells-its-largest-pool")  # fmt: skip
_SERVED = ("ollama-computes-on-rocm", "ollama-amdgpu-supported")
_CARVED = tuple(share * GIB for share in (0.25, 0.5, 1, 2, 3, 4))  # what firmware's menus offer
_CARVED_OR_WHOLE = tuple(share * GIB for share in (0.25, 0.5, 1, 2, 3, 4, 8))  # what firmware's menus offer


def _told(said: Symptom) -> float:
    """Bytes that a program counts as the GPU's."""
    return float(said.mib) * _MIB if said.get("mib") is not None else size(said.get("size")) or 0.0


@rule("igpu-vram-counted-without-gtt", "likely")
def model_stays_on_the_processor_though_more_may_be_mapped(
    said: Symptom = seen("ollama-keeps-the-model-on-the-processor"), wish: Symptom = seen(*_MAPPED), inner: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False), refused: Symptom | None = seen(*_REFUSED, *KFD_REFUSED),
) -> Verdict:  # fmt: skip
    """Somebody let the graphics map more, and the server, which counts the carve-out, puts nothing on them."""
    counted = card is None and refused is None and bool(inner.integrated)
    return counted and {"said": said.id, "wish": wish.id, "severity": "error"}


@rule("igpu-vram-counted-without-gtt", "likely")
def program_counts_what_the_firmware_set_aside(
    said: Symptom = seen(*_COUNTS), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """Two gigabytes and less are a carve-out's, and the graphics map much more."""
    return card is None and bool(inner.integrated) and _told(said) <= 2 * GIB and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def program_counts_what_a_person_set_aside(
    said: Symptom = seen(*_COUNTS), set_: Symptom = seen("carve-out-told"), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False),
    out: Symptom | None = seen("ggml-out-of-memory", *OUT), words: Symptom | None = seen("carve-out-alone-told"),
) -> Verdict:  # fmt: skip
    """A person names the carve-out, the program's total is that very figure, and it does not suffice."""
    gib = float(set_.get("gib") or set_.get("gib2") or 0)
    same = gib > 0 and abs(_told(said) - gib * GIB) < 0.03 * gib * GIB
    meant = card is None and bool(inner.integrated) and (out is not None or words is not None)
    return meant and same and {"said": said.id, "severity": "error"}


@rule("igpu-vram-counted-without-gtt", "likely")
def opencl_counts_what_the_firmware_set_aside(
    said: Symptom = seen("clinfo-tells-a-small-chips-memory"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The same in the list of a processor's graphics themselves."""
    return card is None and int(said.bytes) <= 2 * GIB and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def program_counts_the_smaller_pool(
    said: Symptom = seen(*_COUNTS), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """Its total is no more than the carve-out, and the mapped pool is several times that."""
    return card is None and 0 < _told(said) < 1.1 * inner.vram and inner.gtt > 2.5 * inner.vram and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def program_finds_a_part_of_the_machines_memory(
    said: Symptom = seen("llama-finds-little-device-memory"), inner: Gpu = one(vendor="amd", integrated=True), memory: Memory = one(), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """A tenth of what the machine has; half of it may be mapped."""
    return card is None and bool(inner.integrated) and _told(said) < 0.15 * memory.total and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def launcher_counts_the_carve_out_alone(
    said: Symptom = seen("koboldcpp-counts-a-carve-out"), card: Gpu | None = one(integrated=False)
) -> Verdict:
    """It takes what the firmware set aside for all that the graphics have; beside a card that does not matter."""
    return card is None and said.values()


@rule("igpu-vram-counted-without-gtt", "likely")
def server_takes_little_memory_for_a_sign(
    said: Symptom = seen("ollama-takes-it-for-graphics"),
    served: Symptom | None = seen(*_SERVED),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """It asks only for what the firmware set aside, and leaves out what has less than a gigabyte."""
    return served is None and card is None and {"said": said.id, "total": said.get("total")}


@rule("igpu-vram-counted-without-gtt", "likely")
def total_is_a_size_of_the_firmwares_menu(
    said: Symptom = seen("torch-out-of-memory-total"), card: Gpu | None = one(integrated=False), known: Symptom | None = seen(OUT[1]),
    told: Symptom | None = seen("hip-memory-figures", "hip-memory-tuple"),
) -> Verdict:  # fmt: skip
    """Of the sizes that a firmware offers for a carve-out, and that no card for computing has."""
    wrong = told is not None and bool(more_free_than_there_is(told))  # two pools are mixed, as the figures tell
    return card is None and known is None and not wrong and total_of(said) in _CARVED and {"severity": "error"}


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


@rule("igpu-vram-counted-without-gtt", "possible")
def shared_memory_is_left_out(
    said: Symptom = seen("shared-memory-not-used-told", "carve-out-alone-told"), gpu: Gpu = one(vendor="amd", integrated=True), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person says that a program counts the carve-out only."""
    return works is None and bool(gpu.integrated) and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "possible")
def mapped_memory_is_left_out(
    said: Symptom = seen("gtt-left-out-told"),
    card: Gpu | None = one(vendor="amd", integrated=False),
    works: Symptom | None = seen("works-told"),
) -> Verdict:
    """Only AMD's processors have that pool: a person says that a program leaves it out."""
    return works is None and card is None and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def runtime_counts_the_carve_out(total: Symptom = seen("hip-total-told"), gpu: Gpu = one(vendor="amd")) -> Verdict:
    """HIP's total is the carve-out, and the kernel lets it map much more."""
    seen_by_hip = size(total.get("total")) or 0.0
    return (
        gpu.vram > 0
        and abs(seen_by_hip - gpu.vram) < 0.05 * gpu.vram
        and gpu.gtt > 1.5 * gpu.vram
        and gpu.gtt > 8 * GIB
    )


@rule("igpu-vram-counted-without-gtt", "likely")
def torch_has_the_carve_out_only(
    said: Symptom = seen(*OUT), _hip: Symptom = seen(OUT[0], runtime="HIP"), inside: Gpu | None = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False), told: Symptom | None = seen("hip-memory-figures", "hip-memory-tuple"),
) -> Verdict:  # fmt: skip
    """Its total is a size that a firmware's menu offers for a carve-out, and one that no card for computing has."""
    total = size(said.get("total")) or 0
    small = total in _CARVED_OR_WHOLE and (total <= 2 * GIB or inside is not None)
    mapped = inside is not None and inside.knows("gtt") and abs(total - inside.gtt) < 0.1 * total
    wrong = told is not None and bool(more_free_than_there_is(told))  # two pools are mixed, as the figures tell
    return card is None and small and not (mapped or wrong) and {"severity": "error"}


@rule("igpu-vram-counted-without-gtt", "possible")
def little_is_seen_of_shared_memory(
    said: Symptom = seen("little-memory-seen-told", "vram-misdetected-told"), gpu: Gpu = one(vendor="amd", integrated=True), works: Symptom | None = seen("works-told"),
    other: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """A person says how little of the machine's memory a program sees."""
    return works is None and other is None and bool(gpu.integrated) and {"said": said.id}


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


@rule("igpu-vram-counted-without-gtt", "likely")
def small_graphics_are_skipped(
    said: Symptom = seen("ollama-small-igpu-skipped"), served: Symptom | None = seen(*OLLAMA_SERVED), card: Gpu | None = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """The server leaves graphics with a small carve-out alone; beside a card on which it computes nobody misses them."""
    return served is None and card is None and {"said": said.id, "free": said.get("total")}


@rule("igpu-vram-counted-without-gtt", "likely")
def model_would_fit_both_pools(
    carved: Symptom = seen("amdgpu-vram-ready"), mapped: Symptom = seen("amdgpu-gtt-ready"), file: Symptom = seen("model-file-of-a-size"),
    part: Symptom = seen("layers-offloaded-in-part"), _gpu: Gpu = one(vendor="amd", name=PLAIN_NAMES), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """A part of the model only was put on a processor's graphics, though carve-out and mapped memory together would hold it."""
    vram, both = int(carved.mib) * _MIB, (int(carved.mib) + int(mapped.mib)) * _MIB
    return card is None and vram < 1.2 * (size(file.size) or 0.0) < both and {"said": part.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def total_is_the_carve_out(
    said: Symptom = seen("hip-memory-tuple", "hip-memory-figures"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """torch's total is the carve-out to the byte, and the kernel lets the graphics map many times that."""
    vram, total = gpu.vram or 0, str(said.get("total") or "")
    return card is None and vram > 0 and total == str(vram) and gpu.gtt > 2 * vram and {"said": said.id}
