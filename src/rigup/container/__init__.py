"""Containers: the command that starts one on a machine, what is wrong with the files that describe one, and why one sees no GPU."""
