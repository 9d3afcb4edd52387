"""A small package that brings a reader, a rule and tables: installed for real, used, and broken on purpose."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

READER = '''
from rigup.machine.kinds import ModuleParameter
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Text


@reads(adds=(ModuleParameter,), marks=("accel-tool mode:",), rank=0)
def mode_of_the_tool(text: Text) -> Statements:
    """What our tool prints."""
    for hit in text.each(r"accel-tool mode: (?P<running>\\w{1,20})"):
        yield hit.states(ModuleParameter, module="accel", name="mode", **hit.found())
'''
RULE = '''
from rigup.diagnosis.rule import Verdict, one, rule
from rigup.machine.kinds import ModuleParameter


@rule("accel-in-safe-mode")
def safe_mode_is_on(mode: ModuleParameter = one(module="accel", name="mode")) -> Verdict:
    """The tool says so."""
    return mode.running == "safe"
'''
CAUSE = """
[meta]
as_of = "2026-11-24"
keys = { cause = ["id"] }
checked = "2026-11-24"
how = "documented"
source = "https://example.org/accel"

[[cause]]
id = "accel-in-safe-mode"
layer = "driver"
"""
TEXT = '[accel-in-safe-mode]\ntitle = ["The accelerator runs in its safe mode"]\nmeaning = "It computes slowly."\n'
POINTS = """[rigup.readers]
accel = accel_rigup.readers
[rigup.rules]
accel = accel_rigup.rules
[rigup.tables]
accel = accel_rigup
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The package as pip lays it down."""
    site = tmp_path / "site"
    files = {
        "accel_rigup/__init__.py": "",
        "accel_rigup/readers.py": READER,
        "accel_rigup/rules.py": RULE,
        "accel_rigup/knowledge/causes/accel.toml": CAUSE,
        "accel_rigup/knowledge/texts/en/accel.toml": TEXT,
        "accel_rigup-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: accel-rigup\nVersion: 1.0\n",
        "accel_rigup-1.0.dist-info/entry_points.txt": POINTS,
    }
    for path, body in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(body)
    return site


def doctor(site: Path, text: str, tmp_path: Path) -> dict:
    report = tmp_path / "report.txt"
    report.write_text(text)
    argv = [sys.executable, "-m", "rigup", "doctor", "--from", str(report), "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(site)}, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return json.loads(done.stdout)


def test_a_package_brings_a_reader_a_rule_and_tables(package, tmp_path):
    answer = doctor(package, "$ accel-tool status\naccel-tool mode: safe\n", tmp_path)
    (finding,) = answer["findings"]
    assert (finding["cause"], finding["title"]) == ("accel-in-safe-mode", "The accelerator runs in its safe mode")
    assert not answer["troubles"]
    assert not doctor(package, "$ accel-tool status\naccel-tool mode: full\n", tmp_path)["findings"]


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("accel_rigup/readers.py", "raise RuntimeError('no accelerator')\n", "RuntimeError: no accelerator"),
        ("accel_rigup/rules.py", "import nothing_of_that_name\n", "ModuleNotFoundError"),
        ("accel_rigup/rules.py", "def (\n", "SyntaxError"),
        ("accel_rigup-1.0.dist-info/entry_points.txt", "[rigup.tables]\naccel = accel_rigup.rules\n", "accel_rigup.rules"),
        ("accel_rigup-1.0.dist-info/entry_points.txt", "[rigup.tables]\naccel = nowhere\n", "nowhere"),
    ],
)
def test_what_a_package_breaks_costs_itself_alone(path, body, named, package, tmp_path):
    """The doctor goes on, names what is wrong of other things, and says which package failed."""
    (package / path).write_text(body)
    answer = doctor(package, "RuntimeError: No CUDA GPUs are available\naccel-tool mode: safe\n", tmp_path)
    assert any(named in trouble for trouble in answer["troubles"]), answer["troubles"]
    assert answer["schema"] == "rigup.doctor/1"
    assert "torch-no-cuda-gpus" in json.dumps(answer)


@pytest.mark.parametrize("body", ["[rigup.readers\naccel = x", "\x00\xff[rigup.rules]", "[rigup.rules]\naccel", ""])
def test_a_damaged_file_of_entry_points_is_passed_by(body, package, tmp_path):
    (package / "accel_rigup-1.0.dist-info/entry_points.txt").write_text(body, encoding="latin-1")
    answer = doctor(package, "RuntimeError: No CUDA GPUs are available\n", tmp_path)
    assert not answer["troubles"]
