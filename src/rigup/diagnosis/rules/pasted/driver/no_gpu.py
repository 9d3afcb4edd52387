"""No card in the machine, one that is switched off, or one that the firmware gave no room."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.device_manager import DEVICE, LAPTOP, NVIDIA_NAMED, code_of
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT
from rigup.diagnosis.rules.pasted.heard import (
    CUDA_UNKNOWN,
    GUESTS_SHOWN,
    MADE_UP_DISPLAYS,
    NVRM_SAYS_WHY,
    ROCM_FINDS_NONE,
    SWITCHED_OFF,
    TORCH_ASKED,
    TORCH_KNOWN,
)
from rigup.diagnosis.rules.pasted.reckoned import same_address
from rigup.diagnosis.rules.told import LISTS_WITHOUT, MACS, NO_DEDICATED, NOTEBOOKS, Told
from rigup.machine.kinds import Driver, Gpu, GraphicsSwitch, PciDevice, Platform, Symptom, Torch, Variable, World

_AMD = "1002"
_SCREENS = ("0300", "0302", "0380")
_CLOUD = (
    "cloud-machine-without-gpu",
    "cloud-machine-without-gpu-small",
    "cloud-machine-without-gpu-by-dashes",
    "cloud-machine-without-gpu-of-azure",
)
_ASKED = (
    "container-no-wsl-adapter", "torch-not-compiled-with-cuda", "torch-not-linked-with-cuda", "torch-loads-for-cuda", "traceback-ends-in-cuda-start",
    "session-ends-in-cuda-start", "traceback-ends-in-cuda-call", "nvidia-installer-no-gpu", "webui-torch-no-gpu",
)  # fmt: skip


def _told(torch: Torch | None) -> bool:
    """Whether more is known of torch than that it finds nothing."""
    return bool(torch and (torch.get("available") or torch.get("cuda") or torch.get("hip") or torch.knows("version")))


# -- no-gpu-present
@rule("no-gpu-present", "likely")
def no_radeon_on_the_bus(
    said: Symptom = seen("radeontop-finds-no-radeon"), error: Symptom = seen(*ROCM_FINDS_NONE), card: PciDevice | None = one(vendor_id=_AMD), gpu: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """radeontop goes through the bus, and a program was to compute on a Radeon."""
    return card is None and gpu is None and not inside(said) and {"said": error.id, "severity": "error"}


@rule("no-gpu-present", "likely")
def windows_shows_another_makers_card(
    said: Symptom = seen("wsl-adapter-of-another-maker"), ours: Symptom | None = seen("wsl-adapter-of-nvidia"), gpu: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """NVIDIA's container tool looks at each card that Windows shows; all of them are another maker's."""
    return ours is None and gpu is None and {"driver": said.driver, "severity": "error"}


@rule("no-gpu-present", "likely")
def no_adapter_but_another_makers(
    said: Symptom = seen("container-no-wsl-adapter"), other: Gpu = one(vendor=("amd", "intel")), gpu: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """As above, where the person names the card and the tool names none."""
    return gpu is None and {"said": said.id, "card": other.get("name"), "severity": "error"}


@rule("no-gpu-present", "possible")
def library_of_the_driver_is_missing_and_no_card_is_named(
    said: Symptom = seen("nvcuda-not-found"), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*NVIDIA_NAMED), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same where nothing shows that there is a card."""
    return driver is None and card is None and named is None and {"said": said.id, "severity": "error"}


@rule("no-gpu-present", "possible")
def launcher_finds_none_beside_graphics_that_only_draw(
    said: Symptom = seen("webui-torch-no-gpu"), own: Symptom = seen("intel-drawing-chip-named"), card: Gpu | None = one(vendor=("nvidia", "amd")),
    named: Symptom | None = seen(*NVIDIA_NAMED),
) -> Verdict:  # fmt: skip
    """The only graphics that anybody names are a processor's own."""
    return card is None and named is None and {"said": said.id, "own": own.id, "severity": "error"}


