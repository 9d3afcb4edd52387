"""What runs on a Mac, and where: programs for Intel's processors, shut in, in a Linux beside it."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.apple.metal import NOT_THERE, OF_APPLE_ALONE
from rigup.diagnosis.rules.pasted.heard import CONTAINERS_TOLD, OLLAMA_SERVED, TORCH_ON_PROCESSOR
from rigup.diagnosis.rules.told import MACS
from rigup.machine.kinds import Cpu, Gpu, Platform, Symptom, Torch, World

_CHIPS = ("apple-chip-named", "apple-gpu-cores-shown", "apple-chip-in-words", "apple-chip-in-brackets")
_FOR_INTEL = (
    "uname-answers-intel", "build-set-up-for-intel", "compiler-for-intel-macs", "interpreter-for-intel-listed",
    "uv-python-for-intel-macs", "wheel-for-intel-macs-fetched", "otool-answers-intel",
)  # fmt: skip
_BOXES = (
    "sandbox-named", "sandbox-variable-named", "sandbox-option-named", "sandbox-profile-speaks-of-devices",
    "sandbox-profile-denies-what-it-does-not-name",
)  # fmt: skip
_MLX = ("mlx-in-words", "mlx-in-capitals")
_NO_GPU = ("ollama-finds-no-gpu", "ollama-computes-on-cpu", "llama-told-of-layers-and-no-gpu", *NOT_THERE)
_MADE_LATER = ("torch", "torchvision", "torchaudio", *OF_APPLE_ALONE)  # what has ended for Intel's Macs, or never was


# -- mps-x86-python-under-rosetta
@rule("mps-x86-python-under-rosetta", "likely")
def tools_are_built_for_another_processor(
    said: Symptom = seen(*_FOR_INTEL), chip: Gpu | None = one(vendor="apple"), named: Symptom | None = seen(*_CHIPS),
    elsewhere: Platform | None = one(system=("linux", "windows")), engine: Symptom | None = seen(*CONTAINERS_TOLD), native: Torch | None = one(mps_available=True),
) -> Verdict:  # fmt: skip
    """The chip is Apple's, and a tool beside it answers, builds or fetches for Intel's; in a container it would be the image."""
    apple = chip is not None or named is not None
    return apple and elsewhere is None and engine is None and native is None and {"chip": chip and chip.get("name"), "seen": said.id}  # fmt: skip


@rule("mps-x86-python-under-rosetta", "likely")
def interpreter_says_intel_on_apples_own_system(
    said: Symptom = seen("python-says-intel", "arch-answers-i386", "conda-for-intel-macs"), editor: Symptom | None = seen("editor-on-an-apple-chip"), other: Symptom | None = seen("python-says-arm"),
    system: Platform | None = one(system="macos"), engine: Symptom | None = seen(*CONTAINERS_TOLD), elsewhere: Platform | None = one(system=("linux", "windows")),
) -> Verdict:  # fmt: skip
    """The editor's own kernel is one for Apple's chips, or another Python of the Mac says so: this one is for Intel's."""
    apple = editor is not None or (other is not None and (system is not None or said.id == "arch-answers-i386"))
    return apple and engine is None and elsewhere is None and {"chip": None, "seen": said.id}


@rule("mps-x86-python-under-rosetta", "likely")
def resolver_asks_for_intels_macs_on_an_apple_chip(
    said: Symptom = seen("uv-no-platform-tag", "uv-other-platform-only"), chip: Gpu | None = one(vendor="apple"), named: Symptom | None = seen(*_CHIPS),
) -> Verdict:  # fmt: skip
    """uv names what its Python takes, which is Intel's, and the chip is Apple's."""
    apple = chip is not None or named is not None
    return apple and _of_intels_mac(said) and {"chip": chip and chip.get("name"), "seen": said.have}


@rule("mps-x86-python-under-rosetta", "possible")
def resolver_asks_for_intels_macs(
    said: Symptom = seen("uv-no-platform-tag", "uv-other-platform-only"), cpu: Cpu | None = None
) -> Verdict:
    """Which chip it is nobody tells; Intel's Macs are older than most that ask for these."""
    intel = cpu is not None and "Intel" in str(cpu.get("model"))
    name = str(said.get("name")).lower().replace("_", "-")
    return not intel and name in _MADE_LATER and _of_intels_mac(said) and {"chip": None, "seen": said.have}


def _of_intels_mac(said: Symptom) -> bool:
    return re.fullmatch(r"macosx_\d{2}_\d{1,2}_x86_64", str(said.get("have"))) is not None


# -- mps-blocked-by-sandbox
@rule("mps-blocked-by-sandbox", "likely")
def sandbox_and_an_empty_list_of_devices(
    said: Symptom = seen("first-of-an-empty-list-taken"), _mlx: Symptom = seen(*_MLX), box: Symptom = seen(*_BOXES),
    elsewhere: Platform | None = one(system=("linux", "windows")),
) -> Verdict:  # fmt: skip
    """MLX takes the first of Metal's devices: the list is empty where a sandbox lets no process open the GPU."""
    return elsewhere is None and {"said": said.id, "box": box.id}


