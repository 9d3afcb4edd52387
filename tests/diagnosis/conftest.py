"""What the rules alone say of a pasted text, and how they would mend it."""

import pytest

from answer_data import diagnose


@pytest.fixture
def named(found):
    """The causes that rules name loudly, the first first; guesses are left out."""

    def causes(body):
        return [one["cause"] for one in found(body)]

    return causes


@pytest.fixture
def found(tmp_path):
    """The loud findings of rules, the first first."""

    def findings(body):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        told = diagnose(str(tmp_path))["findings"]
        return [one for one in told if one["severity"] != "note" and not one["guess"]]

    return findings


@pytest.fixture
def mended(tmp_path):
    """The ways to mend the first finding, each the titles and commands of its steps in one line; and that it is of this cause."""

    def ways(cause, body):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        first = next(one for one in diagnose(str(tmp_path))["findings"] if one["severity"] != "note")
        assert first["cause"] == cause
        return ["; ".join(_told(step) for step in fix["steps"]) for fix in first["fixes"]]

    return ways


@pytest.fixture
def titled(tmp_path):
    """The ways to mend a cause that a text shows, each the titles of its steps."""

    def ways(cause, body):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        found = [one for one in diagnose(str(tmp_path))["findings"] if one["cause"] == cause]
        assert found, cause
        return [way["title"] for way in found[0]["fixes"]]

    return ways


def _told(step):
    commands = " && ".join(" ".join(argv) for argv in step["commands"])
    return step["title"] + (" $ " + commands if commands else "")
