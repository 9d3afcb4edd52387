"""Causes of the family rocm: ROCm."""
