"""The steps that lead from what is there to what was chosen, as pure data."""

from collections.abc import Iterator

from msgspec import structs

from rigup.plan import containers, environment, network, system
from rigup.plan.judge import state
from rigup.stack.choice import Choice
from rigup.steps import Step

_IN_IMAGES = ("docker", "apptainer")


def steps(choice: Choice) -> list[Step]:
    """In the order in which they are taken; each with its state: satisfied, needed or blocked."""
    if not choice.possible:
        return []
    return [_judged(step, choice) for step in _all(choice)]


def _all(choice: Choice) -> Iterator[Step]:
    yield from system.steps(choice)
    if choice.wish.manager in _IN_IMAGES:
        yield from network.proxy_steps(choice, network.programs_of_work(choice))
        yield from containers.image_steps(choice)
    else:
        yield from environment.steps(choice)


def _judged(step: Step, choice: Choice) -> Step:
    how, because = state(step, choice)
    return structs.replace(step, state=how, because=because if how == "blocked" else step.because or because)
