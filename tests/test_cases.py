"""Every case is a folder with a machine and what the doctor must say of it. No Python per case.

`case.toml` tells: `expect` (a cause, or "healthy"), `top3` (the label among the first three is enough),
`silent` (causes that must not be named), `fix` (kinds of steps that the first fix takes), `place`, `twin`
(the same fault of the same machine, once as a tree and once as a person pastes it: a case beside this one).
The machine stands beside it: texts, or a `tree/`; or it is a *break*: `base` names a healthy machine under
`tests/machines/`, of which `remove` takes paths away and over which `patch/` is laid.
"""

import json
import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from rigup.diagnosis.answer import diagnose

HERE = Path(__file__).parent
CASES, MACHINES = HERE / "cases", HERE / "machines"
FOLDERS = sorted(found.parent for found in CASES.glob("**/case.toml"))
TWINS = [folder for folder in FOLDERS if "\ntwin = " in (folder / "case.toml").read_text()]
HEALTHY = sorted(found for found in MACHINES.glob("*") if found.is_dir())
LOUD = ("error", "warning")
COMPANIONS = ("commands.json", "links.json", "nodes.json", "who.json")


def machine_of(folder: Path, case: dict, scratch: Path) -> str:
    """The machine without its label: the doctor must not read the answer."""
    plain = scratch / "machine"
    scratch.mkdir(exist_ok=True)
    if "base" in case:
        broken(MACHINES / case["base"], folder / "patch", case.get("remove", ()), plain)
    elif (folder / "tree").is_dir():
        return str(folder / "tree")
    else:
        shutil.copytree(folder, plain, ignore=shutil.ignore_patterns("case.toml"))
    return str(plain)


def broken(base: Path, patch: Path, remove, plain: Path) -> None:
    """A healthy machine with a small change: files replaced or gone, rows of the companions replaced."""
    shutil.copytree(base, plain, symlinks=True, copy_function=placed)
    for path in remove:
        gone = plain / path
        shutil.rmtree(gone) if gone.is_dir() and not gone.is_symlink() else gone.unlink()
    for file in sorted(patch.rglob("*")):
        target = plain / file.relative_to(patch)
        if file.is_symlink() or file.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            below = target.read_text() if file.name in COMPANIONS and target.exists() else ""
            target.unlink(missing_ok=True)
            if below:
                target.write_text(json.dumps(merged(json.loads(below), json.loads(file.read_text()))))
            else:
                placed(file, target)


def placed(file, target) -> None:
    """The file itself under another name where the disk allows it, which is quicker than a copy; nobody writes into it."""
    try:
        os.link(file, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(file, target, follow_symlinks=False)


def merged(below, above):
    """Rows of `above` replace those of one name; a row that is null takes one away. `variables` change single ones."""
    if isinstance(below, list):
        rows = {json.dumps(row["argv"]): row for row in (*below, *above)}
        return [row for row in rows.values() if row.get("stdout") is not None]
    both = {key: value for key, value in {**below, **above}.items() if value is not None}
    if changed := both.pop("variables", None):
        both["environment"] = merged(both["environment"], changed)
    return both


def loud(answer):
    return [finding["cause"] for finding in answer["findings"] if finding["severity"] in LOUD]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(CASES)))
def test_the_doctor_names_what_the_case_shows(folder, tmp_path):
    case = tomllib.loads((folder / "case.toml").read_text())
    machine = machine_of(folder, case, tmp_path)
    answer = diagnose(machine)
    assert not answer["troubles"], answer["troubles"]
    named = [finding["cause"] for finding in answer["findings"]]
    wanted = case["expect"]
    if wanted == "healthy":
        assert not loud(answer), loud(answer)
    else:
        assert wanted in (loud(answer)[:3] if case.get("top3") else loud(answer)[:1] or named[:1]), named
        check_evidence(answer, wanted, Path(machine))
    assert not set(case.get("silent", ())) & set(named), named
    if "fix" in case:
        first = next(finding for finding in answer["findings"] if finding["cause"] == wanted)
        assert [step["kind"] for step in first["fixes"][0]["steps"]] == case["fix"]
    if "place" in case:
        assert case["place"] in next(f["place"] for f in answer["findings"] if f["cause"] == wanted)


@pytest.mark.parametrize("folder", TWINS, ids=lambda folder: str(folder.relative_to(CASES)))
def test_a_tree_and_a_pasted_text_of_one_fault_give_one_finding(folder, tmp_path):
    """The same cause, as severe, and of the same subject where both tell it in the same form."""
    told = tomllib.loads((folder / "case.toml").read_text())
    twin = folder.parent / told["twin"]
    seen = tomllib.loads((twin / "case.toml").read_text())
    tree = diagnose(machine_of(twin, seen, tmp_path / "tree"))
    text = diagnose(machine_of(folder, told, tmp_path / "text"))
    mine, other = (next(found for found in answer["findings"] if found["severity"] in LOUD) for answer in (tree, text))
    assert (mine["cause"], mine["severity"]) == (other["cause"], other["severity"])
    if form(mine["subject"]) == form(other["subject"]):
        assert mine["subject"] == other["subject"]


def form(subject: str) -> str:
    """How a finding names what it is about: a report may know a card by its name and a tree by its address."""
    if re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", subject):
        return "address"
    return "path" if subject.startswith("/") else subject if subject == "machine" else "name"


@pytest.mark.parametrize("base", HEALTHY, ids=lambda base: base.name)
def test_a_healthy_machine_has_no_finding(base):
    """Without the patch the doctor is silent: what the breaks of this machine show is the patch's doing."""
    answer = diagnose(str(base))
    assert not answer["troubles"], answer["troubles"]
    assert not loud(answer), [(finding["cause"], finding["evidence"]) for finding in answer["findings"]]
    assert answer["verdict"] in ("healthy", "unknown")


def check_evidence(answer, cause, machine):
    """Each piece of evidence stands in the source that it names."""
    finding = next(finding for finding in answer["findings"] if finding["cause"] == cause)
    assert finding["evidence"]
    for line in finding["evidence"]:
        path = machine / line["source"].lstrip("/")
        if line["value"] is not None and path.is_file():
            assert line["value"] in path.read_text(errors="replace").replace("\r", "")


def test_every_case_has_a_label_and_a_machine():
    for folder in FOLDERS:
        case = tomllib.loads((folder / "case.toml").read_text())
        assert case.get("expect"), folder
        assert case.get("base") or [path for path in folder.iterdir() if path.name != "case.toml"], folder


def test_enough_causes_are_tried_on_trees_and_twice():
    """A break is silent without its patch; a twin is told in another way."""
    labels = [tomllib.loads((folder / "case.toml").read_text()) for folder in FOLDERS]
    assert len({label["expect"] for label in labels if "base" in label} - {"healthy"}) >= 50
    assert len({label["expect"] for label in labels if "twin" in label}) >= 25
