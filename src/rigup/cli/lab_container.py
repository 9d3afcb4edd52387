"""`rigup lab --container`: Jupyter Lab in a container that has this machine's devices, and that goes when it ends."""

import os
import secrets
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.cli.failing import CannotBeDone, WrongRequest
from rigup.cli.lab_serving import diagnosed, end, say, show_addresses, token_of
from rigup.cli.layout import wrapped
from rigup.language import _

if TYPE_CHECKING:
    from rigup.lab.container_folder import ContainerFolder, Lacks
    from rigup.lab.server import Server
    from rigup.schemas.container import Container
    from rigup.schemas.lab import Lab
    from rigup.workflows.container_notebooks import Boxed

_PATIENCE = 900.0  # seconds: an image may have to be unpacked first
_STANDARD_ERROR = 2  # what engines and pip say is for people, also where data is printed
_LOOKED_AT = 0.5  # seconds between two looks whether the server still runs
_TRIES = 3  # where somebody takes a free port in the same moment
_OTHERS = {"name": "--env", "host": "--host", "partition": "--partition", "limit": "--time", "account": "--account",
           "install_service": "--install-service", "remove_service": "--remove-service"}  # fmt: skip


def lab_in_container(wish: dict[str, Any], as_json: bool) -> int:
    """Start it, or print the command; the exit status."""
    from rigup.lab.container_folder import ContainerFolder
    from rigup.lab.jupyter import new_token
    from rigup.lab.server import free_port
    from rigup.workflows.container_notebooks import boxed, command

    for other in (option for name, option in _OTHERS.items() if wish[name]):
        raise WrongRequest(_("--container and {option} do not go together.").format(option=other))
    with click_errors():
        if not os.path.isdir(wish["folder"]):
            raise WrongRequest(_("There is no folder {path}.").format(path=wish["folder"]))
        name = f"rigup-lab-{secrets.token_hex(4)}"
        asked = boxed(wish["image"], wish["gpus"], wish["folder"], name, extensions=wish["extensions"])
    token = token_of(wish["token_file"]) or new_token()
    run = ContainerFolder(token, asked.wanted, asked.folder)
    start = _Start(asked, run, token, wish, as_json)
    try:
        with click_errors():
            answer = command(asked, run, wish["port"] or free_port())
        if wish["only"]:
            return _show(start, answer)
        return _serve(start, answer) if _can_start(answer) else 1
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
    """Whether the command works as it is; what has to be known before is said, and the image is fetched."""
    from rigup.cli.container_report import before
    from rigup.workflows.container_notebooks import is_there

    for notice in before(answer):
        click.echo("\n".join(wrapped(notice)), err=True)
    if answer.verdict != "ready":
        return False
    if not is_there(answer):
        say(_("{image} is fetched.").format(image=answer.image))
        with click_errors():
            status = subprocess.run(
                (answer.engine, "pull", answer.image), stdout=_STANDARD_ERROR, check=False
            ).returncode
        if status:
            template = _("{engine} could not fetch {image}, as it says above.")
            raise CannotBeDone(template.format(engine=answer.engine, image=answer.image))
    return True


def _serve(start: _Start, answer: "Container") -> int:
    """Serve until somebody ends it; nothing is left behind."""
    from rigup.cli.stopping import stopping
    from rigup.lab.errors import LabError
    from rigup.workflows.container_notebooks import removed

    server: Server | None = None
    with stopping() as signals:
        try:
            answer, server = _started(start)
            _ready(start, answer, server)
            while server.status is None:
                time.sleep(_LOOKED_AT)
            raise LabError(_("Jupyter ended by itself, with status {status}.").format(status=server.status), server.log)
        except KeyboardInterrupt:
            say(_("Jupyter is ended, and its container is gone.") if server else _("Stopped; nothing was started."))
            return 0 if signals or server else 130
        except LabError as error:
            raise diagnosed(error, answer.argv[:2]) from error
        finally:
            with suppress(KeyboardInterrupt):
                end(server)
            removed(answer, start.asked.request.name)


def _started(start: _Start) -> "tuple[Container, Server]":
    """A server that answers; what the image lacks is installed beside it, when that is agreed."""
    from rigup.lab.container_folder import lacks
    from rigup.lab.errors import LabError

    tries, is_installed = 1 if start.wish["port"] else _TRIES, False
    while True:
        answer, server = _process(start)
        try:
            return answer, _answering(server)
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


def _answering(server: "Server") -> "Server":
    """The server, once it answers; it is stopped where it does not."""
    from rigup.cli.progress import Waiting

    try:
        with Waiting(_("Jupyter Lab starts …")):
            server.wait(_PATIENCE)
    except BaseException:
        server.stop()
        raise
    return server


def _install(start: _Start, answer: "Container", lacking: "Lacks") -> None:
    """Bring what the image lacks into a folder beside it, after asking. Raises LabError where that fails."""
    from rigup.cli.container_report import exported
    from rigup.cli.env_files import asked
    from rigup.lab.errors import LabError
    from rigup.workflows.container_notebooks import command, ended, removed

    names, folder = ", ".join(lacking.lacking), start.asked.packages
    if not lacking.can:
        text = _("{image} lacks {packages}, and its Python {python} has no pip to install them. Take an image with pip, or build one: rigup container build jupyterlab")  # fmt: skip
        raise CannotBeDone(text.format(image=answer.image, packages=names, python=lacking.python))
    text = _("{image} lacks {packages}. They would be installed into {folder}, which containers of this image are given beside it; the image stays as it is.")  # fmt: skip
    say(text.format(image=answer.image, packages=names, folder=folder))
    if start.as_json and not start.wish["yes"]:
        raise WrongRequest(_("Nobody is asked where data is printed: give --yes."))
    if not asked(_("Install them?"), start.wish["yes"]):
        raise click.exceptions.Exit(1)
    with click_errors():
        argv = command(start.asked, start.run, 0, "install").argv
        removed(answer, start.asked.request.name)
        environ = {**os.environ, **exported(answer, os.environ)}
        status = subprocess.run(
            argv, env=environ, stdin=subprocess.DEVNULL, stdout=_STANDARD_ERROR, check=False
        ).returncode
    if status and ended(answer, start.asked.request.name) != 0:
        text = _("{packages} could not be installed in a container of {image}; what pip said is above.")
        raise LabError(text.format(packages=names, image=answer.image))


def _answer(start: _Start, answer: "Container", server: "Server | None") -> "Lab":
    from rigup.lab.jupyter import lab_url, server_url
    from rigup.schemas.lab import Lab

    return Lab(
        url=lab_url(server.port, start.token) if server else None, vscode_url=server_url(server.port, start.token) if server else None,
        host="", pid=os.getpid() if server else None, environment=None, folder=start.asked.folder, argv=answer.argv,
        image=answer.image, container=start.asked.request.name or None, ends_at=None,
        variables={name: value for name, value in answer.environment.items() if isinstance(value, str)},
    )  # fmt: skip


def _ready(start: _Start, answer: "Container", server: "Server") -> None:
    """Say where it is; the token is said this once."""
    lab = _answer(start, answer, server)
    if start.as_json:
        click.echo(data_text(lab, with_values=True))  # the token is what it is printed for
    else:
        show_addresses(str(lab.url), str(lab.vscode_url))
    sys.stdout.flush()


def _show(start: _Start, answer: "Container") -> int:
    """The command, and why; nothing is started."""
    from rigup.cli.container_report import shown_text

    click.echo(data_text(_answer(start, answer, None)) if start.as_json else shown_text(answer))
    return int(answer.verdict == "impossible")
