"""An engine is started, waited for, looked at, and ended: `start(StartRequest(model=…))` gives a `RunningEngine`."""

import contextlib
import http.client
import os
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from rigup.held_process import CHILD, Child
from rigup.language import _
from rigup.llm.engines.choosing import Engine, chosen
from rigup.llm.engines.errors import EngineError
from rigup.llm.engines.failure import why
from rigup.llm.engines.gpu_use import GpuUse, because, gpu_use, witnessed
from rigup.llm.engines.here import Here, here, memories
from rigup.llm.engines.settings import Settings, changes_for, llama_words, prompt_cache, settings_of, vllm_words
from rigup.llm.engines.wish import ENDPOINT, LLAMA_SERVER, OLLAMA, VLLM, XLLAMACPP, StartRequest

_PAUSE = 0.02
_MOST_PAUSE = 0.5
_TRIES = 4
_ASKED = 2.0
_NO_DRAFT = re.compile(r"failed to initialize speculative decoding context: (?P<why>[^\n]{1,200})")
_DRAFT_FAILED = "failed to load draft model"
Notify = Callable[[str], None]


class RunningEngine:
    """An engine that answers.

    Attributes:
        base_url: of OpenAI's interface, with /v1.
        key: what it wants as bearer; "" for none.
        engine: one of `ENGINES`, or "endpoint".
        model: how it calls the model.
        why: why this engine, in a sentence.
        gpu: whether a GPU is used; `gpu.text` says where it is not as it should be.
        theirs: how an engine that rigup did not start calls the model; "" for one that it did.
        settings: what `fit` said; None for an engine that has its own.
        embeds: texts can be embedded.
        notes: sentences for the person: a GPU that is not used and why, variables that were set.

    """

    def __init__(self, found: Engine, wish: StartRequest, base_url: str, key: str) -> None:
        self.base_url, self.key, self.engine, self.model, self.why = base_url, key, found.name, wish.called, found.why
        self.gpu, self.settings, self.notes = GpuUse(used=None), None, list[str]()
        self.embeds = wish.embeddings
        self.theirs = wish.model if found.name in (OLLAMA, ENDPOINT) else ""
        self._child: Child | None = None

    settings: Settings | None

    @property
    def pid(self) -> int:
        """Of the process that rigup started; 0 where it started none."""
        return self._child.pid if self._child else 0

    @property
    def log(self) -> str:
        """What the engine said; no prompt stands in it."""
        return self._child.log.text() if self._child else ""

    @property
    def running(self) -> bool:
        """Whether it has not ended; of one that rigup did not start, nobody knows better."""
        return self._child is None or self._child.status is None

    def ended_because(self, seconds: float = 0.0) -> str:
        """Why an engine ended that was running, as sentences; "" where it still runs after so long.

        Its connections close before the process is gone.
        """
        status = self._child.wait(seconds) if self._child else None
        if self.running:
            return ""
        return why(self.log, status, self.model, []).text

    def stop(self, seconds: float = 15.0) -> None:
        """End it and free its port; what rigup did not start goes on."""
        if self._child is not None:
            self._child.stop(seconds)

    def __enter__(self) -> "RunningEngine":
        return self

    def __exit__(self, *_of_error: object) -> None:
        self.stop()


def start(
    wish: StartRequest, machine: Here | None = None, notify: Notify = lambda _text: None, over: threading.Event | None = None
) -> RunningEngine:
    """Start the engine that fits best, and come back when it answers.

    Args:
        wish: what is to be run.
        machine: what `here` saw; None looks now.
        notify: is called with sentences on the way.
        over: once it is set, no engine is wanted any more.

    Raises:
        EngineError: there is none, or it did not start; the text says why and what to do.
        FitError: the model's file cannot be read.

    """
    if wish.api:
        return _endpoint(wish, chosen(wish, os.environ))
    machine = machine or here(wish.on)
    found = chosen(wish, machine.environ)
    notify(f"{found.name}: {found.why}")
    if found.name == OLLAMA:
        return RunningEngine(found, wish, found.address, "")
    return _started(found, wish, machine, over or threading.Event())


def _endpoint(wish: StartRequest, found: Engine) -> RunningEngine:
    """One that runs already: its key comes from a variable, and is kept nowhere."""
    engine = RunningEngine(found, wish, found.address, os.environ.get(wish.key_variable, ""))
    try:
        status = _status(found.address + "/models", engine.key)
    except OSError as error:
        text = _("Nothing answers at {address}: {why}.").format(address=found.address, why=error.strerror or error)
        raise EngineError(text) from error
    if status in (401, 403):
        raise EngineError(
            _("{address} wants another key: put it into the variable {name}.").format(address=found.address, name=wish.key_variable)
        )
    return engine


