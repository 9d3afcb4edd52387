"""What `rigup doctor` answers of one machine: looked for, made fit to be shared, as text or data. click is not needed for it."""

import os
import sys
from typing import TYPE_CHECKING, TypeVar

from rigup.language import N_, _, choose, current, is_asked_for, spoken_in

if TYPE_CHECKING:
    from rigup.machine.sources import Source
    from rigup.schemas.doctor import Doctor

_T = TypeVar("_T")
_ALL = 2  # so often -v shows every fact


def look(source: str | None, wake: bool, since_ok: bool = False) -> "Doctor":
    """The answer of this machine, or of a report; meanwhile a person at a terminal is told what is done.

    Raises:
        RequestError: there is no such report, or a table of what is known cannot be used.

    """
    from rigup.cli.progress import Waiting
    from rigup.diagnosis.answer import diagnose
    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError
    from rigup.workflows.diagnosing import this_machine
    from rigup.workflows.errors import RequestError

    waiting = _("Reading this machine …") if source is None else _("Reading {source} …").format(source=source)
    try:
        with Waiting(waiting):
            return this_machine(wake, since_ok) if source is None else diagnose(source, wake, _follow)
    except (SourceError, KnowledgeError) as error:
        raise RequestError(str(error)) from error


def _follow(sources: "list[Source]") -> None:
    """Answer in the language of a person's own words; where `--lang` or the locale names another, tell at a terminal how to have it."""
    texts = [text.body for source in sources for text in source.texts if not text.body.isascii()]
    if not texts:
        return
    from rigup.cli.prose_language import prose_language

    language = prose_language(texts)
    if language and not is_asked_for():
        choose(language)
    elif language and language != current() and sys.stderr.isatty():
        sentence = spoken_in(language)(N_("`rigup --lang {language} doctor` answers in your language."))
        sys.stderr.write(sentence.format(language=language) + "\n")


def shareable(answer: _T, with_values: bool = False) -> _T:
    """The answer without what is private, unless its owner wants all of it."""
    from rigup.machine.outward import outward

    return answer if with_values else outward(answer)


def rendered(answer: "Doctor", as_json: bool, verbose: int, here: bool, with_values: bool = False) -> str:
    """The answer as data, or as a report. `here`: about this machine, else about somebody's."""
    if as_json:
        from rigup.cli.data import data_text

        return data_text(answer, with_values=True)
    from rigup.cli.layout import wrapped
    from rigup.cli.report import text

    report = text(answer, verbose, color=wants_color(), here=here)
    if verbose < _ALL or with_values:
        return report
    left = _("Secrets, and values of variables that GPUs do not need, are left out. `--with-values` shows them.")
    return report + "\n\n" + "\n".join(wrapped(left))


def status(answer: "Doctor") -> int:
    """The exit status: 1 where something is wrong."""
    return int(answer.verdict in ("broken", "degraded"))


def wants_color() -> bool:
    """Whether who reads it can see colours, and wants to."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
