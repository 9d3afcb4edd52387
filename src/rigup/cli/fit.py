"""`rigup fit`: what a model takes on this machine or another, whether it fits, and how fast it is."""

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.data import data_text
from rigup.language import _, choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rigup.cli.fit_more import Answer
    from rigup.fit.judge import Asked
    from rigup.fit.pools import Pool
    from rigup.fit.request import Request
    from rigup.schemas.fit import Draft, Fit
    from rigup.schemas.fit_more import FitTrain

_DEFAULT_CONTEXT, _DEFAULT_SEQUENCE = 8192, 2048
_CACHE_TYPES = ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")
_ENGINES = ("llama.cpp", "ollama", "vllm")
_OPTIMIZERS = ("adamw", "adam", "adamw8bit", "lion", "momentum", "adagrad", "rmsprop", "sgd", "adafactor")
_WHOLE = click.IntRange(1, 1 << 24)


@click.command("fit")
@click.argument("model", default="", required=False)
@click.option("--on", "where", metavar="cpu|MACHINE", help="A capture, or a machine in words: RTX 3090, ram 32GB. By default this one.")
@click.option(
    "--context",
    type=_WHOLE,
    metavar="N",
    help="Tokens of context; 8192, or what the model knows if less. ollama's own depends on the GPU; of training 2048.",
)
@click.option("--engine", type=click.Choice(_ENGINES), default="llama.cpp", help="What runs it.")
@click.option("--kv", type=click.Choice(_CACHE_TYPES), default="f16", help="Type of the cache.")
@click.option("--parallel", type=click.IntRange(1, 256), default=1, metavar="N", help="Sequences at once.")
@click.option("--batch", type=_WHOLE, default=2048, metavar="N", help="Tokens that are handed over at once.")
@click.option("--ubatch", type=_WHOLE, default=512, metavar="N", help="Tokens that are computed at once.")
@click.option("--flash-attn", type=click.Choice(["on", "off"]), default="on", help="Attention without a table of scores.")
@click.option("--kv-unified", is_flag=True, help="One cache for all sequences.")
@click.option("--swa-full", is_flag=True, help="Sliding layers keep the whole context, as llama-cpp-python has it.")
@click.option(
    "--outputs",
    type=click.IntRange(0, 1 << 24),
    default=0,
    metavar="N",
    help="Results of a batch that are asked for: a server's are one of each sequence; 0 is all.",
)
@click.option("--gpu-layers", type=click.IntRange(0, 4096), metavar="N", help="Layers on devices; by default as many as fit.")
@click.option("--cpu-experts", type=click.IntRange(0, 4096), default=0, metavar="N", help="Layers whose experts stay in main memory.")
@click.option("--tensor-split", default="", metavar="A,B…", help="Shares of the devices; by default by what is free.")
@click.option("--gpu-share", type=click.FloatRange(0.01, 1.0), metavar="X", help="vLLM: its part of each GPU (gpu_memory_utilization).")
@click.option("--tensor-parallel", type=click.IntRange(1, 64), metavar="N", help="vLLM: ranks that share each layer.")
@click.option("--pipeline-parallel", type=click.IntRange(1, 64), metavar="N", help="vLLM: stages one behind another.")
@click.option("--eager", is_flag=True, help="vLLM: without graphs.")
@click.option(
    "--draft", default="", metavar="MODEL", help="A draft model beside it, as `rigup serve --draft` has one: it takes its memory first."
)
@click.option("--quant", default="", metavar="Q", help="Ask of the model as this type of file: Q4_K_M, IQ4_XS …")
@click.option("--train", type=click.Choice(["full", "lora", "qlora"]), help="What a training step takes instead.")
@click.option("--optimizer", type=click.Choice(_OPTIMIZERS), default="adamw", help="Of training.")
@click.option(
    "--precision",
    type=click.Choice(["fp32", "bf16", "mixed"]),
    default="bf16",
    help="Of training: weights and states in bf16, or weights in fp32 and operations in bf16 (mixed).",
)
@click.option("--samples", type=click.IntRange(1, 1 << 16), default=1, metavar="N", help="Sequences of a training step on each device.")
@click.option("--checkpointing", is_flag=True, help="Training: activations of layers are computed anew.")
@click.option("--rank", type=click.IntRange(1, 4096), default=16, metavar="N", help="Of LoRA's matrices.")
@click.option(
    "--sharding",
    type=click.Choice(["ddp", "zero1", "zero2", "zero3"]),
    default="ddp",
    help="Training on several devices; zero3 is FSDP too.",
)
@click.option("--side", type=click.IntRange(64, 16384), metavar="N", help="Pixels of a side, of a model that makes pictures.")
@click.option("--list", "listing", is_flag=True, help="Rank well-known models for the machine instead.")
@click.option("--use", type=click.Choice(["chat", "code", "vision", "embedding"]), help="With --list: models for this.")
@click.option("--formula", is_flag=True, help="Reckon, even where the engine could plan it itself.")
@click.option(
    "--engine-python",
    default="",
    metavar="PYTHON",
    help="The interpreter whose llama.cpp (xllamacpp) plans it; by default this one, where it has one.",
)
@click.option("--html", "page", metavar="FILE", help="Write the bars as a page too.")
@click.option("--png", "picture", metavar="FILE", help="Write the bars as a picture too (needs matplotlib).")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.fit/1).")
def command(
    model: str, where: str | None, listing: bool, use: str | None, page: str | None, picture: str | None, as_json: bool, **wish: Any
) -> int:
    """Tell what a model takes, whether it fits, how fast it is, and what to change.

    MODEL is a GGUF file, also one of several, or a header alone; a folder with config.json; a safetensors file or a folder
    of diffusers of a model that makes pictures; an address; a repository of Hugging Face (user/name:Q4_K_M); a tag of ollama
    (llama3.2:3b); or a name ("qwen3 30b a3b q4"). Of a model that lies elsewhere the header alone is read; without a network
    a table of well-known shapes answers.
    The exit status is 1 where it does not fit.
    """
    from rigup.fit.errors import FitError
    from rigup.knowledge.tables import KnowledgeError

    if as_json:
        choose("en")  # data is the same in every language
    if bool(model) == listing:
        raise click.UsageError(_("Name a model, or write --list."))
    here = click.get_current_context()
    is_given = {name: here.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT for name in wish}
    try:
        if listing:
            return _list(where, wish["context"] or _DEFAULT_CONTEXT, use, as_json)
        fit = _answer(model, where, wish, is_given)
        _draw(fit, page, picture)
    except (FitError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(data_text(fit))
    else:
        from rigup.cli.fit_more import report
        from rigup.machine.outward import outward

        click.echo(report(outward(fit), _wants_color()), color=_wants_color())
    return int(fit.fits is False)


def _answer(model: str, where: str | None, wish: dict[str, Any], is_given: dict[str, bool]) -> "Answer":
    """What is asked: of pictures, of training, of an engine. Raises FitError where it is not known."""
    from rigup.cli.fit_asked import asked_of, pictures_of
    from rigup.fit.judge import Asked

    plain = wish["train"] or wish["engine"] == "vllm"
    if wish["draft"] and (plain or wish["engine"] != "llama.cpp"):
        raise click.UsageError(_("A draft model goes with llama.cpp alone."))
    asked = pictures_of(model) or asked_of(model, wish["quant"], "BF16" if plain else "Q4_K_M")
    if not isinstance(asked, Asked):
        from rigup.fit.images import judged_images
        from rigup.fit.where import pools_on

        return judged_images(asked.name, asked.family, asked.parts, pools_on(where), wish["side"])
    if wish["train"]:
        return _training_answer(asked, where, wish)
    if wish["engine"] == "vllm":
        return _serving_answer(asked, model, where, wish)
    return _engine_answer(asked, model, where, wish, is_given)


def _training_answer(asked: "Asked", where: str | None, wish: dict[str, Any]) -> "FitTrain":
    from rigup.fit.trained import judged_training
    from rigup.fit.training import Wish
    from rigup.fit.where import pools_on

    training = Wish(
        kind=wish["train"],
        optimizer=wish["optimizer"],
        precision=wish["precision"],
        samples=wish["samples"],
        context=wish["context"] or _trained_for(asked, _DEFAULT_SEQUENCE),
        kept=not wish["checkpointing"],
        flash_attn=wish["flash_attn"] == "on",
        rank=wish["rank"],
        sharding=wish["sharding"],
    )
    return judged_training(asked, training, pools_on(where))


def _serving_answer(asked: "Asked", model: str, where: str | None, wish: dict[str, Any]) -> "Fit":
    from rigup.fit.engines import judged_by_vllm
    from rigup.fit.vllm import Wish
    from rigup.fit.where import pools_on

    serving = Wish(
        context=wish["context"] or _trained_for(asked, _DEFAULT_CONTEXT),
        kv=wish["kv"],
        share=wish["gpu_share"],
        tensor=wish["tensor_parallel"],
        pipeline=wish["pipeline_parallel"],
        eager=wish["eager"],
    )
    return judged_by_vllm(asked, serving, pools_on(where), model)


def _trained_for(asked: "Asked", most: int) -> int:
    return min(asked.model.number("context_length") or most, most)


def _engine_answer(asked: "Asked", model: str, where: str | None, wish: dict[str, Any], is_given: dict[str, bool]) -> "Fit":
    from rigup.fit.engine import engine_pythons
    from rigup.fit.engines import judged_by, with_draft
    from rigup.fit.where import pools_on

    pythons = [] if wish["formula"] else engine_pythons([wish["engine_python"]] if wish["engine_python"] else [])
    pools = pools_on(where)
    request = _request(asked, wish)
    if wish["engine"] == "ollama":
        from rigup.fit.engines import as_ollama, usual_context

        if not wish["context"]:
            request = _request(asked, {**wish, "context": usual_context(asked.model, pools, os.environ)})
        request = as_ollama(request, os.environ, is_given)
    draft = _draft(wish["draft"], asked, request, pools) if wish["draft"] else None
    fit = judged_by(wish["engine"], asked, request, draft[1] if draft else pools, model, questions=not wish["formula"], pythons=pythons)
    return with_draft(fit, *draft[::2]) if draft else fit


def _draft(word: str, asked: "Asked", request: "Request", pools: "Sequence[Pool]") -> "tuple[Draft, Sequence[Pool], str]":
    """A draft model, what it leaves of the memories, and its file for the words that start it. Raises FitError."""
    from rigup.cli.fit_asked import asked_of
    from rigup.fit.drafts import drafted, has_same_words
    from rigup.fit.judge import Asked, model_fields
    from rigup.schemas.fit import Draft

    found = asked_of(word, "", "Q4_K_M")
    if not isinstance(found, Asked):
        raise click.UsageError(_("{model} is no model that writes.").format(model=word[:200]))
    placed = drafted(found.model, request, pools)
    sizes = [part.total for part in placed.plan.parts]
    draft = Draft(
        model=model_fields(found),
        gpu_layers=placed.layers,
        total=sum(sizes),
        of_devices=sizes,
        same_words=has_same_words(found.model, asked.model),
    )
    return draft, placed.left, str(found.path or "DRAFT.gguf")


def _draw(fit: "Answer", page: str | None, picture: str | None) -> None:
    """The bars as a page, as a picture, where they are wanted."""
    if not page and not picture:
        return
    from rigup.cli.fit_bars import as_page, as_picture
    from rigup.machine.outward import outward

    shown = outward(fit)
    if page:
        as_page(shown, page)
    if picture:
        as_picture(shown, picture)


def _list(where: str | None, context: int, use: str | None, as_json: bool) -> int:
    from rigup.cli.progress import Waiting
    from rigup.fit.ranking import ranked
    from rigup.fit.where import pools_on

    with Waiting(_("Trying well-known models …")):
        ranking = ranked(pools_on(where), context, use)
    if as_json:
        click.echo(data_text(ranking))
    else:
        from rigup.cli.fit_report import list_text

        click.echo(list_text(ranking.models, _wants_color()), color=_wants_color())
    return int(not ranking.models)


def _request(asked: "Asked", wish: dict[str, Any]) -> "Request":
    from rigup.fit.request import Request

    trained = asked.model.number("context_length") or _DEFAULT_CONTEXT
    return Request(
        context=wish["context"] or min(trained, _DEFAULT_CONTEXT),
        kv_type_k=wish["kv"],
        kv_type_v=wish["kv"],
        parallel=wish["parallel"],
        batch=wish["batch"],
        ubatch=wish["ubatch"],
        flash_attn=wish["flash_attn"] == "on",
        kv_unified=wish["kv_unified"],
        swa_whole=wish["swa_full"],
        outputs=wish["outputs"],
        gpu_layers=wish["gpu_layers"],
        cpu_experts=wish["cpu_experts"],
        tensor_split=_shares(wish["tensor_split"]),
    )


def _shares(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(share) for share in text.split(",")) if text else ()
    except ValueError as error:
        raise click.UsageError(_("{value} is no list of shares: write for instance 3,1.").format(value=text)) from error
    if any(not 0 <= share < 1e9 for share in shares) or (shares and not sum(shares)):
        raise click.UsageError(_("{value} is no list of shares: write for instance 3,1.").format(value=text))
    return shares


def _wants_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
