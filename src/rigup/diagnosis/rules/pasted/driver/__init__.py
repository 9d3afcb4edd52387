"""The kernel's side, and cards that no driver serves."""

from rigup.diagnosis.rules.pasted.driver import (
    amd,
    guests,
    missing,
    module_builds,
    no_gpu,
    others_bound,
    passthrough,
    unified_memory,
    versions,
)

__all__ = [
    "amd",
    "guests",
    "missing",
    "module_builds",
    "no_gpu",
    "others_bound",
    "passthrough",
    "unified_memory",
    "versions",
]
