"""A shell on one Slurm task is taken for the whole job."""

from rigup.diagnosis.causes.scheduler.requests import is_a_shell, is_interactive, per_node, wants_gpu
from rigup.diagnosis.rule import Verdict, one, rule, seen, text_rule
from rigup.machine.kinds import JobRequest, Launch, Symptom


@rule("slurm-interactive-shell", "likely")
def alone_in_a_shell(want: Launch, job: JobRequest) -> Verdict:
    """One member of one, in a shell on a node, with more devices wanted or at hand."""
    several = max(want.get("devices", 1), want.get("visible", 1), per_node(job) or 1)
    return want.world == 1 and is_interactive(job) and several > 1 and {"devices": several}


@rule("slurm-interactive-shell", "possible")
def alone_with_several_devices(want: Launch = one(framework="lightning", world=1), job: JobRequest | None = None) -> Verdict:
    """One member of one where several devices are wanted: a scheduler's single task was taken for all."""
    return job is None and (want.get("nodes") or 1) == 1 and want.devices > 1 and wants_gpu(want)


@rule("slurm-interactive-shell", "likely")
def shell_has_other_numbers(job: JobRequest, symptom: Symptom = seen("lightning-tasks-differ")) -> Verdict:
    """Lightning compares its devices with the one task of a shell."""
    return bool(job.get("interactive")) and {"devices": symptom.get("devices")}


@text_rule("slurm-interactive-shell", "likely")
def lightning_compares_the_task_of_a_shell(
    symptom: Symptom = seen(tag="tasks-differ"), job: JobRequest | None = None, shell: Symptom | None = seen(tag="slurm-shell")
) -> Verdict:
    """As above, where the shell's own variables or its command are shown."""
    return is_a_shell(job, shell) and {"devices": symptom.get("devices") or (job and per_node(job)) or 1}


@text_rule("slurm-interactive-shell", "possible")
def first_rank_alone_in_a_shell(
    want: Launch = one(framework="lightning"), _job: JobRequest = one(interactive=True), works: Symptom | None = seen("epoch-with-its-loss")
) -> Verdict:
    """Somebody in a shell of a job starts one process, and it waits for as many as the job has tasks."""
    return works is None and set(want.ranks) == {0} and len(want.ranks) == 1 and want.world > 1 and {"devices": want.world}
