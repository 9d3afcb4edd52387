"""Ranks waited in vain for each other."""

from rigup.diagnosis.rule import Every, Params, every, mends, seen
from rigup.machine.kinds import Symptom

_WAITED = "collective-waited-in-vain"


@mends("collective-timed-out")
def first_of_all(
    knew: Params,
    called: Symptom | None = seen("collective-under-a-condition-on-the-rank"),
    tried: Symptom | None = seen("longer-timeout-tried-in-vain"),
) -> Params:
    """Where the very first collective hangs, the ways between the cards are to be looked at; a call that the shown code leaves to one rank is the cause."""
    call = str(called.call) if called is not None else None
    return {
        "direct": "NCCL_P2P_DISABLE" if str(knew.get("number")) in ("0", "1") and call is None else None,
        "call": call,
        "logs": None if call else "log",
        "longer": None if call or tried is not None else "timeout",
    }


@mends("collective-timed-out")
def ranks_at_different_collectives(knew: Params, waits: Every[Symptom] = every(Symptom, id=_WAITED)) -> Params:
    """Of the same number, and not the same call: some ranks ran code that others did not."""
    calls = {str(one.get("operation")) for one in waits if str(one.get("number")) == str(knew.get("number"))}
    others = sorted(calls - {str(knew.get("operation"))})
    return {"other": others[0], "logs": None} if others and not knew.get("call") else {}
