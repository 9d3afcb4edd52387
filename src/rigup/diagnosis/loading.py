"""Which files of causes are read: those of which a rule may hold, and those of what was found, for the parameters of its fixes.

To read all takes a third of what the doctor takes. An index tells of each file the kinds of facts and the messages that its
rules wait for. It comes with the package; in a checkout it is made anew when one of the files has changed.
"""

from collections.abc import Callable, Collection, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from rigup.diagnosis import causes
from rigup.diagnosis.rule import MENDS, ONE, RULES, HasForm, Need, Passes, Rule
from rigup.knowledge.compile import COMPILED
from rigup.knowledge.tables import default_store
from rigup.machine.facts import Fact, kinds
from rigup.machine.kinds import Symptom
from rigup.stamps import Stamps, keep, kept, python_files
from rigup.stamps import stamp as _stamp
from rigup.version import __version__

INDEX = Path(__file__).with_name("files.msgpack")
_OWN = causes.__name__ + "."

Value = str | bool | int | float | None


class Part(NamedTuple):
    """What one parameter of a rule waits for: a fact of a kind of which each of these fields has one of these values, and others these forms."""

    kind: str
    fields: tuple[tuple[str, tuple[Value, ...]], ...]
    forms: tuple[tuple[str, str], ...] = ()


Waits = dict[str, list[list[Part]]]


class Index(msgspec.Struct, frozen=True, array_like=True):
    """What is known of the files without reading them.

    Attributes:
        version: of rigup.
        stamps: size and time of each file that this is made of, by path; empty where it came with the package.
        modules: the module of each cause, in the order in which their rules are tried.
        waits: by cause what each of its rules waits for.
        text_waits: packed, the same of its rules for pasted texts.

    """

    version: str
    stamps: Stamps
    modules: dict[str, str]
    waits: Waits
    text_waits: msgspec.Raw

    def waits_of_texts(self) -> Waits:
        """What the rules for pasted texts wait for."""
        return msgspec.msgpack.decode(self.text_waits, type=Waits)


def rules_for(facts_of: Callable[[type[Fact]], Any], symptom_ids: Collection[str], from_text: bool) -> list[Rule]:
    """The rules in Python of all causes of which one may hold, in the order in which they are tried.

    Args:
        facts_of: the facts of a kind.
        symptom_ids: ids of all messages.
        from_text: whether somebody pasted something: only then those are tried that wait for it.

    """
    index = _index()
    if default_store().tags() is None:  # tables of somebody's own change which messages a rule waits for
        load_all()
        causes = list(index.modules)
    else:
        causes = _causes_that_may_hold(index, facts_of, set(symptom_ids), from_text)
    for cause in causes:
        import_module(index.modules[cause])
    numbers = {cause: number for number, cause in enumerate(causes)}
    rules = (rule for rule in RULES if (from_text or not rule.of_text) and (rule.cause in numbers or not _is_own(rule)))
    return sorted(rules, key=lambda rule: _rank(rule, numbers))


def _causes_that_may_hold(index: Index, facts_of: Callable[[type[Fact]], Any], symptom_ids: set[str], from_text: bool) -> list[str]:
    """Those of whose rules one lacks no kind of fact and no message, in the order in which they are tried."""
    by_name, texts = kinds(), index.waits_of_texts() if from_text else {}
    return [
        cause
        for cause in index.modules
        if any(_may_hold(parts, facts_of, symptom_ids, by_name) for parts in (*index.waits.get(cause, ()), *texts.get(cause, ())))
    ]


def fixes_for(cause: str) -> list[Rule]:
    """The functions that work out what the fixes of a cause need; those of other packages first, so that ours see what they know."""
    if module := _index().modules.get(cause):
        import_module(module)
    return sorted(MENDS.get(cause, ()), key=_is_own)


@cache
def load_all() -> None:
    """Read all files of causes."""
    for module in _modules():
        import_module(module)


def build(path: Path, shipped: bool = False) -> Index:
    """Make the index and write it; an installation that nobody may write works as well, only slower."""
    load_all()
    own = [rule for rule in RULES if _is_own(rule)]
    named = {rule.cause for rule in own} | set(MENDS)
    modules = {cause: module for module in _modules() if (cause := _cause_of(module)) in named}
    text_waits = msgspec.Raw(msgspec.msgpack.encode(_waits(own, True)))
    index = Index(__version__, {} if shipped else _stamps(), modules, _waits(own, False), text_waits)
    keep(path, msgspec.msgpack.encode(index))
    return index


@cache
def _index() -> Index:
    return kept(INDEX, Index, _stamps, build)


def _rank(rule: Rule, numbers: dict[str, int]) -> tuple[int, int]:
    """First our rules, then those of others, then ours that wait for a text; each cause's own in the order of its file."""
    return (2 if rule.of_text else 0, numbers[rule.cause]) if _is_own(rule) else (1, 0)


def _is_own(rule: Rule) -> bool:
    return rule.judge.__module__.startswith(_OWN)


def _cause_of(module: str) -> str:
    """The cause that a file would be named for."""
    return module.rpartition(".")[2].replace("_", "-")


def _waits(rules: list[Rule], of_text: bool) -> Waits:
    """What rules wait for, by cause."""
    waits: Waits = {}
    for rule in rules:
        if rule.of_text == of_text:
            waits.setdefault(rule.cause, []).append(_parts(rule))
    return waits


def _parts(rule: Rule) -> list[Part]:
    return [
        Part(need.kind.__name__, tuple(_told(need.fields)), tuple(_forms(need.fields))) for need in rule.needs.values() if need.mode == ONE
    ]


def _told(fields: tuple[tuple[str, Any], ...]) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """Fields with their values; not those that a test of the rule's own decides."""
    for name, wanted in fields:
        if not isinstance(wanted, Passes):
            yield name, wanted if isinstance(wanted, tuple) else (wanted,)


def _forms(fields: tuple[tuple[str, Any], ...]) -> Iterator[tuple[str, str]]:
    """The fields that are to have a form, with its regular expression."""
    for name, wanted in fields:
        if isinstance(wanted, HasForm):
            yield name, wanted.regex


def _may_hold(parts: list[Part], facts_of: Callable[[type[Fact]], Any], symptom_ids: set[str], by_name: dict[str, type[Fact]]) -> bool:
    """Whether nothing is missing that the parts of a rule are."""
    return not any(_lacks(part, facts_of, symptom_ids, by_name) for part in parts)


def _lacks(part: Part, facts_of: Callable[[type[Fact]], Any], symptom_ids: set[str], by_name: dict[str, type[Fact]]) -> bool:
    """Whether there is no such fact; of messages, of which a log has thousands, the ids alone are looked at."""
    kind = by_name.get(part.kind)
    if kind is None:
        return False
    if kind is Symptom and part.fields and part.fields[0][0] == "id":
        return symptom_ids.isdisjoint(part.fields[0][1])
    if not (known := facts_of(kind)):
        return True
    need = Need(fields=(*part.fields, *((name, HasForm(regex)) for name, regex in part.forms)))
    return not any(map(need.fits, known))


@cache
def _modules() -> list[str]:
    """The names of all modules of causes, by family; what several causes share stands among them."""
    import pkgutil

    return [found.name for found in pkgutil.walk_packages(causes.__path__, _OWN)]


def _stamps() -> Stamps:
    """Size and time of all files that the index is made of."""
    return {path: _stamp(path) for path in (str(COMPILED), *python_files(causes.__path__[0]))}
