"""Causes of the family directml: DirectML."""
