"""`rigup lab --host` and `--partition`: Jupyter Lab on another machine or in a job, behind a tunnel that is made again when it breaks."""

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.data import data_text
from rigup.cli.env_files import asked
from rigup.cli.failing import CannotBeDone, WrongRequest
from rigup.cli.lab_serving import install, say, show_addresses, token_of
from rigup.language import _

if TYPE_CHECKING:
    from rigup.lab.errors import LacksPackages
    from rigup.lab.remote import Connection

_FIRST_WAIT, _MOST_WAIT = 1.0, 30.0  # seconds before a connection is made again
_STANDARD_ERROR = 2  # what an installer says is for people, also where data is printed
_LAST_LINES = 12
_WARNED = (600, 120)  # seconds before the end of a job
# What srun is given, by the options of this command; a value is joined to its option.
_SRUN = {
    "partition": ("--partition={}", re.compile(r"[A-Za-z0-9_][\w.,-]{0,200}", re.ASCII)),
    "limit": ("--time={}", re.compile(r"\d[\d:-]{0,20}", re.ASCII)),
    "gpus": ("--gres=gpu:{}", re.compile(r"(?:[A-Za-z][\w.-]{0,60}:)?[1-9]\d{0,3}", re.ASCII)),
    "account": ("--account={}", re.compile(r"[A-Za-z0-9_][\w.-]{0,100}", re.ASCII)),
}


def lab_elsewhere(wish: dict[str, Any], as_json: bool) -> int:
    """Start it there and carry its port here; the exit status."""
    from rigup.cli.progress import Waiting
    from rigup.cli.stopping import stopping
    from rigup.lab.errors import LabError, LacksPackages
    from rigup.lab.jupyter import new_token
    from rigup.lab.remote import Connection, Wish
    from rigup.lab.server import free_port

    if wish["only"]:
        raise WrongRequest(_("--print is for this machine: run rigup there for it."))
    srun = _srun(wish)
    environment, folder, variables, packages = _remote_settings(wish, bool(srun)) if wish["host"] else _here(wish, as_json)
    wanted = Wish(
        variables=variables,
        host=wish["host"],
        environment=environment,
        folder=folder,
        srun=srun,
        packages=packages,
        token=token_of(wish["token_file"]) or new_token(),
        port=wish["port"] or free_port(),
        grace=wish["grace"],
    )
    connection = Connection(wanted, waits=say)
    with stopping():
        try:
            try:
                with Waiting(_("Jupyter Lab starts …")):
                    connection.open()
            except LacksPackages as lacks:
                _install_remotely(lacks, wish, as_json)
                with Waiting(_("Jupyter Lab starts …")):
                    connection.open()
            _ready(connection, as_json)
            _hold(connection)
        except KeyboardInterrupt:
            return _end(connection)
        except LabError as error:
            if error.log:
                click.echo("\n".join(error.log.splitlines()[-_LAST_LINES:]), err=True)
            raise CannotBeDone(str(error)) from error
        finally:
            connection.close()
    return 0


def _install_remotely(lacks: "LacksPackages", wish: dict[str, Any], as_json: bool) -> None:
    """Bring there what is lacking, when that is agreed. Raises the error itself where nobody can be asked."""
    if not wish["yes"] and (as_json or not sys.stdin.isatty()):
        raise lacks
    say(str(lacks))
    if not asked(_("Install them?"), wish["yes"]):
        raise click.exceptions.Exit(1)
    try:
        status = subprocess.run(lacks.argv, stdin=subprocess.DEVNULL, stdout=_STANDARD_ERROR, check=False).returncode
    except OSError as error:
        text = _("{program} cannot be started: {why}.").format(program=lacks.argv[0], why=error.strerror)
        raise CannotBeDone(text) from error
    if status:
        text = _("{packages} could not be installed there; what the installer said is above.")
        raise CannotBeDone(text.format(packages=", ".join(lacks.lacking)))


def _srun(wish: dict[str, Any]) -> tuple[str, ...]:
    """Options of srun; none where no job is asked for."""
    words = []
    for name, (option, form) in _SRUN.items():
        if wish[name] and not form.fullmatch(wish[name]):
            text = _("{value} is nothing that {option} takes.")
            asked = "--time" if name == "limit" else f"--{name}"
            raise WrongRequest(text.format(value=repr(wish[name])[:80], option=asked))
        words += [option.format(wish[name])] if wish[name] else []
    return tuple(words)


