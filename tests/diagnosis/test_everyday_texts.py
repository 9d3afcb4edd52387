"""Everyday texts are answered as an expert would; see everyday/README.md."""

import re
from pathlib import Path

import pytest

from answer_data import diagnose

SETS = sorted((Path(__file__).parent / "everyday").glob("set_*.txt"))


def texts():
    for path in SETS:
        for part in re.split(r"^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            head, body = part.split("\n--\n", 1)
            name, *fields = head.splitlines()
            yield pytest.param(dict(field.split(": ", 1) for field in fields), body, id=f"{path.stem}/{name.strip()}")


def ways(finding):
    told = [finding["mends"]]
    for way in finding["fixes"][:2]:
        steps = (step["title"] + " " + " ".join(map(" ".join, step["commands"] or ())) for step in way["steps"])
        told += [way["title"], *steps]
    return " ".join(told)


def answered(answer):
    """What is said of questions, and of messages without consequence."""
    asked = (part for question in answer["answers"] for part in (question["answer"], *question["commands"]))
    return " ".join([*asked, *(message["meaning"] for message in answer["harmless"])])


def said(finding):
    steps = (step for way in finding["fixes"] for step in way["steps"])
    told = [step["title"] + " " + " ".join(map(" ".join, step["commands"] or ())) for step in steps]
    return " ".join([finding["title"], finding["mends"], *told])


@pytest.mark.parametrize(("label", "body"), list(texts()))
def test_it_is_answered_as_an_expert_would(label, body, tmp_path):
    if "open" in label:
        pytest.skip(label["open"])
    (tmp_path / "paste.txt").write_text(body, encoding="utf-8")
    answer = diagnose(str(tmp_path / "paste.txt"))
    loud = [finding for finding in answer["findings"] if finding["severity"] != "note"]
    first = loud[0]["cause"] if loud else answer["verdict"]
    assert first in label["cause"].split("|")
    assert re.search(label.get("way", ""), ways(answer["findings"][0]) if answer["findings"] else "")
    assert re.search(label.get("says", ""), answered(answer))
    if "never" in label:
        assert not any(re.search(label["never"], said(finding)) for finding in answer["findings"])


def test_an_open_text_says_why():
    assert all(label.values[0].get("open", "why") for label in texts())
