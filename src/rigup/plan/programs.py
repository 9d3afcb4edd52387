"""Steps for a program that is had from its repository: its code beside the environment, what it requires inside."""

from collections.abc import Iterator

from rigup.language import _
from rigup.plan.packages import pinned, plain
from rigup.stack.choice import Choice
from rigup.stack.programs import asked_for
from rigup.steps import Step, make, make_as


def steps(choice: Choice, python: str) -> Iterator[Step]:
    """Fetch the code and install what it requires, with the Python of the environment. Raises KnowledgeError."""
    because = _("{title} is a program and no package: it runs from its own folder.")
    for row in (program for program in asked_for(choice.wish.asked()) if program.steps and choice.wish.manager in ("venv", "conda")):
        reason = because.format(title=row.title)
        folder = row.url.rpartition("/")[2]
        yield make("clone-program", {"url": row.url, "folder": folder}, because=reason)
        file = f"{folder}/{row.requirements}"
        params = {"python": python, "requirements": file}
        argv = (python, "-m", "pip", "install", "-r", file, *_pins(choice))
        yield make_as("install-requirements", params, (argv,), because=reason)


def _pins(choice: Choice) -> tuple[str, ...]:
    """What the program may not replace: the builds that were chosen, which are there by then."""
    return tuple(pinned(plain(name), version) for name, version in choice.packages.items() if version[:1].isdigit())
