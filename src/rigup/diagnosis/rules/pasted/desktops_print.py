"""Macs and Intel's GPUs: what their programs' own words tell beside a version."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.apple import is_older
from rigup.knowledge.cuda import version_key
from rigup.knowledge.wheels import wheels
from rigup.machine.kinds import Platform, Symptom, Torch, World


@rule("cpu-only-torch", "likely")
def weights_of_intels_card_and_torch_of_another_maker(
    said: Symptom = seen("xpu-weights-and-no-xpu"), torch: Torch = one()
) -> Verdict:
    """What was stored on Intel's GPU is loaded by a torch whose version names another backend."""
    local = str(torch.get("version")).partition("+")[2]
    return local.startswith(("cpu", "cu", "rocm")) and {"have": torch.version, "said": said.id}


@rule("mps-blocked-by-sandbox", "possible")
def engine_of_apples_finds_no_metal(
    said: Symptom = seen("metal-not-created", "metal-device-null", "mlx-takes-from-an-empty-list-of-devices"), elsewhere: Platform | None = one(system=("linux", "windows")), guest: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A Mac has a GPU: who finds none is kept from it."""
    virtual = guest is not None and bool(guest.get("hypervisor"))
    return elsewhere is None and not virtual and {"said": said.id}


# -- Intel
_NO_DEVICE = ("xpu-none", "xpu-none-in-small-letters", "dpcpp-counts-none", "sycl-finds-no-device", "sycl-error-device-not-found", "llama-finds-no-sycl-device", "sycl-list-is-empty")  # fmt: skip


@rule("container-without-gpu", "likely")
def container_of_openvino_without_the_card(
    said: Symptom = seen(*_NO_DEVICE, "openvino-finds-no-gpu", "openvino-finds-no-platform"), world: World = one(gpu_requested=False),
    asked: World | None = one(gpu_requested=True),
) -> Verdict:  # fmt: skip
    """The command that starts the container names no device, and the program in it finds none."""
    return asked is None and bool(world.container) and {"option": "--device=/dev/dri", "said": said.id}


@rule("cuda-visible-devices-wrong", "likely")
def selector_lets_no_device_through(
    mask: Symptom = seen("sycl-lists-what-a-variable-lets-through"), _said: Symptom = seen(*_NO_DEVICE)
) -> Verdict:
    """SYCL shows what the variable names, and that is nothing: an index that no device has."""
    value = str(mask.get("value") or mask.get("set"))
    number = value.rpartition(":")[2]
    return number.isdigit() and int(number) > 0 and {"name": "ONEAPI_DEVICE_SELECTOR", "value": value}


@rule("cuda-visible-devices-wrong", "likely")
def level_zero_is_told_of_a_device_that_is_not_there(
    mask: Symptom = seen("level-zero-is-given-a-later-device"), _said: Symptom = seen(*_NO_DEVICE)
) -> Verdict:
    """Level Zero counts from 0; what was named lies beyond the last, for none is seen."""
    return {"name": "ZE_AFFINITY_MASK", "value": mask.value}


@rule("igpu-visible-beside-dgpu", "likely")
def engine_uses_the_processors_graphics_by_sycl(
    weights: Symptom = seen("weights-on-a-sycl-device", "sycl-devices-of-two-platforms"), small: Symptom = seen("sycl-device-inside-a-processor"), _card: Symptom = seen("sycl-device-on-a-card"),
    failed: Symptom = seen("sycl-memory-refused", "sycl-devices-of-two-platforms"),
) -> Verdict:  # fmt: skip
    """Of a card and the graphics beside it the engine took both, and it ends."""
    same = weights.id == "sycl-devices-of-two-platforms" or weights.index == small.index
    return same and {"igpu": small.name, "said": failed.id, "severity": "error"}


# -- Macs
_OF_MLX = ("mlx", "mlx-metal", "mlx-lm", "mlx-vlm", "mlx-whisper")


@rule("mps-macos-too-old", "likely")
def mlx_has_no_wheel_for_this_system(
    said: Symptom = seen("pip-no-version", "pip-no-distribution"), platform: Platform = one(system="macos")
) -> Verdict:
    """MLX is made for newer systems: pip finds none."""
    name = str(said.get("name")).lower().replace("_", "-")
    wanted = sorted((row.macos for row in wheels("mlx") if row.macos), key=version_key)
    older = name in _OF_MLX and bool(wanted) and is_older(platform.version, wanted[0])
    return older and {"minimum": wanted[0], "have": platform.version}


@rule("wsl-windows-too-old")
def kernel_of_wsl_wants_an_update(
    said: Symptom = seen("wsl-kernel-wants-an-update", "wsl-wants-its-kernel-in-words"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """Windows's own word; where torch computes by now, the update was made."""
    return works is None and said.values()
