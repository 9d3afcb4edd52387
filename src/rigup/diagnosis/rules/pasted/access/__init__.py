"""Who may open a card's nodes."""

from rigup.diagnosis.rules.pasted.access import containers, machine

__all__ = ["containers", "machine"]
