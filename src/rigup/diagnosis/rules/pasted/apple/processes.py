"""What runs on a Mac, and where: programs for Intel's processors, shut in, in a Linux beside it."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.apple.metal import OF_APPLE_ALONE
from rigup.machine.kinds import Cpu, Gpu, Symptom, Torch

_MADE_LATER = ("torch", "torchvision", "torchaudio", *OF_APPLE_ALONE)  # what has ended for Intel's Macs, or never was


@rule("mps-x86-python-under-rosetta", "possible")
def resolver_asks_for_intels_macs(
    symptom: Symptom = seen("uv-no-platform-tag", "uv-other-platform-only"), cpu: Cpu | None = None
) -> Verdict:
    """Which chip it is nobody tells; Intel's Macs are older than most that ask for these."""
    intel = cpu is not None and "Intel" in str(cpu.get("model"))
    name = str(symptom.get("name")).lower().replace("_", "-")
    return not intel and name in _MADE_LATER and of_intels_mac(symptom) and {"chip": None, "seen": symptom.have}


def of_intels_mac(symptom: Symptom) -> bool:
    """Whether a wheel's tag is of Macs with Intel's processors."""
    return re.fullmatch(r"macosx_\d{2}_\d{1,2}_x86_64", str(symptom.get("have"))) is not None


@rule("mps-inside-linux-container", "likely")
def torch_was_asked_in_a_container_of_a_mac(
    torch: Torch = one(mps_available=False), _asked: Symptom = seen("mps-asked"), mac: Symptom = seen("mac-named", tag="apple-chip-named"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The question was put inside a container, and the machine is a Mac."""
    inner = torch.place.world.startswith("container")
    return nvidia is None and inner and not torch.get("available") and {"said": mac.id}


@rule("mps-oom-watermark", "likely")
def model_of_mlx_is_larger_than_the_set(
    statement: Symptom = seen("mlx-model-beside-the-set"), _failed: Symptom = seen("mlx-command-failed")
) -> Verdict:
    """mlx-lm prints what the model needs beside what Metal recommends."""
    return float(statement.held) > float(statement.most) and {"held": statement.held, "most": statement.most}
