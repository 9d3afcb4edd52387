"""Which devices a program sees, in which order, and since when."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.heard import OLLAMA_SERVED, PROGRAM_STOPS
from rigup.diagnosis.rules.program import CUDA_MASK, DEVICE_MASKS, NO_DEVICE, chosen
from rigup.diagnosis.rules.rocm import MASKS
from rigup.diagnosis.rules.told import INTEL_FINDS_NONE
from rigup.machine.kinds import CardCount, Gpu, JobRequest, Mask, Symptom, TensorFlow, Torch, Variable, World

_WORD = re.compile(r"(?!GPU-|MIG-|none$|nodevfiles$)[A-Za-z][A-Za-z]{2,12}(?::\d{1,2}|\d{1,2})?", re.IGNORECASE)
_HIDES_ALL = ("", "-1")
_NONE_IN_WORDS = (*PROGRAM_STOPS, "gpu-missed-in-words", "runs-on-the-cpu-shown", "processor-asked-of-a-detector", "tf-sees-no-gpu", "jax-lists-the-processor-alone", "program-finds-no-cuda", "torchserve-counts-no-gpus")  # fmt: skip
_PROCESSOR_MEANT = ("processor-asked-for-by-an-option", "mask-emptied-for-one-command")
_OUT_OF_MEMORY = ("ggml-out-of-memory", "torch-out-of-memory", "cuda-out-of-memory-plain", "tf-out-of-memory")


def _counts_none(tensorflow: TensorFlow | None, torch: Torch | None) -> bool:
    """Asked for its GPUs it says none, and it is a build that could have some."""
    if tensorflow is not None:
        return tensorflow.get("built_with_cuda") is not False
    return torch is not None and not (torch.knows("cuda") and not torch.get("cuda") and not torch.get("hip"))


def _is_no_first(value: str | None) -> bool:
    """Whether a mask begins with the number of a second card or a later one."""
    first = chosen(value or "")[0]
    return first.isdigit() and int(first) > 0


# -- cuda-visible-devices-wrong
@rule("cuda-visible-devices-wrong", "likely")
def selector_lets_no_device_through(
    mask: Symptom = seen("sycl-lists-what-a-variable-lets-through"), _said: Symptom = seen(*INTEL_FINDS_NONE)
) -> Verdict:
    """SYCL shows what the variable names, and that is nothing: an index that no device has."""
    value = str(mask.get("value") or mask.get("set"))
    number = value.rpartition(":")[2]
    return number.isdigit() and int(number) > 0 and {"name": "ONEAPI_DEVICE_SELECTOR", "value": value}


@rule("cuda-visible-devices-wrong", "likely")
def level_zero_is_told_of_a_device_that_is_not_there(
    mask: Symptom = seen("level-zero-is-given-a-later-device"), _said: Symptom = seen(*INTEL_FINDS_NONE)
) -> Verdict:
    """Level Zero counts from 0; what was named lies beyond the last, for none is seen."""
    return {"name": "ZE_AFFINITY_MASK", "value": mask.value}


@rule("cuda-visible-devices-wrong", "likely")
def mask_names_none_of_the_listed(
    mask: Variable = one(name=CUDA_MASK), cards: CardCount = one(vendor="nvidia"), _torch: Torch = one(devices=0), split: Gpu | None = one(mig=True)
) -> Verdict:  # fmt: skip
    """The mask counts beyond the cards that nvidia-smi lists, and torch counts none."""
    numbers = [part for part in chosen(mask.value or "") if part.isdigit()]
    return split is None and bool(numbers) and int(numbers[0]) >= cards.count and cards.usable > 0


@rule("cuda-visible-devices-wrong", "likely")
def mask_holds_a_word(_nothing: Symptom = seen(*NO_DEVICE), mask: Variable = one(name=DEVICE_MASKS)) -> Verdict:
    """`all` is a word of the container toolkit's variable; CUDA and HIP know numbers and UUIDs, and end their list at anything else."""
    first = chosen(mask.value or "")[0].strip("\"'")
    return bool(_WORD.fullmatch(first)) and {"name": mask.name}


