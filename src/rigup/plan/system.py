"""Steps outside the environment: drivers, toolkits, systems."""

from collections.abc import Iterator

from rigup.stack.candidate import Change
from rigup.stack.choice import Choice
from rigup.steps import KINDS, Step, make


def steps(choice: Choice) -> Iterator[Step]:
    """One or more for each change that the choice asks of the system."""
    for change in choice.changes:
        yield from _of(change, choice)


def _of(change: Change, choice: Choice) -> Iterator[Step]:
    site = choice.site
    if change.change in ("nvidia-driver", "windows-driver"):
        yield make(
            "install-driver", {"vendor": "NVIDIA", "branch": change.to}, KINDS, "container" if site.container else "host",
            site.wsl or site.system == "windows", change.why, site.distribution,
        )  # fmt: skip
    elif change.change == "python":
        yield make("get-python", {"python": change.to}, KINDS, because=change.why)
    elif change.change == "toolkit":
        yield make("install-toolkit", {"version": change.to}, KINDS, because=change.why)
