"""Tables of products and linear algebra with all arguments, by all names; and of complex numbers and transforms."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, Tuple

import rigup_probe_reference as right
import rigup_probe_reference_algebra as algebra
import rigup_probe_reference_networks as networks
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, each, fromfunction, scaled
from rigup_probe_torch_cases import Case, given, literal, real
from rigup_probe_torch_forms import forms, with_parameters

from rigup_probe_tables.torch_transforms import _TWO

_SUM = each(lambda x, y: x + y)


def products() -> Iterator[Case]:
    """Products that are added to something; of vectors; over chosen dimensions; distances."""
    x, y, v, w = real(4, 3), real(3, 5, seed=2), real(3, seed=3), real(4, seed=4)
    both = lambda a, b, c: _SUM(scaled(a, 0.5), scaled(networks.matmul(b, c), -2.0))
    rows: tuple[tuple[str, tuple[Any, ...], Any, tuple[Any, ...]], ...] = (
        ("addmm (alpha, beta)", forms("addmm", beta=0.5, alpha=-2.0), both, (real(4, 5, seed=5), x, y)),
        ("addmv (alpha, beta)", forms("addmv", beta=0.5, alpha=-2.0), both, (w, x, v)),
        ("baddbmm (alpha, beta)", forms("baddbmm", beta=0.5, alpha=-2.0), both, (real(2, 4, 5, seed=5), real(2, 4, 3), real(2, 3, 5, seed=2))),
        ("addbmm (alpha, beta)", forms("addbmm", beta=0.5, alpha=-2.0), _added_batches, (real(4, 5, seed=5), real(2, 4, 3), real(2, 3, 5, seed=2))),
        ("addr (alpha, beta)", forms("addr", beta=0.5, alpha=-2.0), lambda a, v, w: fromfunction(a.shape, lambda i: a[i] * 0.5 - v.flat[i[0]] * w.flat[i[1]] * 2.0), (real(4, 3), w, v)),
        ("addmm (plain)", forms("addmm"), lambda a, b, c: _SUM(a, networks.matmul(b, c)), (real(4, 5, seed=5), x, y)),
        ("addmm to a row", (torch.addmm, torch.Tensor.addmm), lambda a, b, c: _SUM(networks.matmul(b, c), a), (real(5, seed=5), x, y)),
        ("mm (all)", (*forms("mm"), torch.linalg.matmul, torch.matmul, torch.chain_matmul, lambda a, b: torch.linalg.multi_dot((a, b)), lambda a, b: torch.tensordot(a, b, 1), lambda a, b: torch.mm(a, b, out=torch.empty(4, 5, dtype=a.dtype)) if not torch.is_grad_enabled() else torch.mm(a, b)), networks.matmul, (x, y)),
        ("bmm (all)", (*forms("bmm"), torch.matmul, lambda a, b: a @ b), networks.matmul, (real(2, 4, 3), real(2, 3, 5, seed=2))),
        ("mv (all)", (*forms("mv"), torch.matmul, lambda a, b: a @ b), networks.matmul, (x, v)),
        ("dot (all)", (*forms("dot"), *forms("vdot"), *forms("inner"), torch.linalg.vecdot, torch.matmul), networks.matmul, (v, real(3, seed=6))),
        ("outer (all)", (*forms("outer"),), lambda a, b: fromfunction((*a.shape, *b.shape), lambda i: a.flat[i[0]] * b.flat[i[1]]), (w, v)),
        ("inner of matrices", forms("inner"), lambda a, b: networks.matmul(a, algebra.grid_of(algebra.turned(algebra.rows_of(b)))), (x, real(5, 3, seed=2))),
        ("matmul (broadcast)", (torch.matmul, lambda a, b: a @ b, torch.Tensor.matmul), lambda a, b: fromfunction((2, 4, 5), lambda i: tape.dot([a[i[0], i[1], k] for k in range(3)], [b[k, i[2]] for k in range(3)])), (real(2, 4, 3), y)),
        ("rmatmul", (lambda a, b: a.__rmatmul__(b),), lambda a, b: networks.matmul(b, a), (y, x)),
        ("multi_dot of three", (lambda a, b, c: torch.linalg.multi_dot([a, b, c]), lambda a, b, c: torch.chain_matmul(a, b, c)), lambda a, b, c: networks.matmul(networks.matmul(a, b), c), (x, y, real(5, 2, seed=3))),
        (
            "tensordot",
            (lambda a, b: torch.tensordot(a, b, 2), lambda a, b: torch.tensordot(a, b, dims=([1, 2], [0, 1]))),
            lambda a, b: fromfunction((2, 5), lambda i: tape.dot([a[i[0], k, m] for k in range(3) for m in range(4)], [b[k, m, i[1]] for k in range(3) for m in range(4)])),
            (real(2, 3, 4), real(3, 4, 5, seed=2)),
        ),
        ("tensordot of one", (lambda a, b: torch.tensordot(a, b, dims=([0], [1])),), lambda a, b: fromfunction((3, 5), lambda i: tape.dot([a[k, i[0]] for k in range(4)], [b[i[1], k] for k in range(4)])), (x, real(5, 4, seed=2))),
        ("einsum of a trace", (lambda a: torch.einsum("ii", a),), lambda a: Grid((), [tape.total([a[k, k] for k in range(4)])]), (real(4, 4),)),
        ("einsum of a diagonal", (lambda a: torch.einsum("ii->i", a),), lambda a: Grid((4,), [a[k, k] for k in range(4)]), (real(4, 4),)),
        ("einsum of a sum", (lambda a: torch.einsum("ij->j", a),), lambda a: Grid((3,), [tape.total([a[k, c] for k in range(4)]) for c in range(3)]), (x,)),
        ("einsum of batches", (lambda a, b: torch.einsum("bij,bjk->bik", a, b), lambda a, b: torch.einsum("...ij,...jk", a, b), lambda a, b: torch.einsum(a, [0, 1, 2], b, [0, 2, 3], [0, 1, 3])), networks.matmul, (real(2, 4, 3), real(2, 3, 5, seed=2))),
        ("einsum of three", (lambda a, b, c: torch.einsum("ij,jk,k->i", a, b, c),), lambda a, b, c: networks.matmul(networks.matmul(a, b), c), (x, y, real(5, seed=3))),
        ("einsum by elements", (lambda a, b: torch.einsum("ij,ij->ij", a, b),), each(lambda a, b: a * b), (x, real(4, 3, seed=2))),
        (
            "bilinear",
            (torch.nn.functional.bilinear, lambda a, b, w, c: with_parameters(torch.nn.Bilinear(3, 2, 2, dtype=a.dtype), {"weight": w, "bias": c}, (a, b))),
            lambda a, b, w, c: fromfunction((a.shape[0], 2), lambda i: tape.total([a[i[0], p] * b[i[0], q] * w[i[1], p, q] for p in range(3) for q in range(2)]) + c.flat[i[1]]),
            (x, real(4, 2, seed=2), real(2, 3, 2, seed=3), real(2, seed=4)),
        ),
        ("linear (all)", (torch.nn.functional.linear, lambda a, w, b: with_parameters(torch.nn.Linear(3, 5, dtype=a.dtype), {"weight": w, "bias": b}, (a,)), lambda a, w, b: torch.addmm(b, a, w.t())), networks.linear, (x, real(5, 3, seed=2), real(5, seed=3))),
        ("linear without bias", (torch.nn.functional.linear, lambda a, w: with_parameters(torch.nn.Linear(3, 5, bias=False, dtype=a.dtype), {"weight": w}, (a,))), networks.linear, (x, real(5, 3, seed=2))),
        ("cross", (lambda a, b: torch.linalg.cross(a, b), lambda a, b: torch.cross(a, b, dim=1), lambda a, b: a.cross(b, 1)), lambda a, b: fromfunction(a.shape, lambda i: a[i[0], (i[1] + 1) % 3] * b[i[0], (i[1] + 2) % 3] - a[i[0], (i[1] + 2) % 3] * b[i[0], (i[1] + 1) % 3]), (real(2, 3), real(2, 3, seed=2))),
        ("cross over dimension 0", (lambda a, b: torch.linalg.cross(a, b, dim=0), lambda a, b: torch.cross(a, b, dim=0)), lambda a, b: fromfunction(a.shape, lambda i: a[(i[0] + 1) % 3, i[1]] * b[(i[0] + 2) % 3, i[1]] - a[(i[0] + 2) % 3, i[1]] * b[(i[0] + 1) % 3, i[1]]), (real(3, 2), real(3, 2, seed=2))),
        ("vecdot", (torch.linalg.vecdot, lambda a, b: torch.linalg.vecdot(a, b, dim=1)), lambda a, b: Grid(a.shape[:1], [tape.dot(a.flat[n : n + 3], b.flat[n : n + 3]) for n in range(0, len(a.flat), 3)]), (x, real(4, 3, seed=2))),
        ("vecdot over dimension 0", (lambda a, b: torch.linalg.vecdot(a, b, dim=0),), lambda a, b: Grid((3,), [tape.dot(a.flat[n::3], b.flat[n::3]) for n in range(3)]), (x, real(4, 3, seed=2))),
    )
    for name, calls, reference, inputs in rows:
        yield Case(name + " (products)", calls, reference, inputs, factor=6.0, optional=name == "rmatmul")
    yield from _distances()


def _added_batches(a: Grid, b: Grid, c: Grid) -> Grid:
    each_of = networks.matmul(b, c)
    return fromfunction((4, 5), lambda i: a[i] * 0.5 - tape.total([each_of[n, i[0], i[1]] for n in range(2)]) * 2.0)


def _distances() -> Iterator[Case]:
    x, y = real(4, 3), real(5, 3, seed=2)
    for power in (1.0, 2.0, 3.0, math.inf):
        size = _sized(power)
        distance: Callable[..., Any] = lambda x, y, s=size: fromfunction((x.shape[0], y.shape[0]), lambda i: s([x[i[0], k] - y[i[1], k] for k in range(3)]))
        yield Case("cdist (" + str(power) + ")", (lambda x, y, p=power: torch.cdist(x, y, p), lambda x, y, p=power: torch.cdist(x[None], y[None], p=p, compute_mode="donot_use_mm_for_euclid_dist")[0]), distance, (x, y), _TWO, factor=20.0, spreads=False)
        if power != math.inf:
            own: Callable[..., Any] = lambda x, s=size: Grid((6,), [s([x[a, k] - x[b, k] for k in range(3)]) for a in range(4) for b in range(a + 1, 4)])
            yield Case("pdist (" + str(power) + ")", (lambda x, p=power: torch.nn.functional.pdist(x, p),), own, (x,), _TWO, factor=20.0, spreads=False)
            pair: Callable[..., Any] = lambda x, y, s=size: Grid(x.shape[:1], [s([x[n, k] - y[n, k] + 0.125 for k in range(3)]) for n in range(x.shape[0])])
            yield Case("pairwise_distance (" + str(power) + ")", (lambda x, y, p=power: torch.nn.functional.pairwise_distance(x, y, p, eps=0.125), lambda x, y, p=power: torch.nn.PairwiseDistance(p, eps=0.125, keepdim=True)(x, y)[:, 0]), pair, (x, real(4, 3, seed=2)), _TWO, factor=20.0, spreads=False)


def _sized(power: float) -> Callable[[list[Any]], Any]:
    size = tape.absolute
    if power == 1:
        return lambda row: tape.total(map(size, row))
    if power == 2:
        return right.length
    if power == math.inf:
        return lambda row: max(map(size, row), key=tape.plain)
    return lambda row: tape.exp(tape.log(tape.total([size(number) ** power for number in row])) * (1 / power))


_STEEP = literal([4.0, 1, -0.5, 0.5, -1, 3.5, 1, 0.25, 0.5, -0.5, 5, 1.5, 1, 0, -1.5, 4.5], (4, 4))


def _even(x: Grid) -> Grid:
    """Symmetric and positive."""
    rows = algebra.rows_of(x)
    squared = algebra.product(rows, algebra.turned(rows))
    return algebra.grid_of([[number + float(r == c) for c, number in enumerate(row)] for r, row in enumerate(squared)])


def _evened(x: Any) -> Any:
    return x @ x.mT + torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)


def _scalar(value: Any) -> Grid:
    return Grid((), [value])


lin = torch.linalg
solve = lambda a, b: algebra.grid_of(algebra.solved(algebra.rows_of(a), algebra.rows_of(b))[0])
flip = lambda a: algebra.grid_of(algebra.turned(algebra.rows_of(a)))
upper = lambda a: fromfunction(a.shape, lambda i: a[i] if i[0] <= i[1] else 0.0)
low = lambda a: fromfunction(a.shape, lambda i: a[i] if i[0] >= i[1] else 0.0)
ones = lambda a: fromfunction(a.shape, lambda i: 1.0 if i[0] == i[1] else a[i])
factor = lambda a: algebra.grid_of(algebra.lower(algebra.rows_of(_even(a))))
least = lambda a, b: solve(networks.matmul(flip(a), a), networks.matmul(flip(a), b))


def matrices() -> Iterator[Case]:
    """Solved, inverted, factored; with all arguments; the gradients too."""
    for name, calls, reference, inputs in (*_solved(), *_factored()):
        real_ones = any(input_.kind == "real" for input_ in inputs)
        shaky = name in ("svd put together", "eigh put together", "lu put together", "matrix_rank", "lstsq", "pinv", "svdvals", "eigvalsh", "qr", "cond", "matrix_norm (nuc)", "matrix_norm (2)", "matrix_norm (1)", "matrix_norm (infinite)", "inv", "householder_product")
        yield Case(name + " (algebra)", calls, reference, inputs, _TWO, factor=400.0, backward=real_ones and "put together" not in name, optional=True, spreads=False, twice=not shaky)
    large = 70
    wide = Grid((large, large), [4.0 if r == c else ((r * 7 + c * 3) % 5 - 2) / 64 for r in range(large) for c in range(large)])
    known = Grid((large, 2), [float((n * 5) % 7 - 3) for n in range(2 * large)])
    inputs = (literal(wide.flat, wide.shape, "given"), literal(networks.matmul(wide, known).flat, known.shape, "given"))
    yield Case("solve of 70 rows (algebra)", (lin.solve, lambda a, b: lin.inv(a) @ b, lambda a, b: lin.lstsq(a, b)[0]), lambda _a, _b: known, inputs, _TWO, backward=False, factor=400.0, spreads=False, optional=True)


_Rows = Tuple[Tuple[str, Tuple[Any, ...], Any, Tuple[Any, ...]], ...]


def _solved() -> _Rows:
    x, y, tall = _STEEP, real(4, 2, seed=2), real(5, 3, seed=3)
    return (
        (
            "solve",
            (
                lin.solve,
                lambda a, b: lin.solve_ex(a, b)[0],
                lambda a, b: torch.lu_solve(b, *lin.lu_factor(a)),
                lambda a, b: lin.lu_solve(*lin.lu_factor(a), b),
                lambda a, b: lin.solve(a[None], b[None])[0],
                lambda a, b: torch.linalg.tensorsolve(a, b[:, 0])[:, None].expand(4, 2) if not torch.is_grad_enabled() and False else lin.solve(a, b),
            ),
            solve,
            (x, y),
        ),
        ("solve (left False)", (lambda a, b: lin.solve(a, b, left=False), lambda a, b: lin.lu_solve(*lin.lu_factor(a), b, left=False)), lambda a, b: flip(solve(flip(a), flip(b))), (x, real(2, 4, seed=2))),
        ("solve of a vector", (lin.solve, lin.tensorsolve), lambda a, b: Grid((4,), solve(a, Grid((4, 1), b.flat)).flat), (x, real(4, seed=2))),
        ("lu_solve (adjoint)", (lambda a, b: lin.lu_solve(*lin.lu_factor(a), b, adjoint=True),), lambda a, b: solve(flip(a), b), (x, y)),
        ("inv", (lin.inv, torch.inverse, torch.Tensor.inverse, lambda a: lin.inv_ex(a)[0], lambda a: lin.tensorinv(a, ind=1), lin.pinv, torch.pinverse, lambda a: lin.matrix_power(a, -1), lambda a: torch.matrix_power(a, -1)), algebra.inverse, (x,)),
        ("det", (lin.det, torch.det, torch.Tensor.det), lambda a: _scalar(algebra.determinant(a)), (x,)),
        ("slogdet", (lambda a: lin.slogdet(a)[1], lambda a: torch.slogdet(a)[1], lambda a: a.slogdet()[1], torch.logdet, torch.Tensor.logdet), lambda a: _scalar(tape.log(algebra.determinant(a))), (x,)),
        ("sign of the determinant", (lambda a: lin.slogdet(-a[[1, 0, 2, 3]])[0],), lambda _a: _scalar(-1.0), (x._replace(kind="given"),)),
        ("matrix_power", (lambda a: lin.matrix_power(a, 3), lambda a: torch.matrix_power(a, 3), lambda a: a.matrix_power(3)), lambda a: networks.matmul(networks.matmul(a, a), a), (x,)),
        ("matrix_power of 0", (lambda a: lin.matrix_power(a, 0),), lambda _a: algebra.grid_of(algebra.unit(4)), (x._replace(kind="given"),)),
        ("matrix_exp", (lambda a: lin.matrix_exp(a * 0.25), lambda a: torch.matrix_exp(a * 0.25), lambda a: (a * 0.25).matrix_exp()), lambda a: algebra.exponential(scaled(a, 0.25)), (x,)),
        ("cholesky", (lambda a: lin.cholesky(_evened(a)), lambda a: lin.cholesky_ex(_evened(a))[0], lambda a: torch.cholesky(_evened(a))), factor, (x,)),
        ("cholesky (upper)", (lambda a: lin.cholesky(_evened(a), upper=True), lambda a: lin.cholesky_ex(_evened(a), upper=True)[0], lambda a: torch.cholesky(_evened(a), upper=True), lambda a: _evened(a).cholesky(True)), lambda a: flip(factor(a)), (x,)),
        ("cholesky_solve", (lambda a, b: torch.cholesky_solve(b, lin.cholesky(_evened(a))), lambda a, b: torch.cholesky_solve(b, lin.cholesky(_evened(a), upper=True), upper=True), lambda a, b: b.cholesky_solve(lin.cholesky(_evened(a)))), lambda a, b: solve(_even(a), b), (x, y)),
        ("cholesky_inverse", (lambda a: torch.cholesky_inverse(lin.cholesky(_evened(a))), lambda a: torch.cholesky_inverse(lin.cholesky(_evened(a), upper=True), upper=True), lambda a: lin.cholesky(_evened(a)).cholesky_inverse()), lambda a: algebra.inverse(_even(a)), (x,)),
        ("solve_triangular (upper)", (lambda a, b: lin.solve_triangular(a, b, upper=True), lambda a, b: torch.triangular_solve(b, a)[0], lambda a, b: b.triangular_solve(a)[0]), lambda a, b: solve(upper(a), b), (x, y)),
        ("solve_triangular (lower)", (lambda a, b: lin.solve_triangular(a, b, upper=False), lambda a, b: torch.triangular_solve(b, a, upper=False)[0]), lambda a, b: solve(low(a), b), (x, y)),
        ("solve_triangular (left False)", (lambda a, b: lin.solve_triangular(a, b, upper=True, left=False),), lambda a, b: flip(solve(flip(upper(a)), flip(b))), (x, real(2, 4, seed=2))),
        ("solve_triangular (unitriangular)", (lambda a, b: lin.solve_triangular(a, b, upper=True, unitriangular=True), lambda a, b: torch.triangular_solve(b, a, unitriangular=True)[0]), lambda a, b: solve(ones(upper(a)), b), (x, y)),
        ("triangular_solve (transpose)", (lambda a, b: torch.triangular_solve(b, a, transpose=True)[0],), lambda a, b: solve(flip(upper(a)), b), (x, y)),
        ("lstsq", (lambda a, b: lin.lstsq(a, b)[0], lambda a, b: lin.lstsq(a, b, driver="gelsy")[0], lambda a, b: lin.pinv(a) @ b), least, (tall, real(5, 2, seed=2))),
        ("pinv", (lin.pinv, torch.pinverse, lambda a: a.pinverse(), lambda a: lin.pinv(a, rtol=1e-4)), lambda a: least(a, algebra.grid_of(algebra.unit(5))), (tall,)),
    )


def _factored() -> _Rows:
    x, y, tall = _STEEP, real(4, 2, seed=2), real(5, 3, seed=3)
    return (
        ("qr", (lambda a: _positive(lin.qr(a)), lambda a: _positive(torch.qr(a)), lambda a: _positive(a.qr())), lambda a: tuple(map(algebra.grid_of, algebra.gram_schmidt(a))), (tall,)),
        ("svdvals", (lin.svdvals, lambda a: lin.svd(a)[1], lambda a: torch.svd(a)[1], lambda a: a.svd()[1]), lambda a: Grid((3,), algebra.singular(a)), (tall,)),
        ("svd put together", (lambda a: _whole(*lin.svd(a, full_matrices=False)), lambda a: _whole(*lin.svd(a)), lambda a: (lambda u, s, v: _whole(u, s, v.mT))(*torch.svd(a))), lambda a: Grid(a.shape, [number * 1.0 for number in a.flat]), (tall,)),
        ("eigvalsh", (lambda a: lin.eigvalsh(_evened(a)), lambda a: lin.eigh(_evened(a))[0]), lambda a: Grid((4,), algebra.values(algebra.rows_of(_even(a)))), (x,)),
        (
            "eigvalsh, eigh (UPLO)",
            (lambda a: lin.eigvalsh(torch.triu(_evened(a)), UPLO="U"), lambda a: lin.eigh(torch.triu(_evened(a)), "U")[0], lambda a: lin.eigh(torch.triu(_evened(a)), UPLO="U")[0], lambda a: lin.eigvalsh(torch.tril(_evened(a)), UPLO="L")),
            lambda a: Grid((4,), algebra.values(algebra.rows_of(_even(a)))),
            (x._replace(kind="given"),),
        ),
        ("eigh put together", (lambda a: _again(*lin.eigh(_evened(a))),), _even, (x,)),
        ("eigvals of a symmetric matrix", (lambda a: torch.sort(lin.eigvals(_evened(a)).real)[0], lambda a: torch.sort(lin.eig(_evened(a))[0].real)[0]), lambda a: Grid((4,), algebra.values(algebra.rows_of(_even(a)))), (x._replace(kind="given"),)),
        ("eig put together", (lambda a: (lambda w, v: (v @ torch.diag(w) @ torch.linalg.inv(v)).real)(*lin.eig(a)),), lambda a: a, (x._replace(kind="given"),)),
        (
            "lu put together",
            (lambda a: (lambda p, low, up: p @ low @ up)(*lin.lu(a)), lambda a: (lambda p, low, up: p @ low @ up)(*torch.lu_unpack(*lin.lu_factor(a))), lambda a: (lambda p, low, up: p @ low @ up)(*torch.lu_unpack(*lin.lu_factor_ex(a)[:2])), lambda a: (lambda p, low, up: p @ low @ up)(*torch.lu_unpack(*torch.lu(a)))),
            lambda a: Grid(a.shape, [number * 1.0 for number in a.flat]),
            (x,),
        ),
        ("ldl_solve", (lambda a, b: lin.ldl_solve(*lin.ldl_factor(_evened(a)), b), lambda a, b: lin.ldl_solve(*lin.ldl_factor_ex(_evened(a))[:2], b)), lambda a, b: solve(_even(a), b), (x._replace(kind="given"), y._replace(kind="given"))),
        ("householder_product", (lambda a: _positive((lin.householder_product(*torch.geqrf(a)), torch.triu(torch.geqrf(a)[0])[:3]))[0], lambda a: _positive((torch.orgqr(*torch.geqrf(a)), torch.triu(torch.geqrf(a)[0])[:3]))[0]), lambda a: algebra.grid_of(algebra.gram_schmidt(a)[0]), (tall._replace(kind="given"),)),
        ("ormqr", (lambda a, b: torch.ormqr(*torch.geqrf(a), torch.ormqr(*torch.geqrf(a), b, transpose=True)), lambda a, b: torch.ormqr(*torch.geqrf(a), torch.ormqr(*torch.geqrf(a), b), transpose=True)), lambda _a, b: b, (tall._replace(kind="given"), given(5, 2, seed=2))),
        ("matrix_rank", (lambda a: lin.matrix_rank(a), lambda a: lin.matrix_rank(a, rtol=1e-3), lambda a: lin.matrix_rank(a @ a.mT, hermitian=True)), lambda _a: _scalar(2), (literal([1.0, 2, 2, 4, 0, 1], (3, 2), "given"),)),
        ("cond", (lin.cond, lambda a: lin.cond(a, 2)), lambda a: _scalar(algebra.singular(a)[0] / algebra.singular(a)[-1]), (tall,)),
        ("matrix_norm", (lin.matrix_norm, lambda a: lin.matrix_norm(a, "fro", keepdim=True)[0, 0], lambda a: torch.norm(a, "fro"), lambda a: lin.norm(a)), lambda a: _scalar(right.length(a.flat)), (tall,)),
        ("matrix_norm (nuc)", (lambda a: lin.matrix_norm(a, "nuc"), lambda a: torch.norm(a, "nuc"), lambda a: lin.norm(a, "nuc"), lambda a: torch.nuclear_norm(a)), lambda a: _scalar(tape.total(algebra.singular(a))), (tall,)),
        ("matrix_norm (2)", (lambda a: lin.matrix_norm(a, 2), lambda a: lin.norm(a, 2)), lambda a: _scalar(algebra.singular(a)[0]), (tall,)),
        ("matrix_norm (1)", (lambda a: lin.matrix_norm(a, 1), lambda a: lin.norm(a, 1)), lambda a: _scalar(max((tape.total(map(tape.absolute, c)) for c in algebra.turned(algebra.rows_of(a))), key=tape.plain)), (tall,)),
        ("matrix_norm (infinite)", (lambda a: lin.matrix_norm(a, math.inf),), lambda a: _scalar(max((tape.total(map(tape.absolute, c)) for c in algebra.rows_of(a)), key=tape.plain)), (tall,)),
        ("solve of many", (lin.solve,), lambda a, b: fromfunction((3, 2, 1), lambda i: solve(Grid((2, 2), a.flat[i[0] * 4 : i[0] * 4 + 4]), Grid((2, 1), b.flat[i[0] * 2 : i[0] * 2 + 2])).flat[i[1]]), (literal([3.0, 1, -1, 2, 2, 0.5, 1, -3, 4, 1, 2, 3], (3, 2, 2)), real(3, 2, 1, seed=2))),
        ("inv of many", (lin.inv, torch.inverse), lambda a: fromfunction((3, 2, 2), lambda i: algebra.inverse(Grid((2, 2), a.flat[i[0] * 4 : i[0] * 4 + 4]))[i[1:]]), (literal([3.0, 1, -1, 2, 2, 0.5, 1, -3, 4, 1, 2, 3], (3, 2, 2)),)),
        ("det of many", (lin.det, torch.det), lambda a: Grid((3,), [a.flat[n] * a.flat[n + 3] - a.flat[n + 1] * a.flat[n + 2] for n in (0, 4, 8)]), (literal([3.0, 1, -1, 2, 2, 0.5, 1, -3, 4, 1, 2, 3], (3, 2, 2)),)),
    )


def _positive(pair: Any) -> Any:
    q, r = pair
    sign = torch.sign(torch.diagonal(r.detach()))
    return q[:, :3] * sign, r[:3] * sign[:, None]


def _whole(u: Any, s: Any, v: Any) -> Any:
    return (u[:, : len(s)] * s) @ v[: len(s)]


def _again(w: Any, v: Any) -> Any:
    return (v * w) @ v.mT


def complex_numbers() -> Iterator[Case]:
    """As pairs of real numbers: made, taken apart, multiplied; functions of them."""
    x, y = real(3, 4, 2), real(3, 4, 2, seed=2, low=0.25)
    pair = lambda x: torch.complex(x[..., 0], x[..., 1])
    as_real = torch.view_as_real

    def of_two(function: Callable[..., tuple[Any, Any]]) -> Callable[..., Grid]:
        return lambda *grids: fromfunction(grids[0].shape, lambda i: function(*((g[(*i[:-1], 0)], g[(*i[:-1], 1)]) for g in grids))[i[-1]])

    def to_one(function: Callable[..., Any]) -> Callable[..., Grid]:
        return lambda g: fromfunction(g.shape[:-1], lambda i: function(g[(*i, 0)], g[(*i, 1)]))

    size = lambda a, b: tape.sqrt(a * a + b * b)
    exp = lambda p: (tape.exp(p[0]) * tape.cos(p[1]), tape.exp(p[0]) * tape.sin(p[1]))
    times = lambda p, q: (p[0] * q[0] - p[1] * q[1], p[0] * q[1] + p[1] * q[0])
    over = lambda p, q: (lambda d: ((p[0] * q[0] + p[1] * q[1]) / d, (p[1] * q[0] - p[0] * q[1]) / d))(q[0] * q[0] + q[1] * q[1])
    lower = lambda p: (p[0] - p[1] * 0.0, -p[1])
    ways: tuple[tuple[str, tuple[Any, ...], Any, tuple[Any, ...]], ...] = (
        ("add", (lambda x, y: as_real(torch.add(pair(x), pair(y))), lambda x, y: as_real(pair(x) + pair(y))), of_two(lambda p, q: (p[0] + q[0], p[1] + q[1])), (x, y)),
        ("sub", (lambda x, y: as_real(pair(x) - pair(y)),), of_two(lambda p, q: (p[0] - q[0], p[1] - q[1])), (x, y)),
        ("mul", (lambda x, y: as_real(torch.mul(pair(x), pair(y))), lambda x, y: as_real(pair(x) * pair(y))), of_two(times), (x, y)),
        ("div", (lambda x, y: as_real(torch.div(pair(x), pair(y))), lambda x, y: as_real(pair(x) / pair(y))), of_two(over), (x, y)),
        ("conj", (lambda x: as_real(torch.conj(pair(x)).resolve_conj()), lambda x: as_real(pair(x).conj_physical()), lambda x: as_real(torch.conj_physical(pair(x)))), of_two(lower), (x,)),
        ("neg", (lambda x: as_real(-pair(x)),), of_two(lambda p: (-p[0], -p[1])), (x,)),
        ("exp", (lambda x: as_real(torch.exp(pair(x))),), of_two(exp), (x,)),
        ("log", (lambda x: as_real(torch.log(pair(x))),), of_two(lambda p: (tape.log(size(*p)), tape.atan(p[1] / p[0]))), (y,)),
        ("square", (lambda x: as_real(torch.square(pair(x))), lambda x: as_real(pair(x) ** 2)), of_two(lambda p: times(p, p)), (x,)),
        ("reciprocal", (lambda x: as_real(torch.reciprocal(pair(x))),), of_two(lambda p: over((1.0, 0.0), p)), (x,)),
        ("sgn", (lambda x: as_real(torch.sgn(pair(x))),), of_two(lambda p: (p[0] / size(*p), p[1] / size(*p))), (x,)),
        ("sum", (lambda x: as_real(pair(x).sum(1)),), lambda g: fromfunction((3, 2), lambda i: tape.total([g[i[0], k, i[1]] for k in range(4)])), (x,)),
        ("mean", (lambda x: as_real(pair(x).mean(1)),), lambda g: fromfunction((3, 2), lambda i: right.mean([g[i[0], k, i[1]] for k in range(4)])), (x,)),
        ("sin", (lambda x: as_real(torch.sin(pair(x))),), of_two(lambda p: (tape.sin(p[0]) * tape.cosh(p[1]), tape.cos(p[0]) * tape.sinh(p[1]))), (x,)),
        ("cos", (lambda x: as_real(torch.cos(pair(x))),), of_two(lambda p: (tape.cos(p[0]) * tape.cosh(p[1]), -(tape.sin(p[0]) * tape.sinh(p[1])))), (x,)),
        ("mm", (lambda x, y: as_real(pair(x) @ pair(y).mT),), lambda x, y: fromfunction((3, 3, 2), lambda i: tape.total([times((x[i[0], k, 0], x[i[0], k, 1]), (y[i[1], k, 0], y[i[1], k, 1]))[i[2]] for k in range(4)])), (x, y)),
        ("vdot", (lambda x, y: as_real(torch.vdot(pair(x).reshape(-1), pair(y).reshape(-1))),), lambda x, y: fromfunction((2,), lambda i: tape.total([times((x.flat[k], -x.flat[k + 1]), (y.flat[k], y.flat[k + 1]))[i[0]] for k in range(0, 24, 2)])), (x, y)),
        ("transpose and conj", (lambda x: as_real(pair(x).mH.resolve_conj()), lambda x: as_real(torch.adjoint(pair(x)).resolve_conj())), lambda g: fromfunction((4, 3, 2), lambda i: g[i[1], i[0], i[2]] * (-1.0 if i[2] else 1.0)), (x,)),
    )
    for name, calls, reference, inputs in ways:
        yield Case("complex " + name + " (all)", calls, reference, inputs, _TWO, factor=10.0, optional=True, spreads=False)
    ones: tuple[tuple[str, tuple[Any, ...], Any], ...] = (
        ("abs", (lambda x: torch.abs(pair(x)), lambda x: pair(x).abs()), size),
        ("angle", (lambda x: torch.angle(pair(x)), lambda x: pair(x).angle()), lambda a, b: tape.atan(b / a)),
        ("real", (lambda x: torch.real(pair(x)), lambda x: pair(x).real), lambda a, b: a * 1.0 + b * 0.0),
        ("imag", (lambda x: torch.imag(pair(x)), lambda x: pair(x).imag), lambda a, b: b * 1.0 + a * 0.0),
    )
    for name, calls, reference in ones:
        yield Case("complex " + name + " (to a real)", calls, to_one(reference), (y,), _TWO, factor=10.0, optional=True, spreads=False)
    a, b = real(3, 4), real(3, 4, seed=2, low=0.25)
    yield Case("view_as_complex, view_as_real", (lambda x: as_real(torch.view_as_complex(torch.clone(x.contiguous()))),), each(lambda x: x * 1.0), (x,), _TWO, optional=True, spreads=False)
    yield Case("complex (made)", (lambda a, b: as_real(torch.complex(a, b)),), lambda a, b: fromfunction((3, 4, 2), lambda i: (b if i[2] else a)[i[:2]]), (a, b), _TWO, optional=True, spreads=False)
    yield Case("polar", (lambda a, b: as_real(torch.polar(a, b)),), lambda a, b: fromfunction((3, 4, 2), lambda i: a[i[:2]] * (tape.sin if i[2] else tape.cos)(b[i[:2]])), (b, a), _TWO, factor=10.0, optional=True, spreads=False)
    yield Case("angle of real numbers", (torch.angle,), each(lambda x: math.pi if x < 0 else 0.0), (a._replace(kind="given"),), _TWO, backward=False, spreads=False)
    yield Case("real of real numbers", (torch.real, torch.conj, torch.resolve_conj), each(lambda x: x), (a._replace(kind="given"),), backward=False, spreads=False)
