"""An endpoint of OpenAI's form, wherever it is: what it is and has, and an answer of it."""

import ipaddress
import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from rigup.language import _
from rigup.llm.addresses import AddressError, endpoint_address
from rigup.llm.chat.parameters import Kind, request_of
from rigup.llm.chat.stream import End, EndpointError, Piece, as_object, of_event, pieces, refusal

if TYPE_CHECKING:
    import httpx

_CONNECT = 5.0  # seconds
_LOOK = 3.0
_MOST_ABOUT = 2_000_000  # bytes of what an endpoint says of itself
_MOST_MODELS = 500
_LEAST_KEY = 8  # a shorter one is a word that servers without keys are given
_OWNERS: dict[str, Kind] = {"llamacpp": "llama", "rigup": "llama", "vllm": "vllm", "library": "ollama"}
_JSON = {"Content-Type": "application/json"}
_TOO_LONG = ("exceed_context_size_error", "context_length_exceeded")


class About(msgspec.Struct, kw_only=True):
    """What an endpoint says of itself.

    Attributes:
        kind: whose names its parameters have; openai where it does not tell.
        models: that it lists.
        context: tokens of context; None where it does not tell.
        sees: whether it takes images; None where it does not tell.

    """

    kind: Kind = "openai"
    models: list[str] = []
    context: int | None = None
    sees: bool | None = None


class Answered(NamedTuple):
    """An answer's measure: seconds to the first piece (None without any) and in all, tokens as counted, and its end."""

    first: float | None
    seconds: float
    speed: float | None
    end: End


def is_own(base: str) -> bool:
    """Whether an address is this machine itself."""
    name = urlsplit(base).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


