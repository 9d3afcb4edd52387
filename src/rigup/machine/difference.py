"""What differs between two fingerprints of machines: a pure function from two values to a list.

Only what both sides know can differ. A subject counts as gone or new where the other side looked for all of its
kind, and could look everywhere that the first did. What follows from another difference (the libraries of a
driver that changed) names the one that it echoes.
"""

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

from rigup.machine.facts import Place, kinds
from rigup.machine.fingerprint import Fingerprint, Row
from rigup.machine.pseudonyms import is_pseudonym

Fields = dict[str, Any]
CHANGED: Final = "changed"
GONE: Final = "gone"
NEW: Final = "new"

# The likeliest suspects first: what an update moves without being asked, then what a person sets.
_SUSPECTS = (
    "Platform.release",
    "Driver",
    "GraphicsSwitch",
    "Gpu.driver",
    "Gpu",
    "KernelModule.loaded",
    "KernelModule",
    "DkmsBuild",
    "Account.groups",
    "DeviceNode",
    "Variable",
    "Gpu.shown_isa",
    "Torch",
    "TensorFlow",
    "JupyterKernel",
    "DriverLibrary",
    "LoaderEntry",
    "PathLibrary",
    "SearchPath",
    "KernelParameter",
    "ModuleParameter",
    "Platform",
    "World",
    "DeviceRules",
    "FileVariable",
    "UnitFile",
    "Service",
    "Firmware",
    "ContainerEngine",
    "PythonEnv",
    "Package",
    "KernelLibrary",
    "Toolkit",
    "Memory",
    "SharedMemory",
    "PciDevice",
    "KfdNode",
    "ContainerToolkit",
    "CdiSpec",
    "DkmsTree",
    "SlurmSetting",
    "SlurmNode",
    "NextBoot",
    "Kernel",
    "DeadLine",
    "SystemPackage",
    "PackageSource",
    "Distribution",
)
_FIELDS = ("release", "version", "driver", "name", "loaded", "value")  # what tells of a subject before its other fields
_RANK = {name: number for number, name in enumerate(_SUSPECTS)}
_SIZES = frozenset(("total", "vram", "gtt", "unified", "commit_limit"))  # bytes; a kernel keeps some for itself
_CLOSE = 0.02  # share by which two sizes of one thing may differ
_TELLING = ("version", "value", "driver", "status", "running", "group", "path", "name")


class Difference(NamedTuple):
    """One thing that is not as it was.

    Attributes:
        kind: the kind of fact; `subject` is which of them, "" where there is only one.
        field: what of it; "" where the subject itself is gone or new.
        before: the value, for lists what only this side has; None: not there.
        place: where, as a place is written; "" is the machine itself.
        change: changed, gone or new.
        echo_of: `name` of the difference that this one follows from; "" where it stands for itself.
        unbuilt: for another kernel, modules that were built for the one before and are not for this one.

    """

    kind: str
    subject: str
    field: str
    before: Any
    after: Any
    place: str = ""
    change: Literal["changed", "gone", "new"] = CHANGED
    echo_of: str = ""
    unbuilt: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Kind, subject and place: what it is about."""
        return " ".join(filter(None, (self.kind, self.subject, self.place and "(" + self.place + ")")))


def differences(before: Fingerprint, after: Fingerprint) -> list[Difference]:
    """What differs, likeliest suspects first, echoes behind what they echo."""
    changes: list[Difference] = []
    for kind in sorted(before.facts.keys() | after.facts.keys()):
        changes += _of_kind(kind, before, after)
    return _echoes(sorted(changes, key=_order))


def _order(change: Difference) -> tuple[Any, ...]:
    rank = _RANK.get(change.kind + "." + change.field, _RANK.get(change.kind, 99))
    field = _FIELDS.index(change.field) if change.field in _FIELDS else len(_FIELDS)
    return rank, change.change == CHANGED, change.kind, change.subject, change.place, field, change.field


def _of_kind(kind: str, before: Fingerprint, after: Fingerprint) -> Iterator[Difference]:
    pairs, gone, new = paired(kind, before.facts.get(kind, []), after.facts.get(kind, []))
    for mine, theirs in pairs:
        for difference in _changed(kind, mine, theirs):
            yield difference._replace(unbuilt=_unbuilt(difference, after)) if kind == "Platform" else difference
    for row in gone:
        if _would_be_seen(kind, row, before, after):
            yield Difference(kind, subject_of(kind, row[1]), "", _telling(row[1]), None, _place_of(kind, row), GONE)
    for row in new:
        if _would_be_seen(kind, row, after, before):
            yield Difference(kind, subject_of(kind, row[1]), "", None, _telling(row[1]), _place_of(kind, row), NEW)


# -- which is which ----------------------------------------------------------------------------------


def paired(kind: str, mine: list[Row], theirs: list[Row]) -> tuple[list[tuple[Row, Row]], list[Row], list[Row]]:
    """Subjects that both have, and those that only one has. By all keys; a card also by one that nobody else has."""
    keys = kinds()[kind].keys if kind in kinds() else ()
    pairs: list[tuple[Row, Row]] = []
    mine, theirs = _join(pairs, mine, theirs, lambda row: (row[0], *(_key(row, key) for key in keys)))
    for key in keys if kind == "Gpu" else ():
        mine, theirs = _join(pairs, mine, theirs, lambda row, key=key: (row[0], _key(row, key)), key)
    if kind == "Gpu" and mine and theirs:
        mine, theirs = _join(pairs, mine, theirs, lambda row: (row[0], _model(row)), "name")
    return pairs, mine, theirs


def _model(row: Row) -> str:
    """What tells a card's model, however its list spells it."""
    from rigup.machine.names import words

    return repr([sorted(name) for name in words(str(row[1].get("name")))])


