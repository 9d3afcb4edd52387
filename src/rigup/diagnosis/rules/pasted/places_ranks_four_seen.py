"""Containers, jobs and masks in the threads of frameworks: a word where numbers belong, a folder of another owner, a step whose driver lists no card.

Each takes one line for what the place was not given, and another for the place; where a third shows that it was given, nothing is said.
"""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.program import CUDA_MASK, MASKS, NO_DEVICE, chosen
from rigup.machine.kinds import CardCount, Gpu, JobRequest, KernelModule, Symptom, Torch, Variable, World

_WORD = re.compile(r"(?!GPU-|MIG-|none$|nodevfiles$)[A-Za-z][A-Za-z]{2,12}(?::\d{1,2}|\d{1,2})?", re.IGNORECASE)
_WITHOUT = ("torch-found-no-driver", "nvidia-smi-not-installed", "libcuda-not-found", "tf-no-driver-in-kernel")
_EMPTY = ("nvidia-smi-ends-with-nothing-found", "nvidia-smi-no-devices")


# -- masks
@rule("cuda-visible-devices-wrong", "likely")
def mask_holds_a_word(_nothing: Symptom = seen(*NO_DEVICE), mask: Variable = one(name=MASKS)) -> Verdict:
    """`all` is a word of the container toolkit's variable; CUDA and HIP know numbers and UUIDs, and end their list at anything else."""
    first = chosen(mask.value or "")[0].strip("\"'")
    return bool(_WORD.fullmatch(first)) and {"name": mask.name}


@rule("mig-device-misaddressed", "likely")
def parts_are_numbered_through(
    mask: Variable = one(name=CUDA_MASK), card: Gpu = one(vendor="nvidia", mig=True), cards: CardCount = one(vendor="nvidia", mig=True),
    torch: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Numbers count cards; where these are cut into parts, one beyond the last card is no part of any."""
    beyond = [part for part in chosen(mask.value or "") if part.isdigit() and int(part) >= cards.count]
    return torch is None and bool(beyond) and bool(card.get("partitions")) and {"named": beyond[0]}


# -- jobs
@rule("slurm-no-gpu-requested", "likely")
def step_lists_no_card_though_its_driver_answers(
    said: Symptom = seen(*_EMPTY), _step: Symptom = seen("srun-task-failed"), _program: Symptom = seen(*NO_DEVICE), job: JobRequest | None = None,
    mask: Variable | None = one(name=CUDA_MASK),
) -> Verdict:  # fmt: skip
    """Without a driver nvidia-smi ends otherwise: this one answers, and a control group shows the step none of its cards."""
    numbers = job is not None and any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    return not numbers and mask is None and {"said": said.id}


# -- containers
@rule("container-without-gpu", "likely")
def pod_misses_what_its_kernel_has(
    said: Symptom = seen(*_WITHOUT), pod: Symptom = seen("pod-is-described"), given: Symptom | None = seen("pod-was-given-gpus"), asked: World | None = one(gpu_requested=True),
    _module: KernelModule = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """The node's kernel, which its pods share, has the driver; in the pod are neither its library nor its tool."""
    return given is None and asked is None and {"vendor": "nvidia", "said": said.id, "sign": pod.id}


@rule("container-files-root-owned", "likely")
def home_of_the_images_root_is_refused(
    refused: Symptom = seen("permission-denied-in-home"), made: Symptom = seen("compose-makes-a-container")
) -> Verdict:
    """Who is refused below /root is not root: the container runs as somebody else, in the home of the image's root."""
    return str(refused.get("path")).startswith("/root/") and {"path": refused.path, "sign": made.id}
