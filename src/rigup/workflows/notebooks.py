"""Notebooks on this machine: the kernels that are there, and what the devices need of them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rigup.language import _
from rigup.workflows.environments import defaults
from rigup.workflows.errors import CannotBeDoneError, RequestError, as_workflow_errors

if TYPE_CHECKING:
    from rigup.lab.kernels import Inside
    from rigup.machine.store import Facts
    from rigup.plan.applying.journal import Intent
    from rigup.plan.environments.folder import Environment
    from rigup.plan.environments.running import Surroundings
    from rigup.schemas.lab import Kernel
    from rigup.schemas.plan import Plan
    from rigup.workflows.planning import Waiting


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Kernels, the environments that they may run in by their folder, and who made the GPUs that the shell sees."""

    kernels: "list[Kernel]"
    environments: "Mapping[str, Inside]"
    makers: frozenset[str]


def kernels() -> Seen:
    """All kernels that Jupyter finds here. Raises WorkflowError."""
    from rigup.lab.kernels import kernel_folders, listed
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.kinds import PythonEnv
    from rigup.machine.local import Local
    from rigup.machine.look import look
    from rigup.machine.readers.jupyter import prefix_of
    from rigup.machine.sources import close_sources, open_source
    from rigup.plan.environments.folder import environment_at
    from rigup.plan.environments.found import found
    from rigup.plan.environments.kernels import kernels_folder
    from rigup.stack.seen import site_of

    with as_workflow_errors():
        try:
            facts = look(open_source(None))
        finally:
            close_sources()
        own = str(kernels_folder(os.environ))
        started = listed(Local(), kernel_folders(own, os.environ, ()), {}, frozenset())
        folders = {str(entry.environment.path) for entry in found(defaults(), os.environ, Path.cwd())}
        folders |= {str(env.prefix) for env in facts.of(PythonEnv) if env.get("prefix")}
        folders |= {prefix for row in started if row.python and (prefix := prefix_of(row.python, row.path))}
        environments = {}
        for environment in filter(None, (environment_at(Path(folder)) for folder in sorted(folders))):
            environments[os.path.realpath(environment.path)] = _inside(environment, facts)
        makers = frozenset(str(device.vendor) for device in site_of(facts).gpus)
        every = {**environments, **{inside.folder: inside for inside in environments.values()}}
        places = kernel_folders(own, os.environ, (inside.folder for inside in environments.values()))
        return Seen(kernels=listed(Local(), places, every, makers), environments=every, makers=makers)


def _inside(environment: "Environment", facts: "Facts") -> "Inside":
    """What is there and needed there; masks that a record holds belong to one run."""
    from rigup.lab.kernels import Inside
    from rigup.plan.environments.devices import needed
    from rigup.plan.environments.folder import packages
    from rigup.plan.environments.record import read
    from rigup.stack.seen import site_of

    own = read(environment.path)
    if own is not None:
        variables = {name: value for name, value in own.variables.items() if "VISIBLE" not in name}
    else:
        variables = {setting.name: setting.value for setting in needed(site_of(facts, str(environment.path)))}
    versions = {package.name: package.version for package in packages(environment)}
    return Inside(folder=str(environment.path), packages=versions, needed=variables)


def the_kernel(seen: Seen, name: str) -> "Kernel":
    """The kernel that Jupyter takes for a name, or the one of a path. Raises RequestError."""
    for kernel in seen.kernels:
        if name.lower() == kernel.name or name in (kernel.path, os.path.dirname(kernel.path)):
            return kernel
    names = ", ".join(dict.fromkeys(kernel.name for kernel in seen.kernels)) or "–"
    raise RequestError(_("There is no kernel {name}. There are: {names}.").format(name=repr(name)[:80], names=names))


def register(environment: "Environment", name: str, title: str, *, inside: bool) -> Path:
    """Make an environment a kernel for notebooks; the file that was written. Raises WorkflowError."""
    from rigup.plan.environments.found import name_of
    from rigup.plan.environments.kernels import kernels_folder
    from rigup.plan.environments.kernels import register as write
    from rigup.plan.environments.running import merged
    from rigup.workflows.environments import surroundings_of

    with as_workflow_errors():
        called = name_of(environment.path)
        word = name or "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in called).strip("-")
        surroundings = surroundings_of(environment)
        variables = {setting.name: setting.value for setting in surroundings.variables}
        variables["PATH"] = merged(surroundings, os.environ)["PATH"]
        folder = environment.path / "share" / "jupyter" / "kernels" if inside else kernels_folder(os.environ)
        return write(environment, word or "rigup", title or _("Python ({name})").format(name=called), variables, folder)


