"""Rules that are data: what a message, a maker and the absence of anything contrary tell together.

A row of the tables `rules/FAMILY/…` is the same conjunction as a rule in Python, over few primitives:

    [[rule]]
    id = "no_radeon_on_the_bus"
    cause = "no-gpu-present"
    strength = "likely"
    why = "radeontop goes through the bus, and a program was to compute on a Radeon."
    needs = [{symptom = ["radeontop-finds-no-radeon"]}, {error = ["#rocm-finds-none"]}, {"card?" = "PciDevice", vendor_id = "1002"}]
    when = ["no card", "not inside symptom"]
    params = {said = "=error.id", severity = "error"}

`needs`, in the order in which they bind each other's place. The first key names the part; its value is a kind of fact, or
the ids and `#tags` of messages; the other keys are fields that it must have (a list: any of these values; `is NAME`: one
that passes a function of `row_functions`), `at` wants places. `NAME?` may be missing, `NAME*` is all of them together,
`NAME!` is a lack that somebody looked for.

An operand is a part (`card`), its field (`card.isa`; one that nobody stated leaves the rule unjudged), a field that may be
unknown (`card.isa?`, or `card.isa~` for a text that is then empty), or a function of operands (`left(card.isa)`).

`when`: conditions, all of which hold. Each is one or more tests joined by ` or `; each may begin with `not `:

    card                    it is there (of all of them together: there is one); of a field or function: it is not empty
    no card                 it is not there; of a field or function: it is None
    inside symptom           it was seen in a container
    gpu.vendor = amd|intel  the operand is one of these words, `!=` none of them
    own.version is shell.version    both are alike, `is not` differ
    own.version in other.versions   the one is among the other, `not in` is not
    torch.version~ holds +cpu|+xpu  the text has one of these words in it; `starts`, `ends` with one
    gpu.count? > 1          a number, or an operand, that is known; `>=`, `<`, `<=`
    torch knows version     somebody stated the field

`params` are handed to texts and fixes: a value, `=` alone for nothing, or `=` with an operand, or with several joined by ` or ` of which the first
that is not empty is told, or a text with operands in braces, `={shell.prefix}/bin/python`. `told_of` names messages of which all groups are told.
"""

import operator
import re
from collections.abc import Callable, Set
from functools import cache, partial
from typing import Any

import msgspec

from rigup.diagnosis.row_functions import row_function
from rigup.diagnosis.rule import EVERY, MAYBE, NONE, ONE, Every, Need, Params, Passes, Rule, Verdict, wordings
from rigup.knowledge import tables
from rigup.knowledge.tables import KnowledgeError
from rigup.machine.facts import Fact, kinds
from rigup.machine.kinds import Symptom
from rigup.schemas.shared import Confidence

Parts = dict[str, Any]
Test = Callable[[Parts], bool]
Operand = Callable[[Parts], Any]
_MODES = {"?": MAYBE, "*": EVERY, "!": NONE}
_AT, _PASSES = "at", "is "
_CALL = re.compile(r"([a-z][a-z0-9-]*)\((.*)\)")
_PATH = re.compile(r"([a-z]\w*)(?:\.(\w+)([?~]?))?")
_COMPARISON = re.compile(r"(\S.*?) (is not|is|not in|in|holds|starts|ends|=|!=|>=|<=|>|<|knows) (\S.*)")
_FIELD = re.compile(r"(?:\w\.| knows )(\w+)")
_HOLE = re.compile(r"\{([^{}]+)\}")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_TEXTS: dict[str, Callable[[str, str], bool]] = {"holds": operator.contains, "starts": str.startswith, "ends": str.endswith}
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


class RuleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One rule as a row.

    Attributes:
        id: message and condition, in words joined by dashes.
        cause: the cause that it names.
        strength: "certain", "likely" or "possible".
        why: for whoever reads the table.
        needs: its parts, see above.
        when: conditions, all of which hold.
        params: what it tells.
        told_of: parts of which all fields are told, before `params`.

    """

    id: str
    cause: str
    strength: Confidence = "certain"
    why: str = ""
    needs: list[dict[str, Any]]
    when: list[str] = []
    params: dict[str, Any] = {}
    told_of: list[str] = []
    source: str = ""
    checked: str = ""
    how: str = ""


@tables.remembered
def rule_rows() -> tuple[RuleRow, ...]:
    """All rules that are rows, in the order of their files.

    Raises:
        KnowledgeError: a table of rules is malformed.

    """
    return tuple(row for name in tables.names("rules/") for row in tables.rows(name, "rule", RuleRow))


def rules_of_rows() -> tuple[Rule, ...]:
    """All rows as rules.

    Raises:
        KnowledgeError: a row that cannot be understood.

    """
    return tuple(map(_rule, range(len(rule_rows()))))


def rules_that_may_hold(facts_of: Callable[[type[Fact]], Any], symptom_ids: Set[str]) -> tuple[Rule, ...]:
    """The rows of which no message and no kind of fact is missing that they need, as rules: a few of all.

    Args:
        facts_of: the facts of a kind.
        symptom_ids: ids of all messages.

    Raises:
        KnowledgeError: a row that cannot be understood.

    """
    numbers = (number for number in range(len(rule_rows())) if not any(map(symptom_ids.isdisjoint, _messages(number))))
    return tuple(_rule(number) for number in numbers if all(map(facts_of, _kinds(number))))


@tables.remembered
def fields_read(rule: str) -> frozenset[str]:
    """Names of the fields that the rows of an id read, in conditions and in what they tell.

    Raises:
        KnowledgeError: a table of rules is malformed.

    """
    rows = (row for row in rule_rows() if row.id == rule)
    words = " ".join(str(word) for row in rows for word in (*row.when, *row.params.values()))
    return frozenset(_FIELD.findall(words))


def ids_of(wanted: str | list[str]) -> tuple[str, ...]:
    """The signature ids that a word or a list of ids and `#tags` stands for."""
    return _ids_of((wanted,) if isinstance(wanted, str) else tuple(wanted))


@tables.remembered
def _ids_of(words: tuple[str, ...]) -> tuple[str, ...]:
    ids = (word for word in words if not word.startswith("#"))
    named = (word[1:] for word in words if word.startswith("#"))
    return wordings(*ids, tag=" ".join(named))


@tables.remembered
def _messages(number: int) -> tuple[tuple[str, ...], ...]:
    """Ids of the messages that a row needs, a group for each of which one must have been heard; of its words alone."""
    wanted = (next(iter(need.items())) for need in rule_rows()[number].needs)
    return tuple(ids_of(ids) for name, ids in wanted if name[-1] not in _MODES and not _names_kind(ids))


@tables.remembered
def _kinds(number: int) -> tuple[type[Fact], ...]:
    """The kinds of facts of which a row needs one."""
    wanted = (next(iter(need.items())) for need in rule_rows()[number].needs)
    return tuple(kinds()[kind] for name, kind in wanted if name[-1] not in _MODES and _names_kind(kind))


def _names_kind(kind_or_ids: str | list[str]) -> bool:
    return isinstance(kind_or_ids, str) and kind_or_ids[:1].isupper()


@tables.remembered
def _rule(number: int) -> Rule:
    row = rule_rows()[number]
    try:
        needs = dict(map(_need, row.needs))
        tests = tuple(map(condition, row.when))
        return Rule(row.cause, partial(_judge, tuple(needs), tests, row), needs, row.strength, row.id)
    except (KeyError, ValueError, IndexError) as error:
        raise KnowledgeError(f"rules, {row.id}", str(error)) from error


def _need(need: dict[str, Any]) -> tuple[str, Need]:
    (name, kind_or_ids), *fields = need.items()
    mode = _MODES.get(name[-1], ONE)
    name = name if mode == ONE else name[:-1]
    at = tuple(str(dict(fields).get(_AT, "")).split())
    wanted = tuple((field, _as_tuple(value)) for field, value in fields if field != _AT)
    if _names_kind(kind_or_ids):
        return name, Need(kinds()[kind_or_ids], at, wanted, mode)
    return name, Need(Symptom, at, (("id", ids_of(kind_or_ids)), *wanted), mode)


def _as_tuple(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_PASSES):
        return Passes(row_function(value.removeprefix(_PASSES)))
    return tuple(value) if isinstance(value, list) else value


def _judge(names: tuple[str, ...], tests: tuple[Test, ...], row: RuleRow, *given: Any) -> Verdict:
    parts = dict(zip(names, given, strict=True))
    if not all(test(parts) for test in tests):
        return False
    params: Params = {}
    for name in row.told_of:
        params |= parts[name].values() if parts[name] is not None else {}
    return {**params, **{name: _param(value, parts) for name, value in row.params.items()}} or True


def _param(value: Any, parts: Parts) -> Any:
    if not isinstance(value, str) or not value.startswith("="):
        return value
    if "{" in value:
        return _HOLE.sub(lambda hole: str(operand(hole[1])(parts)), value[1:])
    found = None
    for choice in value[1:].split(" or ") if len(value) > 1 else ():
        found = operand(choice)(parts)
        if found:
            break
    return found


# -- operands ----------------------------------------------------------------------------------------


@cache
def operand(text: str) -> Operand:
    """What an operand stands for, by the grammar above.

    Raises:
        ValueError: it is none, or there is no such function.

    """
    if (call := _CALL.fullmatch(text)) is not None:
        return partial(_call, row_function(call[1]), tuple(map(operand, _split(call[2]))))
    if (path := _PATH.fullmatch(text)) is None:
        raise ValueError(f"no operand of rules: {text!r}")
    name, field, how = path.groups()
    return partial(_READS[how], name, field) if field else partial(_part, name)


def _split(text: str) -> list[str]:
    """Arguments, which may be calls themselves."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [argument.strip() for argument in parts]


