"""Pieces of output and their neighbours, by what rules say of them: a table for each family in `shown/`."""

import runpy
from pathlib import Path

import pytest

TABLES = {path.stem: runpy.run_path(str(path)) for path in sorted((Path(__file__).parent / "shown").glob("*.py"))}
SPEAKS = {f"{family}/{name}": row for family, table in TABLES.items() for name, row in table["SPEAKS"].items()}
SILENT = {f"{family}/{name}": row for family, table in TABLES.items() for name, row in table["SILENT"].items()}


@pytest.mark.parametrize(("cause", "body"), SPEAKS.values(), ids=SPEAKS)
def test_a_piece_of_output_names_its_cause(cause, body, named):
    assert named(body)[:1] == [cause]


@pytest.mark.parametrize(("cause", "body"), SILENT.values(), ids=SILENT)
def test_what_resembles_it_and_is_none_is_left_alone(cause, body, named):
    assert cause not in named(body)
