"""`rigup doctor` as it is mostly typed, understood without click: its import takes a tenth of what the doctor takes.

Whatever else is typed is left to click, and so is all that is wrong.
"""

import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

from rigup.cli import doctor_answer
from rigup.language import choose

_JSON, _WAKE = "--json", "--wake"
_VERBOSE = {"-v": 1, "-vv": 2, "--verbose": 1}
_FROM = "--from"


class Request(NamedTuple):
    """The options of `rigup doctor` that are understood here, by the names of the command's parameters."""

    source: str | None = None
    as_json: bool = False
    verbose: int = 0
    wake: bool = False


def understood(argv: Sequence[str]) -> Request | None:
    """What is asked for; None where click has to tell. On Windows it also makes colours, and names of patterns."""
    if os.name != "posix" or list(argv[:1]) != ["doctor"]:
        return None
    request, words = Request(), list(argv[1:])
    while words:
        word = words.pop(0)
        name, is_given, value = word.partition("=")
        if word == _JSON:
            request = request._replace(as_json=True)
        elif word == _WAKE:
            request = request._replace(wake=True)
        elif word in _VERBOSE:
            request = request._replace(verbose=request.verbose + _VERBOSE[word])
        elif name == _FROM and request.source is None and (value or words):
            request = request._replace(source=value if is_given else words.pop(0))
        else:
            return None
    return None if request.source == "" or (request.source or "").startswith("--") else request


def run(request: Request) -> int:
    """Print the doctor's answer; the exit status. Raises WorkflowError."""
    choose("en" if request.as_json else None)  # data is the same in every language
    answer = doctor_answer.look(request.source, request.wake)
    shown = doctor_answer.shareable(answer)
    report = doctor_answer.rendered(shown, request.as_json, request.verbose, request.source is None)
    sys.stdout.write(report + "\n")
    sys.stdout.flush()
    return doctor_answer.status(answer)
