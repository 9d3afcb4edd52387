"""Which allocation of a cluster ends a piece of work soonest: speed, limits, the queue replayed, and the answer."""
