"""The one matcher: messages that signature rows know, and the facts that they state."""

from collections.abc import Iterator

from rigup.knowledge.compile import PEOPLE
from rigup.knowledge.doctor_tables import Signature, Wording, signature
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact, Place, Reading, kinds
from rigup.machine.kinds import Symptom
from rigup.machine.limits import Clock
from rigup.machine.literals import wordings_of
from rigup.machine.texts import Hit, Text, is_asked, is_prose

_MISSED = r"\b(?:no|nor|neither|never|without|not any|nothing like|(?:do|did|could|can)(?:n.t|not| not) (?:see|get|find|have))(?: (?:any|an?|the|such|single|more))?"
_DENIED = lazy_regex(r"(?i)" + _MISSED + r"(?: \w{1,12})? ?[`\"'“*]{1,3}$")  # "there is no `GPU has fallen off`": a quotation
_DENIED_PLAIN = lazy_regex(r"(?i)" + _MISSED + r" $")
_BEFORE = 60  # characters in which it is said that a message did not come
_GONE = lazy_regex(  # `the "version mismatch" is gone now`
    r"(?i)[^\n\"'”`]{0,60}[\"'”`]{1,2} ?(?:error |message |warning ){0,1}(?:(?:is|are|was|has|have)(?: now| since)? (?:gone|disappeared|vanished)|went away|disappeared|vanished"
    r"|no longer (?:appears?|occurs?|comes?|shows?)|(?:did|does)(?:n.t| not) (?:appear|come|occur|show)|没有?出现|消失|不再出现)(?![^\n]{0,60}\b(?:but|until|comes? back|came back|returns?)\b)"
)


def match(text: Text, speaker: str = "anybody", clock: Clock | None = None) -> Iterator[tuple[Symptom, list[Fact]]]:
    """Each message that a signature row knows: the symptom, and the facts that the message states.

    `speaker` may speak in the text: "anybody", a "program" alone, or the "kernel" alone. A machine's own log is never
    read as what somebody tells of it, nor the kernel's as what a process says of itself. What the `clock` leaves no time
    for, and messages whose search takes too long, the text notes in `given_up`.
    """
    for known in _waited_for(text, speaker):
        row, spots = signature(known), text.spots(known.literal)
        if text.may_hold(row.needs):
            if clock and clock.is_up():
                text.given_up.add("all that were left")
                return
            hits = text.near(row.regex, spots, row.lines, beside=row.beside, needs=row.needs, name=row.id)
            for hit in (candidate for candidate in hits if not _is_denied(row, candidate)):
                yield _symptom(row, hit), [fact for form in row.states if _tells(form, fact := _fact(form, row, hit))]


def _waited_for(text: Text, speaker: str) -> list[Wording]:
    """Messages whose literal stands in the text, in the order of their tables."""
    by_literal = wordings_of(speaker)
    return sorted((known for literal in text.index for known in by_literal.get(literal, ())), key=lambda known: known.number)


def _is_denied(row: Signature, hit: Hit) -> bool:
    """Whether somebody quotes a message to say that it did not come, or is gone; the kernel's begin with no such word."""
    if _GONE.match(hit.text.body, hit.match.end()):
        return True
    if row.program.startswith(("people", "a person")):  # their own words may well begin with one
        return False
    before = hit.text.body[max(hit.start - _BEFORE, 0) : hit.start].rpartition("\n")[2]
    return bool(_DENIED.search(before) or ("kernel" in row.program and _DENIED_PLAIN.search(before)))


def _symptom(row: Signature, hit: Hit) -> Symptom:
    groups = {name: value.strip() for name, value in hit.found().items()}
    if host := hit.text.host(hit.match.end()):
        groups["prompt_host"] = host
    symptom = hit.states(Symptom, **{**groups, "id": row.says or row.id})
    reading = symptom.fields["id"]
    asked = "\n" in hit.match[0].strip() and is_asked(hit.text.where(hit.start).text)
    if not asked and (row.program in PEOPLE or is_prose(reading.where.text)):
        at = max(hit.start, hit.match.end() - 1) if row.program in PEOPLE else hit.start
        symptom.fields["id"] = reading._replace(where=hit.text.sentence(at))
    symptom.spread = row.scope
    symptom.place = _place(row, hit).at(row.scope)
    return symptom


def _place(row: Signature, hit: Hit) -> Place:
    """The text tells the speaker; where it does not, the program has its own place."""
    place = hit.place
    kind, _, _ = row.place.partition(":")
    if kind in ("host", "container", "windows"):
        return place if place.world else place._replace(world=row.place)
    return place if place.process or not row.place else place._replace(process=row.place)


def _tells(templates: dict[str, str], fact: Fact) -> bool:
    """Fixed words beside holes that nothing filled say nothing of this message."""
    holes = [name for name, template in templates.items() if "{" in template]
    return bool(fact.fields) and (not holes or any(name in fact.fields for name in holes))


def _fact(templates: dict[str, str], row: Signature, hit: Hit) -> Fact:
    """Each field from its template; one whose group did not match stays unknown."""
    kind = kinds()[templates["fact"]]
    fields = {}
    for name, template in templates.items():
        if name != "fact" and (value := _fill(template, hit.found())) is not None:
            group = next((g for g in hit.found() if "{" + g + "}" in template), "")
            fields[name] = Reading(_convert(kind, name, value), hit.where(group), hit.text.rank)
    return kind(_place(row, hit), fields)


def _fill(template: str, groups: dict[str, str]) -> str | None:
    try:
        return template.format(**groups).strip()
    except (KeyError, IndexError):
        return None


def _convert(kind: type[Fact], name: str, value: str) -> object:
    annotation = str(kind.__annotations__[name])
    if "list" in annotation:
        return value.replace(",", " ").replace("'", " ").replace('"', " ").split()
    if "bool" in annotation:
        return value.lower() in ("true", "yes", "1", "enabled", "on")
    return int(value) if "int" in annotation and value.lstrip("-").isdigit() else value
