"""The engine of a talk on this machine: started for it, changed within it, and ended with it."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.engine_options import start_request
from rigup.cli.progress import Waiting
from rigup.language import _
from rigup.llm.chat.endpoint import Endpoint
from rigup.llm.chat.parameters import TEMPLATE, Kind
from rigup.llm.chat.stream import EndpointError

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from rigup.llm.engines.running import RunningEngine

_KINDS: dict[str, Kind] = {"ollama": "ollama", "vllm": "vllm"}


class Engines:
    """At most one engine at a time.

    Attributes:
        settings: of the talk; a chat template among them is taken out, and is the engine's from its next start on.
        template: the text of that template; "" for the model's own.
        endpoint: of the engine that runs; None for none.
        told: is called with sentences about the engine, each once.

    """

    def __init__(self, form: dict[str, Any], settings: dict[str, Any], notify: Callable[[str], None]) -> None:
        self._form, self.settings, self.notify = form, settings, notify
        self._engine: RunningEngine | None = None
        self.model = ""
        self.template = ""
        self.endpoint: Endpoint | None = None
        self._folder: TemporaryDirectory[str] | None = None

    def start(self, model: str) -> Endpoint:
        """An endpoint with a model; the engine before it is ended, and started again where this one does not start.

        Raises:
            EndpointError: it does not start; the text says why.

        """
        before, template = self.model, self.template
        self.template = str(self.settings.pop(TEMPLATE, "")) or template
        self.stop()
        try:
            return self._started(model)
        except EndpointError:
            if before and (before, template) != (model, self.template):
                self.notify(_("{model} is started again.").format(model=before))
                self.template = template
                self._started(before)
            raise

    def _started(self, model: str) -> Endpoint:
        from rigup.fit.errors import FitError
        from rigup.llm.engines.errors import EngineError
        from rigup.llm.engines.running import start
        from rigup.llm.hub.errors import ModelError

        try:
            with Waiting(_("Starting {model} …").format(model=model)) as waiting:
                self._engine = start(
                    start_request(model, self._form, template=self._file(), embeddings=False), notify=partial(waiting.aside, self.notify)
                )
        except (EngineError, FitError, ModelError) as error:
            raise EndpointError("engine", str(error)) from error
        self.model = model
        for note in self._engine.notes:
            self.notify(note)
        self.endpoint = endpoint = Endpoint(
            self._engine.base_url, self._engine.key, self._form["patience"], _KINDS.get(self._engine.engine, "llama")
        )
        endpoint.called = self._engine.theirs or self._engine.model
        endpoint.holds_schemas = self._engine.settings is None or not self._engine.settings.spm
        return endpoint

    def _file(self) -> str:
        """A file with the chat template that is set: an engine reads it at its start, and a request cannot bring it."""
        from tempfile import TemporaryDirectory

        if not self.template:
            return ""
        self._folder = TemporaryDirectory(prefix="rigup-chat-")
        path = Path(self._folder.name, "template.jinja")
        path.write_text(self.template, encoding="utf-8")
        return str(path)

    def why(self) -> str:
        """Why the engine has ended; "" while it runs."""
        return "" if self._engine is None or self._engine.running else self._engine.ended_because()

    def names(self) -> list[str]:
        """Models on this machine that could be started."""
        from rigup.llm.hub.on_disk import on_disk

        return sorted({entry.name for entry in on_disk(os.environ).entries if entry.model is not None and entry.state == "whole"})

    def stop(self) -> None:
        """End it."""
        if self._engine is not None:
            self._engine.stop()
            self._engine = self.endpoint = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def say_aside(text: str) -> None:
    """On standard error: an answer is what standard output has."""
    from rigup.cli.layout import wrapped

    click.echo("\n".join(wrapped(text)), err=True)
