"""Notebooks: Jupyter in the right environment, its kernels, and commands inside of a notebook."""
