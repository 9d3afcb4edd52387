"""The live view driven by textual's pilot: keys, the mouse, other sizes, faults."""

import asyncio
import os
import signal
import subprocess
import sys

import msgspec
import pytest
from watch_samples import gpu, process, sample

from rigup.cli.live import signals
from rigup.cli.live.app import Arrived, LiveApp
from rigup.cli.live.view import View, frame_of
from rigup.schemas.watch import WatchedProcess
from rigup.watch.history import History, mark_of


class StillFeed:
    """Brings what the test posts."""

    def __init__(self) -> None:
        self.interval, self.tree, self.stopped = 1.0, False, False

    def start(self, post) -> None:
        self.post = post

    def stop(self) -> None:
        self.stopped = True


def frame(**parts):
    history = History()
    history.add(sample(**parts))
    return frame_of(history.last, history)


PARTS = {
    "gpus": [gpu(0), gpu(1, name="Other")],
    "processes": [process(2**30 * pid, pid=pid, command=f"program {pid}") for pid in range(2, 42)],
}


def drive(script, size=(80, 24), view=None, parts=PARTS):
    """Run a script over the app, and give the app back."""

    async def whole():
        app = LiveApp(StillFeed(), frame(**parts), view or View(), "terminal")
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await script(app, pilot)
        return app

    return asyncio.run(whole())


def text(app) -> str:
    return "\n".join("".join(span.text for span in line) for line in app.picture.lines)


def test_keys_choose_sort_filter_and_turn() -> None:
    async def script(app, pilot) -> None:
        await pilot.press("down")
        assert app.chosen().pid == 41
        await pilot.press("down", "down")
        assert app.chosen().pid == 39
        await pilot.press("end")
        assert app.chosen().pid == 2
        assert "program 2 " in text(app)
        await pilot.press("s", "s", "s")
        assert app.view.sort == "pid"
        await pilot.press("r")
        assert app.rows()[0][1].pid == 41
        await pilot.press("slash", *"program", "space", *"37", "enter")
        assert [row.pid for _depth, row in app.rows()] == [37]
        assert "Filter: program 37" in text(app)
        await pilot.press("escape")
        assert len(app.rows()) == 40
        await pilot.press("tab")
        assert "▸1" in text(app)
        await pilot.press("m")
        assert app.view.metric == "memory"
        await pilot.press("t")
        assert app.feed.tree is True
        await pilot.press("plus")
        assert app.feed.interval == 0.5

    assert drive(script).feed.stopped


def test_help_details_and_findings_are_laid_over_and_go() -> None:
    async def script(app, pilot) -> None:
        for key, word in (("question_mark", "Ctrl-C"), ("i", "0000:00:00.0"), ("f", "Nothing is wrong")):
            await pilot.press(key)
            await pilot.pause()
            assert len(app.screen_stack) == 2
            assert word in str(app.screen.query_one("Static").content)
            await pilot.press("x")
            await pilot.pause()
            assert len(app.screen_stack) == 1
        await pilot.press("down", "enter")
        await pilot.pause()
        assert "program 41" in str(app.screen.query_one("Static").content)

    drive(script)


def test_the_mouse_chooses_sorts_and_scrolls() -> None:
    async def script(app, pilot) -> None:
        at = {place: line for line, place in app.picture.places.items()}
        await pilot.click(offset=(5, at["gpu", 1]))
        assert app.view.gpu == 1
        await pilot.click(offset=(6, at["head", 0]))
        assert (app.view.sort, app.view.reverse) == ("pid", False)
        await pilot.click(offset=(6, at["head", 0]))
        assert app.view.reverse
        await pilot.click(offset=(30, at["process", 3]))
        assert app.chosen() == app.rows()[3][1]

    drive(script)


def test_a_finding_under_the_mouse_tells_what_mends_it() -> None:
    from test_live_pictures import FINDING

    async def script(app, pilot) -> None:
        at = {place: line for line, place in app.picture.places.items()}
        await pilot.click(offset=(5, at["finding", 0]))
        await pilot.pause()
        assert "Clean the fans" in str(app.screen.query_one("Static").content)

    drive(script, parts=PARTS | {"findings": [FINDING | {"mends": "Clean the fans."}]})


