"""Libraries beside frameworks."""

from rigup.diagnosis.rules.pasted.library import clashes, others

__all__ = ["clashes", "others"]
