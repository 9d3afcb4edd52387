"""What people ask of machines that are in order (data/questions.toml), and beside what is wrong (data/beside_faults.toml), with the answers."""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.patterns import compiled, lazy_regex
from rigup.knowledge.text_classifier import ends

_LONGEST = 1200  # characters of a paragraph in which somebody asks
_MOST = 40  # paragraphs of one text
_MOST_KNOWN = 8  # questions of one text
_BEFORE = 2  # sentences before the one that asks
_AFTER = 1  # and after it, where it refers to something
_OWN = 0.5  # share of a row's patterns that a sentence holds itself, where it does not refer to those before it
_OF_WORDS = r"\A(?"  # how a pattern begins that looks at the words of the question alone: for something, or for nothing of a kind
_OF_CONTEXT = "(?#"  # and one that what is shown may answer alone
_SEAM = lazy_regex(r"(?<=[\u3040-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9%])(?=[\u3040-\u9fff])")
_TYPED = lazy_regex(
    r"[^\n]{0,80}[$#] \S|[%❯➜] \S|[^\n]{0,60}>>? ?\S|(?:In|Out) ?\[\d|[|+]|PS |\.\.\. "
)  # what was typed, and rows of tables
_PROMPT = lazy_regex(
    r"(?:\([\w.-]{1,40}\) ?)?\[?[\w.-]{1,40}@[\w.-]{1,60}[^\n$#%>]{0,80}[$#%>] \S|(?:\([\w.-]{1,40}\) )?[$#%❯➜] \S|PS [^\n>]{0,80}> ?\S|[A-Z]:\\[^\n>]{0,80}>\S|>>> ?\S|(?:In|Out) ?\[\d"
)  # what stands behind a prompt asks nobody
_PRINTED = lazy_regex(
    r"\.(?:py|cc|cpp|cu|go|rs):\d+[\]:)]|^[^\w\n]{0,3}\d{4}[-/]\d\d[-/]\d\d[ T]|^\[[^\]\n]{0,60}\d[^\]\n]{0,60}\] ?\S|^[WIEF]\d{4} \d|\b(?:INFO|WARNING|ERROR) \d\d-\d\d|\[(?:INFO|WARNING|ERROR)\]|\w\? \w+="
)  # lines of logs ask nobody either
_ERROR = lazy_regex(r"\w(?:Error|Exception)\b:|^Traceback|\bERROR\b|^(?:\[[^\n\]]{1,60}\] ?)?(?:error|fatal):", re.MULTILINE)
_QUOTED = lazy_regex(r"[\"“„«「『][^\n\"”“»」』]{1,120}[\"”“»」』]")
_PROSE = lazy_regex(r"(?!\S{0,60}:[ \t])[^\[\]{}<>=|\\#$]{20,400}[.!?…。！？)]?\s*$")
_OF_ERRORS = lazy_regex(
    r"\berrors?\b|ошибк\w*|错误|錯誤|\b(?:prints?|says?|shows?|reports?|logs)\b[^.!?\n]{0,40}?\b(?:failed|failures?|unable|could not|cannot|not found|invalid)\b",
    re.IGNORECASE,
)
_END = lazy_regex(r"(?<=[.?!…])\s+|(?<=[。？！])|\n")


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that holds for some makers' cards, on some systems, or for a range of a figure.

    Attributes:
        answer: what an expert says.
        lines: commands below it; None: those of the question.
        makers: whose cards it is of; empty: anybody's.
        systems: where it holds; empty: everywhere.
        within: the least and the greatest of figures that the text shows, by the holes that they fill.
        said: patterns of the whole of what the text shows, by holes.
        causes: what has to be found, as in a question; empty: anything.
        sure: told only where all that is found is at least likely.
        tells: kinds of steps, of which the first way to mend what is found holds one.
        needs: holes that have to be filled, though no sentence names them.

    """

    answer: str
    lines: list[str] | None = None
    makers: list[str] = []
    systems: list[str] = []
    causes: list[str] = []
    sure: bool = False
    tells: list[str] = []
    needs: list[str] = []
    within: dict[str, list[float]] = {}
    said: dict[str, str] = {}


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is asked again and again.

    Attributes:
        asks: patterns that all match in the sentence that asks with those before it; one that begins with a lookahead is of the words alone, whatever outputs show.
        shows: sentences before the answer: of each row the first of which the text shows, or the tables know, all that its holes name.
        answer: what an expert says; "" where only `by` and `shows` have something to say.
        by: answers that take its place, the first that fits.
        lines: commands below it, with holes that `fills` and the facts fill from the text, or `usual`.
        fills: patterns whose groups, looked for in the whole text, fill holes of sentences and commands.
        usual: what stands in commands otherwise.
        makers: of whose cards it is asked; empty: anybody's. It is not answered where the text is of another's.
        systems: where it is asked; empty: everywhere.
        example: a paragraph in which it is asked.
        near_miss: one in which it is not.
        beside: causes beside which it is answered, too; else only where nothing is wrong.
        causes: asked of what is wrong: ids of causes, families with a slash behind, "#card" for those behind which a broken card may be, or "*"; answered only
            where one of them is found, and its own answer only where all that is found is at least likely.
        always: it is answered beside whatever is wrong: what is told of holds all the same.
        told_by: ids of questions whose answers tell the same: beside one of them it is not answered.
        outputs: patterns of what programs print, all of which match in the text: then it is also asked by who only names the thing.
        about: patterns that then all match in a paragraph of people's words in which somebody asks or worries.
        unasked: patterns that all match in a text beside `outputs` where it is told, under a head of its own, also if nobody asks or worries; empty: never.
        share: the least and the greatest share of {used} in {whole}, where the text shows both; outside it the row is silent.
        of_error: what is shown is an error of the program's own: the traceback about it does not silence the answer.
        unless_explained: it is not answered where a message of the text is explained as harmless.
        complaint: of those that are `last` one that is answered to who complains, too: it promises nothing.
        last: it is answered only where no other is and something of `shows` can be told.

    """

    id: str
    asks: list[str]
    shows: list[list[str]] = []
    answer: str = ""
    by: list[Told] = []
    lines: list[str] = []
    fills: list[str] = []
    usual: dict[str, str] = {}
    makers: list[str] = []
    systems: list[str] = []
    example: str
    near_miss: str
    beside: list[str] = []
    causes: list[str] = []
    always: bool = False
    told_by: list[str] = []
    outputs: list[str] = []
    about: list[str] = []
    unasked: list[str] = []
    share: list[float] = []
    of_error: bool = False
    unless_explained: bool = False
    last: bool = False
    complaint: bool = False


