"""The page of `rigup watch --web`: who gets it, what it says to whom, and what a real browser makes of it."""

import base64
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from watch_samples import gpu, process, sample

from chromium import PROGRAM
from chromium import Page as Browser
from rigup.cli.watch_web import page_words
from rigup.watch.exposition import Exposition
from rigup.watch.nodes import Node
from rigup.watch.web.app import Page

TOKEN = "a-token-of-twenty-four-letters"
HOSTILE = "<img src=x onerror=\"document.title='taken'\">\x1b[2J"
FINDING = {
    "cause": "throttled",
    "severity": "warning",
    "title": "GPU 0 is slowed down",
    "subject": "GPU 0",
    "place": "",
    "confidence": "certain",
    "guess": False,
    "because": "It is hot.",
    "make_sure": "",
    "in_vain": "",
    "mends": "Clean the fans.",
    "explains": [],
    "fixes": [],
    "evidence": [],
}


class Served:
    """The page on a free port, over nodes whose samples the test gives."""

    def __init__(self, *samples, recorded=()) -> None:
        import uvicorn

        self.samples = list(samples)
        self.nodes = [Node(f"node {at}", lambda at=at: self._sample(at), 1.0, judges=False) for at in range(len(samples))]
        self.page = Page([*recorded, *self.nodes], TOKEN, page_words(), "en")
        config = uvicorn.Config(self.page.app, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
        self.server = uvicorn.Server(config)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)

    def _sample(self, at):
        if isinstance(self.samples[at], Exception):
            raise self.samples[at]
        return self.samples[at]

    def take(self) -> None:
        for node in self.nodes:
            node.take()

    def get(self, path="/", token=TOKEN):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", headers={"Authorization": f"Bearer {token}"} if token else {}
        )
        return urllib.request.urlopen(request, timeout=30)

    def __enter__(self):
        self.take()
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        return self

    def __exit__(self, *_) -> None:
        self.page.closing = self.server.should_exit = True
        self.thread.join(30)
        self.socket.close()


@pytest.mark.parametrize("path", ["/", "/history", "/events", "/moment?node=0&at=0", "/?token=wrong"])
@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], "ключ"])
def test_nobody_gets_anything_without_the_token(path, token) -> None:
    with Served(sample(processes=[process()])) as served:
        request = urllib.request.Request(f"http://127.0.0.1:{served.port}{path}")
        if token:
            request.add_header("Authorization", "Bearer " + token.encode().decode("latin-1"))
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=30)
        assert refused.value.code == 401
        assert b"train" not in refused.value.read()
        refused.value.close()


def test_the_page_fetches_nothing_from_elsewhere_and_its_token_leaves_the_address() -> None:
    with Served(sample()) as served:
        with served.get() as answer:
            body, policy = answer.read().decode(), answer.headers["Content-Security-Policy"]
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["Cache-Control"] == "no-store"
        assert policy.startswith("default-src 'none'; connect-src 'self';")
        assert "unsafe" not in policy
        assert TOKEN not in body
        assert not re.search(r"""\s(?:src|style|on\w+)=["']|<link|@import|url\(|innerHTML|localStorage|https?://""", body)
        opener = urllib.request.build_opener(type("Stay", (urllib.request.HTTPRedirectHandler,), {"redirect_request": lambda *_: None}))
        with pytest.raises(urllib.error.HTTPError) as moved:
            opener.open(f"http://127.0.0.1:{served.port}/?token={TOKEN}", timeout=30)
        assert (moved.value.code, moved.value.headers["Location"]) == (303, "/")
        cookie = moved.value.headers["Set-Cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        moved.value.close()


def test_secrets_in_the_words_of_a_command_are_left_out() -> None:
    served = Served(sample(processes=[process(command="python a.py --token hf_abcdefghijklmnopqrstuvwxyzABCDEFGH")]))
    with served, served.get("/history") as answer:
        assert b"hf_abcdefghijkl" not in answer.read()


def test_events_bring_each_sample_and_why_there_is_none() -> None:
    with Served(sample(), sample(gpus=[gpu(7)])) as served, served.get("/events") as events:
        first = events.readline() + events.readline() + events.readline()
        assert b'"node": 0' in first
        assert b'"index": 7' in first
        served.samples[1] = OSError("it is gone")
        events.readline()
        served.take()
        rest = b"".join(events.readline() for _line in range(4))
        assert b"it is gone" in rest


@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="no Chromium")
@pytest.mark.parametrize("width", [390, 1200])
def test_a_browser_shows_it_live_at_two_widths(tmp_path, width) -> None:
    cards = [
        gpu(0, name=HOSTILE, throttle=["temperature"]),
        gpu(1, name="Second", state="lost", because="fell off"),
        gpu(2, memory={"vram": {"total": 2**30, "used": 2**29}, "gtt": {"total": 3 * 2**30, "used": 2**29}}, integrated=True),
        gpu(3, utilisation={}, power={}),
    ]
    parts = {"gpus": cards, "processes": [process(2**31, command=HOSTILE)], "findings": [FINDING]}
    with Served(sample(**parts), sample()) as served, Browser(tmp_path, width=width, dark=width < 600) as browser:
        for second in range(40):
            served.samples[0] = sample(1000.0 + second, **parts)
            served.take()
        served.samples[1] = OSError("it does not answer")
        served.take()
        browser.open(f"http://127.0.0.1:{served.port}/?token={TOKEN}")
        browser.wait("document.querySelectorAll('.card').length === 5 && document.querySelector('.trouble') !== null")
        assert browser.evaluate("location.search") == ""
        text = browser.evaluate("document.body.innerText")
        assert "<img src=x" in text
        assert browser.evaluate("document.title") == "rigup watch"
        for words in (
            "50%",
            "1.0/8 GiB",
            "1.0/4 GiB",
            "51 °C",
            "Slowed by temperature",
            "lost: fell off",
            "it does not answer",
            "GPU 0 is slowed down",
        ):
            assert words in text, words
        assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        colour = "const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 0; i < p.length; i += 4) if (p[i + 3] > 99 && p[i + 2] > p[i] + 60) n++; return n;"
        browser.wait(f"(() => {{ const c = document.querySelector('canvas'); {colour} }})() > 20")  # the line, in blue
        if folder := os.environ.get("RIGUP_PHOTOGRAPHS"):  # to look at
            picture = browser.do("Page.captureScreenshot", format="png")["data"]
            Path(folder, f"watch-{width}.png").write_bytes(base64.b64decode(picture))
        served.samples[0] = sample(2000.0, **parts | {"gpus": [gpu(0, utilisation={"gpu": 0.93})]})
        served.take()
        browser.wait("document.body.innerText.includes('93%')")
        browser.evaluate("document.querySelector('summary').click()")
        browser.wait("document.body.innerText.includes('Clean the fans')")
        assert browser.errors == []


