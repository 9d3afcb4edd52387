"""The firmware's release, as the kernel has it from the DMI tables."""

from rigup.machine.kinds import Firmware
from rigup.machine.reader import File, Statements, reads
from rigup.machine.readers.values import says
from rigup.machine.texts import Text


@reads(Firmware, inputs=[File("/sys/class/dmi/id/bios_version", most=200), File("/sys/class/dmi/id/bios_date", most=200)])
def firmware_release(text: Text) -> Statements:
    """A line each: `F15c`, `05/18/2026`."""
    field = "date" if text.source.endswith("date") else "version"
    if value := text.body.strip():
        yield from says(text, Firmware, 0, part="bios", **{field: value})
