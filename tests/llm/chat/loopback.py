"""A server on loopback that answers as a test wants it: whole, in pieces, with errors, or breaking off."""

import contextlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def delta(text, **more):
    """One event with a piece of text."""
    return {"choices": [{"index": 0, "delta": {"content": text, **more}, "finish_reason": None}]}


def finished(reason="stop", prompt=11, completion=3):
    """The events with which an answer ends."""
    return [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": {"cached_tokens": 2}}},
    ]


class Break(Exception):
    """Here the connection is torn."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.about.connections.append(self.connection)

    def log_message(self, *_words):
        pass

    def do_GET(self):
        if self.about.key and self.headers.get("Authorization") != "Bearer " + self.about.key:
            self._object(401, {"error": {"message": "wrong key " + str(self.headers.get("Authorization"))}})
        elif self.path.endswith("/models"):
            self._object(200, self.about.models)
        elif self.path == "/props":
            self._object(200 if self.about.props else 404, self.about.props)
        else:
            self._object(404, {"error": {"message": "no such path"}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.about.asked.append((self.path, dict(self.headers), body))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._answer(self.about.answer(body))

    def _object(self, status, told):
        raw = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _answer(self, events):
        if isinstance(events, tuple):
            self._object(*events)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for event in events:
                raw = event if isinstance(event, bytes) else b"data: " + json.dumps(event).encode() + b"\n\n"
                self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except Break:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_words):
        pass


class Server:
    """What it is asked is in `asked`; `answer(body)` yields events, bytes, a status with an object, or raises Break."""

    def __init__(self, answer=None, models=("tiny",), owner="llamacpp", props=None, key=""):
        self.asked, self.key, self.connections = [], key, []
        self.answer = answer or (lambda _body: [delta("Hello "), delta("there."), *finished()])
        self.models = {"data": [{"id": name, "owned_by": owner} for name in models]}
        self.props = props if props is not None else {"default_generation_settings": {"n_ctx": 512}, "modalities": {"vision": False}}
        self.go_on = threading.Event()
        handler = type("Bound", (_Handler,), {"about": self})
        self._made = _Quiet(("127.0.0.1", 0), handler)
        self.api = f"http://127.0.0.1:{self._made.server_address[1]}"
        self._thread = threading.Thread(target=self._made.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self):
        """Stop listening, and let nobody wait."""
        for one in self.connections:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self.go_on.set()
        self._made.shutdown()
        self._made.server_close()
        self._thread.join(5)


@contextlib.contextmanager
def served(**how):
    """A server for the time of a block."""
    server = Server(**how)
    try:
        yield server
    finally:
        server.close()
