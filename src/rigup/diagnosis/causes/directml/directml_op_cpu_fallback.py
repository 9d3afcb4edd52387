"""DirectML lacks an operator, which runs on the processor instead."""

from rigup.diagnosis.causes.directml.packages import ONNX
from rigup.diagnosis.causes.grounds import ids_in
from rigup.diagnosis.rule import Params, Verdict, mends, rule, seen, text_rule
from rigup.knowledge.cuda import version_key
from rigup.knowledge.directml import plain_form, release_before
from rigup.machine.kinds import Gpu, PythonEnv, Symptom

_OF_TENSORFLOW = ("directml-kernel-not-there", "no-kernel-among-those-of-directml", "plug-in-", "tensorflow-")
_DOUBLES = "directml-has-no-doubles"
_PLACES = "tf.config.set_soft_device_placement(True)"
_OTHERS = {"amd": "ROCm", "intel": "XPU", "nvidia": "CUDA"}


@rule("directml-op-cpu-fallback")
def falls_back_and_fails(missing: Symptom = seen("directml-falls-back"), failed: Symptom = seen("directml-operator-not-run")) -> Verdict:
    """The processor has no such operation either: the program ends."""
    return {"operator": missing.get("operator"), "failed": failed.id, "severity": "error"}


@rule("directml-op-cpu-fallback", "likely")
def operator_falls_back_and_meets_the_others(
    symptom: Symptom = seen("operator-falls-back"), _elsewhere: Symptom = seen("directml-tensor-elsewhere")
) -> Verdict:
    """What ran on the processor came back as a tensor that DirectML does not take."""
    return {"operator": symptom.get("operator")}


@rule("directml-op-cpu-fallback")
def optimizer_falls_back(
    missing: Symptom = seen("directml-falls-back"),
    runs: Symptom | None = seen(tag="work-runs"),
    slow: Symptom | None = seen("slow-in-words"),
) -> Verdict:
    """Every step of the training pays for it, and the optimizer has a plain form that stays on the GPU; what runs as somebody wants it lacks nothing."""
    operator = str(missing.get("operator"))
    return bool(plain_form(operator)) and {"operator": operator, "severity": "note" if runs and not slow else "warning"}


@text_rule("directml-op-cpu-fallback", "likely")
def falls_back_and_is_slow(missing: Symptom = seen("directml-falls-back"), _slow: Symptom = seen("slow-in-words")) -> Verdict:
    """One operation on the processor is no fault until somebody misses the speed."""
    return {"operator": missing.get("operator"), "severity": "warning"}


@text_rule("directml-op-cpu-fallback", "likely")
def many_nodes_are_left_to_the_processor(
    dml: Symptom = seen("nodes-on-directml"), cpu: Symptom = seen("nodes-on-the-processor")
) -> Verdict:
    """A few that handle shapes are always there; a quarter of a model is what DirectML has no operations for."""
    return int(cpu.count) * 3 > int(dml.count) and {"said": cpu.id}


@mends("directml-op-cpu-fallback")
def way_around(
    knew: Params,
    missing: Symptom | None = seen("directml-falls-back", "operator-falls-back", "directml-operator-refused", "directml-operator-not-run"),
    card: Gpu | None = None,
    env: PythonEnv | None = None,
) -> Params:
    """An optimizer's own operations have plain forms; anything else runs on the processor when program and inputs are brought there."""
    ids = ids_in(knew)
    operator = str(knew.get("operator") or (missing.get("operator") if missing else "") or "")
    other = _OTHERS.get(str(card.get("vendor"))) if card else None
    if _DOUBLES in ids:
        return {"doubles": "doubles"}
    if any(name.startswith(_OF_TENSORFLOW) for name in ids):
        return {"option": _PLACES}
    if any("nodes" in name or "provider" in name for name in ids):
        return {"newer": ONNX}
    plain, old = plain_form(operator), release_before(operator)
    many = old is None or "_foreach_" in operator  # else the plain form is what falls back
    have = version_key(str(env.get("version") or "") if env else "")[:2]
    fits = old is not None and bool(have) and version_key(old.oldest)[:2] <= have <= version_key(old.python)[:2]
    return {
        "argument": plain if plain and many else None,
        "beside": None if many else plain or None,
        "old_python": old.python if old and not fits else None,
        "old_pins": old.packages if old and not fits else None,
        "old_here": old.packages if old and fits else None,
        "part": None if plain else operator or None,
        "unnamed": None if operator else "unnamed",
        "backend": other,
    }
