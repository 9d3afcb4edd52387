"""Run the cases of a table: each type, several layouts, and the further checks."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, Sequence

import torch
from rigup_probe_torch_cases import FLOATS, LARGE, LAYOUTS, LONG, ROWS, SIZES, THREADS, Case, Report, Variant, expected, fits, one_variant
from rigup_probe_torch_further import coarsely, further, stirred


def measured(
    device: dict[str, Any], cases: Iterable[Case], dtypes: Sequence[str], full: bool = False, over: Callable[[], bool] = lambda: False
) -> dict[str, Any]:
    """Run each case in each type, forward and backward; the largest error of all layouts, and the failures.

    Those that are left once the time is over are named.
    """
    report = Report(device)
    for number, case in enumerate(cases):
        if over():
            report.left.append(case.name)
            continue
        wanted = expected(case)
        kinds = [dtype for dtype in dtypes if dtype in case.dtypes] or case.dtypes[:1] * (case.dtypes[0] not in FLOATS)
        for at, name in enumerate(kinds):
            if full or name != "float64":
                stirred(report, case, name)
            for variant in variants(case, name, number + at, full):
                torch.set_num_threads(THREADS if variant is LARGE else 1)
                one_variant(report, case, wanted, name, variant, -1 if full else number + at)
            further(report, case, wanted, name, number + at, full)
        if full:
            coarsely(report, case, wanted)
    return report.summary()


def variants(case: Case, dtype: str, turn: int, full: bool) -> Iterator[Variant]:
    """Ways to lay the inputs out that differ for this case.

    Where not all is to be tried, one of them, which changes from case to case, and in float32 a second one, with gaps.
    `full`: also with more numbers than one thread is given.
    """
    every = full or dtype == "float32" or dtype not in FLOATS
    laid = [layout for layout in LAYOUTS[1:] if (not case.few or (full and layout is LAYOUTS[-1])) and fits(case, layout)]
    if not full and laid:
        laid = list(dict.fromkeys([*(laid[-1:] if every else []), laid[turn % len(laid)]]))
    yield LAYOUTS[0]
    yield from laid
    if case.elementwise:
        rows = (0, *SIZES, LONG) if every else (SIZES[turn % len(SIZES)], LONG) if turn % 3 == 0 else SIZES[turn % len(SIZES) :][:1]
        yield from (variant for variant in ROWS if variant.take in rows)
        yield from (LARGE,) if full and dtype == "float32" else ()
