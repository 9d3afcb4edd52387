"""Windows and the Linux inside it."""

from rigup.diagnosis.rules.pasted.wsl import rocm, sides, versions

__all__ = ["rocm", "sides", "versions"]
