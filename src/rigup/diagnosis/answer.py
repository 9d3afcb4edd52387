"""The report of `rigup doctor`, as data in the shape of `rigup.schemas.doctor`. Nothing is printed here."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from rigup import plugins
from rigup.diagnosis.at_work import DEVICE_TOLD, DEVICE_UNTOLD, RUNS, SHOWN_TO_WORK, SPOILT, is_at_work, is_undecided, words_of
from rigup.diagnosis.findings import Finding, explained, heard_in, is_guess, is_idle
from rigup.diagnosis.judge import Skipped, judged, remedy
from rigup.diagnosis.wording import answered, filled, fullest, in_vain_of, meaning_of
from rigup.knowledge.compile import PEOPLE
from rigup.knowledge.doctor_tables import Signature, signatures_of, text_of
from rigup.language import _, current
from rigup.machine import readers  # noqa: F401  (registers them)
from rigup.machine.facts import Where
from rigup.machine.inventory import inventory
from rigup.machine.kinds import Gpu, Proof, Symptom, Torch
from rigup.machine.look import look
from rigup.machine.sources import Source, close_sources, open_source
from rigup.machine.store import Facts
from rigup.machine.texts import Text
from rigup.machine.unanswered import unheard
from rigup.schemas import shared
from rigup.schemas.doctor import AnsweredQuestion, Doctor, FailedVerification, HarmlessMessage, Unanswered, Verdict
from rigup.schemas.machine import Machine
from rigup.schemas.shared import Evidence


class Diagnosis(NamedTuple):
    """What was seen and what is wrong.

    Attributes:
        complaint: pasted texts in which somebody says so, where nothing else does.
        answers: to the questions of pasted texts.

    """

    facts: Facts
    findings: list[Finding]
    skipped: Skipped
    complaint: tuple[Text, ...] = ()
    answers: tuple[AnsweredQuestion, ...] = ()


def diagnose(source: str | None = None, wake: bool = False, opened: Callable[[list[Source]], None] = lambda _sources: None) -> Doctor:
    """Look and judge. `source` as `--from` takes it; None is this machine. `opened` is told of what is read. Raises SourceError."""
    try:
        sources = open_source(source)
        opened(sources)
        return diagnosed(sources, wake)
    finally:
        close_sources()


def diagnosed(sources: list[Source], wake: bool = False) -> Doctor:
    """Look at sources that are open, and judge."""
    return answer(examined(sources, wake))


def examined(sources: list[Source], wake: bool = False) -> Diagnosis:
    """The same with the facts, for those who keep or compare them."""
    facts = look(sources, wake)
    findings, skipped = judged(facts)
    if any(source.host is not None for source in sources):
        return Diagnosis(facts, findings, skipped)
    from rigup.diagnosis.earlier_runs import name_what_failed, of_the_last_run
    from rigup.diagnosis.guesses import complaint, is_more_than_worry, plea, with_guess  # words are weighed where people wrote them
    from rigup.diagnosis.present import present

    facts, findings, skipped, texts, past = present(facts, findings, skipped, sources, wake)
    findings = [*of_the_last_run(findings, texts), *past]
    name_what_failed(findings, texts, facts)
    answers = _answers(tuple(text for source in sources for text in source.texts), findings, facts)
    quiet = all(finding.severity == "note" for finding in findings)
    rest = _beside(texts, answers)
    undecided = is_undecided(facts)
    left = unexplained(findings, facts)
    explains = bool(_harmless(findings, facts)) and not left
    heard = is_more_than_worry if explains else complaint if undecided else plea
    complains = quiet and heard(rest, facts)
    known = (explains and not complains) or _is_accounted_for(texts, answers, left, facts)
    guessed = with_guess(findings, texts, facts, left) if undecided and not known else findings
    if texts and not any(one.asked for one in answers) and all(finding.severity == "note" for finding in guessed):
        from rigup.diagnosis.asked import assurances

        answers = (*assurances(texts, facts, bool(_harmless(guessed, facts)), bool(complains)), *answers)
    return Diagnosis(facts, guessed, skipped, rest if complains else (), answers)


def _answers(texts: tuple[Text, ...], findings: list[Finding], facts: Facts) -> tuple[AnsweredQuestion, ...]:
    """What is asked again and again of machines that are in order; beside what is wrong only what belongs to it matters."""
    if not texts:
        return ()
    from rigup.diagnosis.asked import answers_to

    wrong = [finding for finding in findings if finding.severity != "note" and not finding.past]

    def tell() -> tuple[shared.Finding, ...]:
        symptom_ids = heard_in(facts)
        return tuple(show(finding, facts, symptom_ids) for finding in wrong)

    return tuple(answers_to(texts, facts, frozenset(finding.cause for finding in findings if finding.severity != "note"), tell))


def _is_accounted_for(texts: tuple[Text, ...], answers: tuple[AnsweredQuestion, ...], left: list[str], facts: Facts) -> bool:
    """Whether what people ask of is explained: an output by an answer, or the only warnings as harmless where no program fails."""
    if not texts:
        return False
    from rigup.diagnosis.asked import are_of_outputs
    from rigup.diagnosis.guesses import warns_of_nothing_else

    return are_of_outputs(answers, texts, facts) or (not left and warns_of_nothing_else(texts, facts))


def _beside(texts: tuple[Text, ...], answers: tuple[AnsweredQuestion, ...]) -> tuple[Text, ...]:
    """The texts without what is answered: who asks complains of nothing."""
    if not answers:
        return texts
    from rigup.diagnosis.asked import without

    return without(texts, answers)


def answer(diagnosis: Diagnosis) -> Doctor:
    """What was seen and judged, with what mends it."""
    facts, findings, skipped, complained, answers = diagnosis
    symptom_ids = heard_in(facts)
    shown = [show(finding, facts, symptom_ids) for finding in findings]
    left = unexplained(findings, facts)
    machine = inventory(facts)
    devices = machine.get("accelerators", [])
    if devices:
        from rigup.diagnosis.states import device_states

        device_states(devices, findings, [finding.title for finding in shown], facts)
    failed = _failed(devices, facts)
    unsettled = complained and not (answers and is_at_work(facts))  # who asks what is known of something that works
    harmless = _harmless(findings, facts)
    bare = _only_names(facts) and not (answers or harmless or is_at_work(facts))
    judgement = verdict(findings, facts, machine, bool(left or unsettled or bare or facts.omitted), bool(harmless))
    if judgement in ("healthy", "unknown") and any(failure.asked for failure in failed):
        judgement = "degraded"  # what was computed here was wrong, whatever else was seen
    return Doctor(
        verdict=judgement,
        machine=msgspec.convert(machine, Machine),
        failed_verifications=failed,
        findings=shown,
        skipped=_may_be(skipped, left, facts),
        unexplained=left,
        unexplained_said=_wordings(left, facts),
        answers=list(answers),
        harmless=harmless,
        near=_near(complained, findings, facts),
        troubles=[*facts.troubles, *map(_of_plugin, plugins.failures())],
        unanswered=_unanswered(facts),
    )


def _failed(devices: list[dict[str, Any]], facts: Facts) -> list[FailedVerification]:
    """What was computed wrong on these devices, where records tell of that."""
    if not facts.of(Proof):
        return []
    from rigup.diagnosis.verifications import failures

    return failures(devices, facts)


def _unanswered(facts: Facts) -> list[Unanswered]:
    """The programs that did not answer, in sentences."""
    if not facts.unanswered:
        return []
    from rigup.diagnosis.silence import unanswered

    return unanswered(facts.unanswered)


def _wordings(left: list[str], facts: Facts) -> list[str]:
    """The lines that messages stand in, each once."""
    lines = (symptom.fields["id"].where.text.strip() for symptom in facts.heard(*left))
    return list(dict.fromkeys(filter(None, lines)))


def _harmless(findings: list[Finding], facts: Facts) -> list[HarmlessMessage]:
    """What may worry somebody and is without consequence; not worth a word beside what is wrong, nor where nobody pasted it."""
    if not facts.pasted or any(finding.severity != "note" and not is_guess(finding) for finding in findings):
        return []
    rows = [row for row in signatures_of(heard_in(facts)) if row.meaning and _is_told(row, facts)]
    told: dict[tuple[str, bool], HarmlessMessage] = {}
    for row in sorted(rows, key=lambda row: row.id in RUNS):  # what proves more of a line is told of it
        said = words_of(row, facts.heard(row.id)[0])
        message = HarmlessMessage(
            symptom=row.id, program=row.program, said=said, meaning=_meaning(row, facts), works=row.id in SHOWN_TO_WORK
        )
        told.setdefault((said, message.works), message)
    return list(told.values())


def _meaning(row: Signature, facts: Facts) -> str:
    """What a message means; of work whose device it does not name that too, unless something else names it or shows a GPU at work."""
    untold = row.id in DEVICE_UNTOLD and DEVICE_TOLD.isdisjoint(facts.ids)
    return " ".join([_(row.meaning), *([_("Which device computes this line does not say.")] if untold else [])])


def _is_told(row: Signature, facts: Facts) -> bool:
    """Whether what a message means holds here: of one that names others only beside one of them, of work that runs only where its results are numbers."""
    if row.id in RUNS and facts.heard(*SPOILT):
        return False
    return is_idle(row, facts) and (not row.idle_beside or not facts.ids.isdisjoint(row.idle_beside))


def _of_plugin(failure: plugins.Failure) -> str:
    """An entry point of another package that could not be used: nothing else depends on it."""
    sentence = _("{value}, which a package brings as {name} for {group}, could not be used: {error}. Update or remove that package.")
    return sentence.format(value=failure.value, name=failure.name, group=failure.group, error=failure.error)


def _near(complained: tuple[Text, ...], findings: list[Finding], facts: Facts) -> list[str]:
    shown = not SHOWN_TO_WORK.isdisjoint(facts.ids)  # words alone do not outweigh what is seen to work
    if not complained or shown or any(finding.confidence == "certain" for finding in findings):
        return []
    from rigup.diagnosis.guesses import near

    return near(complained, findings, facts)


def verdict(findings: list[Finding], facts: Facts, machine: dict[str, Any], left: bool, explained: bool = False) -> Verdict:
    """Healthy needs something seen that works, or that all that worries is `explained`, and no error or complaint left that nobody accounts for.

    Else it is unknown; so it is where a card's own tool did not answer, where a framework made for cards finds none of those that are there, and where
    words alone tell what is wrong.
    """
    loud = {finding.severity for finding in findings if not is_guess(finding)}
    if "error" in loud:
        return "broken"
    if "warning" in loud:
        return "degraded"
    if left or unheard(facts) or _finds_no_card(facts) or any(is_guess(finding) and finding.severity != "note" for finding in findings):
        return "unknown"
    devices = machine.get("accelerators") or []
    if explained or is_at_work(facts) or any(device.get("state") in ("verified", "expected", "on-trial") for device in devices):
        return "healthy"
    return "healthy" if machine.get("accelerators") == [] else "unknown"


def _only_names(facts: Facts) -> bool:
    """Whether a text just says which cards there are: no tool lists them, and no framework is shown."""
    cards = facts.of(Gpu)
    return bool(facts.pasted and cards) and not facts.of(Torch) and not any(card.keyed() or card.knows("seen_by") for card in cards)


def _finds_no_card(facts: Facts) -> bool:
    """Whether a torch that is built for cards answers that there is none, though one of its maker's is shown."""
    if not facts.of(Torch) or not facts.of(Gpu):
        return False
    from rigup.diagnosis.states import finds_none

    return any(finds_none(torch, str(card.get("vendor"))) for torch in facts.of(Torch) for card in facts.of(Gpu))