def _key(row: Row, key: str) -> str:
    return repr(row[1].get(key)) if key in row[1] else ""


def _join(pairs: list[tuple[Row, Row]], mine: list[Row], theirs: list[Row], by: Any, key: str = "") -> Any:
    """Take those out that one mark tells apart on both sides; several of one mark go by their order."""
    by_mark: dict[Any, list[Row]] = defaultdict(list)
    for row in theirs:
        if not key or row[1].get(key) is not None:
            by_mark[by(row)].append(row)
    left = []
    for row in mine:
        if (not key or row[1].get(key) is not None) and by_mark.get(by(row)):
            pairs.append((row, by_mark[by(row)].pop(0)))
        else:
            left.append(row)
    taken = {id(pair[1]) for pair in pairs}
    return left, [row for row in theirs if id(row) not in taken]


@functools.lru_cache(512)
def _kind(name: str) -> Any:
    """A kind of facts by name; all are there once a machine was looked at."""
    return kinds().get(name)


def subject_of(kind: str, fields: Fields, other: Fields | None = None) -> str:
    """How a subject is named: by what its kind is titled by; of two states of it by what both have alike."""
    fact_type = _kind(kind)
    titles = ("module", "name") if kind == "ModuleParameter" else fact_type.title if fact_type else ()
    shown = {name: _field_text(name, fields, other or {}) for name in titles}
    known = [name for name in titles if shown[name]]
    alike = [name for name in known if other is None or fields.get(name) == other.get(name)]
    many = kind in ("ModuleParameter", "DkmsBuild", "DkmsTree")
    return " ".join(shown[name] for name in (known if many else (alike or sorted(known))[:1]))


def _field_text(name: str, *states: Fields) -> str:
    """A field as text; of two states that say different things always the same one, whichever stands first."""
    return min((str(state[name]) for state in states if state.get(name) is not None), default="")


def _place_of(kind: str, row: Row) -> str:
    """Its place; a package's environment too."""
    environment = [str(row[1]["env"])] if kind == "Package" and "env" in row[1] else []
    return " ".join(["/".join(part for part in row[0] if part), *environment]).strip()


def _telling(fields: Fields) -> Any:
    """What tells most of a subject that is gone or new; True: that it is there."""
    return next((fields[name] for name in _TELLING if fields.get(name) is not None), True)


# -- what can be told --------------------------------------------------------------------------------


def _would_be_seen(kind: str, row: Row, having: Fingerprint, lacking: Fingerprint) -> bool:
    """Whether the side that lacks a subject would have seen it: it looked at all, and where the other did."""
    place = Place(*row[0])
    looked = any(Place(*at).meet(place) for at in lacking.whole.get(kind, ()))
    refused = set(lacking.refused.get(kind, ())) - set(having.refused.get(kind, ()))
    looked = looked or (kind == "Gpu" and _lists_cards(row[1], lacking))
    return looked and not refused and not _found_from(row[1], having, lacking)


def _lists_cards(card: Fields, lacking: Fingerprint) -> bool:
    """Whether that side tells of this maker's cards: who lists one of them lists all that are there."""
    makers = [row[1].get("vendor") for row in lacking.facts.get("Gpu", ())]
    return card.get("vendor") is not None and card["vendor"] in makers


def _found_from(fields: Fields, having: Fingerprint, lacking: Fingerprint) -> bool:
    """Whether it lies in a folder that one side worked in and the other did not."""
    own = [folder.rstrip("/") + "/" for folder in having.work if folder not in lacking.work and folder != "~"]
    texts = [value for value in fields.values() if isinstance(value, str)]
    return any((text + "/").startswith(folder) for text in texts for folder in own)


