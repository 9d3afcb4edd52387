"""Causes of the family wsl: WSL."""
