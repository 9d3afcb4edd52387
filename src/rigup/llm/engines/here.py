"""What this machine has for an engine: memories, and the variables that its devices need."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from rigup.fit.pools import CARD, Pool

if TYPE_CHECKING:
    from rigup.machine.store import Facts


class Here(NamedTuple):
    """What an engine is chosen and set by.

    Attributes:
        pools: the memories, the system's last.
        environ: all variables of an engine's process.
        needed: those of them that the devices need, each with why.

    """

    pools: tuple[Pool, ...]
    environ: Mapping[str, str]
    needed: tuple[tuple[str, str], ...] = ()


def here(on: str | None = None) -> Here:
    """This machine as it is seen now; `on` as `rigup fit --on` takes it: "cpu" is its processor alone.

    Raises:
        FitError: `on` names nothing.
        KnowledgeError: a table is malformed.

    """
    from rigup.fit.where import pools_on

    if on is not None:
        return Here(pools_on(on), dict(os.environ))
    from rigup.fit.measured import with_measured
    from rigup.fit.where import pools_seen
    from rigup.plan.environments.devices import libraries, needed
    from rigup.plan.environments.running import activated, merged
    from rigup.stack.seen import site_of

    facts = _looked()
    site = site_of(facts, "")
    wanted, folders = needed(site), libraries(facts, site)
    reasons = tuple((setting.name, f"{setting.value} ({setting.because})") for setting in (*wanted, *folders))
    return Here(with_measured(pools_seen(facts)), merged(activated(None, wanted, folders), os.environ), reasons)


def memories(machine: Here) -> tuple[Pool, ...]:
    """The memories as they are filled now; empty on a machine without a card whose memory can be read."""
    from rigup.fit.where import pools_seen

    if not any(pool.kind == CARD and not pool.assumed for pool in machine.pools):
        return ()
    return pools_seen(_looked())


def _looked() -> "Facts":
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.look import look
    from rigup.machine.sources import close_sources, open_source

    try:
        return look(open_source(None))
    finally:
        close_sources()
