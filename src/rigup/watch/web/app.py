"""The answers of the page's server. Whoever shows the token gets them; it becomes a cookie that no script can read."""

import asyncio
import hmac
import html
import json
import secrets
from collections.abc import AsyncIterator, Sequence
from importlib.resources import files
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from rigup.machine.outward import outward
from rigup.schemas.shared import Finding
from rigup.schemas.watch import Watch
from rigup.watch.nodes import Node, Replayed
from rigup.watch.recording import NoRecording
from rigup.watch.ways import first_way

SERIES = ("gpu", "memory", "power", "temperature")
_LOOK = 0.25  # seconds between two looks for news
_QUIET = 15.0  # seconds after which a line without news keeps the connection
_MOST_CLIENTS = 16
_MOST_PROCESSES = 200


class Page:
    """What is served.

    Args:
        nodes: the machines, in the order in which they are shown.
        token: that whoever asks must show.
        words: the words of the page by their keys.
        language: of these words.

    """

    def __init__(self, nodes: Sequence[Node], token: str, words: dict[str, str], language: str) -> None:
        self.nodes, self._token, self._words, self._language = nodes, token.encode(), words, language
        self._clients = 0
        self.closing = False
        self.app = Starlette(
            routes=[Route("/", self.page), Route("/history", self.history), Route("/events", self.events), Route("/moment", self.moment)]
        )

    def _is_allowed(self, request: Request) -> bool:
        shown = request.cookies.get(self._cookie(request), "") or request.headers.get("authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self._token)

    def _cookie(self, request: Request) -> str:
        """A name for each port: cookies know none."""
        return f"rigup-watch-{request.url.port or 80}"

    async def page(self, request: Request) -> Response:
        """The page; with the token in its address that is put away first."""
        shown = request.query_params.get("token", "")
        if shown and hmac.compare_digest(shown.encode("utf-8", "replace"), self._token):
            answer: Response = RedirectResponse("/", 303)
            answer.set_cookie(self._cookie(request), shown, httponly=True, samesite="strict")
            return _guarded(answer)
        if not self._is_allowed(request):
            return _refused()
        nonce = secrets.token_urlsafe(16)
        answer = HTMLResponse(self._page(nonce))
        answer.headers["Content-Security-Policy"] = (
            f"default-src 'none'; connect-src 'self'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return _guarded(answer)

    def _page(self, nonce: str) -> str:
        folder = files("rigup.watch.web")
        text = {name: (folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "page.js")}
        page = text["page.html"].replace("@NONCE@", nonce).replace("@LANGUAGE@", self._language)
        page = page.replace("@WORDS@", html.escape(json.dumps(self._words, ensure_ascii=False), quote=True))
        return page.replace("@STYLE@", text["page.css"]).replace("@SCRIPT@", text["page.js"])

    async def history(self, request: Request) -> Response:
        """Each machine with its values over time."""
        if not self._is_allowed(request):
            return _refused()
        return _guarded(JSONResponse([_of(node) | node.series(SERIES) for node in self.nodes]))

    def moment(self, request: Request) -> Response:
        """A recorded machine as it was at a point of its graphs. In a thread of its own: it reads a file."""
        if not self._is_allowed(request):
            return _refused()
        words = [request.query_params.get(name, "") for name in ("node", "at")]
        if not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
            return _guarded(PlainTextResponse("node and at are numbers\n", 400))
        at, point = map(int, words)
        node = self.nodes[at] if at < len(self.nodes) else None
        try:
            sample = node.moment(point) if isinstance(node, Replayed) else None
        except LookupError:
            sample = None
        except NoRecording as error:
            return _guarded(PlainTextResponse(f"{error}\n", 503))
        if node is None or sample is None:
            return _guarded(PlainTextResponse("there is no such moment\n", 404))
        return _guarded(JSONResponse(_shown(node, sample, "")))

    async def events(self, request: Request) -> Response:
        """Each new sample as an event (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
        if not self._is_allowed(request):
            return _refused()
        if self._clients >= _MOST_CLIENTS:
            return _guarded(PlainTextResponse("too many pages are open\n", 503))
        return _guarded(StreamingResponse(self._news(), media_type="text/event-stream"))

    async def _news(self) -> AsyncIterator[bytes]:
        self._clients += 1
        try:
            seen, quiet = [-1] * len(self.nodes), 0.0
            while not self.closing:
                quiet += _LOOK
                for at, node in enumerate(self.nodes):
                    if node.version != seen[at]:
                        seen[at], quiet = node.version, 0.0
                        yield b"data: " + json.dumps({"node": at} | _of(node), ensure_ascii=False).encode() + b"\n\n"
                if quiet >= _QUIET:
                    quiet = 0.0
                    yield b": still here\n\n"
                await asyncio.sleep(_LOOK)
        finally:
            self._clients -= 1


def _of(node: Node) -> dict[str, Any]:
    """A machine now, without what is private."""
    return _shown(node, *node.last())


def _shown(node: Node, sample: Watch | None, trouble: str) -> dict[str, Any]:
    plain = outward(msgspec.to_builtins(sample)) if sample is not None else None
    if isinstance(plain, dict):
        plain["processes"] = plain["processes"][:_MOST_PROCESSES]
        plain["findings"] = [_found(finding) for finding in sample.findings] if sample else []
        for gpu in plain["gpus"]:
            gpu.pop("source", None)
            gpu.pop("not_available", None)
    return {"name": node.name, "recorded": isinstance(node, Replayed), "trouble": trouble, "sample": plain}


def _found(finding: Finding) -> dict[str, Any]:
    """What the page shows of a finding: the way that needs least, and who tells more."""
    way, commands = first_way(finding)
    return {
        "cause": finding.cause,
        "severity": finding.severity,
        "title": finding.title,
        "because": finding.because,
        "way": way,
        "commands": [*commands, "rigup explain " + finding.cause],
    }


def _refused() -> Response:
    return _guarded(PlainTextResponse("Open the address that `rigup watch --web` printed: it holds a token.\n", 401))


def _guarded(answer: Response) -> Response:
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer
