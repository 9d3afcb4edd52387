"""A cause in words, and the ways to mend it that hold for that card and machine: the tables of the doctor, read for what a watch found."""

import functools
import shlex
import sys
from typing import NamedTuple

from rigup.schemas.shared import Finding, Fix, FixCheck, Severity, Step
from rigup.watch.files import Files, text_of

_CONTAINER = ("/run/.containerenv", "/.dockerenv")


class Surroundings(NamedTuple):
    """Where a watch runs: what is done to a kernel is done at its owner's.

    Attributes:
        world: "host" or "container".
        wsl: whether it is a Linux in Windows.
        system: "linux", "windows" or "macos".

    """

    world: str = "host"
    wsl: bool = False
    system: str = "linux"


ELSEWHERE = Surroundings()
"""Another machine: of an exporter, or of a recording."""


class Explanation(NamedTuple):
    """A cause, told of one subject; `ways` is empty where no step holds there, and `mends` tells then."""

    severity: Severity
    title: str
    meaning: str
    in_vain: str
    mends: str
    ways: tuple[Fix, ...]


def commands_of(fix: Fix) -> list[str]:
    """All commands of a way as a person types them; Windows asks for an administrator's terminal instead of sudo."""
    steps = [(step, "sudo " if step.root and step.where != "windows-host" else "") for step in fix.steps]
    return [root + shlex.join(argv) for step, root in steps for argv in step.commands]


def first_way(finding: Finding) -> tuple[str, list[str]]:
    """The way that needs least, and its commands; sentences where no steps are known."""
    return (finding.fixes[0].title, commands_of(finding.fixes[0])) if finding.fixes else (finding.mends, [])


def here(files: Files) -> Surroundings:
    """The surroundings of this process."""
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
    kernel = text_of(files, "/proc/sys/kernel/osrelease") or ""
    return Surroundings("container" if any(_exists(files, path) for path in _CONTAINER) else "host", "microsoft" in kernel.lower(), system)


def _exists(files: Files, path: str) -> bool:
    try:
        files.read(path, 1)
    except OSError:
        return False
    return True


def explanation(cause: str, words: tuple[tuple[str, str | None], ...], surroundings: Surroundings) -> Explanation:
    """A cause in the language in force; the same words are worked out once."""
    from rigup.language import current

    return _explanation(cause, words, surroundings, current())


@functools.lru_cache(maxsize=512)
def _explanation(cause: str, words: tuple[tuple[str, str | None], ...], surroundings: Surroundings, language: str) -> Explanation:
    from rigup.diagnosis.wording import fullest, in_vain_of, meaning_of
    from rigup.knowledge.doctor_tables import causes, texts

    row, text, known = causes()[cause], texts(language)[cause], dict(words)
    if known.get("address") and known.get("card"):
        known["address"] = f"{known['address']} [{known['card']}]"
    fill = {name: word for name, word in words if word is not None}
    return Explanation(
        row.severity,
        fullest(text.title, known) or cause,
        meaning_of(text, known),
        in_vain_of(text, known),
        text.mends,
        tuple(_ways(cause, row.family, row.fixes, fill, surroundings)),
    )


def _ways(cause: str, family: str, fixes: list[list[str]], fill: dict[str, str], surroundings: Surroundings) -> list[Fix]:
    """Those whose steps can be made, the one that needs least first."""
    from rigup.steps import StepError

    found: list[Fix] = []
    for specs in fixes:
        try:
            steps = [_step(spec, fill, surroundings) for spec in specs]
        except (KeyError, StepError):
            continue  # a hole that nothing fills: it is a way for another card or machine
        title = "; ".join(step.title for step in steps)
        found.append(Fix(title=title, steps=steps, check=_check(cause, family, steps, fill, surroundings)))
    return found


def _step(spec: str, fill: dict[str, str], surroundings: Surroundings) -> Step:
    from rigup.steps import make, parse

    kind, params = parse(spec, fill)
    return make(kind, params, surroundings.world, surroundings.wsl)


def _check(cause: str, family: str, steps: list[Step], fill: dict[str, str], surroundings: Surroundings) -> FixCheck:
    """How to see that it worked: the first row of the table that can be said."""
    from rigup.knowledge.checks import checks_of
    from rigup.steps import StepError

    kinds = [step.kind for step in steps]
    inside = surroundings.world == "container"
    for spec in checks_of(cause, family, fill.get("vendor", ""), surroundings.system, inside, kinds):
        try:
            seen = _step(spec, fill, surroundings)
        except (KeyError, StepError):
            continue
        return FixCheck(title=seen.title, commands=list(seen.commands), where=seen.where)
    raise AssertionError(cause)  # the last row of the table fits always
