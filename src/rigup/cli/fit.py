"""`rigup fit`: what a model takes on this machine or another, whether it fits, and how fast it is."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.data import data_text
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.fit.judge import Asked
    from rigup.fit.request import Request

_DEFAULT_CONTEXT = 8192
_CACHE_TYPES = ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")
_HUB, _OLLAMA = "https://huggingface.co", "https://registry.ollama.ai"
_WHOLE = click.IntRange(1, 1 << 24)


@click.command("fit")
@click.argument("model", default="", required=False)
@click.option("--on", "where", metavar="cpu|MACHINE", help="A capture, or a machine in words: RTX 3090, ram 32GB. By default this one.")  # fmt: skip
@click.option("--context", type=_WHOLE, metavar="N", help="Tokens of context; 8192, or what the model knows if less.")
@click.option("--kv", type=click.Choice(_CACHE_TYPES), default="f16", help="Type of the cache.")
@click.option("--parallel", type=click.IntRange(1, 256), default=1, metavar="N", help="Sequences at once.")
@click.option("--batch", type=_WHOLE, default=2048, metavar="N", help="Tokens that are handed over at once.")
@click.option("--ubatch", type=_WHOLE, default=512, metavar="N", help="Tokens that are computed at once.")
@click.option("--flash-attn", type=click.Choice(["on", "off"]), default="on", help="Attention without a table of scores.")  # fmt: skip
@click.option("--kv-unified", is_flag=True, help="One cache for all sequences.")
@click.option("--swa-full", is_flag=True, help="Sliding layers keep the whole context, as llama-cpp-python has it.")
@click.option("--outputs", type=click.IntRange(0, 1 << 24), default=0, metavar="N", help="Results of a batch that are asked for: a server's are one of each sequence; 0 is all.")  # fmt: skip
@click.option("--gpu-layers", type=click.IntRange(0, 4096), metavar="N", help="Layers on devices; by default as many as fit.")  # fmt: skip
@click.option("--cpu-experts", type=click.IntRange(0, 4096), default=0, metavar="N", help="Layers whose experts stay in main memory.")  # fmt: skip
@click.option("--tensor-split", default="", metavar="A,B…", help="Shares of the devices; by default by what is free.")
@click.option("--quant", default="", metavar="Q", help="Ask of the model as this type of file: Q4_K_M, IQ4_XS …")
@click.option("--list", "listing", is_flag=True, help="Rank well-known models for the machine instead.")
@click.option("--formula", is_flag=True, help="Reckon, even where the engine could plan it itself.")
@click.option("--engine-python", default="", metavar="PYTHON", help="The interpreter whose llama.cpp (xllamacpp) plans it; by default this one, where it has one.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.fit/1).")
def command(
    model: str, where: str | None, listing: bool, formula: bool, quant: str, engine_python: str, as_json: bool, **wish: Any
) -> int:  # fmt: skip
    """Tell what a model takes, whether it fits, how fast it is, and what to change.

    MODEL is a GGUF file, also one of several, or a header alone; a folder with config.json; an address; a repository
    of Hugging Face (user/name:Q4_K_M); a tag of ollama (llama3.2:3b); or a name ("qwen3 30b a3b q4"). Of a model that
    lies elsewhere the header alone is read; without a network a table of well-known shapes answers.
    The exit status is 1 where it does not fit.
    """
    from rigup.fit.errors import FitError
    from rigup.knowledge.tables import KnowledgeError

    if as_json:
        choose("en")  # data is the same in every language
    if bool(model) == listing:
        raise click.UsageError(_("Name a model, or write --list."))
    try:
        if listing:
            return _list(where, wish["context"] or _DEFAULT_CONTEXT, as_json)
        told = _judged(_asked(model, quant), where, wish, formula, engine_python)
    except (FitError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(data_text(told))
    else:
        from rigup.cli.fit_report import text
        from rigup.machine.outward import outward

        click.echo(text(outward(told), _wants_color()), color=_wants_color())
    return int(not told["fits"])


def _judged(
    asked: "Asked", where: str | None, wish: dict[str, Any], formula: bool, engine_python: str
) -> dict[str, Any]:
    from rigup.fit.engine import engine_pythons
    from rigup.fit.judge import judged
    from rigup.fit.where import pools_on

    pythons = [] if formula else engine_pythons([engine_python] if engine_python else [])
    return judged(asked, _request(asked, wish), pools_on(where), questions=not formula, pythons=pythons)


def _list(where: str | None, context: int, as_json: bool) -> int:
    from rigup.cli.progress import Waiting
    from rigup.fit.ranking import SCHEMA, ranked
    from rigup.fit.where import pools_on

    with Waiting(_("Trying well-known models …")):
        found = ranked(pools_on(where), context)
    if as_json:
        click.echo(data_text({"schema": SCHEMA, "models": found}))
    else:
        from rigup.cli.fit_report import list_text

        click.echo(list_text(found, _wants_color()), color=_wants_color())
    return int(not found)


def _asked(word: str, kind: str) -> "Asked":
    """The model that is meant. Raises FitError where there is none."""
    from rigup.fit.judge import requantised_as
    from rigup.fit.quants import file_types

    known = {one.name.lower(): one.name for one in file_types()}
    if kind and kind.lower() not in known:
        told = _("{type} is no type of file. There are: {types}.")
        raise click.UsageError(told.format(type=kind[:40], types=", ".join(known.values())))
    found = _meant(word)
    return requantised_as(found, known[kind.lower()]) if kind else found


def _meant(word: str) -> "Asked":
    """A file, a folder, something elsewhere, or a well-known name; that last also where there is no network."""
    from rigup.fit.judge import of_file, of_folder, of_name
    from rigup.fit.remote import Unreachable

    path = Path(word)
    if path.is_file():
        return of_file(path)
    if path.is_dir():
        return of_folder(path)
    if word.lower().endswith(".gguf") and os.sep in word and not word.startswith("http"):
        told = _("There is no file {name}. Write the path of a GGUF file; a file of many parts is named by its first.")
        raise click.ClickException(told.format(name=word[:200]))
    try:
        found = _elsewhere(word)
    except Unreachable as error:
        from rigup.fit.errors import FitError

        try:
            named = of_name(word)
        except FitError:
            raise error from None
        named.notes.insert(0, str(error))
        return named
    return found or of_name(word)


def _elsewhere(word: str) -> "Asked | None":
    """A model behind an address, in a repository of the hub, or of ollama's registry; None for another word."""
    from rigup.fit.hub import is_address, names_repository, names_tag, of_address, of_repository, of_tag
    from rigup.fit.judge import of_found
    from rigup.fit.remote import Web

    home = os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")
    web = Web(os.environ.get("HF_TOKEN", ""), home)
    if is_address(word):
        found = of_address(word, home, web)
    elif names_repository(word):
        found = of_repository(word, home, web)
    elif names_tag(word):
        found = of_tag(word, os.environ.get("RIGUP_OLLAMA_REGISTRY", _OLLAMA).rstrip("/"), web)
    else:
        return None
    return of_found(found, web, word)


def _request(asked: "Asked", wish: dict[str, Any]) -> "Request":
    from rigup.fit.request import Request

    trained = asked.model.number("context_length") or _DEFAULT_CONTEXT
    return Request(
        context=wish["context"] or min(trained, _DEFAULT_CONTEXT), kv_type_k=wish["kv"], kv_type_v=wish["kv"],
        parallel=wish["parallel"], batch=wish["batch"], ubatch=wish["ubatch"], flash_attn=wish["flash_attn"] == "on",
        kv_unified=wish["kv_unified"], swa_whole=wish["swa_full"], outputs=wish["outputs"],
        gpu_layers=wish["gpu_layers"], cpu_experts=wish["cpu_experts"], tensor_split=_shares(wish["tensor_split"]),
    )  # fmt: skip


def _shares(told: str) -> tuple[float, ...]:
    try:
        found = tuple(float(one) for one in told.split(",")) if told else ()
    except ValueError as error:
        raise click.UsageError(_("{value} is no list of shares: write for instance 3,1.").format(value=told)) from error
    if any(not 0 <= one < 1e9 for one in found) or (found and not sum(found)):
        raise click.UsageError(_("{value} is no list of shares: write for instance 3,1.").format(value=told))
    return found


def _wants_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
