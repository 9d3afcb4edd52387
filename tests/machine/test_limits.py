"""Too much of anything costs no more than a person would wait for, and what was left out is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer_data import diagnose
from rigup.machine import limits, look, store, texts
from rigup.machine.collect import stream, tree
from rigup.machine.facts import Place, Reading, Where
from rigup.machine.kinds import CardCount, Gpu, PciDevice, Variable
from rigup.machine.limits import Clock, named, shares
from rigup.machine.store import Facts
from rigup.machine.texts import Text

HERE = Where("somewhere", 1, "text")
REPORT = "NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4\n"


def said(kind, place=Place(), **fields):
    return kind(place, {name: Reading(value, HERE) for name, value in fields.items()})


def listing(count):
    lines = (
        f"0000:{n // 32:02x}:{n % 32:02x}.0 3D controller [0302]: NVIDIA Corporation GA100 [10de:20b2]\n\tKernel driver in use: nvidia"
        for n in range(count)
    )
    return "\n".join(lines) + "\n"


def pasted(tmp_path, body, name="report.log"):
    (tmp_path / name).write_text(body)
    return diagnose(str(tmp_path / name))


# -- subjects of a kind ------------------------------------------------------------------------------


@pytest.mark.long
def test_of_too_many_cards_the_first_are_looked_at_and_the_rest_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MOST_SUBJECTS", 30)
    told = pasted(tmp_path, listing(50))
    assert len(told["machine"]["accelerators"]) == 30
    assert any(trouble.startswith("PciDevice, 20 statements: ") for trouble in told["troubles"])
    assert told["verdict"] == "unknown"


@pytest.mark.long
def test_a_hundred_cards_are_looked_at_all(tmp_path):
    told = pasted(tmp_path, listing(100))
    assert len(told["machine"]["accelerators"]) == 100
    assert told["troubles"] == []


@pytest.mark.parametrize("fields", [("address",), ("address", "vendor_id")])
def test_twice_as_many_cards_are_compared_about_twice_as_often(monkeypatch, fields):
    def comparisons(count):
        calls, facts = [], Facts()
        monkeypatch.setattr(PciDevice, "same_as", lambda self, other: calls.append(1) or super(PciDevice, self).same_as(other))
        for number in [*range(count), *range(count)]:
            facts.state(said(PciDevice, **dict.fromkeys(fields, str(number))))
        assert len(facts.of(PciDevice)) == count
        return len(calls)

    assert comparisons(400) <= 2.5 * comparisons(200)


KEYS = st.dictionaries(st.sampled_from(("pci_address", "uuid", "nvml_index", "name")), st.sampled_from(("a", "b", "c")), max_size=3)
PLACES = st.builds(Place, node=st.sampled_from(("", "n1", "n2")), moment=st.sampled_from(("", "before")))


class Slowly(Facts):
    """Passes all subjects by, for each statement: the meaning of what `Facts` does faster."""

    def state(self, new):
        there = [fact for fact in self.of(type(new)) if fact.place.meet(new.place) is not None]
        same = [fact for fact in there if new.same_as(fact)]
        if not same and new.keys and (not new.keyed() or (len(there) == 1 and not there[0].keyed())):
            fitting = [fact for fact in there if not new.contradicts(fact)]
            same = fitting if len(fitting) == 1 else []
        exact = [fact for fact in same if fact.place == new.place]
        same = exact or (same if len(same) == 1 else [])
        return self._join(same, new) if same else self._add(new)


@given(st.lists(st.tuples(PLACES, KEYS), max_size=12))
def test_statements_meet_the_subjects_that_they_would_meet_if_all_were_passed_by(statements):
    quick, slow = Facts(), Slowly()
    for facts in (quick, slow):
        for place, fields in statements:
            facts.state(said(Gpu, place, **fields))
    assert [(gpu.place, gpu.values()) for gpu in quick.of(Gpu)] == [(gpu.place, gpu.values()) for gpu in slow.of(Gpu)]


def test_what_nobody_watches_keeps_no_log_of_who_read_it():
    card, log = said(CardCount, vendor="nvidia", count=1), []
    for _ in range(1000):
        card.get("count")
    assert not card._log
    assert card.watched(log).count == 1
    assert [name for name, _reading in log] == ["CardCount.count"]


# -- text and time -----------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 10_000), max_size=30), st.integers(1, 20_000))
def test_shares_fit_into_the_room_and_waste_none_of_it(sizes, room):
    most = shares(sizes, room)
    taken = sum(min(size, most) for size in sizes)
    assert taken <= room
    assert taken == sum(sizes) or taken > room - len(sizes)


def test_of_texts_that_are_too_long_together_both_ends_are_read_and_small_ones_whole(tmp_path, monkeypatch):
    from rigup.machine import sources

    monkeypatch.setattr(sources, "shares", lambda sizes: shares(sizes, 9000))
    for name in ("a", "b"):
        (tmp_path / f"{name}.log").write_text("first\n" + "x\n" * 9000 + "last\n")
    (tmp_path / "small.log").write_text(REPORT)
    (source,) = sources.open_source(str(tmp_path))
    told = {text.source: text.body for text in source.texts}
    assert told["small.log"] == REPORT
    assert told["a.log"].startswith("first")
    assert told["a.log"].endswith("last\n")
    assert len(told["a.log"]) < 5000
    assert source.left_out == ("a.log, b.log: " + limits.TOO_LONG,)


def test_when_the_time_is_up_the_rest_is_left_and_nothing_is_called_healthy(tmp_path, monkeypatch):
    monkeypatch.setattr(look, "Clock", lambda: Clock(-1))
    told = pasted(tmp_path, REPORT)
    assert any(trouble.endswith(limits.TOO_LATE) for trouble in told["troubles"])
    assert told["verdict"] == "unknown"


def test_a_message_whose_search_takes_too_long_is_given_up_by_name(monkeypatch):
    monkeypatch.setattr(texts, "MOST_ROW_SECONDS", -1)
    text = Text("log", "torch\n" * 3)
    assert list(text.near("t(?:o|x)rch", [0, 6], name="torch-told")) == []
    assert text.given_up == {"torch-told"}


def test_a_message_that_is_found_soon_is_found():
    text = Text("log", "torch\n" * 3)
    assert len(list(text.near("t(?:o|x)rch", [0, 6, 12], name="torch-told"))) == 3
    assert text.given_up == set()


def test_many_names_are_told_by_the_first_and_a_count():
    assert named(map(str, range(9)), "why") == ["0, 1, 2, 3, 4 and 4 more: why"]
    assert named([], "why") == []


# -- streams -----------------------------------------------------------------------------------------


def test_of_a_stream_no_more_is_written_than_a_machine_answers_with(monkeypatch):
    monkeypatch.setattr(stream, "MOST_PLACED", 10)
    body = "@rigup-stream/1 posix\n" + "".join(f"@there /sys/{n}\n@folder /proc/{n}\n" for n in range(9)) + "@done 0\n"
    made = stream.parse(body.encode())
    assert (made.placed, made.refused, made.whole) == (10, 8, True)
    assert made.left_out() == ("8 files and folders that were answered: " + limits.TOO_MUCH,)


def test_a_usual_stream_loses_nothing():
    made = stream.parse(b"@rigup-stream/1 posix\n@there /sys/a\n@file /proc/version\n|Linux.\n@end 0\n@done 0\n")
    assert made.left_out() == ()


def test_a_tree_that_nobody_reads_any_more_is_removed_alone(tmp_path):
    import os

    made = stream.parse(b"@rigup-stream/1 posix\n@there /sys/a\n@done 0\n")
    one, two = tree.kept(made), tree.kept(made)
    tree.drop(one)
    assert not os.path.exists(one)
    assert os.path.exists(two)
    tree.discard()


# -- what is private ---------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", ["password", "MY_API_KEY", "x.y-secret"])
def test_a_name_before_the_word_that_says_secret_still_counts(name):
    from rigup.machine.redaction import Redactor

    assert "Zx81kQw9Lm" not in Redactor().text(f"--{name}=Zx81kQw9Lm")
    assert said(Variable, name=name).get("name") == name


def test_the_lines_worth_trying_are_found_once_each_however_many_words_are_in_them():
    from rigup.machine.redaction_contexts import matching_contexts

    body = "login=" * 50 + "\n" + "nothing\n" + "login=ada user=bob"
    spans = {body[start:end] for _context, start, end in matching_contexts(body)}
    assert spans == {"login=" * 50, "login=ada user=bob"}
    assert len(list(matching_contexts(body))) == len({(context.form, start) for context, start, _end in matching_contexts(body)})


def test_words_are_found_once_where_a_long_text_is_read_in_parts(monkeypatch):
    from rigup.machine import literals

    monkeypatch.setattr(literals, "_FEW", 0)  # all at once
    body = "NVRM: Xid (PCI:0000:01:00): 31, CUDA error: out of memory\n" * 30
    whole = literals.literals_in(body)
    monkeypatch.setattr(literals, "_PART", 7)
    assert literals.literals_in(body) == whole
