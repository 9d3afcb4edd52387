"""`rigup capture` and `rigup doctor --issue`: what a person sees, is asked, and gets."""

import json
import os
import re
import stat
import tarfile

import pytest

from packs import machine_folder, machine_names
from rigup.cli import capture, run
from rigup.cli.issue import code, fence, markdown, plain
from rigup.schemas.doctor import Doctor
from rigup.schemas.machine import Machine
from rigup.schemas.shared import Evidence, Finding

TOKEN = "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"
ODD = "Zk3jQ9vT2mLp8RbXy4WcN7dF1gHs6A"


@pytest.fixture
def machine(tmp_path):
    """A captured machine whose account may not open the GPU's node, with private things."""
    root = tmp_path / "machine"
    (root / "dev").mkdir(parents=True)
    (root / "home/zeno").mkdir(parents=True)
    (root / "home/zeno/.bashrc").write_text(f"# beacon {ODD}\nexport HF_TOKEN={TOKEN}\nexport DISH=lentils-and-onions\n")
    node = {"/dev/kfd": {"type": "char", "mode": "0660", "owner": "root", "group": "render"}}
    (root / "nodes.json").write_text(json.dumps(node))
    environment = {"PATH": "/usr/bin", "DISH": "lentils-and-onions", "HF_TOKEN": TOKEN}
    who = {"user": "zeno", "uid": 1000, "groups": ["zeno"], "environment": environment}
    (root / "who.json").write_text(json.dumps(who))
    return str(root)


def inside(path):
    with tarfile.open(path) as packed:
        return "\n".join(packed.extractfile(member).read().decode("utf-8", "replace") for member in packed if member.isreg())


def test_an_archive_is_written_for_its_owner_and_the_person_is_told_what_it_is(machine, tmp_path, capsys):
    path = str(tmp_path / "a.tar.gz")
    assert run(["capture", "--from", machine, "-o", path]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert "readable by you alone" in told
    assert "rigup doctor --from " + path in told.replace("- ", "-")
    assert "secret" in told
    assert "user" in told
    assert run(["doctor", "--from", path]) == 1
    assert "usermod -aG render user1" in capsys.readouterr().out


def test_without_a_terminal_what_is_doubtful_is_left_out(machine, tmp_path):
    run(["capture", "--from", machine, "-o", str(tmp_path / "a.tar.gz")])
    told = inside(tmp_path / "a.tar.gz")
    assert not any(thing in told for thing in (TOKEN, ODD, "lentils", "zeno"))


def test_with_yes_nobody_is_asked_and_what_is_doubtful_goes_too(machine, tmp_path):
    run(["capture", "--from", machine, "-o", str(tmp_path / "a.tar.gz"), "--yes"])
    told = inside(tmp_path / "a.tar.gz")
    assert not any(thing in told for thing in (ODD, "lentils-and-onions", TOKEN, "zeno"))


@pytest.mark.parametrize(("answers", "kept"), [({"string": True}, {ODD}), ({"variable": True}, {"lentils-and-onions"}), ({}, set())])
def test_a_person_is_asked_about_each_kind_of_doubt_and_shown_the_line(machine, tmp_path, monkeypatch, capsys, answers, kept):
    def confirm(question, **_options):
        return answers.get("variable" if "variables" in question else "string", False)

    monkeypatch.setattr(capture, "_can_ask", lambda: True)
    monkeypatch.setattr("click.confirm", confirm)
    run(["capture", "--from", machine, "-o", str(tmp_path / "a.tar.gz")])
    told, shown = inside(tmp_path / "a.tar.gz"), capsys.readouterr().err
    assert {thing for thing in (ODD, "lentils-and-onions", TOKEN) if thing in told} == kept
    assert "beacon " + ODD in shown
    assert "DISH=lentils-and-onions" in shown
    assert TOKEN not in shown


def test_the_list_shows_each_thing_its_size_and_what_goes_out_and_writes_nothing(machine, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path))
    assert run(["capture", "--from", machine, "--list"]) == 0
    told = capsys.readouterr().out
    line = next(line for line in told.splitlines() if "/home/user1/.bashrc" in line)
    assert "bytes" in line
    assert "huggingface-token (1)" in line
    assert TOKEN not in told
    assert sorted(os.listdir(tmp_path)) == before


