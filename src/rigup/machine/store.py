"""All facts of a look: statements come in, subjects come out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, KeysView
from itertools import islice
from typing import Any, TypeVar

from rigup.machine.facts import Fact, Look, Place, Unanswered
from rigup.machine.index import Index
from rigup.machine.kinds import Gpu, Symptom
from rigup.machine.limits import MOST_SUBJECTS, TOO_MANY
from rigup.machine.names import same_name
from rigup.machine.readable import all_readable

T = TypeVar("T", bound=Fact)


class Facts:
    """Facts by kind, the looks that were taken, and what went wrong on the way."""

    def __init__(self) -> None:
        self._by_kind: dict[type[Fact], list[Fact]] = defaultdict(list)
        self._index: dict[type[Fact], Index] = defaultdict(Index)
        self._left_out: Counter[type[Fact]] = Counter()
        self._heard: dict[tuple[Any, ...], Symptom] = {}
        self._by_id: dict[str, list[Symptom]] = defaultdict(list)
        self.looks: list[Look] = []
        self.troubles: list[str] = []
        self.unanswered: list[Unanswered] = []  # programs that were asked in vain
        self.omitted: list[str] = []  # what was too much to be looked at
        self.pasted = True  # whether people, or the programs that they ran, may speak in what was read

    def of(self, kind: type[T]) -> list[T]:
        """Every fact of a kind, in the order in which they were first stated."""
        return self._by_kind[kind]  # type: ignore[return-value]

    def heard(self, *ids: str) -> list[Symptom]:
        """Symptoms by their signatures' ids, without passing all others by."""
        return [symptom for name in dict.fromkeys(ids) for symptom in self._by_id.get(name, ())]

    @property
    def ids(self) -> KeysView[str]:
        """Ids of the signatures whose messages were heard."""
        return self._by_id.keys()

    def all(self) -> Iterable[Fact]:
        """Every fact."""
        return (fact for facts in self._by_kind.values() for fact in facts)

    def state(self, new: Fact) -> Fact:
        """Merge a statement into the fact that it speaks of; returns that fact."""
        _write_readably(new)
        if isinstance(new, Symptom):
            return self._hear(new)
        index = self._index[type(new)]
        same = [fact for fact in index.here(new) if new.same_as(fact)]
        if not same:
            near = [fact for fact in index.near(new) if _meet(fact, new) and new.same_as(fact)]
            same = (near if len(near) == 1 else []) or ([] if near else self._only_candidate(new, index))
        return self._join(same, new) if same else self._add(new)

    def _hear(self, new: Symptom) -> Symptom:
        """The same message in the same place is one symptom, however often it was said."""
        spoken = (new.place, tuple(new.values().items()))
        if spoken not in self._heard:
            if self._add(new) not in self._by_kind[Symptom][-1:]:
                return new
            self._heard[spoken] = new
            self._by_id[new.fields["id"].value].append(new)
        return self._heard[spoken]

    def _add(self, new: T) -> T:
        """A subject of its own; of too many of a kind the first ones count, for rules look at them side by side."""
        known_facts = self._by_kind[type(new)]
        if len(known_facts) < MOST_SUBJECTS:
            known_facts.append(new)
            self._index[type(new)].put(new)
        else:
            self._left_out[type(new)] += 1
        return new

    def count_left_out(self) -> None:
        """Tell of the statements about subjects beyond the most of a kind."""
        self.omitted += [f"{kind.__name__}, {count} statements: {TOO_MANY}" for kind, count in self._left_out.items()]

    def _only_candidate(self, new: Fact, index: Index) -> list[Fact]:
        """A statement without a key is about "the GPU", where there is one."""
        if not new.keys:
            return []
        candidates = (fact for fact in index.on_node(new) if _meet(fact, new))
        if new.keyed():
            alone = list(islice(candidates, 2))
            return [fact for fact in alone if len(alone) == 1 and not fact.keyed() and not new.contradicts(fact)]
        fitting = list(islice((fact for fact in candidates if not new.contradicts(fact)), 2))
        return fitting if len(fitting) == 1 else []

    def _join(self, same: list[Fact], new: Fact) -> Fact:
        """One statement may show that two facts are one card: they become one."""
        first = same[0]
        first.absorb(new.fields)
        for twin in same[1:]:
            if not first.contradicts(twin):
                first.absorb(twin.fields)
                self._by_kind[type(first)].remove(twin)
                self._index[type(first)].drop(twin)
        first.place = first.place.meet(new.place) or first.place
        self._index[type(first)].put(first)
        return first

    def unite_gpus(self) -> None:
        """Cards that two tools list under keys which the other does not know become one.

        Unlike cards differ by name and maker. Of cards alike the n-th of one list is the n-th of
        the other: NVML counts by PCI address, and so does CUDA among equals.
        """
        for place in {gpu.place for gpu in self.of(Gpu)}:
            groups: dict[tuple[str, ...], list[Gpu]] = defaultdict(list)
            for gpu in self.of(Gpu):
                if gpu.place == place:
                    groups[tuple(key for key in Gpu.keys if gpu.knows(key))].append(gpu)
            ranked = sorted(groups, key=lambda keys: ("pci_address" in keys, len(keys)))
            for keys in filter(None, ranked[:-1]):
                self._unite(groups[keys], place)
            if len(groups) > 1:  # what people name without a number last: by then two lists of one card are one
                self._unite(groups.get((), []), place)
        self._unite_processors_graphics()

    def _unite_processors_graphics(self) -> None:
        """A processor has its graphics once, though words name them as the catalogue does, and a runtime by another name."""
        inside = [gpu for gpu in self.of(Gpu) if gpu.get("integrated") and gpu.get("isa")]
        for gpu in (gpu for gpu in inside if not gpu.keyed()):
            twins = [other for other in inside if other.keyed() and _meet(other, gpu) and other.get("isa") == gpu.get("isa")]
            if len(twins) == 1:
                twins[0].absorb(gpu.fields)
                self.of(Gpu).remove(gpu)

    def _unite(self, group: list[Gpu], place: Place) -> None:
        taken: list[Gpu] = []
        for gpu in sorted(group, key=_order):
            others = [other for other in self.of(Gpu) if other.place == place and other not in group]
            fitting = _namesakes(gpu, sorted((other for other in others if _may_be(gpu, other)), key=_order))
            free = [other for other in fitting if other not in taken]
            if free and (len(fitting) == 1 or (gpu.keyed() and _all_alike(fitting))):
                taken.append(free[0])  # the cards before it have found theirs
                free[0].absorb(gpu.fields)
                self.of(Gpu).remove(gpu)
            elif len(fitting) > 1 and not gpu.keyed():
                self.of(Gpu).remove(gpu)  # one of these, and nobody can tell which


