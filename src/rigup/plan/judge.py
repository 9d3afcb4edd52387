"""Whether a step is taken already, needed, or blocked; and why."""

from rigup.language import _
from rigup.plan.packages import Group, groups, plain
from rigup.plan.standing import stands
from rigup.schemas.shared import StepState
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.steps import Step


def state(step: Step, choice: Choice) -> tuple[StepState, str]:
    """The state of a step on the site, and why: "satisfied", "needed" or "blocked"."""
    if _satisfied(step, choice):
        return "satisfied", _("It is there already.")
    because = blocked(choice.site.but(root=False) if choice.wish.no_root else choice.site, step.root, step.network)
    return ("blocked", because) if because else ("needed", "")


def blocked(site: Site, root: bool, network: bool) -> str:
    """Why a step with these needs cannot be taken on a site, as a sentence; "" if it can."""
    if root and site.root is False:
        return _("It needs root, which this account does not have.")
    if network and site.network is False and (root or not site.sources.find_links):
        return _("It needs a network, and there is none.")  # packages in a folder need none
    return ""


def _satisfied(step: Step, choice: Choice) -> bool:
    site = choice.site
    if step.kind.startswith("make-"):
        return site.has_environment and site.python == choice.python
    if step.kind in ("install-into-environment", "install-with-uv", "install-with-conda"):
        return _installed(step, choice)
    if step.kind == "set-environment-variable":
        return site.variables.get(step.params["name"]) == step.params["value"]
    if step.kind in ("tell-proxy", "get-uv", "get-uv-alone"):
        return _not_wanted_any_more(step, choice)
    return stands(step, choice)


def _installed(step: Step, choice: Choice) -> bool:
    have = choice.site.installed if choice.site.python == choice.python else {}
    packages = step.params["packages"]
    if step.kind == "install-with-conda":
        matching = [group for group in groups(choice) if group.conda and set(group.conda) <= set(packages.split())]
    else:
        matching = [group for group in groups(choice) if " ".join(group.wanted) == packages][:1]
    return bool(matching) and bool(have) and all(_is_met(want, have) for group in matching for want in group.wanted)


def _is_met(wanted: str, have: dict[str, str]) -> bool:
    """A requirement is met by what is installed; a pinned version without a local part by any build of it."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    if "://" in wanted:  # a file by its address: its name begins with the package's
        return canonicalize_name(wanted.rpartition("/")[2].partition("-")[0]) in map(canonicalize_name, have)
    requirement = Requirement(wanted)
    version = {canonicalize_name(name): release for name, release in have.items()}.get(canonicalize_name(plain(requirement.name)))
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def _not_wanted_any_more(step: Step, choice: Choice) -> bool:
    """What only the installation needs is needless when that is done."""
    done: list[Group] = groups(choice)
    have = choice.site.installed
    return step.kind in ("get-uv", "get-uv-alone") and bool(have) and all(_is_met(want, have) for group in done for want in group.wanted)
