"""Programs upon torch that want a GPU and get none, where nothing else is told of the machine."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.directml import DIRECTML_USED
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.framework import worth_a_build
from rigup.diagnosis.rules.told import OTHER_ACCELERATORS
from rigup.machine.kinds import Driver, Gpu, Platform, Symptom, Torch, World

_ASKED = (
    "torch-program-wants-a-gpu", "torch-program-wants-cuda", "triton-has-no-driver", "torch-program-has-the-processor-alone", "voice-training-refuses-the-processor", "extensions-operator-on-the-processor", "torch-program-wants-an-accelerator",
    "quantisation-wants-a-gpu",
)  # fmt: skip
_KNOWN = (*SILENT, *NO_CUDA, "torch-cpu-version-told", *OTHER_ACCELERATORS, *DIRECTML_USED)


@rule("no-gpu-present", "possible")
def program_wants_a_gpu_and_nobody_names_one(
    said: Symptom = seen(*_ASKED), gpu: Gpu | None = None, driver: Driver | None = None, torch: Torch | None = None, world: World | None = None,
    platform: Platform | None = one(system="windows"), guest: Platform | None = one(wsl=(1, 2)), known: Symptom | None = seen(*_KNOWN),
) -> Verdict:  # fmt: skip
    """The program's word is all that there is: no card, no driver, no build of torch, no container is shown."""
    alone = all(other is None for other in (gpu, driver, world, platform, guest, known)) and not _told(torch)
    return alone and {"said": said.id, "severity": "error"}


@rule("cpu-only-torch", "possible")
def program_wants_a_gpu_on_windows(
    said: Symptom = seen(*_ASKED), _windows: Platform = one(system="windows"), gpu: Gpu | None = None, torch: Torch | None = None, world: World | None = None,
    known: Symptom | None = seen(*_KNOWN),
) -> Verdict:  # fmt: skip
    """What pip brings there unasked is a build for the processor."""
    return gpu is None and torch is None and world is None and known is None and {"said": said.id}


@rule("cpu-only-torch", "possible")
def program_wants_a_gpu_beside_a_card(
    said: Symptom = seen(*_ASKED), gpu: Gpu = one(vendor="nvidia"), torch: Torch | None = None, world: World | None = None,
    known: Symptom | None = seen(*_KNOWN), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """There is a card, and nothing is said of the driver: then torch itself is the first to ask."""
    plain = all(other is None for other in (torch, world, known, guest))
    return plain and worth_a_build(gpu) and {"said": said.id}


def _told(torch: Torch | None) -> bool:
    """Whether more is known of torch than that it finds nothing."""
    return bool(torch and (torch.get("available") or torch.get("cuda") or torch.get("hip") or torch.knows("version")))


@rule("binary-arch-missing", "possible")
def attention_runs_on_the_processor(
    said: Symptom = seen("deformable-attention-without-its-operators"), asked: Symptom | None = seen("processor-asked-for-by-an-option"), mac: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """Its operators for the GPU were not built; the processor, where it was asked for, does without."""
    return asked is None and mac is None and {**said.values(), "package": "GroundingDINO"}


@rule("cuda-runtime-library-missing", "possible")
def quantiser_finds_no_runtime(
    said: Symptom = seen("bitsandbytes-main-runtime-not-detected"), asked: Symptom | None = seen("processor-asked-for-by-an-option"), mac: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """It looks for the library at its import, whoever computes on the processor."""
    return asked is None and mac is None and {**said.values(), "program": "bitsandbytes", "lib": "libcudart.so"}
