"""What a run is to do, as the journal keeps it: from a plan, from findings, from a lock."""

import os
from typing import TYPE_CHECKING, Any

import msgspec

from rigup.language import _
from rigup.plan.applying.journal import Intent, Planned
from rigup.plan.applying.stage import of_environment
from rigup.schemas.plan import Plan
from rigup.schemas.shared import Finding, Step

if TYPE_CHECKING:
    from rigup.plan.environments.lockfile import Lock
    from rigup.stack.choice import Choice
    from rigup.stack.site import Site
    from rigup.workflows.planning import Request


def of_request(request: "Request", choice: "Choice", plan: Plan) -> Intent:
    """What a request comes to, with what is needed to ask the same again after a restart."""
    intent = of_choice(choice, plan)
    again = {
        "wishes": list(choice.wish.packages),
        "environment": request.environment,
        "options": request.options(),
        "terms": msgspec.to_builtins(choice.wish.terms),
    }
    return msgspec.structs.replace(intent, asked={**intent.asked, **again})


def of_choice(choice: "Choice", plan: Plan) -> Intent:
    """A choice with its plan."""
    from rigup.plan.environments.made_for import made_for

    return of_plan(plan, made_for(choice.site))


def of_plan(plan: Plan, facts: dict[str, Any]) -> Intent:
    """A plan; `facts` of the machine that it was made for."""
    steps, place = plan.steps, plan.environment
    changes = any(of_environment(step) and step.state == "needed" for step in steps)
    stack = ", ".join(f"{name} {version}".strip() for name, version in plan.packages.items() if "[" not in name)
    return Intent(
        title=stack or ", ".join(plan.wish),
        steps=steps,
        asked={"folder": os.getcwd()},
        environment=os.path.abspath(place.path) if changes else "",
        told=_planned(plan, facts),
    )


def _planned(plan: Plan, facts: dict[str, Any]) -> Planned:
    """What the environment is to be: it has to hold all that was resolved, else the builds that were chosen."""
    resolved = plan.resolution.packages if plan.resolution else []
    exact = {name: version for name, version in plan.packages.items() if "[" not in name and version[:1].isdigit()}
    every = {package.name: package.version for package in resolved}
    sizes = {package.name: (package.size or 0, package.disk or 0) for package in resolved if (package.url or "").startswith("http")}
    return Planned(
        wish=plan.wish,
        packages=plan.packages,
        indexes=plan.indexes,
        variables=plan.variables,
        facts=facts,
        python=plan.environment.python,
        resolved=exact | every,
        sizes=sizes,
        whole=plan.resolution.whole if plan.resolution else False,
        before=plan.environment.installed,
    )


def of_lock(lock: "Lock", steps: list[Step], environment: str, site: "Site") -> Intent:
    """Exactly what a lock holds, in an environment at a path."""
    from rigup.plan.environments.made_for import made_for

    return Intent(
        title=", ".join(lock.wish) or _("an environment of a lock"),
        steps=steps,
        asked={"folder": os.getcwd()},
        environment=environment,
        told=Planned(
            wish=list(lock.wish),
            packages={package.name: package.version for package in lock.packages},
            facts=made_for(site),
            indexes=list(lock.indexes),
            variables=lock.variables,
            python=lock.python,
        ),
    )


def of_findings(findings: list[Finding], named: str) -> Intent:
    """The steps that mend findings; `named` is the environment that was meant, or ""."""
    by_id = {step.id: step for finding in findings for step in _first_way(finding)}
    steps = list(by_id.values())
    return Intent(
        title=", ".join(dict.fromkeys(finding.cause for finding in findings)),
        steps=steps,
        asked={"folder": os.getcwd()},
        environment=_environment(findings, steps, named),
    )


def _first_way(finding: Finding) -> list[Step]:
    """The steps of the first fix that can be taken here at all; else of the first."""
    fixes = finding.fixes
    best = next((fix for fix in fixes if any(map(can_be_taken, fix.steps))), fixes[0] if fixes else None)
    return best.steps if best else []


def can_be_taken(step: Step) -> bool:
    """Whether rigup can take a step, here and now."""
    return step.where == "here" and bool(step.commands) and step.state != "blocked"


def _environment(findings: list[Finding], steps: list[Step], named: str) -> str:
    """The environment that the steps change: the one that a finding is about, else the one that was meant."""
    if not any(map(of_environment, steps)):
        return ""
    paths = [*(finding.subject for finding in findings), named, os.environ.get("VIRTUAL_ENV", "")]
    existing = (path for path in paths if path and os.path.isfile(os.path.join(path, "pyvenv.cfg")))
    return next(map(os.path.abspath, existing), "")
