"""Which Python ran: `sys.executable` in a notebook and in a shell, and `which python`."""

import re
from collections.abc import Iterator

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.kinds import JupyterKernel, PythonEnv
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Hit, Text

_PATH = r"['\"]?(?P<path>(?:[A-Za-z]:[\\/]{1,2}|/)[^\n'\"]{1,300}?python[\d.]{0,5}(?:\.exe)?)['\"]?[ \t]*$"
_GAP = r"[^\n]{0,80}\n(?:[ \t]*\n)?[ \t]*(?P<out>Out ?\[\d{1,4}\]: ?)?"
_ASKED = r"^(?P<asked>[^\n]{0,80}?)\bsys\.executable\b"
_NOTEBOOK = lazy_regex(r"jupyter|notebook|kernel|ipython|\bIn ?\[|colab|vs ?code|\bcell\b", re.IGNORECASE)


@reads(marks=("sys.executable",), adds=(JupyterKernel, PythonEnv), rank=0)
def executables(text: Text) -> Statements:
    """What is asked of a notebook's cell tells its kernel; what a shell's Python says is the environment in force."""
    for hit in text.each(_ASKED + r"(?P<behind>" + _GAP + ")" + _PATH):
        line = hit["asked"] + hit["behind"].partition("\n")[0]
        if _NOTEBOOK.search(line) or hit["out"]:
            yield hit.states(JupyterKernel, name="notebook", python=_plain(hit["path"]), prefix=prefix_of(hit["path"]))
        elif re.search(r"python|terminal|shell|console|prompt|conda|venv|>>>", line, re.IGNORECASE):
            yield from _in_force(hit)


@reads(marks=("which python", "where python", "command -v python"), adds=(PythonEnv,), rank=0)
def which_python(text: Text) -> Statements:
    """`$ which python` and what it printed; a cell's `!which python` asks the shell below it."""
    for hit in text.each(r"^[^\n!]{0,100}?(?:which|where|command -v) python[\d.]{0,4}[ \t]*\n[ \t]*" + _PATH):
        yield from _in_force(hit)


def _in_force(hit: Hit) -> Iterator[Fact]:
    if prefix := prefix_of(hit["path"]):
        yield hit.states(PythonEnv, prefix=prefix, active=True)


def _plain(path: str) -> str:
    return path.replace("\\\\", "\\")


def prefix_of(path: str) -> str | None:
    """The environment of an interpreter: two folders up, on Windows one."""
    plain = _plain(path)
    unix = re.fullmatch(r"(/.{1,300}?)/bin/python[\d.]{0,5}", plain)
    windows = re.fullmatch(r"([A-Za-z]:[\\/].{1,300}?)[\\/](?:Scripts[\\/])?python\.exe", plain)
    prefix = unix or windows
    return prefix[1] if prefix else None
