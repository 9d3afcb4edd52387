"""`rigup verify` as a person meets it."""

import json
import venv

import pytest

from answer_data import verify_of
from rigup.cli import run
from rigup.cli.layout import columns
from rigup.cli.verify_report import text
from rigup.language import choose

PASSED = {
    "framework": "torch",
    "device": "cuda:0",
    "name": "matmul-float32",
    "passed": True,
    "seconds": 0.1,
    "measured": {"error": 2e-6, "of": "result"},
    "expected": {"error": 2e-5},
}
FAILED = {**PASSED, "name": "sorting", "passed": False, "because": "The process was killed by signal 11 (SIGSEGV)."}
SKIPPED = {"framework": "torch", "device": "cuda:0", "name": "matmul-float8", "seconds": 0.0, "because": "the chip has none"}
FINDING = {
    "cause": "torch-cpu-only",
    "severity": "error",
    "title": "torch is built for the CPU",
    "confidence": "certain",
    "subject": "machine",
    "place": "",
    "because": "",
    "guess": False,
    "make_sure": "",
    "mends": "",
    "in_vain": "",
    "evidence": [],
    "explains": [],
    "fixes": [],
}


def told(verdict="verified", checks=(PASSED,), findings=None, **more):
    card = {"index": 0, "name": "NVIDIA GeForce RTX 3090", "state": "verified", "because": "it passed", "checks": list(checks)}
    framework = {"name": "torch", "version": "2.13.0", "imported": True, "listed": True}
    if findings is not None:
        more["diagnosis"] = {"findings": findings, "skipped": [], "unexplained": []}
    return verify_of({"verdict": verdict, "devices": [card], "frameworks": [framework], **more})


@pytest.fixture
def empty(tmp_path):
    """An environment without any framework."""
    venv.create(tmp_path / "dl", with_pip=False)
    return str(tmp_path / "dl")


@pytest.mark.long
def test_an_environment_without_a_framework_has_nothing_to_verify(empty, capsys):
    assert run(["verify", empty]) == 1
    said = capsys.readouterr().out
    assert "Nothing to verify" in said
    assert "rigup apply torch" in " ".join(said.split())
    assert run(["verify", empty, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["verdict"], answer["mode"]) == ("rigup.verify/1", "nothing-to-verify", "quick")
    assert answer["environment"]["prefix"] == empty
    assert answer["packages"] == {}


@pytest.mark.long
def test_json_is_the_same_in_every_language(empty, capsys):
    said = []
    for language in ("en", "ru", "zh_CN", "zh_TW"):
        run(["--lang", language, "verify", empty, "--json"])
        said.append(json.loads(capsys.readouterr().out))
        said[-1].pop("seconds")
    assert all(one == said[0] for one in said)


def test_what_is_no_environment_is_told(tmp_path, capsys):
    assert run(["verify", str(tmp_path / "none")]) == 2
    assert "There is no Python environment at" in capsys.readouterr().err
    assert run(["verify", "--limit", "0"]) == 2


def test_what_passed_is_counted_and_shown_where_asked_for():
    assert "matmul-float32" not in text(told())
    shown = text(told(record="/home/ada/.local/state/rigup/proofs/gpu/x.json"), verbose=True)
    assert "matmul-float32  passed  off by 2.0e-06, at most 2.0e-05" in shown
    assert "proofs/gpu/x.json" in shown


def test_what_failed_is_shown_with_its_reason_and_what_the_doctor_finds():
    shown = text(told("failed", (PASSED, FAILED, SKIPPED), findings=[FINDING]))
    assert "sorting  failed  The process was killed by signal 11 (SIGSEGV)." in shown
    assert "torch-cpu-only" in shown
    assert "matmul-float8" not in shown
    assert "finds nothing that explains it" in text(told("failed", (FAILED,), findings=[]))


def test_a_framework_that_cannot_be_imported_shows_its_last_words():
    broken = {"name": "torch", "imported": False, "listed": False, "because": "status 1", "said": "ImportError: libcudnn.so.9"}
    shown = text(told("failed", frameworks=[broken], devices=[]))
    assert "torch could not be imported" in shown
    assert "libcudnn.so.9" in shown


@pytest.mark.parametrize("language", ["en", "ru", "zh_CN", "zh_TW"])
def test_lines_are_those_of_a_terminal(language):
    choose(language)
    shown = text(told("failed", (PASSED, FAILED, SKIPPED), findings=[]), verbose=True)
    assert [line for line in shown.splitlines() if columns(line) > 80] == []
