"""A hub of models on loopback, with a content network on another port: what huggingface_hub asks for, and ways to go wrong."""

import contextlib
import hashlib
import http.server
import json
import re
import threading
from urllib.parse import unquote, urlsplit

import model_stores as stores

COMMIT = "1234567890abcdef1234567890abcdef12345678"
LARGE = 10_000  # bytes from which on a file lies in large storage, behind a redirect


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_what):
        return

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):  # noqa: PLR0911
        hub = self.server.hub
        path = unquote(urlsplit(self.path).path)
        hub.seen.append((self.command, path, dict(self.headers), self.server.server_port))
        if self.server is hub.content:
            return self._bytes(hub.by_digest[path.rpartition("/")[2]])
        if path.startswith("/api/models/"):
            return self._told(path.removeprefix("/api/models/"))
        if path.startswith("/v2/"):
            return self._registry(path)
        match = re.fullmatch(r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)", path)
        if not match or match["repo"] not in hub.repos:
            return self._error(404, "RepoNotFound")
        if hub.gated and self.headers.get("Authorization") != f"Bearer {hub.gated}":
            return self._error(401, "GatedRepo")
        content = hub.repos[match["repo"]].get(match["file"])
        if content is None:
            return self._error(404, "EntryNotFound")
        return self._resolved(content)

    def _error(self, status, code):
        self._reply(status, b"", {"X-Error-Code": code, "X-Error-Message": code})

    def _reply(self, status, body, headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _told(self, rest):
        hub = self.server.hub
        repo = "/".join(rest.split("/")[:2])
        if hub.api:
            return self._reply(*hub.api)
        if repo not in hub.repos:
            return self._error(404, "RepoNotFound")
        if hub.gated and self.headers.get("Authorization") != f"Bearer {hub.gated}":
            return self._error(401, "GatedRepo")
        siblings = [_sibling(name, content, hub) for name, content in hub.repos[repo].items()]
        body = {"id": repo, "sha": COMMIT, "siblings": siblings, "private": False, "tags": [], "downloads": 1}
        return self._reply(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

    def _registry(self, path):
        hub = self.server.hub
        if "/manifests/" in path:
            told = hub.manifests.get(path)
            return self._reply(200, json.dumps(told).encode()) if told else self._error(404, "")
        return self._bytes(hub.by_digest[path.rpartition("sha256:")[2]])

    def _resolved(self, content):
        hub = self.server.hub
        digest = hub.told_digest(content)
        if len(content) < LARGE:
            return self._bytes(content, {"ETag": f'"{digest}"', "X-Repo-Commit": COMMIT})
        hub.by_digest[digest] = content
        headers = {
            "X-Repo-Commit": COMMIT,
            "X-Linked-Size": str(len(content)),
            "X-Linked-Etag": f'"{digest}"',
            "Location": hub.away or f"http://127.0.0.1:{hub.content.server_port}/{digest}",
        }
        return self._reply(302, b"", headers)

    def _bytes(self, content, headers=None):
        hub = self.server.hub
        if hub.busy and self.server is hub.content:
            hub.busy -= 1
            return self._reply(503, b"", {"Retry-After": "0"})
        told = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        start = int(told[1]) if told and hub.ranges else 0
        end = min(int(told[2]) + 1 if told and told[2] and hub.ranges else len(content), len(content))
        if start >= len(content) and content:
            return self._reply(416, b"")
        part = hub.given(content)[start:end]
        self.send_response(206 if told and hub.ranges else 200)
        if told and hub.ranges:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
        for name, value in {"Content-Length": str(len(part)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self._send(part, small=bool(told and told[2]) or len(content) < LARGE)
        return None

    def _send(self, part, small):
        """The bytes; of a whole file the hub may break off, or wait on the way."""
        hub = self.server.hub
        cut = None if small else hub.next_cut(len(part))
        try:
            for at in range(0, len(part) if cut is None else cut, 1 << 16):
                end = min(at + (1 << 16), len(part) if cut is None else cut)
                self.wfile.write(part[at:end])
                hub.sent += end - at
                if not small:
                    hub.on_way(hub.sent)
        except OSError:
            cut = 0
        self.close_connection = self.close_connection or cut is not None


def _sibling(name, content, hub):
    if len(content) < LARGE:
        return {"rfilename": name, "size": len(content), "blobId": hub.told_digest(content)}
    large = {"sha256": hub.told_digest(content), "size": len(content), "pointerSize": 134}
    return {"rfilename": name, "size": len(content), "blobId": "f" * 40, "lfs": large}


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Whoever was asked for bytes has gone: that is what the tests are about."""


class Hub:
    """Repositories by name, and how their files are given.

    Attributes:
        cuts: for each of the next answers with a large file, bytes after which the connection ends; None is a whole one.
        on_way: called with all bytes that were sent so far.
        given: what is sent in place of a content.
        api: status and body of what is told of every repository.
        away: where large files are said to lie, in place of the content network.
        busy: how many of the next answers tell to come again.
        gated: the token without which nobody is told anything.

    """

    def __init__(self):
        self.repos, self.manifests, self.by_digest, self.seen = {}, {}, {}, []
        self.cuts, self.gated, self.ranges, self.sent, self.busy = [], "", True, 0, 0
        self.given, self.on_way = lambda content: content, lambda _sent: None
        self.lied, self.api, self.away = {}, None, ""
        self.front, self.content = (_Server(("127.0.0.1", 0), _Handler) for _one in range(2))
        for one in (self.front, self.content):
            one.hub, one.daemon_threads = self, True
            threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.front.server_port}"

    def told_digest(self, content):
        if content in self.lied:
            return self.lied[content]
        return stores.git_blob(content) if len(content) < LARGE else hashlib.sha256(content).hexdigest()

    def next_cut(self, length):
        cut = self.cuts.pop(0) if self.cuts else None
        return None if cut is None else min(cut, length)

    def tag(self, name, model, **more):
        """A model of ollama's registry."""
        layers = []
        for kind, content in {"model": model, **more}.items():
            digest = hashlib.sha256(content).hexdigest()
            self.by_digest[digest] = content
            layers.append({"mediaType": f"application/vnd.ollama.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)})
        config = b"{}"
        self.by_digest[hashlib.sha256(config).hexdigest()] = config
        told = {"schemaVersion": 2, "layers": layers, "config": {"digest": f"sha256:{hashlib.sha256(config).hexdigest()}", "size": 2}}
        model_name, _colon, tag = name.partition(":")
        self.manifests[f"/v2/library/{model_name}/manifests/{tag}"] = told
        return told

    def close(self):
        for one in (self.front, self.content):
            one.shutdown()
            one.server_close()


@contextlib.contextmanager
def hub():
    made = Hub()
    try:
        yield made
    finally:
        made.close()
