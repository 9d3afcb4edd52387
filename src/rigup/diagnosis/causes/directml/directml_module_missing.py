"""DirectML is chosen, and its package is not installed in this environment."""

from rigup.diagnosis.causes.directml.packages import ONNX
from rigup.diagnosis.causes.grounds import ids_in
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule, wordings
from rigup.knowledge.cuda import version_key
from rigup.knowledge.directml import Pinned, has_directml, newest_directml, torch_of_directml
from rigup.machine.kinds import Package, PythonEnv, Symptom, Torch

_OF_ONNX = (
    "directml-provider-not-there",
    "directml-provider-missing",
    "onnxruntime-no-directml-entry",
    "directml-is-no-choice",
    "onnxruntime-cpu-alone",
    "directml-provider-asked",
    "onnxruntime-cpu-provider",
)
_BESIDE = wordings(tag="directml-beside")
_PLAIN = "onnxruntime"


def _between(pinned: Pinned, have: str) -> bool:
    return version_key(pinned.oldest) <= version_key(have)[:2] <= version_key(pinned.python)


@rule("directml-module-missing")
def chosen_and_found_nothing(
    _chosen: Symptom = seen(tag="directml-adapter-chosen"),
    _nothing: Symptom = seen("sdnext-no-cuda"),
    loaded: Symptom | None = seen("directml-loaded", tag="directml-used"),
) -> Verdict:
    """The launcher chose it, and what it prints where the module loads is not there."""
    return loaded is None


@rule("directml-module-missing", "likely")
def chosen_and_torch_for_the_processor(
    _chosen: Symptom = seen(tag="directml-adapter-chosen"),
    _failed: Symptom = seen("torch-not-compiled-with-cuda", "torch-not-linked-with-cuda"),
    loaded: Symptom | None = seen("directml-loaded", tag="directml-used"),
    torch: Torch | None = None,
) -> Verdict:
    """The program fell back to CUDA, of which this torch has none."""
    return loaded is None and (torch is None or not torch.get("cuda"))


@rule("directml-module-missing", "likely")
def onnxruntime_shows_the_processor_alone(
    symptom: Symptom = seen("onnxruntime-cpu-alone"),
    _wished: Symptom = seen("onnxruntime-directml-installed", "directml-in-words", "directml-provider-asked"),
    other: Symptom | None = seen("onnxruntime-cuda-provider", "onnxruntime-wants-libraries", "onnxruntime-lists-a-provider-of-cards"),
) -> Verdict:
    """The plain package was installed beside it, or after it, and its files are the ones that load; a run on the processor for comparison shows more."""
    return other is None and {"package": "onnxruntime-directml", "said": symptom.id}


@text_rule("directml-module-missing", "likely")
def torch_is_none_that_it_stands_on(
    torch: Torch,
    asked: Symptom = seen("directml-chosen", "directml-option"),
    module: Package | None = one(name="torch-directml"),
    loaded: Symptom | None = seen("directml-loaded", tag="directml-used"),
) -> Verdict:
    """Each release pins the torch that it was built with, and puts it in its place: beside another build for the processor it is not there."""
    release, _, local = str(torch.version).partition("+")
    other = local == "cpu" and release not in torch_of_directml()
    return other and module is None and loaded is None and {"package": "torch-directml", "asked": asked.id}


@text_rule("directml-module-missing", "likely")
def module_lies_beside_another_torch(
    torch: Torch,
    module: Package = one(name="torch-directml"),
    symptom: Symptom = seen("directml-native-not-loaded", "directml-native-lacks-a-symbol"),
) -> Verdict:
    """Its compiled part is made for the torch that its release pins; another was put over it, and it does not load."""
    pins = torch_of_directml(str(module.get("version")))
    other = bool(pins) and str(torch.version).partition("+")[0] not in pins
    return other and {"package": "torch-directml", "said": symptom.id}


@mends("directml-module-missing")
def release_with_its_torch(
    knew: Params,
    env: PythonEnv | None = None,
    python: Symptom | None = seen("python-of-windows", "python-version-printed"),
    there: Package | None = one(name=ONNX),
    torch: Torch | None = None,
) -> Params:
    """torch's module with the torch that it stands on, in a Python that has it; the other runtime's own package where that is asked."""
    ids = ids_in(knew)
    if str(knew.get("package")) == ONNX or any(name in _OF_ONNX for name in ids):
        if any(name in _BESIDE for name in ids):  # both lie in one folder: what is left of either is not whole
            both = f"{_PLAIN}, {ONNX}"
            return {"plain": both, "again": ONNX, "package": None, "module": ONNX, "both": both if there is not None else None}
        return {"package": ONNX, "module": ONNX}
    have = str((env.get("version") if env else None) or (python.get("minor") if python else None) or "")
    pinned = newest_directml(str(torch.get("version") or "") if torch else "")
    if pinned is not None and have and not _between(pinned, have):
        pinned = newest_directml()
    if pinned is None:
        return {"module": "torch-directml"}
    other = bool(have) and not has_directml(have)
    return {
        "module": "torch-directml",
        "package": None if other else pinned.packages,
        "python": pinned.python if other else None,
        "pinned": pinned.packages if other else None,
    }