@rule("cuda-visible-devices-wrong", "likely")
def launcher_took_the_mask_and_finds_no_such_card(
    mask: Symptom = seen("deepspeed-takes-the-mask"), said: Symptom = seen("deepspeed-finds-no-such-slot")
) -> Verdict:
    """The launcher counts all cards of the machine, and the mask names one beyond them."""
    return said.slot in mask.list.split(",") and {"name": "CUDA_VISIBLE_DEVICES"}


@rule("cuda-visible-devices-wrong", "likely")
def program_hides_all_and_counts_none(mask: Mask, tensorflow: TensorFlow | None = one(gpus=0), torch: Torch | None = one(available=False)) -> Verdict:  # fmt: skip
    """A program sets the mask to nothing and then asks for its GPUs."""
    return mask.value in _HIDES_ALL and _counts_none(tensorflow, torch) and {"name": mask.variable, "value": mask.value}


@rule("cuda-visible-devices-wrong", "likely")
def shell_hides_all_and_counts_none(
    mask: Variable = one(name=DEVICE_MASKS, value=_HIDES_ALL), tensorflow: TensorFlow | None = one(gpus=0), torch: Torch | None = one(available=False),
    job: Variable | None = one(name="SLURM_JOB_ID"), meant: Symptom | None = seen("mask-emptied-for-one-command"),
) -> Verdict:  # fmt: skip
    """The variable is there and names no device, and a framework finds none; in a job the scheduler sets it so."""
    return (
        job is None and meant is None and _counts_none(tensorflow, torch) and {"name": mask.name, "value": mask.value}
    )


@rule("cuda-visible-devices-wrong", "likely")
def every_device_is_left_out_on_request(
    said: Symptom = seen("ollama-left-out-on-request"), _none: Symptom = seen("ollama-no-amd-device-left"), served: Symptom | None = seen(*OLLAMA_SERVED),
) -> Verdict:  # fmt: skip
    """What the variable names is none of what is there."""
    return served is None and {"value": said.get("wanted"), "name": "ROCR_VISIBLE_DEVICES"}


@rule("cuda-visible-devices-wrong", "likely")
def mask_names_more_than_is_listed(
    mask: Variable = one(name=MASKS, at="shell container"), _one: Symptom = seen("rocminfo-lists-one-chip"), torch: Torch | None = one(available=False),
    said: Symptom | None = seen("torch-no-cuda-gpus", "hip-no-device"),
) -> Verdict:  # fmt: skip
    """rocminfo lists one card, whose number is nought; the variable names another."""
    numbers = [part.strip() for part in str(mask.get("value") or "").split(",") if part.strip()]
    beyond = bool(numbers) and all(number.isdigit() and int(number) > 0 for number in numbers)
    return beyond and (torch is not None or said is not None) and {"value": mask.value, "name": mask.name}


@rule("cuda-visible-devices-wrong", "likely")
def service_hides_every_card(
    said: Symptom = seen("ollama-finds-no-gpu", "ollama-computes-on-cpu", "ollama-keeps-the-model-on-the-processor", "torch-no-cuda-gpus", "cuda-no-device", "jax-lists-the-processor-alone"), mask: Variable = one(name=(CUDA_MASK, "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")),
    typed: Symptom | None = seen("mask-emptied-for-one-command"), logged: Symptom | None = seen("tf-start-finds-no-device"), ended: Symptom | None = seen("python-ended-with-an-exception"),
) -> Verdict:  # fmt: skip
    """The server's own settings name a device that no machine has, and it finds no card; typed before one command that then works, it is meant."""
    meant = typed is not None and logged is not None and ended is None
    return mask.value == "-1" and not meant and {"said": said.id, "name": mask.name, "value": mask.value}


@rule("cuda-visible-devices-wrong", "likely")
def number_beyond_those_that_are_counted(said: Symptom = seen("yolo-counts-fewer")) -> Verdict:
    """Devices are counted from 0: the number that was asked for lies beyond the last."""
    return int(said.asked) >= int(said.count) and {"name": CUDA_MASK, "count": said.count}


