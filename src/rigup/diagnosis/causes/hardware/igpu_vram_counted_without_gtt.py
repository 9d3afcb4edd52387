"""The program counts only the carve-out of the integrated GPU."""

from rigup.diagnosis.causes.card_names import PLAIN_NAMES
from rigup.diagnosis.causes.hardware.apu_memory_miscount import more_free_than_there_is
from rigup.diagnosis.causes.hardware.graphics_memory import MIB, total_of
from rigup.diagnosis.causes.hardware.memory_figures import OUT
from rigup.diagnosis.causes.memory_sizes import GIB, size
from rigup.diagnosis.rule import Verdict, one, rule, seen, text_rule
from rigup.machine.kinds import Gpu, Symptom

_CARVED = tuple(share * GIB for share in (0.25, 0.5, 1, 2, 3, 4))  # what firmware's menus offer
_CARVED_OR_WHOLE = tuple(share * GIB for share in (0.25, 0.5, 1, 2, 3, 4, 8))  # what firmware's menus offer


@rule("igpu-vram-counted-without-gtt", "likely")
def carve_out_alone_was_counted(symptom: Symptom = seen("ollama-compute"), gpu: Gpu = one(integrated=True, vendor="amd")) -> Verdict:
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


@rule("igpu-vram-counted-without-gtt", strength="possible")
def planner_sees_little_of_an_integrated_gpu(
    symptom: Symptom = seen("llama-does-not-fit"), gpu: Gpu = one(vendor="amd", integrated=True), other: Gpu | None = one(integrated=False)
) -> Verdict:
    """It does not fit what the program counts as free; what the GPU may map besides is no part of that."""
    free, wanted = int(symptom.get("free") or 0), int(symptom.get("wanted") or 0)
    mapped = gpu.get("gtt")
    return other is None and free < wanted and (mapped is None or free * MIB < 0.7 * mapped) and {"free": free}


@rule("igpu-vram-counted-without-gtt", strength="likely")
def carve_out_was_counted_and_more_could_be_mapped(
    symptom: Symptom = seen("ollama-compute"),
    carved: Symptom = seen("amdgpu-vram-ready"),
    mapped: Symptom = seen("amdgpu-gtt-ready"),
    gpu: Gpu = one(vendor="amd", integrated=True),
    other: Gpu | None = one(vendor="amd", integrated=False),
) -> Verdict:
    """The kernel lets it map more than the carve-out that the program counts; beside another card the lines may be of that one."""
    total, _, unit = str(symptom.get("total") or "").partition(" ")
    number = float(total) * (1 if unit.startswith("G") else 1 / 1024) if total.replace(".", "", 1).isdigit() else 0.0
    vram, gtt = int(carved.get("mib") or 0), int(mapped.get("mib") or 0)
    alone = other is None and gpu.get("vendor") == "amd"
    return alone and vram > 0 and abs(number * 1024 - vram) < 0.05 * vram and gtt > vram


def _bytes(symptom: Symptom) -> float:
    """Bytes that a program counts as the GPU's."""
    return float(symptom.mib) * MIB if symptom.get("mib") is not None else size(symptom.get("size")) or 0.0


@text_rule("igpu-vram-counted-without-gtt", "likely")
def program_counts_what_a_person_set_aside(
    symptom: Symptom = seen(tag="vram-counted"),
    set_: Symptom = seen("carve-out-told"),
    inner: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
    out: Symptom | None = seen("ggml-out-of-memory", tag="torch-out-of-memory"),
    words: Symptom | None = seen("carve-out-alone-told"),
) -> Verdict:
    """A person names the carve-out, the program's total is that very figure, and it does not suffice."""
    gib = float(set_.get("gib") or set_.get("gib2") or 0)
    same = gib > 0 and abs(_bytes(symptom) - gib * GIB) < 0.03 * gib * GIB
    intended = card is None and bool(inner.integrated) and (out is not None or words is not None)
    return intended and same and {"said": symptom.id, "severity": "error"}


@text_rule("igpu-vram-counted-without-gtt", "likely")
def total_is_a_size_of_the_firmwares_menu(
    symptom: Symptom = seen("torch-out-of-memory-total"),
    card: Gpu | None = one(integrated=False),
    known: Symptom | None = seen(OUT[1]),
    statement: Symptom | None = seen("hip-memory-figures", "hip-memory-tuple"),
) -> Verdict:
    """Of the sizes that a firmware offers for a carve-out, and that no card for computing has."""
    wrong = statement is not None and bool(more_free_than_there_is(statement))  # two pools are mixed, as the figures tell
    return card is None and known is None and not wrong and total_of(symptom) in _CARVED and {"severity": "error"}


@text_rule("igpu-vram-counted-without-gtt", "likely")
def torch_has_the_carve_out_only(
    symptom: Symptom = seen(tag="torch-out-of-memory"),
    _hip: Symptom = seen(OUT[0], runtime="HIP"),
    inside: Gpu | None = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
    statement: Symptom | None = seen("hip-memory-figures", "hip-memory-tuple"),
) -> Verdict:
    """Its total is a size that a firmware's menu offers for a carve-out, and one that no card for computing has."""
    total = size(symptom.get("total")) or 0
    small = total in _CARVED_OR_WHOLE and (total <= 2 * GIB or inside is not None)
    mapped = inside is not None and inside.knows("gtt") and abs(total - inside.gtt) < 0.1 * total
    wrong = statement is not None and bool(more_free_than_there_is(statement))  # two pools are mixed, as the figures tell
    return card is None and small and not (mapped or wrong) and {"severity": "error"}


@text_rule("igpu-vram-counted-without-gtt", "likely")
def server_counts_a_small_part(
    symptom: Symptom = seen("ollama-compute"),
    mapped: Symptom = seen("amdgpu-gtt-ready"),
    gpu: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """The kernel maps much more than the server's total, which is a carve-out's."""
    total, gtt = size(symptom.get("total")) or 0.0, int(mapped.get("mib") or 0) * MIB
    return card is None and 0 < total <= 4 * GIB and gtt > 2.5 * total and {"name": gpu.get("name")}


@text_rule("igpu-vram-counted-without-gtt", "likely")
def model_would_fit_both_pools(
    carved: Symptom = seen("amdgpu-vram-ready"),
    mapped: Symptom = seen("amdgpu-gtt-ready"),
    file: Symptom = seen("model-file-of-a-size"),
    part: Symptom = seen("layers-offloaded-in-part"),
    _gpu: Gpu = one(vendor="amd", name=PLAIN_NAMES),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """A part of the model only was put on a processor's graphics, though carve-out and mapped memory together would hold it."""
    vram, both = int(carved.mib) * MIB, (int(carved.mib) + int(mapped.mib)) * MIB
    return card is None and vram < 1.2 * (size(file.size) or 0.0) < both and {"said": part.id}


@text_rule("igpu-vram-counted-without-gtt", "likely")
def total_is_the_carve_out(
    symptom: Symptom = seen("hip-memory-tuple", "hip-memory-figures"),
    gpu: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """torch's total is the carve-out to the byte, and the kernel lets the graphics map many times that."""
    vram, total = gpu.vram or 0, str(symptom.get("total") or "")
    return card is None and vram > 0 and total == str(vram) and gpu.gtt > 2 * vram and {"said": symptom.id}
