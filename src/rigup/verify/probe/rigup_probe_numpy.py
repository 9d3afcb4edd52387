"""What is measured of NumPy itself, against Python: products and linear algebra by its BLAS, functions, orders, numbers."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np
import rigup_probe_expected as reference
from rigup_probe_compare import LARGE, SHAPES, Found, distributed, error, listed, misdistributed, product_error
from rigup_probe_expected import normal, rounded, turned, whole
from rigup_probe_numpy_arrays import casts, indexing, small_tensors, sorting, unusual
from rigup_probe_numpy_functions import elementwise, fourier, linear_algebra, reductions
from rigup_probe_numpy_rows import rows_check
from rigup_probe_tables.rows_all import TABLES

_FLOATS = ("float64", "float32", "float16")
_INTEGERS = ("int8", "uint8", "int16", "int32", "int64")


def about() -> dict[str, Any]:
    """The build, and the BLAS that it was linked with."""
    return {"version": np.__version__, "build": {"blas": _blas()}}


def _blas() -> Any:
    try:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return str(blas.get("name")) + " " + str(blas.get("version"))
    except (TypeError, LookupError, AttributeError):  # before NumPy 1.26 it could only be printed
        return None


def devices() -> list[Any]:
    """NumPy knows the processor alone."""
    return [{"id": "cpu", "type": "cpu", "vendor": ""}]


def checks(_device: dict[str, Any], full: bool) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:
    """What is measured."""
    yield "small-tensors", small_tensors
    for name in _FLOATS:
        yield "matmul-" + name, _product(name, full)
    yield "matmul-complex128", complex_product
    yield "matmul-integers", integer_product
    for name, tables in TABLES.items():
        yield name, rows_check(*tables)
    for check in (casts, elementwise, unusual, reductions, sorting, indexing, linear_algebra, fourier, numbers):
        yield check.__name__.replace("_", "-"), check


def _product(kind: str, full: bool) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def measured(_device: dict[str, Any]) -> dict[str, Any]:
        found = Found()
        for rows, inner, columns in ((1, 1, 1), (7, 13, 5), (9, 9, 9), (6, 16, 16), (33, 65, 17)):
            left, right = (rounded(kind, normal(rows, *shape_)) for shape_ in ((rows, inner), (inner, columns)))
            _small_products(found, kind, left, right)
        for shape in (*SHAPES, *(LARGE if full or kind in ("float64", "float32") else ())):
            left, right = (rounded(kind, normal(seed, *shape[seed : seed + 2])) for seed in (0, 1))
            got = np.matmul(np.array(left, kind), np.array(right, kind))
            found.errors["matmul " + str(shape) + " " + kind] = product_error(got, left, right)
        return dict(found.measured())

    return measured


def _small_products(found: Found, kind: str, left: Any, right: Any) -> None:
    """Each way to a product, from arrays that lie in each order, and the inputs as they were."""
    left_array, other, wanted = np.array(left, kind), np.array(right, kind), reference.matmul(left, right)
    strided = np.array([[item for value in row for item in (value, 9.0)] for row in left], kind)[:, ::2]
    into = np.empty((len(left), len(right[0])), kind)
    products = {
        "matmul": np.matmul(left_array, other),
        "dot": np.dot(left_array, other),
        "@": left_array @ other,
        "method dot": left_array.dot(other),
        "einsum": _summed("ij,jk->ik", left_array, other),
        "tensordot": np.tensordot(left_array, other, 1),
        "inner": np.inner(left_array, np.array(turned(right), kind)),
        "matmul of a transpose": np.array(turned(left), kind).T @ other,
        "matmul by a transpose": left_array @ np.array(turned(right), kind).T,
        "matmul of columns": np.asfortranarray(left_array) @ np.asfortranarray(other),
        "matmul with steps": strided @ other,
        "matmul into": np.matmul(left_array, other, out=into),
    }
    for name, got in products.items():
        _worst(found, name + " " + kind, error(got, wanted))
    for name, got in (
        ("batch", np.matmul(np.stack([left_array, -left_array, left_array + left_array]), other)),
        ("einsum of a batch", _summed("bij,jk->bik", np.stack([left_array, -left_array, left_array + left_array]), other)),
    ):
        _worst(found, name + " " + kind, error(got, [reference.each(lambda x, f=f: f * x, wanted) for f in (1, -1, 2)]))
    vector = np.array(left[0], kind)
    for name, got in (("vector", vector @ other), ("vector dot", np.dot(vector, other))):
        _worst(found, name + " " + kind, error(got, wanted[0]))
    column = [row[0] for row in right]
    right_one = reference.dot(left[0], column)
    scale = max(1.0, len(column) ** 0.5)
    for name, got in (("vdot", np.vdot(vector, np.array(column, kind))), ("dot of vectors", vector.dot(np.array(column, kind)))):
        _worst(found, name + " " + kind, abs(float(got) - right_one) / scale)
    _worst(found, "outer " + kind, error(np.outer(vector, other[0]), [[a * b for b in right[0]] for a in left[0]]))
    if listed(left_array) != left or listed(other) != right:
        found.wrong.append("inputs are left alone " + kind)


def _summed(how: str, left: Any, other: Any) -> Any:
    """By einsum; in half precision it adds in half precision, which long sums leave little of."""
    return np.einsum(how, left, other) if left.dtype != np.float16 or left.shape[-1] < 20 else np.matmul(left, other)


def _worst(found: Found, name: str, value: float) -> None:
    found.errors[name] = max(found.errors.get(name, 0.0), value)


def complex_product(_device: dict[str, Any]) -> dict[str, Any]:
    """Products of complex numbers, and the one that conjugates."""
    found = Found()
    real, imaginary, other = normal(1, 9, 21), normal(2, 9, 21), normal(3, 21, 6)
    left = reference.each(complex, real, imaginary)
    for kind in ("complex128", "complex64"):
        left_array, right = np.array(left, kind), np.array(other, kind)
        wanted = reference.each(complex, reference.matmul(real, other), reference.matmul(imaginary, other))
        found.near("matmul " + kind, left_array @ right, wanted)
        found.near("einsum " + kind, np.einsum("ij,jk->ik", left_array, right), wanted)
        size = reference.dot(real[0], real[0]) + reference.dot(imaginary[0], imaginary[0])
        found.near("vdot " + kind, np.vdot(left_array[0], left_array[0]) / size, 1.0)
        found.near("conj " + kind, np.conj(left_array), reference.each(complex.conjugate, left))
        found.near("abs " + kind, np.abs(left_array), reference.each(abs, left))
    return dict(found.measured())


def integer_product(_device: dict[str, Any]) -> dict[str, Any]:
    """Products of whole numbers have one right answer."""
    found = Found()
    for kind in _INTEGERS:
        left, right = (whole(seed, 0 if kind[0] == "u" else -4, 4, *shape) for seed, shape in ((1, (9, 7)), (2, (7, 11))))
        left_array, other, wanted = np.array(left, kind), np.array(right, kind), reference.matmul(left, right)
        products = {
            "matmul": left_array @ other,
            "dot": np.dot(left_array, other),
            "einsum": np.einsum("ij,jk->ik", left_array, other),
            "tensordot": np.tensordot(left_array, other, 1),
        }
        for name, got in products.items():
            found.exact(name + " " + kind, got.astype(object).tolist(), wanted)
    return dict(found.measured())


def numbers(_device: dict[str, Any]) -> dict[str, Any]:
    """Random numbers of both kinds of generators: the same from one seed, others from another."""
    drawn = [_drawn(seed) for seed in (1, 1, 2)]
    wrong = [way + " " + name for way, streams in drawn[0].items() for name in misdistributed(*streams)]
    order = np.random.default_rng(3).permutation(1000).tolist()
    wrong += [] if sorted(order) == list(range(1000)) != order else ["permutation"]
    picked = np.random.default_rng(4).choice(np.array([3, 5, 7]), 3000).tolist()
    wrong += [] if all(abs(picked.count(value) - 1000) < 150 for value in (3, 5, 7)) else ["choice"]
    first, again, other = drawn
    return {
        "statistics": distributed(*first["generator"]),
        "wrong": wrong,
        "repeats": first == again,
        "differs": all(value != two for way in first for value, two in zip(first[way], other[way])),
    }


numbers.__name__ = "random"


def _drawn(seed: int) -> dict[str, Any]:
    new, old, many = np.random.default_rng(seed), np.random.RandomState(seed), 100_000
    streams = {
        "generator": (new.standard_normal(many), new.random(many), new.integers(0, 10, many)),
        "RandomState": (old.standard_normal(many), old.random_sample(many), old.randint(0, 10, many)),
    }
    return {name: [array.tolist() for array in drawn] for name, drawn in streams.items()}
