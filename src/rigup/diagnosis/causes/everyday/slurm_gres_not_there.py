"""No node of that partition has the GPUs that the job asks for."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import JobRequest, Symptom


@mends("slurm-gres-not-there")
def gres_of_the_partition(has: Symptom = seen("sinfo-lists-gres"), asked: JobRequest | None = None) -> Params:
    """The one that sinfo lists, where the script asks for another."""
    wanted = str(asked.get("gpus_per_node") or "1") if asked is not None else "1"
    return {"option": f"--gres={has.gres}:{wanted}"}
