"""This ROCm, or this distribution, was not made for WSL."""

from rigup.diagnosis.causes.places import WSL
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge import wsl
from rigup.machine.kinds import Distribution, Gpu, Platform, Symptom, Toolkit, Torch


@rule("wsl-rocm-release-not-supported", strength="possible")
def runtime_sees_wsl_and_no_card(
    _platform: Platform = one(wsl=2),
    _wsl: Symptom = seen("wsl-detected"),
    _error: Symptom = seen("hsa-out-of-resources", "hsa-init-failed", "wsl-no-adapter"),
    torch: Torch = one(),
    card: Gpu | None = one(vendor="amd"),
    refused: Symptom | None = seen("wsl-gpu-unsupported"),
) -> Verdict:
    """Nobody has shown a card, which may be none; that torch was installed for one tells that it is missed."""
    return bool(torch.get("hip")) and not torch.get("available") and card is None and refused is None


@rule("wsl-rocm-release-not-supported", strength="likely")
def release_not_made_for_wsl(
    rocm: Toolkit = one(name="rocm"),
    card: Gpu = one(vendor="amd"),
    _wsl: Symptom = seen("wsl-detected"),
    _error: Symptom = seen(tag="wsl-no-runtime"),
) -> Verdict:
    """The runtime of this release looks for a kernel driver that WSL has not."""
    return wsl.rocm_supported(rocm.version) is False and not wsl.chip_without_wsl(card.get("isa") or "")


@rule("wsl-rocm-release-not-supported", strength="likely")
def distribution_not_made_for(
    place: Distribution, card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), _error: Symptom = seen(tag="wsl-no-runtime")
) -> Verdict:
    """AMD makes its WSL packages for Ubuntu."""
    return place.id != "ubuntu" and not wsl.chip_without_wsl(card.get("isa") or "")


@rule("wsl-rocm-release-not-supported", strength="possible")
def runtime_finds_nothing(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), _error: Symptom = seen(tag="wsl-no-runtime")
) -> Verdict:
    """The card is one that WSL may have, and the runtime does not get through to it."""
    return not wsl.chip_without_wsl(card.get("isa") or "")


@rule("wsl-rocm-release-not-supported", strength="likely")
def release_installed_in_wsl(
    _platform: Platform = one(wsl=2), rocm: Toolkit = one(name="rocm"), torch: Torch | None = None, card: Gpu | None = one(vendor="amd")
) -> Verdict:
    """Known not to have been made for WSL, unless its own runtime lists the card."""
    works = (torch and torch.get("available")) or (card and card.get("seen_by") == "rocminfo")
    return wsl.rocm_supported(rocm.version) is False and not works


@rule("wsl-rocm-release-not-supported", strength="likely")
def rocminfo_knows_no_wsl(
    _platform: Platform = one(wsl=WSL), symptom: Symptom = seen("rock-module-not-loaded"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """It looks for Linux's module, so it is not of a release for WSL."""
    return other is None and {"said": symptom.id}


@rule("wsl-rocm-release-not-supported", strength="likely")
def rocminfo_knows_no_wsl_that_is_spoken_of(
    _wsl: Symptom = seen(tag="wsl-spoken-of"), symptom: Symptom = seen("rock-module-not-loaded"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """The same where a person says it in words."""
    return other is None and {"said": symptom.id}


@rule("wsl-rocm-release-not-supported", strength="likely")
def rocminfo_beside_windows(
    _platform: Platform = one(system="windows"), symptom: Symptom = seen("rock-module-not-loaded"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """Only Linux's rocminfo says so: where the system around it is Windows, it ran in WSL."""
    return other is None and {"said": symptom.id}


@rule("wsl-rocm-release-not-supported", strength="likely")
def installed_for_plain_linux(
    typed: Symptom = seen("amdgpu-install-without-wsl"),
    platform: Platform | None = one(wsl=WSL),
    spoken: Symptom | None = seen(tag="wsl-spoken-of"),
    torch: Torch | None = one(available=True),
) -> Verdict:
    """The installer was not asked for what WSL needs."""
    return torch is None and bool(platform or spoken) and {"typed": typed.id}


@rule("wsl-rocm-release-not-supported", strength="likely")
def linux_module_is_missed_in_wsl(
    symptom: Symptom = seen("amdgpu-module-missed"),
    platform: Platform | None = one(wsl=WSL),
    spoken: Symptom | None = seen(tag="wsl-spoken-of"),
    works: Symptom | None = seen("rocminfo-lists-one-chip"),
    card: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """No WSL has that module: a ROCm that looks for it was not made for WSL."""
    listed = works is not None or (card is not None and (card.knows("shown_isa") or card.get("seen_by") == "rocminfo"))
    return not listed and bool(platform or spoken) and {"said": symptom.id}


@text_rule("wsl-rocm-release-not-supported", "possible")
def runtime_gets_nowhere_in_a_wsl(
    symptom: Symptom = seen("wsl-detected"),
    _error: Symptom = seen("hsa-out-of-resources"),
    rocm: Toolkit = one(name="rocm"),
    card: Gpu | None = one(vendor="amd"),
    refused: Symptom | None = seen("wsl-gpu-unsupported"),
) -> Verdict:
    """A release is installed that the table does not know from WSL; without any the same is said where there is no card of AMD's."""
    return refused is None and card is None and wsl.rocm_supported(rocm.version) is not True and {"said": symptom.id}


@text_rule("wsl-rocm-release-not-supported", "possible")
def runtime_fails_in_a_wsl_for_a_card_that_it_may_have(
    _wsl: Symptom = seen("wsl-detected"),
    error: Symptom = seen("hsa-out-of-resources", "hsa-init-failed", "wsl-no-adapter"),
    card: Gpu = one(vendor="amd"),
    refused: Symptom | None = seen("wsl-gpu-unsupported", "rocminfo-processor-only"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """A card that WSL leaves out would be called unsupported; what is left is a release that was not made for it."""
    small = wsl.chip_without_wsl(card.get("isa") or "") or card.get("integrated") is True
    return refused is None and other is None and not small and {"said": error.id}


@text_rule("wsl-rocm-release-not-supported", "likely")
def release_has_no_runtime_for_wsl(
    rocm: Toolkit = one(name="rocm"),
    guest: Symptom = seen(tag="wsl-spoken-of"),
    error: Symptom = seen(tag="rocm-failed"),
    card: Gpu | None = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """ROCm's tools fail in a WSL, and the release is not one that AMD made for it; which card it is need not be told."""
    old = card is not None and wsl.chip_without_wsl(card.get("isa") or "")
    return not old and other is None and wsl.rocm_supported(rocm.version) is False and {"said": error.id, "where": guest.id}


@mends("wsl-rocm-release-not-supported")
def release_to_install(system: Distribution | None = None) -> Params:
    """The newest that is known to speak to WSL, on a distribution that AMD makes it for."""
    foreign = system is not None and system.get("id") not in (None, "ubuntu")
    holes = {"version": wsl.newest_rocm(), "usecase": "wsl,rocm"}
    return {**holes, "distribution": wsl.amds_distribution()} if foreign else {**holes, "here": "here"}
