"""Jobs of Slurm."""

from rigup.diagnosis.rules.pasted.scheduler import ranks, requests

__all__ = ["ranks", "requests"]
