"""Which cause a text reads like, by weights of words learned from the texts below `learning` (scripts/text-classifier).

It proves nothing. It is asked where no rule has anything to say of a text in which somebody complains.
"""

import math
import re
import sys
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import msgspec

from rigup import shipped
from rigup.knowledge import tables
from rigup.knowledge.patterns import lazy_regex

_WORD = lazy_regex(r"[a-z][a-z0-9]+|0x[0-9a-f]+|[0-9]{1,5}|[а-яё]{3,}|[\u4e00-\u9fff]")
_MARK = "message:"  # before the id of a known message
HEARD = 0.7  # what known messages weigh together, beside 1 for all the words
_MOST = 40_000  # characters of either end of a text
_TELLING = 4  # words that are named as the reason
_HUNDREDTHS = 100
_TENTH = 10  # hundredths
_COMMON = 450  # rarity of a word below which it is no reason to name
_NEAR, _FAR = 0.25, 0.04  # below it one word, or several, say nothing
_ENOUGH = 0.2  # share among causes that a known message leaves open
_LEAST = 0.08  # share of the nearest cause below which none is near, however little speaks for a sound machine
_BESIDE = 1.4  # times as much as for a sound machine must speak for one, beside such a message
WEIGHTS = Path(__file__).with_name("text_classifier.bin")
SOUND = 255  # stands among the packed columns for "nothing is wrong"
_SOUND = -1  # stands among the causes for "nothing is wrong"


class Likeness(NamedTuple):
    """A cause that a text reads like.

    Attributes:
        cause: its id.
        share: of all that people write in such words, the part that is about this cause; 0 to 1.
        words: the words that spoke for it, the strongest first.

    """

    cause: str
    share: float
    words: tuple[str, ...]


class Complaint(msgspec.Struct, frozen=True, kw_only=True):
    """How people and programs say that something fails, in one language."""

    language: str
    regex: str
    example: str
    near_miss: str
    source: str = ""
    checked: str = ""
    how: str = ""


class Packed(msgspec.Struct, array_like=True):
    """The weights as they lie in the package: whole numbers are hundredths, their bytes the lowest first; weights are tenths.

    Attributes:
        checked: the day on which they were learned.
        causes: ids of causes.
        offsets: of each cause.
        sound_offset: of "nothing is wrong".
        terms: words and marks of known messages, each on a line of its own.
        rarities: of each term, two bytes.
        counts: of each term how many weights it has, one byte.
        columns: of each weight the cause by number, one byte; SOUND for "nothing is wrong".
        weights: each one byte, with a sign.
        wide: numbers of weights that a byte does not hold, each before its weight.

    """

    checked: str
    causes: list[str]
    offsets: list[float]
    sound_offset: float
    terms: str
    rarities: bytes
    counts: bytes
    columns: bytes
    weights: bytes
    wide: list[int]


class _Model(NamedTuple):
    causes: list[str]
    offsets: list[float]
    sound_offset: float
    terms: dict[str, int]  # number of each
    rarities: "array[int]"
    ends: list[int]  # of each term the end of its weights among all
    columns: bytes
    weights: "array[int]"

    def row(self, term: int) -> Iterator[tuple[int, int]]:
        """Causes, and the weights of a term for them in hundredths."""
        here = slice(self.ends[term - 1] if term else 0, self.ends[term])
        for cause, weight in zip(self.columns[here], self.weights[here], strict=True):
            yield (_SOUND if cause == SOUND else cause), weight * _TENTH


Weights = dict[str, dict[int, float]]


def ends(text: str) -> str:
    """A long text's beginning and end: there people say what they want, and programs what they died of."""
    return text if len(text) <= 2 * _MOST else text[:_MOST] + "\n" + text[-_MOST:]


def words_of(text: str) -> list[str]:
    """Words and numbers, as the weights know them."""
    return _WORD.findall(ends(text).lower())


def marks_of(message_ids: Iterable[str]) -> list[str]:
    """Ids of known messages, as the weights know them."""
    return [_MARK + id_ for id_ in message_ids]


@tables.remembered
def _model() -> _Model:
    try:
        packed = msgspec.msgpack.decode(shipped.path("knowledge/" + WEIGHTS.name).read_bytes(), type=Packed)
    except (OSError, msgspec.MsgspecError) as error:
        raise tables.KnowledgeError(WEIGHTS, str(error)) from error
    numbers = {term: number for number, term in enumerate(packed.terms.split("\n"))}
    rarities, weights, ends = (_numbers("H", packed.rarities), array("h", _numbers("b", packed.weights)), list(accumulate(packed.counts)))
    for number, weight in zip(packed.wide[::2], packed.wide[1::2], strict=True):
        weights[number] = weight
    return _Model(packed.causes, packed.offsets, packed.sound_offset, numbers, rarities, ends, packed.columns, weights)


def _numbers(code: str, packed: bytes) -> "array[int]":
    numbers = array(code, packed)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def model_causes() -> list[str]:
    """The causes that weights know of.

    Raises:
        KnowledgeError: the weights cannot be read.

    """
    return _model().causes


@tables.remembered
def _complaints(array: str) -> tuple[re.Pattern[str], ...]:
    rows = tables.rows("complaints", array, Complaint)
    return tuple(re.compile(row.regex, re.IGNORECASE | re.MULTILINE) for row in rows)


def complains(text: str) -> bool:
    """Whether somebody, or some program, says in it that something fails.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return any(form.search(ends(text)) for form in _complaints("complaint"))


def without_denials(text: str) -> str:
    """A text without the words that say that nothing failed.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for form in _complaints("denial"):
        text = form.sub("", text)
    return text


