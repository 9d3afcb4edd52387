"""Ways to mend a finding: the fixes of its cause as steps, those that can be said of this machine."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import UNSET

from rigup.diagnosis.findings import Finding
from rigup.diagnosis.guard import Setting, check, passed
from rigup.diagnosis.guard.lent import is_left
from rigup.diagnosis.guard.setting import setting_of
from rigup.diagnosis.users import used_by
from rigup.diagnosis.where_set import IN_A_SCRIPT, taken_out
from rigup.diagnosis.wording import flat
from rigup.knowledge.cuda import version_key
from rigup.knowledge.distributions import distribution
from rigup.knowledge.gpus import driver_branch_for
from rigup.knowledge.tags import tags
from rigup.machine.kinds import Gpu, Symptom
from rigup.machine.store import Facts
from rigup.schemas.shared import Fix, FixCheck
from rigup.steps import Step, StepError, make, parse

_TRIED = "tried:"
_PLAINER = (
    "choose-build",
    "get-library",
    "choose-graphics",
    "enrol-module-key",
    "find-stale-dkms",
    "take-stubs-off-loader-path",
    "join-group-yourself",
    "get-jetson-torch-of-jetpack",
    "get-build-for-this-gpu",
    "get-build-for-older-processors",
    "install-family-again",
    "image-of-the-machine",
    "update-wsl",
    "find-holders",
    "write-elsewhere",
    "do-without-package",
    "run-on-the-mac",
    "ask-for-access",
)  # kinds of steps that say less than another of the same cause


def fixes(finding: Finding, params: dict[str, Any], facts: Facts) -> list[Fix]:
    """Each fix whose steps can be filled in; the one that needs least first, as the row has them.

    What somebody says to have done already is not offered again, unless nothing else is left.
    """
    tried, rows = _tried(facts), finding.row.fixes
    rest = [specs for specs in rows if specs[0].partition(" ")[0] not in tried]
    return _options(rest, finding, params, facts) or _options(rows, finding, params, facts)


def _tried(facts: Facts) -> set[str]:
    """Kinds of steps that somebody says to have taken, by the tags of what was said."""
    said = {symptom.id for symptom in facts.of(Symptom)}
    kinds = (tag.removeprefix(_TRIED) for tag, ids in tags().items() if tag.startswith(_TRIED) and said & set(ids))
    return set(kinds)


def _options(rows: Iterable[Sequence[str]], finding: Finding, params: dict[str, Any], facts: Facts) -> list[Fix]:
    setting = setting_of(finding, facts)
    fill = flat(params)
    options: list[Fix] = []
    for specs in rows:
        if options and (specs[0].partition(" ")[0] in _PLAINER or "…" in specs[0]):
            continue  # said only where nothing more exact can be
        try:
            parsed = [_with_last_branch(*parse(spec, fill), facts, setting) for spec in specs]
            steps = [make(*parts, setting.world, setting.wsl, distribution=setting.family) for parts in parsed]
            steps = passed(steps, setting)
        except (KeyError, StepError):
            continue
        if not steps:
            continue
        exact = [taken for step in steps if (taken := taken_out(step, finding, facts))]
        ways = [[step for found in exact for step in found]] if len(exact) == len(steps) else []
        in_vain = bool(ways) and any(step.kind in IN_A_SCRIPT for step in steps)  # the script sets it anew
        shown = [_way(way, finding, facts, setting, fill) for way in (ways if in_vain else (*ways, steps))]
        options += [way for way in shown if way.title not in {way.title for way in options}]
    return sorted(options, key=lambda way: is_left(way.steps))


def _with_last_branch(kind: str, params: dict[str, str], facts: Facts, setting: Setting) -> tuple[str, dict[str, str]]:
    """A driver "or newer" ends at the last branch that drives every card of the machine and builds for its kernel; past that it is no way. Raises StepError."""
    cards = (gpu for gpu in facts.of(Gpu) if gpu.get("vendor") == "nvidia" and gpu.get("isa"))
    ends = {last for gpu in cards if (last := driver_branch_for(str(gpu.get("isa"))))}
    known = distribution(setting.distribution, setting.release)
    ends |= {known.last_driver} if known is not None and known.last_driver else set()
    if kind != "install-driver" or params.get("vendor") != "NVIDIA" or not ends:
        return kind, params
    last = min(ends, key=int)
    if (
        version_key(params["branch"])[:1] > version_key(last)[:1]
        and version_key(params.get("least") or params["branch"])[:1] > version_key(last)[:1]
    ):
        raise StepError(f"{params['branch']} does not drive a card of this machine")
    return "install-driver-branch", {**params, "branch": last}


def _way(steps: list[Step], finding: Finding, facts: Facts, setting: Setting, fill: dict[str, str]) -> Fix:
    """One way to mend it, with how to see that it worked, and who else uses what it replaces."""
    seen = check(steps, finding, setting, fill)
    return Fix(
        title="; ".join(step.title for step in steps),
        steps=steps,
        check=FixCheck(title=seen.title, commands=list(seen.commands), where=seen.where),
        used_by=used_by(steps, finding, facts) or UNSET,
    )