@rule("mps-blocked-by-sandbox", "possible")
def mlx_and_an_empty_list_of_devices(
    said: Symptom = seen("first-of-an-empty-list-taken"), _mlx: Symptom = seen(*_MLX), elsewhere: Platform | None = one(system=("linux", "windows")),
) -> Verdict:  # fmt: skip
    """A Mac has a GPU: who is shown an empty list is kept from it."""
    return elsewhere is None and {"said": said.id}


@rule("mps-blocked-by-sandbox", "likely")
def profile_is_shown_and_no_metal(
    box: Symptom = seen("sandbox-profile-speaks-of-devices", "sandbox-profile-denies-what-it-does-not-name"),
    said: Symptom = seen("metal-not-created", "metal-device-null", "mps-version-or-device", "mps-wants-newer-macos"),
) -> Verdict:  # fmt: skip
    """The profile by which a process was shut in stands beside Metal's refusal."""
    return {"said": said.id, "box": box.id}


# -- mps-inside-linux-container
@rule("mps-inside-linux-container", "likely")
def program_in_a_container_asked_for_it(
    asked: Symptom = seen("mps-asked"), said: Symptom = seen(*NOT_THERE), _log: Symptom = seen("compose-log"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The container's log names the device; the error was kept in another file."""
    return nvidia is None and asked.place.world.startswith("container") and {"said": said.id}


@rule("mps-inside-linux-container", "likely")
def image_is_built_with_a_wish_for_it(
    said: Symptom = seen(*NOT_THERE), _build: Symptom = seen("docker-build-log", "step-of-an-images-build", "step-of-an-images-build-in-older-words"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Images are built in a Linux, and MPS is a part of macOS."""
    return nvidia is None and {"said": said.id}


@rule("mps-inside-linux-container", "likely")
def program_in_a_container_of_a_mac_computes_on_the_processor(
    said: Symptom = seen(*TORCH_ON_PROCESSOR, "ollama-keeps-the-model-on-the-processor"), mac: Symptom = seen(*MACS), nvidia: Gpu | None = one(vendor="nvidia"), native: Torch | None = one(mps_available=True),
) -> Verdict:  # fmt: skip
    """The log is a container's, the machine a Mac."""
    return nvidia is None and native is None and said.place.world.startswith("container") and {"said": said.id, "mac": mac.id}  # fmt: skip


@rule("mps-inside-linux-container", "likely")
def torch_was_asked_in_a_container_of_a_mac(
    torch: Torch = one(mps_available=False), _asked: Symptom = seen("mps-asked"), mac: Symptom = seen("mac-named", *_CHIPS), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The question was put inside a container, and the machine is a Mac."""
    inner = torch.place.world.startswith("container")
    return nvidia is None and inner and not torch.get("available") and {"said": mac.id}


@rule("mps-inside-linux-container", "likely")
def guest_on_a_mac_finds_no_gpu(
    said: Symptom = seen(*_NO_GPU), _chip: Symptom = seen(*_CHIPS), platform: Platform = one(system="linux", architecture="aarch64"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A Linux for ARM on a machine with Apple's chip: one that is not started by itself there, as Asahi is, is a guest."""
    native = "asahi" in str(platform.get("release"))
    return nvidia is None and not native and platform.get("wsl") is None and {"said": said.id}


@rule("mps-inside-linux-container", "likely")
def podmans_machine_has_no_metal(
    machine: Symptom = seen("container-machine-of-a-mac-by-podman"), said: Symptom = seen(*_NO_GPU),
) -> Verdict:  # fmt: skip
    """The engine's own machine is a Linux on a Mac, and the server finds no GPU in it."""
    return {"said": said.id, "machine": machine.id}


@rule("mps-inside-linux-container", "possible")
def podmans_machine_was_asked_for_devices(
    machine: Symptom = seen("container-machine-of-a-mac-by-podman"), _server: Symptom = seen("ollama-named"), _world: World = one(gpu_requested=True),
    served: Symptom | None = seen(*OLLAMA_SERVED, "ggml-vulkan-named"),
) -> Verdict:  # fmt: skip
    """What it hands on is a display made up for the guest; nothing tells that the server computes on it."""
    return served is None and {"said": machine.id}


# -- mps-op-not-implemented
@rule("mps-op-not-implemented", "likely")
def complains_of_what_falls_back(
    said: Symptom = seen("mps-operator-falls-back"), _slow: Symptom = seen("slow-in-words")
) -> Verdict:
    """An operator goes to the processor and back, and somebody finds it slow."""
    return {"operator": said.get("operator"), "said": said.id}


@rule("mps-op-not-implemented", "possible")
def xla_has_no_such_op_for_metal(
    said: Symptom = seen("xla-legalizes-no-such-op", "tensorflow-places-an-op-nowhere"), mac: Symptom | None = seen("macos-named", *_CHIPS),
    chip: Gpu | None = one(vendor="apple"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The plug-ins for Metal lack operators, and say so in XLA's or TensorFlow's words."""
    return nvidia is None and bool(mac or chip) and {"operator": said.get("operator"), "said": said.id}


# -- mps-oom-watermark
@rule("mps-oom-watermark", "likely")
def model_of_mlx_is_larger_than_the_set(
    told: Symptom = seen("mlx-model-beside-the-set"), _failed: Symptom = seen("mlx-command-failed")
) -> Verdict:
    """mlx-lm prints what the model needs beside what Metal recommends."""
    return float(told.held) > float(told.most) and {"held": told.held, "most": told.most}
