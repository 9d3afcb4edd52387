"""The chat page of `rigup serve`: what it says to whom, and what a real browser makes of it."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from servers import KEY, Running, get, raw

from chromium import PROGRAM, Page
from rigup.language import SUPPORTED
from rigup.llm.engines.wish import StartRequest
from rigup.llm.server.page import page, wanted_language

HOSTILE = (
    "</div></script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">\n\n"
    "[here](javascript:document.title='taken') and [there](https://example.org/a) and <b>bold</b>\n"
)
MARKDOWN = """\
# A head

Some **bold**, *slanted* and `code <b>` text.

- one
  1. inner
- two

| a | b |
|---|---|
| 1 | <i>2</i> |

```python
print("<script>")
```

> said
"""


@pytest.fixture
def endpoint():
    """An endpoint that says what the test has put into `pieces`; the last is held back until `go_on` is set."""

    class Handler(BaseHTTPRequestHandler):
        asked, pieces, go_on, gone = [], ["Hello"], threading.Event(), threading.Event()

        def log_message(self, *_words):
            pass

        def do_GET(self):
            self.send_response(200)
            self.end_headers()

        def do_POST(self):
            self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            events = [{"choices": [{"delta": {"content": piece}}]} for piece in self.pieces]
            try:
                for at, event in enumerate(events):
                    while at and at == len(events) - 1 and not self.go_on.wait(0.05):
                        self.wfile.write(b": waiting\n\n")
                    self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
                self.wfile.write(b'data: {"choices":[],"usage":{"completion_tokens":7}}\n\ndata: [DONE]\n\n')
            except OSError:
                self.gone.set()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    Handler.wish = StartRequest(model="m", name="a <model>", api=f"http://127.0.0.1:{server.server_port}/v1")
    yield Handler
    Handler.go_on.set()
    server.shutdown()
    server.server_close()


def answer_of(request):
    def found(server, *more):
        asked = get("/", "")[:-2] + "".join(f"{one}\r\n" for one in more).encode() + b"\r\n"
        head, _, body = raw(server.port, asked).partition(b"\r\n\r\n")
        return head.decode().lower(), body.decode()

    return found(request)


def test_the_page_wants_no_key_holds_none_and_fetches_nothing_from_elsewhere(endpoint):
    with Running([endpoint.wish]) as server:
        head, body = answer_of(server)
        assert raw(server.port, b"POST / HTTP/1.1\r\nHost: x\r\n\r\n").startswith(b"HTTP/1.1 405")
    assert head.startswith("http/1.1 200")
    assert "default-src 'none'; connect-src 'self';" in head
    assert "unsafe" not in head
    assert KEY not in body
    assert not re.search(r"""\s(?:src|style|on\w+)=["']|<link|@import|url\(|innerHTML|localStorage|https?://[a-z]""", body)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("ru-RU,ru;q=0.9,en;q=0.8", "ru"),
        ("zh-TW", "zh_TW"),
        ("zh-Hant-HK,zh;q=0.9", "zh_TW"),
        ("zh-CN,zh;q=0.9", "zh_CN"),
        ("en-GB,ru;q=0.5", "en"),
        ("fr,ru;q=0.5", "ru"),
        ("fr", "en"),
        ("", "en"),
        (",;=,", "en"),
        ("x" * 9000, "en"),
    ],
)
def test_the_page_speaks_the_language_that_the_browser_asks_for(accepted, language):
    assert wanted_language(accepted) == language
    assert f'<html lang="{language.replace("_", "-")}">' in page(language)[0].decode()


def test_every_language_has_words_of_its_own():
    words = [re.findall(r'data-words="([^"]*)"', page(code)[0].decode())[0] for code in SUPPORTED]
    assert len(set(words)) == len(SUPPORTED)
    assert "Отправить" in words[SUPPORTED.index("ru")]


def test_without_a_key_no_page_of_another_site_may_ask(endpoint):
    with Running([endpoint.wish], key="", rules={"only_local": True}) as server:
        for origin, status in (
            ("https://evil.example", 403),
            ("null", 403),
            (f"http://127.0.0.1:{server.port}", 200),
            ("http://[::1]:3000", 200),
        ):
            asked = f"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\n\r\n".encode()
            assert int(raw(server.port, asked).split()[1]) == status, origin


needs_browser = pytest.mark.skipif(not PROGRAM, reason="no Chromium is installed")