def pleads(text: str) -> bool:
    """Whether a person asks in it for help, or says that the card is left idle.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return any(form.search(ends(text)) for form in _complaints("plea"))


def is_in_trouble(text: str) -> bool:
    """Whether a person says, or asks why, something goes ill in their own work: that is more than a worry over a message.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return any(form.search(ends(text)) for form in _complaints("trouble"))


def asks(text: str) -> bool:
    """Whether a person asks in it what to buy, to choose or to install, before anything can have failed.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return any(form.search(ends(text)) for form in _complaints("question"))


def fails(text: str) -> bool:
    """Whether a program says in it that something came to nothing, whatever it was.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return any(form.search(ends(text)) for form in _complaints("failure"))


def stops(text: str) -> bool:
    """Whether a program ends in it with an error, which no later good end makes up for.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return any(form.search(ends(text)) for form in _complaints("stop"))


def among(text: str, causes: Collection[str], message_ids: Iterable[str] = ()) -> list[Likeness]:
    """Of a few causes those that a text reads like, the nearest first; none where it might be any of them, or none.

    The shares are of these causes and of sound machines alone: it is known from elsewhere that it can be no other.

    Raises:
        KnowledgeError: the table is malformed.

    """
    model, weights = _model(), _weights(text, message_ids)
    shares = _shares(model, weights)
    part = {number: share for number, share in enumerate(shares[:_SOUND]) if model.causes[number] in causes}
    whole = (sum(part.values()) + shares[_SOUND]) or 1.0
    known = [part.get(number, 0.0) / whole for number in range(len(model.causes))]
    if max(part.values(), default=0.0) <= _BESIDE * shares[_SOUND]:
        return []
    return [like for like in _rank(model, weights, known, most=2) if like.share >= _ENOUGH]


def likenesses(text: str, message_ids: Iterable[str] = (), doubt: float = 1.0, most: int = 3, but: Collection[str] = ()) -> list[Likeness]:
    """The causes that a text reads like, the nearest first; none where it reads more like a sound machine than any of them.

    `message_ids` are the ids of the known messages in it: what they have in common with other texts is more than their words.
    `doubt` is how many times as much must speak for the nearest as for a sound machine. `but` are causes of which it is
    known that they cannot be.

    Raises:
        KnowledgeError: the table is malformed.

    """
    model, weights = _model(), _weights(text, message_ids)
    shares = [0.0 if cause in but else share for cause, share in zip([*model.causes, ""], _shares(model, weights), strict=True)]
    return _rank(model, weights, shares, most) if max(shares[:_SOUND]) > max(doubt * shares[_SOUND], _LEAST) else []


def nearest(text: str, message_ids: Iterable[str] = (), most: int = 3) -> list[Likeness]:
    """The same for words of somebody who asks: whatever is near, or farther off by more than one word.

    Raises:
        KnowledgeError: the table is malformed.

    """
    model, weights = _model(), _weights(text, message_ids)
    ranked = _rank(model, weights, _among_faults(_shares(model, weights)), most)
    return [like for like in ranked if like.words and like.share > (_FAR if len(like.words) > 1 else _NEAR)]


def _among_faults(shares: list[float]) -> list[float]:
    """Of who asks after a fault it is known that there is one."""
    faulty = sum(shares[:_SOUND]) or 1.0
    return [share / faulty for share in shares[:_SOUND]]


def _shares(model: _Model, weights: Weights) -> list[float]:
    """Of each cause, and last of sound machines; together 1."""
    scores = [*model.offsets, model.sound_offset]
    for by in weights.values():
        for cause, weight in by.items():
            scores[cause] += weight
    most = max(scores)  # so that no exponent is too large
    parts = [math.exp(score - most) for score in scores]
    whole = sum(parts)
    return [part / whole for part in parts]


def _rank(model: _Model, weights: Weights, shares: list[float], most: int) -> list[Likeness]:
    nearest = sorted(range(len(model.causes)), key=shares.__getitem__, reverse=True)[:most]
    return [Likeness(model.causes[number], shares[number], _telling(weights, number)) for number in nearest]


def _telling(weights: Weights, cause: int) -> tuple[str, ...]:
    """The strongest words, without those that everybody uses."""
    named: list[str] = []
    for word in sorted(weights, key=lambda word: -weights[word].get(cause, 0.0)):
        if weights[word].get(cause, 0.0) <= 0 or len(named) == _TELLING:
            break
        if word.startswith(_MARK):
            continue
        if _rarity(word) >= _COMMON:
            named.append(word)
    return tuple(named)


def _rarity(word: str) -> int:
    model = _model()
    return model.rarities[model.terms[word]]


def _weights(text: str, message_ids: Iterable[str]) -> Weights:
    """What each known word and message of a text says for and against each cause, -1 being that nothing is wrong."""
    return {**_weights_of(words_of(text), 1.0), **_weights_of(marks_of(set(message_ids)), HEARD)}


def _weights_of(terms: list[str], length: float) -> Weights:
    """The same of words, or of messages: together they weigh `length`, however many they are."""
    model = _model()
    counted = Counter(word for word in terms if word in model.terms)
    loads = {word: (1 + math.log(often)) * _rarity(word) / _HUNDREDTHS for word, often in counted.items()}
    have = math.sqrt(sum(load * load for load in loads.values())) or 1.0
    return {
        word: {cause: load * length / have * weight / _HUNDREDTHS for cause, weight in model.row(model.terms[word])}
        for word, load in loads.items()
    }


def line_of(text: str, words: tuple[str, ...]) -> int:
    """Offset of the line in which most of the words stand."""
    best, where, at = -1, 0, 0
    for line in text.splitlines(keepends=True):
        if not _MOST <= at < len(text) - _MOST:  # as far as a text is read at all
            have = sum(word in set(words_of(line)) for word in words)
            if have > best:
                best, where = have, at
        at += len(line)
    return where
