"""Programs that serve models, draw, hear or speak: what their own lines tell beside a card, a build, a container, a mask."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.directml import DIRECTML_USED
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.framework import worth_a_build
from rigup.diagnosis.rules.memory import GIB, OUT, Figures, size
from rigup.diagnosis.rules.program import CUDA_MASK
from rigup.diagnosis.rules.told import MACS, Told
from rigup.machine.kinds import Gpu, Platform, Symptom, Torch, Variable, World

_TORCH_ON_CPU = (
    "whisper-on-the-processor", "easyocr-on-the-processor", "invokeai-on-cpu", "invokeai-gpu-device-is-cpu", "comfyui-on-the-processor",
    "webui-has-no-card-in-chinese", "voice-program-finds-no-card", "cuda-misspelt-not-available", "sdnext-no-cuda", "half-on-the-processor",
)  # fmt: skip
_GPU_ASKED = (
    "mixed-precision-wants-a-gpu", "transformers-setup-has-no-bf16", "quantisation-wants-a-gpu", "yolo-invalid-cuda", "webui-torch-no-gpu",
    "vllm-unspecified-platform", "vllm-no-device-type",
    "torch-program-wants-a-gpu", "torch-program-wants-cuda", "triton-has-no-driver", "torch-program-has-the-processor-alone", "voice-training-refuses-the-processor", "extensions-operator-on-the-processor", "torch-program-wants-an-accelerator",
)  # fmt: skip
_NO_GPU = (
    *_TORCH_ON_CPU, *_GPU_ASKED, "ollama-finds-no-gpu", "ollama-computes-on-cpu", "llama-told-of-layers-and-no-gpu", "tensor-core-program-finds-device-100",
    "tensorrt-init-by-number", "libcuda-not-found", "torch-runtime-of-cuda-not-found",
    "cuda-driver-insufficient", "torch-found-no-driver", "torch-no-cuda-gpus", "program-finds-no-cuda", "libcuda-of-no-name", "nvml-library-not-found",
    "tgi-finds-too-few-devices", "triton-finds-no-gpu", "ggml-vulkan-finds-no-device", "sample-counts-no-device", "triton-compiler-finds-no-driver",
)  # fmt: skip
_REFUSED = (
    "ggml-allocation-refused", "ggml-buffer-refused", "ggml-device-buffer-not-given", "vulkan-memory-refused", "sycl-memory-refused", "picture-program-ran-out",
    "picture-program-had-an-oom", "turbomind-ran-out", "torch-of-old-ran-out", "server-has-no-room", "exllama-has-no-room", "tinygrad-allocation-failed", "gpt4all-out-of-vram", "engine-in-rust-or-whisper-ran-out",
    "quantised-model-does-not-fit-on-the-gpu",
)  # fmt: skip


# -- the build
@rule("cpu-only-torch", "likely")
def program_computes_on_the_processor_of_windows(
    said: Symptom = seen(*_TORCH_ON_CPU, *_GPU_ASKED), gpu: Gpu = one(vendor="nvidia"), _windows: Platform = one(system="windows"),
    torch: Torch | None = one(cuda=Told(bool)), works: Torch | None = one(available=True), other_way: Symptom | None = seen(*DIRECTML_USED),
    box: World | None = None,
) -> Verdict:  # fmt: skip
    """Its owner names a card of NVIDIA's; what pip brings on Windows unasked has no code for it."""
    plain = all(other is None for other in (torch, works, other_way, box))
    return plain and worth_a_build(gpu) and {"said": said.id}


