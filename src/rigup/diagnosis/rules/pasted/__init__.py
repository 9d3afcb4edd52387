"""Rules that wait for what people write, or for what their programs said to them: a machine that is asked itself says neither.

`_told` are rules of what people say, `_shown` of what their programs print. They are read where somebody has pasted something: a live doctor does without a quarter of all rules.
"""

from rigup.diagnosis.rules.pasted import (
    amd_shown,
    amd_shown_around,
    amd_told,
    amd_told_around,
    amd_told_nodes,
    beside_messages,
    builds_shown,
    builds_shown_around,
    builds_told,
    cards_shown,
    container_told,
    devices_shown,
    drivers_shown,
    in_words,
    jobs_shown,
    jobs_shown_around,
    machines_shown,
    macs_shown,
    overrides_shown,
    pools_shown,
    wsl_shown,
)

__all__ = [
    "amd_shown",
    "amd_shown_around",
    "amd_told",
    "amd_told_around",
    "amd_told_nodes",
    "beside_messages",
    "builds_shown",
    "builds_shown_around",
    "builds_told",
    "cards_shown",
    "container_told",
    "devices_shown",
    "drivers_shown",
    "in_words",
    "jobs_shown",
    "jobs_shown_around",
    "machines_shown",
    "macs_shown",
    "overrides_shown",
    "pools_shown",
    "wsl_shown",
]
