"""The doctor's answer as a person reads it: verdict, root cause, the fix that needs least, devices, notes."""

import sys
from collections.abc import Iterable

from msgspec import UNSET, structs, to_builtins

from rigup.cli.evidence import LABEL, MOST_EVIDENCE, evidence_lines
from rigup.cli.guard import style, unstyled
from rigup.cli.head_sentence import head_sentence, verdict_word
from rigup.cli.layout import columns, padded, width, wrapped
from rigup.cli.overview import ASIDE, BAD, GOOD, OPEN, WEAK, Line, memory, name_of, overview, state_name
from rigup.cli.typed_commands import commands, place, typed
from rigup.language import N_, _
from rigup.schemas.doctor import AnsweredQuestion, Doctor, HarmlessMessage
from rigup.schemas.shared import Device, Finding, Fix, Skipped, Step
from rigup.visible import visible

_COLORS = {
    "error": "red",
    "warning": "yellow",
    "note": "cyan",
    "healthy": "green",
    "unknown": "yellow",
    "broken": "red",
    "degraded": "yellow",
}
_STATES = {"verified": "green", "expected": "green", "on-trial": "yellow", "no": "red"}
_MARKS = {
    GOOD: ("✓", "ok", "green"),
    BAD: ("✗", "x", "red"),
    WEAK: ("!", "!", "yellow"),
    OPEN: ("?", "?", "yellow"),
    ASIDE: ("·", "-", "blue"),
}
# Words that are translated where a value of the answer is shown.
_WORDS = (
    N_("broken"),
    N_("degraded"),
    N_("healthy"),
    N_("unknown"),
    N_("error"),
    N_("warning"),
    N_("note"),
    N_("certain"),
    N_("likely"),
    N_("possible"),
)
_LONGEST = 200  # characters of a message that is quoted


class Grouped(Finding, frozen=True, kw_only=True):
    """A cause of one or several subjects.

    Attributes:
        subjects: all of them; `subject` is the first.

    """

    subjects: list[str]


def text(answer: Doctor, verbose: int = 0, color: bool = False, here: bool = True) -> str:
    """The whole report. `here`: about this machine, else about somebody's."""
    parts = [
        _head(answer, here),
        _since_ok(answer, verbose),
        *[finding(group, verbose, number == 0) for number, group in enumerate(grouped(answer.findings)) if loud(group)],
        _mended(answer),
        _answers(answer),
        _harmless(answer),
        looked_at(answer, verbose),
        _failed_verifications(answer),
        _notes(answer),
        _skipped(answer, verbose),
        _facts(answer) if verbose > 1 else [],
        _troubles(answer),
    ]
    report = "\n\n".join("\n".join(part) for part in parts if part)
    return report if color else visible(unstyled(report))  # who imports rigup prints it himself


def loud(shown: Finding) -> bool:
    """Whether a finding is more than a note."""
    return bool(shown.severity != "note")


def _head(answer: Doctor, here: bool) -> list[str]:
    verdict, meaning = answer.verdict, head_sentence(answer, here)
    loud_findings = grouped([shown for shown in answer.findings if loud(shown)])
    marked = style(verdict_word(answer), fg=_COLORS[verdict], bold=True)
    lines = wrapped(_("{verdict}. {meaning}").format(verdict=marked, meaning=meaning))
    if len(loud_findings) < 2:
        return lines
    guesses = any(shown.guess for shown in loud_findings)
    return [
        *lines,
        *wrapped(
            _("It may be either of these: check before you mend.") if guesses else _("The first cause below is the root; mend it first.")
        ),
    ]


def _since_ok(answer: Doctor, verbose: int) -> list[str]:
    """What has changed since all was well, where that was asked for."""
    if answer.since_ok is UNSET:
        return []
    from rigup.cli.since import lines

    return lines(answer.since_ok, verbose)


