"""Everyday texts are answered as an expert would; see everyday/README.md."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from answer_data import diagnose
from each import each
from suite import few
from ways_held import Way, every_new_python_has_wheels_of_what_is_pinned, lists_that_are_shown_already

SETS = sorted((Path(__file__).parent / "everyday").glob("set_*.txt"))


class Everyday(NamedTuple):
    """A text of somebody's, and what is expected of the answer."""

    id: str
    label: dict[str, str]
    body: str


def texts(path):
    """Those of one file."""
    for part in re.split(r"^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, body = part.split("\n--\n", 1)
        name, *fields = head.splitlines()
        yield Everyday(f"{path.stem}/{name.strip()}", dict(field.split(": ", 1) for field in fields), body)


def ways(finding):
    told = [finding["mends"]]
    for way in finding["fixes"][:2]:
        steps = (step["title"] + " " + " ".join(map(" ".join, step["commands"] or ())) for step in way["steps"])
        told += [way["title"], *steps]
    return " ".join(told)


def after(finding):
    """How the first two ways are seen to have worked."""
    checks = (way["check"] for way in finding["fixes"][:2])
    return " ".join(" ".join([check["title"], *map(" ".join, check["commands"])]) for check in checks)


def answered(answer):
    """What is said of questions, and of messages without consequence."""
    asked = (part for question in answer["answers"] for part in (question["answer"], *question["commands"]))
    return " ".join([*asked, *(message["meaning"] for message in answer["harmless"])])


def said(finding):
    steps = (step for way in finding["fixes"] for step in way["steps"])
    told = [step["title"] + " " + " ".join(map(" ".join, step["commands"] or ())) for step in steps]
    return " ".join([finding["title"], finding["mends"], *told])


ALL = [text for path in SETS for text in texts(path)]


@pytest.mark.thinned
@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_it_is_answered_as_an_expert_would(path, tmp_path):
    own = [text for text in few(ALL, lambda text: text.id) if text.id.startswith(path.stem + "/") and "open" not in text.label]
    each(own, lambda text: check(text, tmp_path / "paste.txt"))


def check(text, file):
    """One text is answered as its label says."""
    label = text.label
    file.write_text(text.body, encoding="utf-8")
    answer = diagnose(str(file))
    loud = [finding for finding in answer["findings"] if finding["severity"] != "note"]
    first = loud[0]["cause"] if loud else answer["verdict"]
    assert first in label["cause"].split("|")
    ways_shown = [Way(answer, finding, fix) for finding in answer["findings"] for fix in finding["fixes"]]
    assert not [told for way in ways_shown for told in every_new_python_has_wheels_of_what_is_pinned(way)]
    assert not lists_that_are_shown_already(answer, text.body)
    assert re.search(label.get("way", ""), ways(answer["findings"][0]) if answer["findings"] else "")
    assert re.search(label.get("after", ""), after(answer["findings"][0]) if answer["findings"] else "")
    assert re.search(label.get("says", ""), answered(answer))
    if "why" in label:
        assert re.search(label["why"], "{because} {in_vain}".format_map(answer["findings"][0]))
    cards = (card.get("name", "") for card in answer["machine"].get("accelerators") or ())
    assert re.search(label.get("lists", ""), ", ".join(cards))
    if "never" in label:
        assert not any(re.search(label["never"], said(finding)) for finding in answer["findings"])


def test_an_open_text_says_why():
    assert all(text.label.get("open", "why") for text in ALL)
