"""The batch script starts the program once, without srun."""

from rigup.diagnosis.causes.scheduler.requests import is_interactive, total
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import JobRequest, Launch, Symptom


@rule("slurm-srun-missing", "likely")
def torchrun_on_the_first_node_only(
    want: Launch = one(framework=("torchrun", "accelerate")), job: JobRequest = one(launcher=("torchrun", "accelerate"))
) -> Verdict:
    """It waits for the other nodes, on which nobody starts it."""
    return want.nodes > 1 and (job.nodes or 1) > 1 and {"total": want.nodes}


@rule("slurm-srun-missing")
def first_rank_waits_alone(want: Launch, job: JobRequest = one(launcher="python")) -> Verdict:
    """One process is started, and counts on several."""
    alone = set(want.ranks) == {0} and want.world > 1
    return alone and total(job) > 1 and {"total": total(job)}


@rule("slurm-srun-missing", "possible")
def first_rank_alone_in_a_job_of_several_tasks(want: Launch, job: JobRequest) -> Verdict:
    """As above, where nobody shows by what it was started."""
    alone = set(want.ranks) == {0} and want.world == total(job) > 1
    return alone and not job.get("launcher") and not job.get("interactive") and {"total": total(job)}


@rule("slurm-srun-missing", "likely")
def several_tasks_and_one_start(_want: Launch = one(framework="lightning"), job: JobRequest = one(launcher="python")) -> Verdict:
    """Lightning believes Slurm's numbers, and nobody starts the other tasks."""
    return total(job) > 1 and not job.get("interactive") and {"total": total(job)}


@rule("slurm-srun-missing", "likely")
def warned_in_a_job_of_several_tasks(
    _warned: Symptom = seen("lightning-srun-not-used"), job: JobRequest = one(launcher="python")
) -> Verdict:
    """Lightning's warning; in an interactive run it is harmless."""
    return total(job) > 1 and not is_interactive(job) and {"total": total(job)}


@rule("slurm-srun-missing", "likely")
def one_task_of_one_node_came(
    job: JobRequest = one(nodes=1), symptom: Symptom = seen("one-client-joined"), launcher: JobRequest | None = one(launcher="srun")
) -> Verdict:
    """As many were to come as the job has tasks on its one node, and the first alone was started."""
    several = total(job) == int(symptom.world) > 1
    return several and launcher is None and not job.get("interactive") and {"total": total(job)}


@rule("slurm-srun-missing", "likely")
def first_rank_waits_until_the_end(
    want: Launch, _end: Symptom = seen("slurm-time-limit", "rendezvous-timed-out"), _warned: Symptom = seen("lightning-srun-not-used")
) -> Verdict:
    """srun is not used, rank 0 alone announces itself, and then the time is over."""
    return set(want.ranks) == {0} and want.world > 1 and {"total": want.world}


@text_rule("slurm-srun-missing", "likely")
def ranks_of_one_node_wait_for_the_others(
    want: Launch = one(framework="lightning"),
    _slurm: Symptom = seen("slurm-told", "slurm-told-in-small-letters"),
    job: JobRequest | None = one(launcher="srun"),
) -> Verdict:
    """The first node's ranks announce themselves once each, and nobody starts the same on the others."""
    count = len(want.ranks)
    first = 1 < count < want.world and sorted(want.ranks) == list(range(count)) and want.world % count == 0
    return first and job is None and {"total": want.world}


@text_rule("slurm-srun-missing", "likely")
def ranks_of_one_node_came(symptom: Symptom = seen("some-clients-joined"), job: JobRequest = one()) -> Verdict:
    """A launcher was started on the first of several nodes: exactly that node's ranks met."""
    nodes, came, world = job.get("nodes") or 1, int(symptom.came), int(symptom.world)
    alone = job.get("launcher") != "srun" and not job.get("interactive")
    return nodes > 1 and came * nodes == world and alone and {"total": nodes}


@text_rule("slurm-srun-missing", "possible")
def first_rank_alone_until_the_time_is_over(
    want: Launch, _end: Symptom = seen("slurm-time-limit", "rendezvous-timed-out", "lightning-srun-not-used")
) -> Verdict:
    """Rank 0 of several announces itself, nobody else does, and the time is over, or Lightning misses srun."""
    return set(want.ranks) == {0} and len(want.ranks) == 1 and want.world > 1 and {"total": want.world}


@text_rule("slurm-srun-missing", "possible")
def ranks_of_other_nodes_do_not_come(
    _late: Symptom = seen("elastic-rendezvous-timed-out", "rendezvous-timed-out"),
    job: JobRequest = one(),
    started: JobRequest | None = one(launcher="srun"),
) -> Verdict:
    """A batch script of several nodes, no srun in it, and the launcher waits for nodes."""
    nodes = job.get("nodes") or 1
    return started is None and nodes > 1 and not job.get("interactive") and {"total": nodes}


@text_rule("slurm-srun-missing", "possible")
def first_rank_waits_in_a_job_that_is_told_of(
    symptom: Symptom = seen("one-client-joined"),
    _slurm: Symptom = seen("slurm-told", "batch-system-is-slurm"),
    job: JobRequest | None = one(),
) -> Verdict:
    """One rank of several came, and Slurm was to start them."""
    return job is None and {"total": int(symptom.world)}


@text_rule("slurm-srun-missing", "likely")
def shell_of_a_job_finds_no_srun(_said: Symptom = seen("srun-is-not-found"), job: JobRequest = one()) -> Verdict:
    """In a job srun is there, unless its script replaced PATH, dropped its module, or runs in an image."""
    return {"total": total(job)} if total(job) > 1 else True


@mends("slurm-srun-missing")
def why_it_is_not_used(
    missed: Symptom | None = seen("srun-is-not-found"),
    replaced: Symptom | None = seen("batch-script-replaces-path"),
    image: Symptom | None = seen("enroot-shown"),
) -> Params:
    """It is not called, or the script cannot find it: for its own PATH, or for an image in which it runs."""
    if missed is None:
        return {"plain": "srun"}
    path = str(replaced.line).strip() if replaced is not None else None
    return {
        "command": "srun",
        "path": path,
        "image": "image" if image is not None else None,
        "lost": None if path or image is not None else "path",
    }
