"""A guess, where no rule speaks: the cause that a pasted text reads like.

Words prove nothing. So it guesses only of texts, only where nothing was seen to work and nothing was found that is
more than possible; where nobody complains it takes more to doubt that all is well; and it calls itself possible.
The text of the cause tells how to make sure.
"""

import math
import re

from rigup.diagnosis.at_work import ENDED_WELL, after_the_end, is_at_work, is_undecided, made_a_picture
from rigup.diagnosis.findings import SEVERITIES, Finding, explained, heard_in, is_guess, is_idle
from rigup.diagnosis.judge import usual
from rigup.diagnosis.rule import wordings
from rigup.diagnosis.ruled_out import ruled_out
from rigup.knowledge.compile import PEOPLE
from rigup.knowledge.doctor_tables import Signature, causes, signatures_of
from rigup.knowledge.named import names
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.questions import without_logs, without_questions, without_worries
from rigup.knowledge.text_classifier import (
    Likeness,
    among,
    asks,
    complains,
    fails,
    is_in_trouble,
    likenesses,
    line_of,
    nearest,
    pleads,
    stops,
    without_denials,
)
from rigup.language import _
from rigup.machine.facts import Place, Subject
from rigup.machine.kinds import Gpu, Platform, Symptom
from rigup.machine.store import Facts
from rigup.machine.texts import Text, pattern
from rigup.schemas.shared import Evidence

_CLOSE = 0.5  # of the share of the nearest cause: the next is named beside it
_OUTWEIGHS = 0.5  # share from which on words count more than what is only possible
_UNASKED = 40.0  # times as much as for a sound machine, where nobody complains of anything
_ENDED_WELL = lazy_regex(r"^[^\n]{0,120}[$#%] ?echo \$\?[ \t]*\n0[ \t]*$|^exit(?: code| status)?[ :=]{1,2}0[ \t]*$", re.MULTILINE)
_WARNS = lazy_regex(r"\b(?:error|warning|traceback|fatal|failed|failure|nan)\b", re.IGNORECASE)
_MESSAGE = 12  # characters of a literal from which on it is a message, and not a name that is worth hearing


def complaint(texts: tuple[Text, ...], facts: Facts) -> bool:
    """Whether somebody, or some program, complains in one of them.

    Raises:
        KnowledgeError: its table is malformed.

    """
    return any(map(complains, own_texts(texts, facts)))


def plea(texts: tuple[Text, ...], facts: Facts) -> bool:
    """Whether a person asks for help in one of them, or a program stops, which count also where all that was seen works.

    Raises:
        KnowledgeError: its table is malformed.

    """
    return any(pleads(text) or fails(text) for text in own_texts(texts, facts))


def is_more_than_worry(texts: tuple[Text, ...], facts: Facts) -> bool:
    """Whether, beside messages that are explained as harmless and questions of them, somebody complains or a program fails.

    Raises:
        KnowledgeError: a table is malformed.

    """
    told = own_texts(texts, facts)
    own = [without_worries(text, is_in_trouble) for text in told]
    if facts.heard(*ENDED_WELL):  # what failed before a good end was got over; what goes ill in somebody's own words was not
        later = any(fails(after_the_end(text, facts)) for text in told)
        pleaded = not is_at_work(facts) and any(map(pleads, own))
        spoken = (without_worries(without_logs(text), is_in_trouble) for text in told)
        return later or pleaded or any(map(stops, own)) or any(map(is_in_trouble, spoken))
    if is_undecided(facts):
        return any(pleads(text) or is_in_trouble(text) or fails(text) for text in own)
    return any(pleads(text) or fails(text) for text in own)


