"""A captured tree is played as a machine, and nothing outside it is ever read."""

import json
import os

import pytest

from rigup.machine.tree import Tree, is_tree


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "sys/class").mkdir(parents=True)
    (tmp_path / "sys/class/name").write_text("value\n")
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "dev").mkdir()
    (tmp_path / "partial.json").write_text(json.dumps(["usr/bin"]))
    (tmp_path / "nodes.json").write_text(
        json.dumps({"/dev/kfd": {"type": "char", "mode": "0660", "group": "render", "acl": ["user:ada:rw"]}})
    )
    (tmp_path / "who.json").write_text(json.dumps({"user": "ada", "uid": 1000, "groups": ["ada"], "environment": {"A_B": "1"}}))
    said = [{"argv": ["/usr/bin/nvidia-smi"], "exit": 9, "stdout": "out\n", "stderr": "err\n"}, "nonsense", {"argv": []}]
    (tmp_path / "commands.json").write_text(json.dumps(said))
    return Tree(str(tmp_path))


def test_a_file_that_is_there_is_read(tree):
    assert tree.read("/sys/class/name").body == "value\n"


def test_a_file_missing_from_a_whole_folder_is_absent(tree):
    assert tree.read("/sys/class/other").state == "absent"


def test_a_file_missing_from_a_partial_folder_was_not_looked_at(tree):
    assert tree.read("/usr/bin/python3").state == "unseen"


def test_a_file_of_a_folder_that_was_not_copied_was_not_looked_at(tree):
    assert tree.read("/proc/version").state == "unseen"


def test_a_command_answers_by_its_program_name_and_keeps_its_status(tree):
    assert tree.run(("nvidia-smi",)) == ("out\nerr\n", "known", "", 9)
    assert tree.run(("nvidia-smi", "-L")).state == "unseen"


def test_nodes_show_modes_that_plain_copies_cannot(tree):
    assert tree.listing("/dev/kfd").body == "crw-rw----+ 1 root render 0 /dev/kfd"


def test_who_looked_answers_as_env_and_id_would(tree):
    assert tree.variables().body == "A_B=1"
    assert tree.account().body == "uid=1000(ada) groups=0(ada)"


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../../../etc/passwd", "/loop"])
def test_a_link_never_leads_out_of_the_tree(tmp_path, tree, target):
    os.symlink(target, tmp_path / "sys/link")
    os.symlink("loop", tmp_path / "loop")
    assert tree.read("/sys/link").body is None


def test_an_absolute_link_resolves_inside(tmp_path, tree):
    os.symlink("/sys/class/name", tmp_path / "dev/there")
    assert tree.read("/dev/there").body == "value\n"
    assert tree.link("/dev/there").body == "/sys/class/name"


def test_a_path_with_dots_stays_inside(tree):
    assert tree.read("/../../../../etc/passwd").body is None


def test_patterns_find_through_links_and_nodes(tmp_path, tree):
    os.symlink("/sys/class", tmp_path / "sys/alias")
    assert tree.find("/sys/*/name") == ["/sys/alias/name", "/sys/class/name"]
    assert tree.find("/dev/k*") == ["/dev/kfd"]


@pytest.mark.parametrize("content", ["", "[", "null", "[1]", '"text"', "[" * 100_000, '{"/dev/kfd": 5}'])
def test_malformed_companions_cost_themselves_only(tmp_path, content):
    for name in ("commands.json", "nodes.json", "who.json", "partial.json"):
        (tmp_path / name).write_text(content)
    (tmp_path / "proc").mkdir()
    tree = Tree(str(tmp_path))
    assert tree.read("/proc/x").state == "absent"
    assert tree.account().state == "unseen"
    assert tree.listing("/dev/*") is not None


def test_a_folder_of_texts_is_no_tree(tmp_path):
    (tmp_path / "report.txt").write_text("x")
    assert not is_tree(str(tmp_path))