def show(finding: Finding, facts: Facts, symptom_ids: set[str]) -> shared.Finding:
    """One finding as answers have it; `symptom_ids` are the ids of all symptoms."""
    params = finding.params if finding.past else {**finding.params, **remedy(finding, facts)}
    text = text_of(finding.row, current())
    title = fullest(text.title if text else (), params) or finding.cause
    ways = [] if is_guess(finding) or finding.past else _ways(finding, params, facts)  # words choose no version and no vendor
    if finding.past:
        title, ways, text = _("Mended: {title}. What is shown last works.").format(title=title), [], None
    return shared.Finding(
        cause=finding.cause,
        severity=finding.severity,
        title=title,
        subject=finding.subject.name or "machine",
        place=str(finding.place) if any(finding.place) else "",
        confidence=finding.confidence,
        guess=is_guess(finding),
        because=" ".join(part for part in (_guess_sentence(finding), meaning_of(text, params)) if part),
        make_sure=(text and finding.confidence == "possible" and filled(text.recognise, params)) or "",
        in_vain=in_vain_of(text, params),
        evidence=answered(finding.evidence, finding.cause),
        explains=sorted(finding.folds | (symptom_ids & explained(finding.cause))),
        past=finding.past or UNSET,
        mends=(text and not ways and filled(text.mends, params)) or "",
        fixes=ways,
    )


