"""The stack that is chosen, as a value: what, for which devices, why, and why nothing newer."""

import msgspec

from rigup.stack.candidate import Change, Served
from rigup.stack.remedies import Remedy
from rigup.stack.resolution import Resolution
from rigup.stack.site import Device, Site
from rigup.stack.weigh import Judged
from rigup.stack.wish import Wish


class TurnedDown(msgspec.Struct, frozen=True, kw_only=True):
    """Builds that were not taken, and why.

    Attributes:
        candidate: one build, or a range of them.

    """

    candidate: str
    because: str
    source: str = ""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to a wish.

    Attributes:
        chosen: the builds that are taken, one for each framework of the wish; empty where none can be.
        packages: exact versions as pip takes them.
        requirements: what was asked for beside, which the tables do not know: left to the installer.
        held: what packages that stay in the environment want of those that come, as bounds.
        variables: what the environment must set.
        devices: each device with whether it is served.
        others: devices that are left out, with the choice that would serve them in an environment of their own.
        remedy: what would make the whole wish possible; None where nothing is known or nothing is needed.
        resolution: what a resolver made of it; None where none was asked.

    """

    wish: Wish
    site: Site
    chosen: tuple[Judged, ...] = ()
    packages: dict[str, str] = {}
    requirements: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    python: str = ""
    changes: tuple[Change, ...] = ()
    devices: tuple[tuple[Device, Served], ...] = ()
    turned_down: tuple[TurnedDown, ...] = ()
    remedy: Remedy | None = None
    others: tuple["Choice", ...] = ()
    warnings: tuple[str, ...] = ()
    resolution: Resolution | None = None

    @property
    def smallest_change(self) -> str:
        """What would make the whole wish possible, as a sentence; "" where nothing is known or needed."""
        return self.remedy.text if self.remedy else ""

    @property
    def possible(self) -> bool:
        """Something can be installed: there is a build, and no resolver says that it cannot be had with the rest."""
        return bool(self.chosen) and not (self.resolution and self.resolution.refused)
