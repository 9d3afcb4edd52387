"""Macs and their GPUs."""

from rigup.diagnosis.rules.pasted.apple import metal

__all__ = ["metal"]
