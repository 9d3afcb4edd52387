"""All tables of functions that NumPy and JAX share, by the names of their checks; what programs lean on most, first."""

from __future__ import annotations

from typing import Any

from rigup_probe_tables import rows_algebra as algebra
from rigup_probe_tables import rows_elements as elements
from rigup_probe_tables import rows_lanes as lanes
from rigup_probe_tables import rows_moves as moves

TABLES: dict[str, Any] = {"functions": (elements.elements, elements.pairs), "statistics": (lanes.reductions,), "products": (algebra.products,), "moves": (moves.joins, moves.turns, moves.places), "orders": (lanes.orders,), "algebra": (algebra.matrices, algebra.transforms), "made": (moves.making,)}
