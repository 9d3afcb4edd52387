"""Causes of the family running: what slows work that runs."""
