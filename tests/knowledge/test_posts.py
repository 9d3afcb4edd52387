"""The texts that the weights are learned from: each has a cause that there is, and none stands twice."""

from collections import Counter
from pathlib import Path

from each import over
from rigup.knowledge.doctor_tables import causes

LEARNING = Path(__file__).parents[2] / "learning"
FOLDERS = ("posts", "outputs")
FILES = [path for folder in FOLDERS for path in sorted((LEARNING / folder).glob("*.txt"))]
KNOWN = {*causes(), "healthy"}


def posts(path):
    return path.read_text(encoding="utf-8").split("\n----\n")


def test_a_cause_that_is_learned_has_texts_of_both_sorts_and_every_file_a_cause():
    posts_of, outputs_of = ({path.stem for path in FILES if path.parent.name == folder} for folder in FOLDERS)
    assert posts_of == outputs_of
    assert posts_of <= KNOWN


@over(FILES, lambda path: f"{path.parent.name}/{path.stem}")
def test_posts_stand_apart_and_say_something(path):
    for post in posts(path):
        assert len(post.strip()) > 10, post
        assert "----" not in {line.strip() for line in (post.splitlines()[0], post.splitlines()[-1])}, post


def test_no_post_stands_twice():
    seen = Counter(" ".join(post.split()) for path in FILES for post in posts(path))
    assert not [post for post, times in seen.items() if times > 1]


def test_each_source_is_a_cause_and_an_address():
    for line in (LEARNING / "sources.txt").read_text(encoding="utf-8").splitlines():
        cause, _blank, address = line.partition(" ")
        assert cause in KNOWN, line
        assert address.startswith(("https://", "http://")), line
        assert " " not in address, line
