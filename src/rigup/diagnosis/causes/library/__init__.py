"""Causes of the family library: libraries beside the framework."""
