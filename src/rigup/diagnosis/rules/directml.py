"""DirectML: whether its package is there, which adapter it takes, and what it leaves to the processor."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.gpus import one_gpu
from rigup.machine.kinds import Gpu, Platform, Symptom, Torch
from rigup.machine.names import same_name, words


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
    symptom: Symptom = seen("onnxruntime-cpu-alone"), _wished: Symptom = seen("onnxruntime-directml-installed", "directml-in-words", "directml-provider-asked"),
    cuda: Symptom | None = seen("onnxruntime-cuda-provider", "onnxruntime-wants-libraries"),
) -> Verdict:  # fmt: skip
    """The plain package was installed beside it, or after it, and its files are the ones that load."""
    return cuda is None and {"package": "onnxruntime-directml", "said": symptom.id}


@rule("extension-without-platform-build")
def package_of_windows_elsewhere(
    symptom: Symptom = seen("pip-windows-only-package"), platform: Platform = one(system=("linux", "macos"))
) -> Verdict:
    """DirectML is a part of Windows; its packages are built for nothing else."""
    return {"name": symptom.get("name"), "platform": platform.system}


@rule("extension-without-platform-build", "likely")
def package_of_windows_in_a_shell(
    symptom: Symptom = seen("pip-windows-only-package"), shell: Symptom = seen("unix-launcher-typed"), platform: Platform | None = None
) -> Verdict:  # fmt: skip
    """The same where only the launcher's name tells the system."""
    return (platform is None or platform.get("system") != "windows") and {
        "name": symptom.get("name"),
        "typed": shell.id,
    }


@rule("directml-wrong-adapter", "likely")
def integrated_is_used_beside_a_card(
    used: Symptom = seen("directml-adapter-listed", tag="directml-used"), other: Gpu = one()
) -> Verdict:
    """The adapter in use has no memory of its own, and a card is there that has. Of a list the first is used."""
    if used.get("index", "0") != "0":
        return False
    name = str(used.get("name")).strip()
    better = other.name if other.knows("name") else ""
    differs = bool(better) and (
        not any(words(name)) or not same_name(better, name)
    )  # "AMD Radeon Graphics" tells no model
    return differs and small(name) and not other.get("integrated", small(better)) and {"used": name, "better": better}


@rule("directml-wrong-adapter", "likely")
def first_of_two_is_the_processors_own(
    where: Symptom = seen("directml-spoken-of", "directml-provider-spoken-of", "directml-imported", "directml-first-asked"), first: Gpu = one(runtime_index=0),
    other: Gpu = one(integrated=False), chosen: Symptom | None = seen(tag="directml-second-adapter"),
) -> Verdict:  # fmt: skip
    """Unless told otherwise a program takes the adapter with the first number, and nothing shows that another was asked for."""
    differs = other.get("runtime_index") != 0
    return (
        chosen is None
        and differs
        and small(first.name)
        and {"used": first.name, "better": other.get("name"), "said": where.id}
    )


@rule("directml-wrong-adapter", "likely")
def first_number_where_windows_lists_two(
    asked: Symptom = seen("directml-first-asked"), other: Gpu = one(integrated=False), inner: Symptom = seen("intel-drawing-chip-named", "radeon-graphics-of-windows-listed"),
    chosen: Symptom | None = seen(tag="directml-second-adapter"), first: Gpu | None = one(runtime_index=0),
) -> Verdict:  # fmt: skip
    """The program asks for the first, and the processor's graphics, which mostly are that, stand in Windows's list beside a card."""
    inside = first is None or small(str(first.get("name")))
    return chosen is None and inside and {"used": inner.get("name"), "better": other.get("name"), "said": asked.id}


@rule("directml-wrong-adapter", "likely")
def integrated_is_used_as_people_say(
    symptom: Symptom = seen("integrated-used-in-words", "igpu-used-in-words", "intel-graphics-used-in-words", "internal-used-in-words", "wrong-adapter-in-words", "discrete-not-used-in-words"),
    where: Symptom = seen("directml-spoken-of", "directml-provider-spoken-of", "dml-spoken-of", tag="directml-used"), wish: Symptom | None = seen("integrated-wished-in-words"),
) -> Verdict:  # fmt: skip
    """Somebody with a card sees the processor's graphics at work."""
    return wish is None and {"said": symptom.id, "where": where.id}


def small(name: str) -> bool:
    """Whether a name is that of graphics inside a processor: by the catalogue, else by how makers call those."""
    row = one_gpu(name)
    if row is not None:
        return bool(row.integrated)
    low = name.lower().replace("(r)", "").replace("(tm)", "")
    if re.fullmatch(r"(?:intel arc|amd radeon \d{3}m)(?: graphics)?", low.strip()):
        return True
    return any(word in low for word in _INSIDE) or low.split("[")[0].strip() in (
        "amd radeon graphics",
        "radeon graphics",
    )


_INSIDE = ("uhd graphics", "hd graphics", "iris", "radeon vega", "basic render")


@rule("directml-op-cpu-fallback")
def falls_back_and_fails(
    missing: Symptom = seen("directml-falls-back"), failed: Symptom = seen("directml-operator-not-run")
) -> Verdict:
    """The processor has no such operation either: the program ends."""
    return {"operator": missing.get("operator"), "failed": failed.id, "severity": "error"}


@rule("directml-op-cpu-fallback", "likely")
def operator_falls_back_and_meets_the_others(
    symptom: Symptom = seen("operator-falls-back"), _elsewhere: Symptom = seen("directml-tensor-elsewhere")
) -> Verdict:
    """What ran on the processor came back as a tensor that DirectML does not take."""
    return {"operator": symptom.get("operator")}
