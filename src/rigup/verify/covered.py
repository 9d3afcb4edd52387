"""What a verification did not cover, and why."""

from msgspec import UNSET

from rigup.language import _
from rigup.schemas.verify import CheckedDevice, NotCovered
from rigup.verify.observe import Observed, Record, Seen

_NAMED = 20  # operators of one check


def left_out(observed: Observed, devices: list[CheckedDevice], full: bool) -> list[NotCovered]:
    """Parts that were not tried or came to no verdict. Empty if nothing was measured."""
    if not any(seen.listed for seen in observed.frameworks):
        return []
    parts = [*_checks(devices), *_operators(observed), *_given_up(observed), *_not_measured(devices)]
    parts.append(
        NotCovered(
            what="distributed", because=_("Communication between processes, cards and machines (NCCL, RCCL, Gloo, MPI) was not tried.")
        )
    )
    if not full:
        parts.append(
            NotCovered(
                what="full",
                because=_("Training, most of the memory, large products and the compiler of `torch.compile` are tried with `--full`."),
            )
        )
    return parts


def _checks(devices: list[CheckedDevice]) -> list[NotCovered]:
    """Checks without a verdict, with the reason."""
    return [
        NotCovered(what=check.name, because=check.because or "", device=check.device or "", framework=check.framework or "")
        for device in devices
        for check in device.checks
        if check.passed is UNSET
    ]


def _operators(observed: Observed) -> list[NotCovered]:
    """Operators and parts that this release, provider or system does not implement."""
    found = []
    for seen in _all(observed):
        for (device, check), record in seen.records.items():
            names = _names(record)
            unavailable = _("Not available here: {names}.").format(names=", ".join(names)) if names else ""
            found += [
                NotCovered(what=check, because=because, device=device, framework=seen.name)
                for because in filter(None, (unavailable, _over(record)))
            ]
    return found


def _over(record: Record) -> str:
    """A sentence about the operators of a table for which the time ran out; "" if all were tried."""
    measured = record.measured
    left = measured.get("left") if isinstance(measured, dict) and "cases" in measured else None
    if not isinstance(left, list) or not left:
        return ""
    names = ", ".join(str(operator)[:200] for operator in left[:_NAMED]) + (", …" if len(left) > _NAMED else "")
    template = _("Its time was over before {count} of its operators were tried: {names}.")
    return template.format(count=len(left), names=names)


def _names(record: Record) -> list[str]:
    """Names that a check reports as left out; tolerates measurements of any form."""
    measured = record.measured
    if not isinstance(measured, dict):
        return []
    lists = [measured.get("without"), None if "cases" in measured else measured.get("left")]
    return [str(name)[:200] for names in lists if isinstance(names, list) for name in names[:_NAMED]]


def _given_up(observed: Observed) -> list[NotCovered]:
    """Frameworks whose time ran out."""
    because = _("Its time was over before all was tried.")
    return [NotCovered(what=seen.name, because=because, framework=seen.name) for seen in _all(observed) if seen.over]


def _all(observed: Observed) -> list[Seen]:
    return [*observed.frameworks, *observed.companions]


def _not_measured(devices: list[CheckedDevice]) -> list[NotCovered]:
    """Devices of the machine on which no framework computed."""
    because = _("No framework here computed on this device.")
    return [
        NotCovered(what=device.name or device.pci_id or "GPU", because=device.because or because)
        for device in devices
        if device.index is not UNSET and not device.checks
    ]