def grouped(findings: list[Finding]) -> list[Grouped]:
    """Equal causes of several devices are one entry."""
    groups: dict[tuple[str, str], Grouped] = {}
    for group in findings:
        key = (group.cause, group.severity)
        if key in groups:
            groups[key].subjects.append(group.subject)
        else:
            groups[key] = Grouped(**structs.asdict(group), subjects=[group.subject])
    return list(groups.values())


def finding(group: Grouped, verbose: int = 0, first: bool = True) -> list[str]:
    """One cause: what it is, what to do, why, and what was seen."""
    mark = style(_(group.severity), fg=_COLORS[group.severity], bold=first)
    lines = wrapped(style(group.title, bold=first), mark + "  ")
    about = [group.cause, _(group.confidence)] + [s for s in group.subjects if s != "machine"]
    lines += wrapped(style(" · ".join(about + ([group.place] if group.place else [])), dim=True), "  ", "  ")
    if group.make_sure:
        lines += _label_lines(_("Check:"), group.make_sure)
    lines += _fixes(group.fixes, verbose) or (_label_lines(_("Mend:"), group.mends) if group.mends else [])
    if group.because:
        lines += _label_lines(_("Why:"), group.because)
    lines += evidence_lines(group.evidence, verbose)
    if group.in_vain:
        lines += _label_lines(_("In vain:"), group.in_vain)
    return lines + _label_lines(_("More:"), "rigup explain " + group.cause)


def _label_lines(label: str, value: str) -> list[str]:
    return wrapped(value, "  " + padded(label, LABEL))


def _fixes(fixes: list[Fix], verbose: int) -> list[str]:
    lines: list[str] = []
    ways = fixes if verbose else fixes[:2]
    for number, fix in enumerate(ways):
        label = _("Mend:") if number == 0 else _("or:")
        for count, step in enumerate(fix.steps):
            restart = step.restart and "restart-machine" not in {step.kind for step in fix.steps}
            lines += wrapped(step.title + _place(step, restart), "  " + padded(label if count == 0 else "", LABEL))
            lines += ["  " + " " * LABEL + "  " + command for command in commands(step)]
        lines += _users(fix)
        if has_own_check(ways, number):
            lines += after(fix, "  " + padded(_("After:"), LABEL))
    return lines


def has_own_check(fixes: list[Fix], number: int) -> bool:
    """Whether the way that follows is seen to have worked by something else: what is the same for both is said once, below."""
    return number + 1 == len(fixes) or fixes[number].check != fixes[number + 1].check


def after(fix: Fix, margin: str) -> list[str]:
    """How to see that it worked."""
    check = fix.check
    return [*wrapped(check.title, margin), *(" " * columns(margin) + "  " + command for command in typed(check.commands, check.where))]


def _users(fix: Fix) -> list[str]:
    """Who else uses what the fix replaces."""
    if not fix.used_by:
        return []
    sentence = _("What it replaces is also used by {packages}: they need their releases for it.")
    return wrapped(sentence.format(packages=", ".join(fix.used_by)), "  " + " " * LABEL)


def _place(step: Step, restart: bool) -> str:
    needs = [place(step), _("then restart the machine") if restart else ""]
    return aside(need for need in needs if need)


def aside(words: Iterable[str]) -> str:
    """Words in brackets behind a sentence; nothing where there are none."""
    joined = _(", ").join(words)
    return _(" ({told})").format(told=joined) if joined else ""


def looked_at(answer: Doctor, verbose: int = 0) -> list[str]:
    """What was looked at, a line for each, with what is to be said of it."""
    seen = overview(answer, verbose)
    if not seen:
        return []
    room = max(columns(line.title) for line in seen)
    signs = marks()
    rows = [part for line in seen for part in _looked_at(line, room, signs)]
    return [style(_("What was looked at"), bold=True), *rows]


def _looked_at(line: Line, room: int, signs: dict[str, str]) -> list[str]:
    first = signs[line.mark] + " " + padded(line.title, room) + "  "
    rest = " " * columns(first)
    lines = _pack(line.facts, first, rest)
    for state in filter(None, line.state.split("\n")):
        lines += wrapped(state, rest, rest)
    return lines


