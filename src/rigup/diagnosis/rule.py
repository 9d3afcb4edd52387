"""How a rule is written.

A rule is a conjunction: its parameters say what must be there, and it is called once for every way of
choosing them that holds in one place. It returns whether it holds, or a dict of what it worked out for
texts and fixes. Every field that it asked for or read is the evidence; it never handles unknowns.

    gpu: Gpu                                 each GPU
    gpu: Gpu | None = None                   each GPU, or None where nobody has seen one
    error: Symptom = seen("id", at="…")      that symptom; `at` wants certain places
    wish: Variable = one(name="X")           a fact with such fields
    gpus: Every[Gpu] = every(Gpu)            all of them together, where a rule counts or compares
    missing: Every[Variable] = lacks(Variable, name="X")   somebody looked, and it is not there
    wheel: Package = one(name=Passes(is_of_nvidia))   a fact of which a field passes a test
    wheel: Package = one(name=HasForm(r"nvidia-.*"))  the same, where a regular expression is the test

`@rule` serves machines that are asked and pasted texts alike, `@text_rule` pasted texts alone: it waits for what people
write, or for what their programs said to them, and a machine that is asked itself says neither.
"""

import functools
from collections.abc import Callable, Collection, Iterable, Set
from types import UnionType
from typing import Any, Generic, NamedTuple, Self, TypeVar

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact, Look, Place, Reading, Subject
from rigup.machine.kinds import Symptom
from rigup.schemas.shared import Confidence

T = TypeVar("T", bound=Fact)
STRENGTHS = ("certain", "likely", "possible")
Verdict = bool | dict[str, Any] | None
Params = dict[str, Any]
Judge = Callable[..., Verdict]
MendsOf = Callable[..., Params]
ONE, MAYBE, EVERY, NONE = "one", "maybe", "every", "none"


class Need(NamedTuple):
    """What one parameter asks for."""

    kind: type[Fact] = Fact  # Fact: the annotation tells which
    at: tuple[str, ...] = ()
    fields: tuple[tuple[str, Any], ...] = ()
    mode: str = ONE

    def fits(self, fact: Fact) -> bool:
        """Whether a fact has the wanted fields; a tuple of values wants any of them."""
        for name, wanted in self.fields:
            held = fact.fields.get(name)
            if held is None or not (held.value in wanted if isinstance(wanted, tuple) else held.value == wanted):
                return False
        return True


_ANY = Need()


class Every(tuple[T, ...], Generic[T]):
    """All facts that fit in one place, with the look that vouches for it: an absence is evidence too."""

    look: Look
    wanted: str
    subject = Subject()

    @property
    def place(self) -> Place:
        """Where somebody looked."""
        return self.look.place

    def watched(self, log: list[tuple[str, Reading]]) -> "Every[T]":
        """The same facts, noting what is read from them."""
        return group((fact.watched(log) for fact in self), self.look, self.wanted)


def group(facts: Iterable[T], look: Look, wanted: str) -> Every[T]:
    """Facts together with the look that vouches for them."""
    members = Every(facts)
    members.look, members.wanted = look, wanted
    return members


class Rule:
    """One way to know a cause. What it asks for is read from its signature when it may hold: most rules may not."""

    def __init__(
        self,
        cause: str,
        judge: Callable[..., Any],
        needs: dict[str, Need] | None = None,
        strength: Confidence = "certain",
        name: str = "",
        of_text: bool = False,
    ) -> None:
        self.cause, self.judge, self.strength, self.name, self.of_text = cause, judge, strength, name, of_text
        if needs is not None:
            self.needs = needs

    @functools.cached_property
    def needs(self) -> dict[str, Need]:
        """What each parameter asks for."""
        return needs_of(self.judge)

    @functools.cached_property
    def _required(self) -> tuple[list[type[Fact]], list[tuple[str, ...]]]:
        """Kinds of which there must be a fact, and ids of messages of which one must have been heard, a group a parameter."""
        required = [need for need in self.needs.values() if need.mode == ONE]
        ids = {id(need): dict(need.fields).get("id") for need in required if need.kind is Symptom}
        messages = [wanted for wanted in ids.values() if isinstance(wanted, tuple)]
        return [need.kind for need in required if not isinstance(ids.get(id(need)), tuple)], messages

    def lacks(self, facts_of: Callable[[type[Fact]], Any], symptom_ids: Set[str]) -> bool:
        """Whether a fact or a message is missing that one of its parameters is; false where that is not known at once."""
        if "needs" in self.__dict__:
            kinds, messages = self._required
            return not all(map(facts_of, kinds)) or any(map(symptom_ids.isdisjoint, messages))
        code, defaults = self.judge.__code__, self.judge.__defaults__ or ()
        first = code.co_argcount - len(defaults)  # that has a default
        for number, name in enumerate(code.co_varnames[: code.co_argcount]):
            kind = self.judge.__annotations__[name]
            need = defaults[number - first] if number >= first else _ANY
            if not isinstance(kind, type) or not isinstance(need, Need) or need.mode != ONE:
                continue  # a group, or what may be missing
            if need.kind is Symptom and need.fields[0][0] == "id":
                if not any(symptom_id in symptom_ids for symptom_id in need.fields[0][1]):
                    return True
            elif not facts_of(kind):
                return True
        return False


KNEW = "knew"
RULES: list[Rule] = []
MENDS: dict[str, list[Rule]] = {}


def seen(*ids: str, tag: str = "", at: str = "", **fields: Any) -> Any:
    """A symptom by its signature's id, or by a tag that its signature carries; several, parted by spaces, mean any of them.

    Raises:
        KnowledgeError: no signature carries the tag.

    """
    return Need(Symptom, tuple(at.split()), (("id", wordings(*ids, tag=tag)), *fields.items()))


