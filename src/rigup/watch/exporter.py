"""The exporter: `/metrics` for Prometheus, `/-/ready` and `/-/healthy`, 503 before the first sample and after the last is old."""

import hmac
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from rigup.schemas.watch import Watch
from rigup.watch.exposition import CONTENT_TYPE, Exposition
from rigup.watch.rounds import again_and_again

_OLD = 5.0  # seconds beside three intervals after which a sample is no answer
_SLOW_CLIENT = 10.0  # seconds
_MOST_CLIENTS = 16


class Page(NamedTuple):
    """The text of the last sample, and when it was made on a clock that only grows."""

    text: bytes
    at: float


class Exporter:
    """Samples in a thread of its own; what is asked for is the last one, so that a scrape costs no reading."""

    def __init__(self, sample: Callable[[], Watch], interval: float, per_process: bool = False, dcgm_host: str | None = None) -> None:
        self.interval, self._sample = interval, sample
        self._exposition = Exposition(per_process, dcgm_host)
        self._page: Page | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True, name="rigup-exporter")
        self.trouble = "no sample yet"

    def start(self) -> None:
        """Begin to sample."""
        self._thread.start()

    def stop(self) -> None:
        """End after the sample that is being made."""
        self._stop.set()
        self._thread.join(timeout=_SLOW_CLIENT)

    def take(self) -> None:
        """One sample; one that fails leaves the one before, which grows old."""
        try:
            text = self._exposition.text(self._sample())
        except Exception as error:  # the next one may succeed
            self.trouble = f"{type(error).__name__}: {error}"
            return
        self._page = Page(text.encode(), time.monotonic())

    def _work(self) -> None:
        again_and_again(self.take, self.interval, self._stop)

    def page(self) -> tuple[int, bytes]:
        """The status of HTTP and what is said."""
        page = self._page
        if page is None:
            return 503, (self.trouble + "\n").encode()
        age = time.monotonic() - page.at
        if age > 3 * self.interval + _OLD:
            return 503, f"the last sample is {age:.0f} s old\n".encode()
        return 200, page.text


class Server(ThreadingHTTPServer):
    """Answers for an exporter. Raises OSError where the address is taken.

    Args:
        exporter: what is served.
        address: to listen on.
        port: 0 takes a free one.
        token: that a client must show as `Authorization: Bearer`; "" for none.

    """

    daemon_threads = True

    def __init__(self, exporter: Exporter, address: str, port: int, token: str = "") -> None:
        self.exporter, self.token = exporter, token.encode()
        self._clients = threading.BoundedSemaphore(_MOST_CLIENTS)
        if ":" in address:
            self.address_family = socket.AF_INET6
        super().__init__((address, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for each client, a few at a time; the next one is sent away."""
        if self._clients.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One client, to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._clients.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went needs no word."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _SLOW_CLIENT
    server_version, sys_version = "rigup", ""
    server: Server

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        shown = self.headers.get("Authorization", "").encode("utf-8", "replace")
        if self.server.token and not hmac.compare_digest(shown, b"Bearer " + self.server.token):
            self._answer(401, b"a token is needed\n")
        elif path == "/metrics":
            self._answer(*self.server.exporter.page(), CONTENT_TYPE)
        elif path == "/-/ready":
            status, content = self.server.exporter.page()
            self._answer(status, b"ok\n" if status == 200 else content)
        elif path in ("/", "/-/healthy"):
            self._answer(200, b"rigup watch: see /metrics\n")
        else:
            self._answer(404, b"there is /metrics, /-/ready and /-/healthy\n")

    def _answer(self, status: int, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as the library calls it
        """Scrapes are not written down."""