def test_another_size_is_filled_at_once() -> None:
    async def script(app, pilot) -> None:
        for size in ((120, 50), (20, 5), (1, 1), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert (len(app.picture.lines[0]) > 0, len(app.picture.lines)) == (True, size[1])

    drive(script)


def test_what_comes_is_shown_unless_it_is_paused() -> None:
    async def script(app, pilot) -> None:
        lost = frame(gpus=[gpu(0, state="lost", because="it is no more on the bus")])
        await pilot.press("p")
        app.feed.post(lost)
        await pilot.pause()
        assert "paused" in text(app)
        assert "lost" not in text(app)
        await pilot.press("p")
        app.feed.post(lost)
        await pilot.pause()
        assert "lost  it is no more on the bus" in text(app)
        assert "program" not in text(app)

    drive(script)


def test_a_clock_that_jumps_and_a_sample_that_does_not_come() -> None:
    async def script(app, pilot) -> None:
        for moment in (-1e18, 1e18, 0.0):
            app.post_message(Arrived(frame(time=moment, **PARTS)))
            await pilot.pause()
            assert "program" in text(app)
        app._came -= 60
        app._look_at_time()
        assert "no sample for 60 s" in text(app)
        app.post_message(Arrived(frame(**PARTS)))
        await pilot.pause()
        assert "no sample" not in text(app)

    drive(script)


def sleeper() -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def as_watched(pid: int) -> dict:
    from rigup.watch.files import LiveFiles
    from rigup.watch.processes import Programs

    return {"pid": pid, "start": Programs(LiveFiles()).start_of(pid), "command": "sleeper"}


@pytest.mark.long
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")
@pytest.mark.parametrize(("keys", "ends"), [("1y", True), ("1n", False), ("y", False)])
def test_a_signal_is_sent_when_both_questions_are_answered(keys, ends) -> None:
    with sleeper() as child:
        parts = {"processes": [process(**as_watched(child.pid))]}

        async def script(app, pilot) -> None:
            await pilot.press("k")
            assert "Choose a process first" in text(app)
            await pilot.press("down", "k")
            await pilot.pause()
            await pilot.press(*keys)
            await pilot.pause()
            assert ("SIGTERM was sent" in text(app)) == ends

        drive(script, parts=parts)
        if not ends:
            assert child.poll() is None
            child.kill()
        assert child.wait(10) == (-signal.SIGTERM if ends else -signal.SIGKILL)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")
def test_nothing_is_sent_to_one_that_has_the_number_of_another() -> None:
    with sleeper() as child:
        seen = msgspec.convert(process(**as_watched(child.pid)), WatchedProcess)
        older = msgspec.structs.replace(seen, start=seen.start - 100)
        assert "has ended" in signals.send(older, "SIGKILL")
        nameless = msgspec.structs.replace(seen, start=msgspec.UNSET)
        assert "another namespace" in signals.send(nameless, "SIGKILL")
        assert child.poll() is None
        child.kill()
    assert "has ended" in signals.send(seen, "SIGTERM")


def test_a_recording_offers_no_signal() -> None:
    async def script(app, pilot) -> None:
        await pilot.press("down", "k")
        assert "no processes that run" in text(app)
        assert len(app.screen_stack) == 1

    drive(script, view=View(replay=True))


def test_colours_go_round() -> None:
    async def script(app, pilot) -> None:
        seen = set()
        for _round in range(5):
            await pilot.press("T")
            await pilot.pause()
            seen.add(app.colours)
            assert "<svg" in app.export_screenshot()
        assert len(seen) == 5

    drive(script)


def test_the_chosen_process_went() -> None:
    async def script(app, pilot) -> None:
        await pilot.press("down")
        gone = app.chosen()
        app.feed.post(frame(processes=PARTS["processes"][:-1], gpus=PARTS["gpus"]))
        await pilot.pause()
        assert app.chosen() is None
        assert mark_of(gone) == app.view.chosen
        await pilot.press("k")
        assert "Choose a process first" in text(app)

    drive(script)
