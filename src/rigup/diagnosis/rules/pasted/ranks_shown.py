"""What jobs, launchers and measurements show together: a request without GPUs, ranks that nobody starts, cards that hinder each other."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import JobRequest, Symptom, Variable

_HINDERED = 0.5  # of the way by the processor, which the direct way should beat


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def direct_way_is_slower_than_the_detour(said: Symptom = seen("bandwidth-between-cards-measured")) -> Verdict:
    """Copies between two cards are slower by the direct way than by memory."""
    on, off = (float(part) if part.count(".") < 2 else 0.0 for part in (said.on, said.off))
    return 0 < on < _HINDERED * off


@rule("slurm-no-gpu-requested", "likely")
def nodes_driver_is_not_permitted_in_a_job(_said: Symptom = seen("kfd-not-permitted"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """Slurm's control group lets a job open the cards that it asked for, and no other."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    return not numbers and {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def workflow_hands_its_step_to_slurm_without_gpus(
    _none: Symptom = seen("workflow-asks-for-no-accelerators"), _slurm: Symptom = seen("batch-system-is-slurm"),
    said: Symptom = seen("program-finds-no-gpu-device", "cuda-no-device", "torch-no-cuda-gpus", "torch-found-no-driver", "nvidia-smi-no-devices"),
) -> Verdict:  # fmt: skip
    """The workflow's own log names no accelerator for the step, and its program finds none."""
    return {"said": said.id}


@rule("slurm-srun-missing", "possible")
def ranks_of_other_nodes_do_not_come(
    _late: Symptom = seen("elastic-rendezvous-timed-out", "rendezvous-timed-out"), job: JobRequest = one(), started: JobRequest | None = one(launcher="srun"),
) -> Verdict:  # fmt: skip
    """A batch script of several nodes, no srun in it, and the launcher waits for nodes."""
    nodes = job.get("nodes") or 1
    return started is None and nodes > 1 and not job.get("interactive") and {"total": nodes}


@rule("slurm-srun-missing", "possible")
def first_rank_waits_in_a_job_that_is_told_of(
    said: Symptom = seen("one-client-joined"),
    _slurm: Symptom = seen("slurm-told", "batch-system-is-slurm"),
    job: JobRequest | None = one(),
) -> Verdict:
    """One rank of several came, and Slurm was to start them."""
    return job is None and {"total": int(said.world)}


@rule("multinode-wrong-interface", "possible")
def ranks_meet_by_a_tunnel(_said: Symptom = seen("nccl-uses-a-tunnel"), made: Symptom | None = seen("nccl-is-made")) -> Verdict:  # fmt: skip
    """NCCL takes a tunnel's interface first, and no communicator comes about."""
    return made is None


@rule("multinode-wrong-interface", "likely")
def what_is_to_be_avoided_leaves_loopback(
    used: Symptom = seen("nccl-uses-loopback"), wish: Variable = one(name="NCCL_SOCKET_IFNAME"), made: Symptom | None = seen("nccl-is-made")
) -> Verdict:  # fmt: skip
    """NCCL passes loopback by of itself; who names what is to be avoided has to name it, too."""
    avoided = str(wish.value).removeprefix("^").split(",") if str(wish.value).startswith("^") else ["lo"]
    return made is None and not any("lo".startswith(name) for name in avoided) and {"address": used.get("address")}
