"""`rigup serve --install-service` and `--remove-service`: what the service of models is."""

import os
from typing import Any

import click

from rigup.cli.user_service import Service, typed_words
from rigup.cli.user_service import service as made
from rigup.language import _

_OWN = ("install_service", "remove_service", "yes", "as_json", "models", "key_file", "port", "draft")
_PATHS = ("projector", "template")


def service(context: click.Context, models: tuple[str, ...], wish: dict[str, Any], *, yes: bool, as_json: bool) -> int:
    """Make the service that these words start, or take it away; the exit status."""
    if wish["no_key"] and wish["share"]:
        raise click.UsageError(_("Other machines are let in with a key alone: leave --no-key out."))
    wanted = Service(
        command="serve",
        title=_("service of rigup serve"),
        key=not (wish["no_key"] or wish["key_file"]),
        words=lambda key: _words(context, models, wish, key or str(wish["key_file"] or "")),
        notes=lambda key: [_("Clients need the key in {path}.").format(path=key)] if key else [],
        kept=_("Its key is kept for clients that have it."),
    )
    return made(wanted, removal=bool(wish["remove_service"]), yes=yes, as_json=as_json)


def _words(context: click.Context, models: tuple[str, ...], wish: dict[str, Any], key: str) -> tuple[str, ...]:
    if wish["api"] and os.environ.get(wish["key_variable"]):
        raise click.UsageError(_("The key of an endpoint is kept nowhere, so that a service cannot have it: serve it from a terminal."))
    words = [*typed_words(context, "serve", wish, _OWN, _PATHS), "--port", str(wish["port"])]
    words += ["--key-file", os.path.abspath(key)] if key else []
    words += ["--draft", os.path.abspath(_file(wish["draft"]))] if wish["draft"] else []
    return (*words, "--", *(_model(word, bool(wish["api"])) for word in models))


def _file(word: str) -> str:
    from rigup.llm.engines.model_files import model_of

    return model_of(word, os.environ).model


def _model(word: str, theirs: bool) -> str:
    """A model as a service finds it: by its file, under the name that it has here."""
    from rigup.llm.engines.model_files import model_of

    name, equals, model = word.partition("=")
    if not equals or os.path.exists(word):
        name, model = "", word
    found = model_of(model, os.environ)
    if theirs or not os.path.exists(found.model):
        return word
    return f"{name or found.name}={os.path.abspath(found.model)}"
