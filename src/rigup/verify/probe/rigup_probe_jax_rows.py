"""Run the rows of tables with JAX: many in one compiled program, in each type, with gradients; and uncompiled.

To compile takes nearly all of the time, and less for each function of a large program. What is called again with other numbers of
the same shape before it is looked at has no part in what is compiled.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import rigup_probe_tape as tape
from rigup_probe_budget import BUDGET
from rigup_probe_compare import Found
from rigup_probe_grid import Grid
from rigup_probe_jax_places import device_of, elsewhere, moved, wide
from rigup_probe_rows import ONE, TWO, Form, Row, forms, note_result, values

_PIECE = 160  # functions in a program
_AGAIN = 3
_PLAIN = {"xla_backend_optimization_level": 0}
_LEFT = ("UNIMPLEMENTED", "input must be float32 or float64")  # what JAX says of a type that it has no code for
_AGAINST = ("lax.", "scipy.")  # of which most has its row under another name
_DOUBLE = ("float64", "complex128", "int64")
_SPACES = ("nn.", "lax.", "scipy.")


class Item(NamedTuple):
    """A function in one form and type; `way`: plain, its gradient, or over the first dimension."""

    row: Row
    name: str
    kind: str
    form: Form
    way: str = ""

    @property
    def label(self) -> str:
        """The name in reports."""
        return self.way + self.name


def rows_check(*tables: Callable[[], Iterator[Row]], outside: bool = False) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The check of some tables. `outside`: of those that no program can hold, for the shape of the result hangs on the numbers."""

    def checked(device: dict[str, Any]) -> dict[str, Any]:
        found = Found()
        rows = [row for table in tables for row in table() if row.eager == outside]
        items = [item for row in rows for item in _items(device, row)]
        for scope, several in _sorts(items):
            with scope, jax.default_matmul_precision("highest"), jax.default_device(device_of(device)), np.errstate(all="ignore"):
                for at in range(0, len(several), 1 if outside else _PIECE):
                    if BUDGET.over():
                        found.left += [several[at].label]
                    elif outside:
                        _at_once(found, several[at])
                    else:
                        _program(device, found, several[at : at + _PIECE])
        return dict(found.measured())

    return checked


def _sorts(items: list[Item]) -> Iterator[tuple[Any, list[Item]]]:
    """Items by the mode in which they are compiled: usual, and with 64-bit types."""
    double = [item for item in items if item.kind in _DOUBLE]
    yield contextlib.nullcontext(), [item for item in items if item.kind not in _DOUBLE]
    if double:
        yield wide(), double


def _items(device: dict[str, Any], row: Row) -> Iterator[Item]:
    """In quick mode float32 with many numbers, halves with few, and its gradient; else in each type and form."""
    if row.rare and not device["full"]:
        return
    for name in row.names:
        if resolved(name) is None:  # which this release has not
            continue
        for kind, numbers in _types(device, row).items():
            row_forms = forms(row, kind)
            yield from [Item(row, name, kind, row_forms[at]) for at in numbers if -len(row_forms) <= at < len(row_forms)]
            if device["full"] and kind == "float32" and row.shapes in (ONE, TWO) and row.call is None and not row.eager:
                yield Item(row, name, kind, row_forms[0], "vmap of ")
        if row.slope and not row.eager and name == row.names[0] and row.types != "i" and (device["full"] or not name.startswith(_AGAINST)):
            slope = _slope(row)
            if slope is not None:
                yield Item(row, name, "float32", slope, "gradient of ")


def _types(device: dict[str, Any], row: Row) -> dict[str, Any]:
    """Of each type the forms by number: 0 few numbers, 1 the same with NaN, 2 many; where there is no NaN, 0 and 1."""
    odd = row.nan in ("all", "small", "some")
    many, few = (2 if odd else 1), (1 if odd else 0)
    if len(row.shapes) < 2:
        many = few
    every = range(len(row.shapes) + odd) if device["full"] else ()
    if row.name.startswith(_AGAINST) and not device["full"] and row.types != "i":
        return {"float32": (many,), **({"float16": (few,)} if row.types == "f" else {})}
    if row.types == "i":
        return {"int32": every or (many, 0)}
    if row.types == "s":
        return {"float32": every or (0,)}
    if row.types == "m":
        return {"float32": every or (0,), **({"float64": every} if device["full"] and _has_double(device) else {})}
    if row.eager and not device["full"]:
        return {"float32": (few,)}
    found: dict[str, Any] = {"float32": every or (many,), "float16": every or (few,)}
    if device["full"]:
        found.update({"bfloat16": (0,)} if row.factor < 3 else {})
        found.update({"float64": every} if _has_double(device) else {})
        found.update({"int32": every} if "i" in row.types else {})
        found.update({"complex64": every} if "c" in row.types else {})
    return found


def _has_double(device: dict[str, Any]) -> bool:
    return device["type"] in ("cpu", "gpu", "cuda")


def resolved(name: str) -> Any:
    """The function of that dotted name; None where a release has none."""
    space: Any = jax if name.startswith(_SPACES) else jnp
    for part in name.split("."):
        space = getattr(space, part, None)
    return space


