"""All tables of functions that NumPy and JAX share, by the names of their checks; what programs lean on most, first."""

from __future__ import annotations

from typing import Any

import rigup_probe_rows_algebra as algebra
import rigup_probe_rows_elements as elements
import rigup_probe_rows_lanes as lanes
import rigup_probe_rows_moves as moves

TABLES: dict[str, Any] = {
    "functions": (elements.elements, elements.pairs),
    "statistics": (lanes.reductions,),
    "products": (algebra.products,),
    "moves": (moves.joins, moves.turns, moves.places),
    "orders": (lanes.orders,),
    "algebra": (algebra.matrices, algebra.transforms),
    "made": (moves.making,),
}
