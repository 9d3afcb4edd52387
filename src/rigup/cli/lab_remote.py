"""`rigup lab --host`: Jupyter Lab on another machine, behind a tunnel that is made again when it breaks."""

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.data import data_text
from rigup.cli.failing import CannotBeDone, WrongRequest
from rigup.cli.lab_serving import say, show_addresses, token_of
from rigup.language import _

if TYPE_CHECKING:
    from rigup.lab.remote import Connection, Wish

_FIRST_WAIT, _MOST_WAIT = 1.0, 30.0  # seconds before a connection is made again
_LAST_LINES = 12


def lab_elsewhere(wish: dict[str, Any], as_json: bool) -> int:
    """Start it there and carry its port here; the exit status."""
    from rigup.cli.progress import Waiting
    from rigup.cli.stopping import stopping
    from rigup.lab.errors import LabError
    from rigup.lab.jupyter import new_token
    from rigup.lab.remote import Connection, Wish
    from rigup.lab.server import free_port

    if wish["only"] or wish["extensions"]:
        raise WrongRequest(_("--print and --extensions are for this machine: run rigup there for them."))
    wanted = Wish(
        variables=_needed(wish["host"], wish["name"]),
        host=wish["host"], environment=wish["name"], folder=wish["folder"] if wish["folder"] != "." else "~",
        token=token_of(wish["token_file"]) or new_token(), port=wish["port"] or free_port(), grace=wish["grace"],
    )  # fmt: skip
    connection, serves = Connection(wanted), False
    with stopping():
        try:
            with Waiting(_("Jupyter Lab starts …")):
                connection.open()
            serves = True
            _ready(wanted, as_json)
            _hold(connection)
        except KeyboardInterrupt:
            return _end(connection, serves)
        except LabError as error:
            if error.log:
                click.echo("\n".join(error.log.splitlines()[-_LAST_LINES:]), err=True)
            raise CannotBeDone(str(error)) from error
        finally:
            connection.close()
    return 0


def _needed(host: str, environment: str) -> dict[str, str]:
    """What the devices there need; nothing where ssh would have to ask somebody, which is told."""
    from rigup.cli.progress import Waiting
    from rigup.machine.collect.ssh import fit
    from rigup.workflows.notebooks import needed_there

    if not fit(host):
        raise WrongRequest(_("{host} is no host that ssh could be given.").format(host=repr(host)[:80]))
    with Waiting(_("Looking at {host} …").format(host=host)):
        variables = needed_there(host, environment)
    if variables is None:
        say(_("The devices of {host} were not looked at, so no variable is set for them.").format(host=host))
    return variables or {}


def _hold(connection: "Connection") -> None:
    """Hold on until somebody ends it; a connection that breaks is made again."""
    while True:
        while connection.hold():
            pass
        say(
            _("The connection to {host} broke; notebooks there go on. It is made again …").format(
                host=connection.wish.host
            )
        )
        _made_again(connection)
        say(_("The connection to {host} is there again.").format(host=connection.wish.host))


def _made_again(connection: "Connection") -> None:
    """Try for as long as the server there waits. Raises LabError."""
    from rigup.lab.errors import LabError, ServerGone

    pause, until = _FIRST_WAIT, time.monotonic() + connection.wish.grace
    while True:
        try:
            connection.open(again=True)
            return
        except ServerGone:
            raise
        except LabError:
            if time.monotonic() > until:
                raise
            time.sleep(pause)
            pause = min(2 * pause, _MOST_WAIT)


def _end(connection: "Connection", serves: bool) -> int:
    """Let go; where the connection is broken at that moment, the server ends by itself."""
    if not serves:
        connection.close()
        say(_("Stopped. A server that was just starting there ends by itself."))
        return 130
    ended = False
    with suppress(KeyboardInterrupt):
        ended = connection.stop()
    if ended:
        say(_("Jupyter is ended with its kernels."))
    else:
        text = _("{host} is not reached: Jupyter ends there by itself in {seconds} s.")
        say(text.format(host=connection.wish.host, seconds=round(connection.wish.grace)))
    return 0


def _ready(wanted: "Wish", as_json: bool) -> None:
    from rigup.lab.jupyter import lab_url, server_url
    from rigup.schemas.lab import Lab

    url, vscode_url = lab_url(wanted.port, wanted.token), server_url(wanted.port, wanted.token)
    if as_json:
        answer = Lab(
            url=url, vscode_url=vscode_url, host=wanted.host, pid=os.getpid(), environment=wanted.environment or None, folder=wanted.folder,
            argv=[], variables=dict(wanted.variables), ends_at=None,
        )  # fmt: skip
        click.echo(data_text(answer, with_values=True))  # the token is what it is printed for
    else:
        show_addresses(url, vscode_url)
    sys.stdout.flush()
