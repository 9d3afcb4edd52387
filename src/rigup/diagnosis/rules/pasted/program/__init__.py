"""What a program itself asks for, and its ranks."""

from rigup.diagnosis.rules.pasted.program import devices, network

__all__ = ["devices", "network"]
