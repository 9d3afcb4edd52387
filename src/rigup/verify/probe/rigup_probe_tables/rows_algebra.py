"""Products, linear algebra, transforms and polynomials, by the names that NumPy and JAX have for them."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import rigup_probe_reference_algebra as algebra
import rigup_probe_tape as tape
from rigup_probe_expected import fourier
from rigup_probe_grid import Grid, each_row, fromfunction, reduced, transposed
from rigup_probe_reference_networks import matmul
from rigup_probe_rows import Row

_NEAR = (-2, 2)
_PILES = (((4, 3, 3),), ((520, 2, 2),))
_TYPES = "fic"


def _dotted(x: Grid, y: Grid) -> Grid:
    return Grid((), [tape.dot(x.flat, y.flat)])


def _by_row(x: Grid, y: Grid) -> Grid:
    wide = x.shape[1]
    return fromfunction(x.shape[:1], lambda at: tape.dot(x.flat[at[0] * wide :][:wide], y.flat[at[0] * wide :][:wide]))


def products() -> Iterator[Row]:
    """Of vectors, matrices and batches."""
    two = (((3, 5), (5, 4)), ((23, 31), (31, 29)))
    for name, call in (("matmul", None), ("dot", None), ("linalg.matmul", None), ("tensordot", lambda f, x, y: f(x, y, 1)), ("linalg.tensordot", lambda f, x, y: f(x, y, axes=1)), ("einsum", lambda f, x, y: f("ij,jk->ik", x, y)), ("linalg.multi_dot", lambda f, x, y: f([x, y]))):
        yield Row(name, matmul, (_NEAR, _NEAR), two, call=call, types="fc" if "multi" in name else _TYPES, factor=2.0)
    yield Row("matmul", matmul, (_NEAR, _NEAR), (((2, 3, 4), (2, 4, 3)), ((13, 5, 7), (13, 7, 9))), types="f", label="of a batch", rare=True, factor=2.0)
    yield Row("einsum", _by_row, (_NEAR, _NEAR), (((3, 5),) * 2, ((523, 3),) * 2), call=lambda f, x, y: f("ij,ij->i", x, y), types="f", label="of rows", rare=True, factor=2.0)
    for name in ("vecdot", "linalg.vecdot"):
        yield Row(name, _by_row, (_NEAR, _NEAR), (((3, 5),) * 2, ((523, 3),) * 2), types="fi", factor=2.0)
    yield Row("inner", lambda x, y: matmul(x, fromfunction(y.shape[::-1], lambda at: y[at[::-1]])), (_NEAR, _NEAR), (((3, 5), (4, 5)), ((23, 31), (29, 31))), types=_TYPES, factor=2.0)
    yield Row("vdot", _dotted, (_NEAR, _NEAR), (((15,),) * 2, ((667,),) * 2), types="fi", nan="small", factor=5.0)
    for name in ("outer", "linalg.outer"):
        yield Row(name, lambda x, y: fromfunction((x.shape[0], y.shape[0]), lambda at: x.flat[at[0]] * y.flat[at[1]]), (_NEAR, _NEAR), (((4,), (5,)), ((23,), (29,))), types=_TYPES)
    yield Row("kron", lambda x, y: fromfunction((x.shape[0] * y.shape[0], x.shape[1] * y.shape[1]), lambda at: x[at[0] // y.shape[0], at[1] // y.shape[1]] * y[at[0] % y.shape[0], at[1] % y.shape[1]]), (_NEAR, _NEAR), (((2, 3), (3, 2)), ((7, 5), (3, 7))), types=_TYPES)
    yield Row("matvec", matmul, (_NEAR, _NEAR), (((3, 5), (5,)), ((523, 4), (4,))), types="f", factor=2.0)
    yield Row("vecmat", matmul, (_NEAR, _NEAR), (((5,), (5, 3)), ((4,), (4, 523))), types="f", factor=2.0)
    for name in ("cross", "linalg.cross"):
        yield Row(name, _crossed, (_NEAR, _NEAR), (((4, 3),) * 2, ((201, 3),) * 2), types="fi")
    for name in ("trace", "linalg.trace"):
        yield Row(name, lambda x: Grid((), [tape.total([x[at, at] for at in range(min(x.shape))])]), (_NEAR,), (((4, 5),), ((23, 29),)), types="f", nan="", factor=3.0)
    yield Row("trace", lambda x: reduced((-1,), tape.total)(fromfunction((x.shape[2], 3), lambda at: x[at[1], at[1], at[0]])), (_NEAR,), (((3, 3, 5),), ((3, 3, 523),)), types="f", label="of many", rare=True)


def _crossed(x: Grid, y: Grid) -> Grid:
    return fromfunction(x.shape, lambda at: x[at[0], (at[1] + 1) % 3] * y[at[0], (at[1] + 2) % 3] - x[at[0], (at[1] + 2) % 3] * y[at[0], (at[1] + 1) % 3])


def _matrices(make: Callable[[int, int, int, int], float], count: int = 0) -> Callable[[Any], Grid]:
    """Matrices in which each number comes of its place and the matrix' number; as they are in every type."""
    del count

    def span(shape: Any) -> Grid:
        return fromfunction(shape, lambda at: make(at[-2], at[-1], at[0] if len(shape) > 2 else 0, shape[-1]))

    return span


def _general(r: int, c: int, n: int, size: int) -> float:
    return ((5 * r + 3 * c + 7 * n + r * c) % 11 - 5) / 8 + (size if r == c else 0.0)


def _even(r: int, c: int, n: int, size: int) -> float:
    return ((3 * (r + c) + 7 * n + r * c) % 11 - 5) / 8 + (size + r if r == c else 0.0)


def _each_matrix(function: Callable[[Grid], Any]) -> Callable[..., Grid]:
    """Of every matrix of a batch: a number, a list or a grid."""

    def called(x: Grid, *more: Grid) -> Grid:
        size, side = math.prod(x.shape[-2:]), x.shape[-2:]
        parts = [Grid(side, x.flat[at : at + size]) for at in range(0, len(x.flat), size)]
        rest = [[Grid(grid.shape[-2:], grid.flat[at * math.prod(grid.shape[-2:]) :][: math.prod(grid.shape[-2:])]) for at in range(len(parts))] for grid in more]
        got = [function(*pieces) for pieces in zip(parts, *rest)]
        shape = got[0].shape if isinstance(got[0], Grid) else (len(got[0]),) if isinstance(got[0], list) else ()
        flat = [v for part in got for v in (part.flat if isinstance(part, Grid) else part if isinstance(part, list) else [part])]
        return Grid((*x.shape[:-2], *shape), flat)

    return called


def _ranked(r: int, c: int, n: int, size: int) -> float:
    """Of rank 1 to `size` by the matrix' number."""
    rank = n % size + 1
    return float(r == c) * 2 if r < rank and c < rank else 0.0


def _rank(x: Grid) -> int:
    return sum(any(x[r, c] for c in range(x.shape[1])) for r in range(x.shape[0]))


def _solved(x: Grid, y: Grid) -> Grid:
    return algebra.grid_of(algebra.solved(algebra.rows_of(x), algebra.rows_of(y))[0])


def _length(x: Grid) -> Any:
    return tape.sqrt(tape.total([number * number for number in x.flat]))


def _power3(x: Grid) -> Grid:
    return matmul(matmul(x, x), x)


