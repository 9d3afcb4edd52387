"""Places of packages that cannot be reached are not asked, where others may have what is wanted.

An installer asks a dead address again and again for every package. So each address is tried once, for a moment, before
the steps are taken; one that is the only place stays, and the installer says what is wrong with it.
"""

from collections.abc import Collection, Iterable, Mapping
from urllib.parse import urlsplit

from msgspec import structs

from rigup.plan.environments.places import PORTS, silent
from rigup.schemas.shared import Argv, Step

_OPTIONS = ("--index-url", "--extra-index-url", "--find-links")


def without_dead_places(
    steps: list[Step], variables: Mapping[str, str], staying: Collection[str] = ()
) -> tuple[list[Step], list[str], list[str]]:
    """The steps without addresses that nobody answers at; those addresses; and those that stay, for there are no others.

    Those of `staying` stay too: somebody's file says that packages come from there, and elsewhere theirs may be anybody's.
    """
    urls = {value for step in steps if step.state == "needed" for value in _places(step)}
    dead = set(silent(urls, variables))
    left = [_without(step, dead.difference(staying)) for step in steps] if dead else steps
    gone = dead - {value for step in left for value in _places(step)}
    return left, sorted(gone), sorted(dead - gone)


def _places(step: Step) -> Iterable[str]:
    for argv in step.commands:
        for option, value in _pairs(argv):
            if option in _OPTIONS and urlsplit(value).scheme in PORTS:
                yield value


def _pairs(argv: Argv) -> Iterable[tuple[str, str]]:
    return zip(argv, [*argv[1:], ""], strict=True)


def _without(step: Step, dead: set[str]) -> Step:
    """A step whose dead places are left out, if it has others."""
    return structs.replace(step, commands=tuple(_cut(argv, dead) for argv in step.commands))


def _cut(argv: Argv, dead: set[str]) -> Argv:
    drop = {place for place, (option, value) in enumerate(_pairs(argv)) if option in _OPTIONS and value in dead}
    others = [option for place, (option, _value) in enumerate(_pairs(argv)) if option in _OPTIONS and place not in drop]
    if not others:
        return argv
    return tuple(word for place, word in enumerate(argv) if place not in drop and place - 1 not in drop)
