"""The answer of `rigup plan`, as data in the shape of `rigup.schemas.plan`. Nothing is printed here."""

from typing import Literal

import msgspec
from msgspec import UNSET

from rigup.plan.environments import rigup_torch
from rigup.plan.packages import name_of
from rigup.plan.served_devices import device_json
from rigup.schemas import plan
from rigup.stack.choice import Choice
from rigup.stack.frameworks.torch import COMPANIONS
from rigup.steps import Step
from rigup.version import __version__


def answer(choice: Choice, link: int = 0) -> plan.Plan:
    """A choice with its steps, as a plan; `link`: bits a second, 0 if unknown."""
    from rigup.plan.cost import cost
    from rigup.plan.environment import folder
    from rigup.plan.mends import mends
    from rigup.plan.steps import steps

    planned_steps = steps(choice)
    return plan.Plan(
        verdict=verdict(choice, planned_steps),
        wish=list(choice.wish.packages),
        environment=_environment(choice, folder(choice)),
        packages=named_plainly({**choice.packages, **_companion_versions(choice)}),
        requirements=list(choice.requirements),
        resolution=_resolution(choice),
        indexes=list(choice.indexes),
        variables=choice.variables,
        system=[plan.Change(change=change.change, from_=change.have, to=change.to, why=change.why) for change in choice.changes],
        devices=[device_json(device, served) for device, served in choice.devices],
        turned_down=[
            plan.TurnedDown(candidate=rejected.candidate, because=rejected.because, source=rejected.source)
            for rejected in choice.turned_down
        ],
        mends=mends(choice, planned_steps),
        smallest_change=choice.smallest_change or None,
        others=[answer(other, link) for other in choice.others],
        warnings=list(choice.warnings),
        assumed=list(choice.site.assumed),
        cost=cost(choice, planned_steps, link),
        steps=planned_steps,
    )


def _environment(choice: Choice, path: str) -> plan.Place:
    """Where it comes to be: the system that it is on, channels of conda, and the image beneath."""
    from rigup.stack.inside import IMAGES, image

    in_image = choice.chosen and choice.wish.manager in IMAGES
    return plan.Place(
        manager=choice.wish.manager,
        path=path,
        python=choice.python,
        system=choice.site.system,
        channels=list(dict.fromkeys(judged.build.channel for judged in choice.chosen if judged.build.channel)),
        installed=sorted(choice.site.installed),
        image=image(choice.site, choice.chosen[0].build, choice.python) if in_image else UNSET,
    )


def _companion_versions(choice: Choice) -> dict[str, str]:
    """What was asked for beside and what comes along of torch's family, with the versions that the resolver found."""
    names = (*COMPANIONS, *(name_of(requirement) for requirement in choice.requirements))
    versions = {name: choice.resolution.version(name) for name in names} if choice.resolution else {}
    own = {rigup_torch.NAME: __version__} if choice.wish.with_rigup else {}
    return {name: version for name, version in versions.items() if version} | own


def _resolution(choice: Choice) -> plan.Resolution | None:
    """The whole set, by whom it was resolved, and what of it is not."""
    resolution = choice.resolution
    if resolution is None:
        return None
    packages = [
        {key: value for key, value in msgspec.structs.asdict(package).items() if value or key in ("name", "version")}
        for package in resolution.packages
    ]
    return plan.Resolution(
        by=resolution.by or None,
        whole=resolution.whole,
        because=list(resolution.because),
        refused=resolution.refused or None,
        packages=msgspec.convert(packages, list[plan.Package]),
    )


def verdict(choice: Choice, steps: list[Step]) -> Literal["ready", "possible", "impossible"]:
    """Ready: nothing is left to do."""
    if not choice.possible:
        return "impossible"
    return "ready" if all(step.state == "satisfied" for step in steps) else "possible"


def named_plainly(packages: dict[str, str]) -> dict[str, str]:
    """A package with an extra stands under its own name too: both are what is installed."""
    return packages | {name.partition("[")[0]: version for name, version in packages.items()}
