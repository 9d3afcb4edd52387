"""A GPU's system processor (GSP) does not answer."""

from rigup.diagnosis.rule import Params, mends, one
from rigup.machine.kinds import Driver, Platform


@mends("gsp-timeout-xid-119")
def whether_its_firmware_can_be_left_out(
    driver: Driver | None = one(vendor="nvidia"), platform: Platform | None = one(system="windows")
) -> Params:
    """Only the proprietary module of Linux works without it."""
    flavour = driver.get("flavour") if driver else None
    if platform is not None or flavour == "open":
        return {"without": None, "closed": None}
    return {"closed": "0"} if flavour == "proprietary" else {"without": "0", "flavour": "proprietary"}
