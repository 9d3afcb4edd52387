"""Texts of run-time findings: title, what it means, what mends it."""

from typing import Any, NamedTuple

from rigup.language import N_, _


class FindingText(NamedTuple):
    """One finding's sentences."""

    title: str
    meaning: str
    mends: str


TEXTS: dict[str, FindingText] = {
    "gpu-lost": FindingText(
        N_("{gpu} answers no more: {because}"),
        N_("It was there and fell off the bus, or its driver was unloaded."),
        N_(
            "Look for the kernel's last words with `journalctl -k`, then run `rigup doctor`; mostly only a restart brings it back."
        ),
    ),
    "xid": FindingText(
        N_("NVIDIA's driver told of an error on {gpu}: Xid {codes}"),
        N_("An Xid is the driver's number for an error of the GPU or of a program on it."),
        N_("`rigup doctor` reads the kernel's log and says what is behind it."),
    ),
    "memory-errors": FindingText(
        N_("The memory of {gpu} had {count} errors that could not be corrected"),
        N_("Programs that used that memory have wrong numbers or were ended. Counted since the driver was loaded."),
        N_("Reset the GPU when nobody uses it; where errors come again, the card is to be replaced."),
    ),
    "memory-remap-pending": FindingText(
        N_("{gpu} waits for a reset to replace bad rows of its memory"),
        N_("Rows with errors are replaced by spare ones at the next reset, and are in use until then."),
        N_("Reset the GPU with `nvidia-smi --gpu-reset` when nobody uses it, or restart."),
    ),
    "throttled": FindingText(
        N_("{gpu} is slowed down by: {reasons}"),
        N_("The GPU runs below its clock to protect itself, so that the work takes longer than it could."),
        N_("Temperature: see to the fans and the air. Hardware, external: see to the power supply and its cables."),
    ),
    "power-limit-lowered": FindingText(
        N_("{gpu} is held at {limit} W, and {usual} W are its own limit"),
        N_("Somebody lowered the power limit, and the work arrives at it."),
        N_("If that was not meant, set the limit again with `nvidia-smi -pl` or `rocm-smi --resetpoweroverdrive`."),
    ),
    "link-narrower-than-card": FindingText(
        N_("The PCIe link of {gpu} is {have}, and the card can {want}"),
        N_("Data come slower to the GPU than they could. A slot with fewer lanes, a riser or a dirty contact do that."),
        N_("Put the card into a slot with all lanes, without a riser; look into the firmware's settings for the slot."),
    ),
    "memory-almost-full": FindingText(
        N_("The memory of {gpu} is full to {share}"),
        N_("The next program that asks for memory there fails; some frameworks take all of it beforehand."),
        N_("Make the batch smaller, or end what is not needed."),
    ),
    "memory-leak": FindingText(
        N_("The GPU memory of {process} only grows: {grown} GiB more in {minutes} minutes"),
        N_(
            "What is kept of every step (a loss with its graph, a list of results) fills the memory until the program ends."
        ),
        N_("Keep numbers, not tensors: `loss.item()`; detach what is collected, and move it to the CPU."),
    ),
    "gpu-asked-for-and-idle": FindingText(
        N_("{process} has held {memory} GiB of GPU {gpus} for {minutes} minutes and not used it"),
        N_("Others could use the GPU meanwhile."),
        N_("End the program, or the notebook's kernel, if it waits for nothing."),
    ),
    "works-on-the-cpu": FindingText(
        N_(
            "{process} computes on the CPU, while GPU {gpus}, of which it holds {memory} GiB, has been idle for {minutes} minutes"
        ),
        N_("The work was not moved to the GPU, or the processor prepares data without end."),
        N_("Move model and data with `.to(device)`; `rigup verify` shows whether the GPU computes at all."),
    ),
}
"""By cause."""


def text_of(cause: str, words: dict[str, Any]) -> FindingText:
    """The text of a cause in the language in force, with its words."""
    text = TEXTS[cause]
    return FindingText(_(text.title).format(**words), _(text.meaning), _(text.mends))
