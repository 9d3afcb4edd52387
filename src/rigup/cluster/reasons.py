"""Why a job waits, for its owner: Slurm's word as a sentence. Words as the manual page of squeue has them ("JOB REASON CODES")."""

from rigup.language import N_, _

_BY_WORD = {
    "None": N_("Slurm has not looked at it yet."),
    "Priority": N_("Jobs of higher priority come first."),
    "Resources": N_("It is next, and waits until enough of what it asks for is free."),
    "BeginTime": N_("It may not begin yet: it was told to wait, or was requeued less than two minutes ago."),
    "Reservation": N_("Its reservation has not begun."),
    "ReqNodeNotAvail": N_("Nodes that it could have are down, drained, or reserved before its time limit would end."),
    "DependencyNeverSatisfied": N_("What it depends on did not come about: it never runs. `scancel` takes it out."),
    "Dependency": N_("It waits for another job to end."),
    "JobArrayTaskLimit": N_("As many tasks of its array run as may at once."),
    "JobHeldUser": N_("You hold it: `scontrol release` lets it go."),
    "JobHeldAdmin": N_("An administrator holds it, or its start failed too often."),
    "PartitionTimeLimit": N_("Its time limit is longer than the partition allows: it never runs."),
    "PartitionNodeLimit": N_("It asks for more or fewer nodes than the partition allows: it never runs."),
    "Partition": N_("Its partition starts no jobs now."),
    "BadConstraints": N_("No nodes have what it asks for: it never runs."),
    "InvalidAccount": N_("Its account does not exist any more: it never runs."),
    "InvalidQOS": N_("Its QOS does not exist any more: it never runs."),
    "Licenses": N_("It waits for a license."),
    "QOS": N_("A limit of its QOS is reached: it waits until other jobs end that count there."),
    "MaxMemPerLimit": N_("It asks for more memory than the partition or QOS allows: it never runs."),
    "Assoc": N_("A limit of your account is reached: it waits until other jobs end that count there."),
}


def because(reason: str) -> str:
    """The sentence of the word, or of the longest beginning of it that is known; "" where none is."""
    word = max((word for word in _BY_WORD if reason.startswith(word)), key=len, default="")
    return _(_BY_WORD[word]) if word else ""
