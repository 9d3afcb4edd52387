"""What NVIDIA's own builds for its modules take from the system."""

from collections.abc import Iterator

from rigup.knowledge.jetson import jetson_wheels
from rigup.language import _
from rigup.plan.place import system_packages
from rigup.stack.choice import Choice
from rigup.steps import Step

_IN_IMAGES = ("docker", "apptainer")


def steps(choice: Choice) -> Iterator[Step]:
    """Libraries that such a build is linked against and does not bring. Raises KnowledgeError for a malformed table."""
    site = choice.site
    if not site.jetpack or site.root is False or choice.wish.manager in _IN_IMAGES:
        return
    chosen = {judged.build.packages.get("torch", "") for judged in choice.chosen}
    needed = next((row.before for row in jetson_wheels(site.jetpack) if row.torch in chosen and row.before), [])
    if needed:
        because = _("NVIDIA's build of torch for this module is linked against them.")
        yield system_packages(needed, site, because)
