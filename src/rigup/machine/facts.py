"""What is: facts whose every field remembers where it was read.

A reader *states* what one text says; statements about the same subject merge into one fact. Field by
field there are three states here: a value; None, which is known absence; and not there, because nobody
looked or could not (then a `Look` says why). Reading a field that is not there raises `Unknown`, so a
rule need not test for it and cannot fire on it.
"""

from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

MACHINE, WORLD, PROCESS = "machine", "world", "process"


class Place(NamedTuple):
    """Through whose eyes something was seen. An empty part: the text does not tell, so it goes with any.

    `world` is a view of the file system (host, container, container:NAME, windows), `process` whose
    environment and rights it was (shell, service:ollama, unit:ollama, kernel:py, rank:3, program),
    `moment` tells two states of one machine apart (before, after).
    """

    node: str = ""
    world: str = ""
    process: str = ""
    moment: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in self if part) or "here"

    @property
    def kind(self) -> str:
        """The nearest word for it: service, container, host and so on."""
        return (self.process or self.world).partition(":")[0]

    def at(self, scope: str) -> "Place":
        """As far as a fact of that scope depends on it: a chip is the same in every container."""
        if scope == PROCESS:
            return self
        world = self.world if scope == WORLD else ""
        return self if world == self.world and not self.process else Place(self.node, world, "", self.moment)

    def meet(self, other: "Place") -> "Place | None":
        """What holds in both, or None where they contradict each other."""
        if self == other:  # as nearly always
            return self
        parts = []
        for mine, theirs in zip(self, other, strict=True):
            part = mine if mine == theirs else _narrower(mine, theirs)
            if part is None:  # of many nodes the first part tells
                return None
            parts.append(part)
        return Place(*parts)


def _narrower(mine: str, theirs: str) -> str | None:
    """An unnamed container may be any named one; two names are two containers."""
    if not theirs or mine == theirs or mine.startswith(theirs + ":"):
        return mine
    return theirs if not mine or theirs.startswith(mine + ":") else None


class Where(NamedTuple):
    """A spot in a source, with the text that stands there, so that evidence can be found again."""

    source: str
    line: int | None
    text: str


class Reading(NamedTuple):
    """One field's value; of two that differ the one of the higher rank counts."""

    value: Any
    where: Where
    rank: int = 0


Silence = Literal["hung", "crashed", "failed", "silent", "garbage", "not-started"]


class Unanswered(NamedTuple):
    """A program that did not answer.

    Attributes:
        command: as a person would type it.
        how: hung, crashed, failed, silent, garbage or not-started.
        number: seconds that it had, the signal that ended it, or its exit status.
        said: what it printed, or why it could not be started; its first words.
        vendor: id of the maker whose cards it asks; "" for a program that is no maker's.

    """

    command: str
    how: Silence
    number: float = 0
    said: str = ""
    vendor: str = ""


class Look(NamedTuple):
    """Somebody looked for facts of a kind. Only a whole look can show that one is absent."""

    kind: "type[Fact]"
    place: Place
    source: str
    coverage: str = "whole"  # whole, excerpt, refused
    trouble: str = ""


class Subject(NamedTuple):
    """What a finding is about; empty: the machine."""

    kind: str = ""
    name: str = ""

    def touches(self, other: "Subject") -> bool:
        """A node's fault may explain an environment's; one GPU's fault does not explain another's."""
        return self.kind != other.kind or not self.name or not other.name or self.name == other.name


class _Nobody(list[tuple[str, Reading]]):
    """The log of a fact that nobody watches: to keep what is read of it would fill the memory."""

    def append(self, _read: tuple[str, Reading], /) -> None:
        """Forget it."""


_NOBODY = _Nobody()


class Unknown(Exception):
    """A rule asked for what nobody has seen; the text is Kind.field."""


class Fact:
    """A subject and what is known of it. Subclasses annotate their fields.

    `keys` tell subjects apart: two statements speak of one subject when they share a known key and no
    known key differs. `scope` says how far a fact holds: on the machine, in a world, in a process.
    """

    keys: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[str] = WORLD
    title: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, keys: tuple[str, ...] = (), scope: str = WORLD, title: tuple[str, ...] = ()) -> None:
        cls.keys, cls.scope, cls.title = keys, scope, title or keys

    def __init__(self, place: Place, fields: dict[str, Reading]) -> None:
        self.place, self.fields = place.at(self.scope), fields
        self.others: dict[str, list[Reading]] = {}
        self._log: list[tuple[str, Reading]] = _NOBODY

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            if name not in self.fields:
                raise Unknown(f"{type(self).__name__}.{name}")
            self._log.append((f"{type(self).__name__}.{name}", self.fields[name]))
            return self.fields[name].value

    def get(self, name: str, default: Any = None) -> Any:
        """For what may stay unknown without spoiling the judgement."""
        held = self.fields.get(name)
        if held is None:
            return default
        self._log.append((f"{type(self).__name__}.{name}", held))
        return held.value

    def knows(self, *names: str) -> bool:
        """Whether all these fields were stated (also as known absences)."""
        return self.fields.keys() >= set(names)

    def watched(self, log: list[tuple[str, Reading]]) -> Self:
        """The same fact, noting what is read from it: that is a rule's evidence."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _log=log)
        return twin

    @property
    def subject(self) -> Subject:
        """How a finding names it; stable, so that several ways to know one thing agree."""
        known = [name for name in self.title if self.fields.get(name, Reading(None, NOWHERE)).value is not None]
        return Subject(type(self).__name__, str(self.fields[known[0]].value) if known else "")

    def values(self) -> dict[str, Any]:
        """Fields and their values, without their provenance."""
        return {name: reading.value for name, reading in self.fields.items()}

    def same_as(self, other: "Fact") -> bool:
        """One subject: a common key, and no key that differs."""
        both = any(key in self.fields and key in other.fields for key in self.keys)
        return bool(both or not self.keys) and not self.contradicts(other)

    def contradicts(self, other: "Fact") -> bool:
        """Whether some key is known to differ."""
        for key in self.keys:
            mine, theirs = self.fields.get(key), other.fields.get(key)
            if mine is not None and theirs is not None and mine.value != theirs.value:
                return True
        return False

    def keyed(self) -> bool:
        """Whether any key is known."""
        return any(key in self.fields for key in self.keys)

    def absorb(self, fields: dict[str, Reading]) -> None:
        """Add what another statement says; a contradiction is kept, the higher rank counts."""
        for name, new in fields.items():
            held = self.fields.get(name)
            if held is None or (held.value != new.value and self.prefers(name, new, held)):
                self.fields[name] = new
            if held is not None and not self.alike(name, held.value, new.value):
                loser = held if self.fields[name] is new else new
                self.others.setdefault(name, []).append(loser)

    def prefers(self, name: str, new: Reading, held: Reading) -> bool:  # noqa: ARG002
        """Whether the new value takes the place of one that differs."""
        return new.rank > held.rank

    def alike(self, name: str, value: Any, other: Any) -> bool:  # noqa: ARG002
        """Whether two values say the same; some fields are written in several ways."""
        return bool(value == other)


NOWHERE = Where("", None, "")


def kinds() -> dict[str, type[Fact]]:
    """All kinds of facts by name."""
    return {kind.__name__: kind for kind in Fact.__subclasses__()}
