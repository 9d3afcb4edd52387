"""Jobs of Slurm."""
