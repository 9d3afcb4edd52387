"""What Windows' device manager says of a card, in its numbers and names."""

from rigup.machine.kinds import Symptom

DEVICE = (
    "device-manager-code", "device-manager-code-in-chinese", "device-manager-code-in-russian", "device-manager-code-in-spanish",
    "device-manager-code-by-number", "device-manager-code-in-a-table", "device-manager-problem-by-name",
)  # fmt: skip
_BY_NAME = {
    "FAILED_INSTALL": "28", "NOT_CONFIGURED": "1", "NORMAL_CONFLICT": "12", "DISABLED": "22", "PHANTOM": "45",
    "FAILED_POST_START": "43", "UNSIGNED_DRIVER": "52", "FAILED_START": "10", "FAILED_ADD": "31", "DRIVER_FAILED_LOAD": "39",
}  # fmt: skip
NVIDIA_NAMED = ("nvidia-by-pnp", "nvidia-geforce-named", "nvidia-tx-named", "tesla-or-quadro-named")
LAPTOP = ("laptop-card-by-name",)
GUEST = ("virtual-machine-in-words", "guest-under-qemu-named", "guest-of-esxi-named", "guest-started-with-a-passed-card", "guest-of-proxmox-with-a-card", "guest-of-libvirt-with-a-card")  # fmt: skip


def code_of(said: Symptom) -> str:
    """The device manager's number, of which PowerShell has a name."""
    return str(said.get("code") or _BY_NAME.get(str(said.get("problem")), ""))