class Endpoint:
    """A place that answers. The key is sent to it alone, and stands in no text."""

    def __init__(self, api: str, key: str = "", patience: float = 600.0, kind: Kind | None = None) -> None:
        try:
            self.base = endpoint_address(api)
        except AddressError as error:
            raise EndpointError(error.kind, str(error)) from error
        self._key, self._kind = key, kind
        self.called = ""  # its name for the model, where only one is meant
        self.holds_schemas = True  # llama.cpp does not on vocabularies of SentencePiece's kind, and takes a grammar there
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise EndpointError("key", _("The key holds characters that no key holds."))
        self._patience = patience
        self._made: httpx.Client | None = None
        self.about = About(kind=kind or "openai")
        self.measure = Answered(None, 0.0, None, End())

    @property
    def unprotected(self) -> bool:
        """Whether the key goes over a network without encryption."""
        return bool(self._key) and self.base.startswith("http:") and not is_own(self.base)

    def _client(self) -> "httpx.Client":
        import httpx

        if self._made is None:
            headers = {"Accept-Encoding": "identity", "User-Agent": "rigup"}
            headers |= {"Authorization": "Bearer " + self._key} if self._key else {}
            limits = httpx.Timeout(_CONNECT, read=self._patience, write=60.0)
            self._made = httpx.Client(headers=headers, timeout=limits, follow_redirects=False, trust_env=not is_own(self.base))
        return self._made

    def close(self) -> None:
        """Let its connections go."""
        if self._made is not None:
            self._made.close()

    def secretless(self, text: str) -> str:
        """A text without the key, whoever repeats it."""
        return text.replace(self._key, "…") if len(self._key) >= _LEAST_KEY else text

    # -- what it is --------------------------------------------------------------------------------------

    def look(self) -> About:
        """Ask what it is. Raises EndpointError where nobody answers, or the key is not taken."""
        listing, served_by = self._get(self.base + "/models")
        listed = listing.get("data") if isinstance(listing.get("data"), list) else []
        rows = [row for row in listed[:_MOST_MODELS] if isinstance(row, dict) and isinstance(row.get("id"), str)]  # type: ignore[index]
        kinds = [_OWNERS.get(str(row.get("owned_by")).lower()) for row in rows]
        known: Kind = next((kind for kind in kinds if kind is not None), "openai")
        kind: Kind = self._kind or ("llama" if "llama" in served_by.lower() else known)
        lengths = [row.get("max_model_len") for row in rows]
        same = bool(lengths) and all(isinstance(length, int) and length == lengths[0] for length in lengths)
        found = About(kind=kind, models=[row["id"][:300] for row in rows], context=lengths[0] if same else None)
        self.about = self._of_llama(found) if kind == "llama" else found
        return self.about

    def _of_llama(self, found: About) -> About:
        """llama-server tells its context and whether it sees; one behind a proxy may not."""
        try:
            properties, _server = self._get(self.base.removesuffix("/v1") + "/props")
        except EndpointError:
            return found
        settings, senses = properties.get("default_generation_settings"), properties.get("modalities")
        context = settings.get("n_ctx") if isinstance(settings, dict) else None
        return msgspec.structs.replace(
            found,
            context=context if isinstance(context, int) and context > 0 else found.context,
            sees=bool(senses.get("vision")) if isinstance(senses, dict) else None,
        )

    def _get(self, url: str) -> tuple[dict[str, Any], str]:
        """A small JSON object, and who serves it."""
        import httpx

        try:
            with self._client().stream("GET", url, timeout=httpx.Timeout(_CONNECT, read=_LOOK)) as answer:
                body = self._body(answer)
                if answer.status_code != httpx.codes.OK:
                    raise self._refused(answer.status_code, body)
                server = answer.headers.get("server", "")
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise self._unreachable(error) from error
        document = as_object(body)
        return document, server

    def _body(self, answer: "httpx.Response") -> bytes:
        body = b""
        for chunk in answer.iter_bytes():
            body += chunk
            if len(body) > _MOST_ABOUT:
                raise EndpointError("nonsense", _("The endpoint says more than it was asked; nothing was made of it."))
        return body

    # -- answers -----------------------------------------------------------------------------------------

    def answer(self, model: str, messages: list[dict[str, Any]], settings: Mapping[str, Any]) -> Iterator[Piece]:
        """The pieces of an answer as they come; `measure` tells afterwards how long it took.

        Raises:
            EndpointError: there is none, or it breaks off; pieces that came before it are the caller's.

        """
        import httpx

        wishes = self._wishes(settings)
        body = {**wishes, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
        body |= {"model": model} if model else {}
        sent = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")  # what is no text is sent as a question mark
        began, first, last, count = time.monotonic(), None, 0.0, 0
        end = End()
        try:
            with self._client().stream("POST", self.base + "/chat/completions", content=sent, headers=_JSON) as answer:
                for piece in self._pieces(answer, end):
                    last = time.monotonic()
                    first = last if first is None else first
                    count += 1
                    yield piece
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise (self._gone(error) if first is not None else self._unreachable(error)) from error
        except EndpointError as error:
            raise EndpointError(error.kind, self.secretless(str(error))) from error
        finally:
            tokens = end.usage.completion or count
            timed = last - first if first is not None else 0.0
            counted = (tokens - 1) / timed if tokens > 1 and timed > 0 else None
            speed = counted if end.speed is None else end.speed
            self.measure = Answered(first and first - began, time.monotonic() - began, speed, end)

    def _wishes(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """What is set, as it is sent. Raises EndpointError for a schema that no grammar can say."""
        wishes, _left = request_of(settings, self.about.kind)
        if self.holds_schemas or (schema := settings.get("json-schema")) is None:
            return wishes
        from rigup.llm.server.errors import Refused
        from rigup.llm.server.gbnf import gbnf

        wishes.pop("response_format", None)
        try:
            return {**wishes, "grammar": gbnf(schema)}
        except Refused as error:
            raise EndpointError("refused", str(error)) from error

    def _pieces(self, answer: "httpx.Response", end: End) -> Iterator[Piece]:
        """Events, or a whole answer at once where the server does not stream."""
        import httpx

        if answer.status_code != httpx.codes.OK:
            raise self._refused(answer.status_code, self._body(answer))
        if "json" not in answer.headers.get("content-type", ""):
            yield from pieces(answer.iter_bytes(), end)
            return
        event = as_object(self._body(answer))
        if (error := event.get("error")) is not None:
            raise EndpointError("refused", refusal(error))
        yield from of_event(event, end)

    # -- what went wrong ---------------------------------------------------------------------------------

    def _refused(self, status: int, body: bytes) -> EndpointError:
        """A status that is no answer, in words."""
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            document = {}
        error = (document.get("error") or document.get("detail") or document.get("message")) if isinstance(document, dict) else None
        message = self.secretless(refusal(error))
        kinds = {401: "key", 403: "key", 404: "not-found", 400: "refused", 413: "too-long"}
        kind = kinds.get(status, "refused")
        if isinstance(error, dict) and {str(error.get("type")), str(error.get("code"))} & set(_TOO_LONG):
            kind = "too-long"
        advice = {
            "key": _("The endpoint wants a key, or another one: name with --key-env the variable in which it stands."),
            "not-found": _("There is no such model or address at {api}.").format(api=self.base),
            "too-long": _("What was said is longer than the context: begin anew, or start the model with a longer one."),
        }.get(kind, "")
        plain = _("HTTP status {status}.").format(status=status) if error is None else message
        return EndpointError(kind, " ".join(filter(None, (plain, advice))))

    def _unreachable(self, error: Exception) -> EndpointError:
        import httpx

        if isinstance(error, httpx.TimeoutException):
            template = _("{api} did not answer in time. Is it still loading the model?")
        elif isinstance(error, httpx.ConnectError):
            template = _("Nobody answers at {api}: is the server started, and is this its address?")
        else:
            template = _("{api} broke off before it answered: {error}")
        reason = self.secretless(" ".join(str(error).split())[:200]) or type(error).__name__
        return EndpointError("unreachable", template.format(api=self.base, error=reason))

    def _gone(self, error: Exception) -> EndpointError:
        import httpx

        if isinstance(error, httpx.TimeoutException):
            return EndpointError("gone", _("The server has said nothing more for a long time; the answer is not whole."))
        return EndpointError("gone", _("The server is gone in the middle of its answer. Its own log tells why."))
