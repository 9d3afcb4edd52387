"""What mends DirectML: the release that belongs together, the part that it cannot run, the adapter that was meant."""

from rigup.diagnosis.fixes.amd_told import ids_in
from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.knowledge.directml import has_directml, newest_directml, plain_form
from rigup.machine.kinds import Gpu, PythonEnv, Symptom

_OF_ONNX = (
    "directml-provider-not-there", "directml-provider-missing", "onnxruntime-no-directml-entry", "directml-is-no-choice", "onnxruntime-cpu-alone",
    "directml-provider-asked", "onnxruntime-cpu-provider",
)  # fmt: skip
_BESIDE = wordings(tag="directml-beside")
_OF_TENSORFLOW = ("directml-kernel-not-there", "no-kernel-among-those-of-directml", "plug-in-", "tensorflow-")
_DOUBLES = "directml-has-no-doubles"
_PLACES = "tf.config.set_soft_device_placement(True)"
_ONNX, _PLAIN = "onnxruntime-directml", "onnxruntime"
_OTHERS = {"amd": "ROCm", "intel": "XPU", "nvidia": "CUDA"}


@mends("directml-module-missing")
def release_with_its_torch(knew: Params, env: PythonEnv | None = None, python: Symptom | None = seen("python-of-windows", "python-version-printed")) -> Params:  # fmt: skip
    """torch's module with the torch that it stands on, in a Python that has it; the other runtime's own package where that is asked."""
    ids = ids_in(knew)
    if str(knew.get("package")) == _ONNX or any(name in _OF_ONNX for name in ids):
        if any(name in _BESIDE for name in ids):  # both lie in one folder: what is left of either is not whole
            return {"plain": f"{_PLAIN}, {_ONNX}", "again": _ONNX, "package": None}
        return {"package": _ONNX}
    pinned = newest_directml()
    if pinned is None:
        return {}
    have = str((env.get("version") if env else None) or (python.get("minor") if python else None) or "")
    other = bool(have) and not has_directml(have)
    return {"package": None if other else pinned.packages, "python": pinned.python if other else None, "pinned": pinned.packages if other else None}  # fmt: skip


@mends("directml-op-cpu-fallback")
def way_around(knew: Params, missing: Symptom | None = seen("directml-falls-back", "operator-falls-back", "directml-operator-refused", "directml-operator-not-run"), card: Gpu | None = None) -> Params:  # fmt: skip
    """An optimizer's own operations have plain forms; anything else runs on the processor when program and inputs are brought there."""
    ids = ids_in(knew)
    operator = str(knew.get("operator") or (missing.get("operator") if missing else "") or "")
    other = _OTHERS.get(str(card.get("vendor"))) if card else None
    if _DOUBLES in ids:
        return {"doubles": "doubles"}
    if any(name.startswith(_OF_TENSORFLOW) for name in ids):
        return {"option": _PLACES}
    if any("nodes" in name or "provider" in name for name in ids):
        return {"newer": _ONNX}
    return {"option": plain_form(operator) or None, "part": operator or None, "unnamed": None if operator else "unnamed", "backend": other}  # fmt: skip


@mends("directml-wrong-adapter")
def index_of_the_card(knew: Params, card: Gpu | None = one(integrated=False)) -> Params:
    """Where a list tells it; else the one after the first, for the first is the processor's."""
    index = (card.get("runtime_index") or card.get("adapter")) if card else None
    named = knew.get("better") or (card and card.get("name"))
    return {"index": index or 1, "better": named or None, "unnamed": None if named else "unnamed"}