@pytest.mark.browser
@needs_browser
def test_what_a_model_says_is_shown_as_text_whatever_it_is(endpoint, tmp_path: Path):
    endpoint.pieces = [*HOSTILE, "\n", MARKDOWN]
    endpoint.go_on.set()
    with Running([endpoint.wish]) as server, Page(tmp_path) as browser:
        browser.open(f"http://127.0.0.1:{server.port}/#key={KEY}")
        browser.wait("document.body.dataset.ready")
        assert KEY not in browser.evaluate("location.href + document.documentElement.outerHTML")
        assert browser.evaluate("localStorage.length + sessionStorage.length + document.cookie.length") == 0
        browser.click("#tune")
        browser.type("#system", "Be <brief>.")
        browser.type("#temperature", "0.5")
        browser.type("#text", "Say <it>")
        browser.press_enter()
        browser.wait("document.querySelector('.assistant footer button')?.innerText")
        shown = browser.evaluate("document.querySelector('.assistant').innerText")
        nodes = browser.evaluate("[...new Set([...document.querySelectorAll('#log *')].map((one) => one.tagName))].sort().join(' ')")
        links = browser.evaluate("[...document.querySelectorAll('#log a')].map((one) => one.href).join(' ')")
        code = browser.evaluate("document.querySelector('#log pre').innerText")
        title = browser.evaluate("document.title")
        assert browser.errors == []
    assert "</div></script><script>document.title='taken'</script><img src=x" in shown
    assert "[here](javascript:document.title='taken')" in shown
    assert "<b>bold</b>" in shown
    assert code == 'print("<script>")'
    assert links == "https://example.org/a"
    assert title == "rigup"
    assert nodes == "A ARTICLE BLOCKQUOTE BUTTON CODE DETAILS DIV EM FOOTER H2 LI OL P PRE STRONG SUMMARY TABLE TD TH TR UL"
    (asked,) = endpoint.asked
    assert asked["messages"] == [{"role": "system", "content": "Be <brief>."}, {"role": "user", "content": "Say <it>"}]
    assert (asked["temperature"], asked["stream"]) == (0.5, True)


@pytest.mark.browser
@needs_browser
def test_stop_ends_the_answer_at_the_engine_too_and_the_talk_goes_on(endpoint, tmp_path: Path):
    endpoint.pieces = ["first ", "never"]
    with Running([endpoint.wish]) as server, Page(tmp_path, width=390, dark=True, language="ru") as browser:
        browser.open(f"http://127.0.0.1:{server.port}/")
        browser.wait("!document.querySelector('#enter').hidden")
        browser.type("#key", "a-wrong-key-of-the-tests")
        browser.press_enter()
        browser.wait("document.querySelector('.fault')?.innerText")
        browser.type("#key", KEY)
        browser.press_enter()
        browser.wait("document.body.dataset.ready")
        assert browser.evaluate("document.querySelector('#go').textContent") == "Отправить"
        assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
        browser.type("#text", "Hello")
        browser.press_enter()
        browser.wait("document.querySelector('.assistant')?.innerText.includes('first')")  # it streams
        browser.click("#go")
        assert endpoint.gone.wait(30)
        browser.wait("document.querySelector('.assistant footer button')?.innerText")
        assert browser.evaluate("document.documentElement.scrollWidth") <= 390
        assert browser.evaluate("document.querySelector('#go').offsetHeight") < 50  # its word stands in one line
        endpoint.go_on.set()
        browser.type("#text", "Again")
        browser.press_enter()
        browser.wait("[...document.querySelectorAll('.assistant')].at(-1).innerText.includes('first never')")
        endpoint.go_on.clear()
        browser.type("#text", "Once more")
        browser.press_enter()
        browser.wait(
            "[...document.querySelectorAll('.assistant')].length === 3 && document.querySelector('.assistant:last-child').innerText.includes('first')"
        )
        browser.click("#fresh")
        browser.wait("!document.querySelector('#log').children.length")
        endpoint.go_on.set()
        browser.type("#text", "Anew")
        browser.press_enter()
        browser.wait("document.querySelector('.assistant footer button')?.innerText")
    told = [[one["content"] for one in body["messages"]] for body in endpoint.asked]
    assert told[1] == ["Hello", "first ", "Again"]
    assert told[-1] == ["Anew"]


@pytest.mark.browser
@needs_browser
def test_why_an_answer_fails_is_told_on_the_page(endpoint, tmp_path: Path):
    gone = StartRequest(model="none.gguf", name="gone", on="cpu")
    with Running([gone, endpoint.wish]) as server, Page(tmp_path) as browser:
        browser.open(f"http://127.0.0.1:{server.port}/#key={KEY}")
        browser.wait("document.body.dataset.ready")
        assert browser.evaluate("[...document.querySelector('#model').options].map((one) => one.value).join()") == "gone,a <model>"
        browser.type("#text", "Hello")
        browser.press_enter()
        assert "none.gguf" in browser.wait("document.querySelector('.fault')?.innerText")
        assert browser.wait("document.querySelector('#text').value") == "Hello"
        browser.evaluate("document.querySelector('#model').value = 'a <model>'")
        browser.press_enter()
        browser.wait("document.querySelector('.assistant footer button')?.innerText")
    assert endpoint.asked[0]["messages"] == [{"role": "user", "content": "Hello"}]