@rule("cpu-only-torch", "possible")
def program_computes_on_the_processor_beside_a_card(
    said: Symptom = seen(*_TORCH_ON_CPU), gpu: Gpu = one(vendor="nvidia"), torch: Torch | None = one(cuda=Told(bool)),
    silent: Symptom | None = seen(*SILENT, *NO_CUDA), other_way: Symptom | None = seen(*DIRECTML_USED), box: World | None = None, wsl: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The same where nobody tells the system: elsewhere the driver may be the reason as well."""
    plain = all(other is None for other in (torch, silent, other_way, box, wsl))
    return plain and worth_a_build(gpu) and {"said": said.id}


@rule("cpu-only-torch", "likely")
def program_wants_a_gpu_of_a_build_for_processors(
    said: Symptom = seen(*_GPU_ASKED), _build: Symptom = seen("torch-cpu-version-told"), torch: Torch | None = one(cuda=Told(bool)),
    other_way: Symptom | None = seen(*DIRECTML_USED),
) -> Verdict:  # fmt: skip
    """What was asked for needs a GPU, and a version that is shown says for what torch was built."""
    return torch is None and other_way is None and {"said": said.id}


@rule("binary-arch-missing", "likely")
def engine_of_ggml_has_no_code(
    _log: Symptom = seen("ggml-log-shown"), _said: Symptom = seen("no-kernel-image"), torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The last word is CUDA's; the lines before it are of an engine that is no torch."""
    return torch is None


# -- containers
@rule("container-without-gpu", "likely")
def its_container_was_started_without_gpus(
    said: Symptom = seen(*_NO_GPU), world: World = one(gpu_requested=False), asked: World | None = one(gpu_requested=True),
    rocm: Symptom | None = seen("rocm-named-in-lower-case"), amd: Gpu | None = one(vendor="amd", integrated=False), cpu: Symptom | None = seen("torch-cpu-version-told"),
    mac: Symptom | None = seen(*MACS), card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The command or file that starts the container asks for no GPU, and the program in it finds none.

    Who only says that it computes on the processor may be meant to, where nobody names a card.
    """
    vendor = "amd" if rocm is not None or amd is not None else "nvidia"
    alone = asked is None and cpu is None and mac is None
    meant = said.id in _TORCH_ON_CPU and card is None
    return alone and not meant and bool(world.container) and {"said": said.id, "vendor": vendor}


@rule("mps-inside-linux-container", "likely")
def server_in_a_container_of_a_mac(
    said: Symptom = seen("ollama-finds-no-gpu", "ollama-computes-on-cpu", "llama-told-of-layers-and-no-gpu"), _world: World = one(gpu_requested=False), mac: Symptom = seen(*MACS),
) -> Verdict:  # fmt: skip
    """Containers on a Mac run in a Linux guest, which has no Metal."""
    return {"said": said.id, "mac": mac.id}


# -- masks
@rule("cuda-visible-devices-wrong", "likely")
def service_hides_every_card(
    said: Symptom = seen("ollama-finds-no-gpu", "ollama-computes-on-cpu", "torch-no-cuda-gpus", "cuda-no-device"), mask: Variable = one(name=(CUDA_MASK, "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")),
) -> Verdict:  # fmt: skip
    """The server's own settings name a device that no machine has, and it finds no card."""
    return mask.value == "-1" and {"said": said.id, "name": mask.name, "value": mask.value}


@rule("cuda-visible-devices-wrong", "likely")
def number_beyond_those_that_are_counted(said: Symptom = seen("yolo-counts-fewer")) -> Verdict:
    """Devices are counted from 0: the number that was asked for lies beyond the last."""
    return int(said.asked) >= int(said.count) and {"name": CUDA_MASK, "count": said.count}


# -- memory
@rule("oom-model-too-large", "likely")
def program_was_refused_memory(
    said: Symptom = seen(*_REFUSED), full: Symptom | None = seen(*OUT, "context-out-of-memory", "nvml-version-mismatch"), holder: Symptom | None = seen("nvidia-smi-lists-holder", "program-of-the-card-runs-for-long"),
    gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """Its own message, without figures; what it asked for is mostly its own weights."""
    return full is None and holder is None and not (gpu is not None and _taken(gpu)) and {"said": said.id}


@rule("gpu-memory-held-by-others", "likely")
def program_was_refused_on_a_card_that_is_taken(
    said: Symptom = seen(*_REFUSED), gpu: Gpu = one(vendor="nvidia"), full: Symptom | None = seen(*OUT)
) -> Verdict:
    """The same where nvidia-smi shows that most of the card is in use."""
    return full is None and _taken(gpu) and {"said": said.id, "severity": "error"}


def _taken(gpu: Gpu) -> bool:
    used, whole = gpu.get("memory_used"), gpu.get("vram")
    return bool(used and whole) and used > 0.8 * whole


@rule("oom-model-too-large", "likely")
def memory_of_an_intel_card_is_full(said: Symptom = seen("xpu-out-of-memory-figures")) -> Verdict:
    """torch for Intel tells no free memory; what it holds nearly fills the card."""
    held = (size(said.allocated) or 0) + (size(said.slack) or 0)
    return held + (size(said.wanted) or 0) > (size(said.total) or 0) - GIB / 2 and not _in_pieces(said)


@rule("oom-fragmentation", "likely")
def memory_of_an_intel_card_lies_in_pieces(said: Symptom = seen("xpu-out-of-memory-figures")) -> Verdict:
    """What it holds and does not use would have done."""
    return _in_pieces(said)


def _in_pieces(said: Symptom) -> bool:
    slack = size(said.slack) or 0
    return slack >= (size(said.wanted) or 0) and slack >= 0.12 * (size(said.total) or 0)


@rule("oom-model-too-large", "likely")
def message_is_cut_after_what_is_free(
    said: Symptom = seen("torch-out-of-memory-cut"),
    full: Symptom | None = seen("torch-out-of-memory-figures", "other-process-holds-memory"),
) -> Verdict:
    """The first sentence alone: less is free than was asked for; whose the rest is, it does not tell."""
    return full is None and (size(said.free) or 0) < (size(said.wanted) or 0)


@rule("oom-model-too-large", "possible")
def message_is_cut_after_what_was_wanted(said: Symptom = seen("torch-out-of-memory-start")) -> Verdict:
    """Less still: what was asked for."""
    return bool(said.wanted) and not Figures(said).told


# -- contexts
@rule("gpu-memory-held-by-others", "likely")
def no_room_for_a_context(said: Symptom = seen("ollama-context-by-number", code="2")) -> Verdict:
    """A context takes little: what is left of the card is less."""
    return {"said": said.id, "severity": "error"}


@rule("compute-mode-exclusive", "likely")
def card_lets_no_second_program_in(said: Symptom = seen("ollama-context-by-number", code="46")) -> Verdict:
    """46: the card is taken, and its mode lets one program in."""
    return {"said": said.id}


@rule("uvm-broken-after-suspend", "likely")
def server_gets_no_context_for_an_unknown_error(
    said: Symptom = seen("ollama-context-by-number", code="999"),
) -> Verdict:
    """CUDA started once and can no more, as after a sleep of the machine; in a container its rules may be the reason."""
    return not said.place.world.startswith("container")
