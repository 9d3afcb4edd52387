"""Where something was seen: in a container, in a virtual machine, in a WSL."""

from typing import Any

from rigup.diagnosis.rule import Every
from rigup.machine.facts import Fact
from rigup.machine.kinds import Platform

WSL = (1, 2)


def inside(seen_there: Fact | Every[Any]) -> bool:
    """Whether something was seen in a container; so is a service that runs in one."""
    return seen_there.place.world.partition(":")[0] == "container"


def is_virtual(platform: Platform | None) -> bool:
    """Whether this is a virtual machine other than WSL's."""
    return bool(platform and platform.get("hypervisor") and not platform.get("wsl"))
