"""The driver nova_core holds the GPU."""

from rigup.diagnosis.causes.driver.modules import NOVA
from rigup.diagnosis.causes.pci import NVIDIA
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.machine.kinds import PciDevice, Symptom


@rule("nova-core-bound")
def nova_holds_the_card(_card: PciDevice = one(vendor_id=NVIDIA, driver=NOVA)) -> Verdict:
    """The kernel's new driver, which does not compute."""
    return True


@mends("nova-core-bound")
def installer_that_gave_up(
    failed: Symptom | None = seen("nvidia-installer-load-failed"), named: Symptom | None = seen("installer-of-a-linux-driver-named")
) -> Params:
    """NVIDIA's installer takes away what it built where the module does not load: it is run again when the card is free."""
    if failed is None:
        return {"packaged": "driver"}
    return {"installer": named.installer} if named is not None else {"again": failed.id}
