"""What each row of torch's tables is asked beside its result: forms, kinds of numbers, sizes, second derivatives, arguments."""

import json
import sys
from pathlib import Path

import broken
import pytest

from answer_data import verified
from rigup.machine.store import Facts
from rigup.verify.child import Limits
from rigup.verify.observe import observe

pytestmark = [pytest.mark.torch, pytest.mark.slow]
BLIND = Path(__file__).parent / "blind"
CHECKS = ("indexing", "places", "shapes", "complex-and-fourier", "made-with")
# of what was drawn at random: all of it shows in no usual call
DRAWN = [
    ("torch_7041776.jsonl", {"name": "kron", "kind": "scale"}, "complex64"),
    ("torch_7041776.jsonl", {"name": "split", "way": "twice"}, "twice backward"),
    ("torch_7041776.jsonl", {"name": "fft.irfft", "way": "twice"}, "twice backward"),
    ("torch_7041776.jsonl", {"name": "scatter", "kind": "out"}, "into a tensor"),
    ("torch_7041776.jsonl", {"name": "nonzero", "argument": "as_tuple"}, "as_tuple"),
    ("torch_7041776.jsonl", {"name": "fft.ifft2", "kind": "sign"}, "of real numbers"),
    ("torch_7041776.jsonl", {"name": "LBFGS", "argument": "history_size"}, "history_size"),
    ("torch_7041776.jsonl", {"name": "TransformerEncoderLayer", "argument": "bias"}, "bias"),
]


def row_of(file, fields):
    """The drawn fault of a set that has these fields."""
    rows = [json.loads(line) for line in (BLIND / file).read_text().splitlines()]
    (found,) = [row for row in rows if fields.items() <= row.items()]
    return found


def failing(python, folder, body):
    """All that failed checks tell."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**broken.build(folder, body), "CUDA_VISIBLE_DEVICES": ""}.items():
            patch.setenv(name, value)
        seen = observe(python, [], False, Limits(start=300, check=300), only=CHECKS, frameworks=("torch",), more=broken.UNHURRIED)
    answer = verified(seen, {"accelerators": []}, Facts(), False, [])
    checks = [check for device in answer["devices"] for check in device["checks"] if check["name"] in CHECKS]
    assert {check["name"] for check in checks} == set(CHECKS)
    bad = [check.get("measured") or {} for check in checks if not check.get("passed", True)]
    return [str(name) for measured in bad for name in (*measured.get("failed", []), *measured.get("wrong", []))]


@pytest.fixture(scope="module")
def found(torch_python, tmp_path_factory):
    """One torch with all of them."""
    rows = json.dumps([row_of(*drawn[:2]) for drawn in DRAWN])
    body = f"import json; sys.path.insert(0, {str(BLIND)!r}); import faults; faults.lay(torch, json.loads({rows!r}))"
    return failing(torch_python, tmp_path_factory.mktemp("rows"), body)


@pytest.mark.parametrize(("file", "told", "word"), DRAWN)
def test_it_is_named_with_what_was_asked(found, file, told, word):
    sys.path.insert(0, str(BLIND))
    from naming import pattern

    named = [failure for failure in found if pattern(row_of(file, told)).search(failure)]
    assert any(word in failure for failure in named)


def test_a_torch_without_a_fault_is_accused_of_nothing(torch_python, tmp_path):
    assert failing(torch_python, tmp_path, "pass") == []
