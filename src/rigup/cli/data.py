"""Answers as data: the one place where an answer becomes JSON, without what is private."""

from typing import Any

import msgspec


def data_text(answer: Any, with_values: bool = False) -> str:
    """The answer, plain or of its type, as JSON; `with_values`: with all that was read, for whoever owns the machine."""
    from rigup.machine.outward import outward

    plain = msgspec.to_builtins(answer, enc_hook=str) if isinstance(answer, msgspec.Struct) else answer
    shown = plain if with_values else outward(plain)
    return indented(shown)


def json_line(answer: msgspec.Struct) -> str:
    """The answer as one line of JSON, for a stream of them."""
    import json

    from rigup.machine.outward import outward

    return json.dumps(outward(msgspec.to_builtins(answer)), ensure_ascii=False)


def indented(shown: Any) -> str:
    """What json.dumps writes with an indent of one blank, several times faster: C encodes it in one line, C indents the line.

    What is no JSON in the strict sense (NaN, half of a surrogate pair) is left to json.dumps alone.
    """
    import json

    try:
        return msgspec.json.format(json.dumps(shown, ensure_ascii=False, default=str), indent=1)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return json.dumps(shown, ensure_ascii=False, indent=1, default=str)
