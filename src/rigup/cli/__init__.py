"""The command line. All commands stand in `commands`; what is mostly asked for is understood without click (`plain`)."""

from typing import Any

from rigup.cli.guard import guarded

_OF_COMMANDS = ("COMMANDS", "SECTIONS", "Commands", "main")


def run(argv: list[str]) -> int:
    """Run one command line. 0: all well; 1: a problem was found; 2: wrong usage or our own failure."""
    from rigup.cli import plain

    with guarded():
        request = plain.understood(argv)
        if request is None:
            from rigup.cli import commands

            return commands.run(argv)
        try:
            return plain.run(request)
        except (Exception, KeyboardInterrupt) as error:
            from rigup.cli import commands

            return commands.failed(error, argv)


def __getattr__(name: str) -> Any:
    """What `commands` holds, for who asks for it here."""
    if name not in _OF_COMMANDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rigup.cli import commands

    return getattr(commands, name)
