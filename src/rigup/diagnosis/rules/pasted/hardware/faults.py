"""Cards that fell off the bus, do not start or lose bits."""
