"""What is said of a model before it comes, while it comes, and as data."""

import os
import sys
import time
from collections import deque
from types import TracebackType
from typing import Any

import click

from rigup.cli.guard import unguarded
from rigup.cli.layout import wrapped
from rigup.language import _
from rigup.llm.hub.fetch import Progress
from rigup.llm.hub.judging import Judgement
from rigup.llm.hub.pulling import Target, Verdict, room
from rigup.machine.outward import outward_text
from rigup.schemas.pull import Loaded, OtherType, Pull
from rigup.sizes import duration, size

_CLEAR = "\r\x1b[2K"
_WINDOW = 10.0  # seconds over which the rate is told
_EVERY = 0.2  # seconds between two pictures on a terminal
_LINE = 15.0  # and between two lines where nobody can take one back


def before(target: Target, assessment: Verdict) -> list[str]:
    """What would come, and whether it runs here."""
    needed, free = room(target.pieces)
    head = _("{name}: {size} (files: {count}), of which {needed} are to come; {free} are free.")
    count = len(target.pieces)
    lines = [
        *target.notes,
        head.format(
            name=target.name, count=count, size=size(sum(piece.bytes for piece in target.pieces)), needed=size(needed), free=size(free)
        ),
    ]
    lines.append(_runs(assessment.judgement) if assessment.judgement else assessment.because)
    return [line for sentence in lines if sentence for line in wrapped(outward_text(sentence))]


def _runs(found: Judgement) -> str:
    if found.fits is None:
        return _("How much memory this machine has is not known, so nobody can tell whether it runs here.")
    if not found.fits:
        return _("It does not fit into this machine's memory, with {context} tokens of context.").format(context=found.context)
    place = {
        "gpu": _("It runs here on the GPU, with {context} tokens of context."),
        "both": _("It runs here with {layers} of {all} layers on the GPU, with {context} tokens of context."),
        "cpu": _("It runs here on the processor, with {context} tokens of context."),
    }[found.where].format(context=found.context, layers=found.layers[0], all=found.layers[1])
    speed = _("About {count} tokens a second.").format(count=f"{found.speed:.0f}") if found.speed else ""
    return f"{place} {speed}".strip()


def offers(assessment: Verdict) -> list[str]:
    """The other types of a repository, and which of them fit."""
    if not assessment.offers:
        return wrapped(_("Its repository has no other type. `rigup fit` tells what to change so that it fits."))
    found = [_("Other types of it:")]
    for offer in assessment.offers:
        how = {True: _("fits"), False: _("does not fit"), None: "–"}[offer.fits]
        found.append(f"  {offer.choice.type:10} {size(offer.choice.bytes):>8}  {how}")
    return [outward_text(line) for line in found]


def answer(
    target: Target, assessment: Verdict | None, verdict: Any, path: str | None, asked: tuple[int, int] | None, progress: Progress | None
) -> Pull:
    """The answer as data."""
    found = assessment.judgement if assessment else None
    needed, free = asked or room(target.pieces)
    files = [
        Loaded(
            name=piece.name,
            bytes=piece.bytes,
            checksum=piece.digest,
            came_before=progress.resumed.get(piece.name, piece.bytes) if progress else piece.present_bytes,
        )
        for piece in target.pieces
    ]
    others = [
        OtherType(file=offer.choice.file, type=offer.choice.type, bytes=offer.choice.bytes, fits=offer.fits, runs_on=offer.where)  # type: ignore[arg-type]
        for offer in (assessment.offers if assessment else ())
    ]
    return Pull(
        verdict=verdict,
        name=target.name,
        source=target.source,
        path=path,
        commit=target.commit,
        files=files,
        bytes=sum(piece.bytes for piece in target.pieces),
        to_come=needed,
        free=free,
        fits=found.fits if found else None,
        because=assessment.because or None if assessment else None,
        quantisation=found.model.quantisation if found else None,
        runs_on=found.where if found and found.fits else None,  # type: ignore[arg-type]
        context=found.context if found else None,
        tokens_per_second=found.speed if found else None,
        others=others,
        notes=list(target.notes),
    )


class Coming:
    """How far it is, at which rate, and how long it takes yet: a living line on a terminal, else a line now and then."""

    def __init__(self, progress: Progress, silent: bool) -> None:
        self._progress, self._silent = progress, silent
        self._alive = not silent and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._seen: deque[tuple[float, int]] = deque([(time.monotonic(), progress.done)])
        self._shown = time.monotonic()

    def __enter__(self) -> "Coming":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._clear()
        self._says()

    def shows(self) -> None:
        """Draw it anew, if it is time."""
        now = time.monotonic()
        self._says()
        if self._silent or now - self._shown < (_EVERY if self._alive else _LINE):
            return
        self._shown = now
        self._seen.append((now, self._progress.done))
        while len(self._seen) > 2 and now - self._seen[1][0] > _WINDOW:
            self._seen.popleft()
        self._clear()
        sys.stderr.write(self.text() + ("" if self._alive else "\n"))
        sys.stderr.flush()

    def text(self) -> str:
        """`1.2 GB of 4.7 GB (26 %), 38 MB/s, 90 s left`."""
        done, total = self._progress.done, self._progress.total
        share = 100 * done // total if total else 100
        sentence = _("{done} of {total} ({share} %)").format(done=size(done), total=size(total), share=share)
        (began, first), (now, last) = self._seen[0], self._seen[-1]
        rate = (last - first) / (now - began) if now > began else 0.0
        if rate <= 0:
            return sentence
        sentence = _("{amount}, {rate}/s").format(amount=sentence, rate=size(int(rate)))
        return _("{amount}, {time} left").format(amount=sentence, time=duration(round((total - done) / rate), 0))

    def _says(self) -> None:
        while self._progress.said:
            sentence = self._progress.said.pop(0)
            if not self._silent:
                self._clear()
                click.echo("\n".join(wrapped(outward_text(sentence))), err=True)

    def _clear(self) -> None:
        if self._alive:
            unguarded(sys.stderr).write(_CLEAR)
            sys.stderr.flush()
