"""The port that the program wants to listen on is taken."""

from rigup.diagnosis.rule import Params, mends


@mends("port-in-use")
def port_that_is_taken(knew: Params) -> Params:
    """Whichever of its wordings was printed."""
    return {"port": knew.get("port") or knew.get("port2")}