def mended(seen: Seen, kernel: "Kernel") -> str | None:
    """What its kernel.json should say; None where nothing of it is mended by another text. Raises WorkflowError."""
    from rigup.lab.kernels import mended as text_of

    with as_workflow_errors(), open(kernel.path, encoding="utf-8", errors="replace") as file:
        inside = seen.environments.get(kernel.environment or "")
        return text_of(file.read(1_000_000), inside.needed if inside else {}, seen.makers)


def written(path: str, text: str) -> None:
    """The file anew, whole or not at all, with the rights that it had. Raises WorkflowError."""
    with as_workflow_errors():
        real = os.path.realpath(path)
        draft = real + ".rigup-new"
        try:
            with open(draft, "x", encoding="utf-8") as file:
                file.write(text)
            os.chmod(draft, os.stat(real).st_mode & 0o7777)
            os.replace(draft, real)
        finally:
            Path(draft).unlink(missing_ok=True)


def removed(kernel: "Kernel") -> None:
    """Take a kernel's folder away: only its files go, and nothing that a link leads to. Raises WorkflowError."""
    import shutil

    folder = os.path.dirname(kernel.path)
    with as_workflow_errors():
        if os.path.islink(folder):
            os.unlink(folder)
        elif not os.access(os.path.dirname(folder), os.W_OK):
            text = _("{path} is not yours to remove: whoever installed it can, with {command}.")
            command = f"jupyter kernelspec remove {kernel.name}"
            raise CannotBeDoneError(text.format(path=folder, command=command))
        else:
            shutil.rmtree(folder)


# -- Jupyter Lab ---------------------------------------------------------------------------------------


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """Jupyter Lab as it would be started.

    Attributes:
        environment: that it runs in.
        folder: in which notebooks lie.
        lacking: packages that the environment lacks.
        variables: of the devices and the environment, which server and kernels are given.
        surroundings: the same with what is taken away, and folders of programs and libraries.
        title: of the environment's kernel.

    """

    environment: "Environment"
    folder: str
    lacking: tuple[str, ...]
    variables: Mapping[str, str]
    surroundings: "Surroundings"
    title: str


def planned(name: str, folder: str, extensions: bool) -> Planned:
    """How Jupyter Lab is started in an environment. Raises WorkflowError."""
    from rigup.lab.jupyter import PACKAGES
    from rigup.plan.environments.folder import packages
    from rigup.plan.environments.found import name_of
    from rigup.workflows.environments import environment, surroundings_of

    with as_workflow_errors():
        existing = environment(name)
        installed = {package.name for package in packages(existing)}
        wanted = (*PACKAGES, *(_extensions() if extensions else ()))
        surroundings = surroundings_of(existing)
        return Planned(
            environment=existing,
            folder=os.path.abspath(folder or "."),
            lacking=tuple(package for package in wanted if package not in installed),
            variables={setting.name: setting.value for setting in surroundings.variables},
            surroundings=surroundings,
            title=_("Python ({name})").format(name=name_of(existing.path)),
        )


def _extensions() -> tuple[str, ...]:
    from rigup.stack.seen import look_at

    return extension_packages(frozenset(str(device.vendor) for device in look_at(None).gpus))


def extension_packages(makers: frozenset[str]) -> tuple[str, ...]:
    """Packages of extensions for GPUs of these makers. Raises KnowledgeError: the table is malformed."""
    from rigup.knowledge.notebooks import extensions

    return tuple(row.package for row in extensions(makers))


def installing(environment: "Environment", lacking: tuple[str, ...], waiting: "Waiting") -> "tuple[Intent, Plan]":
    """The plan by which packages come into an environment. Raises WorkflowError."""
    from rigup.plan.answer import answer
    from rigup.workflows import intents
    from rigup.workflows.planning import Request, chosen

    request = Request(wishes=lacking, environment=str(environment.path), manager=environment.kind)
    choice = chosen(request, resolve=True, waiting=waiting)
    plan = answer(choice)
    return intents.of_request(request, choice, plan), plan


def remote_needs(host: str, environment: str) -> "tuple[dict[str, str], frozenset[str]] | None":
    """What the devices of another machine need, and who made its GPUs, asked by ssh without a question to anybody; None where it does not answer so."""
    from rigup.machine.collect.ssh import Failure
    from rigup.plan.environments.devices import needed
    from rigup.stack.seen import site_of
    from rigup.workflows.diagnosing import facts_of_host

    try:
        site = site_of(facts_of_host(host, False, True), environment if environment.startswith("/") else "")
    except Failure:
        return None
    makers = frozenset(str(device.vendor) for device in site.gpus)
    return {setting.name: setting.value for setting in needed(site)}, makers