@rule("no-gpu-present", "likely")
def displays_are_listed_and_none_is_nvidias(
    _looked: Symptom = seen(*LISTS_WITHOUT), wish: Symptom = seen("module-finds-no-device", "torch-not-compiled-with-cuda", "torch-loads-for-cuda", "ollamas-installer-finds-no-card-on-the-bus", "jax-has-no-platform-of-gpus", *NO_CUDA, *SILENT),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=("10de", "1002")), made: Symptom | None = seen(*MADE_UP_DISPLAYS, "virtio-on-the-bus"),
    platform: Platform | None = None, off: Symptom | None = seen("optimus-manager-set-to-integrated", "prime-select-says-intel", "switched-to-integrated", "bbswitch-off", "envycontrol-switched"),
) -> Verdict:  # fmt: skip
    """The bus was asked for every display, and NVIDIA's is not among them; CUDA was wanted."""
    elsewhere = inside(wish) or (platform and (platform.get("wsl") or platform.get("hypervisor")))
    return all(other is None for other in (gpu, card, made, off)) and not elsewhere and {"severity": "error"}


@rule("no-gpu-present", "likely")
def board_takes_no_card(_board: Symptom = seen("raspberry-board-named"), _wish: Symptom = seen("torch-found-no-driver"), card: PciDevice | None = one(vendor_id="10de")) -> Verdict:  # fmt: skip
    """A single-board computer, and torch for CUDA."""
    return card is None and {"severity": "error"}


@rule("no-gpu-present", "likely")
def mac_is_asked_for_nvidia(
    said: Symptom = seen("torch-found-no-driver"), platform: Platform = one(system="macos"), card: PciDevice | None = one(vendor_id=NVIDIA),
    gpu: Gpu | None = one(vendor=("nvidia", "apple")),
) -> Verdict:  # fmt: skip
    """A torch for CUDA on a Mac: no driver of NVIDIA's is there, and for years no card has been."""
    return (
        card is None
        and gpu is None
        and platform.get("architecture") != "arm64"
        and {"said": said.id, "severity": "error"}
    )


