"""The doctor's answer as a short Markdown report for a forum, without what is private."""

import html
import re
from typing import Any

from msgspec import convert, to_builtins

from rigup import __version__
from rigup.cli.overview import driver_name, memory
from rigup.cli.report import troubles
from rigup.language import _
from rigup.schemas.doctor import Doctor
from rigup.schemas.shared import BoundDriver, Evidence, Finding
from rigup.visible import visible

_MOST_FINDINGS = 3  # that are told in full
_MOST_EVIDENCE = 4  # lines of each
_MOST_LINES = 14  # in the folded part
_MOST_DEVICES = 8
_MOST_TROUBLES = 8
_WIDEST = 200  # characters of a line that was read
# What whoever helps asks for first: kinds of facts, and which of their fields tell the version.
_VERSIONS = (
    ("distributions", ("name", "id", "version")),
    ("platforms", ("system", "release", "wsl", "architecture")),
    ("drivers", ("vendor", "version", "cuda")),
    ("toolkits", ("name", "version")),
    ("torches", ("version", "build", "cuda", "hip", "available")),
    ("tensorflows", ("version", "build")),
)


def issue(source: str | None, wake: bool) -> tuple[str, int]:
    """The report and the exit status. Raises ClickException where the source cannot be read."""
    import click

    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError

    try:
        answer = redacted_answer(source, wake)
    except (SourceError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error
    return markdown(answer), int(answer.verdict in ("broken", "degraded"))


def redacted_answer(source: str | None, wake: bool) -> Doctor:
    """The answer with private things out of it: their names are learnt from all that was read for it."""
    from rigup.diagnosis.answer import Diagnosis, answer
    from rigup.diagnosis.judge import judged
    from rigup.machine.capture import recorded
    from rigup.machine.redaction import Redactor
    from rigup.machine.sources import close_sources

    try:
        facts, capture = recorded(source, wake)
    finally:
        close_sources()
    redactor = Redactor()
    for snapshot in capture.snapshots.values():
        redactor.learn_all(snapshot)
    for name, body in capture.texts.items():
        redactor.learn(name + "\n" + body, name)
    doctor = to_builtins(answer(Diagnosis(facts, *judged(facts))), enc_hook=str)
    return convert(redactor.data(doctor), Doctor)


def markdown(answer: Doctor) -> str:
    """The report. What was read stands in code, so that it can neither be taken for Markdown nor for HTML."""
    loud = [finding for finding in answer.findings if finding.severity != "note"]
    parts = [
        ["### " + _verdict(answer, loud)],
        *[_finding(finding, number == 0) for number, finding in enumerate(loud[:_MOST_FINDINGS])],
        _devices(answer),
        _versions(answer),
        _details(answer, loud),
        [
            "<sub>"
            + _("Written by `rigup doctor --issue`, rigup {version}. Names, keys, serial numbers and addresses are taken out.").format(
                version=__version__
            )
            + "</sub>"
        ],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _verdict(answer: Doctor, loud: list[Finding]) -> str:
    if loud:
        return plain(loud[0].title)
    meanings = {
        "healthy": _("Nothing is wrong on this machine, as far as rigup can see"),
        "unknown": _("Too little was seen to say what is wrong"),
    }
    return meanings.get(answer.verdict) or str(answer.verdict)


def _finding(finding: Finding, first: bool) -> list[str]:
    """One cause; the first one's title is the heading already."""
    about = [code(finding.cause), _(finding.severity), _(finding.confidence)]
    about += [code(finding.subject)] if finding.subject != "machine" else []
    lines = [*([] if first else ["**" + plain(finding.title) + "**  "]), " · ".join(about), ""]
    lines += ["- " + code(_read(line)) for line in _evidence(finding)[:_MOST_EVIDENCE]]
    if finding.make_sure:
        lines += ["", _("To make sure: {what}").format(what=plain(finding.make_sure))]
    if mend := finding.fixes[0].title if finding.fixes else finding.mends:
        lines += ["", _("Mends it, says rigup: {title}").format(title=plain(mend))]
    if finding.in_vain:
        lines += [_("Often tried in vain: {what}").format(what=plain(finding.in_vain))]
    return lines


def _evidence(finding: Finding) -> list[Evidence]:
    """Evidence, each line that was read once."""
    spots = {(line.source, line.line, line.value): line for line in finding.evidence}
    return list(spots.values())


def _read(line: Evidence) -> str:
    """A line that was read, and where it stands."""
    where = line.source + (":" + str(line.line) if line.line else "")
    return _short(line.value or _("nothing such was found")) + "  (" + str(where) + ")"


def _short(text: str) -> str:
    line = visible(" ".join(str(text).split()))
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"


def _devices(answer: Doctor) -> list[str]:
    devices = answer.machine.accelerators or []
    if not devices:
        return []
    lines = ["| # | " + " | ".join((_("device"), _("ISA"), _("memory"), _("driver"), _("state"))) + " |", "|---" * 6 + "|"]
    for device in devices[:_MOST_DEVICES]:
        driver = device.driver or BoundDriver()
        cells = [
            str(device.index),
            str(device.name or device.pci_id or device.vendor),
            device.isa or "",
            memory(device),
            driver_name(driver),
            device.state,
        ]
        lines.append("| " + " | ".join(cell(part) for part in cells) + " |")
    if len(devices) > _MOST_DEVICES:
        lines += ["", _("… and {count} more").format(count=len(devices) - _MOST_DEVICES)]
    return lines


def _versions(answer: Doctor) -> list[str]:
    lines = []
    for kind, fields in _VERSIONS:
        rows = to_builtins(getattr(answer.machine, kind) or [])
        values = dict.fromkeys(" ".join(_field(row, name) for name in fields if _field(row, name)) for row in rows)
        known = [row for row in values if row][:4]
        if known:
            lines.append(_("- {what}: {values}").format(what=_kinds()[kind], values=", ".join(map(code, known))))
    return lines


def _kinds() -> dict[str, str]:
    return {
        "distributions": _("System"),
        "platforms": _("Kernel"),
        "drivers": _("Drivers"),
        "toolkits": _("Toolkits"),
        "torches": _("torch"),
        "tensorflows": _("TensorFlow"),
    }


def _field(row: dict[str, Any], name: str) -> str:
    """A field as a word; what is merely true tells its name."""
    value = row.get(name)
    if value is True:
        return name
    return "" if value in (None, False, "", []) else _short(str(value))


def _details(answer: Doctor, loud: list[Finding]) -> list[str]:
    """Everything else that was read, folded away."""
    lines = [finding.cause + ": " + _read(line) for finding in loud for line in _evidence(finding)]
    skipped = [
        _("not known: {unknown}; would decide {causes}").format(unknown=row.unknown, causes=", ".join(row.would_decide[:3]))
        for row in answer.skipped
    ]
    lines = [*troubles(answer)[:_MOST_TROUBLES], *lines[:_MOST_LINES], *skipped[: max(4, _MOST_LINES - len(lines))]]
    lines += [_("messages without a cause: {names}").format(names=", ".join(answer.unexplained[:8]))] if answer.unexplained else []
    if not lines:
        return []
    body = "\n".join(map(_short, lines))
    mark = fence(body)
    return [
        "<details><summary>" + _("Evidence, and what could not be judged") + "</summary>",
        "",
        mark + "text",
        body,
        mark,
        "",
        "</details>",
    ]


def fence(body: str) -> str:
    """A fence that nothing in the text can close."""
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    return "`" * max(3, longest + 1)


def code(text: str) -> str:
    """Text as code on a line, whatever it holds."""
    line = _short(text)
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    mark = "`" * (longest + 1)
    pad = " " if longest or not line.strip() else ""
    return mark + pad + line + pad + mark


def plain(text: str) -> str:
    """A sentence of ours, with what was filled into it made harmless."""
    return re.sub(r"([\\`*_\[\]#|~])", r"\\\1", html.escape(_short(text), quote=False)).replace("@", "&#64;")


def cell(text: str) -> str:
    """A table's cell."""
    return plain(text) or "-"