def _pack(facts: tuple[str, ...], first: str, rest: str) -> list[str]:
    """Facts in a row; a line is broken between two of them, and within one only where it is longer than a line."""
    lines, line = [], first
    for number, fact in enumerate(facts):
        parted = line + (" · " if number else "") + fact
        if columns(parted) <= width() or line in (first, rest):
            line = parted
        else:
            lines.append(line + " ·")
            line = rest + fact
    return [part for row in (*lines, line) for part in _within(row, first if row.startswith(first) else rest)]


def _within(line: str, indent: str) -> list[str]:
    return [line] if columns(line) <= width() else wrapped(line.removeprefix(indent), indent, " " * columns(indent))


def marks() -> dict[str, str]:
    """A sign for each mark, in letters where the terminal has no other."""
    plain = not _writes("✓✗")
    wide = max(len(letters) for _sign, letters, _color in _MARKS.values()) if plain else 1
    return {mark: style(padded(letters if plain else sign, wide), fg=color) for mark, (sign, letters, color) in _MARKS.items()}


def _writes(text: str) -> bool:
    """Whether what we write to can show a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _failed_verifications(answer: Doctor) -> list[str]:
    """What `rigup verify` found wrong and has not found right since."""
    if not answer.failed_verifications:
        return []
    from rigup.diagnosis.verifications import failure_text

    lines = []
    for failure in answer.failed_verifications:
        again = _("When it was mended: {command}").format(command=failure.next)
        lines += wrapped(_("{first} {second}").format(first=failure_text(failure) + ".", second=again), "  - ", "    ")
    return [style(_("Failed verifications"), bold=True), *lines]


def device_line(device: Device, room: int = 0) -> list[str]:
    """What one device is, and its state with the reason."""
    facts = [padded(name_of(device), room), padded(device.isa or "", 8), padded(memory(device), 8)]
    state = style(state_name(device), fg=_STATES[device.state])
    line = "  " + str(device.index) + "  " + "  ".join(facts).rstrip()
    return [line, *wrapped(_("{state}: {because}").format(state=state, because=device.because), "     ", "     ")]


def _answers(answer: Doctor) -> list[str]:
    """To what was asked, and to what somebody believes."""
    parts = []
    for head, questions in answers(answer):
        lines = [style(head, bold=True)]
        for question in questions:
            lines += wrapped(question.answer, "  - ", "    ") + ["      " + command for command in question.commands]
        parts.append("\n".join(lines))
    return "\n\n".join(parts).splitlines()


def answers(answer: Doctor) -> list[tuple[str, list[AnsweredQuestion]]]:
    """Heads, each with its answers: to what was asked outright, to what somebody believes, and of what an output shows."""
    heads = (_("What was asked"), _("On what was said"), _("Worth knowing"))
    kinds = [0 if one.outright else 1 if one.asked else 2 for one in answer.answers]
    found = [(head, [one for one, kind in zip(answer.answers, kinds, strict=True) if kind == number]) for number, head in enumerate(heads)]
    return [(head, known) for head, known in found if known]


def _harmless(answer: Doctor) -> list[str]:
    """Messages that worry people, with what they mean."""
    parts = [
        [style(head, bold=True), *(line for sentence in sentences for line in wrapped(sentence, "  - ", "    "))]
        for head, sentences in harmless(answer)
    ]
    return "\n\n".join("\n".join(part) for part in parts).splitlines()


def harmless(answer: Doctor) -> list[tuple[str, list[str]]]:
    """Heads, each with such messages as they stand there and their meaning: of what is seen to work, and of what is without consequence."""
    kinds = ((_("Seen to work"), True), (_("Known, and no fault"), False))
    found = [(head, [message for message in answer.harmless if message.works == works]) for head, works in kinds]
    return [(head, _explained(messages)) for head, messages in found if messages]


def _explained(messages: list[HarmlessMessage]) -> list[str]:
    """Each meaning once, behind all messages that have it."""
    said: dict[str, list[str]] = {}
    for message in messages:
        said.setdefault(message.meaning, []).append(_cut(message.said))
    quoted = {meaning: [_("“{message}”").format(message=one) for one in known[:-1]] for meaning, known in said.items()}
    sentence = _("“{message}”: {meaning}")
    return [" ".join([*quoted[meaning], sentence.format(message=known[-1], meaning=meaning)]) for meaning, known in said.items()]


def _mended(answer: Doctor) -> list[str]:
    """Faults of before, which who tells of them wants to hear of first."""
    groups = (group for group in grouped(answer.findings) if group.past is True)
    return [line for group in groups for line in wrapped(group.title)]


def _cut(message: str) -> str:
    """No more of it than is easily read, and no part of a word."""
    from textwrap import shorten  # few answers quote a message that long

    return message if len(message) <= _LONGEST else shorten(message, _LONGEST, placeholder=" …")


def _notes(answer: Doctor) -> list[str]:
    notes = [group for group in grouped(answer.findings) if not loud(group) and group.past is not True]
    lines = [line for group in notes for line in wrapped(group.title, "  - ", "    ")]
    for message in answer.unexplained_said[:MOST_EVIDENCE]:
        sentence = _("No cause here accounts for this message: {message}").format(message=_cut(message))
        lines += wrapped(sentence, "  - ", "    ")
    if answer.near:
        sentence = _("By its words alone the text is nearest to {causes}; `rigup explain CAUSE` tells of each.")
        lines += wrapped(sentence.format(causes=", ".join(answer.near)), "  - ", "    ")
    return [style(_("Notes"), bold=True), *lines] if lines else []


def _skipped(answer: Doctor, verbose: int) -> list[str]:
    """What could not be judged; worth a word where it might decide, or where it is asked for."""
    listed = not_judged(answer.skipped) if verbose else []
    if not verbose and answer.verdict == "unknown":
        listed = not_judged([skip for skip in answer.skipped if skip.would_explain])[:3]
    lines = [line for sentence in listed for line in wrapped(sentence, "  - ", "    ")]
    return [style(_("Not judged"), bold=True), *lines] if lines else []


def not_judged(skipped: list[Skipped]) -> list[str]:
    """What nobody could judge, by the causes that it would decide, and what would tell."""
    by_causes: dict[tuple[str, ...], dict[str, None]] = {}
    for skip in skipped:
        by_causes.setdefault(tuple(skip.would_decide[:4]), {}).update(dict.fromkeys(skip.would_tell))
    sentence = _("Whether it is {causes} cannot be told from what was seen. To tell: {tell}")
    return [
        sentence.format(causes=", ".join(causes), tell=" | ".join(list(tell)[:3]) or _("a report that shows it"))
        for causes, tell in by_causes.items()
    ]


def _facts(answer: Doctor) -> list[str]:
    lines = [style(_("Facts"), bold=True)]
    for kind, facts in sorted(to_builtins(answer.machine).items()):
        for fact in facts if isinstance(facts, list) else []:
            fields = ", ".join(str(name) + " " + str(value) for name, value in fact.items() if value not in (None, "", []))
            lines += wrapped(fields, "  " + padded(kind, 16) + " ")
    return lines


def _troubles(answer: Doctor) -> list[str]:
    sentences = troubles(answer)
    lines = [style(_("What could not be read"), bold=True)] if sentences else []
    return lines + [line for sentence in sentences for line in wrapped(sentence, "  - ", "    ")]


def troubles(answer: Doctor) -> list[str]:
    """Programs that did not answer, and readers that could not read."""
    return [tool.because for tool in answer.unanswered] + list(map(_trouble, answer.troubles))


def _trouble(trouble: str) -> str:
    """Who could not read, and why: data is English, and what has a translation is shown in it."""
    reader, parted, why = trouble.partition(": ")
    return reader + parted + _(why)
