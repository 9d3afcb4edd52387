"""Verification: an environment's own Python computes on each device, and the measurements are judged here."""
