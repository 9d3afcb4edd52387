"""An environment as a file of other tools: requirements for pip, an environment.yml for conda."""

import json
import re
from collections.abc import Iterable

from rigup.plan.environments import record
from rigup.plan.environments.folder import Environment, Installed, packages
from rigup.plan.environments.found import name_of
from rigup.plan.environments.running import of_environment

_OF_THE_MAKER = ("pip", "setuptools", "wheel")
_META = re.compile(r"(?P<name>.{1,120})-(?P<version>[^-]{1,80})-(?P<build>[^-]{1,80})\.json")


def requirements(environment: Environment) -> str:
    """A requirements file: the places that were asked, and every package at its version."""
    own_record = record.read(environment.path)
    lines = [f"--extra-index-url {url}" for url in (own_record.indexes if own_record else ()) if re.fullmatch(r"https?://\S+", url)]
    return "".join(line + "\n" for line in (*lines, *_pinned(_of_pip(environment))))


def _of_pip(environment: Environment) -> list[Installed]:
    """What pip installed; in a venv, all."""
    installed = [package for package in packages(environment) if package.name not in _OF_THE_MAKER]
    return [package for package in installed if package.by != "conda"] if environment.kind == "conda" else installed


def _pinned(installed: Iterable[Installed]) -> list[str]:
    return [f"{package.name} @ {package.origin}" if package.origin else f"{package.name}=={package.version}" for package in installed]


def conda(environment: Environment) -> str:
    """An environment.yml: what conda installed at its version and build, what pip did behind it, and the variables."""
    own = _of_conda(environment)
    python = [] if any(spec.startswith("python=") for spec in own) or not environment.python else [f"python={environment.python}"]
    by_pip = _pinned(_of_pip(environment))
    lines = [f"name: {json.dumps(name_of(environment.path))}", "channels:", "  - conda-forge", "  - nodefaults", "dependencies:"]
    lines += [f"  - {json.dumps(spec)}" for spec in (*own, *python)]
    if by_pip:
        lines += ["  - pip", "  - pip:", *(f"      - {json.dumps(pin)}" for pin in by_pip)]
    if variables := of_environment(environment):
        lines += ["variables:", *(f"  {setting.name}: {json.dumps(setting.value)}" for setting in variables)]
    return "\n".join([*lines, ""])


def _of_conda(environment: Environment) -> list[str]:
    hits = (_META.fullmatch(path.name) for path in sorted(environment.path.glob("conda-meta/*.json")))
    return [f"{hit['name']}={hit['version']}={hit['build']}" for hit in hits if hit]
