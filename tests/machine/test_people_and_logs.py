"""What people tell is read in what they paste, never in a machine's own log."""

import pytest

from rigup.knowledge.compile import PEOPLE
from rigup.knowledge.doctor_tables import signatures
from rigup.machine.facts import Place
from rigup.machine.matcher import match
from rigup.machine.texts import Text


def told_by_people() -> list[tuple[str, str]]:
    """Every row of what people say, with its example."""
    return [(row.says or row.id, row.example) for row in signatures() if row.program in PEOPLE]


def ids(body: str, who: str) -> set[str]:
    """The symptoms of a text in which they may speak."""
    return {str(symptom.get("id")) for symptom, _facts in match(Text("a text", body, Place()), who)}


def test_there_are_such_rows() -> None:
    assert len(told_by_people()) > 20


def test_a_pasted_text_is_heard_as_its_writers_words() -> None:
    assert all(name in ids(example, "anybody") for name, example in told_by_people())


def test_a_machines_own_log_is_not() -> None:
    rows = {name for name, _example in told_by_people()}
    assert not [name for _name, example in told_by_people() for name in ids(example, "program") & rows]


def test_the_kernels_log_is_heard_as_the_kernels_words() -> None:
    speakers = ("kernel", "NVIDIA kernel module", "amdgpu")
    said = [(row.says or row.id, row.example) for row in signatures() if row.program in speakers]
    assert len(said) > 40
    assert not [name for name, example in said if name not in ids(example, "kernel")]


def test_and_not_as_what_a_process_says_of_itself() -> None:
    said = [(row.id, row.example) for row in signatures() if row.program in ("CUDA", "conda", "torch", "people, Windows")]
    own = {row.id for row in signatures() if row.scope == "process" and "kernel" not in row.program}
    assert not [name for _name, example in said for name in ids(example, "kernel") & own]


def test_numbers_of_a_kernels_log_are_no_errors_of_cuda() -> None:
    lines = "".join(f"[  {n}.{n}] pcieport 0000:00:{n % 32:02x}.0: AER: error {n} of cuda device\n" for n in range(790, 810))
    assert not ids(lines, "kernel")


@pytest.mark.parametrize(
    "told",
    [
        "The log is clean: no `NVRM: GPU has fallen off the bus`.",
        'I did not see any "NVRM: GPU has fallen off the bus" in weeks',
        "without NVRM: GPU has fallen off the bus",
        'The "NVRM: GPU has fallen off the bus" is gone since the new power supply',
        "之前的“NVRM: GPU has fallen off the bus”没有出现",
    ],
)
def test_what_is_quoted_as_missing_was_not_said(told: str) -> None:
    assert "gpu-fallen-off" not in ids(told, "anybody")


@pytest.mark.parametrize(
    "told",
    [
        "No picture. NVRM: GPU has fallen off the bus",
        'The "NVRM: GPU has fallen off the bus" is gone after a boot, but comes back',
        'It says "NVRM: GPU has fallen off the bus", and no program works',
    ],
)
def test_what_is_quoted_as_there_was_said(told: str) -> None:
    assert "gpu-fallen-off" in ids(told, "anybody")
