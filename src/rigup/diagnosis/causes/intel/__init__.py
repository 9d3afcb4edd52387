"""Causes of the family intel: Intel's cards and oneAPI."""
