"""A GPU does not start: its own firmware does not come up."""

from rigup.diagnosis.causes.hardware.board_modules import who_exchanges_a_module
from rigup.diagnosis.causes.pci import on_first_bus
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Verdict, mends, one, rule, seen
from rigup.machine.kinds import Gpu, Platform, Symptom


@rule("gpu-hardware-init-failure", "possible")
def tool_finds_no_such_card(
    symptom: Symptom = seen("nvidia-smi-no-handle"),
    known: Symptom | None = seen("xid-119", "gsp-rpc-timeout", "gsp-silent", tag="gpu-lost"),
) -> Verdict:
    """The driver has a node for the card, and could not start it."""
    return "Not Found" in symptom.get("why", "") and known is None and not inside(symptom) and not on_first_bus(symptom)


@rule("gpu-hardware-init-failure", "likely")
def its_firmware_does_not_come_up(
    symptom: Symptom = seen("nvrm-init-adapter-failed", "gsp-still-up", "gsp-start-code-refused"), _gsp: Symptom | None = seen("xid-119")
) -> Verdict:
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
    return code != "0x22:0x56" and not code.startswith("0x62:") and other is None and not guest and not on_first_bus(symptom)


@rule("gpu-hardware-init-failure", "possible")
def display_server_gets_no_device(
    symptom: Symptom = seen("xorg-gpu-init-failed"),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
    other: Symptom | None = seen(
        "nvrm-init-adapter-failed",
        "nvrm-bar-invalid",
        "xid-119",
        "gsp-silent",
        "bbswitch-off",
        "bbswitch-card-off",
        tag="gpu-lost nvidia-driver-silent",
    ),
) -> Verdict:
    """As above, told by the display server."""
    return works is None and other is None and not inside(symptom)


@rule("gpu-hardware-init-failure", "possible")
def display_module_gets_no_device(
    _said: Symptom = seen("nvidia-drm-no-device"),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
    other: Symptom | None = seen(
        "nvrm-init-adapter-failed", "nvrm-bar-invalid", "xid-119", "gsp-rpc-timeout", "gsp-silent", tag="gpu-lost"
    ),
) -> Verdict:
    """The driver's other module asked for the card in vain; the log does not show why it was not started."""
    return works is None and other is None


@rule("gpu-hardware-init-failure", "possible")
def amdgpu_gives_up(
    _said: Symptom = seen("amdgpu-init-fatal"),
    file: Symptom | None = seen("amdgpu-firmware-file-missing", "amdgpu-block-without-its-file", "amdgpu-refuses-without-firmware"),
    room: Symptom | None = seen("amdgpu-probe-failed", code="12"),
    platform: Platform | None = None,
) -> Verdict:
    """amdgpu could not start the card; where a firmware file is missing, or there was no room for it, that is why."""
    return file is None and room is None and not (platform and platform.get("hypervisor"))


mends("gpu-hardware-init-failure")(who_exchanges_a_module)
