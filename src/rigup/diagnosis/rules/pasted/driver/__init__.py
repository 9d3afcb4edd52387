"""The kernel's side, and cards that no driver serves."""