def _changed(kind: str, mine: Row, theirs: Row) -> Iterator[Difference]:
    for field in sorted(mine[1].keys() & theirs[1].keys()):
        before, after = mine[1][field], theirs[1][field]
        if before == after or _alike(kind, field, before, after):
            continue
        before, after = _only(before, after)
        yield Difference(kind, subject_of(kind, mine[1], theirs[1]), field, before, after, _place_of(kind, mine))


def _alike(kind: str, field: str, before: Any, after: Any) -> bool:
    """Whether two values say the same, or one of them was taken out of a capture."""
    if any(isinstance(value, str) and is_pseudonym(value) for value in (before, after)):
        return True
    if field in _SIZES and isinstance(before, int) and isinstance(after, int):
        return abs(before - after) <= _CLOSE * max(abs(before), abs(after))
    if kind == "Gpu" and field == "name":
        from rigup.machine.names import same_name

        return same_name(str(before), str(after))
    return False


def _only(before: Any, after: Any) -> tuple[Any, Any]:
    """Of two lists what only each has."""
    if isinstance(before, list) and isinstance(after, list):
        return [part for part in before if part not in after], [part for part in after if part not in before]
    return before, after


def _unbuilt(difference: Difference, after: Fingerprint) -> tuple[str, ...]:
    """Modules that are built for the kernel before and not for the one that runs now."""
    if difference.field != "release":
        return ()
    built = ((str(row[1].get("name")), row[1].get("built_for") or []) for row in after.facts.get("KernelModule", ()))
    lists = ((name, kernels) for name, kernels in built if isinstance(kernels, list | tuple))
    return tuple(name for name, kernels in lists if difference.before in kernels and difference.after not in kernels)


# -- echoes ------------------------------------------------------------------------------------------


def _echoes(found: list[Difference]) -> list[Difference]:
    """Say of each whether it follows from one before it."""
    kept: list[Difference] = []
    marked: list[Difference] = []
    for difference in found:
        first = next((other for other in kept if _follows(difference, other)), None)
        marked.append(difference._replace(echo_of=first.name) if first else difference)
        if first is None:
            kept.append(difference)
    return marked


def _follows(difference: Difference, first: Difference) -> bool:
    """Another field of the same subject, the same change elsewhere, one more of the same kind, or part of it."""
    if (difference.kind, difference.subject, difference.place) == (first.kind, first.subject, first.place):
        return True
    if difference.change == first.change == CHANGED:
        return _same_change(difference, first) or _new_kernel(difference, first)
    alike = difference.change == first.change and difference.kind == first.kind and difference.place == first.place
    return alike or _part_of(difference, first) or _new_kernel(difference, first)


def _same_change(difference: Difference, first: Difference) -> bool:
    """As of a driver's libraries: `550.120-0ubuntu1` is the same as 550.120."""
    if difference.field != first.field:
        return False
    if difference.kind == first.kind and (difference.before, difference.after) == (first.before, first.after):
        return True
    return (
        difference.field in ("version", "driver", "path")
        and _begins(difference.before, first.before)
        and _begins(difference.after, first.after)
    )


def _begins(value: Any, first: Any) -> bool:
    return value == first or (isinstance(value, str) and isinstance(first, str) and len(first) > 2 and value.startswith(first))


def _new_kernel(difference: Difference, first: Difference) -> bool:
    """What comes with a kernel: it is installed, and modules are built for it."""
    if first.kind != "Platform" or first.field != "release":
        return False
    if difference.kind == "Kernel":
        return difference.subject in (first.before, first.after)
    built = difference.kind == "KernelModule" and difference.field == "built_for"
    return built and {*difference.before, *difference.after} <= {first.before, first.after}


def _part_of(difference: Difference, first: Difference) -> bool:
    """A package or a torch of an environment that is gone, a torch's package, a card's place on the bus."""
    if difference.change != first.change:
        return False
    if first.kind == "PythonEnv":
        return (difference.kind == "Package" and difference.place.endswith(first.subject)) or difference.subject == first.subject
    if first.kind in ("Torch", "TensorFlow"):
        return difference.kind == "Package" and difference.subject == first.kind.lower() and difference.place.endswith(first.subject)
    return first.kind == "Gpu" and difference.kind in ("PciDevice", "KfdNode") and difference.subject == first.subject


def leaders(changes: Iterable[Difference]) -> list[Difference]:
    """Those that stand for themselves."""
    return [difference for difference in changes if not difference.echo_of]
