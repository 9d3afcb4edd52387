"""Hosted notebooks: which service a machine is of, and what it grants."""

from collections.abc import Mapping

import msgspec

from rigup.knowledge import tables


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """A service that lends notebooks.

    Attributes:
        variables: any of them tells it.
        home: a home folder that tells it; "" where none does.
        session_hours: after which a session ends; 0 where no number is promised.
        idle_minutes: after which a session that is left alone ends; 0 where no number is promised.
        kept: folders that outlast a session.
        is_root: the person may install packages of the system.

    """

    id: str
    name: str
    variables: tuple[str, ...] = ()
    home: str = ""
    session_hours: int = 0
    idle_minutes: int = 0
    kept: tuple[str, ...] = ()
    is_root: bool = False
    source: str = ""


@tables.remembered
def telling_variables() -> frozenset[str]:
    """All variables that tell a service. Raises KnowledgeError: the table is malformed."""
    return frozenset(name for row in tables.rows("hosted_notebooks", "service", Service) for name in row.variables)


def hosted(variables: Mapping[str, str | None]) -> Service | None:
    """The service by whose variables a machine is known; None for none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows("hosted_notebooks", "service", Service):
        if any(name in variables for name in row.variables) or (row.home and variables.get("HOME") == row.home):
            return row
    return None
