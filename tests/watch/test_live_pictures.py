"""Pictures of the live view: of any size, of any sample, with what was chosen."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from watch_samples import gpu, process, sample

from rigup.cli import layout
from rigup.cli.layout import columns
from rigup.cli.live import table
from rigup.cli.live.graphs import bar, graph
from rigup.cli.live.picture import compose
from rigup.cli.live.spans import fitted
from rigup.cli.live.start import text_of
from rigup.cli.live.themes import THEMES, escapes, theme_of
from rigup.cli.live.view import SORTS, View, frame_of, shown
from rigup.schemas.watch import Watch
from rigup.watch.history import History, mark_of

FINDING = {
    "cause": "throttled",
    "severity": "warning",
    "title": "GPU 0 is slowed down",
    "subject": "GPU 0",
    "place": "",
    "confidence": "certain",
    "guess": False,
    "because": "",
    "make_sure": "",
    "in_vain": "",
    "mends": "",
    "explains": [],
    "fixes": [],
    "evidence": [],
}


def frame(watch: Watch, parents: dict[int, int] | None = None):
    history = History()
    history.add(watch)
    return frame_of(watch, history, parents)


def rows_of(lines) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


WORDS = st.text(max_size=40)
GPUS = st.lists(
    st.builds(
        lambda name, state, used, heat, busy: {
            "name": name,
            "state": state,
            "memory": {"vram": {"total": 2**33, "used": used}},
            "temperature": {"edge": heat},
            "utilisation": {"gpu": busy} if busy is not None else {},
        },
        WORDS,
        st.sampled_from(["active", "asleep", "lost", "error"]),
        st.integers(0, 2**50),
        st.floats(-1e9, 1e9),
        st.none() | st.floats(0, 9),
    ),
    max_size=20,
)
PROCESSES = st.lists(
    st.builds(
        lambda pid, command, user, held: {"pid": pid, "command": command, "user": user, "held": held},
        st.integers(0, 2**31),
        WORDS,
        WORDS,
        st.integers(0, 2**60),
    ),
    max_size=30,
)


@pytest.mark.long
@given(
    wide=st.integers(1, 220),
    high=st.integers(1, 80),
    gpus=GPUS,
    processes=PROCESSES,
    view=st.builds(
        View,
        sort=st.sampled_from(SORTS),
        reverse=st.booleans(),
        words=WORDS,
        tree=st.booleans(),
        typing=st.booleans(),
        gpu=st.integers(0, 30),
        first=st.integers(0, 99),
    ),
)
@settings(max_examples=150, deadline=None)
def test_a_picture_fills_the_screen_exactly_and_moves_no_cursor(wide, high, gpus, processes, view) -> None:
    watch = sample(
        gpus=[gpu(index, **parts) for index, parts in enumerate(gpus)],
        processes=[process(parts.pop("held"), **parts) for parts in processes],
        findings=[FINDING | {"title": "\x1b[2J bad"}] * 7,
    )
    picture = compose(frame(watch), view, wide, high)
    assert len(picture.lines) == high
    for row in rows_of(picture.lines):
        assert columns(row) == wide
        assert row.isprintable() or not any(letter in row for letter in "\x1b\n\r\t\x07")
    assert all(0 <= at < high for at in picture.places)


def test_characters_that_are_counted_at_once_take_a_column_each() -> None:
    """The blocks of graphs and bars, whose widths are not looked up one by one."""
    narrow = [letter for letter in map(chr, range(0x20000)) if layout._NARROW.fullmatch(letter)]
    assert {"a", "█", "⣧", "…", "Ж"} <= set(narrow)
    assert [letter for letter in narrow if layout._columns_of(letter) != 1] == []


def test_each_gpu_has_a_line_on_a_small_terminal() -> None:
    watch = sample(gpus=[gpu(index) for index in range(8)], processes=[process(pid=pid) for pid in range(2, 66)])
    rows = rows_of(compose(frame(watch), View(), 80, 24).lines)
    assert [row[1] for row in rows[2:10]] == list("01234567")
    assert all("50%" in row and "1.0/8 GiB" in row and "100 W" in row for row in rows[2:10])
    assert sum("python train.py" in row for row in rows) >= 5
    narrow = rows_of(compose(frame(watch), View(), 40, 12).lines)
    assert sum("1.0/8 GiB" in row for row in narrow) == 8


def test_what_nobody_told_is_a_dash_and_never_zero() -> None:
    watch = sample(gpus=[gpu(utilisation={}, memory={}, power={}, temperature={})])
    (row,) = (row for row in rows_of(compose(frame(watch), View(), 80, 24).lines) if "Card" in row)
    assert "0%" not in row
    assert row.count("–") >= 5


def test_graphs_tell_zero_from_what_nobody_told() -> None:
    assert graph([None, None, 0.0, 0.0, 1.0, 0.5], 3, 1, 1.0) == ["⠀⣀⣧"]
    assert bar(None, 4) == "····"
    assert (bar(0.0, 4), bar(0.5, 4), bar(7.0, 4)) == ("░░░░", "██░░", "████")


def test_processes_by_each_column_and_by_words() -> None:
    rows = [
        process(2**30, pid=3, start=500.0, command="b", user="zoe", cpu=0.1, rss=9),
        process(2**31, 1, pid=1, start=900.0, command="a", user="Ada", cpu=2.0, rss=5, slurm_job="42"),
        process(2**29, busy=0.9, pid=2, start=10.0, command="c", user="bob", container={"engine": "podman", "id": "abc"}),
    ]
    seen = frame(sample(processes=rows, gpus=[gpu(), gpu(1)]))
    order = {
        "memory": [1, 3, 2],
        "use": [2, 3, 1],
        "cpu": [1, 3, 2],
        "pid": [1, 2, 3],
        "user": [1, 2, 3],
        "gpu": [2, 3, 1],
        "rss": [3, 1, 2],
        "time": [2, 3, 1],
        "command": [1, 3, 2],
    }
    for sort in SORTS:
        found = [row.pid for _depth, row in shown(seen, View(sort=sort))]
        assert found == order[sort], sort
        assert [row.pid for _depth, row in shown(seen, View(sort=sort, reverse=True))] == found[::-1], sort
    for words, pids in (("ada", [1]), ("PODMAN", [2]), ("42", [1]), ("abc bob", [2]), ("nobody", [])):
        assert [row.pid for _depth, row in shown(seen, View(words=words))] == pids, words


def test_children_stand_below_the_nearest_parent_that_is_shown() -> None:
    rows = [process(2**30 * pid, pid=pid) for pid in (2, 5, 9)]
    parents = {5: 4, 4: 2, 2: 1, 9: 8, 8: 9}  # 9 and 8 name each other, as no kernel does
    found = [(depth, row.pid) for depth, row in shown(frame(sample(processes=rows), parents), View(tree=True))]
    assert sorted(found) == [(0, 2), (0, 9), (1, 5)]
    assert found.index((1, 5)) == found.index((0, 2)) + 1


@given(st.dictionaries(st.integers(2, 20), st.integers(0, 20)))
def test_no_process_is_lost_in_a_tree(parents) -> None:
    rows = [process(pid=pid) for pid in range(2, 20)]
    found = [row.pid for _depth, row in shown(frame(sample(processes=rows), parents), View(tree=True))]
    assert sorted(found) == list(range(2, 20))


def test_the_chosen_process_stays_in_sight() -> None:
    watch = sample(processes=[process(2**20 * pid, pid=pid) for pid in range(2, 66)])
    view = View(sort="pid", chosen=mark_of(watch.processes[60]))
    rows = rows_of(compose(frame(watch), view, 80, 24).lines)
    assert sum(row.startswith("      62 ") for row in rows) == 1


def test_a_head_sorts_by_its_column() -> None:
    for wide in (60, 80, 120, 200):
        text = "".join(span.text for span in table.head(View(), "memory", table.columns_at(wide)))
        for word, sort in (("PID", "pid"), ("Command", "command"), ("Memory", "memory")):
            assert table.sort_at(text.index(word), wide) == sort


def test_no_colour_takes_no_colour_and_still_marks() -> None:
    watch = sample(findings=[FINDING])
    text = text_of(frame(watch), View(), 80, 24, theme_of({"NO_COLOR": "1"}))
    assert "▲ throttled  GPU 0 is slowed down" in text
    codes = {
        code
        for piece in text.split("\x1b[")[1:]
        if "m" in piece
        for code in piece.split("m")[0].split(";")
        if "H" not in piece.split("m")[0]
    }
    assert codes <= {"", "0", "1", "4", "7"}


@pytest.mark.parametrize("name", THEMES)
def test_a_theme_has_every_role_and_rich_knows_its_styles(name) -> None:
    from rich.style import Style

    for role, style in THEMES[name].items():
        assert style == "" or Style.parse(style), (name, role)
        assert bool(escapes(style)) == bool(style)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", ["dark", "light"])
def test_text_stands_out_from_its_ground(name) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1."""
    for role, style in THEMES[name].items():
        front, back = (word for word in style.split() if word.startswith("#"))
        lighter, darker = sorted((_luminance(front), _luminance(back)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (name, role)


def test_a_line_is_cut_where_a_wide_letter_would_stand_out() -> None:
    from rigup.cli.live.spans import Span

    for wide, text in itertools.product(range(1, 12), ("显卡显卡显卡", "a显b卡", "plain")):
        assert columns("".join(span.text for span in fitted([Span(text)], wide))) == wide
