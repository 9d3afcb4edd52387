"""What an environment is to be: kept with the run, read again from records of any release, and held against what came."""

import json
from pathlib import Path
from typing import Any

import pytest

from rigup.plan.applying.as_planned import differences
from rigup.plan.applying.journal import Intent, JournalError, Planned, Record, begun

OLDER: dict[str, Any] = {
    "wish": ["torch"],
    "packages": {"torch": "2.9.1"},
    "devices": [{"name": "a card"}],
    "sizes": {"torch": [3, 5]},
    "whole": True,
}


@pytest.mark.parametrize(
    ("told", "wanted"),
    [(OLDER, Planned(wish=["torch"], packages={"torch": "2.9.1"}, sizes={"torch": (3, 5)}, whole=True)), ({}, Planned())],
)
def test_records_of_earlier_releases_are_read(told: dict[str, Any], wanted: Planned, tmp_path: Path) -> None:
    plan = {"title": "torch", "asked": {"folder": "/x"}, "environment": "/x/e", "steps": [], "told": told}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    assert Record(tmp_path).intent().told == wanted


def test_what_is_no_plan_is_told(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"title": "torch", "told": {"packages": ["torch"]}}')
    with pytest.raises(JournalError, match="cannot be understood"):
        Record(tmp_path).intent()


def test_what_was_planned_is_on_the_disk_as_it_was_meant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    planned = Planned(wish=["torch"], resolved={"torch": "2.9.1"}, before=["pip"], sizes={"torch": (1, 2)})
    assert begun(Intent(title="torch", told=planned)).intent().told == planned


@pytest.mark.parametrize(
    ("planned", "said"),
    [
        (Planned(resolved={"torch": "2.9.1"}, whole=True), []),
        (Planned(resolved={"torch": "2.9.1+cpu"}), ["torch 2.9.1+cpu was planned"]),
        (Planned(resolved={"torch": "2.9.1", "six": "1.0"}), ["six 1.0 was planned, and is not there"]),
        (Planned(resolved={"six": "1.0"}, whole=True), ["six 1.0 was planned", "torch 2.9.1 is there, and was not planned"]),
        (Planned(resolved={"six": "1.0"}, whole=True, before=["torch"]), ["six 1.0 was planned"]),
        (Planned(), []),
    ],
)
def test_an_environment_is_held_against_its_plan(planned: Planned, said: list[str], tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "torch-2.9.1.dist-info").mkdir(parents=True)
    (site / "torch-2.9.1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.9.1\n")
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to("/usr/bin/true")
    found = differences(tmp_path, planned)
    assert len(found) == len(said)
    assert all(part in line for part, line in zip(said, found, strict=True))
