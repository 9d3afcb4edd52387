"""Steps that bring a CUDA toolkit and cuDNN, and leave the driver alone."""

import re
from collections.abc import Iterator

from msgspec import structs

from rigup.knowledge.cuda import version_key
from rigup.knowledge.cuda_toolkits import Toolkit, conda_toolkit, system_cudnn, system_toolkit
from rigup.language import _, sentences
from rigup.plan.packages import Group, channel
from rigup.plan.place import inside
from rigup.stack.candidate import Change
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.steps import Step, make, make_as

_CUDA = re.compile(r"(?:CUDA )?(\d{1,3}\.\d{1,3})")
_COMPAT = re.compile(r"cuda-compat (\d{1,3}\.\d{1,3})")
# Constant text; the environment comes as an argument. The folder goes before all others: its libcuda is the newer one.
_ACTIVATE = (
    'mkdir -p "$1/etc/conda/activate.d" && printf "%s\\n" '
    "'export LD_LIBRARY_PATH=\"$CONDA_PREFIX/cuda-compat${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"' "
    '> "$1/etc/conda/activate.d/cuda-compat.sh"'
)
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
    recipe = system_toolkit(cuda, site.distribution, site.release, site.machine, site.wsl) if site.system == "linux" else None
    if recipe is None:
        note = _("NVIDIA has no packages of it for this system: a conda environment can have it (--in conda).")
        yield make("install-toolkit", {"version": cuda or change.to}, because=sentences(change.why, note))
        return
    yield from _from_repository(recipe, change, site)


def _from_repository(recipe: Toolkit, change: Change, site: Site) -> Iterator[Step]:
    cuda, cudnn = wanted(change)
    place = inside(site)
    name = _("NVIDIA's CUDA repository")
    yield make_as("add-package-source", {"provider": name}, recipe.setup, because=recipe.source, **place)
    yield make_as("install-cuda-toolkit", {"version": cuda}, recipe.install, recipe.undo, because=change.why, **place)
    commands = system_cudnn(cudnn, cuda, site.distribution) if cudnn else ()
    if commands:
        yield make_as("install-cudnn", {"version": cudnn}, commands, because=change.why, **place)


def conda_steps(choice: Choice, environment: str) -> Iterator[Step]:
    """The toolkit of a conda environment: from one label's channel alone, before any package of pip."""
    for change in choice.changes if in_conda(choice) else ():
        if compat := _COMPAT.fullmatch(change.to):
            yield from _compat_steps(choice, environment, compat[1], change.why)
            continue
        cuda, cudnn = wanted(change) if change.change == "toolkit" else ("", "")
        recipe = conda_toolkit(cuda) if cuda else None
        if recipe is None:
            continue
        yield _with_conda(environment, recipe.channel, recipe.packages, change.why)
        if cudnn:
            names = (f"cudnn={cudnn}", f"cuda-version={cuda}")
            yield _with_conda(environment, "conda-forge", names, change.why)
        because = _("Builds look for the libraries of CUDA_HOME in lib64; conda's lie in lib.")
        params = {"path": environment + "/lib64", "target": "lib"}
        if choice.site.system == "linux":
            yield make("link-folder", params, because=because)


def _compat_steps(choice: Choice, environment: str, release: str, why: str) -> Iterator[Step]:
    """CUDA's user space of a newer major, found before the driver's own whenever the environment is active."""
    yield _with_conda(environment, channel(choice), ("cuda-compat=" + release,), why)
    params = {"name": "LD_LIBRARY_PATH", "value": environment + "/cuda-compat", "environment": environment}
    script = environment + "/etc/conda/activate.d/cuda-compat.sh"
    because = _("Programs take the newer libcuda from there; the driver's own stays as it is.")
    commands = (("sh", "-c", _ACTIVATE, "sh", environment),)
    yield make_as("set-environment-variable", params, commands, (("rm", "-f", script),), because=because)


def conda_packages(choice: Choice, environment: str, all_groups: list[Group]) -> Step:
    """Builds of conda-forge, all in one call: the solver sees them together. Packages by pip come after them."""
    packages = tuple(dict.fromkeys(spec for group in all_groups for spec in group.conda))
    because = next((served.because for group in all_groups if group.build for served in group.build.served if served.served), "")
    step = _with_conda(environment, channel(choice), packages, because or _("It runs on the CPU."))
    cuda = max((group.build.build.cuda for group in all_groups if group.build), key=version_key, default="")
    return structs.replace(step, commands=tuple(_shown_cuda(argv, cuda, choice.site) for argv in step.commands))


def _shown_cuda(argv: tuple[str, ...], cuda: str, site: Site) -> tuple[str, ...]:
    """Where no driver is to be seen, conda's solver needs the CUDA that the machine will have."""
    unseen = cuda and not site.nvidia_driver and site.system == "linux"
    return ("env", "CONDA_OVERRIDE_CUDA=" + cuda, *argv) if unseen else argv


def _with_conda(environment: str, source: str, packages: tuple[str, ...], because: str) -> Step:
    params = {"packages": " ".join(packages), "environment": environment, "channel": source}
    argv = ("conda", "install", "-y", "-p", environment, "--override-channels", "-c", source)
    extra_channel = ("-c", "conda-forge") if source.startswith("nvidia") else ()
    return make_as("install-with-conda", params, ((*argv, *extra_channel, *packages),), because=because)


def in_conda(choice: Choice) -> bool:
    """The environment is conda's, so that a toolkit in it needs no root."""
    return choice.wish.manager == "conda"


def wanted(change: Change) -> tuple[str, str]:
    """The releases that a change names: ("11.8", "8.6") of "CUDA 11.8 and cuDNN 8.6"; "" where it names none."""
    if _COMPAT.fullmatch(change.to):
        return "", ""
    cuda, cudnn = _CUDA.search(change.to), _CUDNN.search(change.to)
    return (cuda[1] if cuda else "", cudnn[1] if cudnn else "")
