"""A job waits in Slurm's queue: the one that is asked about, and not the first of the list."""

from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, rule, seen
from rigup.machine.kinds import Symptom


@rule("slurm-job-waits")
def job_of_who_asks_waits(symptom: Symptom = seen("job-waits-for-its-turn"), own: Symptom = seen(tag="own-job")) -> Verdict:
    """Of a queue that shows everybody's jobs the one of whoever lists, submits or names it."""
    return bool(symptom.get("job")) and symptom.get("job") == own.get("job") and symptom.values()


@rule("slurm-job-waits")
def some_job_waits(symptom: Symptom = seen("job-waits-for-its-turn"), own: Symptom | None = seen(tag="own-job")) -> Verdict:
    """Where nobody tells whose is whose."""
    return own is None and symptom.values()


@mends("slurm-job-waits")
def when_it_is_to_start(knew: Params, plans: Every[Symptom] = every(Symptom, id="slurm-plans-a-start")) -> Params:
    """As squeue has it."""
    start = next((str(plan.get("start")) for plan in plans if plan.get("job") == knew.get("job")), None)
    return {"start": start.replace("T", " ")} if start else {}
