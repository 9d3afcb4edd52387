"""What a verification did not cover: a person who reads "verified" is to know what was not tried, and why."""

from typing import Any

from rigup.language import _
from rigup.verify.observe import Observed, Seen

Answer = dict[str, Any]
_NAMED = 20  # operators of one check


def left_out(observed: Observed, devices: list[Answer], full: bool) -> list[Answer]:
    """Each with `what` and `because`; of checks also `device` and `framework`. Empty where nothing was measured."""
    if not any(seen.listed for seen in observed.frameworks):
        return []
    told = [*_checks(devices), *_operators(observed), *_given_up(observed), *_unasked(devices)]
    told.append({"what": "distributed", "because": _("Communication between processes, cards and machines (NCCL, RCCL, Gloo, MPI) was not tried.")})  # fmt: skip
    if not full:
        told.append({"what": "full", "because": _("Training, most of the memory, large products and the compiler of `torch.compile` are tried with `--full`.")})  # fmt: skip
    return told


def _checks(devices: list[Answer]) -> list[Answer]:
    """Checks that were begun and could not be judged, with their reason."""
    return [
        {"what": check["name"], "because": check.get("because", ""), "device": check.get("device", ""), "framework": check.get("framework", "")}
        for device in devices
        for check in device["checks"]
        if "passed" not in check
    ]  # fmt: skip


def _operators(observed: Observed) -> list[Answer]:
    """Operators and parts that a release, a provider or this system has no code for."""
    found = []
    for seen in (*observed.frameworks, *observed.companions):
        for (device, check), record in seen.records.items():
            names = _names(record)
            if names:
                said = _("Not available here: {names}.").format(names=", ".join(names))
                found.append({"what": check, "because": said, "device": device, "framework": seen.name})
            found += [{**one, "device": device, "framework": seen.name} for one in _over(check, record)]
    return found


def _over(check: str, record: Any) -> list[Answer]:
    """What the time did not reach of a table of operators."""
    measured = record.get("measured")
    left = measured.get("left") if isinstance(measured, dict) and "cases" in measured else None
    if not isinstance(left, list) or not left:
        return []
    names = ", ".join(str(one)[:200] for one in left[:_NAMED]) + (", …" if len(left) > _NAMED else "")
    said = _("Its time was over before {count} of its operators were tried: {names}.")
    return [{"what": check, "because": said.format(count=len(left), names=names)}]


def _names(record: Any) -> list[str]:
    """What a check tells as left out, whatever it told."""
    measured = record.get("measured")
    if not isinstance(measured, dict):
        return []
    lists = [measured.get("without"), None if "cases" in measured else measured.get("left")]
    return [str(one)[:200] for names in lists if isinstance(names, list) for one in names[:_NAMED]]


def _given_up(observed: Observed) -> list[Answer]:
    """Frameworks whose time was over before their end."""
    said = _("Its time was over before all was tried.")
    return [{"what": seen.name, "because": said, "framework": seen.name} for seen in _all(observed) if seen.over]


def _all(observed: Observed) -> list[Seen]:
    return [*observed.frameworks, *observed.companions]


def _unasked(devices: list[Answer]) -> list[Answer]:
    """Devices of the machine that no framework was asked about."""
    said = _("No framework here computed on this device.")
    return [
        {"what": str(device.get("name") or device.get("pci_id") or "GPU"), "because": device.get("because") or said}
        for device in devices
        if "index" in device and not device["checks"]
    ]