def test_the_list_as_data(machine, capsys):
    assert run(["capture", "--from", machine, "--list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "rigup.capture/1"
    assert told["archive"] is None
    assert {"name": "/home/user1/.bashrc"}.items() <= next(row for row in told["contents"] if "bashrc" in row["name"]).items()
    assert not any(thing in json.dumps(told) for thing in (TOKEN, ODD, "lentils", "zeno"))


def test_what_is_there_is_not_replaced_without_a_word(machine, tmp_path, capsys):
    path = tmp_path / "a.tar.gz"
    path.write_text("mine")
    assert run(["capture", "--from", machine, "-o", str(path), "--yes"]) == 2
    assert "exists" in capsys.readouterr().err
    assert path.read_text() == "mine"


@pytest.mark.parametrize("says", [True, False])
def test_what_is_there_is_replaced_when_a_person_says_so(machine, tmp_path, monkeypatch, says):
    path = tmp_path / "a.tar.gz"
    path.write_text("mine")
    monkeypatch.setattr(capture, "_can_ask", lambda: True)
    monkeypatch.setattr("click.confirm", lambda question, **_options: says and "Replace" in question)
    assert run(["capture", "--from", machine, "-o", str(path)]) == (0 if says else 2)
    assert tarfile.is_tarfile(path) is says


def test_a_place_that_cannot_be_written_gets_a_clear_word(machine, capsys):
    assert run(["capture", "--from", machine, "-o", "/no/such/folder/a.tar.gz"]) == 2
    assert "Give another place" in capsys.readouterr().err


def test_a_source_that_is_not_there_gets_a_clear_word(capsys):
    assert run(["capture", "--from", "/no/such/place", "--list"]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_this_machine_is_captured_and_its_capture_is_judged_alike(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MY_SECRET_TOKEN", TOKEN)
    path = str(tmp_path / "a.tar.gz")
    assert run(["capture", "-o", path]) == 0
    capsys.readouterr()
    answers = []
    for argv in (["doctor", "--json"], ["doctor", "--from", path, "--json"]):
        run(argv)
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0]["verdict"] == answers[1]["verdict"]
    assert answers[0]["machine"].get("accelerators") == answers[1]["machine"].get("accelerators")
    assert TOKEN not in inside(path)


# -- doctor --issue --------------------------------------------------------------------------------------
def test_an_issue_names_cause_evidence_devices_and_versions_and_nobody(machine, capsys):
    assert run(["doctor", "--from", machine, "--issue"]) == 1
    told = capsys.readouterr().out
    assert told.startswith("### ")
    assert "render-group-missing" in told
    assert "/dev/kfd" in told
    assert "<details>" in told
    assert not any(thing in told for thing in (TOKEN, ODD, "lentils", "zeno"))


@pytest.mark.parametrize("name", machine_names())
def test_an_issue_is_short_whatever_the_machine(name, capsys):
    run(["doctor", "--from", str(machine_folder(name)), "--issue"])
    told = capsys.readouterr().out
    assert len(told.splitlines()) <= 60
    assert "/home/ada" not in told


def test_an_issue_of_a_pasted_report_names_nobody(tmp_path, capsys):
    (tmp_path / "report.txt").write_text(
        f"zeno@eleatic-box:~$ HF_TOKEN={TOKEN} python x.py\n"
        'File "/home/zeno/x.py", line 3\nFailed to initialize NVML: Driver/library version mismatch\n'
    )
    run(["doctor", "--from", str(tmp_path / "report.txt"), "--issue"])
    told = capsys.readouterr().out
    assert "Driver/library version mismatch" in told
    assert not any(thing in told for thing in (TOKEN, "zeno", "eleatic-box"))


def found(value, title="a title"):
    finding = Finding(
        cause="cause-x",
        severity="error",
        confidence="certain",
        subject="machine",
        title=title,
        place="",
        because="",
        guess=False,
        make_sure="",
        mends="",
        in_vain="",
        evidence=[Evidence(fact="x", value=value, source="report.txt", line=3)],
        explains=[],
        fixes=[],
    )
    return Doctor(
        verdict="broken",
        machine=Machine(displays=[], drivers=[]),
        failed_verifications=[],
        findings=[finding],
        skipped=[],
        unexplained=[],
        unexplained_said=[],
        near=[],
        troubles=[],
        unanswered=[],
    )


@pytest.mark.parametrize("value", ["``` </details> ```", "````", "`", "a ` b `` c", "</details><script>", "| x |", "x\n```\n# head"])
def test_nothing_that_was_read_breaks_out_of_its_fence(value):
    told = markdown(found(value))
    fenced = re.search(r"(?ms)^(`{3,})text\n(.*?)\n\1$", told)
    assert fenced
    assert fenced[1] not in fenced[2]
    outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", told.replace(fenced[0], ""))
    assert outside.count("</details>") == 1
    assert "<script>" not in outside


def test_what_is_filled_into_sentences_is_neither_markdown_nor_html():
    assert plain("a <b> *c* `d` @e") == r"a &lt;b&gt; \*c\* \`d\` &#64;e"
    assert code("a`b") == "`` a`b ``"
    assert fence("x ```` y") == "`````"
