"""Reports of other tools: each sample says in the JSON beside it which facts it must come to.

Of every kind that is named there are exactly so many facts, and each has at least those fields.
"""

import json
from pathlib import Path

import pytest

from rigup.machine import readers  # noqa: F401  (registers them)
from rigup.machine.facts import Fact, Place, kinds
from rigup.machine.look import look
from rigup.machine.paste import texts_of
from rigup.machine.sources import Source
from rigup.machine.store import Facts

SAMPLES = sorted(Path(__file__).parent.glob("samples/*.txt"))


def looked(path: Path) -> Facts:
    texts = texts_of(path.name, path.read_text("utf-8"))
    return look([Source(Place(), None, tuple(texts))])


def holds(fact: Fact, wanted: dict[str, object]) -> bool:
    values = fact.values()
    return all(name in values and values[name] == value for name, value in wanted.items())


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_report_comes_to_its_facts(path: Path) -> None:
    facts = looked(path)
    assert not facts.troubles
    for kind, wanted in json.loads(path.with_suffix(".json").read_text("utf-8")).items():
        found = facts.of(kinds()[kind])
        shown = [fact.values() for fact in found]
        assert len(found) == len(wanted), f"{kind}: {shown}"
        for fields in wanted:
            assert any(holds(fact, fields) for fact in found), f"{kind}: {fields} is not among {shown}"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_evidence_stands_where_it_is_said_to_stand(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    for fact in looked(path).all():
        for reading in fact.fields.values():
            if reading.where.line is not None:
                assert reading.where.text in lines[reading.where.line - 1]
