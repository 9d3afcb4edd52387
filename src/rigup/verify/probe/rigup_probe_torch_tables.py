"""All tables of operators by the names of their checks."""

from __future__ import annotations

import gc
from typing import Any, Callable, Dict, Iterator

import torch
from rigup_probe_budget import BUDGET
from rigup_probe_tables import torch_algebra as algebra
from rigup_probe_tables import torch_arguments as arguments
from rigup_probe_tables import torch_attention as attention
from rigup_probe_tables import torch_casts as casts
from rigup_probe_tables import torch_convolved as convolved
from rigup_probe_tables import torch_counts as counts
from rigup_probe_tables import torch_elements as elements
from rigup_probe_tables import torch_functions as functions
from rigup_probe_tables import torch_goals as goals
from rigup_probe_tables import torch_large as large
from rigup_probe_tables import torch_layers as layers
from rigup_probe_tables import torch_margins as margins
from rigup_probe_tables import torch_matrices as matrices
from rigup_probe_tables import torch_modules as modules
from rigup_probe_tables import torch_moves as moves
from rigup_probe_tables import torch_networks as networks
from rigup_probe_tables import torch_norms as norms
from rigup_probe_tables import torch_orders as orders
from rigup_probe_tables import torch_places as places
from rigup_probe_tables import torch_pooling as pooling
from rigup_probe_tables import torch_ranked as ranked
from rigup_probe_tables import torch_resampling as resampling
from rigup_probe_tables import torch_resizing as resizing
from rigup_probe_tables import torch_rows as rows
from rigup_probe_tables import torch_shapes as shapes
from rigup_probe_tables import torch_sizes as sizes
from rigup_probe_tables import torch_statistics as statistics
from rigup_probe_tables import torch_switches as switches
from rigup_probe_tables import torch_transformers as transformers
from rigup_probe_tables import torch_transforms as transforms
from rigup_probe_tables import torch_two_numbers as two_numbers
from rigup_probe_tables import torch_types as types
from rigup_probe_tables import torch_windows as windows
from rigup_probe_torch_cases import FLOATS, Case
from rigup_probe_torch_measured import measured

Check = Callable[[Dict[str, Any]], Any]
Table = Callable[[], Iterator[Case]]


def _all(*tables: Table) -> Table:
    """Several as one."""

    def joined() -> Iterator[Case]:
        for part in tables:
            yield from part()

    return joined


def _without(table: Table, *fields: str, words: tuple[str, ...] = ("",)) -> Table:
    """The table with some fields set to False in cases whose name contains one of the words."""

    def filtered() -> Iterator[Case]:
        for case in table():
            named = any(word in case.name for word in words)
            yield case._replace(**dict.fromkeys(fields, False)) if named else case

    return filtered


def _perhaps(table: Table) -> Table:
    """The table with all cases optional: an older release may lack them."""

    def optional_cases() -> Iterator[Case]:
        yield from (case._replace(optional=True) for case in table())

    return optional_cases


_OF_EQUAL = ("imum", "(threshold)", "smooth_l1", "huber")  # their inputs lie where the function has a bend
_REFUSED = ("binary_cross_entropy", "ignore_index")  # no NaN is taken, or it is left out
TABLES: dict[str, Table] = {
    "elementwise": _all(
        _without(elements.elementwise, "twice", words=_OF_EQUAL),
        sizes.ranges,
        sizes.small_numbers,
        sizes.mixed_layouts,
        arguments.elementwise,
    ),
    "activations": _all(elements.activations, _without(arguments.activations, "twice", words=_OF_EQUAL)),
    "special-values": _without(_all(elements.special_values, orders.special_values), "spreads"),
    "integers": _all(elements.integers, types.integers),
    "products": _all(networks.products, sizes.products, arguments.products),
    "integer-products": _all(networks.in_whole_numbers, types.products),
    "convolution": _all(networks.convolutions, windows.convolutions),
    "pooling": _all(networks.pools, resizing.windows),
    "attention": _all(attention.attentions, sizes.attentions, layers.attentions),
    "recurrent": _all(attention.recurrents, layers.recurrents),
    "embedding": _all(attention.embeddings, sizes.embeddings, layers.embeddings),
    "softmax": rows.softmaxes,
    "losses": _without(
        _without(_all(rows.losses, resizing.losses, arguments.losses, norms.losses), "spreads", words=_REFUSED), "twice", words=_OF_EQUAL
    ),
    "normalization": _all(rows.normalizations, norms.normalizations),
    "reductions": _all(rows.reductions, sizes.reductions, arguments.reductions),
    "indexing": _all(moves.indexing, resizing.places, orders.places),
    "sorting": _all(moves.sorting, sizes.sorting, arguments.sorting, orders.sorting),
    "complex": _without(matrices.complex_numbers, "spreads"),
    "linear-algebra": _without(matrices.matrices, "spreads"),
    "interpolation": resizing.interpolations,
    "conversions": _all(types.conversions, arguments.conversions),
}


# tried after the others: what is reached less often, by every name and with every argument; what takes longest last
FURTHER: dict[str, Table] = {
    "places": _perhaps(_all(places.places, switches.places)),
    "casts": _perhaps(_all(casts.casts, casts.promotions)),
    "shapes": _perhaps(_all(shapes.shapes, shapes.joins, shapes.numbers)),
    "functions": _perhaps(_all(functions.functions, two_numbers.pairs, functions.triples)),
    "statistics": _perhaps(_all(statistics.reductions, ranked.quantiles, ranked.differences, counts.counts)),
    "products-by-all-names": _perhaps(algebra.products),
    "modules": _perhaps(_all(modules.activations, modules.norms, convolved.embeddings)),
    "losses-by-all-arguments": _perhaps(_all(goals.pairs, goals.classes, margins.sequences)),
    "transformers": _perhaps(_all(transformers.layers, transformers.cells)),
    "windows": _perhaps(_all(pooling.pools, pooling.paddings, resampling.sizes, convolved.convolutions)),
    "large-results": _perhaps(large.large),
    "complex-and-fourier": _perhaps(_all(switches.spectra, algebra.complex_numbers, transforms.transforms)),
    "algebra": _perhaps(_all(algebra.matrices, switches.factors)),
}


def table(name: str, full: bool) -> Check:
    """The check of one table. `full`: with large tensors too, and those in all threads."""

    def checked(device: dict[str, Any]) -> dict[str, Any]:
        dtypes = [dtype for dtype in FLOATS if not (dtype == "float64" and device["type"] == "mps")]
        collected = gc.isenabled()
        gc.disable()  # references make many small objects, and no circles of them
        precision = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            summary: dict[str, Any] = measured(device, {**TABLES, **FURTHER}[name](), dtypes, full, BUDGET.over)
            return summary
        finally:
            torch.set_float32_matmul_precision(precision)
            gc.freeze()  # what is expected is kept to the end: no need to look through it again and again
            gc.enable() if collected else None

    return in_one_thread(checked)


def in_one_thread(check: Check) -> Check:
    """A check of small tensors.

    Threads that wait for each other take many times as long where other programs keep the processors busy. The large
    products and the training use all threads.
    """

    def checked(device: dict[str, Any]) -> Any:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return check(device)
        finally:
            torch.set_num_threads(threads)

    return checked