@rule("cuda-visible-devices-wrong", "likely")
def container_gets_one_and_is_told_of_a_later(
    mask: Variable = one(name=CUDA_MASK), given: Symptom = seen("one-card-is-given-to-a-container"), _none: Symptom = seen(*NO_DEVICE, *_NONE_IN_WORDS, "ollama-finds-no-gpu", "ollama-computes-on-cpu"),
) -> Verdict:  # fmt: skip
    """What an engine gives is counted from 0 again: the one card inside has no other number."""
    return _is_no_first(mask.value) and {"said": given.id, "name": mask.name, "valid": "0"}


@rule("cuda-visible-devices-wrong", "possible")
def program_says_in_its_own_words_that_there_is_none(
    mask: Variable = one(name=CUDA_MASK), said: Symptom = seen(*_NONE_IN_WORDS), card: Gpu | None = None, job: JobRequest | None = None,
    torch: Torch | None = one(available=True), meant: Symptom | None = seen(*_PROCESSOR_MEANT), platforms: Variable | None = one(name="JAX_PLATFORMS"),
) -> Verdict:  # fmt: skip
    """The number of a second card, or a later one; whether the machine has it, nobody shows."""
    unknown = card is None and job is None and torch is None and meant is None and platforms is None
    return unknown and _is_no_first(mask.value) and {"said": said.id, "name": mask.name, "valid": "0"}


@rule("cuda-visible-devices-wrong", "possible")
def program_hides_the_first_and_says_that_there_is_none(
    mask: Mask, said: Symptom = seen(*_NONE_IN_WORDS, "cuda-no-device", "torch-no-cuda-gpus"), card: Gpu | None = None, job: JobRequest | None = None,
    torch: Torch | None = one(available=True), meant: Symptom | None = seen(*_PROCESSOR_MEANT), platforms: Variable | None = one(name="JAX_PLATFORMS"),
) -> Verdict:  # fmt: skip
    """The same, where the program sets it."""
    unknown = card is None and job is None and torch is None and meant is None and platforms is None
    return unknown and _is_no_first(mask.value) and {"said": said.id, "name": mask.variable, "valid": "0"}


# -- cuda-device-order-differs
@rule("cuda-device-order-differs")
def smaller_card_than_was_meant_is_full(
    gpu: Gpu, other: Gpu, mask: Variable = one(name=CUDA_MASK), full: Symptom = seen(*_OUT_OF_MEMORY), order: Variable | None = one(name="CUDA_DEVICE_ORDER"),
) -> Verdict:  # fmt: skip
    """One number is given; nvidia-smi lists a larger card under it than the one that the program got and filled."""
    unlike = gpu is not other and gpu.name != other.name and gpu.runtime_index == 0 and order is None
    meant = (mask.value or "").isdigit() and str(other.nvml_index) == mask.value
    return unlike and meant and gpu.vram < other.vram and {"said": full.id, "severity": "error"}


@rule("cuda-device-order-differs", "likely")
def its_first_is_another_than_the_lists(
    gpu: Gpu, other: Gpu, order: Variable | None = one(name="CUDA_DEVICE_ORDER"), mask: Variable | None = one(name=CUDA_MASK),
    box: World | None = one(at="container"),
) -> Verdict:  # fmt: skip
    """A program's card of some number, and the one that nvidia-smi lists under it: two unlike cards."""
    if gpu is other or (order and order.value == "PCI_BUS_ID") or box is not None:
        return False
    number, listed = gpu.runtime_index, gpu.nvml_index
    mine = chosen(mask.value or "") if mask is not None and mask.get("value") else []
    if mine:
        number = int(mine[number]) if number < len(mine) and mine[number].isdigit() else listed
    return number != listed and other.nvml_index == number and gpu.name != other.name


