"""CONTRIBUTING's worked examples are true: each is laid over the package and tried."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from packs import cases_of

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"<!-- (file|cases|rule|reader): ([^\n]+) -->\n```\w+\n(.*?)```", re.DOTALL)
BLOCKS = {(kind, name): body for kind, name, body in BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text())}
RULE = BLOCKS["rule", "launch-blocking-left-on"]
READER = BLOCKS["reader", "transparent_huge_pages"]
CASES = {case.name: case for (kind, cause), body in BLOCKS.items() if kind == "cases" for case in cases_of(cause, tomllib.loads(body))}

DIAGNOSE = """
import json, sys
from rigup.diagnosis.rule import Verdict, one, rule
from rigup.machine.kinds import ModuleParameter, Variable
from rigup.machine.reader import File, Statements, reads
from rigup.machine.texts import Text
import msgspec
from rigup.diagnosis.answer import diagnose
exec(sys.argv[1])
print(msgspec.json.encode(diagnose(sys.argv[2]), enc_hook=str).decode())
"""


@pytest.fixture
def laid_over(tmp_path):
    """The examples' tables as a person would lay them over the shipped ones."""
    for (kind, name), body in BLOCKS.items():
        if kind == "file":
            path = tmp_path / "config/rigup" / name.replace("knowledge/data/", "knowledge/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body)
    return {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config"), "PYTHONPATH": str(ROOT / "src")}


def diagnosed(code, machine, environment):
    argv = [sys.executable, "-c", DIAGNOSE, code, machine]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def pasted(text, scratch):
    (scratch / "report.txt").write_text(text)
    return str(scratch / "report.txt")


@pytest.mark.parametrize("name", CASES)
def test_each_case_is_judged_as_its_label_says(name, laid_over, tmp_path):
    label = CASES[name].label
    named = [finding["cause"] for finding in diagnosed(RULE, CASES[name].unpack(tmp_path), laid_over)["findings"]]
    assert named[:1] == ([] if label["expect"] == "healthy" else [label["expect"]])
    assert not set(label.get("silent", ())) & set(named)


def test_the_cause_by_message_says_what_the_message_told(laid_over, tmp_path):
    case = CASES["certificate-not-trusted/pip-behind-a-proxy"]
    answer = diagnosed("", case.unpack(tmp_path), laid_over)
    assert answer["findings"][0]["title"] == "Nobody here trusts the certificate behind which torch lies"


def test_the_near_miss_is_missed(laid_over, tmp_path):
    row = tomllib.loads(BLOCKS["file", "knowledge/data/signatures/example.toml"])["signature"][0]
    assert re.search(row["regex"], row["example"])
    named = [finding["cause"] for finding in diagnosed("", pasted(row["near_miss"], tmp_path), laid_over)["findings"]]
    assert row["means"] not in named


def test_the_rule_is_as_short_as_promised():
    (function,) = ast.parse(RULE).body
    assert len(RULE.strip().splitlines()) == 3
    assert len(function.body) == 1


def test_the_reader_reads(laid_over, tmp_path):
    answer = diagnosed(READER, pasted("always [madvise] never\n", tmp_path), laid_over)
    assert [row["running"] for row in answer["machine"]["module_parameters"]] == ["madvise"]


def test_the_table_row_is_known(laid_over):
    script = "from rigup.knowledge.gpus import is_display_only as known; print(known('126f', '0750'), known('1a03', '2000'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=laid_over, check=True)
    assert done.stdout.split() == ["True", "True"]
