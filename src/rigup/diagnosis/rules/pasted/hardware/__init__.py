"""Cards, their faults and their memory."""
