"""The steps that mend findings of the doctor, and whether it still finds them afterwards."""

from typing import TYPE_CHECKING

from msgspec import structs

from rigup.schemas.fix import Mending
from rigup.schemas.plan import Plan
from rigup.schemas.shared import Finding, Step
from rigup.workflows.environments import in_full
from rigup.workflows.errors import as_workflow_errors
from rigup.workflows.intents import can_be_taken, of_findings, of_plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rigup.plan.applying.journal import Intent
    from rigup.stack.site import Site

SCHEMA = "rigup.fix/1"
_BUILDS = ("install-torch", "install-torch-with-audio", "choose-build")
_FRAMEWORKS = ("torch", "torchvision", "torchaudio", "tensorflow", "jax", "vllm", "onnxruntime-gpu", "onnxruntime")


def ways_to_mend(cause: str | None, source: str | None, environment: str, program: tuple[str, ...] = ()) -> Mending:
    """What mends a cause on this machine, or on one that was reported (schema rigup.fix/1).

    Args:
        cause: its id; None for all that the doctor finds.
        source: a report, a log, a folder of them or a captured tree; None for this machine.
        environment: that is meant; "" for none in particular.
        program: what is run first, as only its words tell; () for none.

    Raises:
        RequestError: the source cannot be read, or the program not be started.

    """
    from rigup.diagnosis.answer import answer, examined
    from rigup.machine.sources import close_sources, open_source
    from rigup.stack.seen import site_of
    from rigup.workflows.diagnosing import after_running

    try:
        with as_workflow_errors():
            diagnosis = examined(after_running(program) if program else open_source(source))
            findings = [finding for finding in answer(diagnosis).findings if cause in (None, finding.cause)]
            site = site_of(diagnosis.facts, in_full(environment) if source is None else environment)
            mended, plan = _mended(findings, site, here=source is None)
            return Mending(cause=cause, environment=environment or None, findings=mended, plan=plan)
    finally:
        close_sources()


def _mended(findings: list[Finding], site: "Site", here: bool) -> tuple[list[Finding], Plan | None]:
    """The findings with their steps spelt out, and the stack that the machine would be given where one mends them."""
    from rigup.plan.mend import OF_THE_STACK, mended

    kinds = {step.kind for finding in findings for fix in finding.fixes for step in fix.steps}
    spelt = [structs.replace(finding, fixes=[mended(fix, site) for fix in finding.fixes]) for finding in findings]
    wanted = kinds & set(OF_THE_STACK) and site.devices and _wants_a_stack(kinds, site)
    plan = _plan(site, here, _release(findings)) if wanted else None
    return spelt, plan and structs.replace(plan, steps=_with_removals(plan.steps, spelt))


def _wants_a_stack(kinds: set[str], site: "Site") -> bool:
    """A driver that is missing is mended by a driver: nobody is given an environment who has none."""
    return bool(kinds & set(_BUILDS)) or any(name in site.installed for name in _FRAMEWORKS)


def _with_removals(steps: list[Step], findings: list[Finding]) -> list[Step]:
    """A plan's steps with what findings want removed first: no plan of a stack takes packages away."""
    first = [step for finding in findings for fix in finding.fixes[:1] for step in fix.steps]
    gone = [step for step in first if step.kind == "remove-packages"]
    at = next((place for place, step in enumerate(steps) if step.kind.startswith("install-")), len(steps))
    return [*steps[:at], *gone, *steps[at:]]


def _release(findings: list[Finding]) -> str:
    """The torch that the doctor's first way names, as a build where its index tells one: the plan is to install the same."""
    first = [step for finding in findings for fix in finding.fixes[:1] for step in fix.steps]
    named = (step.params for step in first if step.kind in ("install-torch", "install-torch-with-audio"))
    return next((f"{params['torch']}+{params['index'].rpartition('/')[2]}".rstrip("+") for params in named), "")


def _plan(site: "Site", here: bool, release: str) -> Plan | None:
    """The stack that the machine would be given for the frameworks which are there.

    Args:
        site: the machine.
        here: whether it is this one, so that a resolver can be asked.
        release: of torch, which the doctor names; another is taken where it cannot be had. "" for any.

    """
    from rigup.plan.answer import answer
    from rigup.plan.resolution.resolve import resolved
    from rigup.stack.choose import choose
    from rigup.stack.wish import Wish

    frameworks = tuple(name for name in _FRAMEWORKS if name in site.installed) or ("torch",)
    # The release that is there meets a pin whatever build it is of; without one the build is chosen that serves.
    plain = release.partition("+")[0]
    pins = [release, plain if plain != site.installed.get("torch", "").partition("+")[0] else "", ""]
    candidates = (tuple(f"torch=={pin}" if name == "torch" and pin else name for name in frameworks) for pin in pins)
    choices = [choose(Wish(packages=wanted), site) for wanted in dict.fromkeys(candidates)]
    choice = next((option for option in choices if option.possible), choices[-1])
    served = any(serving.served for _device, serving in choice.devices)
    if choice.possible and served:
        with_resolution = resolved(choice, here=here)
        choice = with_resolution if with_resolution.possible else choice
    return answer(choice) if choice.possible and served else None


def safely_mended(findings: list[Finding]) -> list[Finding]:
    """Findings that count and that safe steps mend, each with that fix alone."""
    mended = []
    for finding in findings:
        fix = next((fix for fix in finding.fixes if _is_safe(fix.steps)), None)
        if fix is not None and finding.severity != "note" and finding.confidence != "possible":
            mended.append(structs.replace(finding, fixes=[fix]))
    return mended


def _is_safe(steps: list[Step]) -> bool:
    taken = [step for step in steps if can_be_taken(step)]
    by_hand = [step for step in steps if step.where == "by-hand" and not step.restart]
    return bool(taken) and len(taken) + len(by_hand) == len(steps) and all(step.tag == "safe" for step in steps)


def intent_of(mending: Mending, findings: list[Finding], safe_alone: bool) -> "Intent":
    """What is to be done about findings: the plan of a stack, where one mends them, else their own first ways.

    Args:
        mending: what `ways_to_mend` found.
        findings: those of it that are mended.
        safe_alone: whether nothing but safe steps is wanted, so no stack.

    """
    if mending.plan is not None and not safe_alone:
        return of_plan(mending.plan, {})
    return of_findings(findings, mending.environment or "")


def still_found(causes: "Iterable[str]", program: tuple[str, ...] = ()) -> list[Finding]:
    """Findings of these causes that the doctor still has when it looks again, with the program if one was named."""
    from rigup.diagnosis.answer import diagnose, diagnosed
    from rigup.workflows.diagnosing import after_running

    wanted = set(causes)
    report = diagnosed(after_running(program)) if program else diagnose()
    return [finding for finding in report.findings if finding.cause in wanted]
