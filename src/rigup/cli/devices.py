"""`rigup doctor --devices`: each device, what it will do, what it cannot, and who says so."""

import click
from msgspec import structs

from rigup.cli.guard import style
from rigup.cli.layout import wrapped
from rigup.cli.report import device_line
from rigup.language import _
from rigup.schemas.doctor import Doctor
from rigup.schemas.shared import Device, Limits


def with_limits(answer: Doctor) -> Doctor:
    """The answer, each device with its limits."""
    from rigup.diagnosis.limits import limits

    machine = answer.machine
    system = next(iter(machine.platforms or [{}])).get("system") or "linux"
    devices = [structs.replace(device, limits=limits(device, system)) for device in machine.accelerators or ()]
    return structs.replace(answer, machine=structs.replace(machine, accelerators=devices)) if devices else answer


def text(answer: Doctor, color: bool = False) -> str:
    """Devices for a terminal; the answer's devices have their limits."""
    devices = answer.machine.accelerators or []
    if not devices:
        return "\n".join(wrapped(_("There is no GPU here. On the CPU everything runs, in float32 and float64, only slower.")))
    lines = [line for device in devices for line in (*_device(device), "")]
    report = "\n".join(lines).rstrip()
    return report if color else click.unstyle(report)


def _device(device: Device) -> list[str]:
    limits = device.limits or Limits(lacks=[])
    lines = device_line(device)
    for lack in limits.lacks:
        lines += wrapped(_(lack.text) + style("  (" + _address(lack.source) + ")", dim=True), "     - ", "       ")
    if not limits.lacks:
        lines += wrapped(_("nothing that is asked of it today is missing, as far as the tables know"), "     - ", "       ")
    if newest := limits.newest_torch:
        sentence = _("newest torch that has code for it: {version}").format(version=newest.version)
        lines += wrapped(sentence + style("  (knowledge/torch_builds)", dim=True), "     - ", "       ")
    return lines


def _address(source: str) -> str:
    """The first address of several, without what every address begins with and what narrows it down."""
    first = source.partition(",")[0].partition("#")[0]
    return first.removeprefix("https://").removeprefix("www.")