class Asked(NamedTuple):
    """A question that a text asks.

    Attributes:
        row: the question.
        sentence: that asks it; of what is `shown` the lines of the paragraph; "" where nobody asks.
        near: the sentence with those before it.
        said: what the text says of the row's holes.
        whole: whether the sentence asks it by itself, without those around it.
        shown: whether it is known by the outputs that the text shows.
        again: later sentences that ask the same.

    """

    row: Question
    sentence: str
    near: str
    said: dict[str, str]
    whole: bool = False
    shown: bool = False
    again: str = ""

    @property
    def lines(self) -> list[str]:
        """The row's commands as the text alone would have them."""
        values = {**self.row.usual, **self.said}
        return [line.format_map(values) if values else line for line in self.row.lines]


class _Asking(msgspec.Struct, frozen=True):
    regex: str


def questions() -> tuple[Question, ...]:
    """All that is known to be asked.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return (*tables.rows("questions", "question", Question), *tables.rows("beside_faults", "question", Question))


def asked_in(text: str, shown: str = "", found: bool = False) -> list[Asked]:
    """The questions of a text that have an answer, each once.

    Of what a sentence may ask together with those before it an answer that gives commands is told only where nothing else has more of its own words.

    Args:
        text: as it was pasted.
        shown: names of the programs, cards and systems that its outputs show: who pastes them leaves them out of the question.
        found: whether something is wrong: what is asked of that is known only then, and also where somebody suspects it without a question.

    Raises:
        KnowledgeError: the table is malformed.

    """
    text = ends(text)  # a log of megabytes asks nothing in its middle
    rows = tuple(row for row in questions() if found or not row.causes)
    asked: dict[str, _Window] = {}
    again: dict[str, str] = {}
    for window, row in _pairs(text, rows, shown):
        if asked.setdefault(row.id, window) is not window:
            again[row.id] = f"{again.get(row.id, '')} {window.sentence}"
    seen = _shown(rows, text)
    of_outputs = {one.row.id for one in seen}
    by_id = {row.id: row for row in rows}
    of_words = [
        Asked(by_id[id_], *window, _said(by_id[id_], text), _is_whole(by_id[id_], window), again=again.get(id_, ""))
        for id_, window in asked.items()
    ]
    others = [one for one in of_words if one.row.id not in of_outputs and _lies_within(one)]
    if not any(one.sentence for one in seen) and all(
        one.row.last for one in others
    ):  # "Do I have to fix this?", and what it is stands elsewhere
        seen = _shown(rows, text, everywhere=True)
    places = {one.row.id: text.find(one.sentence) for one in [*seen, *of_words]}  # of what is asked outright the sentence itself
    asked_first = sorted([*(one for one in others if not one.row.last), *seen], key=lambda one: (not one.sentence, places[one.row.id]))
    return [*asked_first[:_MOST_KNOWN], *(one for one in others if one.row.last)]


def _pairs(text: str, rows: tuple[Question, ...], shown: str) -> Iterator[tuple["_Window", Question]]:
    """The sentences that ask with what each asks; of what is wrong also those that suspect something and ask nothing."""
    asking, of_faults = _forms("asking"), tuple(row for row in rows if row.causes)
    for window in _windows(text, [*asking, *(_forms_of_faults("suspecting") if of_faults else [])]):
        asks = any(form.search(window.sentence) for form in asking)
        meant = _meant(rows if asks else of_faults, window, shown)
        yield from ((window, row) for row in meant if not row.causes or _is_whole(row, window) or _confirms(window))


def _confirms(window: "_Window") -> bool:
    """Whether a sentence asks if that which stands before it is so: else only what it names itself is asked of what is wrong."""
    return any(form.search(window.sentence) for form in _forms_of_faults("confirming"))


def _shown(rows: tuple[Question, ...], text: str, everywhere: bool = False) -> list[Asked]:
    """What is asked of outputs that the text itself shows, in whatever words; see `_worries`."""
    ids = _of_outputs(text)
    rows = tuple(row for row in rows if row.id in ids)
    paragraphs = list(_worries(text, everywhere)) if rows else []
    found = []
    for row in rows:
        about = next((one for one in paragraphs if all(form_of(form).search(spaced(one)) for form in row.about)), "")
        one = Asked(row, about, about, _said(row, text), shown=True)
        found += [one] if (about or _is_told_unasked(row, text)) and _lies_within(one) else []
    return found


@lru_cache(maxsize=8)  # a text is asked for its questions, its complaints and what they rest on
def _of_outputs(text: str) -> frozenset[str]:
    """The questions whose outputs the text shows, by their ids."""
    rows = (row for row in questions() if row.outputs)
    return frozenset(row.id for row in rows if all(form_of(form, re.MULTILINE).search(text) for form in row.outputs))


def _is_told_unasked(row: Question, text: str) -> bool:
    """Whether the outputs alone show what is worth knowing."""
    return bool(row.unasked) and all(form_of(form, re.MULTILINE).search(text) for form in row.unasked)


def _worries(text: str, everywhere: bool = False) -> Iterator[str]:
    """Paragraphs of people's own words in which somebody asks, worries or believes something; `everywhere` all of them, where a question is of what stands elsewhere."""
    forms = _forms("asking", "worrying", "believing")
    refers = everywhere and any(_refers(spaced(window.sentence)) for window in _windows(text, _forms("asking")))
    for paragraph in re.split(r"\n[ \t]*\n", text)[:_MOST]:
        own = "\n".join(line for line in paragraph[:_LONGEST].splitlines() if not _TYPED.match(line) and not _PRINTED.search(line))
        if any(form.search(own) for form in forms) or (refers and _PROSE.match(own.strip().rpartition("\n")[2])):
            yield own


