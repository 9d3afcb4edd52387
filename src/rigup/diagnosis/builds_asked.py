"""Drivers, CUDA and builds of torch that an answer can name: those of the text, and those that the tables have for its card."""

from collections.abc import Callable
from typing import Any

from rigup.diagnosis.looking import Look, chip, system
from rigup.knowledge.cuda import cuda_of_driver, driver_carries, driver_minimum, version_key
from rigup.knowledge.cuda_libraries import asked_by
from rigup.knowledge.driver_choice import stable_branch
from rigup.knowledge.gpus import driver_branch_for
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.pythons import tensorflow_with_windows
from rigup.knowledge.rocm import gfx_family
from rigup.knowledge.torch_builds import TorchBuild, builds, index_url, newest_build
from rigup.machine.kinds import Driver, Torch

_CUDA = lazy_regex(r"(?<![\d.])(?P<whole>1[0-3]\.\d)(?![\d])|\bcu(?P<major>1[0-3])(?P<minor>\d)\b")
_CUDNN_LONG, _CUDNN_UNIT = 90_000, 10_000  # from this number on a major release counts so much, before it a tenth


def _driver(seen: Look) -> dict[str, str]:
    drivers = [driver for driver in seen.facts.of(Driver) if driver.get("version")]
    if len(drivers) != 1:
        return {}
    version, own = str(drivers[0].get("version")), drivers[0].get("vendor") in (None, "nvidia")
    return {"version": version, "cuda": str(drivers[0].get("cuda") or (own and cuda_of_driver(version)) or "")}


def _torch(seen: Look, field: str) -> str:
    """A field of the text's only torch."""
    found = {str(torch.get(field)) for torch in seen.facts.of(Torch) if torch.get(field)}
    return found.pop() if len(found) == 1 else ""


def _build(seen: Look) -> TorchBuild | None:
    """The newest torch for the card, and for the driver where one is shown."""
    card, where = seen.card, system(seen)
    if not card or not card.isa or where == "macos":
        return None
    driver = _driver(seen).get("version") if card.vendor == "nvidia" else None
    return newest_build(card.isa, driver=driver or None, system="windows" if where == "windows" else "linux")


def _torch_for_card(seen: Look) -> str:
    build = _build(seen)
    return f"{build.torch}+{build.variant}" if build else ""


def _pip_torch(seen: Look) -> str:
    build = _build(seen)
    if not build:
        return ""
    index = "" if build.pypi else f" --index-url {index_url(build.variant)}"
    return "pip install torch torchvision" + index


def _pythons(seen: Look) -> list[str]:
    """Versions of Python for which the newest torch for the card has wheels."""
    build = _build(seen)
    return [version for version in build.python if version[-1].isdigit()] if build else []


def _torch_pythons(seen: Look) -> str:
    """Versions of Python for which the newest torch of the system has wheels."""
    rows = builds("windows" if system(seen) == "windows" else "linux")
    newest = max(rows, key=lambda row: version_key(row.torch), default=None)
    return ", ".join(version for version in newest.python if version[-1].isdigit()) if newest else ""


def _older_cuda(seen: Look) -> str:
    """The CUDA of torch, where the driver's is newer."""
    own, drivers = _torch(seen, "cuda"), _driver(seen).get("cuda", "")
    return own if own and drivers and version_key(drivers) >= version_key(own) else ""


def _cudnn(seen: Look) -> str:
    """cuDNN's release, which torch tells as one number: 90100 is 9.1.0, 8902 is 8.9.2."""
    number = int(seen.asked.said.get("cudnn_number", "0"))
    unit = _CUDNN_UNIT if number >= _CUDNN_LONG else _CUDNN_UNIT // 10
    return f"{number // unit}.{number % unit // 100}.{number % 100}" if number else ""


def _asked_cuda(seen: Look, runs: bool) -> str:
    """The CUDA that the question names, where the driver of the text runs what is built for it, or where it does not."""
    found, driver = _CUDA.search(seen.asked.near), _driver(seen).get("version")
    if not found or not driver:
        return ""
    asked = found["whole"] or f"{found['major']}.{found['minor']}"
    where = "windows" if system(seen) in ("windows", "wsl") else "linux"
    return asked if driver_carries(driver, asked, where) is runs else ""


def _driver_for_cuda(seen: Look) -> str:
    where = "windows" if system(seen) in ("windows", "wsl") else "linux"
    return driver_minimum(_asked_cuda(seen, runs=False), where) or ""


def _listed(seen: Look, is_listed: bool) -> str:
    """The chip, where AMD lists it for ROCm, or where it does not."""
    target = gfx_family(chip(seen)) if chip(seen).startswith("gfx") else None
    return chip(seen) if target and target.rocm_official.startswith(("official", "listed")) is is_listed else ""


def _last_branch(seen: Look) -> str:
    """The last branch of drivers for the chip, where newer ones leave it out."""
    branch = driver_branch_for(chip(seen)) if chip(seen).startswith("sm_") else None
    return branch or ""


def _served(seen: Look) -> str:
    """The card, where present drivers serve it."""
    known = seen.card and chip(seen).startswith("sm_") and not _last_branch(seen)
    return seen.card.name if seen.card and known else ""


def _branch(seen: Look) -> str:
    """A branch of drivers that the card has, newer than the one that is shown."""
    own = _driver(seen).get("version", "")
    return (stable_branch(own.partition(".")[0], [chip(seen)]) or "") if own and chip(seen) else ""


def _of_windows_last_tensorflow(part: str) -> str:
    """What the last TensorFlow with a GPU on native Windows was built with, which is what the tables have last of system libraries."""
    built = next(reversed(asked_by("tensorflow")), None)
    return str(getattr(built, part, ""))


OF_BUILDS: dict[str, Callable[[Look], Any]] = {
    "driver": lambda seen: _driver(seen).get("version"),
    "driver_cuda": lambda seen: _driver(seen).get("cuda"),
    "torch": lambda seen: _torch(seen, "version"),
    "torch_cuda": lambda seen: _torch(seen, "cuda"),
    "older_cuda": _older_cuda,
    "torch_for_card": _torch_for_card,
    "pip_torch": _pip_torch,
    "pythons": lambda seen: ", ".join(_pythons(seen)),
    "python": lambda seen: known[len(known) // 2] if (known := _pythons(seen)) else "",
    "cudnn": _cudnn,
    "torch_pythons": _torch_pythons,
    "cuda_that_runs": lambda seen: _asked_cuda(seen, runs=True),
    "cuda_that_lacks": lambda seen: _asked_cuda(seen, runs=False),
    "driver_for_cuda": _driver_for_cuda,
    "listed_chip": lambda seen: _listed(seen, is_listed=True),
    "unlisted_chip": lambda seen: _listed(seen, is_listed=False),
    "last_branch": _last_branch,
    "served_card": _served,
    "branch": _branch,
    "windows_tensorflow": lambda _seen: tensorflow_with_windows(),
    "windows_tensorflow_cuda": lambda _seen: _of_windows_last_tensorflow("cuda"),
    "windows_tensorflow_cudnn": lambda _seen: _of_windows_last_tensorflow("cudnn"),
}
