"""No node of that partition has the GPUs that the job asks for."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import JobRequest, Symptom


@mends("slurm-gres-not-there")
def gres_of_the_partition(has: Symptom = seen("sinfo-lists-gres"), asked: JobRequest | None = None) -> Params:
    """The one that sinfo lists, in the partition that has it, where that is not the default one."""
    wanted = str(asked.get("gpus_per_node") or "1") if asked is not None else "1"
    partition = f"--partition={has.partition} " if has.get("partition") and not has.get("default") else ""
    return {"option": f"{partition}--gres={has.gres}:{wanted}"}
