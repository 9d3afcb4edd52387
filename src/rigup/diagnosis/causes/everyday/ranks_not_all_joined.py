"""Not all processes came to the meeting of the ranks."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("ranks-not-all-joined")
def where_the_first_rank_waits(asked: Symptom = seen("torchrun-names-its-master")) -> Params:
    """The address and the port that the command line names."""
    port = asked.get("port") or asked.get("at") or "29500"
    return {"address": f"{asked.host}:{port}", "host": asked.host, "port": port}


@mends("ranks-not-all-joined")
def where_nobody_listens(symptom: Symptom = seen("first-rank-refuses")) -> Params:
    """The machine answers, and nothing listens there: the first rank has not started, or listens elsewhere."""
    return {"address": f"{symptom.host}:{symptom.port}", "host": symptom.host, "port": symptom.port}
