"""Every case is a folder with a machine and what the doctor must say of it. No Python per case.

`case.toml` tells: `expect` (a cause, or "healthy"), `top3` (the label among the first three is enough),
`silent` (causes that must not be named), `fix` (kinds of steps that the first fix takes), `place`.
The machine stands beside it: texts, or a `tree/`.
"""

import shutil
import tomllib
from pathlib import Path

import pytest

from rigup.diagnosis.answer import diagnose

CASES = Path(__file__).parent / "cases"
FOLDERS = sorted(found.parent for found in CASES.glob("**/case.toml"))
LOUD = ("error", "warning")


def machine_of(folder: Path, scratch: Path) -> str:
    """The machine without its label: the doctor must not read the answer."""
    if (folder / "tree").is_dir():
        return str(folder / "tree")
    plain = scratch / "machine"
    shutil.copytree(folder, plain, ignore=shutil.ignore_patterns("case.toml"))
    return str(plain)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(CASES)))
def test_the_doctor_names_what_the_case_shows(folder, tmp_path):
    case = tomllib.loads((folder / "case.toml").read_text())
    answer = diagnose(machine_of(folder, tmp_path))
    assert not answer["troubles"], answer["troubles"]
    loud = [finding["cause"] for finding in answer["findings"] if finding["severity"] in LOUD]
    named = [finding["cause"] for finding in answer["findings"]]
    wanted = case["expect"]
    if wanted == "healthy":
        assert not loud, loud
    else:
        assert wanted in (loud[:3] if case.get("top3") else loud[:1] or named[:1]), named
        check_evidence(answer, wanted, folder)
    assert not set(case.get("silent", ())) & set(named), named
    if "fix" in case:
        first = next(finding for finding in answer["findings"] if finding["cause"] == wanted)
        assert [step["kind"] for step in first["fixes"][0]["steps"]] == case["fix"]
    if "place" in case:
        assert case["place"] in next(f["place"] for f in answer["findings"] if f["cause"] == wanted)


def check_evidence(answer, cause, folder):
    """Each piece of evidence stands in the source that it names."""
    finding = next(finding for finding in answer["findings"] if finding["cause"] == cause)
    assert finding["evidence"]
    for line in finding["evidence"]:
        path = folder / line["source"]
        if line["value"] is not None and path.is_file():
            assert line["value"] in path.read_text(errors="replace").replace("\r", "")


def test_every_case_has_a_label_and_a_machine():
    for folder in FOLDERS:
        case = tomllib.loads((folder / "case.toml").read_text())
        assert case.get("expect"), folder
        assert [path for path in folder.iterdir() if path.name != "case.toml"], folder
