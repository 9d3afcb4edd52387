"""A job has a card and hardly a core to load its data with."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, seen, text_rule
from rigup.machine.kinds import JobRequest, Symptom

_FEW = 2  # cores; a loader that decodes pictures wants that many workers and more
_WAITS = 0.5  # of a step: the card has nothing to do meanwhile
_USUAL, _MOST = 8, 16  # cores a card that are asked for


@text_rule("slurm-cores-too-few", "likely")
def steps_wait_in_a_job_of_few_cores(waits: Symptom = seen("step-waits-for-data"), cores: Symptom = seen("job-has-few-cores")) -> Verdict:
    """The scheduler tells how many the job has, the training that most of a step is spent on its data."""
    return _is_late(waits) and {"cores": cores.cores}


@text_rule("slurm-cores-too-few", "likely")
def torch_counts_few_cores_in_a_job(
    said: Symptom = seen("dataloader-has-more-workers-than-cores"),
    _job: JobRequest = one(),
    waits: Symptom | None = seen("step-waits-for-data"),
    cores: Symptom | None = seen("job-has-few-cores", "nproc-counts-few"),
) -> Verdict:
    """torch counts what it may use; many workers on one core starve the card where its steps are seen to wait, or the job has no more."""
    few = int(said.most) <= _FEW and int(said.workers) > 2 * int(said.most)
    return few and (cores is not None or _is_late(waits)) and {"cores": said.most}


def _is_late(waits: Symptom | None) -> bool:
    return waits is not None and float(waits.data) > _WAITS * float(waits.time) > 0


@mends("slurm-cores-too-few")
def cores_that_are_wanted(said: Symptom | None = seen("dataloader-has-more-workers-than-cores")) -> Params:
    """As many as the loader has workers, within what sites give to a card."""
    workers = min(max(int(said.workers), 4), _MOST) if said is not None else _USUAL
    return {"option": f"--cpus-per-task={workers}", "workers": str(workers)}
