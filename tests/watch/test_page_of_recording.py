"""A recording in the page: the whole of its time, and a slider that shows what was at any moment of it."""

import json
import urllib.error

import pytest
from test_page_of_watch import TOKEN, Served
from watch_samples import gpu, process, sample

from chromium import PROGRAM
from chromium import Page as Browser
from rigup.watch import nodes
from rigup.watch.nodes import Replayed
from rigup.watch.recording import NoRecording, Recorder


@pytest.fixture
def recording(tmp_path) -> str:
    """Forty seconds: a card that becomes busier, is throttled in the middle, and has a process of its own time."""
    recorder = Recorder(str(tmp_path / "run.db"))
    for second in range(40):
        parts = {"utilisation": {"gpu": second / 100}, "throttle": ["temperature"] if 10 <= second < 20 else []}
        running = process(2**30, command=f"python part{second // 10}.py", pid=70 + second // 10, start=5.0 + second // 10)
        interval = None if second == 0 else 1.0
        recorder.add(sample(1000.0 + second, interval, gpus=[gpu(0, **parts)], processes=[running]))
    recorder.close()
    return str(tmp_path / "run.db")


def test_a_moment_is_told_as_it_was(recording) -> None:
    replayed = Replayed(recording)
    for second in (0, 15, 39):
        then = replayed.moment(second)
        assert (then.time, round(then.gpus[0].utilisation.gpu, 2)) == (1000.0 + second, second / 100)
        assert [row.command for row in then.processes] == [f"python part{second // 10}.py"]
        assert [finding.cause for finding in then.findings] == (["throttled"] if second == 15 else [])
    for nowhere in (-1, 40):
        with pytest.raises(LookupError):
            replayed.moment(nowhere)


def test_of_a_long_recording_a_point_stands_for_several_samples(monkeypatch, recording) -> None:
    monkeypatch.setattr(nodes, "POINTS", 10)
    replayed = Replayed(recording)
    assert [replayed.moment(point).time for point in range(len(replayed.times))] == replayed.times
    assert replayed.times[1] == 1004.0


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("node=0&at=40", 404),
        ("node=1&at=0", 404),
        ("node=7&at=0", 404),
        ("node=0&at=-1", 400),
        ("node=0", 400),
        ("node=0&at=٣", 400),
        ("node=0&at=9999999999", 400),
    ],
)
def test_what_is_no_moment_is_refused(recording, asked, status) -> None:
    from urllib.parse import quote

    with Served(sample(), recorded=[Replayed(recording)]) as served:
        with served.get("/moment?node=0&at=15") as answer:
            then = json.load(answer)
        assert (then["sample"]["time"], then["recorded"]) == (1015.0, True)
        assert [finding["cause"] for finding in then["sample"]["findings"]] == ["throttled"]
        with pytest.raises(urllib.error.HTTPError) as refused:
            served.get("/moment?" + quote(asked, safe="=&-"))
        assert refused.value.code == status
        refused.value.close()


def test_a_recording_that_is_gone_is_told(recording, monkeypatch) -> None:
    replayed = Replayed(recording)
    monkeypatch.setattr(replayed, "path", recording + ".gone")
    with pytest.raises(NoRecording, match="no such file"):
        replayed.moment(3)
    with Served(recorded=[replayed]) as served:
        with pytest.raises(urllib.error.HTTPError) as refused:
            served.get("/moment?node=0&at=3")
        assert refused.value.code == 503
        assert b"no such file" in refused.value.read()
        refused.value.close()


@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="no Chromium")
@pytest.mark.parametrize("width", [390, 1200])
def test_a_slider_shows_any_moment_of_it_at_two_widths(tmp_path, recording, width) -> None:
    served, browser = Served(sample(), recorded=[Replayed(recording)]), Browser(tmp_path, width=width)
    with served, browser:
        browser.open(f"http://127.0.0.1:{served.port}/?token={TOKEN}")
        browser.wait("document.querySelectorAll('input.moment').length === 1")  # and none for what is live
        browser.wait("document.querySelector('section').innerText.includes('39%')")
        move = "(() => {{ const slider = document.querySelector('input.moment'); slider.focus(); slider.value = {}; slider.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
        for point in (3, 8, 15):  # one after another, as somebody drags it
            browser.evaluate(move.format(point))
        browser.wait("document.querySelector('section').innerText.includes('15%')")
        text = browser.evaluate("document.querySelector('section').innerText")
        assert "python part1.py" in text
        assert "[throttled]" in text
        assert browser.evaluate("document.activeElement === document.querySelector('input.moment')")
        assert browser.evaluate("document.querySelector('input.moment').value") == "15"
        assert browser.evaluate("nodes[0].times.length") == 40
        assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        browser.evaluate(move.format(0))
        browser.wait("document.querySelector('section').innerText.includes('python part0.py')")
        assert "[throttled]" not in browser.evaluate("document.querySelector('section').innerText")
        assert browser.errors == []
