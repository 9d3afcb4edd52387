"""Containers on this machine or on one that was told of: what is asked, and the facts that it is answered from."""

import importlib
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from rigup.language import _
from rigup.workflows.errors import CannotBeDoneError, RequestError, UnclearMachineError, as_workflow_errors

if TYPE_CHECKING:
    from rigup.container.host import Host
    from rigup.schemas.container import Container, ContainerLint
    from rigup.stack.site import Site

_MOST_PROFILE, _MOST_FILE = 1_000_000, 2_000_000  # letters


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it was typed."""

    what: str
    engine: str = ""
    form: str = ""
    gpu: str = ""
    publish: tuple[int, ...] = ()
    mounts: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    detach: bool = False
    name: str = ""
    command: tuple[str, ...] = ()
    terminal: bool = True


def container(words: Words, profile: str | None) -> "Container":
    """The command for a request, on this machine or on one that was told of. Raises WorkflowError."""
    from rigup.container.asked import Asked, mount, variable

    with as_workflow_errors():
        site, host = machine(profile)
        from rigup.container.command import command

        asked = Asked(
            what=words.what,
            engine=words.engine,
            form=words.form,
            gpu=words.gpu,
            publish=words.publish,
            detach=words.detach,
            mounts=tuple(mount(text, host.cwd, host.home) for text in words.mounts),
            variables=dict(map(variable, words.variables)),
            name=words.name,
            command=words.command,
            terminal=words.terminal,
        )
        return command(asked, site, host)


def machine(profile: str | None) -> "tuple[Site, Host]":
    """A machine with what its containers need: this one, one of a TOML file with [host], or one in words.

    Raises:
        UnclearMachineError: words lack something.
        RequestError: a file cannot be understood.

    """
    if profile is not None and profile.endswith(".toml") and os.path.isfile(profile):
        return _of_file(profile)
    if profile is None:
        return _here()
    from rigup.container.host import Engine, Host
    from rigup.workflows.planning import site

    target = site(profile)
    uid = os.getuid() if hasattr(os, "getuid") else 0
    return target, Host(engines=(Engine(name="docker"),), uid=uid or 1000, gid=uid or 1000, home="/home/user", cwd="/home/user/work")


def _here() -> "tuple[Site, Host]":
    """This machine. Engines take as long as the look does, so they are asked first."""
    from rigup.container.engines import asking
    from rigup.machine.local import Local

    seam = Local()
    answered = asking(seam)
    threading.Thread(target=importlib.import_module, args=("rigup.container.command",), daemon=True).start()
    from rigup.container.here import host_here
    from rigup.stack.seen import look_at

    site = look_at(None, pythons=False)
    return site, host_here(site, seam, answered())


def _of_file(path: str) -> "tuple[Site, Host]":
    import tomllib

    from rigup.container.host import Host
    from rigup.stack.profile import ProfileError, read_profile, read_profile_table

    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read(_MOST_PROFILE)
    try:
        table: dict[str, Any] = tomllib.loads(text)
        host = msgspec.convert(table.pop("host", {}), Host)
        words = table.get("machine")
        return read_profile(words) if isinstance(words, str) else read_profile_table(text.partition("[host]")[0]), host
    except ProfileError as error:
        raise UnclearMachineError(str(error)) from error
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise RequestError(_("{path} does not tell of a machine: {error}.").format(path=path, error=error)) from error


class Building(msgspec.Struct, frozen=True, kw_only=True):
    """An image that is to be built: its recipe, and the command that reads it from its input."""

    recipe: str
    argv: tuple[str, ...]


def building(wishes: tuple[str, ...], profile: str | None, engine: str, tag: str) -> Building:
    """How an image for a wish is built. Raises WorkflowError."""
    from rigup.container.asked import Asked, checked
    from rigup.plan.render import rendered
    from rigup.plan.render.image import contexts
    from rigup.workflows.environments import defaults
    from rigup.workflows.planning import Request, chosen

    with as_workflow_errors():
        checked(Asked(what=tag))
        choice = chosen(Request(wishes=wishes, profile=profile, manager="docker"))
        if not choice.possible:
            raise CannotBeDoneError(choice.smallest_change or _("Nothing that was asked for can be installed there."))
        context_options = [word for name, folder in contexts(choice) for word in ("--build-context", f"{name}={folder}")]
        return Building(recipe=rendered(choice, "dockerfile", defaults().images), argv=(engine, "build", "-t", tag, *context_options, "-"))


def examined(name: str, engine: str) -> "ContainerLint":
    """What is wrong with a container of this machine. Raises WorkflowError."""
    import json
    import subprocess

    from rigup.container.asked import Asked, checked
    from rigup.container.inspected import examined as judged
    from rigup.schemas.container import ContainerLint

    with as_workflow_errors():
        checked(Asked(name=name))
        for program in (engine,) if engine else ("docker", "podman"):
            try:
                done = subprocess.run((program, "container", "inspect", name), capture_output=True, timeout=30, check=False)
                document = json.loads(done.stdout) if done.returncode == 0 else []
            except (OSError, ValueError, subprocess.TimeoutExpired):
                continue
            if isinstance(document, list) and document and isinstance(document[0], dict):
                return ContainerLint(files=[name], findings=judged(name, document[0], *machine(None)), fixed=0)
    raise CannotBeDoneError(_("{name} is no container that an engine here knows.").format(name=name))


def linted(files: tuple[str, ...], profile: str | None, with_machine: bool, fix: bool) -> "ContainerLint":
    """What is wrong with files; with `fix` what needs no judgement is mended in them. Raises WorkflowError."""
    from rigup.container.lint.check import lint, mended
    from rigup.schemas.container import ContainerLint

    found, fixed = [], 0
    with as_workflow_errors():
        site = machine(profile)[0] if with_machine else None
        for path in files:
            text = _text(path)
            findings = lint(path, text, _sibling_reader(path), site)
            if fix:
                text, count = mended(text, findings)
                fixed += count
                if count:
                    _replace(path, text)
                    findings = lint(path, text, _sibling_reader(path), site)
            found += findings
    return ContainerLint(files=list(files), findings=found, fixed=fixed)


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(_MOST_FILE)


def _sibling_reader(path: str) -> "Callable[[str], str]":
    """Files below the folder of a file, or, of a dev container, below the folder above that."""
    folder = os.path.realpath(os.path.dirname(path) or ".")
    top = os.path.dirname(folder) if os.path.basename(folder) == ".devcontainer" else folder

    def read(name: str) -> str:
        for start in (folder, top):
            found = os.path.realpath(os.path.join(start, name))
            if found.startswith(top.rstrip("/") + "/") and os.path.isfile(found):
                return _text(found)
        return ""

    return read


def _replace(path: str, text: str) -> None:
    """The file anew, with the rights that it had; a link keeps where it leads."""
    found = os.path.realpath(path)
    new = found + ".rigup-new"
    with open(new, "x", encoding="utf-8") as file:
        file.write(text)
    os.chmod(new, os.stat(found).st_mode & 0o7777)
    os.replace(new, found)
