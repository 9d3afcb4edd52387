"""The kernel, its modules and its log."""

from rigup.machine.kinds import Driver, KernelModule, Symptom
from rigup.machine.reader import File, Run, Statements, reads
from rigup.machine.texts import Text


@reads(KernelModule, Driver, inputs=[File("/proc/driver/nvidia/version")], marks=("NVRM version:",), rank=2)
def nvidia_module(text: Text) -> Statements:
    """`NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07 …`: the loaded module."""
    for hit in text.each(r"NVRM version:.*?(?P<open>Open )?Kernel Module.*?\s(?P<version>\d+\.\d+(?:\.\d+)?)\s"):
        yield hit.states(KernelModule, name="nvidia", loaded=True, version=hit["version"])
        flavour = "open" if hit["open"] else "proprietary"
        yield hit.states(Driver, vendor="nvidia", version=hit["version"], flavour=flavour)


# A log that was cleared is empty; one without stamps has names of drivers.
_LINES = r"\A\s*\Z|^(?:<\d+>)?\[ *\d+\.\d|^\[\w{3} \w{3} |^dmesg: |^Linux version |^[a-zA-Z][\w .:/@-]{1,60}: \S"
_JOURNALS = "/{var/log,run/log}/journal/*/*.journal*"
_ENTRIES = r"\A\s*\Z|kernel: |^-- |[Jj]ournal|systemd"


@reads(Symptom, inputs=[Run(("dmesg",), says=_LINES)], matched="kernel")
def kernel_log(_: Text) -> Statements:
    """Read for its symptoms alone."""
    yield from ()


@reads(Symptom, inputs=[Run(("journalctl", "-k", "-b", "--no-pager", "-n", "20000"), 8, given=_JOURNALS, says=_ENTRIES)], matched="kernel")
def kernel_journal(_: Text) -> Statements:
    """The same log as the journal keeps it, for those who may not read the kernel's; asked side by side."""
    yield from ()


@reads(Symptom, inputs=[Run(("vcgencmd", "get_throttled"), says=r"^throttled=0x")], matched="program")
def board_firmware(_: Text) -> Statements:
    """What a Raspberry Pi's firmware tells of voltage and heat, now and since the start; for its symptoms alone."""
    yield from ()
