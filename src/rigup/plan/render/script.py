"""A plan as a script, to read, to keep, or to give to an administrator: for a POSIX shell, or for PowerShell."""

import shlex
from collections.abc import Callable

from rigup.language import _
from rigup.plan.steps import steps
from rigup.schemas.shared import Argv, Step
from rigup.stack.choice import Choice

_BARRIER = "restart-machine"
_HEAD = """\
#!/bin/sh
# {title}
# {written}
set -eu
"""
_AS_ROOT = """
# What needs root is run by sudo, or as it is where root runs this.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}
"""


def script(choice: Choice) -> str:
    """A script that takes every step which is not taken yet. A restart ends a part of it; the next part follows by number."""
    needed = [step for step in steps(choice) if step.state != "satisfied"]
    if not needed:
        return _nothing(choice)
    if choice.site.system == "windows":
        return _powershell(choice, needed)
    head = _HEAD.format(title=_comment(_title(choice)), written=_comment(_written()))
    if any(step.root and _runs(step) for step in needed):
        head += _AS_ROOT
    return head + "\n" + "\n".join(_parts(needed))


def _nothing(choice: Choice) -> str:
    """Nothing is left to do: a comment says so, in either shell."""
    lines = [] if choice.site.system == "windows" else ["#!/bin/sh"]
    sentence = _("Nothing is to be done: all of it is there already.")
    return "\n".join([*lines, "# " + _comment(_title(choice)), "# " + _comment(sentence), ""])


def _title(choice: Choice) -> str:
    pins = [f"{name} {version}".strip() for name, version in choice.packages.items()]
    stack = ", ".join(pins or choice.requirements)
    return _("Makes an environment with {stack}.").format(stack=stack)


def _written() -> str:
    return _("Written by rigup plan; read it before you run it.")


def _parts(needed: list[Step]) -> list[str]:
    """The steps, cut where the machine has to be restarted."""
    parts: list[list[str]] = [[]]
    for number, step in enumerate(needed, 1):
        if step.kind == _BARRIER:
            parts.append([])
        else:
            parts[-1].append(_step(number, step))
    last = len(parts)
    return [_part(number, "\n".join(part), last) for number, part in enumerate(parts, 1)]


def _part(number: int, body: str, last: int) -> str:
    if number == last:
        return body
    sentence = _("Restart the machine now, and then run this script with {number}:").format(number=number + 1)
    ending = f"printf '%s\\n' {shlex.quote(sentence)} \"    sh $0 {number + 1}\"\nexit 0\n"
    return f'if [ "${{1:-1}}" -le {number} ]; then\n{body}\n{ending}fi\n'


def _runs(step: Step) -> bool:
    return bool(step.commands) and step.where == "here" and step.state == "needed"


def _step(number: int, step: Step) -> str:
    lines = _heading(number, step)
    if _runs(step):
        lines += [line for argv in step.commands for line in _command(argv, step.root)]
    else:
        lines += [f"printf '%s\\n' {shlex.quote(line)}" for line in _by_hand(step, shlex.join)]
    return "\n".join(lines) + "\n"


def _command(argv: Argv, root: bool) -> list[str]:
    """A command's line. The inner shell of `sh -c` is to read what stands in its quotes."""
    line = ("as_root " if root else "") + shlex.join(argv)
    return ["# shellcheck disable=SC2016", line] if root and argv[:2] == ("sh", "-c") else [line]


def _heading(number: int, step: Step) -> list[str]:
    lines = [f"# {number}. {_comment(step.title)}"]
    return [*lines, f"#    {_comment(step.because)}"] if step.because else lines


def _by_hand(step: Step, joined: Callable[[Argv], str]) -> list[str]:
    """What the script cannot do: it says what is left, where, and by which commands."""
    where = {
        "host-of-container": _("On the machine that runs this container: {title}."),
        "windows-host": _("On Windows: {title}."),
        "every-node": _("On every node: {title}."),
        "every-gpu-node": _("On every node with a GPU: {title}."),
    }.get(step.where, _("To do by hand: {title}."))
    sentence = where.format(title=_comment(step.title))
    if step.state == "blocked":
        sentence += " " + _comment(step.because)
    return [sentence, *("    " + _comment(joined(argv)) for argv in step.commands)]


def _comment(text: str) -> str:
    """Text that stays within its line."""
    return " ".join(text.split())


# -- PowerShell --------------------------------------------------------------------------------------


def _powershell(choice: Choice, needed: list[Step]) -> str:
    lines = [f"# {_comment(_title(choice))}", f"# {_comment(_written())}", "$ErrorActionPreference = 'Stop'", ""]
    for number, step in enumerate(needed, 1):
        lines += _heading(number, step)
        if _runs(step):
            for argv in step.commands:
                lines += ["& " + " ".join(map(_single, argv)), "if ($LASTEXITCODE) { exit $LASTEXITCODE }"]
        else:
            lines += ["Write-Output " + _single(line) for line in _by_hand(step, _words)]
        lines.append("")
    return "\n".join(lines)


def _words(argv: Argv) -> str:
    return " ".join(argv)


def _single(word: str) -> str:
    """A word in single quotes, within which PowerShell reads nothing but them."""
    quotes = "'\u2018\u2019\u201a\u201b"
    return "'" + "".join(letter * 2 if letter in quotes else letter for letter in word) + "'"