def _part(name: str, parts: Parts) -> Any:
    return parts[name]


def _attribute(name: str, field: str, parts: Parts) -> Any:
    part = parts[name]
    return None if part is None else getattr(part, field)


def _known_field(name: str, field: str, parts: Parts) -> Any:
    part = parts[name]
    return None if part is None else part.get(field)


def _text(name: str, field: str, parts: Parts) -> str:
    return str(_known_field(name, field, parts) or "")


_READS: dict[str, Callable[[str, str, Parts], Any]] = {"": _attribute, "?": _known_field, "~": _text}


def _call(function: Callable[..., Any], arguments: tuple[Operand, ...], parts: Parts) -> Any:
    return function(*(argument(parts) for argument in arguments))


# -- conditions --------------------------------------------------------------------------------------


@cache
def condition(text: str) -> Test:
    """A condition as a test of a rule's parts, by the grammar above.

    Raises:
        ValueError: no such condition.

    """
    tests = tuple(_test(part.strip()) for part in text.split(" or "))
    return tests[0] if len(tests) == 1 else partial(_any, tests)


def _any(tests: tuple[Test, ...], parts: Parts) -> bool:
    return any(test(parts) for test in tests)


def _test(text: str) -> Test:
    if text.startswith("not "):
        return partial(_isnt, _test(text[4:]))
    if text.startswith("no "):
        return partial(_is_none, operand(text[3:]))
    if text.startswith("inside "):
        return partial(_inside, text[7:])
    comparison = _COMPARISON.fullmatch(text)
    return _comparison(*comparison.groups()) if comparison else partial(_holds, operand(text))


def _comparison(left: str, sign: str, right: str) -> Test:
    if sign == "knows":
        return partial(_knows, left, right)
    if sign in ("=", "!="):
        return partial(_is_one_of, operand(left), tuple(right.split("|")), sign == "=")
    if sign in _TEXTS:
        return partial(_has_word, operand(left), _TEXTS[sign], tuple(right.split("|")))
    if sign in _ORDERS:
        limit = partial(_number, float(right)) if _NUMBER.fullmatch(right) else operand(right)
        return partial(_compares, operand(left), _ORDERS[sign], limit)
    test = partial(_relates, operand(left), operator.eq if sign.startswith("is") else _is_in, operand(right))
    return partial(_isnt, test) if "not" in sign else test


def _isnt(test: Test, parts: Parts) -> bool:
    return not test(parts)


def _is_none(left: Operand, parts: Parts) -> bool:
    held = left(parts)
    return not held if isinstance(held, Every) else held is None


def _inside(name: str, parts: Parts) -> bool:
    part: Fact | None = parts[name]
    return part is not None and part.place.world.partition(":")[0] == "container"


def _knows(name: str, field: str, parts: Parts) -> bool:
    return parts[name] is not None and bool(parts[name].knows(field))


def _holds(left: Operand, parts: Parts) -> bool:
    held = left(parts)
    return held is not None if isinstance(held, Fact) else bool(held)


def _is_one_of(left: Operand, values: tuple[str, ...], wanted: bool, parts: Parts) -> bool:
    held = left(parts)
    return (held is not None and str(held) in values) is wanted


def _has_word(left: Operand, has: Callable[[str, str], bool], words: tuple[str, ...], parts: Parts) -> bool:
    held = str(left(parts) or "")
    return any(has(held, word) for word in words)


def _relates(left: Operand, relation: Callable[[Any, Any], Any], right: Operand, parts: Parts) -> bool:
    return bool(relation(left(parts), right(parts)))


def _is_in(value: Any, others: Any) -> bool:
    return others is not None and value in others


def _number(value: float, _parts: Parts) -> float:
    return value


def _compares(left: Operand, order: Callable[[Any, Any], bool], right: Operand, parts: Parts) -> bool:
    held, bound = left(parts), right(parts)
    return held is not None and bound is not None and order(held, bound)
