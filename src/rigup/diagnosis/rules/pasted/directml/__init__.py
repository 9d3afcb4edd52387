"""DirectML's adapters and operations."""
