"""ollama: what its service really runs with, and what it is given."""