def _here(wish: dict[str, Any], as_json: bool) -> tuple[str, str, dict[str, str], tuple[str, ...]]:
    """Environment, folder and variables of a job that is asked for from this machine; what is lacking is installed before.

    What the devices of this machine need is not what those of the node do: only the environment's own variables go along.
    """
    from rigup.cli.arguments import click_errors
    from rigup.lab.jupyter import PACKAGES
    from rigup.plan.environments.record import read
    from rigup.workflows.notebooks import planned

    with click_errors():
        if not os.path.isdir(wish["folder"]):
            raise WrongRequest(_("There is no folder {path}.").format(path=wish["folder"]))
        plan = planned(wish["name"], wish["folder"], wish["extensions"])
    if plan.lacking and (status := install(plan, wish["yes"], as_json)):
        raise click.exceptions.Exit(status)
    record = read(plan.environment.path)
    kept = {name: value for name, value in (record.variables if record else {}).items() if "VISIBLE" not in name}
    return str(plan.environment.path), plan.folder, kept, PACKAGES


def _remote_settings(wish: dict[str, Any], is_job: bool) -> tuple[str, str, dict[str, str], tuple[str, ...]]:
    """The same of another machine; its devices are looked at where the server runs on that machine itself."""
    from rigup.cli.arguments import click_errors
    from rigup.lab.jupyter import PACKAGES
    from rigup.workflows.notebooks import extension_packages

    folder = wish["folder"] if wish["folder"] != "." else "~"
    variables, makers = ({}, frozenset[str]()) if is_job else _needed(wish["host"], wish["name"])
    with click_errors():
        more = extension_packages(makers) if wish["extensions"] else ()
    return wish["name"], folder, variables, (*PACKAGES, *more)


def _needed(host: str, environment: str) -> tuple[dict[str, str], frozenset[str]]:
    """What the devices there need, and who made them; nothing where ssh would have to ask somebody, which is told."""
    from rigup.cli.progress import Waiting
    from rigup.machine.collect.ssh import fit
    from rigup.workflows.notebooks import remote_needs

    if not fit(host):
        raise WrongRequest(_("{host} is no host that ssh could be given.").format(host=repr(host)[:80]))
    with Waiting(_("Looking at {host} …").format(host=host)):
        seen = remote_needs(host, environment)
    if seen is None:
        say(_("The devices of {host} were not looked at, so no variable is set for them.").format(host=host))
    return seen or ({}, frozenset())


def _hold(connection: "Connection") -> None:
    """Hold on until somebody ends it; a connection that breaks is made again."""
    warned = [seconds for seconds in _WARNED if connection.ends_at and connection.ends_at - time.time() > seconds]
    while True:
        while connection.hold():
            left = (connection.ends_at or 0) - time.time()
            if warned and left < warned[0]:
                warned = [seconds for seconds in warned if seconds < left]
                text = _("The job ends in {minutes} min, and Jupyter with its kernels: save what you need.")
                say(text.format(minutes=max(1, round(left / 60))))
        say(_("The connection to {host} broke; notebooks there go on. It is made again …").format(host=connection.wish.place))
        _reconnect(connection)
        say(_("The connection to {host} is there again.").format(host=connection.wish.place))


def _reconnect(connection: "Connection") -> None:
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


def _end(connection: "Connection") -> int:
    """Let go; where the connection is broken at that moment, the server ends by itself."""
    ended = False
    if connection.reached:
        with suppress(KeyboardInterrupt):
            ended = connection.stop()
    if not connection.ready:
        connection.close()
        say(_("Stopped; nothing is left there.") if ended else _("Stopped. A server that was just starting there ends by itself."))
        return 130
    if ended:
        say(_("Jupyter is ended with its kernels."))
    else:
        text = _("{host} is not reached: Jupyter ends there by itself in {seconds} s.")
        say(text.format(host=connection.wish.place, seconds=round(connection.wish.grace)))
    return 0


def _ready(connection: "Connection", as_json: bool) -> None:
    from rigup.lab.jupyter import lab_url, server_url
    from rigup.schemas.lab import Lab

    wanted = connection.wish
    url, vscode_url = lab_url(wanted.port, wanted.token), server_url(wanted.port, wanted.token)
    end = datetime.fromtimestamp(connection.ends_at).astimezone() if connection.ends_at else None
    if as_json:
        answer = Lab(
            url=url,
            vscode_url=vscode_url,
            host=connection.node or wanted.host,
            pid=os.getpid(),
            environment=wanted.environment or None,
            folder=wanted.folder,
            argv=["srun", *wanted.srun] if wanted.srun else [],
            variables=dict(wanted.variables),
            ends_at=end.isoformat(timespec="seconds") if end else None,
        )
        click.echo(data_text(answer, with_values=True))  # the token is what it is printed for
    else:
        show_addresses(url, vscode_url)
        if end:
            text = _("It runs on {node} until {time}, when its job ends.")
            say(text.format(node=connection.node, time=end.strftime("%Y-%m-%d %H:%M")))
    sys.stdout.flush()
