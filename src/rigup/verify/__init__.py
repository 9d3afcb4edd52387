"""The proof: an environment's own Python computes on every device, and what it measured is judged here."""
