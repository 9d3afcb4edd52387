"""`rigup doctor` on this machine: a healthy run leaves a record, `--since-ok` tells what has changed since."""

from typing import Any

from rigup.language import _
from rigup.machine.store import Facts

Answer = dict[str, Any]


def here(wake: bool, compare: bool) -> Answer:
    """The doctor's answer for this machine; with what has changed where that is asked for."""
    from rigup.diagnosis.answer import answer, examined
    from rigup.machine.sources import close_sources, open_source

    try:
        seen = examined(open_source(None), wake)
    finally:
        close_sources()
    told = answer(seen)
    if compare:
        told["since_ok"] = since_ok(seen.facts, told["findings"])
    elif told["verdict"] == "healthy":  # who compares wants the record as it is
        from rigup.machine.baseline import record

        record(seen.facts)
    return told


def since_ok(facts: Facts, findings: list[Answer]) -> Answer:
    """What differs from the last healthy state that differs at all; findings tell what to suspect first."""
    from rigup.cli.difference import as_data
    from rigup.diagnosis.suspects import ranked
    from rigup.machine.baseline import records
    from rigup.machine.difference import differences
    from rigup.machine.portrait import portrait

    kept, now = records(facts), portrait(facts)
    compared = ((one, differences(one.machine, now)) for one in kept)
    last, found = next(((one, told) for one, told in compared if told), (kept[0] if kept else None, []))
    causes = [finding["cause"] for finding in findings]
    told: Answer = {
        "recorded_at": last and last.recorded_at,
        "environment": last and (last.environment or None),
        "differences": as_data(ranked(found, findings), causes),
    }
    return told | ({"unchanged_since": kept[0].recorded_at} if last and last is not kept[0] else {})


def lines(since: Answer, verbose: int = 0) -> list[str]:
    """The difference to the last healthy state, for the report."""
    from rigup.cli.difference import shown
    from rigup.cli.layout import wrapped

    opening = [line for one in opening_of(since) for line in wrapped(one)]
    return [*opening, *shown(since["differences"], verbose)] if since["differences"] else opening


def opening_of(since: Answer) -> list[str]:
    """Sentences before the differences: what is compared with, or that there is nothing to compare."""
    if since["recorded_at"] is None:
        return [
            _(
                "There is no record of a healthy state of this machine to compare with. Each run of `rigup doctor` "
                "that finds all well leaves one."
            )
        ]
    said = _("Since the healthy run of {when} nothing that rigup sees has changed.")
    if not since["differences"]:
        return [said.format(when=_when(since["recorded_at"]))]
    head = _("What has changed since the healthy run of {when}, likeliest suspects first:")
    quiet = [said.format(when=_when(since["unchanged_since"]))] if "unchanged_since" in since else []
    return [*quiet, head.format(when=_when(since["recorded_at"]))]


def _when(stamp: str) -> str:
    """`2026-11-21T15:04:05Z` as a person reads it."""
    return stamp.replace("T", " ").replace("Z", " UTC")
