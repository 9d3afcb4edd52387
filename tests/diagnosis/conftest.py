"""What the rules alone say of a pasted text."""

import pytest

from rigup.diagnosis.answer import diagnose


@pytest.fixture
def named(tmp_path):
    """The causes that rules name loudly, the first first; guesses are left out."""

    def causes(body):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        found = diagnose(str(tmp_path))["findings"]
        return [one["cause"] for one in found if one["severity"] != "note" and not one["guess"]]

    return causes