@rule("cuda-device-order-differs", "likely")
def cores_are_not_in_the_order_of_names(
    zero: Symptom = seen("program-counts-cores-of-each-card", number="0"), other: Symptom = seen("program-counts-cores-of-each-card"),
    first: Gpu = one(nvml_index=0, vendor="nvidia"), listed: Gpu = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Two cards have one name in nvidia-smi's list, and two numbers of cores in a program's list, or the other way round."""
    number = int(other.number)
    pair = number > 0 and listed.get("nvml_index") == number
    return pair and (first.name == listed.name) != (zero.cores == other.cores) and {"number": number}


@rule("cuda-device-order-differs", "possible")
def program_counts_against_the_slots(
    gpu: Gpu = one(vendor="nvidia"), other: Gpu = one(vendor="nvidia"), mask: Variable | None = one(name=CUDA_MASK)
) -> Verdict:
    """The program's list has two unlike cards in the order of their speed, nvidia-smi's would have that of their slots."""
    first = gpu.runtime_index < other.runtime_index and gpu.pci_address > other.pci_address
    return first and gpu.name != other.name and mask is None and {"severity": "warning"}


# -- cuda-visible-devices-set-too-late
@rule("cuda-visible-devices-set-too-late", "likely")
def mask_changed_nothing(said: Symptom = seen("count-behind-a-mask")) -> Verdict:
    """The program counts more devices than the mask that it set before leaves."""
    return int(said.count) > said.mask.count(",") + 1 and {"name": "CUDA_VISIBLE_DEVICES"}


# -- cuda-initialised-before-fork
@rule("cuda-initialised-before-fork", "likely")
def told_process_cannot_start_cuda(
    _told: Symptom = seen("several-processes-told", "fork-told", "worker-server-told"), _refused: Symptom = seen("cuda-initialization-error")
) -> Verdict:  # fmt: skip
    """CUDA's word for a copy of a process that had started it, beside Python's processes or the word fork."""
    return True


@rule("cuda-initialised-before-fork", "likely")
def forked_process_does_not_start_cuda(
    _process: Symptom = seen("forked-process-named"), _error: Symptom = seen("cuda-initialization-error", "cuda-not-initialized", "cuda-start-fails-with-3", "cuinit-not-initialised", "mxnet-cannot-start-cuda")
) -> Verdict:  # fmt: skip
    """The process bears the name that Python gives to one it forked, and CUDA does not start in it."""
    return True


@rule("cuda-initialised-before-fork", "likely")
def process_with_threads_is_forked_and_cuda_does_not_start(
    _warned: Symptom = seen("python-warns-of-a-fork"), _error: Symptom = seen("cuda-initialization-error", "cuda-not-initialized")
) -> Verdict:  # fmt: skip
    """JAX, or Python, warns that a process with threads is copied; CUDA does not start in the copy."""
    return True


@rule("cuda-initialised-before-fork", "likely")
def loaders_processes_do_not_start(
    _error: Symptom = seen("cuda-initialization-error"), _gone: Symptom = seen("dataloader-worker-gone", "worker-process-failed", "worker-loop-failed")
) -> Verdict:  # fmt: skip
    """CUDA does not start in a process that a loader forked."""
    return True


@rule("cuda-initialised-before-fork", "likely")
def workers_are_forked_and_do_not_start(
    _fork: Symptom = seen("start-method-is-fork"), _error: Symptom = seen("cuda-initialization-error")
) -> Verdict:
    """Processes are made by fork, and CUDA does not start in them."""
    return True


@rule("cuda-initialised-before-fork", "likely")
def child_cannot_start_cuda(
    _child: Symptom = seen("child-of-multiprocessing-failed", "worker-process-failed", "worker-loop-failed"), said: Symptom = seen("mxnet-cannot-start-cuda", "cuda-initialization-error"),
) -> Verdict:  # fmt: skip
    """In the parent CUDA works; in a copy of it it does not."""
    return {"said": said.id}


@rule("cuda-initialised-before-fork", "likely")
def queues_worker_cannot_start_cuda(
    _worker: Symptom = seen("forked-process-named", "task-runs-in-a-queues-worker"), said: Symptom = seen("cuda-initialization-error", "initialization-error-alone")
) -> Verdict:  # fmt: skip
    """A task queue copies its worker from a process that has loaded the tasks, and CUDA with them."""
    return {"said": said.id}
