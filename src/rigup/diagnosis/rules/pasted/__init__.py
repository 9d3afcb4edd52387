"""Rules that wait for what people write, or for what their programs said to them: a machine that is asked itself says neither.

They are read where somebody has pasted something: a live doctor does without a quarter of all rules.
"""

from rigup.diagnosis.rules.pasted import (
    amd_told,
    amd_told_around,
    amd_told_nodes,
    beside_messages,
    container_told,
    in_words,
)

__all__ = [
    "amd_told",
    "amd_told_around",
    "amd_told_nodes",
    "beside_messages",
    "container_told",
    "in_words",
]
