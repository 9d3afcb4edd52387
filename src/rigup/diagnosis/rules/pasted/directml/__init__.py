"""DirectML's adapters and operations."""

from rigup.diagnosis.rules.pasted.directml import adapters

__all__ = ["adapters"]
