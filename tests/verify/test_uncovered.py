"""A new gap is seen: what no check calls stands in a list with its reason, or this fails and names it."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from left_out import LEFT_OUT

from rigup.verify.child import PROBE

pytestmark = [pytest.mark.torch, pytest.mark.slow]
SCRIPT = Path(__file__).parent / "uncovered.py"
LEAST = 0.8  # of all operators and arguments that are public


@pytest.fixture(scope="module")
def gaps(torch_python):
    """What was watched under a real torch."""
    done = subprocess.run([torch_python, str(SCRIPT), str(PROBE), "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_what_no_check_calls_is_left_out_with_a_reason(gaps):
    known = [re.compile(pattern) for _reason, pattern in LEFT_OUT]
    assert [name for name in gaps["missing"] if not any(pattern.fullmatch(name) for pattern in known)] == []


def test_each_reason_is_needed(gaps):
    needless = [reason for reason, pattern in LEFT_OUT if not any(re.fullmatch(pattern, name) for name in gaps["missing"])]
    assert needless == []


def test_most_of_the_public_operators_and_arguments_are_called(gaps):
    assert 1 - len(gaps["missing"]) / gaps["of"] >= LEAST
