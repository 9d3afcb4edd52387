"""Jupyter Lab in a container: the command that `rigup container run` would make, with the folders of a run."""

import itertools
import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rigup.language import _
from rigup.workflows.errors import as_workflow_errors

if TYPE_CHECKING:
    from rigup.container.asked import Asked
    from rigup.container.host import Host
    from rigup.lab.container_folder import ContainerFolder
    from rigup.schemas.container import Container, Reason
    from rigup.stack.site import Site

_INSTALLED = 1800.0  # seconds in which packages are fetched and installed
_ASKED = 30.0  # seconds for an engine to answer
_PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)  # seconds between two tries to remove a container


class Boxed(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, of a machine that was looked at once.

    Attributes:
        request: image, engine and name of the container; port and program come with each start.
        wanted: packages that have to be there.
        packages: the folder that keeps what the image lacks; it need not be there.
        folder: in which notebooks lie.

    """

    request: "Asked"
    site: "Site"
    host: "Host"
    wanted: tuple[str, ...]
    packages: Path
    folder: str


def boxed(image: str, gpu: str, folder: str, name: str, *, extensions: bool) -> Boxed:
    """A request for Jupyter in a container of this machine. Raises WorkflowError."""
    from rigup.container.asked import Asked, checked
    from rigup.lab.container_folder import packages_folder
    from rigup.lab.jupyter import PACKAGES
    from rigup.workflows.containers import machine
    from rigup.workflows.notebooks import extension_packages

    with as_workflow_errors():
        request = checked(Asked(what=image, gpu=gpu, name=name))
        site, host = machine(None)
        makers = frozenset(str(device.vendor) for device in site.gpus)
        path = os.path.abspath(folder)
        return Boxed(
            request=request,
            site=site,
            host=msgspec.structs.replace(host, cwd=path),
            folder=path,
            wanted=(*PACKAGES, *(extension_packages(makers) if extensions else ())),
            packages=packages_folder(os.environ, image),
        )


def command(asked: Boxed, run: "ContainerFolder", port: int, verb: str = "serve") -> "Container":
    """The command of one start, and the folder of the run filled for it. Raises WorkflowError."""
    from rigup.container.command import command as made
    from rigup.lab.container_folder import as_request, program

    with as_workflow_errors():
        if verb == "install":
            asked.packages.mkdir(parents=True, exist_ok=True)
        packages = asked.packages if asked.packages.is_dir() else None
        ports = (port,) if verb == "serve" else ()
        request = msgspec.structs.replace(asked.request, publish=ports, command=program(verb))
        answer = made(as_request(request, run.path, packages), asked.site, asked.host)
        own = answer.engine not in ("apptainer", "singularity") and "host" not in _behind(answer.argv, "--network")
        variables = {name: value for name, value in answer.environment.items() if isinstance(value, str)}
        run.fill(port=port, has_own_network=own, variables=variables, title=_("Python ({name})").format(name=answer.image))
        return msgspec.structs.replace(answer, because=[_of_a_run(reason, asked, run) for reason in answer.because])


def _of_a_run(reason: "Reason", asked: Boxed, run: "ContainerFolder") -> "Reason":
    """Why what the run adds is there: nobody asked for it by name."""
    texts = {
        asked.request.name: _("By this name the container is ended, and removed, when Jupyter ends."),
        str(run.path): _("The token and the program that starts Jupyter: nobody else of this machine reads them."),
        str(asked.packages): _("What the image lacks lies here, and what notebooks install."),
    }
    text = next((text for word, text in texts.items() if word and word in reason.part[-1]), reason.why)
    return msgspec.structs.replace(reason, why=text)


def _behind(words: list[str], option: str) -> list[str]:
    return [value for name, value in itertools.pairwise(words) if name == option]


def is_there(answer: "Container") -> bool:
    """Whether the image need not be fetched; Apptainer sees to that itself."""
    if answer.engine in ("apptainer", "singularity"):
        return True
    return _quiet((answer.engine, "image", "inspect", answer.image)) == 0


def ended(answer: "Container", name: str) -> int | None:
    """The exit status of a container that its engine no longer holds on to, once it ends; None where there is none."""
    with suppress(OSError, ValueError, subprocess.TimeoutExpired):
        words = (answer.engine, "wait", name)
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_INSTALLED, check=False)
        return int(done.stdout) if done.returncode == 0 else None
    return None


def removed(answer: "Container", name: str) -> bool:
    """Whether nothing is left of a container, however its engine ended.

    An engine that cannot remove one at once, as its watcher was killed beside it or another command holds it, can a moment later.
    """
    if answer.engine in ("apptainer", "singularity"):
        return True
    time_out = ("--time", "0") if answer.engine == "podman" else ()
    for pause in _PAUSES:
        _quiet((answer.engine, "rm", "--force", *time_out, name))
        if (status := _quiet((answer.engine, "container", "inspect", name))) != 0:
            return status is not None
        time.sleep(pause)
    return False


def _quiet(words: tuple[str, ...]) -> int | None:
    """The exit status of an engine's command; None where it did not answer."""
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_ASKED, check=False)
        return done.returncode
    return None
