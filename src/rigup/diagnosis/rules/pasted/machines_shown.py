"""What single lines tell of guests, machines without a card, sleep and device nodes, where the report around them was cut away."""

import re

from rigup.diagnosis.rule import Every, Verdict, lacks, one, rule, seen
from rigup.diagnosis.rules.access import closed
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT, inside
from rigup.diagnosis.rules.told import NO_DEDICATED
from rigup.knowledge.patterns import late
from rigup.machine.kinds import Account, DeviceNode, Gpu, KernelModule, PciDevice, Platform, Symptom, Torch

_UVM = "/dev/nvidia-uvm"
_GIVEN = ("guest-started-with-a-passed-card", "guest-of-proxmox-with-a-card", "guest-of-libvirt-with-a-card")
_NOT_STARTED = (
    "nvrm-init-adapter-failed",
    "nvidia-smi-no-handle",
    "nvidia-smi-no-devices",
    "nvrm-bar-invalid",
    "windows-code-43",
)
_LOST = ("xid-79", "gpu-fallen-off", "nvidia-smi-gpu-lost")
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
_GUESTS_FILE = late(r"(?:^|[/_.-])(?:vm|guest|domu)(?:[0-9_.-]|$)", re.IGNORECASE)


def _named_after_a_guest(said: Symptom) -> bool:
    """Who keeps two machines' outputs apart names the file after the one: `guest-dmesg.txt`."""
    return bool(_GUESTS_FILE.search(said.fields["id"].where.source.rpartition("/")[2]))


# -- guests
@rule("vm-passthrough-misconfigured", "likely")
def guests_own_output_shows_a_card_that_does_not_start(
    said: Symptom = seen("nvidia-smi-no-handle", "nvrm-init-adapter-failed", "pci-bar-no-space", "nvrm-bar-invalid", "nvidia-smi-no-devices"), lost: Symptom | None = seen(*_LOST),
) -> Verdict:  # fmt: skip
    """The file is the guest's, and in it the card is found and cannot be used."""
    return lost is None and _named_after_a_guest(said)


@rule("vm-passthrough-misconfigured", "likely")
def guest_was_given_the_card_and_it_does_not_start(
    given: Symptom = seen(*_GIVEN), said: Symptom = seen(*_NOT_STARTED), lost: Symptom | None = seen(*_LOST)
) -> Verdict:
    """The command or file that defines the guest hands the card on; inside, the driver cannot start it."""
    return lost is None and {"said": said.id, "guest": given.id}


