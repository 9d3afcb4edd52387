"""Why it is so, and what does not help, are told for the case that is shown; the general sentence stands where none is."""

import pytest
from msgspec import structs

from answer_data import diagnose, typed
from rigup.cli.report import text
from rigup.diagnosis.wording import filled, fullest, holes

SMI = "$ nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-1)\n"
NO_DRIVER = (
    "$ docker run --rm --gpus all ubuntu nvidia-smi\n"
    'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
)
TOOLKIT = "$ nvidia-ctk --version\nNVIDIA Container Toolkit CLI version 1.17.8\n"


def test_a_hole_may_be_asked_for_and_not_said():
    templates = ["{?lib}It is there.", "It is not."]
    assert [fullest(templates, known) for known in ({"lib": "a"}, {"lib": None}, {})] == ["It is there.", "It is not.", "It is not."]
    assert holes("{?lib.name}{other}") == {("lib", "name"), ("other", None)}
    assert filled("{?lib}{lib}", {"lib": "a"}) == "a"


@pytest.mark.parametrize(("shown", "why"), [("", "is not installed, or not made known"), (TOOLKIT, "has not been restarted since")])
def test_a_toolkit_that_is_shown_is_not_called_missing(found, shown, why):
    finding = found(SMI + NO_DRIVER + shown)[0]
    assert finding["cause"] == "container-toolkit-missing"
    assert why in finding["because"]


@pytest.mark.parametrize(("cause", "is_told"), [("container-toolkit-missing", False), ("shm-too-small", True)])
def test_one_cause_of_several_cards_is_no_list_of_causes(tmp_path, cause, is_told):
    """Which of several is the root is told only where several are printed."""
    (tmp_path / "paste.txt").write_text(SMI + NO_DRIVER, "utf-8")
    answer = typed(diagnose(str(tmp_path)))
    other = structs.replace(answer.findings[0], cause=cause, subject="1")
    said = text(structs.replace(answer, findings=[answer.findings[0], other]))
    assert ("The first cause below is the root" in said) == is_told
