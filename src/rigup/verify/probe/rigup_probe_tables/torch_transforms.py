"""Fourier transforms."""

from __future__ import annotations

import math
from typing import Any, Iterator

import rigup_probe_reference_algebra as algebra
import torch
from rigup_probe_grid import Grid, each, fromfunction
from rigup_probe_torch_cases import Case, given, real

_TWO = ("float64", "float32")


def transforms() -> Iterator[Case]:
    """Fourier's, over each number of dimensions, cut and filled up, with each norm, both ways."""
    fft, move = torch.fft, algebra.transformed
    pair, as_real = (lambda x: torch.complex(x[..., 0], x[..., 1])), lambda z: torch.view_as_real(z.resolve_conj())
    lift = lambda x: Grid((*x.shape, 2), [part for number in x.flat for part in (number, 0.0)])
    for norm in ("backward", "ortho", "forward"):
        x = real(3, 4, 2)
        for back in (False, True):
            name = "ifft" if back else "fft"
            for count in (0, 3, 6):
                calls = (lambda x, n=name, c=count, m=norm: as_real(getattr(fft, n)(pair(x), c or None, norm=m)),)
                yield Case(name + " (" + norm + ", n " + str(count) + ")", calls, lambda x, c=count, b=back, m=norm: move(x, 1, b, c, m), (x,), _TWO, factor=10.0, optional=True, few=count > 0, spreads=False)
            yield Case(name + " (" + norm + ") over dimension 0", (lambda x, n=name, m=norm: as_real(getattr(fft, n)(pair(x), dim=0, norm=m)),), lambda x, b=back, m=norm: move(x, 0, b, 0, m), (x,), _TWO, factor=10.0, optional=True, spreads=False)
            whole = lambda x, b=back, m=norm: move(move(x, 1, b, 0, m), 0, b, 0, m)
            yield Case(
                name + "2 and " + name + "n (" + norm + ")",
                (lambda x, n=name, m=norm: as_real(getattr(fft, n + "2")(pair(x), norm=m)), lambda x, n=name, m=norm: as_real(getattr(fft, n + "n")(pair(x), norm=m)), lambda x, n=name, m=norm: as_real(getattr(fft, n + "n")(pair(x), (3, 4), (0, 1), m))),
                whole,
                (x,),
                _TWO,
                factor=10.0,
                optional=True,
                spreads=False,
            )
            half = lambda x, b=back, m=norm: move(x, 1, b, 3, m)
            yield Case(name + "n (" + norm + ", s, dim)", (lambda x, n=name, m=norm: as_real(getattr(fft, n + "n")(pair(x), s=(3,), dim=(1,), norm=m)),), half, (x,), _TWO, factor=10.0, optional=True, few=True, spreads=False)
        r = real(3, 6)
        cut = lambda g, n: fromfunction((*g.shape[:-2], n, 2), lambda i: g[i])
        for size in (6, 5):
            part = lambda x, s=size, m=norm: cut(move(lift(x), 1, False, s, m), s // 2 + 1)
            yield Case("rfft (" + norm + ", n " + str(size) + ")", (lambda x, s=size, m=norm: as_real(fft.rfft(x, s, norm=m)),), part, (r,), _TWO, factor=10.0, optional=True, few=size == 5, spreads=False)
            turned = lambda x, s=size, m=norm: fromfunction((3, s // 2 + 1, 2), lambda i: move(lift(x), 1, True, s, m)[i])
            yield Case("ihfft (" + norm + ", n " + str(size) + ")", (lambda x, s=size, m=norm: as_real(fft.ihfft(x, s, norm=m)),), turned, (r._replace(kind="given"),), _TWO, backward=False, factor=10.0, optional=True, few=True, spreads=False)
            back_ = real(3, size // 2 + 1, 2, seed=4)
            full = lambda x, s=size: fromfunction((3, s, 2), lambda i: _mirrored(x, i, s))
            real_part = lambda g: fromfunction(g.shape[:-1], lambda i: g[(*i, 0)])
            yield Case("irfft (" + norm + ", n " + str(size) + ")", (lambda x, s=size, m=norm: fft.irfft(pair(x), s, norm=m),), lambda x, s=size, m=norm, f=full: real_part(move(f(x), 1, True, 0, m)), (back_,), _TWO, factor=10.0, optional=True, few=size == 5, spreads=False)
            yield Case(
                "hfft (" + norm + ", n " + str(size) + ")", (lambda x, s=size, m=norm: fft.hfft(pair(x), s, norm=m),), lambda x, s=size, m=norm, f=full: real_part(move(f(_conj(x)), 1, True, 0, {"backward": "forward", "forward": "backward"}.get(m, m))), (back_,), _TWO, factor=10.0, optional=True, few=True, spreads=False
            )
        both = lambda x, m=norm: move(cut(move(lift(x), 1, False, 0, m), 4), 0, False, 0, m)
        yield Case("rfft2 and rfftn (" + norm + ")", (lambda x, m=norm: as_real(fft.rfft2(x, norm=m)), lambda x, m=norm: as_real(fft.rfftn(x, norm=m))), both, (r,), _TWO, factor=10.0, optional=True, spreads=False)
        yield Case(
            "irfft2 and irfftn (" + norm + ", back again)",
            (lambda x, m=norm: fft.irfft2(fft.rfft2(x, norm=m), norm=m), lambda x, m=norm: fft.irfftn(fft.rfftn(x, norm=m), norm=m), lambda x, m=norm: fft.hfft2(fft.ihfft2(x, norm=m), norm=m), lambda x, m=norm: fft.hfftn(fft.ihfftn(x, norm=m), norm=m)),
            each(lambda x: x * 1.0),
            (r,),
            _TWO,
            factor=10.0,
            optional=True,
            spreads=False,
        )
        mirrored = lambda x, m=norm: cut(move(move(lift(x), 1, True, 0, m), 0, True, 0, m), 4)
        yield Case("ihfft2 and ihfftn (" + norm + ")", (lambda x, m=norm: as_real(fft.ihfft2(x, norm=m)), lambda x, m=norm: as_real(fft.ihfftn(x, norm=m))), mirrored, (r._replace(kind="given"),), _TWO, backward=False, factor=10.0, optional=True, spreads=False)
    yield from _shifts()
    yield from _windows()


def _shifts() -> Iterator[Case]:
    fft = torch.fft
    shift = lambda back: lambda x: fromfunction(x.shape, lambda i: x[i[0], (i[1] + (2 if back else 3)) % 5])
    yield Case("fftshift", (lambda x: fft.fftshift(x, dim=1), lambda x: fft.fftshift(x, 1)), shift(False), (real(3, 5),), spreads=False)
    yield Case("ifftshift", (lambda x: fft.ifftshift(x, dim=1), lambda x: fft.ifftshift(x, 1)), shift(True), (real(3, 5),), spreads=False)
    yield Case("fftshift of all", (fft.fftshift, lambda x: fft.ifftshift(fft.fftshift(fft.fftshift(x)))), lambda x: fromfunction((3, 5), lambda i: x[(i[0] + 2) % 3, (i[1] + 3) % 5]), (real(3, 5),), spreads=False)
    yield Case("fftfreq", (lambda _x: fft.fftfreq(5, 0.5),), lambda _x: Grid((5,), [0.0, 0.4, 0.8, -0.8, -0.4]), (given(1),), ("float32",), backward=False, spreads=False, factor=4.0)
    yield Case("rfftfreq", (lambda _x: fft.rfftfreq(5, 0.5),), lambda _x: Grid((3,), [0.0, 0.4, 0.8]), (given(1),), ("float32",), backward=False, spreads=False, factor=4.0)


def _mirrored(x: Grid, i: Any, size: int) -> Any:
    """The whole of a spectrum of real numbers, from its half; what would be no real number is left out."""
    at, part = i[1], i[2]
    alone = at == 0 or 2 * at == size
    if part == 1 and alone:
        return x[i[0], at, 0] * 0.0
    if 2 * at <= size:
        return x[i[0], at, part]
    return x[i[0], size - at, part] * (-1.0 if part else 1.0)


def _conj(x: Grid) -> Grid:
    return fromfunction(x.shape, lambda i: x[i] * (-1.0 if i[2] else 1.0))


def _windows() -> Iterator[Case]:
    """Of signals, and the transform of pieces of them."""
    like = (given(1),)
    shapes: tuple[tuple[str, Any, Any], ...] = (
        ("hann_window", lambda n, s: 0.5 - 0.5 * math.cos(2 * math.pi * n / s), torch.hann_window),
        ("hamming_window", lambda n, s: 0.54 - 0.46 * math.cos(2 * math.pi * n / s), torch.hamming_window),
        ("blackman_window", lambda n, s: 0.42 - 0.5 * math.cos(2 * math.pi * n / s) + 0.08 * math.cos(4 * math.pi * n / s), torch.blackman_window),
        ("bartlett_window", lambda n, s: 1 - abs(2 * n / s - 1), torch.bartlett_window),
    )
    for name, shape, call in shapes:
        for periodic in (True, False):
            size = 7 if periodic else 6
            shape_values = Grid((7,), [shape(n, size) for n in range(7)])
            yield Case(name + (" (periodic)" if periodic else ""), (lambda x, c=call, p=periodic: c(7, p, dtype=x.dtype),), lambda *_x, w=shape_values: w, like, _TWO, backward=False, spreads=False, factor=4.0, few=True)
    x = real(2, 12)
    length, hop = 6, 3
    window = [0.5 - 0.5 * math.cos(2 * math.pi * n / length) for n in range(length)]

    def pieces(x: Grid) -> Grid:
        count = (12 - length) // hop + 1
        cut = Grid((2, count, length, 2), [x[b, f * hop + n] * window[n] if part == 0 else 0.0 for b in range(2) for f in range(count) for n in range(length) for part in (0, 1)])
        spectrum = algebra.transformed(cut, 2, False)
        return fromfunction((2, length // 2 + 1, count, 2), lambda i: spectrum[i[0], i[2], i[1], i[3]])

    own = lambda x: torch.hann_window(length, dtype=x.dtype)
    yield Case("stft", (lambda x: torch.view_as_real(torch.stft(x, length, hop, window=own(x), center=False, return_complex=True)), lambda x: torch.view_as_real(x.stft(length, hop, window=own(x), center=False, return_complex=True))), pieces, (x,), _TWO, factor=10.0, optional=True, spreads=False)
    yield Case(
        "stft and istft, back again",
        (lambda x: torch.istft(torch.stft(x, length, hop, window=own(x), return_complex=True, normalized=True), length, hop, window=own(x), normalized=True, length=12), lambda x: torch.istft(torch.stft(x, length, hop, window=own(x), pad_mode="constant", return_complex=True), length, hop, window=own(x), length=12)),
        each(lambda x: x * 1.0),
        (x,),
        _TWO,
        factor=20.0,
        optional=True,
        spreads=False,
    )
