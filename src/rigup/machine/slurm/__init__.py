"""What Slurm's own commands print, as typed values: text and JSON of every release that is met."""
