"""The server: its routes, its beginning and its end."""

import asyncio
import contextlib
import functools
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec

from rigup.language import _
from rigup.llm.engines.here import Here
from rigup.llm.engines.running import RunningEngine
from rigup.llm.engines.wish import StartRequest
from rigup.llm.server import held, ollama_api, ollama_models
from rigup.llm.server.asking import broken_off, events, whole
from rigup.llm.server.connection import Asked, Connection, Rules
from rigup.llm.server.engine_limits import check_path, check_request
from rigup.llm.server.errors import Refused
from rigup.llm.server.metrics import Metrics
from rigup.llm.server.models import Models, Served
from rigup.llm.server.page import page, wanted_language
from rigup.llm.server.plain_tcp import Listener
from rigup.llm.server.relay import Relay, connect, connect_at_once, json_of, request_for, unreachable
from rigup.llm.server.usual import completed
from rigup.version import __version__

OF_MODELS = frozenset(
    "/v1/" + path for path in ("chat/completions", "completions", "responses", "embeddings", "messages", "messages/count_tokens", "rerank")
)
_HELD = (b"tool_choice", b"format")
_IN_PROGRESS = "rigup_llm_requests_in_progress"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How is served.

    Attributes:
        host, port: where; port 0 is any that is free.
        rules: what connections are held to.
        most: models that are loaded at once.
        idle: seconds until an idle one is ended; 0 for never.
        grace: seconds for answers that are on their way when the server ends.
        log_requests: a line for each request is said; never what stands in it.

    """

    host: str = "127.0.0.1"
    port: int = 0
    rules: Rules
    most: int = 1
    idle: float = 0.0
    grace: float = 30.0
    log_requests: bool = False


class Server:
    """A server of models.

    Args:
        wishes: the models.
        machine: as `here` saw it; None looks when one is loaded.
        plan: how.
        say: is called with sentences for who runs it.

    """

    def __init__(self, wishes: Sequence[StartRequest], machine: Here | None, plan: Plan, say: Callable[[str], None]) -> None:
        self.metrics = Metrics()
        self.models = Models(wishes, machine, self.metrics, most=plan.most, idle=plan.idle, say=say)
        self._plan, self._say = plan, say
        self._connections: set[Connection] = set()
        self._made = int(time.time())
        self._ending = False

    async def run(self, ready: Callable[[int], None], over: asyncio.Event | None = None) -> None:
        """Serve until a signal ends it, or `over` is set.

        Args:
            ready: is called with the port once clients may come.
            over: another way to end it.

        Raises:
            OSError: the address cannot be had.
            Refused: the one model that is served does not load.

        """
        loop, ended = asyncio.get_running_loop(), over or asyncio.Event()
        plan = self._plan

        def client() -> Connection:
            return Connection(plan.rules, self._connections, self._answer)

        door = Listener(await loop.create_server(client, plan.host, plan.port, start_serving=False), client)
        named = (getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP"))
        signals = [number for number in named if number is not None and signal.getsignal(number) is not signal.SIG_IGN]  # as `nohup` has it
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, or a thread: `over` ends it
            for number in signals:
                loop.add_signal_handler(number, ended.set)
        watch = loop.create_task(self.models.watch())
        try:
            if len(self.models.all) == 1 and not await self._first(ended):
                return
            await door.start()
            ready(door.port)
            await ended.wait()
        finally:
            door.close()
            await self._end(loop, signals)
            watch.cancel()
            await self.models.stop()

    async def _first(self, ended: asyncio.Event) -> bool:
        """Load the one model; False where the end comes before."""
        model = next(iter(self.models.all.values()))
        load = asyncio.ensure_future(self.models.engine(model))
        stopped = asyncio.ensure_future(ended.wait())
        await asyncio.wait((load, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not load.done():
            load.cancel()
            return False
        load.result()
        self.models.done(model)
        return True

    async def _end(self, loop: asyncio.AbstractEventLoop, signals: Sequence[int]) -> None:
        """Answers on their way may end; a second signal cuts them."""
        self._ending = True
        waiting: set[asyncio.Future[Any]] = {connection.gone for connection in self._connections if connection.busy}
        for connection in tuple(self._connections):
            if not connection.busy:
                connection.transport.abort()
        if waiting:
            template = _("{count} answers are on their way: waiting for at most {seconds:.0f} seconds.")
            self._say(template.format(count=len(waiting), seconds=self._plan.grace))
        again = asyncio.Event()
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            for number in signals:
                loop.add_signal_handler(number, again.set)
        cut, until = loop.create_task(again.wait()), loop.time() + self._plan.grace
        while waiting and not again.is_set() and (left := until - loop.time()) > 0:
            everything: set[asyncio.Future[Any]] = {*waiting, cut}
            done, _pending = await asyncio.wait(everything, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            waiting -= done
        cut.cancel()
        for connection in tuple(self._connections):
            connection.transport.abort()
        await asyncio.sleep(0)

    # -- requests ----------------------------------------------------------------------------------

    def _answer(self, client: Connection, asked: Asked) -> Coroutine[Any, Any, None] | None:
        """Answer a request: what is left to be done in a task, or None where it is refused or passed on by now."""
        model: Served | None = None
        try:
            if self._ending:
                raise Refused(503, "ending", "The server is ending.")
            if asked.path not in _POSTED:
                return self._counted(client, asked, None, self._own(client, asked))
            if asked.method != "POST":
                raise Refused(405, "method_not_allowed", "Send a POST.")
            body = json_of(asked.body)
            name = body.get("model")
            if asked.path in OF_OLLAMA:
                name = ollama_models.served_name(body, self.models.all, prefixed=asked.path == _SHOW)
            model = self.models.named(name)
            if asked.path in OF_MODELS and self._passes(client, asked, body, model):
                return None
        except Refused as error:
            client.refuse(error)
            self._count(client, asked, model)
            return None
        return self._counted(client, asked, model, self._by_path(client, asked, body, model))

    async def _counted(self, client: Connection, asked: Asked, model: Served | None, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Refused as error:
            client.refuse(error)
        finally:
            self._count(client, asked, model)

    def _count(self, client: Connection, asked: Asked, model: Served | None) -> None:
        """A request is answered, or its client has left."""
        path = asked.path if asked.path in _POSTED or asked.path in _OWN else _OF_ONE if asked.path.startswith(_OF_ONE) else "other"
        name = model.name if model else ""
        self.metrics.add("rigup_llm_requests_total", model=name, path=path, code=str(client.status or 499))
        if self._plan.log_requests:
            took = time.monotonic() - asked.began
            self._say(f"{asked.method[:10]} {path} {name} {client.status or 499} {took:.3f} s")

    def _passes(self, client: Connection, asked: Asked, body: dict[str, Any], model: Served) -> bool:
        """Pass a request on at once, where the engine runs and can have it as it came; whether it was. Raises Refused."""
        if any(word in asked.body for word in _HELD):
            return False
        engine = self.models.at_once(model)
        if engine is None:
            return False
        passed = False
        try:
            check_request(engine, asked.path, body)
            relay = Relay(
                client,
                request_for(engine, "POST", asked.path, _body_for(engine, asked, body, model)),
                functools.partial(self._passed, client, asked, model, engine),
            )
            passed = connect_at_once(engine, relay)
        finally:
            if not passed:
                self.models.done(model)
        if passed:
            self.metrics.add(_IN_PROGRESS, model=model.name)
        return passed

    def _passed(self, client: Connection, asked: Asked, model: Served, engine: RunningEngine, relay: Relay) -> None:
        """The engine has ended what was passed on."""
        self.metrics.add(_IN_PROGRESS, -1, model=model.name)
        self.models.done(model)
        self._measure(asked, model, relay)
        if relay.whole or client.transport.is_closing():
            self._count(client, asked, model)
            client.answered()
        else:
            client.goes_on(self._counted(client, asked, model, self._cut_off(client, engine, relay)))

    async def _by_path(self, client: Connection, asked: Asked, body: dict[str, Any], model: Served) -> None:
        """A request that names a model."""
        if asked.path in _ROOM_PATHS:
            await self._room(model, asked.path.endswith("/unload"))
            client.send(200, b'{"success":true}')
        elif asked.path == _SHOW:
            client.send(200, msgspec.json.encode(await asyncio.to_thread(ollama_models.shown, model)))
        elif ends := ollama_api.loads_or_ends(asked.path, body):
            await self._room(model, ends == "unload")
            client.send(200, ollama_api.settled(asked.path, body, ends))
        else:
            engine = await self.models.engine(model)
            self.metrics.add(_IN_PROGRESS, model=model.name)
            try:
                answer = self._as_ollama if asked.path in OF_OLLAMA else self._as_openai
                await answer(client, asked, body, engine, model)
            finally:
                self.metrics.add(_IN_PROGRESS, -1, model=model.name)
                self.models.done(model)

    async def _room(self, model: Served, ends: bool) -> None:
        """Load a model, or end its engine, as llama.cpp's own router is asked to."""
        if ends:
            await self.models.unload(model)
        else:
            await self.models.engine(model)
            self.models.done(model)

    async def _as_openai(self, client: Connection, asked: Asked, body: dict[str, Any], engine: RunningEngine, model: Served) -> None:
        check_request(engine, asked.path, body)
        wanted = held.held(asked.path, body, engine) if any(word in asked.body for word in _HELD) else None
        if wanted is not None:
            await held.answer(client, engine, completed(engine, model.wish.usual, asked.path, body), wanted)
        else:
            await self._relayed(client, asked, engine, model, _body_for(engine, asked, body, model))

    async def _as_ollama(self, client: Connection, asked: Asked, body: dict[str, Any], engine: RunningEngine, model: Served) -> None:
        if asked.path in (ollama_api.EMBED, ollama_api.EMBED_ONE):
            check_path(engine, "/v1/embeddings")
            await ollama_api.embed(client, asked.path, body, engine)
            return
        path, request = ollama_api.as_openai(asked.path, body)
        request = completed(engine, model.wish.usual, path, request)
        wanted = held.held(path, request, engine)
        request["model"] = engine.theirs or engine.model
        source = held.chunks(engine, request, wanted) if wanted else events(engine, path, msgspec.json.encode(request))
        await ollama_api.answer(client, asked.path, body, source)

    async def _relayed(self, client: Connection, asked: Asked, engine: RunningEngine, model: Served, body: bytes) -> None:
        """The engine's own answer; what cut it off is told."""
        over = asyncio.Event()
        relay = Relay(client, request_for(engine, "POST", asked.path, body), lambda _relay: over.set())
        await connect(engine, relay)
        try:
            await over.wait()
        finally:
            relay.cut()
            self._measure(asked, model, relay)
        if not relay.whole:
            await self._cut_off(client, engine, relay)

    def _measure(self, asked: Asked, model: Served, relay: Relay) -> None:
        self.metrics.add("rigup_llm_response_bytes_total", relay.sent, model=model.name)
        if relay.status:
            self.metrics.first_byte(model.name, relay.began - asked.began)

    async def _cut_off(self, client: Connection, engine: RunningEngine, relay: Relay) -> None:
        """Tell a client why its answer ends, where that can still be. Raises Refused where it has not begun."""
        if relay.unreached is not None:
            raise unreachable(relay.unreached)
        error = Refused(502, "engine_failed", await broken_off(engine))
        if not client.status:
            raise error
        if not relay.tell(error):
            client.transport.abort()

    async def _own(self, client: Connection, asked: Asked) -> None:
        _is_here(asked.path)
        if asked.method == "HEAD" and asked.path == "/":  # how ollama's own program asks whether anybody is there
            client.send(200, b"", "text/html; charset=utf-8")
        elif asked.method != "GET":
            raise Refused(405, "method_not_allowed", "Send a GET.")
        elif asked.path == "/":
            text, heads = page(wanted_language(asked.languages))
            client.send(200, text, "text/html; charset=utf-8", heads)
        elif asked.path in ("/v1/models", "/models"):
            client.send(200, msgspec.json.encode({"object": "list", "data": [self._row(model) for model in self.models.all.values()]}))
        elif asked.path.startswith(_OF_ONE):
            model = self.models.named(unquote(asked.path.removeprefix(_OF_ONE)))
            client.send(200, msgspec.json.encode(self._row(model)))
        elif asked.path == "/api/version":
            client.send(200, msgspec.json.encode({"version": __version__}))
        elif asked.path in ("/api/tags", "/api/ps"):
            listed = await asyncio.to_thread(self._listed_as_ollama, asked.path == "/api/ps")
            client.send(200, msgspec.json.encode({"models": listed}))
        elif asked.path == "/metrics":
            client.send(200, (await self._metrics()).encode(), "text/plain; version=0.0.4; charset=utf-8")
        else:
            client.send(200, b'{"status":"ok"}')

    def _row(self, model: Served) -> dict[str, Any]:
        """A model; `status` stands as llama.cpp's own router has it."""
        status: dict[str, Any] = {"value": "loading" if model.loading else "loaded" if model.loaded else "unloaded"}
        fields = {
            "id": model.name,
            "object": "model",
            "created": self._made,
            "owned_by": "rigup",
            "loaded": model.loaded,
            "status": {**status, "failed": True} if model.fault else status,
        }
        settings = model.engine.settings if model.engine is not None and model.loaded else None
        more = {"max_model_len": settings.request.context // settings.request.parallel} if settings else {}
        return {**fields, **more}

    def _listed_as_ollama(self, loaded: bool) -> list[dict[str, Any]]:
        models = self.models.all.values()
        if loaded:
            return [ollama_models.running(model, self._plan.idle) for model in models if model.loaded]
        return [ollama_models.listed(model) for model in models]

    async def _metrics(self) -> str:
        texts = []
        for model in self.models.all.values():
            if model.loaded and model.engine is not None and model.engine.pid:
                with contextlib.suppress(Refused):
                    texts.append((model.name, (await whole(model.engine, "GET", "/metrics")).decode("utf-8", "replace")))
        return self.metrics.text(texts)


_SHOW = "/api/show"
OF_OLLAMA = frozenset((ollama_api.CHAT, ollama_api.GENERATE, ollama_api.EMBED, ollama_api.EMBED_ONE, _SHOW))
_ROOM_PATHS = frozenset(("/models/load", "/models/unload"))
_POSTED = OF_MODELS | OF_OLLAMA | _ROOM_PATHS
_OF_ONE = "/v1/models/"
_OWN = frozenset(("/", "/health", "/v1/health", "/v1/models", "/models", "/metrics", "/api/version", "/api/tags", "/api/ps"))


def _body_for(engine: RunningEngine, asked: Asked, request: dict[str, Any], model: Served) -> bytes:
    """The request as it came; with what was set for all, and an engine that rigup did not start knows the model by a name of its own."""
    whole, theirs = completed(engine, model.wish.usual, asked.path, request), engine.theirs
    if whole is request and theirs in ("", request.get("model")):
        return asked.body
    return msgspec.json.encode({**whole, "model": theirs} if theirs else whole)


def _is_here(path: str) -> None:
    """Refuse a path that nobody answers. Raises Refused."""
    if path in _OWN or path.startswith(_OF_ONE):
        return
    if path.startswith("/api/"):
        text = "Models are fetched and removed by `rigup pull` and `rigup models`, not by clients."
        raise Refused(501, "unsupported", text)
    raise Refused(404, "not_found", f"There is no {path[:200]} here.")
