"""What has changed since the last healthy run, for reports."""

from rigup.language import _
from rigup.schemas.doctor import SinceOk


def lines(since: SinceOk, verbose: int = 0) -> list[str]:
    """The difference to the last healthy state, for the report."""
    from rigup.cli.difference import shown
    from rigup.cli.layout import wrapped

    opening = [line for sentence in opening_of(since) for line in wrapped(sentence)]
    return [*opening, *shown(since.differences, verbose)] if since.differences else opening


def opening_of(since: SinceOk) -> list[str]:
    """Sentences before the differences: what is compared with, or that there is nothing to compare."""
    if since.recorded_at is None:
        return [
            _(
                "There is no record of a healthy state of this machine to compare with. Each run of `rigup doctor` "
                "that finds all well leaves one."
            )
        ]
    sentence = _("Since the healthy run of {when} nothing that rigup sees has changed.")
    if not since.differences:
        return [sentence.format(when=_local_time(since.recorded_at))]
    head = _("What has changed since the healthy run of {when}, likeliest suspects first:")
    quiet = [sentence.format(when=_local_time(since.unchanged_since))] if since.unchanged_since else []
    return [*quiet, head.format(when=_local_time(since.recorded_at))]


def _local_time(stamp: str) -> str:
    """`2026-11-21T15:04:05Z` as a person reads it."""
    return stamp.replace("T", " ").replace("Z", " UTC")
