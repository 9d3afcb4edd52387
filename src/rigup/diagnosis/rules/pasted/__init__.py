"""Rules that wait for what people write, or for what their programs said to them: a machine that is asked itself says neither.

They are read where somebody has pasted something: a live doctor does without a quarter of all rules.
"""

from rigup.diagnosis.rules.pasted import (
    amd_shown,
    amd_shown_around,
    amd_told,
    amd_told_around,
    amd_told_nodes,
    bare_cards,
    bare_jobs,
    bare_machines,
    beside_messages,
    builds_shown,
    builds_told,
    container_told,
    in_words,
    overrides_shown,
    wsl_shown,
)

__all__ = [
    "amd_shown",
    "amd_shown_around",
    "amd_told",
    "amd_told_around",
    "amd_told_nodes",
    "bare_cards",
    "bare_jobs",
    "bare_machines",
    "beside_messages",
    "builds_shown",
    "builds_told",
    "container_told",
    "in_words",
    "overrides_shown",
    "wsl_shown",
]
