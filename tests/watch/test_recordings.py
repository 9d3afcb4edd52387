"""Recordings: written, continued, read again, summed up; full disks and files that are none."""

import contextlib
import html.parser
import json
import sqlite3
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from watch_samples import gpu, process, sample

import rigup.watch
from rigup.cli import run
from rigup.watch.plots import page, picture
from rigup.watch.recording import NoRecording, Recorder, Recording
from rigup.watch.reporting import read


def written(path, samples):
    recorder = Recorder(str(path))
    for each in samples:
        recorder.add(each)
    recorder.close()
    return str(path)


def test_what_was_written_is_read(tmp_path) -> None:
    first = sample(1000.0, None, processes=[process()])
    later = sample(
        1002.0, 2.0, gpus=[gpu(throttle=["power", "temperature"], utilisation={"gpu": 0.123}), gpu(1, state="lost", because="gone")]
    )
    recording = Recording(written(tmp_path / "a.db", [first, later]))
    first_sample, two = recording.samples()
    recording.close()
    assert first_sample.gpus[0].utilisation.gpu == 0.5
    assert first_sample.gpus[0].memory.vram.used == 2**30
    assert first_sample.gpus[0].temperature.edge == pytest.approx(50.5)
    assert (first_sample.processes[0].command, first_sample.processes[0].slurm_job, first_sample.processes[0].gpus[0].memory.vram) == (
        "python train.py",
        "77",
        2**30,
    )
    assert (two.time, two.interval) == (1002.0, 2.0)
    assert two.gpus[0].utilisation.gpu == pytest.approx(0.123)
    assert two.gpus[0].throttle == ["power", "temperature"]
    assert two.gpus[1].state == "lost"


def test_what_was_not_available_stays_so(tmp_path) -> None:
    bare = {"utilisation": {}, "memory": {}, "power": {}, "temperature": {}}
    plain = gpu(**bare)
    del plain["throttle"]
    recording = Recording(written(tmp_path / "a.db", [sample(gpus=[plain])]))
    (only,) = recording.samples()
    recording.close()
    assert only.gpus[0].utilisation == type(only.gpus[0].utilisation)()
    assert not isinstance(only.gpus[0].throttle, list)


def test_energy_memory_and_time_slowed_down_are_summed(tmp_path) -> None:
    samples = [
        sample(
            1000.0 + at,
            1.0 if at else None,
            processes=[process(2**30 + at, busy=0.75), process(5, pid=8, busy=0.25, slurm_job="78")],
            gpus=[gpu(throttle=["temperature"] if at > 5 else [])],
        )
        for at in range(11)
    ]
    report = read(written(tmp_path / "a.db", samples)).report
    assert (report.samples, report.gpus[0].energy, report.gpus[0].throttled) == (11, 1000, 5)
    first, second = report.processes
    assert (first.pid, first.energy, first.peak_memory) == (7, 750, 2**30)
    assert (second.pid, second.energy) == (8, 250)
    assert [(job.job, job.energy) for job in report.jobs] == [("77", 750), ("78", 250)]


def test_a_time_without_samples_is_not_summed(tmp_path) -> None:
    report = read(written(tmp_path / "a.db", [sample(0, None), sample(36000, 36000.0)])).report
    assert report.gpus[0].energy == 100 * 60


def test_a_recording_is_continued(tmp_path) -> None:
    for _ in range(2):
        written(tmp_path / "a.db", [sample(processes=[process()])])
    assert read(str(tmp_path / "a.db")).report.samples == 2


def test_on_a_full_disk_samples_wait_and_none_is_lost(tmp_path) -> None:
    recorder = Recorder(str(tmp_path / "a.db"))
    recorder.add(sample(0))
    pages = recorder._base.execute("PRAGMA page_count").fetchone()[0]
    recorder._base.execute(f"PRAGMA max_page_count = {pages}")
    for number in range(1, 400):
        recorder.add(sample(number, processes=[process(pid=number, command="x" * 200)], interval=10.0))
    assert "full" in recorder.trouble
    assert recorder.waiting
    recorder._base.execute("PRAGMA max_page_count = 100000")
    recorder.add(sample(400))
    assert recorder.trouble == ""
    recorder.close()
    recording = Recording(str(tmp_path / "a.db"))
    assert [row.time for row in recording.samples()] == list(range(401))
    recording.close()


def test_processes_that_come_and_go_between_two_rows_are_seen_for_their_time(tmp_path) -> None:
    """One of three seconds, a minute after the others were written, and then nobody."""
    there = {range(200): process(), range(163, 166): process(2**31, pid=8, start=163.0)}
    samples = []
    for at in range(210):
        running = [row for times, row in there.items() if at in times]
        samples.append(sample(1000.0 + at, 1.0 if at else None, processes=running))
    path = written(tmp_path / "a.db", samples)
    long, short = sorted(read(path).report.processes, key=lambda row: row.pid)
    assert (long.seconds, short.seconds, short.peak_memory) == (199, 3, 2**31)
    recording = Recording(path)
    shown = [len(row.processes) for row in recording.samples()]
    late = [len(row.processes) for row in recording.samples(205)]
    recording.close()
    assert shown == [1] * 163 + [2] * 3 + [1] * 34 + [0] * 10
    assert late == [0] * 5


