"""What a person reads who verifies an environment for the first time: what was not asked, why, and what to do next."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from answer_data import machine_of, verify_of
from rigup.cli.verify_report import text
from rigup.machine.store import Facts
from rigup.schemas.verify import Verify
from rigup.verify.answer import answer, last_line
from rigup.verify.observe import Death, Observed, Seen

Answer = dict[str, Any]
CPU = {"name": "A Processor", "checks": [{"name": "matmul-float32", "passed": True, "framework": "torch", "device": "cpu", "seconds": 0.1}]}


def told(verdict: str, *devices: Answer, **more: Any) -> Verify:
    """An answer of verify."""
    return verify_of({"verdict": verdict, "devices": [*devices], **more})


def said(*args: Any, **more: Any) -> str:
    """The report in one line."""
    return " ".join(text(told(*args, **more)).split())


def test_where_no_framework_is_the_ones_that_are_looked_for_are_named_with_what_makes_one() -> None:
    shown = said("nothing-to-verify")
    assert "onnxruntime nor llama.cpp" in shown
    assert "rigup apply torch" in shown
    assert "-v" not in shown


def test_that_only_the_processor_was_asked_is_said() -> None:
    assert "this machine shows no GPU" in said("verified", CPU)


def test_of_a_machine_with_a_gpu_it_is_not_said() -> None:
    card = {**CPU, "name": "a card", "index": 0, "state": "verified", "because": "so"}
    assert "no GPU" not in said("verified", card, CPU)
    assert "no GPU" not in said("failed", CPU)


def test_how_long_it_took_and_how_to_see_more_stand_at_the_end() -> None:
    assert said("verified", CPU, seconds=6.24).endswith("It took 6.2 s. `-v` shows every check.")
    assert text(told("verified", CPU, seconds=12.4), verbose=True).endswith("It took 12 s.")


def test_words_without_a_cause_are_followed_by_what_to_do() -> None:
    shown = said("failed", diagnosis={"findings": [], "skipped": [], "unexplained": ["segmentation-fault"]})
    assert "segmentation-fault" in shown
    assert "rigup capture" in shown


FAULT = b"""Fatal Python error: Segmentation fault

Current thread 0x00007f2b5e7ff740 (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "<frozen runpy>", line 198 in _run_module_as_main

Extension modules: numpy.core._multiarray_umath (total: 1)
"""


def test_of_a_crash_the_fault_is_shown_and_not_the_end_of_its_stack() -> None:
    assert last_line(FAULT) == "Fatal Python error: Segmentation fault"


def test_the_last_words_are_the_errors() -> None:
    trace = b'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nImportError: libcudnn.so.9: no such file\n'
    assert last_line(trace + b"rigup: cpu matmul\n") == "ImportError: libcudnn.so.9: no such file"
    assert last_line(b"") == ""


@pytest.mark.parametrize(
    ("why", "number", "wanted"),
    [("status", 1, "ended with an error"), ("status", 3, "status 3"), ("signal", 11, "SIGSEGV"), ("hung", 0, "hung")],
)
def test_how_an_import_ended_is_told_in_words(why: str, number: int, wanted: str) -> None:
    if why == "signal" and sys.platform == "win32":
        pytest.skip("no such signal here")
    seen = Seen("torch")
    seen.deaths.append(Death("", "", why, number))
    observed = Observed("/e/bin/python", "3.12", "/e", {}, [seen])
    answered = answer(observed, machine_of({}), Facts(), full=False, wanted=["cpu"])
    assert re.search(wanted, answered.frameworks[0].because or "")
    assert answered.verdict == "failed"


@pytest.mark.long
def test_a_framework_whose_import_raises_is_told_with_its_words(tmp_path: Path) -> None:
    from rigup.verify.child import Limits
    from rigup.verify.observe import observe

    (tmp_path / "__main__.py").write_text("raise ImportError('libcudnn.so.9: no such file')\n")
    seen = observe(sys.executable, [], False, Limits(), probe=tmp_path, frameworks=("none",), also=("torch",))
    answered = answer(seen, machine_of({}), Facts(), full=False, wanted=["cpu"])
    assert "ImportError: libcudnn.so.9: no such file" in " ".join(text(answered).split())
