"""The questions of pasted texts, with the answers that hold for what the text shows."""

import re
from collections.abc import Callable, Iterable

from rigup.diagnosis.at_work import is_at_work
from rigup.diagnosis.blame import are_sure, is_one_of
from rigup.diagnosis.faults_asked import is_of_faults
from rigup.diagnosis.guesses import own_texts
from rigup.diagnosis.looking import Look, system
from rigup.diagnosis.shown import look, maker, shown_names, values
from rigup.diagnosis.wording import filled, holes
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.questions import Asked, Question, Told, asked_in, is_question, without_commands, without_questions
from rigup.knowledge.text_classifier import ends, fails, is_in_trouble
from rigup.language import _
from rigup.machine.kinds import Gpu
from rigup.machine.store import Facts
from rigup.machine.texts import Text
from rigup.schemas.doctor import AnsweredQuestion
from rigup.schemas.shared import Finding

_BLANK = lazy_regex(r"(?<=[。？！]) ")  # Chinese sentences follow each other without one
_OUTPUT = 200  # characters of an output that is taken out of its text
_MOST_ANSWERS = 3
_MOST_OF_A_SENTENCE = 2
_LEAST = 3  # characters of a sentence that is taken out of its text


def answers_to(
    texts: Iterable[Text], facts: Facts, loud: frozenset[str] = frozenset(), tell: Callable[[], tuple[Finding, ...]] = tuple
) -> list[AnsweredQuestion]:
    """Answers to what is asked, each once.

    Args:
        texts: as they were pasted.
        facts: all that was seen.
        loud: causes that were found; beside them only what belongs to one of them is answered.
        tell: what was found, with the ways to mend it, where somebody asks of that.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = [one for one in _asked(texts, facts, bool(loud)) if not one.row.last and _may_be_told(one, loud)]
    told = _told(asked, facts, tell() if any(one.row.causes for one in asked) else ())
    twice = {one.row.id for one in asked if any(answer.id in one.row.told_by for answer in told)}
    kept: list[AnsweredQuestion] = []
    for answer in (answer for answer in told if answer.id not in twice):
        same = sum(other.asked == answer.asked for other in kept)
        kept += [answer] if same < _MOST_OF_A_SENTENCE else []
    first = sorted(kept, key=lambda answer: not answer.outright)[:_MOST_ANSWERS]
    return [answer for answer in kept if answer in first]


def _may_be_told(one: Asked, loud: frozenset[str]) -> bool:
    """Whether an answer is worth something beside what is wrong: where it is asked beyond doubt and holds all the same, or belongs to it."""
    if one.row.causes:
        return any(is_one_of(cause, one.row.causes) for cause in loud)
    return not loud or (one.row.always and one.whole) or not loud.isdisjoint(one.row.beside)


def assurances(texts: Iterable[Text], facts: Facts, explained: bool, complains: bool = False) -> list[AnsweredQuestion]:
    """What is said to who asks whether all is well, or what nothing is known of, where somebody knows that all is.

    Args:
        texts: as they were pasted.
        facts: all that was seen.
        explained: whether a message of theirs is explained as harmless: then the question is mostly of that.
        complains: whether somebody says that something is wrong: then nobody is told that all is well.

    Raises:
        KnowledgeError: the table is malformed.

    """
    last = (one for one in _asked(texts, facts) if one.row.last and (one.row.complaint or not complains))
    return _told((one for one in last if not (explained and one.row.unless_explained)), facts)[:1]


def are_of_outputs(answers: Iterable[AnsweredQuestion], texts: Iterable[Text], facts: Facts) -> bool:
    """Whether one of the answers explains an output that the text shows: then nobody has to guess what is behind it."""
    ids = {one.row.id for one in _asked(texts, facts) if one.shown and one.sentence}
    return any(answer.id in ids for answer in answers)


def _asked(texts: Iterable[Text], facts: Facts, is_wrong: bool = False) -> list[Asked]:
    names = shown_names(facts)
    found = [
        one
        for text in texts
        for one in asked_in(text.body, names, is_wrong)
        if one.row.beside or one.row.of_error or not (one.shown and _fails_besides(one, text, facts))
    ]
    return list({one.row.id: one for one in found}.values())


def _fails_besides(one: Asked, text: Text, facts: Facts) -> bool:
    """Whether a program fails in a text, beside the outputs that the answer explains and what is known to be without consequence."""
    told = own_texts((text,), facts)[0]
    answers = any(card.knows("seen_by") for card in facts.of(Gpu))
    if (is_at_work(facts) or answers) and not is_in_trouble(
        one.sentence
    ):  # who believes that something failed of which the text shows that it works
        told = told.replace(one.sentence, "")
    body = ends(without_questions(told))
    for form in one.row.outputs:
        body = re.sub(form, lambda found: found[0] if len(found[0]) > _OUTPUT else "", body, flags=re.MULTILINE)
    return fails(without_commands(body))


def _told(asked: Iterable[Asked], facts: Facts, found: tuple[Finding, ...] = ()) -> list[AnsweredQuestion]:
    return [answer for one in asked if (answer := _answer(one, facts, found))]


def without(texts: Iterable[Text], answers: Iterable[AnsweredQuestion]) -> tuple[Text, ...]:
    """The texts without the sentences that ask what is answered: who asks them complains of nothing."""
    sentences = [line for answer in answers for line in answer.asked.splitlines() if len(line) >= _LEAST]
    return tuple(_cut(text, sentences) for text in texts)


def _cut(text: Text, sentences: list[str]) -> Text:
    body = text.body
    for sentence in sentences:
        body = body.replace(sentence, "")
    return Text(text.source, body, text.given, text.whole, text.rank, text.lines, text.exit_status)


def _answer(asked: Asked, facts: Facts, found: tuple[Finding, ...]) -> AnsweredQuestion | None:
    """What is said of one; None where it is asked of other makers' cards, or nothing can be said."""
    row, seen = asked.row, look(asked, facts, found)
    whose, where = maker(seen), system(seen)
    if not (_is_of(row.makers, whose) and _is_of(row.systems, where)):
        return None
    told = next((one for one in row.by if _holds(one, whose, where, seen)), None)
    shown = [sentence for templates in row.shows if (sentence := _first(templates, seen))]
    if row.last and not shown:
        return None
    own = "" if row.causes and not are_sure(found) else row.answer  # what is only possible denies nothing
    general = _sentence(told.answer if told else own, seen)
    sentence = _BLANK.sub("", " ".join([*shown, *([general] if general else [])]))
    lines = row.lines if told is None or told.lines is None else told.lines
    outright = row.last or bool(row.causes) or is_question(asked.sentence)  # who suspects a fault asks whether it is one
    answer = AnsweredQuestion(id=row.id, asked=asked.sentence, answer=sentence, commands=_commands(row, lines, seen), outright=outright)
    return answer if sentence else None


