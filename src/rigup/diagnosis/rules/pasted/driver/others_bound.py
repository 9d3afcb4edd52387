"""Another module holds the card, or the firmware refuses the right one."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import Driver, KernelModule, Symptom, Torch


@rule("nouveau-bound", "likely")
def nouveau_is_at_work_and_torch_sees_none(
    _log: Symptom = seen(tag="nouveau-at-work"), torch: Torch = one(available=False), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """As above, where a torch reports that it sees none, and is not known to be for the processor alone or for AMD."""
    other = torch.get("hip") or "+cpu" in str(torch.get("version", ""))
    return loaded is None and driver is None and not other and torch.available is False