def test_a_short_recording_has_more_of_its_processes(tmp_path) -> None:
    samples = [sample(1000.0 + at, 1.0 if at else None, processes=[process(2**30 + at * 2**20)]) for at in range(9)]
    (only,) = read(written(tmp_path / "a.db", samples)).report.processes
    assert only.peak_memory == 2**30 + 8 * 2**20


def test_what_was_wrong_is_kept_though_the_disk_was_full_then(tmp_path) -> None:
    recorder = Recorder(str(tmp_path / "a.db"))
    recorder.add(sample(0))
    finding = {
        "cause": "throttled",
        "severity": "warning",
        "title": "x" * 90_000,
        "subject": "a",
        "because": "",
        "confidence": "certain",
        "guess": False,
        "make_sure": "",
        "in_vain": "",
        "mends": "",
        "explains": [],
        "fixes": [],
        "evidence": [],
        "place": "",
    }
    pages = recorder._base.execute("PRAGMA page_count").fetchone()[0]
    recorder._base.execute(f"PRAGMA max_page_count = {pages}")
    recorder.add(sample(1, findings=[finding]))
    assert "full" in recorder.trouble
    recorder._base.execute("PRAGMA max_page_count = 100000")
    recorder.close()
    recording = Recording(str(tmp_path / "a.db"))
    assert [row[1] for row in recording.findings()] == ["throttled"]
    recording.close()


def test_what_is_no_recording_is_refused(tmp_path) -> None:
    (tmp_path / "text").write_text("hello, this is no database, but long enough to look like one" * 20)
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE t (a)")
    other.commit()
    other.close()
    for name in ("text", "other", "none"):
        with pytest.raises(NoRecording):
            Recording(str(tmp_path / name))
    for name in ("text", "other"):
        with pytest.raises(NoRecording):
            Recorder(str(tmp_path / name))


@given(
    st.sampled_from(["busy_permille", "memory_mib", "state", "throttle", "gpu", "power_deciwatt"]),
    st.one_of(st.text(max_size=8), st.binary(max_size=8), st.integers(-(2**62), 2**62), st.floats()),
)
def test_a_recording_with_anything_in_it_is_read_or_refused(tmp_path_factory, column, value) -> None:
    path = written(tmp_path_factory.mktemp("r") / "a.db", [sample(processes=[process()])] * 2)
    base = sqlite3.connect(path)
    try:
        base.execute(f"UPDATE reading SET {column} = ? WHERE sample = 2", (value,))
    except (sqlite3.IntegrityError, UnicodeEncodeError):
        base.close()
        return
    base.commit()
    base.close()
    with contextlib.suppress(NoRecording):
        assert page(read(path)).startswith("<!doctype html>")


class Balanced(html.parser.HTMLParser):
    """Counts what is opened, and keeps what would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.opened.append(tag)
        self.fetched += [value for name, value in attrs if name in ("src", "href")]


def test_a_page_holds_words_as_words_and_fetches_nothing(tmp_path) -> None:
    nasty = process(command="<script>alert(1)</script>", name='"><img src=x>')
    text = page(read(written(tmp_path / "a.db", [sample(1000 + at, gpus=[gpu(name="<b>Card")], processes=[nasty]) for at in range(3)])))
    parser = Balanced()
    parser.feed(text)
    assert "script" not in parser.opened
    assert "img" not in parser.opened
    assert parser.opened.count("svg") == 5
    assert parser.fetched == []


def test_a_picture(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    picture(read(written(tmp_path / "a.db", [sample(1000 + at) for at in range(3)])), str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_report_and_replay_of_the_command(tmp_path, capsys) -> None:
    path = written(tmp_path / "a.db", [sample(1000 + at, processes=[process()]) for at in range(3)])
    assert run(["watch", "report", path, "--json", "--html", str(tmp_path / "a.html")]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "rigup.watch-report/1"
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert run(["watch", "report", path]) == 0
    assert "python train.py" in capsys.readouterr().out
    assert run(["watch", "--replay", path, "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    (tmp_path / "none").write_text("x" * 2000)
    assert run(["watch", "report", str(tmp_path / "none")]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_around_a_program_its_status_is_kept(tmp_path, capfd) -> None:
    path = str(tmp_path / "a.db")
    assert run(["watch", "--record", path, "--interval", "0.1", "--", "sh", "-c", "echo hello; exit 3"]) == 3
    assert "hello" in capfd.readouterr().out
    assert read(path).report.samples >= 2
    assert run(["watch", "--record", path, "--", str(tmp_path / "no-program")]) == 2


def test_around_a_block(tmp_path) -> None:
    path = str(tmp_path / "a.db")
    with rigup.watch.record(path, interval=0.05) as recording:
        time.sleep(0.2)
    assert recording.trouble == ""
    assert read(path).report.samples >= 2
