"""What people tell is read in what they paste, never in a machine's own log."""

from rigup.knowledge.doctor_tables import signatures
from rigup.machine.facts import Place
from rigup.machine.matcher import PEOPLE, match
from rigup.machine.texts import Text


def told_by_people() -> list[tuple[str, str]]:
    """Every row of what people say, with its example."""
    return [(row.id, row.example) for row in signatures() if row.program in PEOPLE]


def ids(body: str, people: bool) -> set[str]:
    """The symptoms of a text."""
    return {str(symptom.get("id")) for symptom, _facts in match(Text("a text", body, Place()), people=people)}


def test_there_are_such_rows() -> None:
    assert len(told_by_people()) > 20


def test_a_pasted_text_is_heard_as_its_writers_words() -> None:
    assert all(name in ids(example, people=True) for name, example in told_by_people())


def test_a_machines_own_log_is_not() -> None:
    rows = {name for name, _example in told_by_people()}
    assert not [name for _name, example in told_by_people() for name in ids(example, people=False) & rows]
