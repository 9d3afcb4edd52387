"""Text that would command a terminal or a reader's eye, and how the tests see that none of it came through."""

import io
import re
import sys

from rigup.cli import run
from rigup.visible import UNFIT

ST = "\x1b\\"
MARK = "hostile"
COMMANDS = {
    "clipboard": f"\x1b]52;c;cm0gLXJmIC8={ST}{MARK}",
    "clipboard that BEL ends": f"\x1b]52;c;cm0gLXJmIC8=\x07{MARK}",
    "link": f"\x1b]8;;http://evil.example{ST}{MARK}\x1b]8;;{ST}",
    "title": f"\x1b]0;{MARK}\x07x",
    "reset": f"\x1bc{MARK}",
    "screen": f"\x1b[2J\x1b[1;1H{MARK}",
    "hidden": f"\x1b[8;35;5m{MARK}\x1b[0;7m",
    "one byte CSI": f"\x9b2J{MARK}",
    "one byte OSC": f"\x9d52;c;eA==\x9c{MARK}",
    "device": f"\x1bP+q544e{ST}{MARK}",
    "picture": f"\x1b_Gf=100;AAAA{ST}{MARK}",
    "message": f"\x1b^{MARK}{ST}x",
    "never ends": f"\x1b]8;;{MARK}",
    "back": f"well\r{MARK}\x08\x08\x7f\x0b\x0c",
    "turned round": f"\u202e{MARK}\u2066\u2069\u200f\u061c",
    "lines": f"{MARK}\u2028x\u2029x\x85x",
    "unseen": f"{MARK}\u200b\u2060\ufeff\xad\U000e0041",
    "number of our own styles": f"\x1b[1000000000000000;1m{MARK}",
}
ALL = " ".join(COMMANDS.values())
# Those that a file's name or an argument can hold as well: no line feed and no NUL is among them.
NAME = "n" + COMMANDS["clipboard"].replace("/", "") + COMMANDS["one byte CSI"] + COMMANDS["turned round"] + "\u2028"

_OWN = re.compile(r"\x1b\[(?:0|1|2|22|3[1236])m|\r\x1b\[2K")
_UNFIT = re.compile(f"[{UNFIT}]")


def commands_in(said):
    """What a terminal or an eye would obey, but for the colours that rigup itself may write."""
    own = _OWN.sub("", said)
    return [(found[0], own[max(0, found.start() - 40) : found.end() + 40]) for found in _UNFIT.finditer(own)]


class Screen(io.StringIO):
    """An output that says of itself that it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


def seen_on_terminals(monkeypatch, argv, typed=""):
    """What a command prints where both outputs are terminals: status, output and errors."""
    out, err = Screen(), Screen()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(sys, "stdin", Screen(typed) if typed else io.StringIO())
    try:
        status = run(argv)
    except SystemExit as end:
        status = end.code
    return status, out.getvalue(), err.getvalue()
