"""ROCm below Windows: its releases for WSL, and the runtime that a wheel brings along."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.told import Passes
from rigup.knowledge import wsl
from rigup.machine.kinds import Gpu, Platform, Symptom, Toolkit, Torch


@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def torch_sees_none_of_what_rocminfo_names(
    platform: Platform = one(wsl=2),
    torch: Torch = one(available=False),
    card: Gpu = one(vendor="amd", seen_by="rocminfo"),
) -> Verdict:
    """The system's runtime names the card and torch finds none; which torch it is, nobody tells."""
    plain = torch.knows("cuda") and bool(torch.get("cuda"))
    new = bool(torch.get("hip")) and wsl.runtime_knows_wsl(torch.hip or "")
    return platform.wsl == 2 and not plain and not new and {"name": card.get("name")}


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def wheel_finds_none_where_wsl_is_spoken_of(
    card: Gpu = one(vendor="amd", integrated=False), _spoken: Symptom = seen("wsl-lived-in"), symptom: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A torch for ROCm and a card that WSL has: what a list of requirements installs brings its own runtime."""
    made_for_it = torch is not None and wsl.runtime_knows_wsl(torch.get("hip") or "")
    return not made_for_it and not wsl.chip_without_wsl(card.isa) and {"said": symptom.id}


@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def build_for_rocm_in_wsl_and_somebody_misses_the_gpu(
    _platform: Platform = one(wsl=2), torch: Torch = one(hip=Passes(bool)), _told: Symptom = seen("program-finds-no-cuda", tag="gpu-not-used"),
    card: Gpu = one(vendor="amd", integrated=False), listed: Symptom | None = seen("rocminfo-processor-only", "hsa-init-failed", "wsl-no-adapter"),
) -> Verdict:  # fmt: skip
    """PyTorch's wheels bring a runtime that knows nothing of WSL."""
    own = not wsl.runtime_knows_wsl(torch.hip or "") and ".git" not in str(torch.get("version"))
    return own and listed is None and not torch.get("available") and not wsl.chip_without_wsl(card.isa or "")


@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def build_for_rocm_where_wsl_is_spoken_of(
    _spoken: Symptom = seen("wsl-lived-in", "wsl-in-small-letters"), torch: Torch = one(hip=Passes(bool)), symptom: Symptom | None = seen("program-finds-no-cuda", tag="gpu-not-used"),
    card: Gpu = one(vendor="amd", integrated=False), listed: Symptom | None = seen("rocminfo-processor-only", "hsa-init-failed", "wsl-no-adapter"),
) -> Verdict:  # fmt: skip
    """The same where words alone tell of WSL."""
    own = not wsl.runtime_knows_wsl(torch.hip or "") and ".git" not in str(torch.get("version"))
    missed = symptom is not None or torch.get("available") is False
    fits = own and missed and listed is None and not torch.get("available")
    return fits and not wsl.chip_without_wsl(card.isa or "")


@rule("wsl-rocm-release-not-supported", "possible")
def runtime_gets_nowhere_in_a_wsl(
    symptom: Symptom = seen("wsl-detected"), _error: Symptom = seen("hsa-out-of-resources"), rocm: Toolkit = one(name="rocm"), card: Gpu | None = one(vendor="amd"),
    refused: Symptom | None = seen("wsl-gpu-unsupported"),
) -> Verdict:  # fmt: skip
    """A release is installed that the table does not know from WSL; without any the same is said where there is no card of AMD's."""
    return refused is None and card is None and wsl.rocm_supported(rocm.version) is not True and {"said": symptom.id}


@rule("wsl-rocm-release-not-supported", "possible")
def runtime_fails_in_a_wsl_for_a_card_that_it_may_have(
    _wsl: Symptom = seen("wsl-detected"), error: Symptom = seen("hsa-out-of-resources", "hsa-init-failed", "wsl-no-adapter"), card: Gpu = one(vendor="amd"),
    refused: Symptom | None = seen("wsl-gpu-unsupported", "rocminfo-processor-only"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A card that WSL leaves out would be called unsupported; what is left is a release that was not made for it."""
    small = wsl.chip_without_wsl(card.get("isa") or "") or card.get("integrated") is True
    return refused is None and other is None and not small and {"said": error.id}


@rule("wsl-rocm-release-not-supported", "likely")
def release_has_no_runtime_for_wsl(
    rocm: Toolkit = one(name="rocm"), guest: Symptom = seen(tag="wsl-spoken-of"), error: Symptom = seen(tag="rocm-failed"), card: Gpu | None = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """ROCm's tools fail in a WSL, and the release is not one that AMD made for it; which card it is need not be told."""
    old = card is not None and wsl.chip_without_wsl(card.get("isa") or "")
    return (
        not old
        and other is None
        and wsl.rocm_supported(rocm.version) is False
        and {"said": error.id, "where": guest.id}
    )
