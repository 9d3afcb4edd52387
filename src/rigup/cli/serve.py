"""`rigup serve`: local models behind OpenAI's interface and ollama's."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.engine_options import engine_options, start_request
from rigup.cli.failing import CannotBeDone, WrongRequest
from rigup.cli.lasting import lasts
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.llm.engines.here import Here
    from rigup.llm.engines.wish import StartRequest
    from rigup.llm.server.serving import Server

_PORT, _IDLE = 8033, 600
_KEY = "RIGUP_SERVE_KEY"
_LEAST_KEY, _MOST_KEY = 16, 512


@click.command("serve")
@click.argument("models", nargs=-1, metavar="[NAME=]MODEL...")
@click.option("--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True, metavar="N", help="0 takes one that is free.")
@click.option(
    "--share",
    default="",
    metavar="ADDRESS",
    help="Listen for other machines too, at this address of this one; 0.0.0.0 is all of them. A key is insisted on.",
)
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Holds the key that clients must have; else RIGUP_SERVE_KEY does, else one is made and printed.",
)
@click.option("--no-key", is_flag=True, help="Let every program of this machine in.")
@engine_options
@click.option("--parallel", type=click.IntRange(1, 256), default=4, show_default=True, metavar="N", help="Sequences at once.")
@click.option("--api", default="", metavar="ADDRESS", help="Pass requests on to an endpoint that runs already: http://HOST:PORT/v1.")
@click.option(
    "--api-key-variable",
    "key_variable",
    default="OPENAI_API_KEY",
    show_default=True,
    metavar="NAME",
    help="Holds the key of that endpoint.",
)
@click.option("--rerank", is_flag=True, help="Rank texts (/v1/rerank), by a model whose file does not say that it is made for it.")
@click.option("--template", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help="Another chat template.")
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="What holds where a request does not say: temperature=0.6, reasoning=off … (`rigup chat --params`). May be given several times.",
)
@click.option("--no-embeddings", is_flag=True, help="Do not embed texts.")
@click.option(
    "--loaded", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N", help="Of several models, so many are loaded at once."
)
@click.option(
    "--idle",
    type=click.FloatRange(0),
    default=None,
    metavar="SECONDS",
    help="End a model that nobody asks for so long; 0 is never. By default 600, and never where it is the only one.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3600),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Answers on their way have so long when the server ends.",
)
@click.option("--log-requests", is_flag=True, help="Say a line for each request; never what is asked or answered.")
@click.option(
    "--install-service",
    is_flag=True,
    help="Let your systemd start it when you log in: shows the steps, with --yes takes them; `rigup undo` takes them back.",
)
@click.option("--remove-service", is_flag=True, help="Take that service away: shows the steps, with --yes takes them.")
@click.option("-y", "--yes", is_flag=True, help="With --install-service and --remove-service: do it.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the address, the key and the models as data once clients may come (schema rigup.serve/1).",
)
def command(models: tuple[str, ...], as_json: bool, yes: bool, **wish: Any) -> int:
    """Serve language models behind the interfaces of OpenAI and ollama, on this machine alone and with a key.

    MODEL is a GGUF file, a folder, or the name of a model on this machine as `rigup models` shows it; NAME is how clients
    call it. One model is loaded at once; of several each is when it is asked for. Ctrl-C lets answers end that are on
    their way, and ends the engines.
    """
    if as_json:
        choose("en")  # data is the same in every language
    if not models and not wish["remove_service"]:
        raise click.UsageError(_("Name the model that is to be served."))
    if wish["draft"] and (len(models) > 1 or wish["api"]):
        raise click.UsageError(_("A draft model goes with one model that is started here."))
    import importlib.util

    if importlib.util.find_spec("httptools") is None:
        raise WrongRequest(_("Serving models needs httptools: install it with `pip install 'rigup[llm]'`."))
    from rigup.fit.errors import FitError
    from rigup.llm.chat.parameters import ParameterError
    from rigup.llm.engines.errors import EngineError
    from rigup.llm.hub.errors import ModelError
    from rigup.llm.server.errors import Refused

    try:
        if wish["install_service"] or wish["remove_service"]:
            from rigup.cli.serve_service import service

            return service(click.get_current_context(), models, wish, yes=yes, as_json=as_json)
        return _serve(models, wish, as_json)
    except ParameterError as error:
        raise click.UsageError(str(error)) from error
    except (EngineError, FitError, ModelError, Refused) as error:
        raise CannotBeDone(str(error)) from error


def _serve(models: tuple[str, ...], wish: dict[str, Any], as_json: bool) -> int:
    import asyncio

    from rigup.cli.progress import Waiting
    from rigup.llm.engines.here import here
    from rigup.llm.server.connection import Rules
    from rigup.llm.server.gathering import new_loop
    from rigup.llm.server.serving import Plan, Server

    key, is_new = _key(wish)
    wishes = [_wished(word, wish) for word in models]
    if len({request.called for request in wishes}) < len(wishes):
        raise click.UsageError(_("Two models have the same name: write NAME=MODEL."))
    machine: Here | None = None
    if not wish["api"]:
        with Waiting(_("Looking at this machine …")):
            machine = here(wish["on"])
    idle = wish["idle"] if wish["idle"] is not None else (0 if len(wishes) == 1 else _IDLE)
    plan = Plan(
        host=wish["share"] or "127.0.0.1",
        port=wish["port"],
        rules=Rules(key=key, only_local=not key),
        most=wish["loaded"],
        idle=idle,
        grace=wish["grace"],
        log_requests=wish["log_requests"],
    )
    for name, value in machine.needed if machine else ():
        _say(f"{name}={value}")
    server = Server(wishes, machine, plan, _say)
    lasts()
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(server.run(lambda port: _ready(server, plan.host, port, key if is_new else "", as_json)))
    except OSError as error:
        template = _("{address} cannot be had: {why}. Name another with --port, or an address of this machine with --share.")
        address = f"{plan.host}:{plan.port}"
        raise CannotBeDone(template.format(address=address, why=os.strerror(error.errno) if error.errno else error)) from error
    return 0


def _wished(word: str, wish: dict[str, Any]) -> "StartRequest":
    from rigup.llm.server.usual import usual

    name, equals, model = word.partition("=")
    if not equals or os.path.exists(word):
        name, model = "", word
    if equals and not (name or os.path.exists(word)):
        raise click.UsageError(_("{word} is not NAME=MODEL.").format(word=word[:200]))
    return start_request(
        model,
        wish,
        name,
        wish["parallel"],
        api=wish["api"],
        key_variable=wish["key_variable"],
        template=wish["template"] or "",
        embeddings=not wish["no_embeddings"],
        rerank=wish["rerank"],
        usual=usual(wish["pairs"]),
    )


def _key(wish: dict[str, Any]) -> tuple[str, bool]:
    """The key that clients must have, and whether it was made just now."""
    import secrets

    if wish["no_key"]:
        if wish["share"]:
            raise click.UsageError(_("Other machines are let in with a key alone: leave --no-key out."))
        return "", False
    key = Path(wish["key_file"]).read_bytes()[: _MOST_KEY + 2].decode("utf-8", "replace") if wish["key_file"] else os.environ.get(_KEY, "")
    key = key.strip()
    if not key and not wish["key_file"]:
        return secrets.token_urlsafe(32), True
    if not (_LEAST_KEY <= len(key) <= _MOST_KEY and key.isascii() and key.isprintable() and " " not in key):
        text = _("The key must have {least} to {most} letters and signs of ASCII without a blank.")
        raise click.UsageError(text.format(least=_LEAST_KEY, most=_MOST_KEY))
    return key, False


def _ready(server: "Server", host: str, port: int, key: str, as_json: bool) -> None:
    """Say where, by what, and with which key; the key is said this once."""
    base = f"http://{f'[{host}]' if ':' in host else host}:{port}/v1"
    if as_json:
        from rigup.schemas.serve import Serve

        _print_data(
            Serve(base_url=base, key=key or None, pid=os.getpid(), models=[_model_row(served) for served in server.models.all.values()])
        )
        return
    click.echo(_("Serving {models} at {address}").format(models=", ".join(server.models.all), address=base))
    if key:
        click.echo(_("Key (made for this run): {key}").format(key=key))
    click.echo(_("Chat in a browser: {address}").format(address=base.removesuffix("v1") + (f"#key={key}" if key else "")))
    if host not in ("127.0.0.1", "::1", "localhost"):
        click.echo(_("Other machines reach it, and what goes over the network is not encrypted."))
    sys.stdout.flush()


def _model_row(served: Any) -> Any:
    from rigup.schemas.serve import ServedModel

    engine = served.engine
    settings = engine.settings if engine else None
    return ServedModel(
        name=served.name,
        loaded=served.loaded,
        engine=engine and engine.engine,
        why=engine and engine.why,
        context=settings and settings.request.context // settings.request.parallel,
        gpu_used=engine.gpu.used if engine else None,
        notes=list(engine.notes) if engine else [],
    )


def _print_data(answer: Any) -> None:
    from rigup.cli.data import data_text

    click.echo(data_text(answer, with_values=True))  # the key is what it is printed for
    sys.stdout.flush()


def _say(text: str) -> None:
    click.echo(text, err=True)
