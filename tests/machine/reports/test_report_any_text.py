"""Whatever a text says: no reader raises, and none says more than a report can hold."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rigup.machine import readers
from rigup.machine.facts import Fact
from rigup.machine.reader import READERS
from rigup.machine.readers import of_texts
from rigup.machine.texts import Text

MODULES = (
    "apple",
    "batch",
    "intel",
    "jupyter",
    "misc_reports",
    "nvidia_query",
    "nvidia_smi",
    "packages",
    "programs",
    "rocm_smi",
    "rocm_tools",
    "sessions",
    "torch_report",
    "windows",
)
MINE = [reader for reader in READERS.values() if reader.read.__module__.rsplit(".", 1)[-1] in MODULES]
SAMPLES = [path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("samples/*.txt"))]
PIECES = [line for sample in SAMPLES for line in sample.splitlines()]
HOSTILE = [
    " " * 20_000,
    "|" * 20_000,
    "a" * 20_000,
    "1" * 20_000,
    "1." * 10_000,
    "GPU 0: " * 3_000,
    "{" * 20_000,
    '{"card0": ' * 2_000,
    "<gpu id=" * 3_000,
    "\n" * 20_000,
    "GPU[0]\t: a: " * 2_000,
    "nvidia" + "-a" * 10_000,
    "| 0 " + "x " * 10_000 + "| 00000000:01:00.0",
    "Name: " + "\t" * 20_000,
    "0x" * 10_000,
    "[conda] torch " + "1 " * 10_000,
    "#SBATCH " + "-" * 20_000,
    "srun " + "\\\n" * 5_000,
    'msg="inference compute" ' + "a=" * 8_000,
    "name, " * 5_000,
    "--query-gpu=" + "a," * 9_000,
    "### GPU model and memory\n" + "#" * 20_000,
    "- OS Platform and Distribution" + " " * 20_000,
    "\nIPython 8" + "Python 3.11.1" * 2_000,
    "#!/bin/sh\n#SBATCH -N 1\n" * 800,
    "Trainer(" + "(" * 20_000,
]


def read(body: str) -> list[Fact]:
    text = Text("any", body)
    return [fact for reader in MINE for fact in reader.read(text)]


def test_all_are_there() -> None:
    assert readers
    assert of_texts
    assert {reader.read.__module__.rsplit(".", 1)[-1] for reader in MINE} == set(MODULES)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(st.text(max_size=400))
def test_any_text(body: str) -> None:
    assert len(read(body)) <= 400


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_lines_in_any_order(lines: list[str]) -> None:
    assert len(read("\n".join(lines))) <= 2000


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=80)
@given(st.sampled_from(SAMPLES), st.integers(0, 3000), st.integers(0, 3000), st.text(max_size=20))
def test_reports_cut_and_spoilt(sample: str, start: int, end: int, noise: str) -> None:
    facts = read(sample[:start] + noise + sample[end:])
    assert len(facts) <= 2000
    assert all(fact.fields for fact in facts)


@pytest.mark.long
def test_hostile_lines_end() -> None:
    """A runaway pattern would never come back."""
    for body in HOSTILE:
        assert len(read(body)) <= 30_000
