"""The job asks Slurm for fewer GPUs than the program wants."""

from math import prod

from rigup.diagnosis.causes.scheduler.requests import as_it_asks, asking, per_node, tasks_per_node, wants_gpu
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import JobRequest, Launch, Symptom


@rule("slurm-gpu-request-too-small")
def fewer_gpus_than_devices(want: Launch, job: JobRequest) -> Verdict:
    """The numbers of the request and of the launcher."""
    have = per_node(job)
    few = have is not None and 0 < have < want.devices and not (job.get("gpus") and (job.get("nodes") or 1) > 1)
    return few and wants_gpu(want) and {"have": have, **asking(want.devices)}


@rule("slurm-gpu-request-too-small")
def fewer_gpus_than_tasks(
    job: JobRequest,
    clash: Symptom = seen("nccl-duplicate-gpu", "nccl-ranks-on-one-gpu", "cuda-invalid-ordinal", "lightning-rank-beyond-devices"),
    shared: Symptom | None = seen(tag="shared-on-purpose"),
) -> Verdict:
    """Two ranks meet on one GPU, or one looks for a GPU that is not there; but some share their GPUs on purpose."""
    have, tasks = per_node(job), tasks_per_node(job) or 1
    intended = shared is not None and not clash.id.startswith("nccl")
    few = have is not None and 0 < have < tasks and not intended and not job.get("gpus")
    whole = (job.get("nodes") or 1) > 1 and have != 1  # who goes on to a second node has taken all of the first
    return few and not whole and {"have": have, **asking(tasks)}


@text_rule("slurm-gpu-request-too-small", "likely")
def engine_wants_more_than_the_job_has(
    want: Symptom = seen("vllm-tensor-parallel", "accelerate-processes"), job: JobRequest = one()
) -> Verdict:
    """A program is to use more GPUs than its one node was asked for."""
    have, wanted = per_node(job), int(want.count)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@text_rule("slurm-gpu-request-too-small", "likely")
def program_is_told_of_more_than_the_job_has(want: Symptom = seen(tag="gpu-count-wanted"), job: JobRequest = one()) -> Verdict:
    """The program's own option names more GPUs than its one node was asked for."""
    have, listed = per_node(job), want.get("list")
    wanted = listed.count(",") + 1 if listed else int(want.get("count") or want.get("count2") or 0)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@text_rule("slurm-gpu-request-too-small", "likely")
def more_are_started_than_the_job_has_cards(
    want: Symptom = seen("nccl-test-wants-cards", "composer-counts-processes", "fairseq-counts-processes", "horovod-counts-processes"),
    job: JobRequest = one(),
    _beyond: Symptom = seen(tag="gpu-count-beyond"),
) -> Verdict:
    """A launcher's or a test's own number, on one node, and one of its processes looks for a card that the job has not."""
    have, wanted = per_node(job), int(want.count)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@text_rule("slurm-gpu-request-too-small", "likely")
def trainer_counts_fewer_than_it_is_to_find(want: Symptom = seen("lightning-finds-fewer-cards"), job: JobRequest = one()) -> Verdict:
    """The message has both numbers, and the fewer are what the job was given."""
    have, wanted = per_node(job), int(want.count)
    return have == int(want.have) and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


def _devices_wanted(symptom: Symptom) -> int:
    """As many as a message counts, lists, multiplies, or names the last of."""
    if symptom.get("shape"):
        return prod(int(part) for part in symptom.shape.split(",") if part.strip())
    if symptom.get("list"):
        return len(symptom.list.split(","))
    return int(symptom.get("count") or int(symptom.get("index") or 1) + 1)


@text_rule("slurm-gpu-request-too-small")
def program_has_fewer_than_it_is_to_use(want: Symptom = seen(tag="gpu-count-fewer"), job: JobRequest = one()) -> Verdict:
    """A program tells how many it is to use, and the fewer that it has are what its one node was asked for."""
    have, wanted = per_node(job), _devices_wanted(want)
    same = want.get("have") is None or have == int(want.have)
    return have is not None and same and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@text_rule("slurm-gpu-request-too-small", "likely")
def submitit_asks_for_fewer_cards_than_tasks(
    asks: Symptom = seen("submitit-asks-for-tasks-and-cards"),
    _beyond: Symptom = seen("lightning-rank-beyond-devices", tag="gpu-count-beyond"),
) -> Verdict:
    """A job asked for in Python: fewer GPUs on a node than tasks there, and a task looks for a card beyond."""
    have, tasks = int(asks.get("gpus") or asks.gpus_), int(asks.get("tasks") or asks.tasks_)
    return 0 < have < tasks and {"have": have, **asking(tasks)}


@text_rule("slurm-gpu-request-too-small", "likely")
def engine_finds_fewer_than_it_requires(symptom: Symptom = seen("ray-has-too-few-for-the-engine"), job: JobRequest = one()) -> Verdict:
    """Ray counts what the job was given, and the engine wants more."""
    have = per_node(job)
    return bool(have) and (job.get("nodes") or 1) == 1 and {"said": symptom.id, "have": have}


@mends("slurm-gpu-request-too-small")
def as_many_as_the_program_wants(
    knew: Params, job: JobRequest | None = None, symptom: Symptom | None = seen("nodes-of-a-job-count-unlike-cards")
) -> Params:
    """In words where the text does not show how many these are."""
    if knew.get("option"):
        return as_it_asks(str(knew["option"]), job)
    return {} if symptom else {"unknown": "--gpus-per-node"}
