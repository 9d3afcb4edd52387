"""Macs and their GPUs."""

from rigup.diagnosis.rules.pasted.apple import metal, processes

__all__ = ["metal", "processes"]