def _slope(row: Row) -> Any:
    """The expected gradient of the weighted results; None if the reference has none."""
    grids = forms(row, "float32")[0].grids
    traced = [_traced(grid) if _smooth(row, at) else grid for at, grid in enumerate(grids)]
    try:
        output = row.wanted(*traced)
        results = list(output) if isinstance(output, (tuple, list)) else [output]
        weights = [values((-2, 2), result.shape, at + 3) for at, result in enumerate(results)]
        tape.differentiate([x for result in results for x in result.flat], [x for weight in weights for x in weight.flat])
    except (TypeError, ValueError, ArithmeticError, AttributeError, LookupError):
        return None
    finally:
        tape.forget()
    wanted = [Grid(grid.shape, [x.gradient for x in grid.flat]) for at, grid in enumerate(traced) if _smooth(row, at)]
    return Form("gradient", [*grids, *weights], wanted) if any(x for grid in wanted for x in grid.flat) else None


def _traced(grid: Grid) -> Grid:
    return Grid(grid.shape, [tape.Traced(x) for x in grid.flat])


def _smooth(row: Row, at: int) -> bool:
    return row.types in ("m", "s") or not callable(row.inputs[at])


def _called(item: Item, function: Any, given: list[Any]) -> Any:
    """As its way is."""
    if item.way.startswith("vmap"):
        return jax.vmap(lambda *x: item.row.called(function, x))(*given)
    if not item.way:
        return item.row.called(function, given)
    count = len(item.row.inputs)
    inputs, weights = given[:count], given[count:]
    smooth = [at for at in range(count) if _smooth(item.row, at)]

    def of_smooth(*moving: Any) -> Any:
        held = list(inputs)
        for at, argument in zip(smooth, moving):
            held[at] = argument
        return item.row.called(function, held)

    results, back = jax.vjp(of_smooth, *(inputs[at] for at in smooth))
    pieces, tree = jax.tree_util.tree_flatten(results)
    return list(back(jax.tree_util.tree_unflatten(tree, [w.astype(p.dtype) for w, p in zip(weights, pieces)])))


def _program(device: dict[str, Any], found: Found, items: list[Item]) -> None:
    """All in one; where the compiler refuses it, each by itself."""
    try:
        results, raised = _compiled(device, items)
    except Exception as error:
        if len(items) == 1:
            _refused(found, items[0], error)
            return
        half = len(items) // 2
        _program(device, found, items[:half])
        _program(device, found, items[half:])
        return
    for at, item in enumerate(items):
        if at in raised:
            _refused(found, item, raised[at])
        else:
            _noted(device, found, item, results[at])


def _compiled(device: dict[str, Any], items: list[Item]) -> tuple[dict[int, Any], dict[int, Exception]]:
    """Results and refusals by number; items with the same inputs share them, so that other names of a function cost nothing."""
    keys = [[(item.kind, grid.shape, tuple(grid.flat)) for grid in item.form.grids] for item in items]
    shared = {key: moved(device, np.array(key[2]).reshape(key[1]), key[0]) for several in keys for key in several}
    numbers = {key: at for at, key in enumerate(shared)}
    raised: dict[int, Exception] = {}

    def all_of(held: list[Any]) -> dict[int, Any]:
        outputs = {}
        for at, (item, several) in enumerate(zip(items, keys)):
            function = resolved(item.name)
            try:
                if not item.way:
                    _again(item, function)
                outputs[at] = _called(item, function, [held[numbers[key]] for key in several])
            except Exception as error:  # the others go on
                raised[at] = error
        return outputs

    inputs = list(shared.values())
    program = jax.jit(all_of).lower(inputs)
    return _built(device, program)(inputs), raised


def _built(device: dict[str, Any], program: Any) -> Any:
    """The program; in quick mode the CPU's is not optimised, which takes half of the time: other checks ask the optimiser."""
    if device["full"] or device["type"] != "cpu":
        return program.compile()
    try:
        return program.compile(compiler_options=_PLAIN)
    except Exception:  # a release that has no such option
        return program.compile()


def _again(item: Item, function: Any) -> None:
    """Call with other numbers of the same shape; results are ignored."""
    plain = [np.array(grid.flat).reshape(grid.shape).astype(getattr(jnp, item.kind)) for grid in item.form.grids]
    with contextlib.suppress(TypeError, ValueError, IndexError):
        for turn in range(1, _AGAIN + 1):
            item.row.called(function, [jnp.asarray(np.roll(array, turn, 0) if array.ndim else array) for array in plain])


def _at_once(found: Found, item: Item) -> None:
    """Outside of a program: its result's shape hangs on the numbers."""
    function = resolved(item.name)
    given = [jnp.asarray(np.array(grid.flat).reshape(grid.shape).astype(getattr(jnp, item.kind))) for grid in item.form.grids]
    try:
        _again(item, function)
        note_result(found, item.row, item.kind, item.form, _host(_called(item, function, given)), item.label)
    except Exception as error:
        _refused(found, item, error)


def _refused(found: Found, item: Item, error: Exception) -> None:
    """Record an exception: left out if the release or device lacks the function, else wrong."""
    if isinstance(error, NotImplementedError) or any(word in str(error) for word in _LEFT):
        found.left.append(item.label + " " + item.kind)
    else:
        found.wrong.append(item.label + " " + item.kind + ": " + type(error).__name__ + " " + str(error).split("\n", 1)[0][:100])


def _noted(device: dict[str, Any], found: Found, item: Item, results: Any) -> None:
    note_result(found, item.row, item.kind, item.form, _host(results), item.label)
    first = jax.tree_util.tree_leaves(results)[:1]
    found.elsewhere += elsewhere(device, **{item.label: first[0]}) if first and hasattr(first[0], "devices") else []


def _host(results: Any) -> Any:
    """NumPy's arrays; types that only JAX has go by float32."""
    if isinstance(results, (list, tuple)):
        return [_host(result) for result in results]
    plain = np.asarray(results)
    return plain if plain.dtype.kind in "fiubc" else plain.astype(np.float32)
