"""What mends work that runs and runs badly: cards that are slowed down, links, programs that hold what they do not use."""

from rigup.language import N_
from rigup.steps.step import Kind

_ = N_

_SENSORS = 'grep -H . /sys/bus/pci/devices/"$1"/hwmon/hwmon*/temp*'
_OWN_LIMIT = 'for d in /sys/bus/pci/devices/"$1"/hwmon/hwmon*; do cat "$d/power1_cap_default" > "$d/power1_cap"; done'
_FORMER_LIMIT = 'for d in /sys/bus/pci/devices/"$1"/hwmon/hwmon*; do echo "$2" > "$d/power1_cap"; done'

KINDS: dict[str, Kind] = {
    "cool-card-by-sensors": Kind(
        _("clean fans and heat sink, let air reach the card, and see by the command how hot it is against its limits"),
        ("address",),
        "by-hand",
        commands=(("sh", "-c", _SENSORS, "sh", "{address}"),),
        undo=(),
    ),
    "card-power-limit": Kind(
        _("set the power limit of the GPU {index} to {watts} W"),
        ("index", "watts"),
        "kernel",
        root=True,
        commands=(("nvidia-smi", "-i", "{index}", "-pl", "{watts}"),),
        undo=(("nvidia-smi", "-i", "{index}", "-pl", "{former}"),),
    ),
    "card-own-power-limit": Kind(
        _("set the power limit of the GPU {address} to the card's own"),
        ("address",),
        "kernel",
        root=True,
        commands=(("sh", "-c", _OWN_LIMIT, "sh", "{address}"),),
        undo=(("sh", "-c", _FORMER_LIMIT, "sh", "{address}", "{microwatts}"),),
    ),
    "slot-with-all-lanes": Kind(
        _("put the card into a slot with all its lanes, without a riser, and see by the command (LnkSta) how many it uses"),
        ("address",),
        "by-hand",
        restart=True,
        commands=(("lspci", "-vv", "-s", "{address}"),),
        undo=(),
    ),
    "slot-at-full-speed": Kind(
        _("set the speed of the slot in the firmware set-up to automatic, or to the generation of the card, and take a riser away"),
        ("address",),
        "by-hand",
        restart=True,
        commands=(("lspci", "-vv", "-s", "{address}"),),
        undo=(),
    ),
    "lower-link-speed": Kind(
        _(
            "in the firmware set-up: set the speed of the slot from automatic to PCIe Gen {generation}, let the work run as long as it took to fail, and see by the commands that the link has that speed and that the kernel's log tells of no PCIe Bus Error"
        ),
        ("generation",),
        "by-hand",
        restart=True,
        commands=(("lspci", "-vv"), ("journalctl", "-k", "-b", "--grep", "PCIe Bus Error|Xid")),
        undo=(),
    ),
    "exchange-riser": Kind(
        _("exchange the riser for one that is made for the speed of slot and card, or put the card into a slot without one"),
        ("part",),
        "by-hand",
        restart=True,
        undo=(),
    ),
    "leave-the-slot": Kind(
        _(
            "leave that slot empty: put the card into another one; what fails in it with every card is the slot, its contacts, or the board's lanes"
        ),
        ("part",),
        "by-hand",
        restart=True,
        undo=(),
    ),
    "read-driver-errors": Kind(
        _("read what the driver wrote, and look the number up in the list of its maker: Xid {codes}"),
        ("codes",),
        "kernel",
        root=True,
        commands=(("journalctl", "-k", "-b", "--grep", "Xid"),),
        undo=(),
    ),
    "end-batch-job": Kind(
        _("end the job {job}, if it is yours and waits for nothing"),
        ("job",),
        tag="caution",
        commands=(("scancel", "{job}"),),
        undo_because=_("a job that has ended is submitted again"),
    ),
    "move-work-to-gpu": Kind(
        _("move the model and each batch to the GPU (.to(device)), and let `rigup verify` show that the GPU computes"),
        (),
        "by-hand",
        undo=(),
    ),
    "prepare-data-beside": Kind(
        _("let several processes prepare the data (num_workers of the DataLoader), or prepare it beforehand"), (), "by-hand", undo=()
    ),
    "end-stopped-job": Kind(
        _(
            "end the program that was stopped by Ctrl+Z, and not ended: it keeps its memory until it is. In its shell: fg and then Ctrl+C, or the command. Ctrl+C is what ends it the next time"
        ),
        ("job",),
        commands=(("kill", "-9", "%{job}"),),
        tag="caution",
        undo=(),
    ),
    "end-stopped-processes": Kind(
        _(
            "end the program that was stopped (Ctrl+Z; state T of ps) and not ended, if it is your own: it keeps its memory until it is, and hears no other signal while it is stopped"
        ),
        ("pids",),
        commands=(("kill", "-9", "{pids*}"),),
        tag="caution",
        undo=(),
    ),
    "separate-power-cables": Kind(
        _(
            "switch the machine off, and feed each power plug of the card by a cable of its own from the supply, never by two plugs of one cable; the supply has to have the power that the card's maker asks for"
        ),
        ("cables",),
        "by-hand",
        restart=True,
        undo=(),
    ),
    "trial-power-limit": Kind(
        _(
            "as a trial, limit the card to {watts} W and let the work run as long as it took to fail: if it holds out, it is the power that fails"
        ),
        ("watts",),
        "kernel",
        root=True,
        commands=(("nvidia-smi", "-pl", "{watts}"),),
        undo_because=_("a restart brings the card's own limit back"),
    ),
    "keep-numbers": Kind(
        _("keep numbers of each step and no tensors: loss.item(); detach what is collected, and move it to the CPU"), (), "by-hand", undo=()
    ),
}
