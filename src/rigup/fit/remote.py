"""A file that lies elsewhere, from its beginning: only the ranges that are asked for come, never the whole."""

import http.client
import re
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

from rigup.fit.errors import FitError, HeaderError
from rigup.fit.source import Buffer, cut_off
from rigup.language import _

_FIRST, _MOST_BITE = 64 << 10, 2 << 20
_MOST_REDIRECTS = 5
_SECONDS = 20.0
_TRIES = 3
_MOST_REPLY = 16 << 20
_TOTAL = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})", re.ASCII)
_CUT = (http.client.HTTPException, OSError)


class Unreachable(FitError):
    """Nothing came: there is no network, or the host does not answer."""


class Reply:
    """An answer with the connection that it came by."""

    def __init__(self, link: http.client.HTTPConnection) -> None:
        self._link, self._answer = link, link.getresponse()
        self.status, self.headers = self._answer.status, self._answer.headers

    def read(self, most: int) -> bytes:
        """What comes next. Raises OSError or HTTPException where nothing does."""
        return self._answer.read(most)

    def close(self) -> None:
        """Nothing more is wanted."""
        self._answer.close()
        self._link.close()


class Web:
    """Requests to hosts; a token goes to its own host alone, and to none that it redirects to.

    Args:
        token: what to show to `home`; "" is none.
        home: scheme, host and port that the token is for ("https://hub.example").
        cache: the folder where headers are kept; None keeps none.

    """

    def __init__(self, token: str = "", home: str = "", cache: Path | None = None) -> None:
        self.cache = cache
        self._token, self._home = token, _origin(home)
        self.received = 0
        """Bytes of bodies that came."""

    def get(self, url: str, headers: dict[str, str] | None = None) -> tuple[Reply, str]:
        """The answer, after redirects, and the address that gave it.

        Raises:
            Unreachable: no host answers.
            FitError: one refuses, or there is no such thing.

        """
        for _number in range(_MOST_REDIRECTS):
            answer = self._once(url, headers or {})
            if answer.status not in (301, 302, 303, 307, 308):
                _check(answer, url)
                return answer, url
            location = answer.headers.get("Location") or url
            answer.close()
            try:
                url = urljoin(url, location)
            except ValueError as error:
                raise FitError(_("{url} is no address of the web.").format(url=location[:200])) from error
        raise FitError(_("{url} leads from one address to the next without an end.").format(url=_without_secrets(url)))

    def _once(self, url: str, headers: dict[str, str]) -> Reply:
        parts = _split_url(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise FitError(_("{url} is no address of the web.").format(url=_without_secrets(url)))
        sent = {"Host": parts.netloc.rpartition("@")[2], "User-Agent": "rigup", "Accept-Encoding": "identity", **headers}
        if self._token and _origin(url) == self._home:
            sent["Authorization"] = f"Bearer {self._token}"
        link = None
        try:
            proxy = _proxy(parts.scheme, parts.hostname)
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            link = _through(proxy, parts) if proxy else _link(parts.scheme, parts.hostname, _port(parts))
            if proxy and parts.scheme == "http":
                target, sent = f"http://{sent['Host']}{target}", {**sent, **_asking(proxy)}
            link.request("GET", target, headers=sent)
            return Reply(link)
        except (*_CUT, ValueError) as error:
            if link is not None:
                link.close()
            template = _("{host} does not answer: {why}.")
            raise Unreachable(template.format(host=parts.hostname, why=str(error) or type(error).__name__)) from error

    def json(self, url: str, headers: dict[str, str] | None = None) -> Any:
        """A small answer as data. Raises FitError where it is none."""
        import json

        answer, final = self.get(url, headers)
        try:
            body = answer.read(_MOST_REPLY + 1)
            self.received += len(body)
            if len(body) <= _MOST_REPLY:
                return json.loads(body)
        except (*_CUT, ValueError, RecursionError):
            pass
        finally:
            answer.close()
        raise FitError(_("{url} answers with something else than data.").format(url=_without_secrets(final)))


def _split_url(url: str) -> SplitResult:
    """An address in its parts. Raises FitError for one that is none."""
    try:
        return urlsplit(url)
    except ValueError as error:
        raise FitError(_("{url} is no address of the web.").format(url=url[:200])) from error


def _link(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=_SECONDS, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=_SECONDS)


def _proxy(scheme: str, host: str) -> SplitResult | None:
    """The proxy that the account's variables or the system name for a host; None without one."""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    named = proxies.get(scheme) or proxies.get("all") or ""
    if not named or proxy_bypass(host):
        return None
    return _split_url(named if "://" in named else f"http://{named}")


def _asking(proxy: SplitResult) -> dict[str, str]:
    """Who asks a proxy."""
    from base64 import b64encode
    from urllib.parse import unquote

    if proxy.username is None:
        return {}
    credentials = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": "Basic " + b64encode(credentials.encode()).decode()}


def _through(proxy: SplitResult, parts: SplitResult) -> http.client.HTTPConnection:
    """A connection to a proxy, and through it to a host that speaks in secret."""
    link = _link(parts.scheme, proxy.hostname or "", _port(proxy))
    if parts.scheme == "https":
        link.set_tunnel(parts.hostname or "", _port(parts) or 443, headers=_asking(proxy))
    return link


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        return None


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = _split_url(url)
    return parts.scheme, parts.hostname or "", _port(parts)


def _without_secrets(url: str) -> str:
    """An address without what may be secret in it."""
    parts = _split_url(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"[:200]


def _check(answer: Reply, url: str) -> None:
    """Raise FitError for an answer that brings nothing."""
    if answer.status in (200, 206):
        return
    answer.close()
    if answer.status in (401, 403):
        template = _("{url} is not for everybody: accept its terms on its page, and set HF_TOKEN to a token of yours.")
    elif answer.status in (404, 410):
        template = _("There is nothing at {url}: look at how it is spelt.")
    elif answer.status == 416:
        template = _("{url} is empty, or its host does not give parts of it.")
    else:
        template = _("{url} answers with the status {status}; try again later.")
    raise FitError(template.format(url=_without_secrets(url), status=answer.status))


class Remote:
    """A file behind an address, whose header comes in growing bites."""

    enough = 4 << 20

    def __init__(self, url: str, web: Web) -> None:
        self.name = _split_url(url).path.rpartition("/")[2] or url
        self._held = bytearray()
        self.buffer: Buffer = self._held
        self.size = 0
        self.mark = ""
        """What the host calls this state of the file (its etag); "" where it tells none."""
        self._web, self._url = web, url
        self._bite = _FIRST
        self._stream: Reply | None = None
        self.need(4)

    def need(self, end: int) -> None:
        """Have bytes up to `end`. Raises HeaderError where the file is shorter, FitError where they do not come."""
        tries = _TRIES
        while end > len(self._held):
            if self.size and end > self.size:
                raise cut_off(self.name, self.size)
            before = len(self._held)
            self._stream_on(end) if self._stream else self._ask(end)
            tries = _TRIES if len(self._held) > before else tries - 1
            if not tries:
                template = _("{name} broke off after {count} bytes; try again.")
                raise HeaderError(template.format(name=self.name, count=len(self._held)))

    def step_to(self, end: int) -> None:
        """Go on at `end`: nobody looks at what lies before it, and it does not come."""
        if not self._stream and end > len(self._held):
            self._held += bytes(end - len(self._held))
            self._bite = _FIRST

    def peek(self, at: int, count: int) -> bytes:
        """Some bytes from anywhere; what has come already does not come again."""
        count = min(count, self.size - at) if self.size else count
        if self._stream or at + count <= len(self._held):
            self.need(at + count)
            return bytes(self._held[at : at + count])
        answer, self._url = self._web.get(self._url, {"Range": f"bytes={at}-{at + count - 1}"})
        data = bytearray()
        while answer.status == 206 and len(data) < count:
            try:
                part = answer.read(count - len(data))
            except _CUT:
                part = b""
            if not part:
                break
            data += part
        answer.close()
        self._web.received += len(data)
        return bytes(data)

    def _ask(self, end: int) -> None:
        start = len(self._held)
        last = max(end, start + self._bite) - 1
        self._bite = min(2 * self._bite, _MOST_BITE)
        answer, self._url = self._web.get(self._url, {"Range": f"bytes={start}-{last}"})
        match = _TOTAL.fullmatch(answer.headers.get("Content-Range") or "")
        if answer.status == 206 and match and int(match[1]) == start:
            self.size = int(match[3])
            self.mark = (answer.headers.get("ETag") or "")[:200]
            self._take(answer, last + 1 - start)
            answer.close()
            return
        if start:
            answer.close()
            raise FitError(_("{url} gave one part of the file and then no other.").format(url=_without_secrets(self._url)))
        length = answer.headers.get("Content-Length") or ""
        self.size = int(length) if length.isdecimal() else 0
        self._stream = answer
        self._stream_on(end)

    def _stream_on(self, end: int) -> None:
        """A host without ranges sends from the beginning: what is needed is read, and no more."""
        if self._stream is not None:
            before = len(self._held)
            self._take(self._stream, end - before)
            if len(self._held) == before:
                raise cut_off(self.name, before)

    def _take(self, answer: Reply, most: int) -> None:
        left = most
        while left > 0:
            try:
                part = answer.read(min(left, _FIRST))
            except http.client.IncompleteRead as error:
                part = error.partial[:left]
                left = len(part)
            except _CUT:
                return
            if not part:
                return
            self._held += part
            self._web.received += len(part)
            left -= len(part)

    def close(self) -> None:
        """End what is still coming."""
        if self._stream is not None:
            self._stream.close()