def matrices() -> Iterator[Row]:
    """Of one matrix and of many; in halves there is none of it."""
    general, even, many = _matrices(_general), _matrices(_even), (((4, 4),), ((67, 3, 3),))
    lines = (((4, 4),), ((261, 2, 2),))
    cases: dict[str, tuple[Any, Any, Any]] = {
        "linalg.inv|linalg.pinv": (algebra.inverse, general, many),
        "linalg.det": (algebra.determinant, general, _PILES),
        "linalg.cholesky": (lambda x: algebra.grid_of(algebra.lower(algebra.rows_of(x))), even, many),
        "linalg.eigvalsh": (lambda x: algebra.values(algebra.rows_of(x)), even, lines),
        "linalg.svdvals": (algebra.singular, general, lines),
        "linalg.matrix_power": (_power3, general, many),
        "linalg.matrix_norm": (_length, general, _PILES),
        "linalg.cond": (lambda x: algebra.singular(x)[0] / algebra.singular(x)[-1], general, _PILES),
        "linalg.matrix_rank": (_rank, _matrices(_ranked), (((4, 3, 3),), ((520, 2, 2),))),
        "linalg.eigvals": (lambda x: algebra.values(algebra.rows_of(x)), even, lines),
        "linalg.slogdet": (None, general, _PILES),
    }
    for name, (function, span, shapes) in cases.items():
        call = {"linalg.matrix_power": lambda f, x: f(x, 3), "linalg.eigvals": _sorted}.get(name)
        smooth = not any(word in name for word in ("rank", "cond", "eigvals", "svd", "slogdet", "pinv", "cholesky"))
        wanted = _each_matrix(function) if function else _log_determinants
        yield Row(name, wanted, (span,), shapes, call=call, nan="", slope=smooth, factor=20.0, types="m", eager=call is _sorted)
    yield Row("linalg.solve", _each_matrix(_solved), (general, _matrices(_even)), (((4, 4),) * 2, ((67, 3, 3),) * 2), nan="", factor=20.0, types="m")
    yield Row("linalg.lstsq", _each_matrix(_solved), (general, _matrices(_even)), (((4, 4),) * 2, ((23, 23),) * 2), call=lambda f, x, y: f(x, y, rcond=None)[0], nan="", slope=False, factor=50.0, types="m")
    for name, wanted in (("linalg.qr", _is_product), ("linalg.svd", _is_product), ("linalg.eigh", _is_product), ("linalg.eig", _is_product)):
        yield Row(name, wanted, (even,), many, call=_together, nan="", slope=False, factor=20.0, types="m", eager=name == "linalg.eig")
    for name in ("linalg.tensorsolve", "linalg.tensorinv"):
        yield Row(name, _each_matrix(_solved) if "solve" in name else _each_matrix(algebra.inverse), (general, even)[: 1 + ("solve" in name)], (((4, 4),) * 2,) if "solve" in name else (((4, 4),), ((23, 23),)), call=_of_tensors, nan="", slope=False, factor=50.0, types="m", eager=True)
    rows = (((5, 7),), ((520, 3),))
    for name in ("linalg.norm", "linalg.vector_norm"):
        yield Row(name, reduced((-1,), lambda row: tape.sqrt(tape.dot(row, row))), (_NEAR,), rows, {"axis": -1}, types="f", factor=3.0)
    yield Row("linalg.norm", reduced((), lambda row: tape.sqrt(tape.dot(row, row))), (_NEAR,), (((5, 7),), ((23, 29),)), nan="", types="m", factor=3.0, label="of a matrix", rare=True)
    yield Row("polyval", lambda c, x: Grid(x.shape, [_polynomial(c.flat, number) for number in x.flat]), (_NEAR, _NEAR), (((3,), (5,)), ((3,), (523,))), nan="", factor=3.0)
    for name, sign in (("polyadd", 1), ("polysub", -1)):
        yield Row(name, lambda a, b, s=sign: Grid(a.shape, [x + s * y for x, y in zip(a.flat, b.flat)]), ((1, 3), (4, 6)), (((5,),) * 2, ((523,),) * 2))
    for name in ("polymul", "convolve"):
        yield Row(name, _convolved, ((0.5, 2), (0.5, 2)), (((5,), (3,)), ((523,), (7,))), factor=3.0, slope=name == "convolve")
    yield Row("correlate", lambda x, y: _convolved(x, Grid(y.shape, y.flat[::-1])), ((0.5, 2), (0.5, 2)), (((5,), (3,)), ((523,), (7,))), call=lambda f, x, y: f(x, y, mode="full"), factor=3.0)
    yield Row("polyder", lambda x: Grid((x.shape[0] - 1,), [number * (len(x.flat) - 1 - at) for at, number in enumerate(x.flat[:-1])]), ((1, 3),), (((5,),), ((33,),)), slope=False)
    yield Row("polyint", lambda x: Grid((x.shape[0] + 1,), [*(number / (len(x.flat) - at) for at, number in enumerate(x.flat)), 0.0]), ((1, 3),), (((5,),), ((523,),)), slope=False)
    yield Row("polydiv", lambda x, y: Grid((len(x.flat) - len(y.flat) + 1,), _quotient(x.flat, y.flat)), (_product_of_two, lambda s: Grid(s, [2.0, 1.0])), (((5,), (2,)), ((33,), (2,))), call=lambda f, x, y: f(x, y)[0], nan="", slope=False, eager=True, types="m")
    yield Row("poly", _from_roots, ((-1, 1),), (((4,),),), nan="", slope=False, factor=3.0)
    yield Row("roots", lambda _x: Grid((2,), [1.0, 2.0]), (lambda _s: Grid((3,), [1.0, -3.0, 2.0]),), (((3,),),), call=_sorted, nan="", slope=False, factor=5.0, eager=True, types="m")
    yield Row(
        "interp", lambda x: Grid(x.shape, [number * number if number == int(number) else (math.floor(number) ** 2 * (math.ceil(number) - number) + math.ceil(number) ** 2 * (number - math.floor(number))) for number in x.flat]), ((0, 3.9375),), (((15,),), ((667,),)), call=_interpolated, nan="", slope=False, factor=3.0
    )


def _sorted(function: Any, x: Any) -> Any:
    import numpy as np

    return np.sort(np.real(np.asarray(function(x))), axis=-1)


def _log_determinants(x: Grid) -> tuple[Grid, Grid]:
    determinants = _each_matrix(algebra.determinant)(x)
    return Grid(determinants.shape, [math.copysign(1, determinant) for determinant in determinants.flat]), Grid(determinants.shape, [math.log(abs(determinant)) for determinant in determinants.flat])


def _is_product(x: Grid) -> Grid:
    return x


