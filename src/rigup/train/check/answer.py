"""Findings with their texts, as `rigup.train-check/1` has them; and files with what needs no judgement mended."""

from collections.abc import Callable, Iterable

import msgspec
from msgspec import UNSET

from rigup.knowledge import tables
from rigup.language import _
from rigup.schemas.container import Edit
from rigup.schemas.train_check import Quote, Start, TrainCheck, TrainFinding, TrainFix
from rigup.train.check.case import Case
from rigup.train.check.check import Files, Judged
from rigup.train.check.found import Change, Found


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a finding."""

    id: str
    title: str
    meaning: str
    mends: str
    source: str = ""


def text_of(cause: str) -> Text:
    """The texts of an id, in English. Raises KnowledgeError for a malformed table."""
    return next(row for row in tables.rows("train_check/findings", "finding", Text) if row.id == cause)


def answer(judged: Judged, files: Files, paths: Callable[[str], str], fixed: int = 0) -> TrainCheck:
    """What was found, in the language in force.

    Args:
        judged: what was found.
        files: the files.
        paths: how a file is called in the answer.
        fixed: how many findings were mended before.

    """
    findings = [_finding(each, files, paths) for each in judged.findings]
    severities = {each.severity for each in findings}
    return TrainCheck(
        verdict="fails" if "error" in severities else "wastes" if "warning" in severities else "clean",
        script=paths(files.script),
        batch=paths(files.batch) if files.batch else None,
        starts=[_start(case) for case in judged.cases if case.launch is not None],
        findings=findings,
        fixed=fixed,
    )


def _finding(found: Found, files: Files, paths: Callable[[str], str]) -> TrainFinding:
    text = text_of(found.cause)
    places = dict.fromkeys([(found.file, found.line), *found.because])
    quotes = [
        Quote(file=paths(file), line=line, text=quoted) for file, line in places if (quoted := _quoted(file, line, files)) is not None
    ]
    edit = Edit(line=[found.change.first, found.change.last], text="\n".join(found.change.lines)) if found.change else UNSET
    return TrainFinding(
        cause=found.cause,
        severity=found.severity,
        file=paths(found.file),
        line=found.line,
        title=_(text.title),
        meaning=_(text.meaning),
        evidence=quotes,
        fixes=[TrainFix(title=_(text.mends), lines=[line for line in found.fixes if line], edit=edit)],
        source=text.source,
    )


def _quoted(file: str, line: int, files: Files) -> str | None:
    text = (
        files.text if file == files.script else files.batch_text if file == files.batch else files.beside(file) or files.beside_batch(file)
    )
    lines = text.split("\n") if text else []
    return lines[line - 1].strip()[:300] if 0 < line <= len(lines) else None


def _start(case: Case) -> Start:
    assert case.launch is not None  # noqa: S101  (who calls it has looked)
    numbers = {
        "nodes": case.nodes,
        "tasks_per_node": case.tasks_per_node,
        "ranks_per_node": case.ranks_per_node,
        "gpus_per_node": case.gpus_per_node,
    }
    return Start(
        by=[layer.name for layer in case.launch.layers],
        line=case.command_line(),
        **{name: number for name, number in numbers.items() if number is not None},
    )


def mended(text: str, changes: Iterable[Change]) -> str:
    """A file with changes made, from its end to its beginning; of two that meet the first alone is made."""
    lines = text.split("\n")
    above = len(lines) + 1
    for change in sorted(changes, key=lambda each: (each.first, each.last), reverse=True):
        if change.last >= above or change.first > len(lines) + 1:
            continue
        lines[change.first - 1 : change.last] = change.lines
        above = change.first
    return "\n".join(lines)
