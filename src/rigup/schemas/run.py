"""`rigup run --json`: what would be set for a program, and why."""

from msgspec import Struct


class Setting(Struct, frozen=True, kw_only=True):
    """A variable that is set.

    Attributes:
        name: of the variable.
        value: that it gets.
        because: why, as a sentence.

    """

    name: str
    value: str
    because: str


class Run(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.run/1"):
    """What would be set for a program; nothing is run.

    Attributes:
        environment: its folder; None for none.
        path: folders that go before all others on PATH.
        unset: variables that are taken away.
        variables: that are set.
        libraries: folders that go before all others on the loader's path, as settings of it.

    """

    environment: str | None
    path: list[str]
    unset: list[str]
    variables: list[Setting]
    libraries: list[Setting]
