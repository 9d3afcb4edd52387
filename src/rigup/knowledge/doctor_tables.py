"""The doctor's tables as typed rows: symptom signatures, speakers, causes, texts."""

from collections.abc import Collection
from typing import Any, Literal, TypeVar

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.compile import KERNEL, may_say


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """One symptom and how its message is recognised.

    Attributes:
        literal: must occur in the text; the regular expression is tried only near it.
        regex: pattern with named groups, tried on `lines` lines around the literal.
        beside: words of which one stands near the literal, where that is no more than a number; empty for none.
        scope: what the message speaks of: "process", "world" or "machine".
        place: the place in which its program speaks, "" where the text does not tell.
        means: the cause that this message alone decides, or "".
        strength: "certain", "likely" or "possible".
        usually: the cause that is most often behind it, or "": named as possible where a text tells no more.
        rules_out: the cause that cannot be where it is said, or "": it is not guessed at.
        params: values handed to the cause beside the named groups.
        states: facts that the message states.
        says: id of the row of which this is another wording, or "": it is heard as that one, with its scope, place and facts.
        harmless: known to be without consequence; with `means` a note, which is more only where a rule finds more.
        meaning: a sentence for people who worry about it, of a harmless one; "" where it is not worth a word.
        idle_beside: ids of which one makes it harmless, heard in the same look; of a harmless row those beside which its `meaning` is told.
        tags: concepts that it is one wording of; a rule asks for all that carry one.
        needs: words without which the regular expression matches nowhere (see `needs.needed`).

    """

    id: str
    program: str
    literal: str
    regex: str
    needs: str | list[Any] | None = None
    lines: int = 1
    beside: list[str] = []
    scope: str = "process"
    place: str = ""
    means: str = ""
    strength: Literal["certain", "likely", "possible"] = "certain"
    usually: str = ""
    rules_out: str = ""
    params: dict[str, Any] = {}
    states: list[dict[str, str]] = []
    says: str = ""
    harmless: bool = False
    meaning: str = ""
    idle_beside: list[str] = []
    tags: list[str] = []
    example: str = ""
    near_miss: str = ""
    source: str = ""
    checked: str = ""
    how: str = ""
    family: str = ""


