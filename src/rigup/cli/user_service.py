"""`--install-service` and `--remove-service`: a command as a service of systemd, shown, and with --yes made by steps that undo takes back."""

import os
import shlex
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from rigup.cli.layout import wrapped
from rigup.language import _


class Service(NamedTuple):
    """A command that is to be a service.

    Attributes:
        command: of rigup: its unit is `rigup-COMMAND`.
        title: of the run in `rigup history`.
        words: the command line, given the file of the key; called where the service is made.
        key: whether a key is made for it.
        notes: what is said once it is there, given the file of the key, or "".
        kept: what is said once it is gone; "" for nothing.

    """

    command: str
    title: str
    words: Callable[[str], tuple[str, ...]]
    key: bool
    notes: Callable[[str], list[str]]
    kept: str


def service(wanted: Service, *, removal: bool, yes: bool, as_json: bool) -> int:
    """Make the service, or take it away; the exit status."""
    from rigup.cli.taking import RunOptions, go
    from rigup.plan import user_service
    from rigup.plan.applying.journal import Intent

    unit = user_service.unit_file(os.environ, wanted.command)
    key = user_service.key_file(os.environ, wanted.command) if wanted.key and not removal else None
    words = () if removal else wanted.words(str(key or ""))
    if not user_service.has_systemd():
        sentence = _("No systemd runs this machine, so nothing was changed.")
        more = (
            _("Let what starts programs here run this, with a key of your own in its file: {command}")
            if wanted.key
            else _("Let what starts programs here run this: {command}")
        )
        _say([sentence, *([] if removal else [more.format(command=shlex.join(words))])])
        return 1
    if removal and not unit.exists():
        _say([_("There is no service to remove: {path} is not there.").format(path=unit)])
        return 1
    run = RunOptions(yes=yes, dry_run=not yes, quiet=False, as_json=as_json, schema="rigup.apply/1")
    text = "" if removal else _text(f"rigup-{wanted.command}", words)
    status = go(Intent(title=wanted.title, steps=user_service.steps(os.environ, wanted.command, text, key)), run)
    if not as_json and not status:
        _say(_notes(wanted, yes, removal, str(key or "")))
    return status


def _notes(wanted: Service, yes: bool, removal: bool, key: str) -> list[str]:
    if not yes:
        return [_("With --yes it is done.")]
    if removal:
        return [wanted.kept] if wanted.kept else []
    looked = _("`systemctl --user status {name}` shows it, `journalctl --user -u {name}` what it says.")
    found = [looked.format(name=f"rigup-{wanted.command}"), *wanted.notes(key)]
    return [*found, _("It runs while you are logged in; `loginctl enable-linger` lets it run from the start of the machine.")]


def _text(name: str, words: tuple[str, ...]) -> str:
    """The unit, with the variables that the devices need and the PATH on which programs are found now."""
    from rigup.cli.arguments import click_errors
    from rigup.cli.run import unit_text
    from rigup.workflows.environments import surroundings_of

    path = os.pathsep.join(part for part in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(part))
    with click_errors():
        return unit_text(name, surroundings_of(None), {"PATH": path}, words, os.path.expanduser("~"))


def typed_words(context: click.Context, command: str, given: dict[str, Any], own: tuple[str, ...], paths: tuple[str, ...]) -> list[str]:
    """The command line again, with whole paths: a service starts in another folder and sees no shell's variables.

    Args:
        context: of the command.
        command: its name.
        given: values of its options by their names.
        own: options that are left out.
        paths: options whose values are paths.

    """
    words = [sys.executable, "-m", "rigup", command]
    for option in context.command.params:
        name = option.name or ""
        if name in own or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        flag = option.opts[-1]
        if isinstance(option, click.Option) and option.is_flag:
            words.append(flag)
            continue
        for value in given[name] if option.multiple else (given[name],):
            is_path = name in paths or (os.sep in str(value) and os.path.exists(str(value)))
            words += [flag, os.path.abspath(value) if is_path else str(value)]
    return words


def _say(lines: list[str]) -> None:
    for line in lines:
        click.echo("\n".join(wrapped(line)), err=True)
