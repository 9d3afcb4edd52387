"""Causes of the family apple: Macs and MPS."""
