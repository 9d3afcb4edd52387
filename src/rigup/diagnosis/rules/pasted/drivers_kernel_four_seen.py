"""What threads of drivers, miners, monitors and guests show of cards that went away, that a tool keeps dark, or that never reached a guest.

A card that a program counted and no longer finds has left the bus, unless something on the machine is there to switch it off.
"""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NO_CUDA
from rigup.machine.kinds import Driver, Gpu, GraphicsSwitch, KernelModule, PciDevice, Symptom

_DARK = ("bbswitch-asked", "bbswitch-off", "bbswitch-card-off", "bbswitch-configured", "bumblebee-cannot-access")
_OTHER = ("envycontrol-switched", "switched-to-integrated", "prime-select-says-intel", "graphics-mode-is-integrated")
_GSP = ("xid-119", "gsp-rpc-timeout", "gsp-silent")
_MADE_UP = (
    "made-up-display-qxl", "made-up-display-vmware", "made-up-display-cirrus", "made-up-display-hyper-v",
    "made-up-display-virtualbox", "made-up-display-of-qemu", "made-up-display-virtio",
)  # fmt: skip
_SCREENS = ("0300", "0302", "0380")
_MUCH = 2**30


# -- lost
@rule("gpu-fell-off-bus", "likely")
def binding_calls_it_lost(
    said: Symptom = seen("nvml-gpu-lost-in-a-binding"), gsp: Symptom | None = seen(*_GSP), unmapped: Symptom | None = seen("pci-bar-no-space", "nvrm-bar-invalid"),
) -> Verdict:  # fmt: skip
    """The library's own answer, by the name that a binding gives it."""
    return gsp is None and unmapped is None and {"said": said.id}


@rule("gpu-fell-off-bus", "likely")
def counted_card_is_there_no_longer(
    counted: Symptom = seen("program-counted-cuda-devices"), gone: Symptom = seen("nvapi-finds-no-device"), said: Symptom = seen(*NO_CUDA),
) -> Verdict:  # fmt: skip
    """CUDA counted it at the start, and then neither CUDA nor the display's library knows of one."""
    return {"counted": counted.id, "gone": gone.id, "said": said.id}


# -- kept dark
def _same(address: str, other: str) -> bool:
    return address.removeprefix("0000:") == other.removeprefix("0000:")


@rule("hybrid-laptop-gpu-powered-off", "likely")
def card_stays_dark_where_a_tool_switches_it(
    said: Symptom = seen("device-stays-in-d3"), tool: Symptom = seen(*_DARK), card: PciDevice | None = one(vendor_id="10de", class_code=_SCREENS),
) -> Verdict:  # fmt: skip
    """The kernel cannot wake the card whose power bbswitch takes and gives back."""
    ours = _same(str(said.address), str(card.address)) if card is not None else said.driver != "amdgpu"
    return ours and {"tool": "bbswitch", "said": said.id, "asked": tool.id}


@rule("gpu-fell-off-bus", "likely")
def card_stays_in_d3(
    said: Symptom = seen("device-stays-in-d3"), dark: Symptom | None = seen(*_DARK, *_OTHER), switch: GraphicsSwitch | None = None,
    card: PciDevice | None = one(vendor_id=("10de", "1002"), class_code=_SCREENS),
) -> Verdict:  # fmt: skip
    """It does not come back from its sleep, and nothing is there that would have sent it to sleep for good."""
    ours = said.driver != "pci" or (card is not None and _same(str(said.address), str(card.address)))
    return dark is None and switch is None and ours and {"said": said.id}


@rule("hybrid-laptop-gpu-powered-off", "likely")
def adapter_does_not_start_after_the_tool_cut_it(
    off: Symptom = seen("bbswitch-off", "bbswitch-card-off"), said: Symptom = seen("nvrm-init-adapter-failed")
) -> Verdict:
    """bbswitch had cut the card's power in the same log, and the driver finds it as nobody left it."""
    return {"tool": "bbswitch", "said": said.id, "off": off.id}


# -- memory
@rule("gpu-memory-held-by-others", "likely")
def memory_of_a_process_that_kill_does_not_find(
    said: Symptom = seen("kill-finds-no-process"), gpu: Gpu = one(vendor=("nvidia", "amd")), split: Gpu | None = one(mig=True), held: Symptom | None = seen("nvidia-smi-lists-holder"),
) -> Verdict:  # fmt: skip
    """Somebody wants to end what uses the card, and there is no such process: a context without its owner, or an owner elsewhere."""
    used = gpu.get("memory_used")
    return split is None and held is None and bool(used) and used > _MUCH and {"said": said.id}


# -- two drivers in one place
@rule("libcuda-differs-from-kernel-driver", "possible")
def container_holds_two_releases(
    link: Symptom = seen("wsl-libcuda-of-a-linux-driver"), file: Symptom = seen("libcuda-file-of-a-release"),
    module: KernelModule | None = one(name="nvidia"), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """One release was mounted from the host, the other came with the image: the loader takes the newer, whose ever it is."""
    known = (module is not None and module.knows("version")) or driver is not None
    return inside(link) and not known and file.version != link.version and {"path": f"libcuda.so.{link.version}"}


# -- guests
@rule("vm-without-gpu-passthrough", "likely")
def guest_was_promised_a_card_and_shows_none(
    promised: Symptom = seen("guest-is-promised-graphics"), shown: Symptom = seen(*_MADE_UP),
    card: PciDevice | None = one(vendor_id=("10de", "1002", "8086"), class_code=_SCREENS), gpu: Gpu | None = one(vendor=("nvidia", "amd")),
) -> Verdict:  # fmt: skip
    """Its settings pass it a real display, and its bus has the made-up one alone."""
    return card is None and gpu is None and {"promised": promised.id, "shown": shown.id}
