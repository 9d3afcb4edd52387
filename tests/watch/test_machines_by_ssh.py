"""Other machines on the page: by a real sshd on loopback, by exporters, and a recording; looked at by a real browser at two widths."""

import base64
import os
import sys
import time
from pathlib import Path

import pytest
from test_page_of_watch import TOKEN, Served
from watch_samples import gpu, process, sample

from chromium import PROGRAM
from chromium import Page as Browser
from loopback_ssh import daemon  # noqa: F401  # a fixture
from rigup.watch.nodes import Node, Replayed
from rigup.watch.recording import NoRecording, Recorder
from rigup.watch.remote import NoSample, Remote

HOST = {"cpu": {"cores": 4, "utilisation": 0.25}, "memory": {"total": 2**34, "available": 2**33, "used": 2**33}}
WAIT = 60


@pytest.fixture
def server(daemon, monkeypatch):  # noqa: F811
    """A host `node7` that has rigup: ours, under its plain name."""
    daemon.renew()
    program = f'#!/bin/sh\nexec {sys.executable} -m rigup "$@"\n'
    programs = daemon.folder / "there"
    programs.mkdir(exist_ok=True)
    (programs / "rigup").write_text(program)
    (programs / "rigup").chmod(0o755)
    daemon.entry(f'export PATH={programs}:/usr/bin:/bin; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"')
    monkeypatch.setenv("PATH", f"{daemon.folder}/client:{os.environ['PATH']}")
    return daemon


def until(holds) -> None:
    """Wait for a state."""
    end = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.ssh
def test_samples_come_by_ssh_and_end_with_who_asked(server) -> None:
    remote = Remote("node7", 0.2)
    try:
        first, second = remote.sample(), remote.sample()
        assert second.time > first.time
        assert second.host.cpu.cores == os.cpu_count()
        assert server.entries[0].endswith("exec rigup watch --jsonl --interval 0.2")
        process = remote._process
    finally:
        remote.stop()
    assert process.poll() is not None


@pytest.mark.ssh
def test_a_connection_that_breaks_is_made_again(server) -> None:
    remote = Remote("node7", 0.2)
    try:
        remote.sample()
        remote._process.kill()
        with pytest.raises(NoSample):  # what had come already is still shown
            [remote.sample() for _sample in range(5)]
        assert remote.sample().time > 0
    finally:
        remote.stop()


@pytest.mark.ssh
def test_it_is_said_why_a_host_gives_nothing(server) -> None:
    server.entry('exec env PATH=/usr/bin:/bin HOME=/nowhere /bin/sh -c "$SSH_ORIGINAL_COMMAND"')
    with pytest.raises(NoSample, match=r"rigup is not there: `ssh node7 python3 -m pip install --user rigup`"):
        Remote("node7", 1.0).sample()
    server.entry("echo banner of a login; exit 0")
    with pytest.raises(NoSample, match="no sample"):
        Remote("node7", 1.0).sample()
    server.entry("head -c 9000000 /dev/zero")
    with pytest.raises(NoSample, match="8 MiB"):
        Remote("node7", 1.0).sample()
    server.add("stranger", known="unknown")
    with pytest.raises(NoSample, match=r"[Hh]ost key"):
        Remote("stranger", 1.0).sample()
    server.add("gone", port=1)
    with pytest.raises(NoSample, match="refused"):
        Remote("gone", 1.0).sample()


@pytest.mark.parametrize("name", ["-oProxyCommand=touch x", "", "a b", "a\nb"])
def test_an_option_is_no_host(name) -> None:
    with pytest.raises(NoSample, match="no name of a host"):
        Remote(name, 1.0)


def test_pauses_grow_and_end_when_nobody_asks_any_more(monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    remote = Remote("node7", 1.0)
    with pytest.raises(NoSample, match="ssh cannot be started"):
        remote.sample()
    assert remote._pause == 2.0
    remote._again = time.monotonic() + 1000
    remote.stop()
    with pytest.raises(NoSample, match="ended"):
        remote.sample()


@pytest.fixture
def recording(tmp_path) -> str:
    path = str(tmp_path / "run.db")
    recorder = Recorder(path)
    for second in range(50):
        recorder.add(sample(1000.0 + second, gpus=[gpu(utilisation={"gpu": second / 50})], processes=[process()]))
    recorder.close()
    return path


def test_a_recording_is_shown_whole_and_one_that_is_none_is_told_of(recording, tmp_path) -> None:
    node = Replayed(recording)
    assert len(node.times) == 50
    assert node.series(("gpu",))["gpus"]["0000:00:00.0"]["gpu"][-1] == 0.98
    last, trouble = node.last()
    assert (last.time, trouble) == (1049.0, "")
    empty = str(tmp_path / "empty.db")
    Recorder(empty).close()
    with pytest.raises(NoRecording, match="no sample"):
        Replayed(empty)


@pytest.mark.ssh
@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="no Chromium")
@pytest.mark.parametrize("width", [390, 1200])
def test_machines_of_all_ways_stand_on_one_page(server, recording, tmp_path, width) -> None:
    server.add("gone", port=1)
    remotes = [Remote("node7", 1.0), Remote("gone", 1.0)]
    with Served(sample(host=HOST, gpus=[gpu(0), gpu(1)], processes=[process()])) as served:
        own = [Node(remote.host, remote.sample, 1.0, judges=False, end=remote.stop) for remote in remotes]
        nodes = [*served.nodes, *own, Replayed(recording)]
        served.page.nodes = nodes
        for node in own:
            node.start()
        try:
            until(lambda: own[0].last()[0] is not None and own[1].last()[1])
            with Browser(tmp_path, width=width, dark=width < 600) as browser:
                browser.open(f"http://127.0.0.1:{served.port}/?token={TOKEN}")
                browser.wait("document.querySelectorAll('h2').length === 4 && document.querySelector('.trouble') !== null")
                text = browser.evaluate("document.body.innerText")
                for words in ("CPU 25%", "RAM 8.0 GiB/16.0 GiB", "node7", "gone", "refused", "run.db", "98%"):
                    assert words in text, words
                assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
                before = own[0].last()[0].time
                until(lambda: own[0].last()[0].time > before)  # it lives while the other does not answer
                if folder := os.environ.get("RIGUP_PHOTOGRAPHS"):  # to look at
                    picture = browser.do("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
                    Path(folder, f"machines-{width}.png").write_bytes(base64.b64decode(picture))
                assert browser.errors == []
        finally:
            for node in own:
                node.stop()


@pytest.mark.parametrize("words", [("--host", "node7"), ("--scrape", "http://127.0.0.1:1/metrics"), ("--web", "--host", "-oX")])
def test_what_the_command_line_cannot_mean_is_refused(words) -> None:
    from click.testing import CliRunner

    from rigup.cli.watch import command

    pytest.importorskip("uvicorn")
    done = CliRunner().invoke(command, [*words, "--once"])
    assert done.exit_code == 2
    assert "--web" in done.output or "no name of a host" in done.output
