"""Cards, their faults and their memory."""

from rigup.diagnosis.rules.pasted.hardware import carved, counted, faults, main_memory, partitions, taken

__all__ = ["carved", "counted", "faults", "main_memory", "partitions", "taken"]
