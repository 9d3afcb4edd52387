"""The driver nova_core holds the GPU."""

from rigup.diagnosis.causes.driver.modules import NOVA
from rigup.diagnosis.causes.pci import NVIDIA
from rigup.diagnosis.rule import Verdict, one, rule
from rigup.machine.kinds import PciDevice


@rule("nova-core-bound")
def nova_holds_the_card(_card: PciDevice = one(vendor_id=NVIDIA, driver=NOVA)) -> Verdict:
    """The kernel's new driver, which does not compute."""
    return True