def _first(templates: list[str], seen: Look) -> str:
    return next((sentence for template in templates if (sentence := _sentence(template, seen))), "")


def _sentence(template: str, seen: Look) -> str:
    """A sentence in the language in force; "" where one of its holes stays empty."""
    names = {name for name, _field in holes(template)}
    return filled(_(template), values(names, seen)) or "" if template else ""


def _commands(row: Question, lines: list[str], seen: Look) -> list[str]:
    names = {name for line in lines for name, _field in holes(line)}
    known = {**row.usual, **values(names, seen)}
    return [line if not names else line.format_map(known) for line in lines]


def _holds(told: Told, whose: str, where: str, seen: Look) -> bool:
    """Whether an answer is of this maker, this system and these figures; of an unknown maker only what is anybody's."""
    if (told.makers and whose not in told.makers) or (told.systems and where not in told.systems):
        return False
    if not is_of_faults(told, seen.found) or not all(values([name], seen).get(name) for name in told.needs):
        return False
    said = seen.asked.said
    fits = all(re.fullmatch(form, said.get(name, "")) for name, form in told.said.items())
    return fits and all(_lies_within(said.get(name, ""), *bounds) for name, bounds in told.within.items())


def _lies_within(figure: str, least: float, most: float) -> bool:
    return figure.isdecimal() and least <= int(figure) <= most


def _is_of(wanted: list[str], known: str) -> bool:
    return not wanted or not known or known in wanted
