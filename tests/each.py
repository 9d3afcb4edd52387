"""One check for each row of a long table, in one test: thousands of tests take longer to name than to run."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import suite

SHOWN = 20


def each(rows: Iterable[Any], check: Callable[[Any], None], name: Callable[[Any], str] = lambda row: row.id) -> None:
    """Call `check` for every row; fail once, with the name of each row for which it failed and with what it said.

    With `--quick`, for a fixed tenth of many.
    """
    faults = []
    for row in suite.few(list(rows), name):
        try:
            check(row)
        except Exception as error:
            faults.append(f"{name(row)}: {type(error).__name__}: {error}")
    if faults:
        more = f"\nand {len(faults) - SHOWN} more" * (len(faults) > SHOWN)
        pytest.fail(f"{len(faults)} rows failed:\n" + "\n".join(faults[:SHOWN]) + more, pytrace=False)


def over(rows: Iterable[Any], name: Callable[[Any], str] = str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make of a test of one row, its first parameter, a test of all rows; its other parameters are fixtures, which the rows share."""

    def made(check: Callable[..., None]) -> Callable[..., None]:
        def test(**fixtures: Any) -> None:
            each(rows, lambda row: check(row, **fixtures), name)

        test.__name__, test.__qualname__, test.__doc__ = check.__name__, check.__qualname__, check.__doc__
        test.__module__ = check.__module__
        test.__signature__ = inspect.Signature(list(inspect.signature(check).parameters.values())[1:])  # type: ignore[attr-defined]
        return pytest.mark.thinned(test)

    return made
