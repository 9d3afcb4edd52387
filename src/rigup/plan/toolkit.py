"""Steps that bring a CUDA toolkit and cuDNN, and leave the driver alone."""

import re
from collections.abc import Iterator

from rigup.knowledge.cuda_toolkits import Toolkit, conda_toolkit, system_cudnn, system_toolkit
from rigup.language import _
from rigup.plan.place import inside
from rigup.stack.candidate import Change
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.steps import KINDS, Step, make, make_as

_CUDA = re.compile(r"(?:CUDA )?(\d{1,3}\.\d{1,3})")
_CUDNN = re.compile(r"cuDNN (\d{1,3}(?:\.\d{1,3}){0,2})")


def steps(change: Change, choice: Choice) -> Iterator[Step]:
    """A toolkit of the system, from NVIDIA's repository; where that has none of the release, what to do instead.

    In a conda environment it comes by `conda_steps`, after the environment is made.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if not in_conda(choice):
        yield from of_system(change, choice.site)


def of_system(change: Change, site: Site) -> Iterator[Step]:
    """A toolkit for the whole system; see `steps`."""
    cuda, _cudnn = wanted(change)
    found = (
        system_toolkit(cuda, site.distribution, site.release, site.machine, site.wsl)
        if site.system == "linux"
        else None
    )
    if found is None:
        told = _("NVIDIA has no packages of it for this system: a conda environment can have it (--in conda).")
        yield make("install-toolkit", {"version": cuda or change.to}, KINDS, because=change.why + " " + told)
        return
    yield from _from_repository(found, change, site)


def _from_repository(found: Toolkit, change: Change, site: Site) -> Iterator[Step]:
    cuda, cudnn = wanted(change)
    place = inside(site)
    name = _("NVIDIA's CUDA repository")
    yield make_as("add-package-source", {"provider": name}, KINDS, found.setup, because=found.source, **place)
    yield make_as(
        "install-cuda-toolkit", {"version": cuda}, KINDS, found.install, found.undo, because=change.why, **place
    )
    commands = system_cudnn(cudnn, cuda, site.distribution) if cudnn else ()
    if commands:
        yield make_as("install-cudnn", {"version": cudnn}, KINDS, commands, because=change.why, **place)


def conda_steps(choice: Choice, environment: str) -> Iterator[Step]:
    """The toolkit of a conda environment: from one label's channel alone, before any package of pip."""
    for change in choice.changes if in_conda(choice) else ():
        cuda, cudnn = wanted(change) if change.change == "toolkit" else ("", "")
        found = conda_toolkit(cuda) if cuda else None
        if found is None:
            continue
        yield _with_conda(environment, found.channel, found.packages, change.why)
        if cudnn:
            names = (f"cudnn={cudnn}", f"cuda-version={cuda}")
            yield _with_conda(environment, "conda-forge", names, change.why)
        because = _("Builds look for the libraries of CUDA_HOME in lib64; conda's lie in lib.")
        params = {"path": environment + "/lib64", "target": "lib"}
        if choice.site.system == "linux":
            yield make("link-folder", params, KINDS, because=because)


def _with_conda(environment: str, channel: str, packages: tuple[str, ...], because: str) -> Step:
    params = {"packages": " ".join(packages), "environment": environment, "channel": channel}
    argv = ("conda", "install", "-y", "-p", environment, "--override-channels", "-c", channel)
    beside = () if channel == "conda-forge" else ("-c", "conda-forge")
    return make_as("install-with-conda", params, KINDS, ((*argv, *beside, *packages),), because=because)


def in_conda(choice: Choice) -> bool:
    """The environment is conda's, so that a toolkit in it needs no root."""
    return choice.wish.manager == "conda"


def wanted(change: Change) -> tuple[str, str]:
    """The releases that a change names: ("11.8", "8.6") of "CUDA 11.8 and cuDNN 8.6"; "" where it names none."""
    cuda, cudnn = _CUDA.search(change.to), _CUDNN.search(change.to)
    return (cuda[1] if cuda else "", cudnn[1] if cudnn else "")