def _namesakes(gpu: Gpu, fitting: list[Gpu]) -> list[Gpu]:
    """A card that bears the name goes before one of which no name is known."""
    named = [other for other in fitting if other.knows("name")]
    return named if named and gpu.knows("name") else fitting


def _all_alike(gpus: list[Gpu]) -> bool:
    name = str(gpus[0].get("name", ""))
    return all(not name or (gpu.knows("name") and same_name(name, str(gpu.name))) for gpu in gpus)


def _meet(fact: Fact, other: Fact) -> bool:
    return fact.place.meet(other.place) is not None


def _may_be(gpu: Gpu, other: Gpu) -> bool:
    """Not known to differ, and not both counted by the same tool."""
    shared = [key for key in Gpu.keys if gpu.knows(key) and other.knows(key)]
    return not shared and not gpu.contradicts(other)


def _order(gpu: Gpu) -> tuple[str, int, int]:
    numbers = (gpu.get("nvml_index", 99), gpu.get("runtime_index", 99))
    return (str(gpu.get("pci_address", "~")), *numbers)


def _write_readably(new: Fact) -> None:
    """A value that an escape in somebody's JSON made unwritable is made one that can be shown."""
    for name, reading in new.fields.items():
        if not (isinstance(reading.value, str) and reading.value.isascii()) and (value := all_readable(reading.value)) != reading.value:
            new.fields[name] = reading._replace(value=value)