def wordings(*ids: str, tag: str = "") -> tuple[str, ...]:
    """The ids, and those of the signatures that carry any of the tags.

    Raises:
        KnowledgeError: no signature carries a tag.

    """
    if not tag:
        return ids if len(ids) == 1 else tuple(dict.fromkeys(ids))
    from rigup.knowledge.tags import ids_of_tag

    return tuple(dict.fromkeys((*ids, *(symptom_id for word in tag.split() for symptom_id in ids_of_tag(word)))))


def one(at: str = "", **fields: Any) -> Any:
    """A fact of the annotated kind with such fields."""
    return Need(Fact, tuple(at.split()), tuple(fields.items()))


class Passes(tuple[Any, ...]):
    """Stands for all values that pass a test; a table behind it is read when there is a fact to be tested."""

    test: Callable[[Any], bool]

    def __new__(cls, test: Callable[[Any], bool]) -> Self:
        """Of the test's name only, so that it can be shown."""
        condition = super().__new__(cls, (test.__name__,))
        condition.test = test
        return condition

    def __contains__(self, value: object) -> bool:
        return value is not None and bool(self.test(value))


class HasForm(Passes):
    """Stands for all texts of a form: whether a fact has it is known without the file of the rule."""

    regex: str

    def __new__(cls, regex: str) -> Self:
        """Of the regular expression that matches the whole text."""
        form = lazy_regex(regex)

        def has_form(text: Any) -> bool:
            return form.fullmatch(str(text)) is not None

        condition = super().__new__(cls, has_form)
        condition.regex = regex
        return condition


def every(kind: type[T], at: str = "", **fields: Any) -> Any:
    """All facts of a kind in one place that somebody looked at; there may be none."""
    return Need(kind, tuple(at.split()), tuple(fields.items()), EVERY)


def lacks(kind: type[T], at: str = "", **fields: Any) -> Any:
    """Somebody looked for such a fact and there is none."""
    return Need(kind, tuple(at.split()), tuple(fields.items()), NONE)


def rule(cause: str, strength: Confidence = "certain", *, of_text: bool = False) -> Callable[[Judge], Judge]:
    """Register a way to know a cause. Several rules may name one cause.

    Args:
        cause: its id.
        strength: how sure it is where the rule holds.
        of_text: see `text_rule`.

    """

    def register(judge: Judge) -> Judge:
        RULES.append(Rule(cause, judge, None, strength, judge.__name__, of_text))
        return judge

    return register


def text_rule(cause: str, strength: Confidence = "certain") -> Callable[[Judge], Judge]:
    """Register a way to know a cause from a pasted text, which is never tried on a machine that is asked itself."""
    return rule(cause, strength, of_text=True)


def mends(cause: str) -> Callable[[MendsOf], MendsOf]:
    """Register what a fix needs beyond what the rule knew; shared by all ways to know the cause. Several may serve one cause, in their order.

    One that has a parameter `knew` gets there what the rule, and those before it, returned. A hole that is given as None is empty, also where
    the rule filled it: the ways to mend it that need it are then not said.
    """

    def register(work_out: MendsOf) -> MendsOf:
        MENDS.setdefault(cause, []).append(Rule(cause, work_out, name=work_out.__name__))
        return work_out

    return register


def needs_of(judge: Callable[..., Any]) -> dict[str, Need]:
    """What a rule asks for, read from its signature (by hand: `inspect` would cost the start its milliseconds)."""
    code = judge.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = judge.__defaults__ or ()
    by_name = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    return {name: _need(judge.__annotations__[name], by_name.get(name)) for name in names if name != KNEW}


def _need(annotation: Any, default: Any) -> Need:
    need = default if isinstance(default, Need) else _ANY
    if isinstance(annotation, UnionType):
        return Need(_kind(_optional(annotation), need), need.at, need.fields, MAYBE)
    return Need(_kind(annotation, need), need.at, need.fields, need.mode)


def _optional(annotation: UnionType) -> Any:
    """The kind beside None: of two kinds a rule would be given the first one's facts only.

    Raises:
        TypeError: another union.

    """
    kind, *others = annotation.__args__
    if others != [type(None)]:
        raise TypeError(f"a rule's parameter is of one kind, or of one and None: {annotation}")
    return kind


def _kind(annotation: Any, need: Need) -> type[Fact]:
    if need.kind is not Fact or getattr(annotation, "__origin__", None) is Every:
        return need.kind
    return annotation  # type: ignore[no-any-return]


def rules_of_table(symptom_ids: Collection[str] | None = None) -> tuple[Rule, ...]:
    """A message that decides alone needs no code: its signature's row names the cause. `symptom_ids`: of these ids only."""
    from rigup.knowledge.doctor_tables import signatures, signatures_of

    return tuple(
        Rule(row.means, functools.partial(_as_the_row_says, row.params), {"symptom": seen(row.id)}, row.strength, row.id)
        for row in (signatures() if symptom_ids is None else signatures_of(symptom_ids))
        if row.means and set(row.idle_beside).isdisjoint(symptom_ids or ())
    )


def rules_of_what_is_usual(symptom_ids: Collection[str]) -> tuple[Rule, ...]:
    """The cause that is most often behind a message which decides nothing, for those who know no more. Of these ids only."""
    from rigup.knowledge.doctor_tables import signatures_of

    rows = (row for row in signatures_of(symptom_ids) if row.usually)
    params = functools.partial(_as_the_row_says, {})
    return tuple(Rule(row.usually, params, {"symptom": seen(row.id)}, "possible", row.id) for row in rows)


def _as_the_row_says(params: Params, symptom: Symptom) -> Verdict:
    return {**symptom.values(), **params}
