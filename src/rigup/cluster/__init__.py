"""A cluster of many machines: what stands idle, what differs between nodes that should be alike, and what was asked for in vain."""
