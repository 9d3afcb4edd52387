"""Arguments that are given seldom: which dimensions a transform goes over, how large it is, what a function leaves out."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import rigup_probe_reference_algebra as algebra
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, fromfunction
from rigup_probe_torch_cases import Case, given, literal, real

_TWO = ("float64", "float32")
_ROUGH: dict[str, Any] = {"factor": 10.0, "optional": True, "spreads": False}
_SEVERAL, _OVER = (5, 4), (1, 0)  # sizes, and the dimensions that have them


def _pair(x: Any) -> Any:
    return torch.complex(x[..., 0], x[..., 1])


def _as_real(x: Any) -> Any:
    return torch.view_as_real(x.resolve_conj())


def _lift(x: Grid) -> Grid:
    return Grid((*x.shape, 2), [part for number in x.flat for part in (number, 0.0)])


def _first(x: Grid, rows: int) -> Grid:
    return fromfunction((rows, *x.shape[1:]), lambda i: x[i])


def _real_part(x: Grid) -> Grid:
    return fromfunction(x.shape[:-1], lambda i: x[(*i, 0)])


def _conjugate(x: Grid) -> Grid:
    return fromfunction(x.shape, lambda i: -x[i] if i[-1] else x[i])


def _whole(x: Grid, rows: int) -> Grid:
    """The other half of a spectrum along the first dimension, which mirrors the one that is given."""
    other = _conjugate(x)
    return fromfunction((rows, *x.shape[1:]), lambda i: x[i] if i[0] <= rows // 2 else other[(rows - i[0], *i[1:])])


def _turned(x: Grid, dims: Any, back: bool, sizes: Any = (0, 0), norm: str = "backward") -> Grid:
    for dim, size in zip(dims, sizes):
        x = algebra.transformed(x, dim, back, size, norm)
    return x


def spectra() -> Iterator[Case]:
    """Each transform of real numbers, over a dimension that is not the last, and with sizes and dimensions in another order."""
    fft, x, r = torch.fft, real(3, 4, 2), real(3, 4)
    for name, back in (("fft", False), ("ifft", True)):
        for ending, dims in (("", (1,)), ("2", (0, 1)), ("n", (0, 1))):
            yield Case(name + ending + " of real numbers", (lambda x, n=name + ending: _as_real(getattr(fft, n)(x)),), lambda x, d=dims, b=back: _turned(_lift(x), d, b), (r,), _TWO, **_ROUGH)
        yield Case(name + "2 (s, dim)", (lambda x, n=name: _as_real(getattr(fft, n + "2")(_pair(x), _SEVERAL, _OVER)), lambda x, n=name: _as_real(getattr(fft, n + "n")(_pair(x), _SEVERAL, _OVER))), lambda x, b=back: _turned(x, _OVER, b, _SEVERAL), (x,), _TWO, **_ROUGH)
    half = _SEVERAL[1] // 2 + 1
    forward: Callable[..., Any] = lambda x: _first(_turned(_lift(x), (0,), False), 2)
    backward: Callable[..., Any] = lambda x: _first(_turned(_lift(x), (0,), True), 2)
    rows: tuple[tuple[str, Any, Any, Any], ...] = (
        ("rfft over dimension 0", (lambda x: _as_real(fft.rfft(x, dim=0)),), forward, r),
        ("ihfft over dimension 0", (lambda x: _as_real(fft.ihfft(x, dim=0)),), backward, r),
        ("irfft over dimension 0", (lambda x: fft.irfft(_pair(x), 4, 0),), lambda x: _real_part(_turned(_whole(x, 4), (0,), True)), x),
        ("hfft over dimension 0", (lambda x: fft.hfft(_pair(x), 4, 0),), lambda x: _real_part(_turned(_whole(_conjugate(x), 4), (0,), True, norm="forward")), x),
        ("irfft of real numbers", (lambda x: fft.irfft(x, dim=0),), lambda x: _real_part(_turned(_whole(_lift(x), 4), (0,), True)), r),
        ("hfft of real numbers", (lambda x: fft.hfft(x, dim=0),), lambda x: _real_part(_turned(_whole(_lift(x), 4), (0,), True, norm="forward")), r),
        ("rfft2 (s, dim)", tuple(lambda x, n=n: _as_real(getattr(fft, n)(x, _SEVERAL, _OVER)) for n in ("rfft2", "rfftn")), lambda x: _turned(_first(_turned(_lift(x), (0,), False, (4,)), half), (1,), False, (5,)), r),
        ("ihfft2 (s, dim)", tuple(lambda x, n=n: _as_real(getattr(fft, n)(x, _SEVERAL, _OVER)) for n in ("ihfft2", "ihfftn")), lambda x: _turned(_first(_turned(_lift(x), (0,), True, (4,)), half), (1,), True, (5,)), r),
        ("irfft2 (s, dim)", tuple(lambda x, n=n: getattr(fft, n)(_pair(x), _SEVERAL, _OVER) for n in ("irfft2", "irfftn")), lambda x: _real_part(_turned(_whole(_turned(x, (1,), True, (5,)), 4), (0,), True)), x),
        ("hfft2 (s, dim)", tuple(lambda x, n=n: getattr(fft, n)(_pair(x), _SEVERAL, _OVER) for n in ("hfft2", "hfftn")), lambda x: _real_part(_turned(_whole(_conjugate(_turned(x, (1,), False, (5,))), 4), (0,), True, norm="forward")), x),
    )
    for name, calls, reference, input_ in rows:
        yield Case(name, calls, reference, (input_,), _TWO, **_ROUGH)


def places() -> Iterator[Case]:
    """Dimensions of diagonals and sums, what is kept, NaN that equals itself."""
    cube, x, y = real(3, 4, 5), real(4, 5), real(3, seed=2)
    nan = math.nan
    odd, other = literal([1.0, nan, nan, 2.0], kind="given"), literal([1.0, nan, 1.0, 3.0], kind="given")
    mean: Callable[..., Any] = lambda row: tape.total(row) * (1 / len(row))
    var: Callable[..., Any] = lambda row: tape.total([(v - mean(row)) * (v - mean(row)) for v in row]) * (1 / (len(row) - 1))
    kept: Callable[..., Any] = lambda x, f: fromfunction((x.shape[0], 1), lambda i: f([x[i[0], k] for k in range(x.shape[1])]))
    corner: Callable[..., Any] = lambda x: fromfunction((4, 2), lambda i: x[i[1] + 1, i[0], i[1]])
    steps: Callable[..., Any] = lambda x: fromfunction((3, 5), lambda i: tape.total([(x[k, i[1]] + x[k + 1, i[1]]) * 0.5 for k in range(i[0] + 1)]))
    rows: tuple[tuple[str, Any, Any, Any], ...] = (
        ("diagonal (dim1, dim2)", (lambda x: torch.linalg.diagonal(x, offset=1, dim1=2, dim2=0), lambda x: torch.diagonal(x, 1, 2, 0)), corner, (cube,)),
        ("diagonal_scatter (dim1, dim2)", (lambda x, y: torch.diagonal_scatter(x, y, 1, 1, 0),), lambda x, y: fromfunction((4, 5), lambda i: y.flat[i[1]] if i[0] == i[1] + 1 else x[i]), (x, y)),
        ("var_mean (keepdim)", (lambda x: torch.var_mean(x, 1, keepdim=True),), lambda x: (kept(x, var), kept(x, mean)), (x,)),
        ("std_mean (keepdim)", (lambda x: torch.std_mean(x, 1, keepdim=True),), lambda x: (kept(x, lambda row: tape.sqrt(var(row))), kept(x, mean)), (x,)),
        ("rsub (alpha)", (lambda x, y: torch.rsub(x, y, alpha=2),), lambda x, y: Grid(x.shape, [b - a * 2.0 for a, b in zip(x.flat, y.flat)]), (x, real(4, 5, seed=3))),
        ("cumulative_trapezoid (dim)", (lambda x: torch.cumulative_trapezoid(x, dim=0),), steps, (x,)),
        ("fill_diagonal_ (wrap)", (lambda x: torch.clone(x).fill_diagonal_(2.5, wrap=True),), lambda x: Grid((5, 2), [2.5 if at % 3 == 0 else v for at, v in enumerate(x.flat)]), (given(5, 2),)),
        ("isclose (equal_nan)", (lambda x, y: torch.isclose(x, y, equal_nan=True),), lambda _x, _y: Grid((4,), [1, 1, 0, 0]), (odd, other)),
        ("nonzero (as_tuple)", (lambda x: torch.stack(torch.nonzero(x, as_tuple=True), 1), lambda x: torch.stack(x.nonzero(as_tuple=True), 1)), lambda _x: Grid((3, 2), [0, 1, 1, 0, 1, 2]), (literal([0.0, 1, 0, 2, 0, 3], (2, 3), "given"),)),
        ("matrix_norm (dim)", (lambda x: torch.linalg.matrix_norm(x, dim=(0, 1)),), lambda x: fromfunction((5,), lambda i: tape.sqrt(tape.total([x[a, b, i[0]] * x[a, b, i[0]] for a in range(3) for b in range(4)]))), (cube,)),
    )
    for name, calls, reference, several in rows:
        back = all(input_.kind == "real" for input_ in several)
        yield Case(name, calls, reference, several, backward=back, factor=4.0, optional=True, spreads=False)
    for name, each in (("l1_loss", lambda x, y: tape.absolute(x - y)), ("mse_loss", lambda x, y: (x - y) * (x - y))):
        call: Callable[..., Any] = lambda x, y, w, n=name: getattr(torch.nn.functional, n)(x, y, weight=w, reduction="sum")
        total: Callable[..., Any] = lambda x, y, w, e=each: Grid((), [tape.total([e(a, b) * c for a, b, c in zip(x.flat, y.flat, w.flat)])])
        yield Case(name + " (weight)", (call,), total, (x, real(4, 5, seed=3), given(4, 5, low=0.5, high=2, seed=4)), _TWO, **_ROUGH)


def factors() -> Iterator[Case]:
    """What is left out or kept of matrices that are taken apart, and systems of more dimensions."""
    lin, tall = torch.linalg, given(4, 3)
    scaled = literal([3.0, 0, 0, 0, 1, 0, 0, 0, 0.125], (3, 3), "given")
    shaped: Callable[..., Any] = lambda x: x.new_tensor(x.shape)
    strong = real(2, 3, 6, low=-1, high=1).grid
    strong = Grid(strong.shape, [number + (9.0 if at % 7 == 0 else 0.0) for at, number in enumerate(strong.flat)])
    rows: tuple[tuple[str, Any, Any, Any], ...] = (
        ("linalg.qr (mode)", lambda x: shaped(lin.qr(x, mode="complete")[0]), Grid((2,), [4, 4]), tall),
        ("qr (some)", lambda x: shaped(torch.qr(x, some=False)[0]), Grid((2,), [4, 4]), tall),
        ("svd (some)", lambda x: shaped(torch.svd(x, some=False)[0]), Grid((2,), [4, 4]), tall),
        ("svd (compute_uv)", lambda x: torch.svd(x, compute_uv=False)[1] * 0 + torch.svd(x, compute_uv=False)[2].abs().sum(), Grid((3,), [0, 0, 0]), tall),
        ("matrix_rank (atol)", lambda x: lin.matrix_rank(x, atol=0.5), Grid((), [2]), scaled),
        ("pinv (atol)", lambda x: lin.pinv(x, atol=0.5), Grid((3, 3), [1 / 3, 0, 0, 0, 1, 0, 0, 0, 0]), scaled),
        ("solve_ex (left)", lambda x: lin.solve_ex(x, x[:1] * 2, left=False)[0], Grid((1, 3), [2, 0, 0]), scaled),
        ("lu_unpack (unpack_data, unpack_pivots)", lambda x: x.new_tensor([torch.lu_unpack(*lin.lu_factor(x), unpack_data=False)[2].numel(), torch.lu_unpack(*lin.lu_factor(x), unpack_pivots=False)[0].numel()]), Grid((2,), [0, 0]), scaled),
    )
    for name, call, wanted, input_ in rows:
        yield Case(name, (call,), lambda *_x, w=wanted: w, (input_,), _TWO, backward=False, **_ROUGH)
    solve: Callable[..., Any] = lambda a, b: [row[0] for row in algebra.solved(algebra.rows_of(Grid((6, 6), a.flat)), algebra.rows_of(Grid((6, 1), b.flat)))[0]]
    yield Case("tensorsolve", (lin.tensorsolve,), lambda a, b: Grid((6,), solve(a, b)), (literal(strong.flat, strong.shape), real(2, 3, seed=2)), _TWO, factor=50.0, optional=True, spreads=False)
