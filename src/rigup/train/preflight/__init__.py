"""Scripts that are copied beside a job and run by its own Python: they import torch and each other alone."""
