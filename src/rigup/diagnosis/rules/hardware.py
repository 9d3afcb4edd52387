"""Cards that fail, and cards that somebody else has."""

from rigup.diagnosis.rule import Params, Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver_guest import on_first_bus
from rigup.machine.kinds import (
    DeviceNode,
    Driver,
    Gpu,
    GpuProcess,
    GraphicsSwitch,
    Platform,
    Service,
    Symptom,
    SystemPackage,
    Torch,
    Variable,
)

_EXCLUSIVE = ("Exclusive_Process", "Exclusive_Thread", "Prohibited")
_NOTHING = 0.02  # of a card's memory: too little for a library's own start
_MANAGER, _MANAGER_RPM = "nvidia-fabricmanager", "nvidia-fabric-manager"
_MASKS = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")


# -- the bus and the card's own firmware
@rule("gpu-fell-off-bus")
def driver_calls_it_lost(
    symptom: Symptom = seen("nvidia-smi-gpu-lost", "nvml-gpu-lost-constant"), gsp: Symptom | None = seen("xid-119", "gsp-rpc-timeout", "gsp-silent"),
    unmapped: Symptom | None = seen("pci-bar-no-space", "nvrm-bar-invalid"),
) -> Verdict:  # fmt: skip
    """Off the bus or out of reach in another way: a log of the card's own processor, or of its windows, tells which."""
    return gsp is None and unmapped is None and symptom.knows("id")


@rule("gpu-fell-off-bus", "possible")
def tool_gets_no_handle(
    symptom: Symptom = seen("nvidia-smi-no-handle"),
    platform: Platform | None = None,
    known: Symptom | None = seen("xid-119", "gsp-rpc-timeout", "gsp-silent", tag="gpu-lost"),
) -> Verdict:
    """On a machine of its own, a card without a handle has mostly left the bus."""
    elsewhere = (platform and (platform.get("hypervisor") or platform.get("wsl"))) or on_first_bus(symptom)
    return "Unknown Error" in symptom.get("why", "") and not elsewhere and known is None


@rule("gpu-hardware-init-failure", "possible")
def tool_finds_no_such_card(
    symptom: Symptom = seen("nvidia-smi-no-handle"), known: Symptom | None = seen("xid-119", "gsp-rpc-timeout", "gsp-silent", tag="gpu-lost"),
) -> Verdict:  # fmt: skip
    """The driver has a node for the card, and could not start it."""
    return "Not Found" in symptom.get("why", "") and known is None and not inside(symptom) and not on_first_bus(symptom)


@rule("gpu-fell-off-bus", "likely")
def card_reads_all_ones(
    _said: Symptom = seen("lspci-card-silent"),
    _wish: Symptom = seen("nvidia-smi-no-devices", "nvidia-smi-no-handle", tag="nvidia-driver-silent mig-finds-none"),
) -> Verdict:
    """lspci reads 0xff from the card's registers, and the driver does not find it."""
    return True


@rule("gpu-fell-off-bus", "possible")
def card_reads_all_ones_and_nobody_says_more(
    symptom: Symptom = seen("lspci-card-silent"), off: Symptom | None = seen("bbswitch-off", "bbswitch-card-off", tag="gpu-lost"), switch: GraphicsSwitch | None = None,
) -> Verdict:  # fmt: skip
    """As above, and that is all; a laptop's card reads so whenever it is switched off."""
    mobile = any(word in symptom.get("name", "") for word in ("Mobile", "M]", "Laptop", "MX", "Max-Q"))
    return off is None and switch is None and not mobile and "NVIDIA" in symptom.get("name", "")


@rule("gpu-hardware-init-failure", "likely")
def its_firmware_does_not_come_up(
    symptom: Symptom = seen("nvrm-init-adapter-failed", "gsp-still-up", "gsp-start-code-refused"), _gsp: Symptom | None = seen("xid-119")
) -> Verdict:  # fmt: skip
    """The code, or the line that goes before it, says that the card's own processor did not start; where it spoke its last before, that is why."""
    is_of_gsp = _gsp is None or str(symptom.get("code", "")).startswith("0x62:0x65")
    return is_of_gsp and (symptom.id != "nvrm-init-adapter-failed" or str(symptom.get("code", "")).startswith("0x62:"))


