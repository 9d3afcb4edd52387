"""ROCm below Windows: its releases for WSL, and the runtime that a wheel brings along."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.heard import HIP_FINDS_NONE, WSL_NAMED, WSL_SEEN
from rigup.diagnosis.rules.told import GPU_NOT_USED, Told
from rigup.knowledge import wsl
from rigup.machine.kinds import Gpu, Platform, Symptom, Toolkit, Torch

_NONE = ("torch-no-cuda-gpus", "hip-no-device", "hip-log-no-device", "hip-device-count-hundred")
_FAILED = (
    "hsa-out-of-resources",
    "hsa-init-failed",
    "wsl-no-adapter",
    "hsa-call-failed-at",
    "hsa-init-failed-by-number",
)


# -- wsl-wheel-bundled-hsa-runtime
@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def wheel_finds_none_where_wsl_is_spoken_of(
    card: Gpu = one(vendor="amd", integrated=False), _spoken: Symptom = seen("wsl-lived-in"), said: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A torch for ROCm and a card that WSL has: what a list of requirements installs brings its own runtime."""
    made_for_it = torch is not None and wsl.runtime_knows_wsl(torch.get("hip") or "")
    return not made_for_it and not wsl.chip_without_wsl(card.isa) and {"said": said.id}


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def wheel_finds_none_in_wsl(
    _platform: Platform = one(wsl=2), torch: Torch = one(available=False), card: Gpu = one(vendor="amd"), said: Symptom = seen("torch-no-cuda-gpus"),
    refused: Symptom | None = seen("hsa-out-of-resources", "wsl-gpu-unsupported"),
) -> Verdict:  # fmt: skip
    """A card that WSL has, and a torch for ROCm that was not made for WSL."""
    plain = bool(torch.get("hip")) and not wsl.runtime_knows_wsl(torch.get("hip") or "")
    return refused is None and plain and not wsl.chip_without_wsl(card.isa) and {"said": said.id}


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def rocminfo_is_told_to_work_in_wsl(
    _spoken: Symptom = seen("wsl-lived-in", "wsl-detected"), _works: Symptom = seen("rocminfo-works-told"), said: Symptom = seen(*HIP_FINDS_NONE[:3]),
    card: Gpu | None = one(vendor="amd"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A person says that the system's runtime lists the card, and HIP in the program finds none."""
    there = bool(torch and torch.get("available"))
    old = card is not None and wsl.chip_without_wsl(card.get("isa") or "")
    made_for_it = torch is not None and wsl.runtime_knows_wsl(torch.get("hip") or "")
    return not (there or old or made_for_it) and {"said": said.id}


@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def build_for_rocm_in_wsl_and_somebody_misses_the_gpu(
    _platform: Platform = one(wsl=2), torch: Torch = one(hip=Told(bool)), _told: Symptom = seen(*GPU_NOT_USED, "program-finds-no-cuda"),
    card: Gpu = one(vendor="amd", integrated=False), listed: Symptom | None = seen("rocminfo-processor-only", "hsa-init-failed", "wsl-no-adapter"),
) -> Verdict:  # fmt: skip
    """PyTorch's wheels bring a runtime that knows nothing of WSL."""
    own = not wsl.runtime_knows_wsl(torch.hip or "") and ".git" not in str(torch.get("version"))
    return own and listed is None and not torch.get("available") and not wsl.chip_without_wsl(card.isa or "")


@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def build_for_rocm_where_wsl_is_spoken_of(
    _spoken: Symptom = seen("wsl-lived-in", "wsl-in-small-letters"), torch: Torch = one(hip=Told(bool)), said: Symptom | None = seen(*GPU_NOT_USED, "program-finds-no-cuda"),
    card: Gpu = one(vendor="amd", integrated=False), listed: Symptom | None = seen("rocminfo-processor-only", "hsa-init-failed", "wsl-no-adapter"),
) -> Verdict:  # fmt: skip
    """The same where words alone tell of WSL."""
    own = not wsl.runtime_knows_wsl(torch.hip or "") and ".git" not in str(torch.get("version"))
    missed = said is not None or torch.get("available") is False
    fits = own and missed and listed is None and not torch.get("available")
    return fits and not wsl.chip_without_wsl(card.isa or "")


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def rocminfo_works_in_wsl_and_torch_does_not(
    _spoken: Symptom = seen("wsl-lived-in", "wsl-in-small-letters"), _works: Symptom = seen("rocminfo-works-told"),
    _told: Symptom = seen("program-finds-no-cuda", "cuda-false-in-words"), torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The same where only the person's words tell that the system's runtime finds the card."""
    return torch is None


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def runtime_lists_the_card_and_torch_does_not(
    _platform: Platform = one(wsl=2), card: Gpu = one(vendor="amd", seen_by="rocminfo"), torch: Torch = one(available=False), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """ROCm works in this WSL; which torch it is nobody tells."""
    told = torch.get("cuda") or "+c" in str(torch.get("version"))
    return nvidia is None and not told and bool(card.get("name")) and {"said": card.name}


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


@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def wheels_runtime_is_shown(
    shown: Symptom = seen("bundled-hsa-shown"), guest: Symptom | None = seen(*WSL_NAMED), platform: Platform | None = one(wsl=2), torch: Torch | None = one(available=False),
    error: Symptom | None = seen(*_NONE), made: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Somebody looks at the runtime in torch's own folder, in a WSL, and the program finds no GPU."""
    failed = torch is not None or error is not None
    asked = made is None or torch is not None or error is not None
    return bool(guest or platform) and failed and asked and {"said": shown.id}


@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def torch_fails_beside_a_runtime_that_works(
    torch: Torch = one(available=False),
    shown: Symptom = seen("bundled-hsa-listed"),
    card: Gpu = one(vendor="amd", seen_by="rocminfo"),
) -> Verdict:
    """The system's rocminfo lists the card, torch none, and somebody looks at the runtime in the wheel."""
    return bool(torch.get("hip")) and card.get("vendor") == "amd" and {"said": shown.id}


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def wheel_finds_none_in_a_wsl(
    _platform: Platform = one(wsl=2), said: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"), refused: Symptom | None = seen("hsa-out-of-resources", "wsl-gpu-unsupported", "rock-module-not-loaded"),
    card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """A torch for ROCm is there, and nothing says that the card or the release is at fault."""
    return refused is None and card is None and {"said": said.id}


# -- wsl-rocm-release-not-supported
@rule("wsl-rocm-release-not-supported", "likely")
def rocminfo_asks_for_a_module_where_wsl_is_spoken_of(
    _spoken: Symptom = seen("wsl-lived-in", "wsl-in-small-letters"), said: Symptom = seen("rock-module-not-loaded"), card: Gpu = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """One of a release for WSL does not look for Linux's module."""
    return other is None and not wsl.chip_without_wsl(card.get("isa") or "") and {"said": said.id}


@rule("wsl-rocm-release-not-supported", "possible")
def runtime_gets_nowhere_in_a_wsl(
    said: Symptom = seen("wsl-detected"), _error: Symptom = seen("hsa-out-of-resources"), rocm: Toolkit = one(name="rocm"), card: Gpu | None = one(vendor="amd"),
    refused: Symptom | None = seen("wsl-gpu-unsupported"),
) -> Verdict:  # fmt: skip
    """A release is installed that the table does not know from WSL; without any the same is said where there is no card of AMD's."""
    return refused is None and card is None and wsl.rocm_supported(rocm.version) is not True and {"said": said.id}


@rule("wsl-rocm-release-not-supported", "likely")
def module_is_asked_for_in_a_wsl(
    said: Symptom = seen("dkms-loads-amds-files", "package-of-amds-module-set-up", "dpkg-leaves-amds-module", "dkms-package-failed"),
    guest: Symptom = seen(*WSL_SEEN),
) -> Verdict:  # fmt: skip
    """What is installed is ROCm for a Linux of its own: Windows's kernel takes no such module, and what AMD made for WSL brings none."""
    ours = said.id != "dkms-package-failed" or str(said.get("package")).startswith("amdgpu")
    return ours and {"said": said.id, "where": guest.id}


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
    rocm: Toolkit = one(name="rocm"), guest: Symptom = seen(*WSL_NAMED), error: Symptom = seen(*_FAILED), card: Gpu | None = one(vendor="amd"),
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


@rule("wsl-rocm-release-not-supported", "likely")
def distributions_own_build_fails_in_a_wsl(
    _wsl: Symptom = seen("wsl-detected"), said: Symptom = seen("rocminfo-was-built-by-a-distribution"), error: Symptom = seen("hsa-out-of-resources", "hsa-init-failed"),
    refused: Symptom | None = seen("wsl-gpu-unsupported"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """What AMD made for WSL are builds of its own; the path in the message is that of a distribution's."""
    return refused is None and other is None and {"said": said.id, "error": error.id}


@rule("wsl-rocm-release-not-supported", "likely")
def package_for_wsl_is_not_installed(
    said: Symptom = seen("wsl-runtime-package-not-there"),
    error: Symptom = seen(*_FAILED, "hip-no-device", "torch-no-cuda-gpus"),
) -> Verdict:
    """What AMD makes for WSL is a package of its own, and the list shows that it is not there."""
    return {"said": said.id, "error": error.id}