def _guess_sentence(finding: Finding) -> str:
    """The sentence that tells a guess from what was found; empty for what was found."""
    if not is_guess(finding):
        return ""
    from rigup.diagnosis.guesses import reads_like

    return reads_like(finding)


def _ways(finding: Finding, params: dict[str, Any], facts: Facts) -> list[shared.Fix]:
    from rigup.diagnosis.ways import fixes  # what makes steps is loaded where there is something to mend

    return fixes(finding, params, facts)


def _may_be(skipped: Mapping[str, set[str]], left: list[str], facts: Facts) -> list[shared.Skipped]:
    """What nobody has seen, where it might decide a cause that this system and these cards can have."""
    if not skipped:
        return []
    from rigup.diagnosis.ruled_out import ruled_out

    out = ruled_out(facts)
    return [_skipped(unknown, causes - out, left, facts) for unknown, causes in sorted(skipped.items()) if causes - out]


def _skipped(unknown: str, causes: set[str], left: list[str], facts: Facts) -> shared.Skipped:
    from rigup.diagnosis.telling import would_tell

    kind = unknown.partition(".")[0]
    no_message = not facts.of(Symptom)
    return shared.Skipped(
        unknown=unknown,
        because="nobody has seen it",
        would_decide=sorted(causes),
        would_tell=would_tell(kind, facts),
        would_explain=no_message or any(not explained(cause).isdisjoint(left) for cause in causes),
    )


