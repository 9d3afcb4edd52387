"""What a shell, a service or a program's own file has to read so that an environment is in force there."""

import os
import re
from collections.abc import Callable, Mapping, Sequence

from rigup.language import _
from rigup.plan.environments.running import LIBRARIES, Surroundings

SHELLS = ("bash", "zsh", "sh", "fish", "csh", "tcsh", "powershell")


class CannotTell(ValueError):
    """A value that a shell cannot express; the text names it."""


def shell_of(variables: Mapping[str, str]) -> str:
    """The person's shell by its variable; "sh" if unknown."""
    name = re.sub(r"\.exe$", "", re.split(r"[/\\]", variables.get("SHELL", ""))[-1].lower())
    if name in SHELLS:
        return name
    return "powershell" if "PSModulePath" in variables and "SHELL" not in variables else "sh"


def exports(surroundings: Surroundings, shell: str, before: Mapping[str, str]) -> str:
    """Lines that the shell evaluates: `eval "$(rigup env --shell)"`, in fish `rigup env --shell fish | source`.

    Args:
        surroundings: what is to be in force.
        shell: one of SHELLS.
        before: the shell's variables as they are; csh cannot say "before what is there" itself.

    Raises:
        CannotTell: csh cannot express a value of several lines.

    """
    write = _WRITERS[shell]
    lines = [write.unset(name) for name in surroundings.unset]
    lines += [write.set(setting.name, setting.value) for setting in surroundings.variables]
    for name, folders in (("PATH", surroundings.path), (LIBRARIES, tuple(setting.value for setting in surroundings.libraries))):
        if folders and write is _CSH:
            lines.append(write.set(name, ":".join((*folders, *([before[name]] if before.get(name) else [])))))
        elif folders:
            lines.append(write.before(name, folders))
    return "".join(line + "\n" for line in lines)


class _Writer:
    """How one kind of shell sets, takes away, and puts folders before others."""

    def __init__(self, quote: Callable[[str], str], set_: str, unset: str, before: str, separator: str = ":", join: str = "") -> None:
        self._quote, self._set, self._unset, self._before = quote, set_, unset, before
        self._separator, self._join = separator, join

    def set(self, name: str, value: str) -> str:
        return self._set.format(name=name, value=self._quote(value))

    def unset(self, name: str) -> str:
        return self._unset.format(name=name)

    def before(self, name: str, folders: Sequence[str]) -> str:
        value = self._join.join(map(self._quote, folders)) if self._join else self._quote(self._separator.join(folders))
        return self._before.format(name=name, value=value)


def _sh(value: str) -> str:
    return "'" + value.replace("'", "'\"'\"'") + "'"


def _fish(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _csh(value: str) -> str:
    if "\n" in value:
        raise CannotTell(_("csh has no way to say a value of several lines."))
    return "'" + value.replace("'", "'\"'\"'").replace("!", "\\!") + "'"


def _powershell(value: str) -> str:
    quotes = "'\u2018\u2019\u201a\u201b"
    return "'" + "".join(letter * 2 if letter in quotes else letter for letter in value) + "'"


_POSIX = _Writer(_sh, "export {name}={value}", "unset {name}", 'export {name}={value}"${{{name}:+:${name}}}"')
_CSH = _Writer(_csh, "setenv {name} {value};", "unsetenv {name};", "")  # eval makes one line of all
_FISH = _Writer(_fish, "set -gx {name} {value}", "set -e {name}", "set -gx --path {name} {value} ${name}", join=" ")
_PWSH = _Writer(
    _powershell,
    "$env:{name} = {value}",
    "Remove-Item -ErrorAction SilentlyContinue Env:{name}",
    "$env:{name} = {value} + [IO.Path]::PathSeparator + $env:{name}",
    separator=os.pathsep,
)
_WRITERS = {**dict.fromkeys(("sh", "bash", "zsh"), _POSIX), **dict.fromkeys(("csh", "tcsh"), _CSH), "fish": _FISH, "powershell": _PWSH}


# -- services and files ------------------------------------------------------------------------------


def unit(name: str, variables: Mapping[str, str], command: Sequence[str], folder: str) -> str:
    """A systemd unit that runs a command; without one a drop-in that gives a service of that name the variables.

    Raises:
        CannotTell: a value or a word has signs that a unit cannot hold.

    """
    lines = [f"Environment={_of_unit(f'{key}={value}')}" for key, value in variables.items()]
    if not command:
        return "\n".join(["[Service]", *lines, ""])
    head = ["[Unit]", f"Description={_plain(name)}", "", "[Service]"]
    start = f"ExecStart={_program(command[0])}" + "".join(" " + _of_unit(word, "$") for word in command[1:])
    rest = [f"WorkingDirectory={_plain(folder).replace('%', '%%')}", start, "Restart=on-failure"]
    return "\n".join([*head, *lines, *rest, "", "[Install]", "WantedBy=default.target", ""])


def _program(path: str) -> str:
    """The program is taken as it stands, but for quotes and specifiers; signs before it would mean something."""
    return _of_unit(path)


def _of_unit(word: str, doubled: str = "") -> str:
    """One word of a unit; in a command line a dollar begins a variable."""
    escaped = _plain(word).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    for sign in doubled:
        escaped = escaped.replace(sign, sign * 2)
    return f'"{escaped}"'


def _plain(value: str) -> str:
    if not value.isprintable():
        raise CannotTell(_("{value} has signs that a line cannot hold.").format(value=repr(value)[:120]))
    return value


def dotenv(variables: Mapping[str, str]) -> str:
    """A `.env` file as docker compose, direnv, editors and python-dotenv read it. Raises CannotTell."""
    return "".join(f"{name}={_of_dotenv(value)}\n" for name, value in variables.items())


def _of_dotenv(value: str) -> str:
    """Bare where that is enough; in single quotes nothing is read but their end."""
    if re.fullmatch(r"[A-Za-z0-9_./:,@%+=-]*", _plain(value)):
        return value
    if "'" in value:
        raise CannotTell(_("{value} has a quote in it, which not all readers of .env files take.").format(value=repr(value)[:120]))
    return f"'{value}'"
