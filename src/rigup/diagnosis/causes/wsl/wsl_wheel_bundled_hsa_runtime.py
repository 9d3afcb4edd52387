"""torch brings an HSA runtime that does not know WSL."""

from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge import wsl
from rigup.machine.kinds import Gpu, Platform, Symptom, Torch


def _runtime(torch: Torch) -> str:
    reading = torch.fields.get("own_hsa")
    text = reading.where.text if reading else ""
    path = text[text.find("/") :].split(" ")[0] if "/" in text else ""
    return path.partition(".so")[0] + ".so" if path else "torch/lib/libhsa-runtime64.so"


@rule("wsl-wheel-bundled-hsa-runtime")
def wheel_brings_its_own(_platform: Platform = one(wsl=2), torch: Torch = one(own_hsa=True)) -> Verdict:
    """The wheel's runtime is found before the one that was made for WSL."""
    return (
        bool(torch.hip) and not wsl.runtime_knows_wsl(torch.hip or "") and torch.get("available") is not True and {"path": _runtime(torch)}
    )


@rule("wsl-wheel-bundled-hsa-runtime")
def rocminfo_sees_what_torch_does_not(
    _platform: Platform = one(wsl=2),
    torch: Torch = one(available=False),
    listed: Symptom | None = seen("rocminfo-lists-one-chip"),
    card: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """The system's runtime lists the card."""
    works = listed is not None or (card is not None and (card.knows("shown_isa") or card.get("seen_by") == "rocminfo"))
    return works and bool(torch.hip) and not wsl.runtime_knows_wsl(torch.hip or "")


@rule("wsl-wheel-bundled-hsa-runtime", strength="likely")
def rocminfo_sees_what_hip_does_not(
    _platform: Platform = one(wsl=2),
    card: Gpu = one(vendor="amd"),
    symptom: Symptom = seen("hip-log-no-device", "hip-no-device", "torch-no-cuda-gpus"),
    torch: Torch | None = None,
) -> Verdict:
    """The system's runtime lists the card, HIP in the program finds none; which torch it is, nobody tells."""
    listed = card.knows("shown_isa") or card.get("seen_by") == "rocminfo"
    has_hip = torch is not None and torch.knows("hip")
    plain = has_hip and torch is not None and (not torch.hip or wsl.runtime_knows_wsl(torch.hip))
    return listed and not plain and not (torch and torch.get("available")) and {"said": symptom.id}


@text_rule("wsl-wheel-bundled-hsa-runtime", "likely")
def torch_sees_none_of_what_rocminfo_names(
    platform: Platform = one(wsl=2), torch: Torch = one(available=False), card: Gpu = one(vendor="amd", seen_by="rocminfo")
) -> Verdict:
    """The system's runtime names the card and torch finds none; which torch it is, nobody tells."""
    plain = torch.knows("cuda") and bool(torch.get("cuda"))
    new = bool(torch.get("hip")) and wsl.runtime_knows_wsl(torch.hip or "")
    return platform.wsl == 2 and not plain and not new and {"name": card.get("name")}


@text_rule("wsl-wheel-bundled-hsa-runtime", "possible")
def wheel_finds_none_where_wsl_is_spoken_of(
    card: Gpu = one(vendor="amd", integrated=False),
    _spoken: Symptom = seen("wsl-lived-in"),
    symptom: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"),
    torch: Torch | None = None,
) -> Verdict:
    """A torch for ROCm and a card that WSL has: what a list of requirements installs brings its own runtime."""
    made_for_it = torch is not None and wsl.runtime_knows_wsl(torch.get("hip") or "")
    return not made_for_it and not wsl.chip_without_wsl(card.isa) and {"said": symptom.id}


@text_rule("wsl-wheel-bundled-hsa-runtime", "likely")
def build_for_rocm_in_wsl_and_somebody_misses_the_gpu(
    _platform: Platform = one(wsl=2),
    torch: Torch = one(hip=Passes(bool)),
    _told: Symptom = seen("program-finds-no-cuda", tag="gpu-not-used"),
    card: Gpu = one(vendor="amd", integrated=False),
    listed: Symptom | None = seen("rocminfo-processor-only", "hsa-init-failed", "wsl-no-adapter"),
) -> Verdict:
    """PyTorch's wheels bring a runtime that knows nothing of WSL."""
    own = not wsl.runtime_knows_wsl(torch.hip or "") and ".git" not in str(torch.get("version"))
    return own and listed is None and not torch.get("available") and not wsl.chip_without_wsl(card.isa or "")


@text_rule("wsl-wheel-bundled-hsa-runtime", "likely")
def build_for_rocm_where_wsl_is_spoken_of(
    _spoken: Symptom = seen("wsl-lived-in", "wsl-in-small-letters"),
    torch: Torch = one(hip=Passes(bool)),
    symptom: Symptom | None = seen("program-finds-no-cuda", tag="gpu-not-used"),
    card: Gpu = one(vendor="amd", integrated=False),
    listed: Symptom | None = seen("rocminfo-processor-only", "hsa-init-failed", "wsl-no-adapter"),
) -> Verdict:
    """The same where words alone tell of WSL."""
    own = not wsl.runtime_knows_wsl(torch.hip or "") and ".git" not in str(torch.get("version"))
    missed = symptom is not None or torch.get("available") is False
    fits = own and missed and listed is None and not torch.get("available")
    return fits and not wsl.chip_without_wsl(card.isa or "")


@mends("wsl-wheel-bundled-hsa-runtime")
def what_to_set_aside(knew: Params, torch: Torch | None = None, _card: Gpu | None = one(vendor="amd")) -> Params:
    """The wheel's copies of the runtime: by their path, or where Python says that torch lies."""
    reading = torch.fields.get("own_hsa") if torch is not None else None
    text = reading.where.text if reading else str(knew.get("path") or "")
    path = text[text.find("/") :].split(" ")[0] if "/" in text else ""
    file = wsl.hsa_runtime()
    if path.startswith("/") and ".so" in path:
        return {"path": path.partition(".so")[0] + ".so"}
    return {"path": None, "file": file, "anywhere": "torch/lib/" + file}
