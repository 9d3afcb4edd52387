"""Tools that switch a laptop's discrete card off and on: what they have left in files."""

from rigup.machine.kinds import GraphicsSwitch
from rigup.machine.reader import File, Statements, reads
from rigup.machine.texts import Text

_PRIME = {"off": "integrated", "on": "nvidia", "on-demand": "hybrid"}
_RULES = "/{etc,usr/lib,lib,run}/udev/rules.d/*.rules"


@reads(GraphicsSwitch, inputs=[File("/etc/prime-discrete")])
def prime_discrete(text: Text) -> Statements:
    """Ubuntu's prime-select keeps one word: on, off or on-demand."""
    if hit := text.first(r"\A\s{0,8}(?P<mode>on-demand|on|off)\s*\Z"):
        yield hit.states(GraphicsSwitch, tool="prime-select", mode=_PRIME[hit["mode"]])


@reads(GraphicsSwitch, inputs=[File("/etc/supergfxd.conf")], marks=('"vfio_enable"', '"hotplug_type"'))
def supergfxd(text: Text) -> Statements:
    """`"mode": "Integrated"`."""
    if hit := text.first(r'"mode"\s{0,4}:\s{0,4}"(?P<mode>Integrated|Hybrid|AsusMuxDgpu|NvidiaNoModeset|Vfio)"'):
        mode = {"Integrated": "integrated", "Vfio": "vfio"}.get(hit["mode"], "hybrid")
        yield hit.states(GraphicsSwitch, tool="supergfxctl", mode=mode)


@reads(GraphicsSwitch, inputs=[File("/proc/acpi/bbswitch")], marks=("/proc/acpi/bbswitch",))
def bbswitch(text: Text) -> Statements:
    """`0000:01:00.0 OFF`."""
    if hit := text.first(r"^(?:0000:)[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] (?P<mode>ON|OFF)\s*$"):
        yield hit.states(GraphicsSwitch, tool="bbswitch", mode="integrated" if hit["mode"] == "OFF" else "hybrid")


@reads(GraphicsSwitch, inputs=[File(_RULES)], marks=('ATTR{remove}="1"',))
def removal_rules(text: Text) -> Statements:
    """A udev rule that takes every NVIDIA device off the bus as soon as it appears."""
    form = r'^(?!\s{0,8}#)(?=[^\n]{0,400}ATTRS?\{vendor\}=="0x10de")(?=[^\n]{0,400}ATTR\{class\}=="0x03)[^\n]{0,400}ATTR\{remove\}="1"'
    if hit := text.first(form):
        yield hit.states(GraphicsSwitch, tool="udev", mode="integrated")


@reads(GraphicsSwitch, inputs=[File("/etc/modprobe.d/system76-power.conf")])
def system76(text: Text) -> Statements:
    """Pop!_OS' tool switches the modules themselves off: `alias nvidia off`."""
    if hit := text.first(r"^[ \t]{0,8}alias nvidia off[ \t]*$"):
        yield hit.states(GraphicsSwitch, tool="system76-power", mode="integrated")


# What such tools answer is one word; the command is known where it was recorded.
_ASKED = {
    "prime-select query": "prime-select",
    "system76-power graphics": "system76-power",
    "envycontrol -q": "envycontrol",
    "envycontrol --query": "envycontrol",
    "supergfxctl -g": "supergfxctl",
    "optimus-manager --print-mode": "optimus-manager",
}


@reads(GraphicsSwitch, marks=("integrated", "Integrated", "intel", "compute"))
def switch_answers(text: Text) -> Statements:
    """`prime-select query` and its kin, where they say that the processor's graphics are in use alone."""
    tool = _ASKED.get(text.source.removeprefix("sudo "))
    hit = text.first(r"^(?:[^\n:]{0,30}: ?)?(?i:integrated|intel|compute)[ \t]*$") if tool else None
    if hit:
        yield hit.states(GraphicsSwitch, tool=tool, mode="integrated")
