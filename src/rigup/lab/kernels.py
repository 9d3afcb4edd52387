"""Kernels of notebooks as Jupyter finds them: what each one starts, with which variables, and what is wrong with it."""

import os
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from rigup.language import _
from rigup.machine.host import Host
from rigup.machine.readers.jupyter import prefix_of
from rigup.schemas.lab import Kernel, KernelFault

_MOST_TEXT = 1_000_000
_MOST_KERNELS = 500
MASKS = {"CUDA_VISIBLE_DEVICES": "nvidia", "HIP_VISIBLE_DEVICES": "amd", "ROCR_VISIBLE_DEVICES": "amd"}
_OVERRIDES = re.compile(r"HSA_OVERRIDE_GFX_VERSION(?:_\d{1,2})?")
_HIDES_ALL = ("", "-1", "none", "None")


class Inside(msgspec.Struct, frozen=True, kw_only=True):
    """An environment that a kernel may run in.

    Attributes:
        folder: its own.
        packages: versions by name.
        needed: variables that the machine's devices need there.

    """

    folder: str
    packages: Mapping[str, str]
    needed: Mapping[str, str]


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel.json as Jupyter reads it; what has another type than Jupyter wants makes it unreadable."""

    argv: list[str]
    display_name: str = ""
    language: str = ""
    env: dict[str, str] = {}
    metadata: dict[str, Any] = {}


def description(text: str) -> Description | None:
    """The description of a kernel; None for what Jupyter could not start."""
    try:
        described = msgspec.json.decode(text.encode("utf-8", "replace"), type=Description)
    except (msgspec.DecodeError, RecursionError):
        return None
    return described if described.argv and described.argv[0] else None


def kernel_folders(own: str, variables: Mapping[str, str], environments: Iterable[str]) -> list[str]:
    """Folders that hold kernels, in Jupyter's order.

    Args:
        own: the person's own.
        variables: of the shell; JUPYTER_PATH names folders that come first.
        environments: folders of environments, each of which has kernels of its own.

    """
    named = [part for part in variables.get("JUPYTER_PATH", "").split(os.pathsep) if os.path.isabs(part)]
    shared = [f"{folder.rstrip('/')}/share/jupyter/kernels" for folder in (*environments, "/usr/local", "/usr")]
    shared += [posixpath.join(folder, "jupyter", "kernels") for folder in (variables.get("PROGRAMDATA", ""),) if folder]
    return list(dict.fromkeys((*(posixpath.join(folder, "kernels") for folder in named), own, *shared)))


def listed(host: Host, folders: Sequence[str], environments: Mapping[str, Inside], makers: frozenset[str]) -> list[Kernel]:
    """All kernels of some folders.

    Args:
        host: the machine.
        folders: in Jupyter's order.
        environments: by their folder, links followed.
        makers: of the GPUs that the shell sees.

    """
    kernels: list[Kernel] = []
    for folder in folders:
        for path in host.find(_escaped(folder) + "/*/kernel.json"):
            if len(kernels) < _MOST_KERNELS:
                former = [kernel for kernel in kernels if _name(path) == kernel.name]
                kernels.append(_kernel(host, path, environments, makers, former))
    return kernels


def _escaped(folder: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in folder)


def _name(path: str) -> str:
    return posixpath.basename(posixpath.dirname(path)).lower()


def _kernel(host: Host, path: str, environments: Mapping[str, Inside], makers: frozenset[str], former: list[Kernel]) -> Kernel:
    described = description(host.read(path, _MOST_TEXT).body or "")
    if described is None:
        text = _("Its kernel.json is not what Jupyter reads: an object with the list argv.")
        fault = KernelFault(fault="not-readable", text=text, mended=None)
        return Kernel(
            name=_name(path), title="", path=path, language="", python=None, environment=None, torch=None, variables={}, faults=[fault]
        )
    is_python = described.language in ("python", "") and any("ipykernel" in word for word in described.argv)
    python = described.argv[0] if is_python else None
    inside = _inside(host, python, path, environments)
    faults = [*_broken(host, python, inside), *_blind(described, inside, makers), *_hidden(former, described, environments)]
    return Kernel(
        name=_name(path),
        title=described.display_name,
        path=path,
        language=described.language,
        python=python,
        environment=inside.folder if inside else None,
        torch=inside.packages.get("torch") if inside else None,
        variables=described.env,
        faults=faults,
    )


def _inside(host: Host, python: str | None, path: str, environments: Mapping[str, Inside]) -> Inside | None:
    prefix = prefix_of(python, path) if python else None
    if prefix is None:
        return None
    return environments.get(prefix) or environments.get(host.link(prefix).body or prefix)


def _broken(host: Host, python: str | None, inside: Inside | None) -> list[KernelFault]:
    """What keeps it from starting."""
    if python and python.startswith("/") and host.link(python).state == "absent":
        text = _("It starts {python}, which is not there.").format(python=python)
        return [KernelFault(fault="no-python", text=text, mended=_("It is removed."))]
    if inside is not None and "ipykernel" not in inside.packages:
        text = _("ipykernel is not in {path}: install it there, or remove the kernel.").format(path=inside.folder)
        return [KernelFault(fault="no-ipykernel", text=text, mended=None)]
    return []


def _blind(described: Description, inside: Inside | None, makers: frozenset[str]) -> list[KernelFault]:
    """What keeps it from the devices that the shell sees."""
    faults = [
        KernelFault(
            fault="hides-devices",
            text=_("It sets {name}={value}, which hides every GPU from it.").format(name=name, value=value),
            mended=_("{name} is taken out.").format(name=name),
        )
        for name, value in described.env.items()
        if MASKS.get(name) in makers and value in _HIDES_ALL
    ]
    faults += [
        KernelFault(
            fault="empty-override",
            text=_("It sets {name} to nothing, which AMD's runtime reads as a version: it then finds no GPU.").format(name=name),
            mended=_("{name} is taken out.").format(name=name),
        )
        for name, value in described.env.items()
        if _is_empty_override(name, value, makers) and name not in (inside.needed if inside else {})
    ]
    for name, value in inside.needed.items() if inside else ():
        if described.env.get(name) != value:
            text = _("It is not given {name}={value}, which this machine's devices need.")
            mended = _("{name} is set.").format(name=name)
            faults.append(KernelFault(fault="lacks-variable", text=text.format(name=name, value=value), mended=mended))
    return faults


def _is_empty_override(name: str, value: str, makers: frozenset[str]) -> bool:
    return "amd" in makers and not value.strip() and _OVERRIDES.fullmatch(name) is not None


def _hidden(former: list[Kernel], described: Description, environments: Mapping[str, Inside]) -> list[KernelFault]:
    """Of two with one name Jupyter takes the first; those of environments are found by the Jupyter there alone."""
    for kernel in former:
        everywhere = not any(kernel.path.startswith(folder + "/share/") for folder in environments)
        if everywhere and kernel.python != described.argv[0]:
            text = _("Jupyter takes {path} in its place, which has the same name.").format(path=kernel.path)
            return [KernelFault(fault="shadowed", text=text, mended=None)]
    return []


def mended(text: str, needed: Mapping[str, str], makers: frozenset[str]) -> str | None:
    """A kernel.json with what the devices need and without what hides them; all else stays. None where nothing is to be done."""
    described = description(text)
    if described is None:
        return None
    kept = {
        name: value
        for name, value in described.env.items()
        if not (MASKS.get(name) in makers and value in _HIDES_ALL) and not _is_empty_override(name, value, makers)
    }
    env = {**kept, **needed}
    if env == described.env:
        return None
    whole: dict[str, Any] = msgspec.json.decode(text.encode())
    return msgspec.json.format(msgspec.json.encode({**whole, "env": env}), indent=1).decode() + "\n"
