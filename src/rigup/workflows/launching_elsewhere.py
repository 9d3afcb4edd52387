"""A job without a scheduler: its command on this machine, or one for each host by ssh, and its run to the end."""

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from rigup.language import _
from rigup.workflows.errors import CannotBeDoneError, as_workflow_errors

if TYPE_CHECKING:
    from rigup.train.launch.record import Run


def local_words(run: "Run") -> tuple[tuple[str, ...], dict[str, str]]:
    """The command that runs a job on this machine, and its variables."""
    from rigup.train.launch.elsewhere import torchrun_words, variables_elsewhere

    shape = run.job.shape
    port = shape.rendezvous.port or _free_port()
    rendezvous = msgspec.structs.replace(shape.rendezvous, port=port)
    job = msgspec.structs.replace(run.job, shape=msgspec.structs.replace(shape, rendezvous=rendezvous))
    return torchrun_words(job, 0, shape.rendezvous.address or "127.0.0.1"), variables_elsewhere(job)


def _free_port() -> int:
    """A port that is free, as the next one is: there the ranks' pre-flight meets. No outgoing connection takes one of these meanwhile."""
    from rigup.train.launch.script import FIRST_PORT, PORTS

    for _attempt in range(50):
        port = FIRST_PORT + secrets.randbelow(PORTS - 1)
        with socket.socket() as first, socket.socket() as second, suppress(OSError):
            first.bind(("127.0.0.1", port))
            second.bind(("127.0.0.1", port + 1))
            return port
    raise CannotBeDoneError(_("No two neighbouring ports are free on this machine."))


def commands_elsewhere(run: "Run") -> list[tuple[str, ...]]:
    """The command of this machine, or one for each host."""
    from rigup.train.launch.elsewhere import ssh_words

    if run.launcher == "torchrun":
        return [local_words(run)[0]]
    address = run.job.shape.rendezvous.address or run.hosts[0].rpartition("@")[2]
    return [ssh_words(run.job, host, number, address) for number, host in enumerate(run.hosts)]


def run_elsewhere(run: "Run", show: Callable[[bytes], None]) -> int:
    """Run a job without a scheduler: its output is shown and kept, and all of it ends with us; the first status that is not 0."""
    from rigup.train.launch.record import save
    from rigup.workflows.launching_processes import Processes

    environment = dict(os.environ)
    if run.launcher == "torchrun":
        words, variables = local_words(run)
        environment = {name: value for name, value in environment.items() if name not in run.job.program.unset} | variables
        environment["PATH"] = os.pathsep.join((*run.job.program.path, environment.get("PATH", os.defpath)))
        commands = [words]
    else:
        commands = commands_elsewhere(run)
    with as_workflow_errors():
        status = Processes(commands, environment, run, show).status()
        save(msgspec.structs.replace(run, last="completed" if status == 0 else "failed", exit=status))
    return status
