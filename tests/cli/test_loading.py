"""How much has come of what a plan has to load, from the lines of either installer."""

from hypothesis import given
from hypothesis import strategies as st

from rigup.cli import loading
from rigup.cli.loading import Loading, unpacked_now
from rigup.sizes import duration, size

SIZES = {"torch": (800_000_000, 1_600_000_000), "numpy": (20_000_000, 60_000_000)}


def at(seconds, monkeypatch, *lines, loaded=0, unpacked=0):
    """What is told so many seconds after the first line."""
    clock = iter([100.0])
    monkeypatch.setattr(loading.time, "monotonic", lambda: next(clock, 100.0 + seconds))
    told = Loading(SIZES)
    for line in lines:
        told.says(line)
    return told.text(loaded, unpacked)


def test_of_uv_what_is_unpacked_counts_by_what_it_will_become(monkeypatch):
    assert at(1, monkeypatch, "Downloading torch (762.9MiB)", unpacked=830_000_000) == "410 MB of 820 MB"
    assert at(1, monkeypatch, "Downloading torch (762.9MiB)", " Downloaded torch") == "800 MB of 820 MB"


def test_of_pip_the_file_that_comes_counts_and_those_before_it(monkeypatch):
    first = "  Downloading torch-2.9.1-cp311-cp311-manylinux_2_28_x86_64.whl (800 MB)"
    second = "  Downloading numpy-2.3.5-cp311-cp311-manylinux_2_28_x86_64.whl (20 MB)"
    assert at(1, monkeypatch, first, loaded=100_000_000) == "100 MB of 820 MB"
    assert at(1, monkeypatch, first, second, loaded=5_000_000) == "805 MB of 820 MB"
    assert at(1, monkeypatch, first, second, "Installing collected packages: numpy, torch") == "820 MB of 820 MB"


def test_the_time_that_is_left_is_told_when_it_can_be_known(monkeypatch):
    lines = ("Downloading torch (762.9MiB)",)
    assert at(10, monkeypatch, *lines, unpacked=830_000_000) == "410 MB of 820 MB, 10 s left"
    assert "left" not in at(1, monkeypatch, *lines, unpacked=830_000_000)
    assert "left" not in at(10, monkeypatch, *lines)


def test_nothing_is_told_before_anything_comes_or_where_nobody_knows_how_much(monkeypatch):
    assert at(5, monkeypatch, "Collecting torch") == ""
    told = Loading({})
    told.says("Downloading torch (762.9MiB)")
    assert told.text(5, 5) == ""


@given(st.lists(st.text(max_size=80)), st.integers(0, 10**12), st.integers(0, 10**12))
def test_no_line_leads_astray(lines, loaded, unpacked):
    told = Loading(SIZES)
    told.says("Downloading torch (762.9MiB)")
    for line in lines:
        told.says(line)
    assert told.text(loaded, unpacked).partition(" of ")[2].startswith("820 MB")


def test_what_uv_unpacks_is_seen_in_its_own_folder(tmp_path):
    (tmp_path / ".tmpA1").mkdir()
    (tmp_path / ".tmpA1" / "libtorch.so").write_bytes(b"x" * 1000)
    (tmp_path / "archive-v0").mkdir()
    (tmp_path / "archive-v0" / "old").write_bytes(b"x" * 5000)
    assert unpacked_now({"UV_CACHE_DIR": str(tmp_path)}) == 1000
    assert unpacked_now({"UV_CACHE_DIR": str(tmp_path / "none")}) == 0


def test_sizes_and_times_are_told_in_the_unit_that_a_person_would_take():
    assert [size(count) for count in (1, 26_000_000, 1_580_000_000)] == ["1 B", "26.0 MB", "1.6 GB"]
    assert [duration(seconds, 0) for seconds in (40, 300, 9000)] == ["40 s", "5 min", "2 h"]
    assert [duration(seconds) for seconds in (40, 300, 9000)] == ["40 s", "5.0 min", "2.5 h"]


def test_what_is_removed_counts_by_what_is_left(monkeypatch):
    clock = iter([100.0, 104.0, 104.5])
    monkeypatch.setattr(loading.time, "monotonic", lambda: next(clock))
    left = iter([1_000_000_000, 250_000_000])
    told = loading.Emptying(lambda: next(left))
    assert told.text() == "750 MB of 1.0 GB, 1 s left"
    assert told.text() == "750 MB of 1.0 GB, 1 s left", "the folder was looked at a moment ago"
