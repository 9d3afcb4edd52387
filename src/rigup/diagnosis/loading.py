"""Which files of rules and fixes are read: those of which a rule may hold, and those that mend what was found.

To read all takes a third of what the doctor takes. An index tells of each file the kinds of facts and the messages that its
rules wait for. It comes with the package; in a checkout it is made anew when one of the files has changed.
"""

import contextlib
import os
import re
from collections.abc import Callable, Collection
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from rigup.diagnosis import fixes
from rigup.diagnosis import rules as live
from rigup.diagnosis.rule import MENDS, ONE, RULES, Rule
from rigup.diagnosis.rules import pasted
from rigup.knowledge.compile import COMPILED
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.tables import default_store
from rigup.machine.facts import Fact, kinds
from rigup.machine.kinds import Symptom
from rigup.version import __version__

INDEX = Path(__file__).with_name("files.msgpack")
_PACKAGES = (live, pasted, fixes)
_IMPORT = lazy_regex(r"^from (rigup\.diagnosis\.(?:rules|fixes)\.[\w.]+) import", re.MULTILINE)
_OF_OTHERS = (1, 0)  # rules of other packages stand behind the live ones

Stamps = dict[str, tuple[int, int]]
Part = list[str]
"""What one parameter of a rule waits for: the name of a kind of fact, or ids of messages of which one is enough."""


class Index(msgspec.Struct, frozen=True, array_like=True):
    """What is known of the files without reading them.

    Attributes:
        version: of rigup.
        stamps: size and time of each file that this is made of, by path; empty where it came with the package.
        modules: all modules with rules or fixes, in the order in which their rules are tried.
        waits: of each module with rules what each rule waits for.
        mends: modules with functions for the fixes of a cause.

    """

    version: str
    stamps: Stamps
    modules: list[str]
    waits: dict[str, list[list[Part]]]
    mends: dict[str, list[str]]


def rules_for(facts_of: Callable[[type[Fact]], Any], symptom_ids: Collection[str], from_text: bool) -> list[Rule]:
    """The rules in Python of all files of which one may hold, in the order in which they are tried.

    Args:
        facts_of: the facts of a kind.
        symptom_ids: ids of all messages.
        from_text: whether somebody pasted something: only then those are tried that wait for it.

    """
    index = _index()
    if default_store().tags() is None:  # tables of somebody's own change which messages a rule waits for
        load_all()
    by_name = kinds()
    for module, rules in index.waits.items():
        if (from_text or not _is_of(module, pasted)) and any(
            _may_hold(parts, facts_of, symptom_ids, by_name) for parts in rules
        ):
            import_module(module)
    ranks = _ranks()
    return sorted(RULES, key=lambda rule: ranks.get(rule.judge.__module__, _OF_OTHERS))


def fixes_for(cause: str) -> list[Rule]:
    """The functions that work out what the fixes of a cause need."""
    for module in _index().mends.get(cause, ()):
        import_module(module)
    ranks = _ranks()
    return sorted(MENDS.get(cause, ()), key=lambda rule: ranks.get(rule.judge.__module__, _OF_OTHERS))


@cache
def load_all() -> None:
    """Read all files of rules and fixes."""
    for module in _modules():
        import_module(module)


def build(path: Path, shipped: bool = False) -> Index:
    """Make the index and write it; an installation that nobody may write works as well, only slower."""
    load_all()
    modules = _modules()
    waits: dict[str, list[list[Part]]] = {name: [] for name in modules}
    for rule in RULES:
        if rule.judge.__module__ in waits:
            waits[rule.judge.__module__].append(_parts(rule))
    mends = {
        cause: [name for name in modules if any(rule.judge.__module__ == name for rule in functions)]
        for cause, functions in MENDS.items()
    }
    with_rules = {name: rules for name, rules in waits.items() if rules}
    index = Index(__version__, {} if shipped else _stamps(), modules, with_rules, mends)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        part.write_bytes(msgspec.msgpack.encode(index))
        part.replace(path)
    return index


@cache
def _index() -> Index:
    try:
        index = msgspec.msgpack.decode(INDEX.read_bytes(), type=Index)
    except (OSError, msgspec.MsgspecError):
        return build(INDEX)
    is_fresh = index.version == __version__ and (not index.stamps or index.stamps == _stamps())
    return index if is_fresh else build(INDEX)


@cache
def _ranks() -> dict[str, tuple[int, int]]:
    """The place of each module among all: live ones, those of others, those that wait for a text, fixes."""
    return {
        name: (0 if _is_of(name, live) and not _is_of(name, pasted) else 2, number)
        for number, name in enumerate(_index().modules)
    }


def _parts(rule: Rule) -> list[Part]:
    needed = (need for need in rule.needs.values() if need.mode == ONE)
    return [_words(need.fields) if need.kind is Symptom and need.fields else [need.kind.__name__] for need in needed]


def _words(fields: tuple[tuple[str, Any], ...]) -> Part:
    """Ids of messages; the kind alone where something else is asked of one."""
    name, ids = fields[0]
    return list(ids) if name == "id" else [Symptom.__name__]


def _may_hold(
    parts: list[Part],
    facts_of: Callable[[type[Fact]], Any],
    symptom_ids: Collection[str],
    by_name: dict[str, type[Fact]],
) -> bool:
    """Whether nothing is missing that the parts of a rule are."""
    for part in parts:
        if part[0][:1].isupper():
            if part[0] in by_name and not facts_of(by_name[part[0]]):
                return False
        elif (
            symptom_ids.isdisjoint(part)
            if isinstance(symptom_ids, set)
            else not any(name in symptom_ids for name in part)
        ):
            return False
    return True


def _is_of(module: str, package: Any) -> bool:
    return module.startswith(package.__name__ + ".")


def _modules() -> list[str]:
    """The names of all modules of rules and fixes, those of texts behind those of machines; each behind those that it imports."""
    import pkgutil

    ordered: dict[str, None] = {}
    for package in _PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if package is not live or not _is_of(found.name + ".", pasted):
                _add(found.name, ordered)
    return list(ordered)


def _add(module: str, ordered: dict[str, None]) -> None:
    """Add a module behind those of rules and fixes that it imports at its top."""
    from importlib.util import find_spec

    spec = find_spec(module)
    if module in ordered or spec is None or not spec.origin:
        return
    for imported in _IMPORT.findall(Path(spec.origin).read_text(encoding="utf-8")):
        _add(imported, ordered)
    ordered[module] = None


def _stamps() -> Stamps:
    """Size and time of all files that the index is made of."""
    files = [Path(COMPILED)]
    for package in (live, fixes):
        for folder, _folders, names in os.walk(package.__path__[0]):
            files += [Path(folder, name) for name in names if name.endswith(".py")]
    return {str(path): _stamp(path) for path in files}


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return status.st_size, status.st_mtime_ns
