"""Windows and the Linux inside it."""
