"""`rigup lab` while it serves: what is lacking is installed, the addresses are said, and nothing is left behind."""

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.cli.failing import CannotBeDone, WrongRequest
from rigup.cli.layout import wrapped
from rigup.language import _

if TYPE_CHECKING:
    from rigup.lab.server import Server
    from rigup.schemas.lab import Lab
    from rigup.workflows.notebooks import Planned

_LOOKED_AT = 0.5  # seconds between two looks whether the server still runs
TRIES = 3  # where somebody takes a free port in the same moment
_LAST_LINES = 12
_LEAST_TOKEN, _MOST_TOKEN = 16, 512


def lab(wish: dict[str, Any], as_json: bool) -> int:
    """Start it, or print how it would be; the exit status."""
    from rigup.knowledge.hosted import hosted
    from rigup.workflows.notebooks import planned

    if not wish["only"] and (service := hosted(os.environ)):
        text = _(
            "This is a notebook of {service}, which has its own Jupyter: your browser does not reach a second one here. `%load_ext rigup` brings rigup's commands into the notebook, `rigup lab kernels add` an environment among its kernels, and `rigup doctor` tells what the service grants."
        )
        say(text.format(service=service.name))
    with click_errors():
        if not os.path.isdir(wish["folder"]):
            raise WrongRequest(_("There is no folder {path}.").format(path=wish["folder"]))
        plan = planned(wish["name"], wish["folder"], wish["extensions"])
    if wish["only"]:
        _show(plan, wish["port"], as_json)
        return 0
    if plan.lacking and (status := install(plan, wish["yes"], as_json)):
        return status
    return _serve(plan, wish, as_json)


def install(plan: "Planned", yes: bool, as_json: bool) -> int:
    """Bring what the environment lacks, after asking; the exit status."""
    from rigup.cli.progress import Waiting
    from rigup.cli.taking import RunOptions, on_record, taken
    from rigup.workflows.notebooks import installing

    if as_json and not yes:
        template = _("{environment} lacks {packages}. Nobody is asked where data is printed: give --yes, or `rigup apply` them.")
        raise WrongRequest(template.format(environment=plan.environment.path, packages=", ".join(plan.lacking)))
    options = RunOptions(yes=yes, dry_run=False, quiet=as_json, as_json=False, schema="rigup.apply/1")
    with on_record(options, plan.lacking) as run, click_errors():
        return taken(*installing(plan.environment, plan.lacking, Waiting), run)


def _serve(plan: "Planned", wish: dict[str, Any], as_json: bool) -> int:
    from rigup.lab.jupyter import RunFolder, new_token, program
    from rigup.plan.environments.kernels import described

    token = token_of(wish["token_file"]) or new_token()
    folder = RunFolder(token, described(plan.environment, plan.title, plan.variables))

    def start() -> "tuple[Server, Lab]":
        server = _started(plan, folder, wish, token)
        return server, _answer(plan, server, token, server.port)

    goodbye = _("Jupyter is ended with its kernels.")
    return serving(start, folder.remove, argv=program(plan.environment), goodbye=goodbye, as_json=as_json)


def serving(start: "Callable[[], tuple[Server, Lab]]", tidy: Callable[[], None], *, argv: list[str], goodbye: str, as_json: bool) -> int:
    """Serve until somebody ends it; the exit status.

    Args:
        start: gives a server that answers, and where it is.
        tidy: takes away what the run needed, however it ended.
        argv: what was started, for the doctor.
        goodbye: what is said when it has ended.
        as_json: where it is is printed as data.

    """
    from rigup.cli.stopping import stopping
    from rigup.lab.errors import LabError

    server: Server | None = None
    with stopping() as signals:
        try:
            server, answer = start()
            _ready(answer, as_json)
            while server.status is None:
                time.sleep(_LOOKED_AT)
            raise LabError(_("Jupyter ended by itself, with status {status}.").format(status=server.status), server.log)
        except KeyboardInterrupt:
            say(goodbye if server else _("Stopped; nothing was started."))
            return 0 if signals or server else 130
        except LabError as error:
            raise _diagnosed(error, argv) from error
        finally:
            with suppress(KeyboardInterrupt):
                _end(server)
            tidy()


def _end(server: "Server | None") -> None:
    """End it; a second Ctrl-C does not leave it behind."""
    if server is None:
        return
    try:
        server.stop()
    except KeyboardInterrupt:
        server.stop()
        raise


