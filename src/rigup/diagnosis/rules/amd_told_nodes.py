"""AMD's module, nodes and containers as people tell of them, and chips that ROCm has left."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.amd_told import OURS, ROCM
from rigup.diagnosis.rules.rocm import OVERRIDE, left
from rigup.knowledge import wsl
from rigup.machine.kinds import Gpu, KernelModule, Platform, Symptom, Torch, Variable, World

_NONE = ("hip-no-device", "hip-log-no-device", "torch-no-cuda-gpus", "hsa-out-of-resources")
_ROOT = ("works-with-sudo", "works-as-root", "root-needed-told")
_NO_CODE = ("hip-invalid-device-function", "hip-no-binary", "hip-no-kernel-image", "hip-kernel-image-invalid")


# -- the module
@rule("kernel-module-not-built", "likely")
def dkms_did_not_compile(
    said: Symptom = seen("dkms-did-not-compile-told"), _rocm: Symptom = seen(*OURS), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A person says so of ROCm's driver."""
    return loaded is None and other is None and {"said": said.id}


@rule("amdgpu-not-loaded", "possible")
def compute_driver_is_told_as_absent(
    said: Symptom = seen("amdkfd-not-loaded-told"), loaded: KernelModule | None = one(name="amdgpu", loaded=True)
) -> Verdict:
    """Since long the compute driver is a part of amdgpu."""
    return loaded is None and {"said": said.id}


# -- rights
@rule("render-group-missing", "likely")
def root_may_and_a_person_may_not(
    root: Symptom = seen(*_ROOT), _named: Symptom = seen("hip-error-in-quotes", *ROCM), world: World | None = None, platform: Platform | None = None,
    other: Gpu | None = one(vendor="nvidia"), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """What fails for a person and not for root fails for want of a right; or of the variables that a service of root's has."""
    if override is not None:
        return False
    elsewhere = root.place.world or bool(world and world.get("container")) or bool(platform and platform.get("wsl"))
    return not elsewhere and other is None and {"said": root.id}


# -- containers
@rule("container-render-group-mismatch", "likely")
def podman_drops_the_groups(
    error: Symptom = seen(*_NONE), run: Symptom = seen("podman-without-own-groups"), absent: Symptom | None = seen("kfd-not-there", "kfd-missing-told"),
) -> Verdict:  # fmt: skip
    """A container of a person's own has other group numbers than the host, unless it keeps them."""
    return absent is None and {"said": error.id, "where": run.id}


@rule("container-render-group-mismatch", "possible")
def runtime_fails_in_a_container(
    error: Symptom = seen("hsa-out-of-resources"), boxed: Symptom = seen("in-a-container-told"), absent: Symptom | None = seen("kfd-not-there", "kfd-missing-told"),
    root: Symptom | None = seen(*_ROOT), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A person is in a container, and the runtime may not open what is there."""
    guest = bool(platform and platform.get("wsl"))
    return absent is None and root is None and not guest and {"said": error.id, "where": boxed.id}


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def wheel_finds_none_in_wsl(
    _platform: Platform = one(wsl=2), torch: Torch = one(available=False), card: Gpu = one(vendor="amd"), said: Symptom = seen("torch-no-cuda-gpus"),
    refused: Symptom | None = seen("hsa-out-of-resources", "wsl-gpu-unsupported"),
) -> Verdict:  # fmt: skip
    """A card that WSL has, and a torch for ROCm that was not made for WSL."""
    plain = bool(torch.get("hip")) and not wsl.runtime_knows_wsl(torch.get("hip") or "")
    return refused is None and plain and not wsl.chip_without_wsl(card.isa) and {"said": said.id}


# -- chips
@rule("binary-arch-missing", "likely")
def program_was_built_for_others(
    error: Symptom = seen(*_NO_CODE), program: Symptom = seen("hip-program-named", "image-for-instinct-named"), card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """A program of its own, or an image that names the cards for which it is."""
    return not (card is not None and left(card.get("isa") or "")) and {"said": error.id, "program": program.id}


@rule("binary-arch-missing", "possible")
def target_is_left_out(said: Symptom = seen("target-left-out-told"), torch: Torch | None = None) -> Verdict:
    """A person says which target a program's build is without."""
    return not (torch and torch.knows("version")) and {"said": said.id}


@rule("rocm-dropped-arch", "likely")
def old_card_and_nothing_helps(
    card: Gpu = one(vendor="amd"), _told: Symptom = seen("trouble-told", "fix-did-not-help-told"), _rocm: Symptom = seen(*ROCM), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person has tried what there is, with a chip that ROCm has left."""
    return works is None and left(card.isa) and {"gfx": card.isa}


@rule("rocm-dropped-arch", "possible")
def old_card_is_not_listed(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("polaris-told-as-left"), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """The same where somebody says that the chip was left."""
    return works is None and left(card.isa) and {"gfx": card.isa, "said": said.id}


@rule("rocm-dropped-arch", "likely")
def old_card_is_hidden_by_hip(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("rocblas-no-devices", "hip-no-device")
) -> Verdict:
    """HIP does not list chips before Vega."""
    return left(card.isa) and {"gfx": card.isa, "said": said.id}