@cache
def form_of(regex: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """One of the table's patterns; people write letters of either case."""
    return compiled(regex, flags)


def is_question(words: str) -> bool:
    """Whether somebody asks in these words; else they only tell what somebody believes.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return any(form.search(words) for form in _forms("asking"))


def without_questions(text: str) -> str:
    """The text without the lines in which somebody asks or worries: what programs say of failures is left.

    Raises:
        KnowledgeError: the table is malformed.

    """
    forms = _forms("asking", "worrying")
    lines = text.splitlines()
    return "\n".join(line for line in lines if _TYPED.match(line) or _ERROR.search(line) or not any(form.search(line) for form in forms))


def without_commands(text: str) -> str:
    """The text without the lines that were typed at a prompt: who greps for "error" has had none."""
    return "\n".join(line for line in text.splitlines() if not _PROMPT.match(line))


def without_logs(text: str) -> str:
    """The text without the lines of logs: a program's warning of its own pace is nobody's trouble."""
    return "\n".join(line for line in text.splitlines() if not _PRINTED.search(line))


def without_worries(text: str, is_more: Callable[[str], bool]) -> str:
    """The text without what is quoted, and without the sentences in which somebody asks or worries, unless `is_more` holds of one.

    Who speaks of errors in a sentence of their own names what a program said; the program's own line is left.

    Raises:
        KnowledgeError: the table is malformed.

    """
    forms = _forms("asking", "worrying")
    sentences = (part for line in text.splitlines() for part in ([line] if _TYPED.match(line) else _END.split(line)))
    kept = (part for part in sentences if _ERROR.search(part) or is_more(part) or not any(form.search(part) for form in forms))
    own = (_QUOTED.sub("", part) for part in kept)
    return "\n".join(_OF_ERRORS.sub("", part) if _PROSE.match(part) else part for part in own)


def _forms(*arrays: str) -> list[re.Pattern[str]]:
    rows = (row for array in arrays for row in tables.rows("questions", array, _Asking))
    return [form_of(row.regex) for row in rows]


def _forms_of_faults(array: str) -> list[re.Pattern[str]]:
    return [form_of(row.regex) for row in tables.rows("beside_faults", array, _Asking)]


def _lies_within(asked: Asked) -> bool:
    """Whether the share that the row is of is that which the text shows, or it shows none."""
    used, whole = asked.said.get("used", ""), asked.said.get("whole", "")
    if not (asked.row.share and used.isdecimal() and whole.isdecimal() and int(whole)):
        return True
    least, most = asked.row.share
    return least <= int(used) / int(whole) <= most


class _Window(NamedTuple):
    """A sentence that asks, and the same with those around it that it may refer to."""

    sentence: str
    near: str


def _windows(text: str, asking: list[re.Pattern[str]]) -> Iterator[_Window]:
    """Each sentence that asks, and the same with those before it in its paragraph: what it is about mostly stands there.

    What refers to something else is also asked before it is told of: "Is this normal? The card stays in P8."
    """
    for paragraph in re.split(r"\n[ \t]*\n", text)[:_MOST]:
        parts = (part.strip() for part in _END.split(paragraph[:_LONGEST]))
        sentences = [part for part in parts if part and not _PROMPT.match(part) and not _PRINTED.search(part)]
        for number, sentence in enumerate(sentences):
            if any(form.search(sentence) for form in asking):
                after = _AFTER if _refers(spaced(sentence)) else 0
                yield _Window(sentence, "\n".join(sentences[max(number - _BEFORE, 0) : number + 1 + after]))


def _meant(rows: tuple[Question, ...], window: _Window, shown: str) -> list[Question]:
    """Those that the sentence asks, together with those around it where it refers to them; of them with commands only what it holds most of in its own words."""
    sentence, near = spaced(window.sentence), spaced(window.near)
    least = 0.0 if _refers(sentence) else _OWN
    close = "\n".join([*near.partition(sentence)[0].splitlines()[-1:], sentence])  # what it is about stands there, if anywhere
    asked = [row for row in rows if _is_asked(row, near, near + "\n" + shown)]
    fitting = [row for row in asked if not least or row.last or form_of(row.asks[0]).search(close)]
    own = {row.id: share for row in fitting if (share := _own(row, sentence)) >= least}
    most = max((own[row.id] for row in fitting if row.id in own and not row.last), default=0.0)
    kept = [row for row in fitting if row.id in own and (row.last or not row.lines or own[row.id] >= most)]
    return sorted(kept, key=lambda row: -own[row.id])


def _is_asked(row: Question, near: str, everything: str) -> bool:
    """Whether all patterns match, in the words alone or with what is shown."""
    return all(form_of(form).search(near if form.startswith(_OF_WORDS) else everything) for form in row.asks)


def _is_whole(row: Question, window: _Window) -> bool:
    return _own(row, spaced(window.sentence)) == 1


def _own(row: Question, sentence: str) -> float:
    """The share of its patterns that a sentence holds itself, without those that tell what it is about."""
    own = [form for form in row.asks if not form.startswith((_OF_WORDS, _OF_CONTEXT))]
    return sum(bool(form_of(form).search(sentence)) for form in own) / len(own) if own else 1.0


def _refers(sentence: str) -> bool:
    """Whether it asks of what stands around it ("How do I keep it?"), and has nothing of its own to ask of."""
    rows = tables.rows("questions", "reference", _Asking)
    return any(form_of(row.regex).search(sentence) for row in rows)


def spaced(text: str) -> str:
    """With a blank between Chinese characters and what is written in Latin ones, so that words have an end."""
    return _SEAM.sub(" ", text)


def _said(row: Question, text: str) -> dict[str, str]:
    """What the first match of each pattern says; of two that name the same the first."""
    said: dict[str, str] = {}
    for form in row.fills:
        if found := form_of(form, re.MULTILINE).search(text):
            said = {**{name: value for name, value in found.groupdict().items() if value}, **said}
    return said
