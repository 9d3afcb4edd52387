"""Takes the steps of a file as `rigup fix` would: a process of its own, so that tests can kill it."""

import json
import sys
from typing import Any

import click
import msgspec

from rigup.cli.taking import RunOptions, go, resumed
from rigup.plan.applying.journal import Intent


def main(path: str, how: str) -> int:
    """Take what the file says (`go`), or go on with the last run (`resume`); as `rigup fix --json` would (`data`, `foreseen`)."""
    data = how in ("data", "foreseen")
    options = RunOptions(yes=True, dry_run=how == "foreseen", quiet=True, as_json=data, schema="rigup.fix/1")
    if how == "resume":
        return resumed(options)
    with open(path, encoding="utf-8") as file:
        told: dict[str, Any] = json.load(file)
    return go(msgspec.convert(told, Intent), options)


def ended(path: str, how: str) -> int:
    """The same, where a run ends as a command does."""
    try:
        return main(path, how)
    except click.exceptions.Exit as told:
        return told.exit_code


if __name__ == "__main__":
    sys.exit(ended(sys.argv[1], sys.argv[2]))