@rule("no-gpu-present", "likely")
def hosted_runner_has_no_card(
    said: Symptom = seen("cuda-driver-insufficient", "cuda-driver-insufficient-by-name", *NO_CUDA, *SILENT), runner: Symptom = seen("hosted-runner-folder", "hosted-runner-container-folder", "travis-job-named"),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = one(vendor_id=NVIDIA), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Machines that a service lends for tests have no GPU, and the toolkit's image brings CUDA's libraries all the same."""
    return gpu is None and card is None and driver is None and {"said": said.id, "kind": runner.id, "severity": "error"}


@rule("no-gpu-present", "possible")
def report_in_json_lists_none(
    _report: Symptom = seen("report-in-json-has-no-nvidia"), said: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", "webui-torch-no-gpu"), gpu: Gpu | None = None,
    card: PciDevice | None = None,
) -> Verdict:  # fmt: skip
    """The web ui's own report looked for a driver and for cards of NVIDIA's, and has neither."""
    return gpu is None and card is None and {"said": said.id, "severity": "error"}


@rule("no-gpu-present", "likely")
def cuda_is_wanted_of_a_mac(
    said: Symptom = seen("torch-not-compiled-with-cuda", "torch-not-linked-with-cuda"), mac: Symptom | None = seen(*MACS), platform: Platform | None = None,
    card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """No build for Macs has CUDA: the program asks for the wrong device, which is no fault of the machine."""
    system = platform.get("system") if platform else "macos" if mac else None
    return system == "macos" and card is None and {"said": said.id}


@rule("no-gpu-present", "likely")
def notebook_without_an_accelerator(
    where: Symptom = seen(*NOTEBOOKS), said: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", "cuda-no-device", "cuda-no-device-constant", "driver-asked-in-words"),
    gpu: Gpu | None = one(vendor="nvidia"), driver: Driver | None = None, mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
) -> Verdict:  # fmt: skip
    """A hosted notebook has a GPU only where its settings ask for one."""
    return gpu is None and driver is None and mask is None and {"said": said.id, "where": where.id, "severity": "error"}


@rule("no-gpu-present", "possible")
def notebook_in_which_torch_sees_none(
    where: Symptom = seen(*NOTEBOOKS), torch: Torch = one(available=False), gpu: Gpu | None = None, driver: Driver | None = None,
    other: Symptom | None = seen("torch-driver-too-old", "torch-not-compiled-with-cuda"), mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
) -> Verdict:  # fmt: skip
    """As above, where torch says no more than that."""
    plain = "+cpu" not in str(torch.get("version")) and other is None
    return plain and gpu is None and driver is None and mask is None and {"where": where.id, "severity": "error"}


@rule("no-gpu-present", "likely")
def rented_machine_has_none(
    said: Symptom = seen(*NO_CUDA, "nvidia-installer-no-gpu", "torch-loads-for-cuda", "traceback-ends-in-cuda-start"), kind: Symptom = seen(*_CLOUD),
    gpu: Gpu | None = one(vendor="nvidia"), card: PciDevice | None = one(vendor_id=NVIDIA),
) -> Verdict:  # fmt: skip
    """Machines of such a kind are let without any GPU."""
    return gpu is None and card is None and {"said": said.id, "kind": kind.id, "severity": "error"}


@rule("no-gpu-present", "likely")
def machine_is_listed_without_a_card(
    said: Symptom = seen(*NO_CUDA, *SILENT, *_ASKED), told: Symptom = seen(*NO_DEDICATED, "display-adapters-without-a-card"),
    gpu: Gpu | None = one(vendor="nvidia"), card: PciDevice | None = one(vendor_id=NVIDIA), other: Gpu | None = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """A program asks for CUDA, and the list of what the machine has says that it has no card of its own."""
    return (
        gpu is None and card is None and other is None and not inside(said) and {"said": told.id, "severity": "error"}
    )


@rule("no-gpu-present", "likely")
def named_chip_only_draws(
    said: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", "cuda-no-device", "session-ends-in-cuda-start", "torch-loads-for-cuda", "traceback-ends-in-cuda-start", "traceback-ends-in-cuda-call"), own: Symptom = seen("intel-drawing-chip-named"),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), card: PciDevice | None = None, named: Symptom | None = seen("nvidia-geforce-named", "nvidia-tx-named", "older-generation-named"),
) -> Verdict:  # fmt: skip
    """CUDA is wanted, and the only graphics that anybody names are a processor's own."""
    return (
        gpu is None
        and card is None
        and named is None
        and not inside(said)
        and {"said": said.id, "own": own.id, "severity": "error"}
    )


@rule("no-gpu-present", "likely")
def driver_found_no_card(
    said: Symptom = seen("nvrm-finds-no-card"), why: Symptom | None = seen(*NVRM_SAYS_WHY), card: PciDevice | None = one(vendor_id=NVIDIA), gpu: Gpu | None = one(vendor="nvidia"),
    platform: Platform | None = None, other: Symptom | None = seen("nouveau-at-work-in-the-log", "nouveau-in-the-log"),
) -> Verdict:  # fmt: skip
    """NVIDIA's module was loaded and found none of its cards; the log does not show that it left one out."""
    guest = platform is not None and bool(platform.get("hypervisor"))
    return (
        all(found is None for found in (why, card, gpu, other)) and not guest and {"severity": "error", "said": said.id}
    )


@rule("no-gpu-present", "likely")
def prepared_image_finds_none_on_such_a_machine(
    kind: Symptom = seen(*_CLOUD), silent: Symptom = seen(*SILENT), card: PciDevice | None = one(vendor_id=(NVIDIA, "1002")), gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """The kind of machine that was rented has no GPU, and the driver of a prepared image finds none."""
    return card is None and gpu is None and not inside(silent) and {"severity": "error", "said": kind.id}


@rule("no-gpu-present", "possible")
def server_searches_the_library_and_no_card_is_named(
    said: Symptom = seen("ollama-searches-nvcuda-in-vain"), card: Gpu | None = None, named: Symptom | None = seen("nvidia-geforce-named", "nvidia-tx-named", "tesla-or-quadro-named"),
) -> Verdict:  # fmt: skip
    """The same where nothing shows that there is a card."""
    return card is None and named is None and {"said": said.id, "severity": "error"}


@rule("no-gpu-present", "likely")
def a_virtual_display_is_all(
    shown: Symptom = seen("system-summary-virtual-display"), _wanted: Symptom = seen(*NO_CUDA, "nvidia-smi-not-installed"), gpu: Gpu | None = None,
    card: PciDevice | None = one(vendor_id="10de"), hypervisor: Platform | None = one(hypervisor=Told(bool)),
) -> Verdict:  # fmt: skip
    """A summary of the system names the display of a virtual machine or of a server's board, and no card."""
    return gpu is None and card is None and hypervisor is None and {"severity": "error", "name": shown.name}


@rule("no-gpu-present", "possible")
def program_wants_a_gpu_and_nobody_names_one(
    said: Symptom = seen(*TORCH_ASKED), gpu: Gpu | None = None, driver: Driver | None = None, torch: Torch | None = None, world: World | None = None,
    platform: Platform | None = one(system="windows"), guest: Platform | None = one(wsl=(1, 2)), known: Symptom | None = seen(*TORCH_KNOWN),
) -> Verdict:  # fmt: skip
    """The program's word is all that there is: no card, no driver, no build of torch, no container is shown."""
    alone = all(other is None for other in (gpu, driver, world, platform, guest, known)) and not _told(torch)
    return alone and {"said": said.id, "severity": "error"}


# -- hybrid-laptop-gpu-powered-off
@rule("hybrid-laptop-gpu-powered-off", "possible")
def device_is_switched_off(
    said: Symptom = seen(*DEVICE), card: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(*NVIDIA_NAMED), laptop: Symptom | None = seen(*LAPTOP)
) -> Verdict:  # fmt: skip
    """Somebody, or a laptop's own tool, disabled it; in a laptop one that is not connected was switched off too."""
    off = code_of(said) == "22" or (code_of(said) == "45" and laptop is not None)
    return off and bool(card or named) and {"said": said.id}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def card_stays_dark_where_a_tool_switches_it(
    said: Symptom = seen("device-stays-in-d3"), tool: Symptom = seen(*SWITCHED_OFF), card: PciDevice | None = one(vendor_id="10de", class_code=_SCREENS),
) -> Verdict:  # fmt: skip
    """The kernel cannot wake the card whose power bbswitch takes and gives back."""
    ours = same_address(str(said.address), str(card.address)) if card is not None else said.driver != "amdgpu"
    return ours and {"tool": "bbswitch", "said": said.id, "asked": tool.id}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def adapter_does_not_start_after_the_tool_cut_it(
    off: Symptom = seen("bbswitch-off", "bbswitch-card-off"), said: Symptom = seen("nvrm-init-adapter-failed")
) -> Verdict:
    """bbswitch had cut the card's power in the same log, and the driver finds it as nobody left it."""
    return {"tool": "bbswitch", "said": said.id, "off": off.id}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def tool_keeps_the_card_for_guests(
    switch: GraphicsSwitch = one(mode="vfio"), said: Symptom = seen(*SILENT, *NO_CUDA, "nvidia-smi-no-devices"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """A laptop's tool gave the card to vfio-pci, and here a program wants it."""
    return works is None and not inside(said) and {"tool": switch.tool, "said": said.id}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def wrapper_put_the_card_off_the_bus(
    said: Symptom = seen("xrun-takes-the-card-off-the-bus"), _missed: Symptom = seen(*SILENT, *NO_CUDA), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """nvidia-xrun does so whenever its session ends; somebody wants the card outside of one."""
    return driver is None and {**said.values(), "tool": "nvidia-xrun"}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def wrapper_for_pictures_does_not_wake_the_card(
    wrapper: Symptom = seen("primus-runs-it"), said: Symptom = seen(*NO_CUDA, *CUDA_UNKNOWN), card: Gpu | None = one(vendor="nvidia", driver="nvidia")
) -> Verdict:  # fmt: skip
    """primus turns the second card on when a program draws; one that only computes finds it off."""
    return card is None and not inside(said) and {"said": said.id, "wrapper": "primusrun", "sign": wrapper.id}


# -- bios-bar-settings
@rule("bios-bar-settings", "likely")
def device_has_no_room(
    said: Symptom = seen(*DEVICE), card: Gpu | None = one(integrated=False), named: Symptom | None = seen(*NVIDIA_NAMED, "intel-gpu-in-words"),
) -> Verdict:  # fmt: skip
    """The firmware gave it no range of addresses that is large enough."""
    return code_of(said) == "12" and bool(card or named) and {"said": said.id, "severity": "error"}


@rule("bios-bar-settings", "likely")
def panel_shows_that_the_large_window_is_off(
    said: Symptom = seen("resizable-bar-is-off"), _card: Symptom = seen("intel-gpu-in-words")
) -> Verdict:
    """Intel's cards need it; those of others work without."""
    return {"said": said.id}


@rule("bios-bar-settings", "likely")
def large_window_has_no_address(
    said: Symptom = seen("bar-is-unassigned"), card: PciDevice = one(vendor_id="10de"), guest: Platform | None = None, inner: Symptom | None = seen(*GUESTS_SHOWN)
) -> Verdict:  # fmt: skip
    """lspci shows no address for the large window of a card in a slot."""
    virtual = inner is not None or bool(guest and guest.get("hypervisor"))
    return not virtual and not str(card.get("address", "")).startswith("0000:00:") and {"said": said.id}


@rule("bios-bar-settings", "possible")
def no_room_and_nobody_says_more(
    said: Symptom = seen("pci-bar-no-space"), guest: Platform | None = None, inner: Symptom | None = seen(*GUESTS_SHOWN, "pci-slot-powered-on"),
    works: Gpu | None = one(seen_by=("nvidia-smi", "torch", "rocminfo")),
) -> Verdict:  # fmt: skip
    """The kernel found no room for a large window; what came of it is not shown."""
    large = int(said.get("size") or said.get("size2") or "0", 16) >= 1 << 28
    return large and inner is None and works is None and not (guest and guest.get("hypervisor"))


@rule("bios-bar-settings", "possible")
def bridge_has_no_room_and_nobody_says_more(
    said: Symptom = seen("bridge-gets-no-large-window"), guest: Platform | None = None, inner: Symptom | None = seen(*GUESTS_SHOWN, "pci-slot-powered-on"),
    works: Gpu | None = one(seen_by=("nvidia-smi", "torch", "rocminfo")), later: Symptom | None = seen("bridge-got-its-large-window"),
) -> Verdict:  # fmt: skip
    """The same of the port above the card, for which the kernel tries again; that it went well would stand in the log."""
    large = int(said.get("size") or "0", 16) >= 1 << 32  # ports without a card ask for less
    return all(other is None for other in (inner, works, later)) and large and not (guest and guest.get("hypervisor"))


@rule("bios-bar-settings", "possible")
def board_has_no_interrupt_for_it(
    said: Symptom = seen("nvrm-finds-no-interrupt"), guest: Platform | None = None, told: Symptom | None = seen("hypervisor-detected", "virtualisation-detected"),
) -> Verdict:  # fmt: skip
    """NVIDIA's module itself points at the firmware's settings."""
    return told is None and not (guest and guest.get("hypervisor")) and {"said": said.id}


@rule("bios-bar-settings", "likely")
def driver_got_no_room_for_the_card(_said: Symptom = seen("amdgpu-probe-failed", code="12")) -> Verdict:
    """ENOMEM at the very start of a card: its memory, or its registers, found no place below the bridge."""
    return True
