"""Frameworks that no environment can hold together: one environment for each."""

from collections.abc import Callable

import msgspec
from packaging.requirements import Requirement

from rigup.language import _, sentences
from rigup.stack import frameworks
from rigup.stack.choice import Choice, TurnedDown
from rigup.stack.remedies import Remedy
from rigup.stack.site import Site
from rigup.stack.wish import Wish


def split(choice: Choice, conflict: str, choose: Callable[[Wish, Site], Choice]) -> Choice:
    """A choice that cannot be had whole, with an environment for each framework, and why.

    Args:
        choice: of the whole wish.
        conflict: why its frameworks do not go together, as a sentence.
        choose: what chooses for a part of the wish.

    Raises:
        KnowledgeError: a table is malformed.

    """
    parts = [msgspec.structs.replace(choice.wish, packages=part) for part in _parts(choice.wish)]
    others = tuple(other for other in (choose(part, choice.site) for part in parts) if other.possible)
    text = sentences(conflict, _("Make an environment for each of them."))
    remedy = Remedy(text=text, wish=choice.wish, site=choice.site)
    line = TurnedDown(candidate=", ".join(choice.wish.packages), because=conflict, source="torch_releases")
    return msgspec.structs.replace(choice, others=others, remedy=remedy, turned_down=(line, *choice.turned_down))


def _parts(wish: Wish) -> list[tuple[str, ...]]:
    """The wish by frameworks; what none of them is called by goes with the first."""
    by_framework: dict[str, list[str]] = {}
    for word in wish.packages:
        name = next(iter(frameworks.called([_name(word)])), "")
        by_framework.setdefault(name, []).append(word)
    rest = by_framework.pop("", [])
    parts = [*by_framework.values()]
    return [(*part, *(rest if part is parts[0] else [])) for part in parts]


def _name(word: str) -> str:
    from packaging.utils import canonicalize_name

    return canonicalize_name(Requirement(word).name)
