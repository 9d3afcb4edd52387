"""Macs and their GPUs."""
