"""Integrated graphics of which a program counts the carve-out alone."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import GIB, OUT, more_free_than_there_is, size
from rigup.diagnosis.rules.pasted.reckoned import PLAIN_NAMES, total_of
from rigup.machine.kinds import Gpu, Symptom

_MIB = 1 << 20
_CARVED = tuple(share * GIB for share in (0.25, 0.5, 1, 2, 3, 4))  # what firmware's menus offer
_CARVED_OR_WHOLE = tuple(share * GIB for share in (0.25, 0.5, 1, 2, 3, 4, 8))  # what firmware's menus offer


def _bytes(symptom: Symptom) -> float:
    """Bytes that a program counts as the GPU's."""
    return float(symptom.mib) * _MIB if symptom.get("mib") is not None else size(symptom.get("size")) or 0.0


@rule("igpu-vram-counted-without-gtt", "likely")
def program_counts_what_a_person_set_aside(
    symptom: Symptom = seen(tag="vram-counted"), set_: Symptom = seen("carve-out-told"), inner: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False),
    out: Symptom | None = seen("ggml-out-of-memory", tag="torch-out-of-memory"), words: Symptom | None = seen("carve-out-alone-told"),
) -> Verdict:  # fmt: skip
    """A person names the carve-out, the program's total is that very figure, and it does not suffice."""
    gib = float(set_.get("gib") or set_.get("gib2") or 0)
    same = gib > 0 and abs(_bytes(symptom) - gib * GIB) < 0.03 * gib * GIB
    intended = card is None and bool(inner.integrated) and (out is not None or words is not None)
    return intended and same and {"said": symptom.id, "severity": "error"}


@rule("igpu-vram-counted-without-gtt", "likely")
def total_is_a_size_of_the_firmwares_menu(
    symptom: Symptom = seen("torch-out-of-memory-total"), card: Gpu | None = one(integrated=False), known: Symptom | None = seen(OUT[1]),
    statement: Symptom | None = seen("hip-memory-figures", "hip-memory-tuple"),
) -> Verdict:  # fmt: skip
    """Of the sizes that a firmware offers for a carve-out, and that no card for computing has."""
    wrong = statement is not None and bool(
        more_free_than_there_is(statement)
    )  # two pools are mixed, as the figures tell
    return card is None and known is None and not wrong and total_of(symptom) in _CARVED and {"severity": "error"}


@rule("igpu-vram-counted-without-gtt", "likely")
def torch_has_the_carve_out_only(
    symptom: Symptom = seen(tag="torch-out-of-memory"), _hip: Symptom = seen(OUT[0], runtime="HIP"), inside: Gpu | None = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False), statement: Symptom | None = seen("hip-memory-figures", "hip-memory-tuple"),
) -> Verdict:  # fmt: skip
    """Its total is a size that a firmware's menu offers for a carve-out, and one that no card for computing has."""
    total = size(symptom.get("total")) or 0
    small = total in _CARVED_OR_WHOLE and (total <= 2 * GIB or inside is not None)
    mapped = inside is not None and inside.knows("gtt") and abs(total - inside.gtt) < 0.1 * total
    wrong = statement is not None and bool(
        more_free_than_there_is(statement)
    )  # two pools are mixed, as the figures tell
    return card is None and small and not (mapped or wrong) and {"severity": "error"}


@rule("igpu-vram-counted-without-gtt", "likely")
def server_counts_a_small_part(
    symptom: Symptom = seen("ollama-compute"), mapped: Symptom = seen("amdgpu-gtt-ready"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """The kernel maps much more than the server's total, which is a carve-out's."""
    total, gtt = size(symptom.get("total")) or 0.0, int(mapped.get("mib") or 0) * _MIB
    return card is None and 0 < total <= 4 * GIB and gtt > 2.5 * total and {"name": gpu.get("name")}


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
    symptom: Symptom = seen("hip-memory-tuple", "hip-memory-figures"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """torch's total is the carve-out to the byte, and the kernel lets the graphics map many times that."""
    vram, total = gpu.vram or 0, str(symptom.get("total") or "")
    return card is None and vram > 0 and total == str(vram) and gpu.gtt > 2 * vram and {"said": symptom.id}