@rule("gpu-hardware-init-failure", "possible")
def adapter_does_not_start(
    symptom: Symptom = seen("nvrm-init-adapter-failed"),
    platform: Platform | None = None,
    other: Symptom | None = seen("nvrm-bar-invalid", "gsp-firmware-file-missing", "bbswitch-off", tag="gpu-lost"),
) -> Verdict:
    """The driver could not start the card, and the log does not tell more."""
    code = symptom.get("code", "")
    guest = platform and platform.get("hypervisor")
    return (
        code != "0x22:0x56"
        and not code.startswith("0x62:")
        and other is None
        and not guest
        and not on_first_bus(symptom)
    )


@rule("gpu-hardware-init-failure", "possible")
def display_server_gets_no_device(
    symptom: Symptom = seen("xorg-gpu-init-failed"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
    other: Symptom | None = seen("nvrm-init-adapter-failed", "nvrm-bar-invalid", "xid-119", "gsp-silent", "bbswitch-off", "bbswitch-card-off", tag="gpu-lost nvidia-driver-silent"),
) -> Verdict:  # fmt: skip
    """As above, told by the display server."""
    return works is None and other is None and not inside(symptom)


@rule("gpu-hardware-init-failure", "possible")
def display_module_gets_no_device(
    _said: Symptom = seen("nvidia-drm-no-device"), works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
    other: Symptom | None = seen("nvrm-init-adapter-failed", "nvrm-bar-invalid", "xid-119", "gsp-rpc-timeout", "gsp-silent", tag="gpu-lost"),
) -> Verdict:  # fmt: skip
    """The driver's other module asked for the card in vain; the log does not show why it was not started."""
    return works is None and other is None


@rule("gpu-hardware-init-failure", "possible")
def amdgpu_gives_up(
    _said: Symptom = seen("amdgpu-init-fatal"),
    file: Symptom | None = seen(
        "amdgpu-firmware-file-missing", "amdgpu-block-without-its-file", "amdgpu-refuses-without-firmware"
    ),
    room: Symptom | None = seen("amdgpu-probe-failed", code="12"), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """amdgpu could not start the card; where a firmware file is missing, or there was no room for it, that is why."""
    return file is None and room is None and not (platform and platform.get("hypervisor"))


# -- the card's memory
@rule("gpu-memory-ecc-error", "likely")
def uncorrected_errors_are_counted(gpu: Gpu) -> Verdict:
    """The driver counts errors since it was loaded."""
    return gpu.ecc_errors > 0 and _index_of(gpu)


@rule("gpu-memory-ecc-error", "likely")
def row_waits_for_its_replacement(gpu: Gpu) -> Verdict:
    """A row was found bad, and is replaced at the next reset."""
    return gpu.remap_pending and _index_of(gpu)


def _index_of(gpu: Gpu) -> Params:
    return {"index": gpu.get("nvml_index")} if gpu.get("nvml_index") is not None else {"gpu": gpu}


# -- NVSwitch
@rule("fabric-manager-not-running", "likely")
def system_not_ready(_error: Symptom = seen(tag="fabric-not-ready"), gpu: Gpu | None = one(vendor="nvidia")) -> Verdict:
    """CUDA waits for the fabric; on a card for desktops there is none."""
    return gpu is None or not gpu.knows("name") or on_board(gpu) or "GeForce" not in gpu.name


@rule("fabric-manager-not-running")
def system_not_ready_on_such_a_board(
    _error: Symptom = seen(tag="fabric-not-ready"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """As above, and the card is of a board with NVSwitch."""
    return on_board(gpu)


def on_board(gpu: Gpu) -> bool:
    """Modules on a board, not cards in a slot."""
    return any(word in gpu.get("name", "") for word in ("SXM", "HBM3", "HGX", "B200", "B300", "H20"))


@rule("fabric-manager-not-running", "likely")
def ollama_waits_for_the_fabric(
    _error: Symptom = seen("ollama-driver-init-failed", code="802"), gpu: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """ollama prints the driver's number alone: 802 is "system not yet initialized"."""
    return gpu is None or not gpu.knows("name") or on_board(gpu) or "GeForce" not in gpu.name


@rule("fabric-manager-not-running", "likely")
def manager_fails_on_its_board(
    unit: Symptom = seen("fabric-manager-unit-failed", "fabric-manager-unit-inactive"), gpu: Gpu = one(vendor="nvidia"),
    idle: Symptom | None = seen("fabric-manager-nothing-to-do"), works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """A board with NVSwitch, and the service that sets the switches up failed. Not started, it may not be needed."""
    if idle is not None or works is not None:
        return False
    return on_board(gpu) and unit.get("state", "failed") == "failed" and gpu.get("fabric") not in ("Completed", "N/A")


@rule("fabric-manager-not-running", "possible")
def manager_fails(
    unit: Symptom = seen("fabric-manager-unit-failed"), gpu: Gpu | None = one(vendor="nvidia"),
    idle: Symptom | None = seen("fabric-manager-nothing-to-do"),
) -> Verdict:  # fmt: skip
    """It also fails where there are no switches, and is then not needed; cards in slots have none."""
    return idle is None and (gpu is None or not gpu.knows("name")) and not inside(unit)


@rule("fabric-manager-not-running")
def switches_without_their_manager(
    _error: Symptom = seen("nvidia-smi-no-devices", tag="fabric-not-ready"),
    _unit: Symptom = seen("fabric-manager-unit-failed", "fabric-manager-unit-inactive"),
) -> Verdict:
    """The service is shown to be down, and CUDA does not start."""
    return True


@rule("fabric-manager-not-running")
def fabric_is_not_complete(
    gpu: Gpu = one(fabric=("In Progress", "Not Started", "Not Supported by fabric manager")),
    _unit: Symptom = seen("fabric-manager-unit-failed", "fabric-manager-unit-inactive"),
) -> Verdict:
    """The card itself says that it has not joined, and the service is down."""
    return gpu.knows("fabric")


@rule("fabric-manager-not-running", "likely")
def card_waits_for_the_fabric(gpu: Gpu = one(fabric=("In Progress", "Not Started"))) -> Verdict:
    """The card itself says that it has not joined."""
    return on_board(gpu)


@rule("fabric-manager-not-running")
def service_is_down(switch: DeviceNode, service: Service = one(name=_MANAGER)) -> Verdict:
    """The machine has switches, and the service that sets them up does not run."""
    return switch.path.startswith("/dev/nvidia-nvswitch") and service.running is False


@rule("fabric-manager-not-running", "likely")
def switches_whose_manager_is_not_started(
    switch: DeviceNode, unit: Symptom = seen("fabric-manager-unit-inactive", "fabric-manager-unit-failed"), ready: Gpu | None = one(fabric="Completed"),
) -> Verdict:  # fmt: skip
    """Whoever has the switches has to set them up; cards that joined before the service ended go on."""
    return switch.path.startswith("/dev/nvidia-nvswitch") and ready is None and not inside(unit)


@rule("fabric-manager-not-running")
def manager_of_another_version(
    switch: DeviceNode, package: SystemPackage = one(state="installed"), driver: Driver = one(vendor="nvidia")
) -> Verdict:
    """It works with exactly its own driver."""
    mine = switch.path.startswith("/dev/nvidia-nvswitch") and package.name.startswith((_MANAGER, _MANAGER_RPM))
    return mine and not package.version.rpartition(":")[2].startswith(driver.version)


# -- who may use the card
@rule("compute-mode-exclusive")
def another_process_has_it(
    _error: Symptom = seen("ollama-driver-init-failed", tag="gpu-busy"), gpu: Gpu = one(compute_mode=_EXCLUSIVE)
) -> Verdict:
    """One process at a time may use the card, and another one does."""
    return (_error.get("code", "46") == "46") and _index_of(gpu)


@rule("compute-mode-exclusive", "likely")
def taken_before_anybody_tries(gpu: Gpu = one(vendor="nvidia", compute_mode=_EXCLUSIVE), holder: GpuProcess = one(graphics=False), asked: Symptom | None = seen(tag="gpu-busy")) -> Verdict:  # fmt: skip
    """The list of its processes shows that it is taken: the next program will be refused."""
    here = asked is None and holder.get("gpu") is not None and holder.gpu == gpu.get("nvml_index")
    return here and {
        **_index_of(gpu),
        "severity": "note",
        "pid": str(holder.pid),
        "holder": holder.get("name"),
        "owner": holder.get("owner"),
    }


@rule("compute-mode-exclusive", "possible")
def card_is_busy(error: Symptom = seen("ollama-driver-init-failed", tag="gpu-busy"), gpu: Gpu | None = None) -> Verdict:
    """A card that is shared by default is seldom busy; nobody has shown its mode."""
    return error.get("code", "46") == "46" and not (gpu and gpu.knows("compute_mode"))


@rule("compute-mode-exclusive", "likely")
def card_lets_no_program_in(
    gpu: Gpu = one(vendor="nvidia", compute_mode="Prohibited"), other: Gpu | None = one(vendor="nvidia", compute_mode=("Default", "Exclusive_Process")),
) -> Verdict:  # fmt: skip
    """No program may compute on it, and there is no other card that lets one."""
    return other is None and {**_index_of(gpu), "barred": gpu.get("name") or "NVIDIA"}


@rule("gpu-memory-held-by-others", "likely")
def cudnn_starts_on_a_full_card(symptom: Symptom = seen("cudnn-tells-the-memory")) -> Verdict:
    """A library's first handle finds next to nothing free: what fills the card was there before."""
    return int(symptom.free) < _NOTHING * int(symptom.total) and {"severity": "error"}


@rule("gpu-memory-held-by-others", "possible")
def shared_card_is_busy(
    error: Symptom = seen("ollama-driver-init-failed", tag="gpu-busy"), gpu: Gpu = one(compute_mode="Default")
) -> Verdict:
    """Nothing forbids a second process: mostly one that ended badly still has its context there."""
    return error.get("code", "46") == "46" and gpu.knows("compute_mode") and {"severity": "error"}


# -- parts of a card
@rule("mig-enabled-without-instance")
def no_part_to_compute_on(gpu: Gpu = one(mig=True)) -> Verdict:
    """MIG is on, and the card has no parts."""
    return gpu.partitions == [] and _index_of(gpu)


@rule("mig-enabled-without-instance", "likely")
def no_part_is_shown(gpu: Gpu = one(mig=True), _error: Symptom = seen(tag="mig-finds-none")) -> Verdict:
    """MIG is on, no part is shown, and CUDA finds no device."""
    return not gpu.get("partitions") and _index_of(gpu)


@rule("mig-device-misaddressed", "likely")
def named_in_the_old_form(mask: Variable = one(name=_MASKS), gpu: Gpu = one(vendor="nvidia")) -> Verdict:
    """Parts have UUIDs of their own here, and the variable names one by its card and number."""
    old = [name for name in (mask.value or "").split(",") if name.startswith("MIG-GPU-")]
    return bool(old and uuids_of_parts(gpu)) and {"named": old[0]}


@rule("mig-device-misaddressed", "possible")
def old_form_finds_nothing(
    symptom: Symptom = seen("mig-mask-in-the-old-form"), error: Symptom = seen(tag="mig-finds-none"), driver: Driver | None = one(vendor="nvidia"), gpu: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Drivers of before parts had UUIDs of their own took this form; whose version nobody shows is mostly younger."""
    return driver is None and gpu is None and {"named": symptom.named, "said": error.id}


def uuids_of_parts(gpu: Gpu) -> list[str]:
    """Of the devices that MIG cuts a card into."""
    uuids = [str(part.get("uuid", "")) for part in gpu.get("partitions") or ()]
    return [uuid for uuid in uuids if uuid.startswith("MIG-")]


@rule("gpu-memory-ecc-error", "likely")
def row_is_marked_for_remapping(
    symptom: Symptom = seen("xid-row-remap"), done: Symptom | None = seen("rows-are-remapped")
) -> Verdict:
    """The driver sets a bad row aside at the next reset; where none waits any more, and none failed, that has been done."""
    return {**symptom.values(), **({"severity": "note"} if done else {})}