class Wording(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What has to be known of a signature to look for its message; the row itself is decoded where its literal is found.

    Attributes:
        number: its place among all of them.
        id: the row's.
        literal: the row's.
        beside: the row's.
        may_say: bits of who may say it (`compile.KERNEL`, `compile.PROGRAM`); anybody may in a pasted text.
        table: number of its table among those of signatures.
        start: first byte of the packed row in it.
        end: the byte after its last.

    """

    number: int
    id: str
    literal: str
    beside: list[str]
    may_say: int
    table: int
    start: int
    end: int


class Speaker(msgspec.Struct, frozen=True, kw_only=True):
    """A text by which the place of what follows is known (a unit name, a prompt, a file)."""

    literal: str
    regex: str
    needs: str | list[Any] | None = None
    kind: str
    name: str = ""
    example: str = ""
    source: str = ""
    checked: str = ""
    how: str = ""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """What may be wrong with a machine, as far as it is data.

    Attributes:
        layer: one of `layers()`.
        systems: where it can be ("linux", "windows", "macos"), WSL counting as "linux"; empty for everywhere.
        severity: "error", "warning" or "note".
        about: the kind of fact that it is about, "" for the machine as a whole.
        explains: causes and symptoms that fold under this one.
        makers: whose cards it stops ("nvidia", "amd", "intel", "apple"); empty where it may be anybody's.
        fixes: steps, each a list of its kind and parameters.
        stops: whether a card that it concerns computes nothing; False where other programs go on computing on it.
        discrete: whether it is of a card in a slot alone, and never of a processor's own graphics.
        recurs: whether it comes and goes, so that what works later proves nothing against it.
        card: whether a broken card may be behind it.
        echo: its message says that something failed elsewhere; it is reported only where nothing else is found that failed.
        family: name of the file that it stands in.

    """

    id: str
    layer: str
    systems: list[str] = []
    severity: Literal["error", "warning", "note"] = "error"
    about: str = ""
    explains: list[str] = []
    makers: list[str] = []
    stops: bool = True
    fixes: list[list[str]] = []
    discrete: bool = False
    recurs: bool = False
    card: bool = False
    echo: bool = False
    family: str = ""
    source: str = ""
    checked: str = ""
    how: str = ""


class CauseText(msgspec.Struct, frozen=True, kw_only=True):
    """What a person reads about a cause, in one language.

    Attributes:
        title: templates, the fullest first.
        meaning: what holds wherever it is found.
        meaning_where: templates that take its place where all their holes are filled, the first that can be; {?name} asks for a value and does not say it.
        in_vain_where: the same for `in_vain`.
        sources: public addresses; a translation without its own has the English row's.
        language: the language that it is really in (English where not translated).
        english: digest of the English row that a translation was made from (scripts/translations).

    """

    title: list[str] = []
    meaning: str = ""
    recognise: str = ""
    mends: str = ""
    in_vain: str = ""
    meaning_where: list[str] = []
    in_vain_where: list[str] = []
    sources: list[str] = []
    language: str = ""
    english: str = ""


Row = TypeVar("Row", Signature, Cause)


@tables.remembered
def signatures() -> tuple[Signature, ...]:
    """All symptom signatures, in the order of their files.

    Raises:
        KnowledgeError: a signature file is malformed.

    """
    found: list[Signature] = []
    for name in tables.names("signatures/"):
        found += _of_family(name, tables.rows(name, "signature", Signature))
    repeated = {row.says for row in found if row.says}
    targets = {row.id: row for row in found if row.id in repeated}
    return tuple(_with_scope(row, targets[row.says]) if row.says in targets else row for row in found)


@tables.remembered
def wordings() -> tuple[Wording, ...]:
    """All symptom signatures as they are looked for, in the order of their files.

    Raises:
        KnowledgeError: a signature file is malformed.

    """
    packed = tables.default_store().wordings(Wording)
    if packed is not None:
        return tuple(packed)
    rows = ((row, msgspec.structs.asdict(row)) for row in signatures())
    return tuple(Wording(number, row.id, row.literal, row.beside, may_say(fields), -1, 0, 0) for number, (row, fields) in enumerate(rows))


@tables.remembered
def wordings_of_kernel() -> tuple[Wording, ...]:
    """Those that stand in a kernel's log: a machine without a pasted text has no need of the others.

    Raises:
        KnowledgeError: a signature file is malformed.

    """
    packed = tables.default_store().wordings(Wording, of_kernel=True)
    return tuple(packed) if packed is not None else tuple(known for known in wordings() if known.may_say & KERNEL)


def signature(known: Wording) -> Signature:
    """The signature of a wording.

    Raises:
        KnowledgeError: its row is malformed.

    """
    return _signature(known.number, known.table, known.start, known.end)


@tables.remembered
def _signature(number: int, table: int, start: int, end: int) -> Signature:
    if table < 0:
        return signatures()[number]
    name, row = tables.default_store().packed_row(table, start, end, Signature)
    (row,) = _of_family(name, (row,))
    target_number = _numbers().get(row.says) if row.says else None
    return row if target_number is None else _with_scope(row, signature(wordings()[target_number]))


@tables.remembered
def _numbers() -> dict[str, int]:
    return {known.id: number for number, known in enumerate(wordings())}


def signatures_of(ids: Collection[str]) -> tuple[Signature, ...]:
    """The signatures of these ids, in the order of their files; none for an id that no row has.

    Raises:
        KnowledgeError: one of the rows is malformed.

    """
    numbers = _numbers()
    return tuple(signature(wordings()[number]) for number in sorted(numbers[id_] for id_ in ids if id_ in numbers))


def _with_scope(row: Signature, target: Signature) -> Signature:
    return msgspec.structs.replace(row, scope=target.scope, place=row.place or target.place, states=target.states)


@tables.remembered
def speakers() -> tuple[Speaker, ...]:
    """All texts by which a place is known.

    Raises:
        KnowledgeError: a signature file is malformed.

    """
    families = tables.names("signatures/")
    return tuple(row for name in families for row in tables.rows(name, "place", Speaker))


@tables.remembered
def causes() -> dict[str, Cause]:
    """All causes by id.

    Raises:
        KnowledgeError: a cause file is malformed.

    """
    by_id: dict[str, Cause] = {}
    for name in tables.names("causes/"):
        by_id |= {row.id: row for row in _of_family(name, tables.rows(name, "cause", Cause))}
    return by_id


def elsewhere(systems: Collection[str]) -> frozenset[str]:
    """Causes that can be on none of these systems; none for no systems at all.

    Raises:
        KnowledgeError: a cause file is malformed.

    """
    rows = causes().values() if systems else ()
    return frozenset(row.id for row in rows if row.systems and not set(row.systems) & set(systems))


def _of_family(name: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Rows with the file they stand in: set before anybody has them, for a copy of each would take longer."""
    family = name.split("/")[1]
    for row in rows:
        msgspec.structs.force_setattr(row, "family", family)
    return rows


@tables.remembered
def layers() -> tuple[str, ...]:
    """The layers of a machine, the deepest first.

    Raises:
        KnowledgeError: the table is missing or malformed.

    """
    return tuple(str(layer) for layer in tables.table("layers")["layers"])


@tables.remembered
def texts(language: str = "en") -> dict[str, CauseText]:
    """The texts of all causes, in English where a language lacks one.

    Args:
        language: "ru", "zh_CN"; of "ru_RU" the country is dropped where only "ru" exists.

    Raises:
        KnowledgeError: a text file is malformed.

    """
    by_cause = _texts_in("en")
    for code in _variants(language):
        by_cause |= {cause: _with_sources(text, by_cause.get(cause)) for cause, text in _texts_in(code).items()}
    return by_cause


def text_of(row: Cause, language: str) -> CauseText | None:
    """The text of one cause, for which the file of its family is read alone where it stands in that; None where there is none.

    Raises:
        KnowledgeError: a text file is malformed.

    """
    found: CauseText | None = None
    for code in ["en", *_variants(language)]:
        text = _texts_of(f"texts/{code}/{row.family}", code).get(row.id)
        found = _with_sources(text, found) if text else found
    return found or texts(language).get(row.id)


def _with_sources(text: CauseText, below: CauseText | None) -> CauseText:
    """A text with the sources of the one that it is laid over, where it names none."""
    if text.sources or below is None:
        return text
    return msgspec.structs.replace(text, sources=below.sources)


def _variants(language: str) -> list[str]:
    """A language code without its encoding, the weakest form first: ru, ru_RU."""
    code = language.split(".", 1)[0].replace("-", "_")
    return [code] if "_" not in code else [code.split("_", 1)[0], code]


def _texts_in(code: str) -> dict[str, CauseText]:
    names = tables.names(f"texts/{code}/")
    return {cause: text for name in names for cause, text in _texts_of(name, code).items()}


@tables.remembered
def _texts_of(name: str, code: str) -> dict[str, CauseText]:
    """Those of one file; none where there is no such file."""
    rows = tables.table(name) if name in tables.names(name) else {}
    return {cause: _text(name, cause, {**row, "language": code}) for cause, row in rows.items() if cause != "meta"}


def _text(name: str, cause: str, row: dict[str, object]) -> CauseText:
    try:
        return msgspec.convert(row, CauseText)
    except msgspec.ValidationError as error:
        raise tables.KnowledgeError(f"{name}.toml", f"[{cause}]: {error}") from error