@pytest.fixture
def exporter():
    """What a test puts into `text`, served as an exporter does."""

    class Handler(BaseHTTPRequestHandler):
        text, status, asked = "", 200, []

        def log_message(self, *_words) -> None:
            pass

        def do_GET(self) -> None:
            self.asked.append((self.path, self.headers.get("Authorization")))
            self.send_response(self.status)
            if self.status == 302:
                self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(self.text.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    Handler.address = f"127.0.0.1:{server.server_port}"
    yield Handler
    server.shutdown()
    server.server_close()


@pytest.mark.long
def test_the_command_serves_prints_its_address_and_ends_by_ctrl_c(exporter, tmp_path) -> None:
    exporter.text = Exposition().text(sample())
    words = [sys.executable, "-m", "rigup", "watch", "--web", "--listen", "127.0.0.1:0", "--node", exporter.address, "--anonymous"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1) as command:
        try:
            line = command.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)[0]
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with contextlib.closing(opener.open(address, timeout=30)) as answer:
                assert b"rigup watch" in answer.read()
            until = time.monotonic() + 30
            while (
                exporter.address.encode() not in (history := opener.open(address.partition("?")[0] + "history", timeout=30).read())
                or b"Card" not in history
            ):
                assert time.monotonic() < until, history
                time.sleep(0.05)
        finally:
            command.send_signal(signal.SIGINT)
        assert command.wait(30) == 0
        assert command.stderr.read() == ""


@pytest.mark.long
@pytest.mark.parametrize("module", ["uvicorn", "starlette.applications"])
def test_without_its_extra_one_sentence_says_what_brings_it(module) -> None:
    script = f"import sys; sys.modules[{module!r}] = None\nfrom rigup.cli import run\nsys.exit(run(['watch', '--web']))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: The page needs Starlette and uvicorn: pip install 'rigup[web]'.\n"


def test_nodes_by_their_exporters_in_a_table(exporter, capsys) -> None:
    from rigup.cli.watch_web import cluster

    exporter.text = Exposition().text(sample(gpus=[gpu(0, throttle=["power"]), gpu(1, state="asleep")]))
    assert cluster((exporter.address, "127.0.0.1:1"), None, 1.0, 1, as_json=False) == 1
    output = capsys.readouterr().out
    assert re.search(rf"{exporter.address} +0 +Card +50% +1\.0/8 GiB +50 °C +100 W", output)
    assert "asleep" in output
    assert "2 GPUs on 1 nodes; mean use 50%, power 100 W" in output
    assert "127.0.0.1:1 does not answer" in output


@pytest.mark.parametrize(
    ("status", "text", "why"),
    [(401, "", "HTTP 401"), (302, "", "HTTP 302"), (503, "", "HTTP 503"), (200, "hello", "no GPU"), (200, "x" * (9 * 2**20), "8 MiB")],
)
def test_what_is_no_exporter_is_told_and_nobody_is_followed(exporter, capsys, tmp_path, status, text, why) -> None:
    from rigup.cli.watch_web import cluster

    exporter.status, exporter.text = status, text
    exporter.asked.clear()
    key = tmp_path / "key"
    key.write_text("0123456789abcdef")
    assert cluster((exporter.address,), str(key), 1.0, 1, as_json=False) == 1
    assert why in capsys.readouterr().out
    assert exporter.asked == [("/metrics", "Bearer 0123456789abcdef")]
