"""Commands of steps as a person types them, and where that is done."""

import shlex
from collections.abc import Iterable, Sequence

from rigup.knowledge.patterns import lazy_regex
from rigup.language import _
from rigup.schemas.shared import Step, StepPlace


def place(step: Step) -> str:
    """Where a step is done, "" for here."""
    windows = _("on the Windows side, as administrator") if step.root else _("on the Windows side")
    others = {
        "host-of-container": _("on the container's host"),
        "every-node": _("on every node"),
        "every-gpu-node": _("on every node with a GPU"),
    }
    return {**others, "windows-host": windows}.get(step.where, "")


def commands(step: Step) -> list[str]:
    """The commands of a step as a person types them."""
    return typed(step.commands, step.where, step.root)


def typed(commands: Iterable[Sequence[str]], where: StepPlace, root: bool = False) -> list[str]:
    """Commands as a person types them there; Windows asks for an administrator's terminal instead of sudo."""
    windows = where == "windows-host"
    return [("sudo " if root and not windows else "") + _shell_text(argv, windows) for argv in commands]


_WINDOWS_PATH = lazy_regex(r"(?:[A-Za-z]:|\.{0,2})\\\w")
_SHELL_SIGNS = lazy_regex(r"[<>&|^();,]")  # PowerShell parts words at a comma
_OF_ONE_SHELL = lazy_regex(r'["$`\\!%]')  # what some shells read within double quotes, too


def _shell_text(argv: Sequence[str], windows: bool) -> str:
    """Words as shells take them: those of Windows know no single quotes, and its paths have the sign with which others escape."""
    if windows or any(_WINDOWS_PATH.match(word.removeprefix("!")) for word in argv):
        return " ".join(map(_of_windows, argv))
    return " ".join(_of_the_shell(word) if argv[0] == "export" else _quoted(word) for word in argv)


# A list of folders with one before the rest; nothing else of a shell's is left unquoted.
_LISTS = lazy_regex(r"(?P<name>[A-Z_]{2,40})=(?P<value>[\w./+@~-]{1,400}\$\{(?P=name):\+:\$(?P=name)\})")


def _of_the_shell(word: str) -> str:
    listed = _LISTS.fullmatch(word)
    return f'{listed["name"]}="{listed["value"]}"' if listed else _quoted(word)


def _of_windows(word: str) -> str:
    """As its programs take a word apart; < and its like are the shell's own outside quotes."""
    from subprocess import list2cmdline  # nobody else needs it here

    if word.startswith("!") and len(word) > 1:
        return "!" + _of_windows(word[1:])  # a notebook's own sign before a program
    spelt = list2cmdline([word])
    return f'"{word}"' if spelt == word and _SHELL_SIGNS.search(word) else spelt


def _quoted(word: str) -> str:
    """In double quotes, which every shell takes alike, unless one of them reads something in it."""
    if word.startswith("!") and len(word) > 1:
        return "!" + _quoted(word[1:])  # a notebook's own sign before a program
    if word.startswith("~/"):
        return "~/" + _quoted(word[2:])  # which no shell looks up within quotes
    quoted = shlex.quote(word)
    return quoted if quoted == word or _OF_ONE_SHELL.search(word) else f'"{word}"'
