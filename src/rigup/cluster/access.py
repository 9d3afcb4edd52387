"""Who may use a partition of a cluster."""

from rigup.language import _
from rigup.machine.slurm.values import Partition


def barred(partition: Partition, groups: frozenset[str], accounts: set[str]) -> str:
    """Why somebody of these groups and accounts may not use a partition; "" where nothing is known against it."""
    if partition.root_only:
        return _("Only root may use it.")
    if partition.allow_groups and groups and not groups & set(partition.allow_groups):
        return _("You are in none of its groups: {groups}.").format(groups=", ".join(partition.allow_groups))
    if partition.allow_accounts and accounts and not accounts & set(partition.allow_accounts):
        return _("None of your accounts may use it: {accounts}.").format(accounts=", ".join(partition.allow_accounts))
    if accounts and accounts <= set(partition.deny_accounts):
        return _("Your accounts are shut out.")
    return ""
