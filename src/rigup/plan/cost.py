"""What a plan costs before it is begun: gigabytes, time on a link, restarts, root."""

import re
from collections.abc import Iterable

import msgspec

from rigup.knowledge.package_sizes import Weight, compiled_share, system_weight, weight
from rigup.language import _
from rigup.plan.environments.seeds import seeded
from rigup.plan.packages import Group, groups, name_of, plain
from rigup.schemas.plan import Cost
from rigup.schemas.shared import Step
from rigup.stack.candidate import Candidate
from rigup.stack.choice import Choice
from rigup.stack.pythons import is_there
from rigup.stack.resolution import Resolved

_LINK = re.compile(r"\s*(\d{1,6}(?:\.\d{1,3})?)\s*([kmgt]?)(bit|b|bps|byte|bytes)(?:/s|ps)?\s*", re.IGNORECASE)
_SCALES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_INSTALLS = ("install-into-environment", "install-with-uv", "build-image")


class LinkError(ValueError):
    """A speed that cannot be understood, with what to write instead."""


def speed(text: str) -> int:
    """Bits a second of "50Mbit", "100 Mbit/s", "1Gbps" or "6 MB/s". Raises LinkError."""
    match = _LINK.fullmatch(text)
    if match is None or not float(match[1]):
        raise LinkError(_("{link} is no speed: write for instance 50Mbit or 6MB/s.").format(link=text[:60]))
    eight = 8 if match[3] == "B" or match[3].lower().startswith("byte") else 1
    return int(float(match[1]) * _SCALES[match[2].lower()] * eight)


def cost(choice: Choice, steps: list[Step], link: int = 0) -> Cost:
    """What is still to be paid.

    Args:
        choice: what was chosen.
        steps: its steps with their states.
        link: bits a second, 0 if unknown.

    Raises:
        KnowledgeError: the table is malformed.

    """
    left = [step for step in steps if step.state != "satisfied"]
    installs = any(step.kind in _INSTALLS for step in left)
    known, unknown = _of_packages(choice) if installs else ([], [])
    known += [part for part in (_new(step, choice) for step in left) if part]
    of_system = {step.kind: system_weight(step.kind) for step in left if step.kind in _systems() and _here(step)}
    known += [part for part in of_system.values() if part]
    unknown += [_systems()[kind] for kind, part in of_system.items() if part is None]
    unknown += [_("Python {python}").format(python=step.params["python"]) for step in left if _brings_python(step, choice)]
    download = sum(part.download for part in known)
    return Cost(
        download_bytes=download,
        disk_bytes=sum(part.kept for part in known),
        exact=all(part.exact and (part.disk or not part.download) for part in known) and not unknown,
        not_counted=list(dict.fromkeys(unknown)),
        restarts=sum(step.kind == "restart-machine" or _is_elsewhere(step) for step in left),
        root=any(step.root for step in left),
        link=link or None,
        seconds=round(download * 8 / link) if link else None,
    )


def _of_packages(choice: Choice) -> tuple[list[Weight], list[str]]:
    """What goes into the environment: as it was resolved, and where nobody could be asked by the tables."""
    resolution = choice.resolution
    if resolution is None or not resolution.packages:
        return _weights(groups(choice), choice.site.system)
    have = {name_of(name): version for name, version in choice.site.installed.items()}
    coming = [package for package in resolution.packages if have.get(package.name) != package.version]
    compiles = not (choice.site.uv and choice.wish.manager != "conda")
    share = compiled_share(choice.python) if compiles else 0.0
    known = [_resolved(package, share) for package in coming if package.size]
    unseen = {package.name for package in coming if not package.size}
    left = [
        group._replace(wanted=tuple(word for word in group.wanted if name_of(word) in unseen)) for group in groups(choice) if group.build
    ]
    by_tables, unknown = _weights(left, choice.site.system)
    nobody = [package.name for package in coming if package.url and (package.built or not package.size)]
    return known + by_tables, [*unknown, *nobody]


def _resolved(package: Resolved, compiled: float) -> Weight:
    disk = package.disk + int(package.sources * compiled)
    return Weight(
        download=package.size if not package.url.startswith("file:") else 0, disk=disk, exact=bool(package.disk) and not package.built
    )


def _new(step: Step, choice: Choice) -> Weight | None:
    """An environment that is made, before anything is in it."""
    part = seeded(step.kind, step.params) if step.kind.startswith("make-environment") else _pip_of(step, choice)
    return msgspec.structs.replace(part, exact=True) if part else None


def _pip_of(step: Step, choice: Choice) -> Weight | None:
    """The pip of a Python that is put into an environment that was made without."""
    seeding = next((argv for argv in step.commands if argv[-1] == "ensurepip"), None)
    return seeded("make-environment", {"starter": seeding[0], "python": choice.python}) if seeding else None


def _brings_python(step: Step, choice: Choice) -> bool:
    """uv fetches a Python that the machine has not."""
    python = step.params.get("python", "")
    return step.kind == "make-environment-with-uv" and bool(python) and not is_there(choice.site, python)


def _here(step: Step) -> bool:
    """Something is fetched: a step without commands is told by hand, and what it fetches nobody knows."""
    return bool(step.commands) or step.kind == "install-windows-driver"


def _systems() -> dict[str, str]:
    """What a system's own packages are called; nobody has measured them."""
    return {
        "install-driver-packages": _("the driver"),
        "install-windows-driver": _("the driver"),
        "install-amdgpu-driver": _("the driver"),
        "install-rocm-release": _("ROCm"),
        "install-kernel": _("the kernel"),
        "install-cuda-toolkit": _("the CUDA toolkit"),
        "install-with-conda": _("the CUDA toolkit"),
        "set-up-container-toolkit": _("the container toolkit"),
        "install-engine": _("the container engine"),
    }


def _is_elsewhere(step: Step) -> bool:
    """A restart that is not a step of its own: on the host of a container, on Windows, by hand."""
    return bool(step.restart) and step.where != "here"


def _weights(all_groups: Iterable[Group], system: str) -> tuple[list[Weight], list[str]]:
    known: list[Weight] = []
    unknown: list[str] = []
    seen: set[str] = set()  # a later group names what came before, so that nothing of that is replaced
    for group in all_groups:
        build = group.build.build if group.build else None
        if build and (build.image or build.conda):
            unknown.append(build.image or build.conda[0])
            continue
        for want in group.wanted:
            name, _equals, version = want.partition("==")
            if name_of(name) in seen:
                continue
            seen.add(name_of(name))
            known_weight = _weight(name, version, build, system)
            if known_weight is not None:
                known.append(known_weight)
            elif plain(name) not in _SMALL:
                unknown.append(name)
    return known, unknown


_SMALL = (
    "torchvision",
    "torchaudio",
    "triton",
    "torch-directml",
    "setuptools",
    "wheel",
    "packaging",
    "ninja",
    "psutil",
)  # a few megabytes, or counted with torch


def _weight(name: str, version: str, build: Candidate | None, system: str) -> Weight | None:
    """A build for ROCm, or for the CPU alone, weighs what it weighs: another build's weight does not hold for it."""
    exact = weight(name, version, build.variant if build else "", system)
    if exact or (build and (build.kind == "rocm" or build.variant == "cpu")):
        return exact
    return weight(name, version, "", system) or _bare(name, version, system)


def _bare(name: str, version: str, system: str) -> Weight | None:
    return weight(plain(name), version, "", system) if plain(name) != name else None