def _doubt(texts: tuple[Text, ...], facts: Facts) -> float:
    """How many times as much must speak for a cause as for a sound machine.

    Of 202 faulty outputs on which rules are silent and 358 sound ones, nothing of which was learned from but two thirds of
    the sound ones in other words, 12 named 113 rightly and spoke of 15. Where nobody complains 5 instead of 12 named 46
    instead of 42 of 83, and spoke of 11 instead of 5 of 176; of 32 later ones 12 named 2 of 11 rightly and spoke of 2 of 21,
    and from 25 to 50 named the same 2 and spoke of none.
    """
    bodies = own_texts(texts, facts)
    if any(complains(text) or fails(text) for text in bodies):
        return 1.0
    answered = any(card.knows("uuid") or card.knows("driver_version") for card in facts.of(Gpu))
    return math.inf if answered or any(map(asks, bodies)) else _UNASKED


def warns_of_nothing_else(texts: tuple[Text, ...], facts: Facts) -> bool:
    """Whether a program ended well, and warned of nothing but what is known to be without consequence.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if not _idle_rows(facts):
        return False
    bodies = list(map(without_questions, own_texts(texts, facts)))
    return any(map(_ENDED_WELL.search, bodies)) and not any(fails(body) or _WARNS.search(body) for body in bodies)


def own_texts(texts: tuple[Text, ...], facts: Facts) -> list[str]:
    """The texts without the lines that are known to be without consequence, and, where a card was seen at work, without what says that nothing failed."""
    rows = _idle_rows(facts) if texts else []
    idle = _lines_of(rows, facts)
    ends = [row for row in signatures_of(facts.ids & ENDED_WELL) if row.lines == 1]
    own = [_without(text, idle, rows, ends) for text in texts]
    return [without_denials(text) for text in own] if is_at_work(facts) or made_a_picture(facts) else own


def _idle_rows(facts: Facts) -> list[Signature]:
    """Rows of the messages of programs that are known to be without consequence."""
    known = (row for row in signatures_of(heard_in(facts)) if is_idle(row, facts) and row.program not in PEOPLE)
    return [row for row in known if row.meaning or len(row.literal) >= _MESSAGE]


def _lines_of(rows: list[Signature], facts: Facts) -> set[tuple[str, int | None]]:
    """Source and line of the first of each of these messages."""
    idle = {row.id for row in rows}
    places = (symptom.fields["id"].where for symptom in facts.of(Symptom) if symptom.id in idle)
    return {(where.source, where.line) for where in places}


def _without(text: Text, idle: set[tuple[str, int | None]], rows: list[Signature], ends: list[Signature]) -> str:
    """The text without them, but with the lines that tell of a good end; the same message may be said again in other words of its form."""
    body = text.body
    for row in rows:
        if row.lines > 1:
            body = pattern(row.regex).sub(lambda found: "\n" * found[0].count("\n"), body)
    lines = body.splitlines()
    numbers = text.lines or range(1, len(lines) + 1)
    known = {_timeless(line) for number, line in zip(numbers, lines, strict=False) if (text.source, number) in idle}
    return "\n".join(line for line in lines if (_timeless(line) not in known and not _says_one(line, rows)) or _says_one(line, ends))


def _says_one(line: str, rows: list[Signature]) -> bool:
    return any(row.literal in line and pattern(row.regex).search(line) for row in rows)


def _timeless(line: str) -> str:
    """As it is each time that it is said again: a message is known by the first of them."""
    return re.sub(r"\d+", "0", line)


def with_guess(findings: list[Finding], texts: tuple[Text, ...], facts: Facts, left: list[str]) -> list[Finding]:
    """The findings, with a guess before them where nothing is found, or nothing that is more than possible.

    Where nothing is found and no other fact is known, what is most often behind a known message comes before any guess.

    `left` are known messages on which the rules keep silent: then it is a cause that accounts for all of them, or one
    for which much speaks: not every message that a cause can bring about is known of it.

    Raises:
        KnowledgeError: the weights are malformed.

    """
    loud = [finding for finding in findings if finding.severity != "note"]
    if not texts or any(finding.confidence != "possible" for finding in loud):
        return findings
    body, symptom_ids = "\n".join(text.body for text in texts), heard_in(facts)
    but = ruled_out(facts) | _unnamed(body, facts) | {finding.cause for finding in findings}  # what is told as a note is no more than that
    if not loud and not facts.heard(*wordings(tag="container-spoken-of")) and (often := usual(facts, but)):
        return [*often, *findings]
    likely = _outweighing(body, symptom_ids, but) if loud else _likely(body, symptom_ids, left, but, _doubt(texts, facts))
    guessed = [guess for like in likely if (guess := _finding(like, texts)).severity != "note"]
    return [*guessed, *findings]


def _unnamed(body: str, facts: Facts) -> frozenset[str]:
    """Causes of makers, schedulers, frameworks and systems of which the text has not a word, and which are known of nothing else in it."""
    makers = {maker for row in causes().values() for maker in row.makers}
    silent = {maker for maker in makers if not names(body, "maker", maker)}
    families = {row.family for row in causes().values()}
    absent = {family for family in families if not names(body, "family", family)}
    if any(platform.get("wsl") for platform in facts.of(Platform)):
        absent.discard("wsl")
    rows = causes().values()
    foreign = (
        row.id for row in rows if row.family in absent or (row.makers and silent.issuperset(row.makers)) or not names(body, "cause", row.id)
    )
    return frozenset(foreign)


def _likely(body: str, symptom_ids: set[str], left: list[str], but: frozenset[str], doubt: float) -> list[Likeness]:
    """What a text reads like of which nothing is known; with the runner-up too where the two are close.

    Asking twice as much for a cause that is not known to account for a message named 107 instead of 109 of 211 faulty
    outputs rightly on which rules were silent or unsure, and spoke of 4 of 115 sound ones either way.
    """
    likely = among(body, _accounting(left) - but, symptom_ids) if left else []
    likely = likely or likenesses(body, symptom_ids, doubt, most=2, but=but)
    return [like for like in likely if like.share >= _CLOSE * likely[0].share]


def _outweighing(body: str, symptom_ids: set[str], but: frozenset[str]) -> list[Likeness]:
    """Another cause than those that are named, or cannot be, if more speaks for it than for all others together."""
    return [like for like in likenesses(body, symptom_ids, most=1) if like.share >= _OUTWEIGHS and like.cause not in but]


def _accounting(left: list[str]) -> set[str]:
    """Causes that account for all of these messages."""
    return {cause for cause in causes() if explained(cause) >= set(left)}


def near(texts: tuple[Text, ...], findings: list[Finding], facts: Facts) -> list[str]:
    """Causes to read about where somebody complains, and nothing loud was found, and not even a guess is worth it.

    Raises:
        KnowledgeError: the weights are malformed.

    """
    aside = ruled_out(facts) | _unnamed("\n".join(text.body for text in texts), facts) | {finding.cause for finding in findings}
    if not texts or any(finding.severity != "note" for finding in findings):
        return []
    if not any(map(pleads, own_texts(texts, facts))):
        return []  # a warning asks for nothing, and an error that is known to no rule is mostly of another program
    return [like.cause for like in nearest("\n".join(text.body for text in texts), heard_in(facts)) if like.cause not in aside]


def _finding(like: Likeness, texts: tuple[Text, ...]) -> Finding:
    words = ", ".join(like.words)
    guess = Finding(like.cause, Subject(), Place(), "possible", _evidence(like, texts), {"likeness": words})
    guess.severity = max(guess.severity, "warning", key=SEVERITIES.index)  # words alone prove no error
    return guess


def reads_like(finding: Finding) -> str:
    """The sentence that tells a guess from what was found; empty for what was found."""
    sentence = _("This is a guess: the text reads like those in which people report it ({words}).")
    return sentence.format(words=finding.params["likeness"]) if is_guess(finding) else ""


def _evidence(like: Likeness, texts: tuple[Text, ...]) -> list[Evidence]:
    """The line that has most of the words."""
    where = [text.where(line_of(text.body, like.words)) for text in texts]
    best = max(where, key=lambda place: sum(word.split()[0] in place.text.lower() for word in like.words))
    return [Evidence(fact="words " + ", ".join(like.words), value=best.text or None, source=best.source, line=best.line)]
