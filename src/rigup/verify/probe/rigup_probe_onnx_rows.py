"""Run the rows of tables with onnxruntime: each operator in its own model, in each of its types, repeatedly."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np
from rigup_probe_compare import Found
from rigup_probe_grid import Grid
from rigup_probe_onnx_model import Node, model
from rigup_probe_onnx_run import OPSET, session_of, unknown
from rigup_probe_rows import Form, Row, forms, note_result

_AGAIN = 3
_WHOLE = ("int64", "int32", "int8", "uint8")
_TYPES = {"f": ("float32", "float16", "float64"), "h": ("float32", "float16"), "s": ("float32",), "i": _WHOLE, "b": ("bool",)}
_NAMES = "abcdefghij"
Table = Callable[[], Iterator[Row]]


def op(name: str, wanted: Any, inputs: Any, shapes: Any, attributes: Any = None, **more: Any) -> Row:
    """An operator.

    Args:
        name: of the operator.
        wanted: what it gives, from the grids of its inputs.
        inputs: of each from where to where, or what makes it.
        shapes: of each form the shapes of the inputs.
        attributes: of the node.
        more: `held`, arrays in the model, None where one is left out, each a list of numbers (in the type that is asked) or an
            array; `kinds`, types of inputs that are no numbers of the type that is asked; `out`, types of results; `opset`;
            `domain`; and what a row has.

    """
    own = {key: more.pop(key) for key in ("held", "kinds", "out", "opset", "domain") if key in more}
    return Row(name, wanted, inputs, shapes, {"attributes": attributes or {}, **own}, **more)


def rows_check(*tables: Table) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The check of some tables."""

    def checked(device: dict[str, Any]) -> dict[str, Any]:
        found = Found()
        for row in (listed for table in tables for listed in table()):
            has = [kind for letter in row.types for kind in _TYPES[letter] if _check_row(device, found, row, kind)]
            if not has:
                found.left.append(row.name)
        return dict(found.measured())

    return checked


def _check_row(device: dict[str, Any], found: Found, row: Row, kind: str) -> bool:
    """All forms in a type; whether the release and the provider have it."""
    for form in forms(row, kind):
        given = {_NAMES[at]: np.array(grid.flat, _kind(row, at, kind)).reshape(grid.shape) for at, grid in enumerate(form.grids)}
        try:
            session, outputs = _session(device, row, kind, form, given)
            for turn in range(1, _AGAIN + 1):
                _again(session, row, given, turn)
            results = session.run(outputs, given)
        except Exception as error:
            if unknown(str(error)):
                return False
            found.wrong.append(row.name + " " + kind + ": " + str(error).split("\n", 1)[0][:200])
            return True
        note_result(found, row, kind, form, results)
    return True


def _kind(row: Row, at: int, kind: str) -> str:
    return str(row.named.get("kinds", {}).get(at, kind))


def _session(device: dict[str, Any], row: Row, kind: str, form: Form, given: dict[str, Any]) -> tuple[Any, list[str]]:
    held = {
        "h" + str(at): tensor if isinstance(tensor, np.ndarray) else np.array(tensor, kind)
        for at, tensor in enumerate(row.named.get("held", ()))
        if tensor is not None
    }
    names = [*given, *("h" + str(at) if tensor is not None else "" for at, tensor in enumerate(row.named.get("held", ())))]
    kinds = row.named.get("out") or [None] * (len(form.wanted) if form.wanted else 1)
    outputs = ["y" + str(at) for at in range(len(kinds))]
    node = Node(row.name, tuple(names), tuple(outputs), row.named["attributes"], row.named.get("domain", ""))
    shown = {name: output_kind or kind for name, output_kind in zip(outputs, kinds)}
    model_bytes = model([node], given, shown, held, row.named.get("opset", OPSET))
    return session_of(device, model_bytes), outputs


def _again(session: Any, row: Row, given: dict[str, Any], turn: int) -> None:
    """Run with other numbers of the same shape; results are ignored."""
    fixed = row.named.get("kinds", {})
    other = {name: array if at in fixed or not array.ndim else np.roll(array, turn, 0) for at, (name, array) in enumerate(given.items())}
    session.run(None, other)


def indices(most: int) -> Callable[[Any], Grid]:
    """Whole numbers below one, in an order of their own."""
    return lambda shape: Grid(shape, [n * 5 % most for n in range(int(np.prod(shape)))])
