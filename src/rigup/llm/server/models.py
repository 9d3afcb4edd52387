"""The models that are served: loaded when one is asked for, ended when it is idle or another needs its room."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Sequence

from rigup.fit.errors import FitError
from rigup.language import _
from rigup.llm.engines.errors import EngineError
from rigup.llm.engines.here import Here
from rigup.llm.engines.running import RunningEngine, start
from rigup.llm.engines.wish import StartRequest
from rigup.llm.server.errors import Refused
from rigup.llm.server.metrics import Metrics
from rigup.llm.server.usual import not_taken

_LOOK = 0.5
_REMEMBERED = 10.0  # seconds for which a load that failed is not tried again
_ROOM = 120.0
Say = Callable[[str], None]


class Served:
    """A model, with its engine while one runs."""

    def __init__(self, wish: StartRequest) -> None:
        self.name, self.wish = wish.called, wish
        self.engine: RunningEngine | None = None
        self.active, self.last_used = 0, time.monotonic()
        self.lock = asyncio.Lock()
        self.loading: asyncio.Task[None] | None = None
        self.fault: tuple[float, str] | None = None

    @property
    def loaded(self) -> bool:
        """Whether its engine runs."""
        return self.engine is not None and self.engine.running


class Models:
    """All that are served.

    Args:
        wishes: one for each.
        machine: as `here` saw it.
        metrics: where loads are counted.
        most: how many are loaded at once.
        idle: seconds after which one that nobody asks for is ended; 0 for never.
        say: is called with sentences for who runs the server.

    """

    def __init__(self, wishes: Sequence[StartRequest], machine: Here | None, metrics: Metrics, *, most: int, idle: float, say: Say) -> None:
        self.all = {served.name: served for served in map(Served, wishes)}
        self._machine, self._metrics, self._most, self._idle, self._say = machine, metrics, most, idle, say
        self._freed = asyncio.Event()  # set and cleared again where an answer is whole: who waits for room looks then
        self._loads = asyncio.Lock()  # one after another, or two would share out the same room
        self._over = threading.Event()

    def named(self, name: object) -> Served:
        """The one that a request names; where one alone is served it need not. Raises Refused."""
        if name in (None, "") and len(self.all) == 1:
            return next(iter(self.all.values()))
        if isinstance(name, str) and name in self.all:
            return self.all[name]
        template = "There is no model {model} here. There are: {models}."
        asked = name[:100] if isinstance(name, str) else ""
        raise Refused(404, "model_not_found", template.format(model=asked, models=", ".join(self.all)))

    async def engine(self, served: Served) -> RunningEngine:
        """Its engine, started where none runs; `done` must follow. Raises Refused.

        A load goes on where the one who asked for it leaves: others may wait for it too.
        """
        served.active += 1
        try:
            while served.engine is None or not served.engine.running:
                if served.loading is None:
                    served.loading = asyncio.create_task(self._ready(served))
                    served.loading.add_done_callback(lambda task: task.cancelled() or task.exception())
                await asyncio.shield(served.loading)
            return served.engine
        except BaseException:
            self.done(served)
            raise

    def at_once(self, served: Served) -> RunningEngine | None:
        """Its engine where one runs, None else; `done` must follow where it does."""
        engine = served.engine
        if engine is None or not engine.running:
            return None
        served.active += 1
        return engine

    async def _ready(self, served: Served) -> None:
        try:
            async with served.lock:
                if served.engine is not None and not served.engine.running:
                    await self._ended(served)
                if served.engine is None:
                    async with self._loads:
                        await self._load(served)
        finally:
            served.loading = None

    def done(self, served: Served) -> None:
        """A request is answered."""
        served.active -= 1
        served.last_used = time.monotonic()
        self._freed.set()
        self._freed.clear()

    async def _load(self, served: Served) -> None:
        if served.fault and time.monotonic() - served.fault[0] < _REMEMBERED:
            raise Refused(503, "model_not_loaded", served.fault[1])
        await self._make_room(served)
        begun = time.monotonic()
        self._say(_("Loading {model} …").format(model=served.name))
        try:
            served.engine = await asyncio.to_thread(start, served.wish, self._machine, self._say, self._over)
        except (EngineError, FitError) as error:
            served.fault = (time.monotonic(), str(error))
            self._metrics.add("rigup_llm_loads_total", model=served.name, outcome="failed")
            if len(self.all) > 1:  # of a single one whoever starts the server says it, and ends
                self._say(_("{model} could not be loaded. {why}").format(model=served.name, why=error))
            raise Refused(503, "model_not_loaded", str(error)) from error
        served.fault = None
        self._metrics.add("rigup_llm_loads_total", model=served.name, outcome="loaded")
        self._metrics.put("rigup_llm_model_loaded", 1, model=served.name)
        if served.engine.gpu.used is not None:
            self._metrics.put("rigup_llm_gpu_used", int(served.engine.gpu.used), model=served.name)
        template = _("{model} is loaded after {seconds:.1f} seconds.")
        self._say(template.format(model=served.name, seconds=time.monotonic() - begun))
        for note in served.engine.notes:
            self._say(note)
        for name in not_taken(served.engine, served.wish.usual):
            self._say(_("This endpoint does not take {name}; it is not sent.").format(name=name))

    async def _make_room(self, wanted: Served) -> None:
        """End the one that was asked for longest ago; one that answers is waited for."""
        until = time.monotonic() + _ROOM
        while True:
            loaded = [served for served in self.all.values() if served.loaded and served is not wanted]
            if len(loaded) < self._most:
                return
            free = [served for served in loaded if not served.active and not served.lock.locked()]
            if free:
                await self._unload(min(free, key=lambda served: served.last_used))
                continue
            await self._changed(until, "All models that are loaded are busy: try again later.")

    async def _unload(self, served: Served) -> None:
        engine, served.engine = served.engine, None
        self._metrics.put("rigup_llm_model_loaded", 0, model=served.name)
        if engine is not None:
            await asyncio.to_thread(engine.stop)
            self._say(_("{model} is unloaded.").format(model=served.name))

    async def unload(self, wanted: Served) -> None:
        """End its engine once the answers are whole that are on their way; the next request loads it again. Raises Refused."""
        until = time.monotonic() + _ROOM
        while wanted.engine is not None or wanted.loading is not None:
            if wanted.engine is not None and not wanted.active and not wanted.lock.locked():
                await self._unload(wanted)
                return
            await self._changed(until, f"{wanted.name} still answers: it stays loaded.")

    async def _changed(self, until: float, refusal: str) -> None:
        """Wait until an answer is whole, or a moment has passed. Raises Refused, with these words, after `until`."""
        if time.monotonic() > until:
            raise Refused(503, "busy", refusal)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._freed.wait(), _LOOK)

    async def _ended(self, served: Served) -> None:
        """Its engine ended unasked: why is told, and the next request starts another."""
        engine, served.engine = served.engine, None
        self._metrics.put("rigup_llm_model_loaded", 0, model=served.name)
        if engine is not None:
            await asyncio.to_thread(engine.stop)
            self._metrics.add("rigup_llm_engine_exits_total", model=served.name)
            self._say(_("The engine of {model} has ended. {why}").format(model=served.name, why=engine.ended_because()))

    async def watch(self) -> None:
        """Notice engines that ended, and end those that are idle; until it is cancelled."""
        while True:
            await asyncio.sleep(_LOOK)
            for served in self.all.values():
                if served.engine is None or served.lock.locked():
                    continue
                if not served.engine.running:
                    async with served.lock:
                        await self._ended(served)
                elif self._idle and not served.active and time.monotonic() - served.last_used > self._idle:
                    async with served.lock:
                        if not served.active:
                            await self._unload(served)

    async def stop(self) -> None:
        """End all engines, those that are loading too."""
        self._over.set()
        await asyncio.gather(*(served.loading for served in self.all.values() if served.loading), return_exceptions=True)
        running = [served.engine for served in self.all.values() if served.engine is not None]
        await asyncio.gather(*(asyncio.to_thread(engine.stop) for engine in running))
