"""`rigup lab --container`: Jupyter Lab in a container that has this machine's devices, and that goes when it ends."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.cli.failing import CannotBeDone, WrongRequest
from rigup.cli.lab_serving import TRIES, answering, say, serving, token_of
from rigup.language import _

if TYPE_CHECKING:
    from rigup.lab.container_folder import ContainerFolder, Lacks
    from rigup.lab.server import Server
    from rigup.schemas.container import Container
    from rigup.schemas.lab import Lab
    from rigup.workflows.container_notebooks import Boxed

_PATIENCE = 900.0  # seconds: an image may have to be unpacked first
_STANDARD_ERROR = 2  # what engines and pip say is for people, also where data is printed
_OTHERS = {"name": "--env", "host": "--host", "partition": "--partition", "limit": "--time", "account": "--account"}


def lab_in_container(wish: dict[str, Any], as_json: bool) -> int:
    """Start it, or print the command; the exit status."""
    from rigup.lab.jupyter import new_token

    with _prepared(wish, token_of(wish["token_file"]) or new_token(), as_json) as (start, answer):
        if wish["only"]:
            return _show(start, answer)
        return _serve(start, answer) if _can_start(answer) and _is_fetched(answer) else 1


def service_words(wish: dict[str, Any]) -> tuple[str, ...]:
    """The words of a service that serves in a container: it asks nobody. Exits where no container would start."""
    with _prepared(wish, "", as_json=False) as (start, answer):
        if not _can_start(answer):
            raise click.exceptions.Exit(1)
        text = _("What {image} lacks is installed into {folder} when the service starts; nobody is asked then.")
        say(text.format(image=answer.image, folder=start.asked.packages))
        image = os.path.abspath(wish["image"]) if os.path.isfile(wish["image"]) else wish["image"]
        return ("--container", image, "--dir", start.asked.folder, "--yes")


@contextmanager
def _prepared(wish: dict[str, Any], token: str, as_json: bool) -> "Iterator[tuple[_Start, Container]]":
    """What every start takes, and the command of the first; its folder goes in the end."""
    from rigup.lab.container_folder import ContainerFolder
    from rigup.lab.server import free_port
    from rigup.workflows.container_notebooks import boxed, command

    for other in (option for name, option in _OTHERS.items() if wish[name]):
        raise WrongRequest(_("--container and {option} do not go together.").format(option=other))
    with click_errors():
        if not os.path.isdir(wish["folder"]):
            raise WrongRequest(_("There is no folder {path}.").format(path=wish["folder"]))
        name = f"rigup-lab-{secrets.token_hex(4)}"
        asked = boxed(wish["image"], wish["gpus"], wish["folder"], name, extensions=wish["extensions"])
    run = ContainerFolder(token, asked.wanted, asked.folder)
    try:
        with click_errors():
            answer = command(asked, run, wish["port"] or free_port())
        yield _Start(asked, run, token, wish, as_json), answer
    finally:
        run.remove()


class _Start(NamedTuple):
    """What every start of the container takes."""

    asked: "Boxed"
    run: "ContainerFolder"
    token: str
    wish: dict[str, Any]
    as_json: bool


def _can_start(answer: "Container") -> bool:
    """Whether the command works as it is; what has to be known before is said."""
    from rigup.cli.container_report import before

    for line in before(answer):
        click.echo(line, err=True)
    return answer.verdict == "ready"


def _is_fetched(answer: "Container") -> bool:
    """The image is there, or is fetched now. Raises CannotBeDone where that fails."""
    from rigup.workflows.container_notebooks import is_there

    if not is_there(answer):
        say(_("{image} is fetched.").format(image=answer.image))
        with click_errors():
            status = subprocess.run((answer.engine, "pull", answer.image), stdout=_STANDARD_ERROR, check=False).returncode
        if status:
            template = _("{engine} could not fetch {image}, as it says above.")
            raise CannotBeDone(template.format(engine=answer.engine, image=answer.image))
    return True


def _serve(start: _Start, answer: "Container") -> int:
    """Serve until somebody ends it; nothing is left behind."""
    return serving(
        lambda: _started(start),
        lambda: _remove(start, answer),
        argv=answer.argv[:2],
        goodbye=_("Jupyter is ended, and its container is gone."),
        as_json=start.as_json,
    )


def _remove(start: _Start, answer: "Container") -> None:
    """Take the container away; where the engine does not, the person is told how."""
    from rigup.workflows.container_notebooks import removed

    name = start.asked.request.name
    if not removed(answer, name):
        text = _("The container {name} could not be removed. `{engine} rm --force {name}` removes it.")
        say(text.format(name=name, engine=answer.engine))


def _started(start: _Start) -> "tuple[Server, Lab]":
    """A server that answers; what the image lacks is installed beside it, when that is agreed."""
    from rigup.lab.container_folder import lacks
    from rigup.lab.errors import LabError

    tries, is_installed = 1 if start.wish["port"] else TRIES, False
    while True:
        answer, server = _process(start)
        try:
            return answering(server, _PATIENCE), _answer(start, answer, server)
        except LabError as error:
            lacking = lacks(error.log)
            if lacking is None or is_installed:
                tries -= 1
                if not tries or not server.port_was_taken:
                    raise
                continue
        _install(start, answer, lacking)
        is_installed = True


def _process(start: _Start) -> "tuple[Container, Server]":
    """The container, and what is known of the server in it so far."""
    from rigup.cli.container_report import exported
    from rigup.lab.server import Server, free_port
    from rigup.workflows.container_notebooks import command, removed

    port = start.wish["port"] or free_port()
    with click_errors():
        answer = command(start.asked, start.run, port)
    removed(answer, start.asked.request.name)
    environ = {**os.environ, **exported(answer, os.environ)}
    on_line = say if start.wish["logged"] else None
    return answer, Server(answer.argv, environ, port, start.token, start.asked.folder, on_line, holds_input=True)


def _install(start: _Start, answer: "Container", lacking: "Lacks") -> None:
    """Bring what the image lacks into a folder beside it, after asking. Raises LabError where that fails."""
    from rigup.cli.container_report import exported
    from rigup.cli.env_files import asked
    from rigup.lab.errors import LabError
    from rigup.workflows.container_notebooks import command, ended, removed

    names, folder = ", ".join(lacking.lacking), start.asked.packages
    if not lacking.can:
        text = _(
            "{image} lacks {packages}, and its Python {python} has no pip to install them. Take an image with pip, or build one: rigup container build jupyterlab"
        )
        raise CannotBeDone(text.format(image=answer.image, packages=names, python=lacking.python))
    text = _(
        "{image} lacks {packages}. They would be installed into {folder}, which containers of this image are given beside it; the image stays as it is."
    )
    say(text.format(image=answer.image, packages=names, folder=folder))
    if start.as_json and not start.wish["yes"]:
        raise WrongRequest(_("Nobody is asked where data is printed: give --yes."))
    if not asked(_("Install them?"), start.wish["yes"]):
        raise click.exceptions.Exit(1)
    with click_errors():
        argv = command(start.asked, start.run, 0, "install").argv
        removed(answer, start.asked.request.name)
        environ = {**os.environ, **exported(answer, os.environ)}
        status = subprocess.run(argv, env=environ, stdin=subprocess.DEVNULL, stdout=_STANDARD_ERROR, check=False).returncode
    if status and ended(answer, start.asked.request.name) != 0:
        text = _("{packages} could not be installed in a container of {image}; what pip said is above.")
        raise LabError(text.format(packages=names, image=answer.image))


def _answer(start: _Start, answer: "Container", server: "Server | None") -> "Lab":
    from rigup.lab.jupyter import lab_url, server_url
    from rigup.schemas.lab import Lab

    return Lab(
        url=lab_url(server.port, start.token) if server else None,
        vscode_url=server_url(server.port, start.token) if server else None,
        host="",
        pid=os.getpid() if server else None,
        environment=None,
        folder=start.asked.folder,
        argv=answer.argv,
        image=answer.image,
        container=start.asked.request.name or None,
        ends_at=None,
        variables={name: value for name, value in answer.environment.items() if isinstance(value, str)},
    )


def _show(start: _Start, answer: "Container") -> int:
    """The command, and why; nothing is started."""
    from rigup.cli.container_report import shown_text

    click.echo(data_text(_answer(start, answer, None)) if start.as_json else shown_text(answer))
    return int(answer.verdict == "impossible")