def answering(server: "Server", seconds: float) -> "Server":
    """The server, once it answers; it is stopped where it does not."""
    from rigup.cli.progress import Waiting

    try:
        with Waiting(_("Jupyter Lab starts …")):
            server.wait(seconds)
    except BaseException:
        server.stop()
        raise
    return server


def _started(plan: "Planned", folder: Any, wish: dict[str, Any], token: str) -> "Server":
    """A server that answers."""
    from rigup.lab.errors import LabError
    from rigup.lab.jupyter import program, words
    from rigup.lab.server import START, Server, free_port
    from rigup.plan.environments.running import merged

    environ = folder.variables(merged(plan.surroundings, os.environ))
    for left in reversed(range(1 if wish["port"] else TRIES)):
        port = wish["port"] or free_port()
        server = Server(
            words(program(plan.environment), plan.folder, port),
            environ,
            port,
            token,
            folder=plan.folder,
            say=say if wish["logged"] else None,
        )
        try:
            return answering(server, START)
        except LabError as error:
            if not server.port_was_taken:
                raise
            if not left:
                text = _("Port {port} is taken: a program listens on it already. Without --port a free one is found.")
                raise CannotBeDone(text.format(port=port)) from error
    raise AssertionError


def token_of(path: str | None) -> str:
    """The token of a file; "" where none is named."""
    if path is None:
        return ""
    token = Path(path).read_bytes()[: _MOST_TOKEN + 2].decode("utf-8", "replace").strip()
    if not (_LEAST_TOKEN <= len(token) <= _MOST_TOKEN and token.isascii() and token.replace("-", "a").replace("_", "a").isalnum()):
        text = _("The token in {path} must have {least} to {most} letters, digits, - and _.")
        raise WrongRequest(text.format(path=path, least=_LEAST_TOKEN, most=_MOST_TOKEN))
    return token


def _show(plan: "Planned", port: int, as_json: bool) -> None:
    """The command, and the variables; nothing is started."""
    import shlex

    from rigup.lab.server import free_port

    answer = _answer(plan, None, "", port or free_port())
    if as_json:
        click.echo(data_text(answer))
        return
    for name, value in answer.variables.items():
        click.echo(f"{name}={shlex.quote(value)} \\")
    click.echo(shlex.join(answer.argv))
    if plan.lacking:
        template = _("{environment} lacks {packages}, which are installed before, when you agree.")
        say(template.format(environment=plan.environment.path, packages=", ".join(plan.lacking)))


def _answer(plan: "Planned", server: "Server | None", token: str, port: int) -> "Lab":
    from rigup.lab.jupyter import lab_url, program, server_url, words
    from rigup.schemas.lab import Lab

    return Lab(
        url=lab_url(port, token) if server else None,
        vscode_url=server_url(port, token) if server else None,
        host="",
        pid=os.getpid() if server else None,
        environment=str(plan.environment.path),
        folder=plan.folder,
        argv=words(program(plan.environment), plan.folder, port),
        variables=dict(plan.variables),
        ends_at=None,
    )


def _ready(answer: "Lab", as_json: bool) -> None:
    """Say where it is; the token is said this once."""
    if as_json:
        click.echo(data_text(answer, with_values=True))  # the token is what it is printed for
    else:
        show_addresses(str(answer.url), str(answer.vscode_url))
    sys.stdout.flush()


def show_addresses(url: str, vscode_url: str) -> None:
    """Say where it serves; the token is said this once."""
    click.echo(_("Jupyter Lab: {url}").format(url=url))
    click.echo(_("VS Code (Select Kernel, Existing Jupyter Server): {url}").format(url=vscode_url))
    click.echo(_("Ctrl-C ends it with its kernels."))


def _diagnosed(error: Any, argv: list[str]) -> CannotBeDone:
    """The error, with what Jupyter said last and what the doctor makes of it."""
    from rigup.cli.program_report import death_text

    if error.log:
        click.echo("\n".join(error.log.splitlines()[-_LAST_LINES:]), err=True)
        color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        click.echo("\n" + death_text(argv, 1, error.log, color) + "\n", err=True)
    return CannotBeDone(str(error))


def say(text: str) -> None:
    """A paragraph on standard error."""
    click.echo("\n".join(wrapped(text)), err=True)
