"""Ranks waited in vain for each other."""

from rigup.diagnosis.rule import Params, mends


@mends("collective-timed-out")
def first_of_all(knew: Params) -> Params:
    """Where the very first collective hangs, the ways between the cards are to be looked at."""
    return {"direct": "NCCL_P2P_DISABLE" if str(knew.get("number")) in ("0", "1") else None}
