"""AMD's causes by what its stack and the programs on it print: servers, runtimes, frameworks, containers."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.rocm import MASKS
from rigup.knowledge import wsl
from rigup.machine.kinds import (
    Account,
    DeviceNode,
    Gpu,
    KernelModule,
    KfdNode,
    ModuleParameter,
    PciDevice,
    Platform,
    Symptom,
    Torch,
    Variable,
    World,
)

_MIB, _PAGE = 1 << 20, 4096  # bytes of the units that the kernel's parameters have
_SERVED = ("ollama-computes-on-rocm", "ollama-amdgpu-supported", "ollama-compute")
_DENIED = ("kfd-permission-denied", "kfd-permission-denied-errno", "kfd-group-not-held", "kfd-group-check-failed")
_GUEST = ("wsl-kernel-named", "wsl-detected", "wsl-prompt", "wsl-device-named", "wsl-lived-in", "wsl-in-small-letters")


# -- ollama
@rule("igpu-vram-counted-without-gtt", "likely")
def small_graphics_are_skipped(
    said: Symptom = seen("ollama-small-igpu-skipped"), served: Symptom | None = seen(*_SERVED), card: Gpu | None = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """The server leaves graphics with a small carve-out alone; beside a card on which it computes nobody misses them."""
    return served is None and card is None and {"said": said.id, "free": said.get("total")}


@rule("cuda-visible-devices-wrong", "likely")
def every_device_is_left_out_on_request(
    said: Symptom = seen("ollama-left-out-on-request"), _none: Symptom = seen("ollama-no-amd-device-left"), served: Symptom | None = seen(*_SERVED),
) -> Verdict:  # fmt: skip
    """What the variable names is none of what is there."""
    return served is None and {"value": said.get("wanted"), "name": "ROCR_VISIBLE_DEVICES"}


@rule("container-without-gpu", "likely")
def composed_without_devices_and_on_the_processor(
    box: World = one(gpu_requested=False), said: Symptom = seen("ollama-computes-on-processor", "ollama-no-amd-device-left"),
    image: Symptom = seen("rocm-image-composed", "rocm-image-run"),
) -> Verdict:  # fmt: skip
    """An image for ROCm, a description that hands no node in, and a server that finds none."""
    return bool(box.get("container")) and {"vendor": "amd", "said": said.id, "image": image.get("image")}


@rule("cuda-visible-devices-wrong", "likely")
def mask_names_more_than_is_listed(
    mask: Variable = one(name=MASKS, at="shell container"), _one: Symptom = seen("rocminfo-lists-one-chip"), torch: Torch | None = one(available=False),
    said: Symptom | None = seen("torch-no-cuda-gpus", "hip-no-device"),
) -> Verdict:  # fmt: skip
    """rocminfo lists one card, whose number is nought; the variable names another."""
    numbers = [part.strip() for part in str(mask.get("value") or "").split(",") if part.strip()]
    beyond = bool(numbers) and all(number.isdigit() and int(number) > 0 for number in numbers)
    return beyond and (torch is not None or said is not None) and {"value": mask.value, "name": mask.name}


# -- containers and rights
@rule("container-render-group-mismatch", "likely")
def group_is_nobodys_there(said: Symptom = seen("kfd-group-check-failed", group=("nogroup", "nobody"))) -> Verdict:
    """rocminfo asks who belongs to the node's group, and a user namespace does not know that group."""
    return {"group": said.get("group")}


@rule("container-render-group-mismatch", "likely")
def node_belongs_to_nobody(
    node: DeviceNode = one(path="/dev/kfd", group=("nogroup", "nobody", "nfsnobody")), who: Account | None = None
) -> Verdict:
    """A listing from within a user namespace: the host's group was not mapped into it.

    Of an account whose groups are known other rules judge: it may have kept the host's, which are nobody's there too.
    """
    return who is None and node.mode[8:9] != "w" and {"group": node.group}


@rule("container-render-group-mismatch", "likely")
def refused_in_a_container_that_was_entered(
    error: Symptom = seen(*_DENIED), entered: Symptom = seen("container-entered", "lxc-configured")
) -> Verdict:
    """Permission denied, by a program that was started in a container."""
    return {"said": error.id, "where": entered.id}


@rule("container-without-gpu", "likely")
def node_is_not_there_in_a_container_that_was_entered(
    error: Symptom = seen("kfd-not-there"), entered: Symptom = seen("container-entered", "lxc-configured")
) -> Verdict:
    """No such file, by a program that was started in a container."""
    return {"vendor": "amd", "said": error.id, "where": entered.id}


@rule("container-without-gpu", "possible")
def engine_does_not_let_the_node_be_opened(
    error: Symptom = seen("kfd-not-permitted"), entered: Symptom | None = seen("container-entered", "lxc-configured", "kfd-handed-in")
) -> Verdict:  # fmt: skip
    """The node is there and the system refuses it to everybody: an engine's list of devices does not have it."""
    return (entered is not None or inside(error)) and {"vendor": "amd", "said": error.id}


# -- the module
@rule("kernel-module-not-built", "likely")
def headers_were_missing_for_amds_files(
    _files: Symptom = seen("dkms-loads-amds-files", "package-of-amds-module-set-up", "crash-report-of-amds-module"),
    said: Symptom = seen("dkms-headers-missing", "kernel-build-folder-missing", "dkms-build-failed-unnamed"), guest: Symptom | None = seen(*_GUEST),
) -> Verdict:  # fmt: skip
    """dkms names the module in one line and what it misses in another."""
    return guest is None and {"kernel": said.get("kernel"), "module": "amdgpu"}


