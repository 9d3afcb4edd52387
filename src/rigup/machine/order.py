"""Who is asked before whom: readers wait for the kinds of facts that their inputs name, derivations for what they start from."""

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.reader import Derivation, File, Listing, Reader, Run, line_of
from rigup.machine.reader_files import MODULES, PACKAGE, SHARED

HEARD = "what programs said"
"""The messages in all texts: for them nobody's reader looks."""

_FILLED_IN = lazy_regex(r"\{(\w+)\.\w+\}")


def needs(reader: Reader) -> frozenset[str]:
    """Kinds that its inputs are built on."""
    paths = [query.path for query in reader.inputs if isinstance(query, File | Listing)]
    named = {kind for path in paths if "{" in path and "." in path for kind in _FILLED_IN.findall(path)}
    asleep = any(isinstance(query, File | Run) and query.wakes for query in reader.inputs)
    return frozenset(named | ({"PciDevice", "DrmCard"} if asleep else set()))


def graph(readers: tuple[Reader, ...], derived: tuple[Derivation, ...]) -> dict[str, set[str]]:
    """Who waits for whom: a reader for the kinds named in its inputs, a derivation for its source's makers."""
    makers: dict[str, set[str]] = defaultdict(set)
    for reader in readers:
        for kind in reader.makes:
            makers[kind.__name__].add(reader.name)
    for derivation in derived:
        if derivation.about is not derivation.source:
            makers[derivation.about.__name__].add(derivation.name)
    names = [*(reader.name for reader in readers), *(derivation.name for derivation in derived), HEARD]
    waits: dict[str, set[str]] = {name: set() for name in names}
    for derivation in derived:
        _wait(waits, derivation.name, makers, {kind.__name__ for kind in (derivation.source, *derivation.beside)})
    for reader in readers:
        _wait(waits, reader.name, makers, needs(reader))
    return waits


def makers(
    kinds: tuple[type[Fact], ...], readers: tuple[Reader, ...], derived: tuple[Derivation, ...]
) -> tuple[tuple[Reader, ...], tuple[Derivation, ...]]:
    """Those of them who state facts of some kinds, or of a kind from which such facts follow; all where no kind is named."""
    if not kinds:
        return readers, derived
    wanted: frozenset[str] = frozenset()
    more = frozenset(kind.__name__ for kind in kinds)
    while more != wanted:
        wanted = more
        chosen = tuple(reader for reader in readers if wanted & {kind.__name__ for kind in reader.makes})
        follow = tuple(derivation for derivation in derived if derivation.about.__name__ in wanted)
        before = {kind.__name__ for derivation in follow for kind in (derivation.source, *derivation.beside)}
        more = wanted.union(before, *map(needs, chosen))
    return chosen, follow


@functools.lru_cache(maxsize=4)
def ordered(readers: tuple[Reader, ...], derived: tuple[Derivation, ...]) -> list[list[str]]:
    """Those who can be asked side by side, wave after wave, each wave in the fixed order in which it is merged."""
    import graphlib  # of the readers that come with the package the order is known

    read = _in_order({reader.name: reader.read for reader in readers})
    derivations = _in_order({derivation.name: derivation.derive for derivation in derived})
    rank = {name: number for number, name in enumerate((HEARD, *read, *derivations))}
    order = graphlib.TopologicalSorter(graph(readers, derived))
    order.prepare()
    order_of_waves = []
    while order.is_active():
        order_of_waves.append(sorted(order.get_ready(), key=rank.__getitem__))
        order.done(*order_of_waves[-1])
    return order_of_waves


def _wait(waits: dict[str, set[str]], name: str, makers: dict[str, set[str]], kinds: Iterable[str]) -> None:
    """Wait for all who make these kinds, but for those who wait for us: somebody has to go first."""
    for maker in sorted({maker for kind in kinds for maker in makers[kind]}):
        if maker != name and not (waits[maker] and _reaches(waits, maker, name)):
            waits[name].add(maker)


def _reaches(waits: dict[str, set[str]], start: str, goal: str) -> bool:
    """Whether one waits, by way of others, for another."""
    open_, seen = [start], set[str]()
    while open_:
        if (name := open_.pop()) == goal:
            return True
        if name not in seen:
            seen.add(name)
            open_ += waits[name]
    return False


def _in_order(declared: Mapping[str, Callable[..., object]]) -> list[str]:
    """By the files that declare them, and by line, whatever was imported first; then those of others."""
    ranks = {f"{PACKAGE}.{name}": rank for rank, name in enumerate(MODULES)} | {SHARED: -1}

    def where(name: str) -> tuple[int, int]:
        function = declared[name]
        rank = ranks.get(function.__module__)
        return (len(ranks), 0) if rank is None else (rank, line_of(function))

    return sorted(declared, key=where)
