"""Steps that set a proxy or a mirror in programs, each in its own way."""

import re
from collections.abc import Iterable, Iterator

from rigup.knowledge.holes import filled
from rigup.knowledge.mirrors import mirrored
from rigup.knowledge.package_managers import package_manager
from rigup.knowledge.surroundings import proxy as proxy_row
from rigup.language import _
from rigup.stack.choice import Choice
from rigup.steps import Step, make_as

_ADDRESS = re.compile(r"(?:https?|socks[45]h?)://[A-Za-z0-9.-]{1,253}(?::\d{1,5})?/?|\[[0-9a-fA-F:]{2,45}\](?::\d{1,5})?")
_SECRET = re.compile(r"(?<=://)[^/@\s]{1,500}@")
_OF_FAMILIES = {"debian": "apt", "fedora": "dnf"}
HUB = "HF_ENDPOINT"


def proxy_steps(choice: Choice, programs: Iterable[str], python: str = "") -> Iterator[Step]:
    """Tell programs the person's proxy; what reads the variables of the shell needs no step.

    An address with a password, or with signs that mean something in a configuration, is told by hand.

    Raises:
        KnowledgeError: the table is malformed.

    """
    address = choice.site.sources.proxy
    for program in programs if address else ():
        row = proxy_row(program)
        if row is None:
            continue
        plain = _ADDRESS.fullmatch(address)
        values = {"proxy": address, "python": python}
        commands, undo = (filled(row.commands, values), filled(row.undo, values)) if plain else ((), ())
        kind = "tell-proxy-as-root" if row.root else "tell-proxy"
        params = {"program": program, "proxy": masked(address)}
        yield make_as(kind, params, commands, undo, writes=tuple(row.writes), because=row.what)


def masked(address: str) -> str:
    """An address without the name and password that may stand in it."""
    return _SECRET.sub("…@", address)


def programs_of_system(choice: Choice) -> tuple[str, ...]:
    """Programs that root starts, and that so do not see the variables of a person's shell."""
    manager = package_manager(choice.site.distribution)
    return tuple(_OF_FAMILIES[manager.family] for _one in (1,) if manager and manager.family in _OF_FAMILIES)


def programs_of_work(choice: Choice) -> tuple[str, ...]:
    """Programs that the work itself asks for packages."""
    return {"conda": ("conda",), "docker": ("docker",)}.get(choice.wish.manager, ())


def variables(choice: Choice) -> dict[str, tuple[str, str]]:
    """Variables of the environment with the reason for each: what the devices need, and where models come from."""
    because = _("The devices need it; it is set in this environment alone.")
    settings = {name: (value, because) for name, value in choice.variables.items()}
    if choice.wish.mirror and (hub := mirrored(choice.wish.mirror, "hub")):
        settings[HUB] = (hub, _("Models come from the mirror that was asked for; a token is never sent there by rigup."))
    return settings