def _started(found: Engine, wish: StartRequest, machine: Here, over: threading.Event) -> RunningEngine:
    """A child; another port is tried where somebody was quicker."""
    settings = settings_of(wish, machine.pools) if found.name != VLLM else None
    for number in range(_TRIES):
        try:
            return _start_attempt(found, wish, machine, settings, over)
        except EngineError as error:
            if error.kind != "port-taken" or number == _TRIES - 1:
                raise
    raise AssertionError


def _start_attempt(found: Engine, wish: StartRequest, machine: Here, settings: Settings | None, over: threading.Event) -> RunningEngine:
    port, key = _free_port(), secrets.token_urlsafe(32)
    words, environ = _words(found, wish, machine, settings, port), dict(machine.environ)
    environ["LLAMA_API_KEY" if settings else "VLLM_API_KEY"] = key
    if settings is not None:  # a release that does not know the variable passes it by
        environ.setdefault("LLAMA_ARG_CACHE_RAM", str(prompt_cache(machine.pools)))
    before = memories(machine)
    try:
        child = Child(words, environ)
    except OSError as error:
        text = _("{program} cannot be started: {why}.").format(program=words[0], why=error.strerror)
        raise EngineError(text) from error
    engine = RunningEngine(found, wish, f"http://127.0.0.1:{port}/v1", key)
    engine._child, engine.settings = child, settings
    try:
        _wait(engine, wish, child, over)
    except BaseException:
        child.stop()
        raise
    child.log.settle()
    if settings is not None:
        engine.gpu = gpu_use(engine.log, machine.pools, settings.request.gpu_layers)
    if before:
        engine.gpu = witnessed(engine.gpu, before, memories(machine), settings.on_devices if settings else 0)
    notes = (engine.gpu.text, because(engine.log, engine.gpu), _undrafted(engine.log), _overlong(settings))
    engine.notes = [note for note in notes if note]
    return engine


def _overlong(settings: Settings | None) -> str:
    """Whether more context was asked for than the model was made for."""
    each = settings.request.context // settings.request.parallel if settings else 0
    if settings is None or not 0 < settings.trained < each:
        return ""
    template = _("The model was made for {trained} tokens of context, and has {context} here: it answers worse beyond those.")
    return template.format(trained=settings.trained, context=each)


def _undrafted(log: str) -> str:
    """Why a draft model is not used; the engine says it to its log alone, and goes on without."""
    found = _NO_DRAFT.search(log)
    return _("The draft model is not used: {why}.").format(why=found["why"].strip()) if found else ""


def _words(found: Engine, wish: StartRequest, machine: Here, settings: Settings | None, port: int) -> list[str]:
    import sys

    if settings is None:
        return [sys.executable, "-I", str(CHILD), "watch", *found.program, *vllm_words(wish, machine.pools, port)]
    words = llama_words(wish, settings, port)
    if found.name == LLAMA_SERVER:
        return [sys.executable, "-I", str(CHILD), "watch", *found.program, *words]
    assert found.name in (XLLAMACPP, ENDPOINT)  # noqa: S101
    return [*found.program, str(CHILD), "serve", *words]


def _free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port: int = door.getsockname()[1]
        return port


def _wait(engine: RunningEngine, wish: StartRequest, child: Child, over: threading.Event) -> None:
    """Until it answers. Raises EngineError where it ends before, or takes too long."""
    address = engine.base_url.removesuffix("/v1") + "/health"
    until, pause = time.monotonic() + wish.patience, _PAUSE
    while time.monotonic() < until:
        if child.status is not None:
            child.stop()
            raise _failed(engine, wish, child)
        with contextlib.suppress(OSError, http.client.HTTPException):
            if _status(address, engine.key) == 200:
                if child.status is None:
                    return
                continue
        if over.wait(pause):
            raise EngineError(_("It was called off."), "called-off")
        pause = min(pause * 1.2, _MOST_PAUSE)
    text = _("The engine did not answer within {seconds:.0f} seconds. It said last: {said}")
    last = " / ".join(engine.log.splitlines()[-3:])
    raise EngineError(text.format(seconds=wish.patience, said=last), "too-slow", engine.log)


def _failed(engine: RunningEngine, wish: StartRequest, child: Child) -> EngineError:
    log, settings = engine.log, engine.settings
    model = wish.draft if wish.draft and _DRAFT_FAILED in log else wish.model
    found = why(log, child.status, model)
    if found.kind in ("out-of-memory", "killed") and settings is not None:
        found = why(log, child.status, model, changes_for(wish, settings))
    return EngineError(found.text, found.kind, log)


def _status(address: str, key: str) -> int:
    """The status of an answer. Raises OSError."""
    parts = urlsplit(address)
    kind: Any = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    asked = kind(parts.hostname, parts.port, timeout=_ASKED)
    try:
        asked.request("GET", parts.path, headers={"Authorization": f"Bearer {key}"} if key else {})
        status: int = asked.getresponse().status
        return status
    finally:
        asked.close()
