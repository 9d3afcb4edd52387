"""For which Pythons a compiled package has wheels."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.torch_builds import builds, companions
from rigup.knowledge.wheels import pythons_with_wheel

_TABLES = {
    "tensorflow": ("tensorflow_jax", "tensorflow", "version"),
    "tensorflow-cpu": ("tensorflow_jax", "tensorflow", "version"),
    "vllm": ("tensorflow_jax", "vllm", "version"),
    "onnxruntime-gpu": ("tensorflow_jax", "onnxruntime_gpu", "version"),
    "onnxruntime": ("tensorflow_jax", "onnxruntime_gpu", "version"),  # built beside it for the same Pythons
    "torch-directml": ("directml", "release", "torch_directml"),
    "tensorflow-directml": ("directml", "tensorflow_fork", "version"),
    "tensorflow-directml-plugin": ("directml", "tensorflow_plugin", "version"),
}
_OF_TORCH = ("torch", "torchvision", "torchaudio", "pytorch")
_MACHINES = {"macos": ("arm64", "x86_64")}  # that a system is mostly seen on
_MOST_MINORS = 30


def supported(package: str, python: str, version: str = "", system: str = "linux", variant: str = "", machine: str = "") -> bool | None:
    """Tell whether a package has wheels for a Python.

    Args:
        package: as pip names it.
        python: "3.13", "3.13.1".
        version: of the package, where one was asked for; "" any.
        system: "linux", "windows" or "macos".
        variant: of torch's indexes, where only that one was asked ("cu117"); "" any.
        machine: "x86_64", "aarch64" or "arm64"; "" where nobody tells.

    Returns:
        None where the tables do not know the package, the release or the Python.

    Raises:
        KnowledgeError: a table is malformed.

    """
    asked = version_key(python)[:2]
    known = pythons(package, version, system, variant, machine)
    return asked in {version_key(release)[:2] for release in known} if known and len(asked) > 1 else None


def pythons(package: str, version: str = "", system: str = "linux", variant: str = "", machine: str = "") -> list[str]:
    """List the Pythons with wheels of a package ("3.12"), the newest first; [] where nobody knows.

    Takes what `supported` takes.

    Raises:
        KnowledgeError: a table is malformed.

    """
    name = re.sub(r"[-_.]+", "-", package).lower()
    releases = _of_torch(name, version, system, variant, machine) if name in _OF_TORCH else _of_table(name, version)
    plain = {release for release in releases if release.replace(".", "").isdigit()}
    return sorted(plain, key=version_key, reverse=True)


def pythons_of_all(pinned: Mapping[str, str], system: str, machine: str = "") -> list[str]:
    """List the Pythons with wheels of all that is pinned, the newest first; [] where the tables know none of it, or no Python serves all.

    Args:
        pinned: releases by package, as pip names it; "" for any release.
        system: "linux", "windows" or "macos".
        machine: "x86_64", "aarch64" or "arm64"; "" where nobody tells.

    Raises:
        KnowledgeError: a table is malformed.

    """
    known = [
        found for name, release in pinned.items() if (found := _with_wheels(name, release.partition("+")[0], system, machine)) is not None
    ]
    return [python for python in (known[0] if known else ()) if all(python in rest for rest in known)]


def _with_wheels(name: str, release: str, system: str, machine: str) -> list[str] | None:
    """Those of one package; None where nobody knows."""
    found = pythons(name, release, system, machine=machine)
    looked_at = pythons_with_wheel(name, release, system, machine or _MACHINES.get(system, ("x86_64",))[0], found or pythons("torch"))
    return list(looked_at) if looked_at is not None else found or None


def tensorflow_on_windows(version: str) -> bool | None:
    """Tell whether TensorFlow's own wheel of a release drives a GPU on native Windows; None for no version.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax").get("tensorflow_fact", [])
    last = next((str(row["until"]) for row in rows if row.get("id") == "windows-gpu"), "")
    asked = version_key(version)[:2]
    return asked <= version_key(last) if asked and last else None


def tensorflow_with_windows() -> str:
    """The last line of TensorFlow whose own wheel drives a GPU on native Windows ("2.10"). Raises KnowledgeError."""
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax").get("tensorflow_fact", [])
    return next((str(row["until"]) for row in rows if row.get("id") == "windows-gpu"), "")


def tensorflow_extra(version: str) -> str:
    """What pip is asked for, so that a release of TensorFlow brings its CUDA libraries ("tensorflow[and-cuda]"); "" where it brings none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax").get("tensorflow", [])
    found = (row for row in rows if any(version == release for release in _releases(row, "version")))
    return next((str(row.get("extra") or "") for row in found), "")


def plain_tensorflow_for_processors(version: str) -> bool:
    """Tell whether PyPI's package `tensorflow` of a release was for processors, and another had CUDA.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax").get("tensorflow_fact", [])
    row = next((row for row in rows if row.get("id") == "one-wheel-for-both"), None)
    asked = version_key(version)[:2]
    if row is None or not asked:
        return False
    return asked < version_key(row["since"]) or asked in [version_key(release) for release in row["apart"]]


def _of_torch(name: str, version: str, system: str, variant: str, machine: str) -> Iterable[str]:
    machines = (machine,) if machine else _MACHINES.get(system, ("x86_64",))
    every = (row for one in machines for row in builds(system, one))
    rows = [row for row in every if variant in ("", row.variant) and (not version or _same(version, _release(name, row.torch)))]
    return {python for row in rows for python in row.python}


def _release(name: str, torch: str) -> str:
    friends = companions(torch) if name.startswith("torch") and name != "torch" else None
    return str(getattr(friends, name, "")) if friends else torch


def _of_table(name: str, version: str) -> Iterable[str]:
    if name not in _TABLES:
        return ()
    table, array, key = _TABLES[name]
    rows: list[dict[str, Any]] = tables.table(table).get(array, [])
    chosen = [row for row in rows if not version or any(_same(version, release) for release in _releases(row, key))]
    return {python for row in chosen for python in _spelt_out(str(row.get("python", "")))}


def _releases(row: dict[str, Any], key: str) -> list[str]:
    """A row of several releases lists them."""
    return [str(release) for release in row.get("releases") or [row.get(key, "")]]


def _same(asked: str, held: str) -> bool:
    mine = version_key(asked)[:3]
    return bool(mine) and version_key(held)[: len(mine)] == mine


def _spelt_out(bounds: str) -> Iterable[str]:
    """`3.9-3.12` and `<3.14,>=3.10` as single Pythons; an open end is left open by nobody knowing it."""
    if match := re.fullmatch(r"3\.(\d{1,2})-3\.(\d{1,2})", bounds.strip()):
        first, last = int(match[1]), int(match[2])
    else:
        least, most = re.search(r">=3\.(\d{1,2})", bounds), re.search(r"<3\.(\d{1,2})", bounds)
        if not least or not most:
            return []
        first, last = int(least[1]), int(most[1]) - 1
    return [f"3.{minor}" for minor in range(first, min(last, first + _MOST_MINORS) + 1)]