@rule("vm-passthrough-misconfigured", "possible")
def card_on_the_first_bus_is_left_out(
    card: PciDevice = one(vendor_id=NVIDIA), _said: Symptom = seen("nvidia-smi-no-devices"), lost: Symptom | None = seen(*_LOST),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """A card in a slot is never on the first bus of all: a hypervisor put it there, and the driver leaves it out."""
    return lost is None and works is None and str(card.get("address", "")).startswith("0000:00:")


@rule("vm-passthrough-misconfigured", "likely")
def guest_has_no_room_for_the_window(
    said: Symptom = seen("pci-bar-no-space"), guest: Platform | None = None, plugged: Symptom | None = seen("pci-slot-powered-on"),
) -> Verdict:  # fmt: skip
    """The kernel of a guest found no room for a large window: its hypervisor gave it too small a range."""
    large = int(said.get("size") or said.get("size2") or "0", 16) >= 1 << 28
    virtual = bool(guest and guest.get("hypervisor") and not guest.get("wsl")) or plugged is not None
    return large and virtual


# -- no card
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


@rule("nvidia-driver-missing", "likely")
def package_is_not_installed_and_the_card_is_there(
    _none: Symptom = seen("driver-package-not-installed"), card: PciDevice = one(vendor_id=NVIDIA), module: KernelModule | None = one(name="nvidia", loaded=True),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """The bus has the card, and the package manager knows of no driver that is installed."""
    return module is None and works is None and not card.get("driver")


@rule("render-group-missing", "likely")
def processors_alone_where_the_node_is_closed(
    who: Account, node: DeviceNode, _shown: Symptom = seen("sycl-lists-processors-alone"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """oneAPI's own list has processors only, and the account may not open the render node."""
    return other is None and node.path.startswith("/dev/dri/renderD") and not inside(node) and closed(node, who)


# -- not loaded
@rule("nvidia-module-not-loaded", "likely")
def tool_is_there_and_the_module_is_not(
    said: Symptom = seen("proc-driver-nvidia-missing"), _tool: Symptom = seen("nvidia-smi-is-installed", *SILENT), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    platform: Platform | None = one(wsl=2),
) -> Verdict:  # fmt: skip
    """The kernel has no folder of the driver's, and the driver's programs are installed."""
    return loaded is None and platform is None and not inside(said)


@rule("nvidia-module-not-loaded", "possible")
def service_of_the_driver_finds_no_nodes(
    said: Symptom = seen("persistenced-finds-no-nodes"), loaded: KernelModule | None = one(name="nvidia", loaded=True), card: PciDevice | None = one(vendor_id=NVIDIA),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """The driver's own service asks for the nodes, which come with the module."""
    return loaded is None and card is None and works is None and not inside(said)


@rule("nvidia-module-not-loaded", "possible")
def hooks_module_is_not_loaded(
    said: Symptom = seen("enroot-module-not-loaded"), loaded: KernelModule | None = one(name="nvidia", loaded=True)
) -> Verdict:
    """A container tool's hook looks for the driver's modules, and finds none."""
    return loaded is None and {"said": said.id}


# -- sleep
@rule("uvm-broken-after-suspend", "likely")
def unknown_error_and_the_resume_failed(
    _error: Symptom = seen("cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuinit-returns-999", "device-context-999"),
    _slept: Symptom = seen("nvidia-resume-failed", "suspend-happened", "suspend-finished-systemd"), silent: Symptom | None = seen(*SILENT),
) -> Verdict:  # fmt: skip
    """The driver's own service of waking failed, or the kernel slept, and CUDA does not start."""
    return silent is None


# -- the node of unified memory
@rule("uvm-device-missing", "likely")
def nodes_were_passed_by_name_but_one(
    _passed: Symptom = seen("nvidia-nodes-passed-by-name"), uvm: Symptom | None = seen("nvidia-uvm-passed-by-name"),
    _error: Symptom = seen("cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuinit-returns-999", *NO_CUDA, "cuda-999-number"),
) -> Verdict:  # fmt: skip
    """Somebody lists the driver's nodes for a container one by one, and left this one out."""
    return uvm is None


@rule("uvm-device-missing", "possible")
def listed_nodes_lack_it(
    card: DeviceNode = one(path="/dev/nvidia0"), _control: DeviceNode = one(path="/dev/nvidiactl"), nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")), torch: Torch | None = one(available=True), loaded: KernelModule | None = one(name="nvidia_uvm"),
    silent: Symptom | None = seen(*SILENT),
) -> Verdict:  # fmt: skip
    """The driver's nodes are listed, and the one that CUDA needs is not among them."""
    open_ = not card.knows("mode") or card.mode[8:9] == "w"
    return not nodes and open_ and all(other is None for other in (works, torch, loaded, silent))


@rule("uvm-device-missing", "possible")
def listed_nodes_lack_it_and_torch_sees_none(
    _card: DeviceNode = one(path="/dev/nvidiactl"), nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM), torch: Torch = one(available=False),
    _works: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """nvidia-smi needs no such node and lists the card; torch needs it. For what torch was built nobody tells."""
    return not nodes and not torch.knows("cuda") and "+cpu" not in str(torch.get("version"))


# -- refused
@rule("secure-boot-module-unsigned", "likely")
def some_module_is_refused_under_secure_boot(
    _refused: Symptom = seen("module-key-unavailable", "lockdown-unsigned-module"), platform: Platform = one(secure_boot=True), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    works: Gpu | None = one(seen_by=("nvidia-smi", "rocminfo", "rocm-smi", "amd-smi")),
) -> Verdict:  # fmt: skip
    """The kernel's log names no module; Secure Boot is on, and NVIDIA's is not loaded. A driver that answers was let in."""
    return loaded is None and works is None and platform.secure_boot
