"""What `--from` takes: good input in any encoding, bad input with a clear word."""

import json
import os

import pytest

from rigup.machine.facts import Place
from rigup.machine.sources import SourceError, decoded, open_source


def bodies(path):
    return [text.body.strip() for source in open_source(str(path)) for text in source.texts]


def test_a_file_and_a_folder_of_files_are_read(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/b.log").write_text("two")
    assert bodies(tmp_path / "a.txt") == ["one"]
    assert bodies(tmp_path) == ["one", "two"]


def test_windows_text_is_read(tmp_path):
    (tmp_path / "a.txt").write_bytes("Видеокарта\r\nRTX".encode("utf-16"))
    assert bodies(tmp_path / "a.txt") == ["Видеокарта\nRTX"]


def test_colours_are_taken_out(tmp_path):
    (tmp_path / "a").write_text("\x1b[31mERROR\x1b[0m x")
    assert bodies(tmp_path / "a") == ["ERROR x"]


@pytest.mark.parametrize(
    ("content", "word"), [(b"", "empty"), (b"  \n", "empty"), (os.urandom(5000), "binary"), (b"\x00\x01\x02" * 99, "binary")]
)
def test_what_is_no_text_gets_a_clear_word(tmp_path, content, word):
    (tmp_path / "odd").write_bytes(content)
    with pytest.raises(SourceError, match=word):
        open_source(str(tmp_path / "odd"))


def test_a_path_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"nowhere does not exist"):
        open_source(str(tmp_path / "nowhere"))


def test_an_empty_folder_is_named(tmp_path):
    with pytest.raises(SourceError, match="no file"):
        open_source(str(tmp_path))


def test_a_pipe_in_a_folder_is_passed_by(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").write_text("x")
    assert bodies(tmp_path) == ["x"]


@pytest.mark.long
def test_a_long_file_gives_its_head_and_its_end(tmp_path):
    with open(tmp_path / "long.log", "w") as file:
        file.write("first\n")
        file.writelines("noise " * 20_000 + "\n" for _ in range(300))
        file.write("last\n")
    (body,) = bodies(tmp_path / "long.log")
    assert body.startswith("first")
    assert body.endswith("last")
    assert len(body) < 20_000_000


def test_a_text_with_some_odd_bytes_is_text():
    assert decoded(b"price \xa3 5\n" * 50) is not None


def test_each_line_labelled_by_its_node_is_told_apart(tmp_path):
    lines = [f"{node}: line {number}" for number in range(8) for node in ("gpu01", "gpu02")]
    (tmp_path / "pdsh").write_text("\n".join(lines))
    texts = open_source(str(tmp_path / "pdsh"))[0].texts
    assert {text.given for text in texts} == {Place(node="gpu01"), Place(node="gpu02")}
    assert texts[1].where(texts[1].body.index("line 3")).line == 8


def test_words_before_colons_are_no_nodes(tmp_path):
    (tmp_path / "log").write_text("\n".join(["Error: a", "Warning: b", "OS: c"] * 9))
    assert [text.given for text in open_source(str(tmp_path / "log"))[0].texts] == [Place()]


def test_a_folder_named_after_a_place_hints_at_it(tmp_path):
    for name in ("host", "container", "before"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.txt").write_text(name)
    texts = open_source(str(tmp_path))[0].texts
    assert {text.body: text.given for text in texts} == {
        "host": Place(world="host"),
        "container": Place(world="container"),
        "before": Place(moment="before"),
    }


def of_a_tree(folder, argv, stdout):
    """The texts of a tree in which one command was recorded."""
    (folder / "proc").mkdir()
    row = {"argv": argv, "exit": 0, "stdout": stdout, "stderr": ""}
    (folder / "commands.json").write_text(json.dumps([row]))
    return [text for source in open_source(str(folder)) for text in source.texts]


def test_a_line_of_python_stands_above_its_answer_and_shares_its_line_number(tmp_path):
    [text] = of_a_tree(tmp_path, ["/v/bin/python3", "-c", "print(1, 2)"], "1 2\nmore\n")
    assert text.body == '$ python -c "print(1, 2)"\n1 2\nmore\n'
    assert [text.where(text.body.index(word)).line for word in ("print", "1 2\n", "more")] == [1, 1, 2]


@pytest.mark.parametrize("argv", [["python", "-c", "a\nb"], ["python", "train.py"], ["bash", "-c", "echo 1"], ["-c"]])
def test_other_commands_are_told_by_their_output_alone(tmp_path, argv):
    [text] = of_a_tree(tmp_path, argv, "1\n")
    assert text.body == "1\n"
