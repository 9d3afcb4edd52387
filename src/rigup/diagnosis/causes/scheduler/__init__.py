"""Causes of the family scheduler: Slurm."""
