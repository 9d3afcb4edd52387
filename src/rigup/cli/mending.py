"""Takes the steps that mend findings of the doctor, and lets the doctor look again."""

import os
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.failing import spoken
from rigup.cli.layout import wrapped
from rigup.cli.taking import Manner, go, say_data
from rigup.language import _

if TYPE_CHECKING:
    from rigup.plan.applying.journal import Intent

Answer = dict[str, Any]


def mend(told: Answer, all_safe: bool, manner: Manner, shown: str, program: tuple[str, ...] = ()) -> int:
    """Show what mends the findings, ask, do it, and look again, with the program if one was named; the exit status.

    Raises:
        ClickException: the journal cannot be written, or root was not given.

    """
    from rigup.plan.applying.journal import JournalError
    from rigup.plan.applying.taking import Failed

    findings = safely_mended(told["findings"]) if all_safe else told["findings"]
    if all_safe and not findings:
        return _none_is_safe(manner)
    if not manner.silent and not all_safe:
        click.echo(shown)
    intent = _intent(told, findings, all_safe)
    if not any(_can_be_taken(step) for step in intent.steps):
        return _by_hand(manner)
    if all_safe and not manner.silent:
        _list(findings, intent)
    try:
        status = go(intent, manner)
    except (JournalError, Failed) as error:
        raise spoken(error) from error
    return status if manner.dry_run else max(status, _look_again({one["cause"] for one in findings}, manner, program))


def _intent(told: Answer, findings: list[Answer], all_safe: bool) -> "Intent":
    from rigup.plan.applying.journal import Intent

    if told["plan"] is not None and not all_safe:
        return _of_plan(told["plan"])
    steps = list({step["id"]: step for one in findings for step in _steps(one)}.values())
    return Intent(
        title=", ".join(dict.fromkeys(one["cause"] for one in findings)), steps=steps,
        asked={"folder": os.getcwd()}, environment=_environment(findings, steps, told["environment"] or ""),
    )  # fmt: skip


def _of_plan(plan: Answer) -> "Intent":
    """What a stack's plan would do."""
    from rigup.cli.apply import intent_of_plan

    return intent_of_plan(plan, {})


def _steps(finding: Answer) -> list[Answer]:
    """The steps of the first fix that can be taken here at all; else of the first."""
    fixes = finding["fixes"]
    best = next(
        (fix for fix in fixes if any(_can_be_taken(step) for step in fix["steps"])), fixes[0] if fixes else None
    )
    return best["steps"] if best else []


def _can_be_taken(step: Answer) -> bool:
    return step["where"] == "here" and bool(step["commands"]) and step.get("state") != "blocked"


def _environment(findings: list[Answer], steps: list[Answer], named: str) -> str:
    """The environment that the steps change: the one that a finding is about, else the one that was meant."""
    from rigup.plan.applying.stage import of_environment

    if not any(of_environment(step) for step in steps):
        return ""
    told = [*(one["subject"] for one in findings), named, os.environ.get("VIRTUAL_ENV", "")]
    there = (path for path in told if path and os.path.isfile(os.path.join(path, "pyvenv.cfg")))
    return next(map(os.path.abspath, there), "")


# -- safe ones ---------------------------------------------------------------------------------------


def safely_mended(findings: list[Answer]) -> list[Answer]:
    """Findings that count and that safe steps mend, each with that fix alone."""
    found = []
    for finding in findings:
        fix = next((fix for fix in finding["fixes"] if _is_safe(fix["steps"])), None)
        if fix is not None and finding["severity"] != "note" and finding["confidence"] != "possible":
            found.append({**finding, "fixes": [fix]})
    return found


def _is_safe(steps: list[Answer]) -> bool:
    taken = [step for step in steps if _can_be_taken(step)]
    by_hand = [step for step in steps if step["where"] == "by-hand" and not step["restart"]]
    return bool(taken) and len(taken) + len(by_hand) == len(steps) and all(step["tag"] == "safe" for step in steps)


def _none_is_safe(manner: Manner) -> int:
    if manner.as_json:
        say_data(manner, {"verdict": "nothing"})
    elif not manner.quiet:
        click.echo(_("The doctor finds nothing that safe steps could mend."))
    return 0


def _list(findings: list[Answer], intent: "Intent") -> None:
    from rigup.cli.plan_report import steps_text

    lines = [line for one in findings for line in wrapped(one["title"], "- ", "  ")]
    click.echo("\n".join([*lines, "", *steps_text(intent.steps)]))


def _by_hand(manner: Manner) -> int:
    """Nothing of it is rigup's to do."""
    if manner.as_json:
        say_data(manner, {"verdict": "by-hand"})
    else:
        told = _("None of these steps can be taken by rigup from here; nothing was changed.")
        click.echo("\n" + "\n".join(wrapped(told)), err=True)
    return 1


# -- after -------------------------------------------------------------------------------------------


def _look_again(causes: set[str], manner: Manner, program: tuple[str, ...]) -> int:
    """Whether the doctor still finds what was to be mended."""
    from rigup.cli.attend import sources_of
    from rigup.diagnosis.answer import diagnose, diagnosed

    found = diagnosed(sources_of(program)) if program else diagnose()
    left = [one for one in found["findings"] if one["cause"] in causes]
    if manner.as_json:
        return int(bool(left))
    if not left:
        if not manner.quiet:
            click.echo(_("The doctor looked again, and does not find it any more."))
        return 0
    told = _("The doctor looked again, and still finds: {titles}")
    click.echo("\n".join(wrapped(told.format(titles="; ".join(one["title"] for one in left)))), err=True)
    return 1
