"""A plan as a shell script, to read, to keep, or to give to an administrator."""

import shlex
from typing import Any

from rigup.language import _
from rigup.plan.steps import steps
from rigup.stack.choice import Choice

_HEAD = """\
#!/bin/sh
# {title}
# {written}
set -eu

# What needs root is run by sudo, or as it is where root runs this.
as_root() {{
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}}
"""


def script(choice: Choice) -> str:
    """A POSIX script that takes every step which is not taken yet. A restart ends it: run it again afterwards."""
    stack = ", ".join(f"{name} {version}".strip() for name, version in choice.packages.items())
    title = _("Makes an environment with {stack}.").format(stack=stack)
    written = _("Written by rigup plan; read it before you run it.")
    needed = [step for step in steps(choice) if step["state"] != "satisfied"]
    body = "\n".join(_step(number, step) for number, step in enumerate(needed, 1))
    return _HEAD.format(title=_comment(title), written=_comment(written)) + "\n" + body + _variables(choice)


def _step(number: int, step: dict[str, Any]) -> str:
    lines = [f"# {number}. {_comment(step['title'])}"]
    if step["because"]:
        lines.append(f"#    {_comment(step['because'])}")
    lines += [_command(argv, step["root"]) for argv in step["commands"]]
    if not step["commands"] and step["kind"] != "set-environment-variable":
        told = _("To do by hand: {title}.").format(title=step["title"])
        lines.append(f"printf '%s\\n' {shlex.quote(told)}")
    if step["restart"] and step["commands"]:
        told = _("Restart the machine now, then run this script again.")
        lines += [f"printf '%s\\n' {shlex.quote(told)}", "exit 0"]
    return "\n".join(lines) + "\n"


def _command(argv: list[str], root: bool) -> str:
    return ("as_root " if root else "") + shlex.join(argv)


def _variables(choice: Choice) -> str:
    """What the environment sets whenever it is activated."""
    if not choice.variables:
        return ""
    from rigup.plan.environment import folder

    where = shlex.quote(folder(choice) + "/bin/activate")
    lines = [
        f"printf 'export %s=%s\\n' {shlex.quote(name)} {shlex.quote(value)} >> {where}"
        for name, value in choice.variables.items()
    ]
    return (
        "\n# "
        + _comment(_("The devices need these variables whenever the environment is used."))
        + "\n"
        + "\n".join(lines)
        + "\n"
    )


def _comment(text: str) -> str:
    """Text that stays within its line."""
    return " ".join(text.split())
