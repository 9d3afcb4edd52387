"""What `rigup chat` and `rigup serve` are told of an engine alike: options, and the wish that they make."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rigup.llm.engines.wish import StartRequest

_CACHE_TYPES = ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")
_ENGINES = ("llama-server", "xllamacpp", "ollama", "vllm")
_FILE = click.Path(exists=True, dir_okay=False)
_LAYERS = click.IntRange(0, 4096)
_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option(
        "--context",
        type=click.IntRange(1, 1 << 24),
        default=None,
        metavar="N",
        help="Tokens of context of each sequence; by default 8192, or what the model knows if less.",
    ),
    click.option("--kv", type=click.Choice(_CACHE_TYPES), default="f16", help="Type of the cache."),
    click.option("--gpu-layers", type=_LAYERS, metavar="N", help="Layers on devices; by default as many as fit."),
    click.option("--cpu-experts", type=_LAYERS, default=0, metavar="N", help="Layers whose experts stay in main memory."),
    click.option("--engine", type=click.Choice(_ENGINES), default=None, help="What runs it; by default the first of these that can."),
    click.option("--engine-program", "program", default="", metavar="PROGRAM", help="Its program, where it is not on PATH."),
    click.option(
        "--engine-python", "python", default="", metavar="PYTHON", help="The interpreter that has xllamacpp or vLLM; by default this one."
    ),
    click.option(
        "--projector", type=_FILE, metavar="FILE", help="What sees pictures (mmproj); by default what lies beside a model of a store."
    ),
    click.option(
        "--draft",
        default="",
        metavar="MODEL",
        help="A small model of the same vocabulary that guesses what MODEL then checks: faster, and the same answers.",
    ),
    click.option("--on", metavar="cpu", type=click.Choice(["cpu"]), help="Leave the devices alone."),
)


def engine_options(command: _Command) -> _Command:
    """Add them to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def start_request(word: str, form: Mapping[str, Any], name: str = "", parallel: int = 1, **more: Any) -> "StartRequest":
    """What an engine is asked to run.

    Args:
        word: the model, as a person calls it.
        form: values of the options.
        name: how clients are to call it; "" for its own.
        parallel: sequences at once.
        more: other fields of the wish.

    Raises:
        EngineError: there is no such file.
        ModelError: several models are meant.

    """
    from rigup.fit.request import Request
    from rigup.llm.engines.model_files import Found, model_of
    from rigup.llm.engines.wish import StartRequest

    found = Found(word, word) if form["api"] else model_of(word, os.environ)
    settings = Request(
        outputs=parallel,
        parallel=parallel,
        kv_type_k=form["kv"],
        kv_type_v=form["kv"],
        gpu_layers=form["gpu_layers"],
        cpu_experts=form["cpu_experts"],
    )
    return StartRequest(
        model=found.model,
        name=(name or found.name)[:200],
        settings=settings,
        context=form["context"] or 0,
        engine=form["engine"] or "",
        program=form["program"],
        python=form["python"],
        on=form["on"],
        projector=form["projector"] or found.projector,
        draft=model_of(form["draft"], os.environ).model if form["draft"] else "",
        **more,
    )
