"""The command line as a person meets it: answers, exit statuses, clear words for what goes wrong."""

import json
import re
import subprocess
import sys

import pytest

from rigup.cli import COMMANDS, run
from rigup.cli.layout import columns, wrapped

KFD = {"/dev/kfd": {"type": "char", "mode": "0660", "owner": "root", "group": "render"}}


@pytest.fixture
def broken(tmp_path):
    """A captured machine whose account may not open the GPU's node."""
    (tmp_path / "dev").mkdir()
    (tmp_path / "nodes.json").write_text(json.dumps(KFD))
    (tmp_path / "who.json").write_text(json.dumps({"user": "ada", "uid": 1000, "groups": ["ada"], "environment": {}}))
    return str(tmp_path)


def test_a_broken_machine_leaves_status_one_and_says_why_and_how(broken, capsys):
    assert run(["doctor", "--from", broken]) == 1
    told = capsys.readouterr().out
    assert "render-group-missing" in told
    assert "usermod -aG render ada" in told


def test_json_is_one_object_in_the_contracts_shape(broken, capsys):
    assert run(["doctor", "--from", broken, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "rigup.doctor/1"
    assert answer["verdict"] == "broken"
    found = answer["findings"][0]
    assert {"cause", "severity", "title", "subject", "place", "confidence", "evidence", "explains", "fixes"} <= set(found)
    for step in found["fixes"][0]["steps"]:
        assert {"kind", "id", "params", "title", "because", "commands", "where", "root", "network", "restart", "tag", "undo"} <= set(step)


def test_json_is_the_same_in_every_language(broken, capsys):
    told = []
    for language in ("en", "ru", "zh_CN", "zh_TW"):
        run(["--lang", language, "doctor", "--from", broken, "--json"])
        answer = json.loads(capsys.readouterr().out)
        told.append([(f["cause"], f["severity"], f["evidence"]) for f in answer["findings"]])
    assert all(one == told[0] for one in told)


def test_this_machine_is_read_without_trouble(capsys):
    assert run(["doctor", "--json"]) in (0, 1)
    assert json.loads(capsys.readouterr().out)["troubles"] == []


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["doctor", "--from", "/no/such/place"], "does not exist"),
        (["doctor", "--nonsense"], "No such option"),
        (["nonsense"], "No such command"),
        (["completion", "tcsh"], "tcsh"),
    ],
)
def test_wrong_usage_is_status_two_with_a_clear_word(argv, word, capsys):
    assert run(argv) == 2
    assert word in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    assert run([command, "--help"]) == 0
    assert "Usage: rigup " + command in capsys.readouterr().out


def test_explain_lists_all_causes_and_tells_one(capsys):
    assert run(["explain"]) == 0
    assert "render-group-missing" in capsys.readouterr().out
    assert run(["explain", "render-group-missing"]) == 0
    assert "How to recognise it" in capsys.readouterr().out


def test_explain_finds_the_cause_of_an_error_message(capsys):
    assert run(["explain", "Unable to open /dev/kfd read-write: Permission denied", "--json"]) == 0
    assert "render-group-missing" in [row["cause"] for row in json.loads(capsys.readouterr().out)["causes"]]


def test_explain_names_what_a_message_may_come_of(capsys):
    assert run(["explain", "RuntimeError: CUDA error: no kernel image is available for execution on the device"]) == 0
    told = capsys.readouterr().out
    assert told.index("gpu-arch-newer-than-wheel") < told.index("jetson-generic-wheel")
    assert "tells which it is" in told.replace("\n", " ")


def test_explain_names_first_what_is_mostly_behind_a_message(capsys):
    assert run(["explain", "RuntimeError: No CUDA GPUs are available", "--json"]) == 0
    causes = re.findall(r'"cause": "([^"]+)"', capsys.readouterr().out)
    assert causes[0] == "cuda-visible-devices-wrong"
    assert len(causes) > 1


def test_explain_says_so_where_it_knows_nothing(capsys):
    assert run(["explain", "zebra umbrella"]) == 1
    assert "No cause" in capsys.readouterr().err


def test_show_access_names_everything_and_reads_nothing(capsys, monkeypatch):
    monkeypatch.setattr("rigup.machine.local.Local.read", lambda *_: pytest.fail("something was read"))
    monkeypatch.setattr("rigup.machine.local.Local.run", lambda *_: pytest.fail("something was run"))
    assert run(["doctor", "--show-access"]) == 0
    assert "/proc/driver/nvidia/version" in capsys.readouterr().out


def test_standard_input_is_read(broken):
    done = subprocess.run(
        [sys.executable, "-m", "rigup", "doctor", "--from", "-", "--json"],
        input="Unable to open /dev/kfd read-write: Permission denied\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["schema"] == "rigup.doctor/1"


def test_the_version_loads_nothing_heavy():
    script = "import sys; sys.argv = ['rigup', '--version']; import rigup.__main__ as m; m.main(); print([n for n in ('click', 'msgspec', 'gettext') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "[]"


def test_a_closed_pipe_is_no_error():
    shell = f"{sys.executable} -m rigup doctor --show-access | head -1"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_chinese_takes_two_columns_and_is_broken_anywhere():
    assert columns("显卡 GPU") == 8
    assert wrapped("显卡驱动程序没有加载", "- ", most=10) == ["- 显卡驱动", "  程序没有", "  加载"]


def test_colours_take_no_columns():
    assert columns("\x1b[31mred\x1b[0m") == 3


@pytest.mark.parametrize("wanted", ["a" * 200, "", "one two"])
def test_no_word_is_lost_in_wrapping(wanted):
    assert "".join(line.strip() for line in wrapped(wanted, most=40)).replace(" ", "") == wanted.replace(" ", "")


def test_a_command_that_there_is_not_is_answered_with_its_neighbours(capsys):
    assert run(["applly"]) == 2
    assert "apply" in capsys.readouterr().err.replace("applly", "")
    assert run(["--nosuch"]) == 2
    assert "Near it" not in capsys.readouterr().err


@pytest.mark.parametrize(("word", "status"), [("xx", 2), ("", 2), ("de_DE", 2), ("en_GB", 0), ("zh-Hant", 0), ("ru_UA.UTF-8", 0)])
def test_a_language_that_there_is_not_is_refused(word, status, capsys):
    assert run(["--lang", word, "explain", "cpu-only-torch"]) == status
    assert ("zh_TW" in capsys.readouterr().err) == (status == 2)
