"""Who types what a way says: root, or an account in certain groups."""

from rigup.machine.kinds import Account, Symptom
from rigup.machine.store import Facts


def groups_of(facts: Facts) -> frozenset[str]:
    """Those of all accounts that were seen, where that is one; a service's own (`id ollama`) types nothing."""
    seen = [account.get("groups") or [] for account in facts.of(Account) if account.get("groups") and not _is_a_service(account)]
    return frozenset(seen[0]) if len(seen) == 1 else frozenset()


def _is_a_service(account: Account) -> bool:
    """Whether it is of the numbers that systems keep for their own services (SYS_UID_MAX of login.defs)."""
    return 0 < int(account.get("uid") or 0) < 1000


def root_in(inside: bool, facts: Facts) -> bool:
    """Whether all accounts that were seen inside containers, or outside of them, are root's; else whether a prompt there is, and none is another's."""
    accounts = {account.get("uid") for account in facts.of(Account) if _is_there(account, inside) and account.get("uid") is not None}
    if accounts:
        return accounts == {0}
    # The prompt before a command that starts a container counts as the container's: another's is asked for on both sides.
    return any(_is_there(prompt, inside) for prompt in facts.heard("root-prompt-shown")) and not facts.heard("account-prompt-shown")


def _is_there(seen: Account | Symptom, inside: bool) -> bool:
    """Whether it was seen on that side of a container's wall."""
    return seen.place.world.startswith("container") == inside
