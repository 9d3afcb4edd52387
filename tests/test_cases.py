"""Every case is a machine and what the doctor must say of it. No Python per case: `packs.py` tells what a case holds."""

import re
from pathlib import Path

import pytest

from answer_data import diagnose
from each import each
from packs import cases, machine_folder, machine_names
from suite import few
from ways_held import broken, lists_that_are_shown_already

CASES = cases()
LOUD = ("error", "warning")


def loud(answer):
    return [finding["cause"] for finding in answer["findings"] if finding["severity"] in LOUD]


@pytest.mark.thinned
@pytest.mark.parametrize("cause", sorted({case.cause for case in CASES.values()}))
def test_the_doctor_names_what_each_case_shows(cause, tmp_path):
    own = [case for case in few(list(CASES.values()), lambda case: case.name) if case.cause == cause]
    answers = {}

    def answered(case):
        if case.name not in answers:
            machine = case.unpack(tmp_path / case.name)
            answers[case.name] = machine, diagnose(machine)
        return answers[case.name]

    def checked(case):
        check(case, *answered(case))
        if "twin" in case.label:
            check_twins(answered(CASES[f"{case.cause}/{case.label['twin']}"])[1], answered(case)[1])

    each(own, checked, lambda case: case.name)


def check(case, machine, answer):
    """One machine is judged as its label says."""
    assert not answer["troubles"], answer["troubles"]
    check_expected(case.label, answer, Path(machine))
    check_silence(case.label, answer)
    assert not broken(answer)
    pasted = [path for path in (Path(machine), *Path(machine).glob("*.txt")) if path.is_file()]
    assert not [
        told for path in pasted for told in lists_that_are_shown_already(answer, path.read_text(encoding="utf-8", errors="replace"))
    ]
    if "fix" in case.label:
        first = next(finding for finding in answer["findings"] if finding["cause"] == case.label["expect"])
        assert [step["kind"] for step in first["fixes"][0]["steps"]] == case.label["fix"]
    if "place" in case.label:
        places = (found["place"] for found in answer["findings"] if found["cause"] == case.label["expect"])
        assert case.label["place"] in next(places)


def check_expected(label, answer, machine):
    """The cause comes first, or nothing loud is said of what is sound."""
    named = [finding["cause"] for finding in answer["findings"]]
    wanted = label.get("expect")
    if "mended" in label:
        first = of_rules(answer)[:1]
        assert [finding["cause"] for finding in first] == [wanted]
        assert first[0]["fixes"] or not label["mended"]
    elif wanted == "healthy":
        assert not loud(answer), loud(answer)
    elif wanted:
        assert wanted in (loud(answer)[:3] if label.get("top3") else loud(answer)[:1] or named[:1]), named
    if wanted not in (None, "healthy"):
        check_evidence(answer, wanted, machine)


def check_silence(label, answer):
    """What must not be named is not; where nothing is expected, the rules alone are asked."""
    named = [finding["cause"] for finding in (answer["findings"] if "expect" in label else of_rules(answer))]
    assert not set(label.get("silent", ())) & set(named), named


def of_rules(answer):
    """The loud findings that are no guess."""
    return [finding for finding in answer["findings"] if finding["severity"] in LOUD and not finding["guess"]]


def check_evidence(answer, cause, machine):
    """Each piece of evidence stands in the source that it names."""
    finding = next(finding for finding in answer["findings"] if finding["cause"] == cause)
    assert finding["evidence"]
    for line in finding["evidence"]:
        path = machine / line["source"].lstrip("/")
        if line["value"] is not None and path.is_file():
            assert line["value"] in path.read_text(errors="replace").replace("\r", "")


def check_twins(tree, text):
    """The same cause, as severe, and of the same subject where both tell it in the same form."""
    mine, other = (next(found for found in answer["findings"] if found["severity"] in LOUD) for answer in (tree, text))
    assert (mine["cause"], mine["severity"]) == (other["cause"], other["severity"])
    if form(mine["subject"]) == form(other["subject"]):
        assert mine["subject"] == other["subject"]


def form(subject: str) -> str:
    """How a finding names what it is about: a report may know a card by its name and a tree by its address."""
    if re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", subject):
        return "address"
    return "path" if subject.startswith("/") else subject if subject == "machine" else "name"


@pytest.mark.parametrize("name", machine_names())
def test_a_healthy_machine_has_no_finding(name):
    """Without the patch the doctor is silent: what the breaks of this machine show is the patch's doing."""
    answer = diagnose(str(machine_folder(name)))
    assert not answer["troubles"], answer["troubles"]
    assert not loud(answer), [(finding["cause"], finding["evidence"]) for finding in answer["findings"]]
    assert answer["verdict"] in ("healthy", "unknown")


def test_every_case_has_a_label_and_a_machine():
    for case in CASES.values():
        assert case.label.get("expect") or case.label.get("silent"), case.name
        assert sum(map(bool, (case.label.get("base"), case.tree, case.files))) == 1, case.name
        assert case.label.get("base", "") in ("", *machine_names()), case.name
        assert not case.patch or case.label.get("base"), case.name


def test_enough_causes_are_tried_on_trees_and_twice():
    """A break is silent without its patch; a twin is told in another way."""
    labels = [case.label for case in CASES.values()]
    assert len({label["expect"] for label in labels if "base" in label} - {"healthy"}) >= 50
    assert len({label["expect"] for label in labels if "twin" in label}) >= 25
