"""What Windows' device manager says of a card, in its numbers and names."""

from rigup.machine.kinds import Symptom

_BY_NAME = {
    "FAILED_INSTALL": "28",
    "NOT_CONFIGURED": "1",
    "NORMAL_CONFLICT": "12",
    "DISABLED": "22",
    "PHANTOM": "45",
    "FAILED_POST_START": "43",
    "UNSIGNED_DRIVER": "52",
    "FAILED_START": "10",
    "FAILED_ADD": "31",
    "DRIVER_FAILED_LOAD": "39",
}


def code_of(symptom: Symptom) -> str:
    """The device manager's number, of which PowerShell has a name."""
    return str(symptom.get("code") or _BY_NAME.get(str(symptom.get("problem")), ""))
