"""Attacks that once went through, each as the person or the file that made it."""

import os
import subprocess
import sys
import tarfile

import pytest
from planted import said

from rigup.machine.collect import stream
from rigup.machine.facts import Place
from rigup.machine.host import Answer
from rigup.machine.limits import MOST_PLACED
from rigup.machine.outward import outward_text
from rigup.machine.reader import Run
from rigup.machine.redaction import Redactor
from rigup.machine.texts import Text
from rigup.machine.unanswered import spoilt
from rigup.machine.worker_pool import NO_ANSWER, Done

RIGUP = [sys.executable, "-m", "rigup"]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "t.log"
    path.write_text("RuntimeError: CUDA error: out of memory\n")
    return path


@pytest.mark.parametrize("way", [("capture", "-y", "-o", "-"), ("doctor", "--html", "-")], ids=" ".join)
def test_a_dash_is_standard_output_and_never_a_file(text, tmp_path, way):
    done = subprocess.run([*RIGUP, *way, "--from", text], capture_output=True, cwd=tmp_path, check=False)
    assert done.stdout.startswith(b"\x1f\x8b" if way[0] == "capture" else b"<!doctype html>")
    assert os.listdir(tmp_path) == ["t.log"]
    if way[0] == "capture":
        (tmp_path / "a.tar.gz").write_bytes(done.stdout)
        with tarfile.open(tmp_path / "a.tar.gz") as archive:
            assert "rigup-capture/t.log" in archive.getnames()


def test_an_archive_is_not_printed_together_with_an_answer(text):
    assert "leave --json away" in " ".join(said("capture", "-y", "-o", "-", "--json", "--from", text).split())


@pytest.mark.long
@pytest.mark.parametrize("body", ["[" * 9_000, "\x1bc", "a", '\xff"', "[[token]]\nkind = 3\n", '[[words]]\nabout = "secret"\n'])
def test_a_table_of_secrets_that_cannot_be_read_is_told_and_nothing_is_said_without_it(tmp_path, monkeypatch, text, body):
    path = tmp_path / "config" / "rigup" / "knowledge" / "secrets.toml"
    path.parent.mkdir(parents=True)
    path.write_bytes(body.encode("latin-1"))
    done = subprocess.run(
        [*RIGUP, "doctor", "--from", text],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")},
    )
    assert "Traceback" not in done.stderr
    assert "itself has a fault" not in done.stderr
    assert done.returncode == 2
    assert "secrets.toml" in done.stderr


def test_a_wish_longer_than_any_command_takes_is_refused(tmp_path):
    (tmp_path / "requirements.txt").write_text("a" * 2_000_000)
    told = said(
        "plan", "-r", tmp_path / "requirements.txt", "--for", "RTX 3090, driver 550.163.01, ubuntu 22.04, python 3.12", "--no-resolve"
    )
    assert "longer than any package" in " ".join(told.split())


@pytest.mark.parametrize("grants", [5, "x", {"a": 1}, None, True])
def test_grants_of_a_node_that_are_no_list_end_in_no_fault(tmp_path, grants):
    import json

    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "os-release").write_text("ID=debian\n")
    (tmp_path / "nodes.json").write_text(json.dumps({"/dev/nvidia0": {"acl": grants}}))
    assert "fault" not in said("capture", "--list", "--from", tmp_path)


def test_folders_above_what_a_stream_tells_of_are_counted():
    deep = "".join(f"@there /{'/'.join(f'{n}a' for _ in range(39))}\n" for n in range(1000))
    made = stream.parse(("@rigup-stream/1 posix\n" + deep + "@done 0\n").encode())
    assert len(made.above) <= MOST_PLACED
    assert made.left_out()


def test_messages_that_were_not_looked_for_in_time_cost_only_themselves():
    from rigup.machine.look import _Runner
    from rigup.machine.order import HEARD
    from rigup.machine.store import Facts

    runner = _Runner(Facts(), [], wake=False, kinds=())
    runner.take(Done(HEARD, None, NO_ANSWER))
    assert [one for one in runner.facts.troubles if NO_ANSWER in one]


def test_a_program_that_the_system_cannot_execute_is_told_whatever_a_reader_knows_of_it():
    given = Run(("nvidia-smi",), seconds=1, says="NVIDIA-SMI")
    said_by_shell = "sh: nvidia-smi: cannot execute binary file: Exec format error"
    told = spoilt(given, Text("nvidia-smi", said_by_shell, exit_status=126), understood=True)
    assert told is not None
    assert told.how == "failed"


@pytest.mark.parametrize("told", ["/etc/passwd: Permission denied", "cat: /etc/passwd:1: nothing"])
def test_what_is_said_of_a_file_is_no_password(told):
    assert outward_text(told) == told


def test_a_text_full_of_one_sign_is_gone_through_once_a_line():
    from rigup.machine.redaction_contexts import matching_contexts

    assert len(list(matching_contexts("@" * 100_000 + "\n" + "@" * 10))) == len(list(matching_contexts("@\n@")))


def test_a_name_on_the_border_of_a_window_is_found():
    from rigup.machine.redaction_contexts import _WINDOW

    for shift in range(-12, 3):
        body = " " * (_WINDOW + shift) + "HF_TOKEN=Wyx12345abcdefgh "
        assert "Wyx12345abcdefgh" not in Redactor().text(body)


def test_a_login_in_the_address_of_a_package_is_not_exported(tmp_path):
    from rigup.plan.environments.folder import _origin

    (tmp_path / "direct_url.json").write_text('{"url": "https://zeno:Wyx12345@h.example/t.whl"}')
    assert _origin(tmp_path) == "https://h.example/t.whl"


def test_places_of_two_nodes_never_meet():
    assert Place(node="a").meet(Place(node="b")) is None
    assert Place(node="a").meet(Place(world="container:x")) == Place(node="a", world="container:x")
    assert Place(world="container").meet(Place(world="container:x")) == Place(world="container:x")
    assert Answer("x").body == "x"
