"""`rigup serve --install-service` and `--remove-service`: shown, and with --yes done by steps that undo takes back."""

import os
import shlex
import sys
from typing import Any

import click
from click.core import ParameterSource

from rigup.cli.layout import wrapped
from rigup.language import _

_OWN = ("install_service", "remove_service", "yes", "as_json", "models", "key_file", "port")
_PATHS = ("projector", "template")


def service(context: click.Context, models: tuple[str, ...], wish: dict[str, Any], *, yes: bool, as_json: bool) -> int:
    """Make the service that these words start, or take it away; the exit status."""
    from rigup.cli.taking import RunOptions, go
    from rigup.llm.server.service import NAME, has_systemd, key_file, steps, unit_file
    from rigup.plan.applying.journal import Intent

    removal = bool(wish["remove_service"])
    if wish["no_key"] and wish["share"]:
        raise click.UsageError(_("Other machines are let in with a key alone: leave --no-key out."))
    key = None if removal or wish["no_key"] or wish["key_file"] else key_file(os.environ)
    words = () if removal else _words(context, models, wish, str(key or wish["key_file"] or ""))
    if not has_systemd():
        sentence = _("No systemd runs this machine, so nothing was changed.")
        more = _("Let what starts programs here run this, with a key of your own in its file: {command}")
        _say([sentence, *([] if removal else [more.format(command=shlex.join(words))])])
        return 1
    if removal and not unit_file(os.environ).exists():
        _say([_("There is no service to remove: {path} is not there.").format(path=unit_file(os.environ))])
        return 1
    run = RunOptions(yes=yes, dry_run=not yes, quiet=False, as_json=as_json, schema="rigup.apply/1")
    needed = steps(os.environ, "" if removal else _text(NAME, words), key)
    status = go(Intent(title=_("service of rigup serve"), steps=needed), run)
    if not as_json and not status:
        _say(_notes(yes, removal, str(key or "")))
    return status


def _notes(yes: bool, removal: bool, key: str) -> list[str]:
    if not yes:
        return [_("With --yes it is done.")]
    if removal:
        return [_("Its key is kept for clients that have it.")]
    looked = _("`systemctl --user status {name}` shows it, `journalctl --user -u {name}` what it says.")
    found = [looked.format(name="rigup-serve")]
    found += [_("Clients need the key in {path}.").format(path=key)] if key else []
    return [*found, _("It runs while you are logged in; `loginctl enable-linger` lets it run from the start of the machine.")]  # fmt: skip


def _text(name: str, words: tuple[str, ...]) -> str:
    """The unit, with the variables that the devices need and the PATH on which engines are found now."""
    from rigup.cli.arguments import click_errors
    from rigup.cli.run import unit_text
    from rigup.workflows.environments import surroundings_of

    path = os.pathsep.join(
        folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)
    )
    with click_errors():
        return unit_text(name, surroundings_of(None), {"PATH": path}, words, os.path.expanduser("~"))


def _words(context: click.Context, models: tuple[str, ...], wish: dict[str, Any], key: str) -> tuple[str, ...]:
    """The command line again, with whole paths: a service starts in another folder and sees no shell's variables."""
    if wish["api"] and os.environ.get(wish["key_variable"]):
        raise click.UsageError(_("The key of an endpoint is kept nowhere, so that a service cannot have it: serve it from a terminal."))  # fmt: skip
    words = [sys.executable, "-m", "rigup", "serve"]
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in _OWN or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = wish[name]
        flag = parameter.opts[-1]
        argument = (
            os.path.abspath(value) if name in _PATHS or (os.sep in str(value) and os.path.exists(value)) else str(value)
        )
        words += [flag] if isinstance(parameter, click.Option) and parameter.is_flag else [flag, argument]
    words += ["--port", str(wish["port"])]
    words += ["--key-file", os.path.abspath(key)] if key else []
    return (*words, "--", *(_model(model, bool(wish["api"])) for model in models))


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


def _say(lines: list[str]) -> None:
    for line in lines:
        click.echo("\n".join(wrapped(line)), err=True)
