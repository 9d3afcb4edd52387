"""No test of environments asks an index that it did not make."""

from tiny_environments import no_indexes

__all__ = ["no_indexes"]