@rule("kernel-module-not-built", "likely")
def module_is_there_for_another_kernel(
    said: Symptom = seen("rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver", "amd-smi-drivers-not-loaded", "amdsmi-driver-not-loaded", "kfd-not-there"),
    module: KernelModule = one(name="amdgpu"), platform: Platform = one(), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
) -> Verdict:  # fmt: skip
    """ROCm's tools miss the module, and what was built is for other kernels than the one that runs."""
    others = bool(module.built_for) and platform.release not in module.built_for
    return others and loaded is None and not platform.get("wsl") and {"kernel": platform.release, "said": said.id}


@rule("wsl-rocm-release-not-supported", "likely")
def module_is_asked_for_in_a_wsl(
    said: Symptom = seen("dkms-loads-amds-files", "package-of-amds-module-set-up", "dpkg-leaves-amds-module", "dkms-package-failed"),
    guest: Symptom = seen(*_GUEST),
) -> Verdict:  # fmt: skip
    """What is installed is ROCm for a Linux of its own: Windows's kernel takes no such module, and what AMD made for WSL brings none."""
    ours = said.id != "dkms-package-failed" or str(said.get("package")).startswith("amdgpu")
    return ours and {"said": said.id, "where": guest.id}


@rule("amdgpu-not-loaded", "likely")
def card_was_not_started_for_want_of_firmware(
    _file: Symptom = seen("amdgpu-firmware-file-missing"),
    said: Symptom = seen("amdgpu-init-fatal", "amdgpu-probe-failed"),
    node: KfdNode | None = None,
    bound: PciDevice | None = one(driver="amdgpu"),
) -> Verdict:
    """The driver gave the card up: a file of its firmware is not there. Where it has the card now, that was another start."""
    return node is None and bound is None and {"said": said.id}


@rule("bios-bar-settings", "likely")
def driver_got_no_room_for_the_card(_said: Symptom = seen("amdgpu-probe-failed", code="12")) -> Verdict:
    """ENOMEM at the very start of a card: its memory, or its registers, found no place below the bridge."""
    return True


@rule("amdgpu-not-loaded", "possible")
def opencl_has_a_platform_and_no_device(
    said: Symptom = seen("clinfo-of-amd-lists-nothing"), loaded: KernelModule | None = one(name="amdgpu", loaded=True), node: KfdNode | None = None,
    kfd: DeviceNode | None = one(path="/dev/kfd"), other: Symptom | None = seen(*_DENIED, "kfd-added-device", "rocminfo-with-sudo-lists", "root-sees-the-gpu", *_GUEST),
    guest: Platform | None = one(wsl=2),
) -> Verdict:  # fmt: skip
    """AMD's OpenCL is installed and finds no device: the kernel's side is missing, or closed."""
    shown = loaded is not None or node is not None or kfd is not None or other is not None
    return not shown and guest is None and not inside(said) and {"said": said.id}


@rule("vm-without-gpu-passthrough", "likely")
def disk_is_a_hypervisors(
    _disk: Symptom = seen("disk-of-a-hypervisor"), said: Symptom = seen("rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver"), gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """The kernel's log shows a disk that a hypervisor makes up, and AMD's tools find nothing."""
    return gpu is None and {"said": said.id}


@rule("kfd-gpu-not-supported", "likely")
def processor_alone_beside_a_chip_it_never_had(
    chip: Symptom = seen("kfd-never-had-the-chip"), said: Symptom = seen("rocminfo-processor-only"), served: Symptom | None = seen("kfd-added-device"),
    guest: Symptom | None = seen("wsl-detected"), listed: Gpu | None = one(seen_by=("rocminfo", "rocm_agent_enumerator")),
) -> Verdict:  # fmt: skip
    """rocminfo answers and lists the processor only; the card is of an architecture on none of amdkfd's lists."""
    return served is None and guest is None and listed is None and {"chip": chip.get("chip"), "said": said.id}


# -- WSL
@rule("wsl-rocm-release-not-supported", "possible")
def runtime_fails_in_a_wsl_for_a_card_that_it_may_have(
    _wsl: Symptom = seen("wsl-detected"), error: Symptom = seen("hsa-out-of-resources", "hsa-init-failed", "wsl-no-adapter"), card: Gpu = one(vendor="amd"),
    refused: Symptom | None = seen("wsl-gpu-unsupported", "rocminfo-processor-only"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A card that WSL leaves out would be called unsupported; what is left is a release that was not made for it."""
    small = wsl.chip_without_wsl(card.get("isa") or "") or card.get("integrated") is True
    return refused is None and other is None and not small and {"said": error.id}


# -- memory that processor and graphics share
@rule("apu-gtt-limit-not-applied", "likely")
def mapped_total_is_less_than_was_wished(
    wish: ModuleParameter = one(module=("amdgpu", "ttm", "amdttm"), name=("gttsize", "pages_limit")), gpu: Gpu = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """sysfs has another total than the one that the kernel's line or a file of modprobe's asks for."""
    told = str(wish.get("configured") or "")
    wished = int(told) * (_MIB if wish.name == "gttsize" else _PAGE) if told.isdigit() else 0
    return wished > 1.2 * gpu.gtt and {"name": wish.name}
