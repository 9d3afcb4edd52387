"""Cards, their faults and their memory."""

from rigup.diagnosis.rules.pasted.hardware import carved, counted, faults, partitions, taken

__all__ = ["carved", "counted", "faults", "partitions", "taken"]