def _together(function: Any, x: Any) -> Any:
    """What the parts of a decomposition give again, multiplied by the arrays' own operator."""
    parts = function(x)
    if function.__name__ == "eig":  # of even matrices, whose vectors stand at right angles
        import numpy as np

        return np.real((np.asarray(parts[1]) * np.asarray(parts[0])[..., None, :]) @ np.asarray(parts[1]).swapaxes(-1, -2))
    if len(parts) == 2 and parts[0].ndim < x.ndim:  # eigh: numbers and vectors
        return (parts[1] * parts[0][..., None, :]) @ parts[1].swapaxes(-1, -2)
    return parts[0] @ parts[1] if len(parts) == 2 else (parts[0] * parts[1][..., None, :]) @ parts[2]


def _of_tensors(function: Any, x: Any, *y: Any) -> Any:
    return function(x, *y, **({} if y else {"ind": 1})) if not y else function(x, y[0][:, 0]) if y[0].ndim < 2 else _columns(function, x, y[0])


def _columns(function: Any, x: Any, y: Any) -> Any:
    import numpy as np

    return np.stack([np.asarray(function(x, y[:, at])) for at in range(y.shape[1])], axis=1)


def _polynomial(factors: Any, x: Any) -> Any:
    value: Any = 0.0
    for factor in factors:
        value = value * x + factor
    return value


def _convolved(x: Grid, y: Grid) -> Grid:
    size, reach = len(x.flat), len(y.flat)
    return Grid((size + reach - 1,), [tape.dot(*zip(*[(x.flat[at - k], y.flat[k]) for k in range(reach) if 0 <= at - k < size])) for at in range(size + reach - 1)])


def _from_roots(x: Grid) -> Grid:
    factors = [1.0]
    for root in x.flat:
        factors = [a - root * b for a, b in zip([*factors, 0.0], [0.0, *factors])]
    return Grid((len(factors),), factors)


def _interpolated(function: Any, x: Any) -> Any:
    import numpy as np

    kind = str(x.dtype)
    return function(x, np.arange(5).astype(kind), (np.arange(5) ** 2).astype(kind))


def _back(row: list[Any]) -> list[Any]:
    return [number / len(row) for number in fourier(row, 1)]


def _half(row: list[Any]) -> list[Any]:
    return row[: len(row) // 2 + 1]


def _filled(row: list[Any]) -> list[Any]:
    """From half a spectrum to as many real numbers as it has, less two, twice."""
    row = [complex(number) for number in row]
    row[0], row[-1] = complex(row[0].real), complex(row[-1].real)
    return row + [number.conjugate() for number in row[-2:0:-1]]


_LINES: dict[str, Any] = {"fft": fourier, "ifft": _back, "rfft": lambda row: _half(fourier(row)), "ihfft": lambda row: _half(_back(row)), "irfft": lambda row: [v.real for v in _back(_filled(row))], "hfft": lambda row: [v.real for v in fourier(_filled([complex(x).conjugate() for x in row]))]}


def transforms() -> Iterator[Row]:
    """Fourier's, by rows; of lengths that are powers of two and that are not."""
    real, two = (((3, 8),), ((40, 15),)), (((4, 6),), ((25, 21),))

    for name, function in _LINES.items():
        yield Row("fft." + name, each_row(function), ((-2, 2),), real, nan="some", slope=False, factor=5.0, types="fc" if name in ("fft", "ifft") else "f")
    for name in ("fft2", "fftn", "ifft2", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn"):
        yield Row("fft." + name, _of_two(name), ((-2, 2),), two, nan="some", slope=False, factor=5.0)


def _of_two(name: str) -> Callable[[Grid], Grid]:
    """Along both dimensions: the real one by its rows."""
    if name.startswith("r"):
        return lambda x: _down(fourier)(each_row(_LINES["rfft"])(x))
    if name.startswith("ir"):
        return lambda x: each_row(_LINES["irfft"])(_down(_back)(x))
    transform = _back if name.startswith("i") else fourier
    return lambda x: _down(transform)(each_row(transform)(x))


def _down(function: Callable[[list[Any]], list[Any]]) -> Callable[[Grid], Grid]:
    return lambda x: transposed(each_row(function)(transposed(x)))


def _product_of_two(shape: Any) -> Grid:
    """What 2 x + 1 divides."""
    first = [float(n % 5 - 2) or 1.0 for n in range(shape[0] - 1)]
    return Grid(shape, [2 * a + b for a, b in zip([*first, 0.0], [0.0, *first])])


def _quotient(whole: list[float], part: list[float]) -> list[float]:
    """From the highest power down; nothing is left over."""
    found: list[float] = []
    for at in range(len(whole) - len(part) + 1):
        found.append((whole[at] - (part[1] * found[-1] if found else 0.0)) / part[0])
    return found