def unexplained(findings: list[Finding], facts: Facts) -> list[str]:
    """Symptoms that no finding accounts for, and that are neither harmless nor mere statements."""
    accounted = {name for finding in findings for name in finding.folds | explained(finding.cause)}
    quoted = _quoted(findings)
    left = {
        str(symptom.id) for symptom in facts.of(Symptom) if symptom.id not in accounted and _spot(symptom.fields["id"].where) not in quoted
    }
    left -= {line.fact.removeprefix("symptom ") for finding in findings for line in finding.evidence}
    if not left:
        return []
    from rigup.diagnosis.ruled_out import is_disproved

    rows = signatures_of(left)
    idle = {row.id for row in rows if is_idle(row, facts) or row.states or row.means in accounted}
    idle |= {row.id for row in rows if row.program in PEOPLE and is_disproved(row.means, facts)}
    return sorted(left - idle)


def _spot(where: Where | Evidence) -> tuple[str, int | None]:
    return where.source, where.line


def _quoted(findings: list[Finding]) -> set[tuple[str, int | None]]:
    """Source and line of the messages of programs that findings rest on: other words of the same line are accounted for, too."""
    lines = [line for finding in findings for line in finding.evidence if line.line and line.fact.startswith("symptom ")]
    rows = {row.id: row for row in signatures_of({line.fact.removeprefix("symptom ") for line in lines})}
    return {
        (line.source, line.line + below)
        for line in lines
        if (row := rows.get(line.fact.removeprefix("symptom "))) and row.program not in PEOPLE and line.line
        for below in range(row.lines)
    }
