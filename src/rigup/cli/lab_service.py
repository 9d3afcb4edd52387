"""`rigup lab --install-service`: Jupyter Lab as a service of the person's own systemd."""

import os
from typing import Any

import click

from rigup.cli.arguments import click_errors
from rigup.cli.failing import WrongRequest
from rigup.cli.user_service import Service, typed_words
from rigup.cli.user_service import service as made
from rigup.language import _

_OWN = ("install_service", "remove_service", "yes", "as_json", "name", "image", "folder", "port", "token_file", "logged", "only")
_PORT = 8888


def service(context: click.Context, wish: dict[str, Any], *, as_json: bool) -> int:
    """Make the service that these words start, or take it away; the exit status."""
    if wish["partition"] or wish["limit"] or wish["account"] or (wish["gpus"] and not wish["image"]):
        raise WrongRequest(_("A job of a cluster ends, and a service does not: give one of the two."))
    if wish["host"]:
        raise WrongRequest(_("A service is of this machine: start one on {host} itself.").format(host=wish["host"][:80]))
    port = wish["port"] or _PORT
    wanted = Service(
        command="lab",
        title=_("service of rigup lab"),
        key=not wish["token_file"],
        words=lambda key: _words(context, wish, key or str(wish["token_file"]), port),
        notes=lambda key: [
            _("It serves at http://127.0.0.1:{port}/lab; the token lies in {path}.").format(port=port, path=key or wish["token_file"])
        ],
        kept=_("Its token is kept for programs that have it."),
    )
    return made(wanted, removal=bool(wish["remove_service"]), yes=wish["yes"], as_json=as_json)


def _words(context: click.Context, wish: dict[str, Any], key: str, port: int) -> tuple[str, ...]:
    """The command line, which asks nobody."""
    if wish["image"]:
        from rigup.cli.lab_container import service_words as place
    else:
        place = _environment
    own = ("--port", str(port), "--log", "--token-file", os.path.abspath(key))
    return (*typed_words(context, "lab", wish, _OWN, ()), *place(wish), *own)


def _environment(wish: dict[str, Any]) -> tuple[str, ...]:
    """What the environment lacks is told before a service is made."""
    from rigup.workflows.notebooks import planned

    with click_errors():
        plan = planned(wish["name"], wish["folder"], wish["extensions"])
    if plan.lacking:
        text = _("{environment} lacks {packages}, and a service can ask nobody: start `rigup lab` once, or `rigup apply` them.")
        raise WrongRequest(text.format(environment=plan.environment.path, packages=", ".join(plan.lacking)))
    return ("--env", str(plan.environment.path), "--dir", plan.folder)
