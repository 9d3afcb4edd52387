"""What a machine answered is kept as a tree, and the tree answers the same."""

import os
import sys

import pytest

from answer_data import answer
from rigup.diagnosis.answer import Diagnosis
from rigup.diagnosis.judge import judged
from rigup.machine.facts import Place
from rigup.machine.local import Local
from rigup.machine.look import look
from rigup.machine.recorder import Recorder
from rigup.machine.sources import Source
from rigup.machine.tree import Tree, is_tree


@pytest.fixture
def machine(tmp_path):
    root = tmp_path / "root"
    (root / "sys/class/drm").mkdir(parents=True)
    (root / "sys/class/drm/card0").write_text("card\n")
    (root / "etc").mkdir()
    os.symlink("/sys/class/drm/card0", root / "etc/link")
    return Local(str(root))


def replayed(recorder, tmp_path):
    recorder.kept.write(str(tmp_path / "capture"))
    assert is_tree(str(tmp_path / "capture"))
    return Tree(str(tmp_path / "capture"))


def test_files_links_absences_and_programs_are_answered_again(machine, tmp_path):
    recorder = Recorder(machine)
    asked = [
        lambda host: host.read("/sys/class/drm/card0"),
        lambda host: host.read("/etc/nothing"),
        lambda host: host.read("/opt/nowhere/x").state,
        lambda host: host.find("/sys/class/*/card*"),
        lambda host: host.listing("/etc/link"),
        lambda host: host.listing("/dev/none*").state,
        lambda host: host.run((sys.executable, "-c", "print('hello'); raise SystemExit(3)")),
    ]
    live = [ask(recorder) for ask in asked]
    tree = replayed(recorder, tmp_path)
    assert [ask(tree) for ask in asked[:-1]] == live[:-1]
    said = tree.recorded()[0]
    assert (said.output, said.exit) == ("hello\n", 3)


def test_who_asked_is_answered_again(machine, tmp_path):
    recorder = Recorder(machine)
    recorder.variables()
    recorder.account()
    tree = replayed(recorder, tmp_path)
    assert tree.who["environment"]["PATH"] == os.environ["PATH"]
    assert tree.who["groups"]


@pytest.mark.long
def test_this_machine_and_its_capture_are_judged_alike(tmp_path):
    recorder = Recorder(Local())
    live = look([Source(Place(world="host"), recorder)])
    again = look([Source(Place(world="host"), replayed(recorder, tmp_path))])
    judgements = [answer(Diagnosis(facts, *judged(facts))) for facts in (live, again)]
    named = [[finding["cause"] for finding in told["findings"]] for told in judgements]
    assert named[0] == named[1]
    assert judgements[0]["verdict"] == judgements[1]["verdict"]
    assert judgements[0]["machine"].get("accelerators") == judgements[1]["machine"].get("accelerators")
