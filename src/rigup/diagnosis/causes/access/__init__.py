"""Causes of the family access: who may open what."""
