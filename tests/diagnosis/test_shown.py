"""Pieces of output and their neighbours, by what rules say of them: a table for each family in `shown/`."""

import runpy
from pathlib import Path

import pytest

TABLES = {path.stem: runpy.run_path(str(path)) for path in sorted((Path(__file__).parent / "shown").glob("*.py"))}
SPEAKS = {f"{family}/{name}": row for family, table in TABLES.items() for name, row in table["SPEAKS"].items()}
SILENT = {f"{family}/{name}": row for family, table in TABLES.items() for name, row in table["SILENT"].items()}

# What mends these nobody could tell as steps yet: wheels that were never made for the system, libraries that another program left.
PROSE_ALONE = {
    "wheels/wheels-of-others", "wheels/wheels-of-others-by-pip", "library/foreign", "library/runtime-of-physx",
    "library/runtime-of-physx-alone",
}  # fmt: skip


@pytest.mark.parametrize(("cause", "body"), SPEAKS.values(), ids=SPEAKS)
def test_a_piece_of_output_names_its_cause_and_steps_that_mend_it(cause, body, found, request):
    first = found(body)[:1]
    assert [one["cause"] for one in first] == [cause]
    assert first[0]["fixes"] or request.node.callspec.id in PROSE_ALONE


@pytest.mark.parametrize(("cause", "body"), SILENT.values(), ids=SILENT)
def test_what_resembles_it_and_is_none_is_left_alone(cause, body, named):
    assert cause not in named(body)
