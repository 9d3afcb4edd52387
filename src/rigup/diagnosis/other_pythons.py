"""What another Python than the one that failed printed: its packages are not those of the program.

Which Python failed is told by the one folder of packages in a text's tracebacks and warnings, or by the program that names its own.
Another one was asked where its path was typed, where its own output or `which` shows another folder, or where a plain name
was typed at a prompt and the program that failed brings a Python of its own.
"""

import re
from typing import NamedTuple

from rigup.knowledge.own_pythons import own_python
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.runs import Run
from rigup.machine.texts import typed_part

_PACKAGES = r"(?P<prefix>(?:[A-Za-z]:[\\/]{1,2}|/|~/)[^\n\"'<>|*?()]{1,250}?)[\\/]{1,2}(?:lib(?:64)?/python3[\d.]*t?|[Ll]ib)[\\/]{1,2}site-packages\b"
_TRACED = lazy_regex(
    r"(?:File \"|^[ \t]{0,8})" + _PACKAGES + r"[^\n\"]{1,200}?\.py(?:\", line \d|:\d{1,6}: (?:\w*Warning|\w{1,20}Error))", re.MULTILINE
)
_SHOWN = lazy_regex(r"(?:^|[\s'\"(=])" + _PACKAGES, re.MULTILINE)
_NAMED = lazy_regex(
    r"^(?:venv \"|\*\* Python executable: )(?P<prefix>(?:[A-Za-z]:\\|/)[^\n\"]{1,250}?)(?:[\\/](?:Scripts|bin))?[\\/]python[\d.]*(?:\.exe)?\"?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_PYTHON = lazy_regex(
    r"(?i)(?:& ?)?[\"']?(?P<folder>(?:[^\s\"']{0,250}[\\/])?)(?P<name>python|pip|py)[\d.]{0,5}(?:\.exe)?[\"']?(?P<rest>\s.*)?"
)
_ASKS = lazy_regex(r"(?:-\w )?(?:-c |-m pip |-m torch|list\b|show\b|freeze\b|install\b|-V\b|--version\b)")
_LOOKED_UP = lazy_regex(
    r"(?:which|where(?:\.exe)?|type|command -v|gcm|Get-Command)(?: -\w)* (?P<names>(?:(?:python|pip)\d?(?:\.exe)? ?){1,4})$"
)
_ACTIVATED = lazy_regex(r"\bactivate\b|\bworkon\b|\b(?:conda|uv|poetry|pixi|hatch) (?:run|shell)\b")
_PROMPT = lazy_regex(r"\s*\((?P<name>[\w. -]{1,40})\)")
_OF_A_USER = ("/.local", "/usr", "/usr/local")


class Asked(NamedTuple):
    """Another Python that was asked: as it was typed on a line, the one that failed, and the lines of its answer, from 0."""

    typed: str
    failed: str
    at: int
    lines: range


def of_other_pythons(lines: list[str], runs: list[Run]) -> list[Asked]:
    """What other Pythons printed, where it is known which one failed."""
    failed = _that_failed("\n".join(lines))
    if not failed:
        return []
    session = _Session(lines, runs, failed)
    return [Asked(typed, failed, run.first, session.output(run)) for run in runs if (typed := session.another(run))]


def _that_failed(body: str) -> str:
    """The folder of the environment that fails, where the text tells of one alone; what a person's own folder holds belongs to several."""
    found = {_plain(match["prefix"]): match["prefix"] for form in (_TRACED, _NAMED) for match in form.finditer(body)}
    found = {plain: shown for plain, shown in found.items() if not plain.endswith(_OF_A_USER)}
    return found.popitem()[1] if len(found) == 1 else ""


def _plain(path: str) -> str:
    return re.sub(r"[\\/]+", "/", path).lower().rstrip("/")


class _Session:
    """A session in which one Python fails."""

    def __init__(self, lines: list[str], runs: list[Run], failed: str) -> None:
        self.lines, self.failed = lines, _plain(failed)
        self.is_own = own_python(failed) is not None
        self.looked_up = dict(pair for run in runs for pair in self._looked_up(run))
        self.activated = next((run.first for run in runs if _ACTIVATED.search(lines[run.first])), len(lines))
        self.plain_fails = any(self._fails_by_plain_name(run) for run in runs)

    def output(self, run: Run) -> range:
        """What follows the typed line, up to an empty one: what comes then are a person's words."""
        end = next((at for at in range(run.first + 2, run.end) if not self.lines[at].strip()), run.end)
        return range(run.first + 1, end)

    def another(self, run: Run) -> str:
        """How another Python was typed that a run asks of its packages; "" where it is the one that failed, or nobody knows."""
        typed = _PYTHON.fullmatch((typed_part(self.lines[run.first]) or "").strip())
        if typed is None or not _ASKS.match((typed["rest"] or "").lstrip()):
            return ""
        known = self._python_of(run, typed)
        is_another = not self._is_same(known) if known else self._is_the_shells(run) and not typed["folder"]
        return typed["folder"] + typed["name"] if is_another else ""

    def _python_of(self, run: Run, typed: re.Match[str]) -> str:
        """The folder of its environment: as typed, as it prints it, or as it was looked up."""
        if typed["folder"]:
            return re.sub(r"/(?:bin|scripts)/?$", "", _plain(typed["folder"]))
        told = {_plain(match["prefix"]) for match in _SHOWN.finditer(self._printed(run))}
        told = {prefix for prefix in told if not prefix.endswith(_OF_A_USER)}
        return told.pop() if len(told) == 1 else self.looked_up.get(typed["name"].lower(), "")

    def _is_same(self, known: str) -> bool:
        """Also where only the end of the path was typed."""
        end = re.sub(r"^(?:\.{0,2}|~)/", "", known)
        return self.failed == known or (not re.match(r"[a-z]:|/", known) and f"{self.failed}/".endswith(f"/{end}/"))

    def _is_the_shells(self, run: Run) -> bool:
        """Whether a plain name is the shell's own Python, and the one that failed a program's own."""
        prompt = _PROMPT.match(self.lines[run.first])
        names = self.failed.split("/")[-2:]
        entered = prompt is not None and prompt["name"].lower() in names
        return self.is_own and not entered and not self.plain_fails and run.first < self.activated

    def _fails_by_plain_name(self, run: Run) -> bool:
        typed = _PYTHON.fullmatch((typed_part(self.lines[run.first]) or "").strip())
        return typed is not None and not typed["folder"] and self.failed in _plain(self._printed(run))

    def _looked_up(self, run: Run) -> list[tuple[str, str]]:
        """What `which pip` names first."""
        asked = _LOOKED_UP.fullmatch((typed_part(self.lines[run.first]) or "").strip())
        found = [_PYTHON.fullmatch(line.strip()) for line in self._printed(run).split("\n")]
        names = asked["names"].split() if asked else []
        first = {
            match["name"].lower(): re.sub(r"/(?:bin|scripts)/?$", "", _plain(match["folder"]))
            for match in reversed(found)
            if match and match["folder"] and names
        }
        return list(first.items())

    def _printed(self, run: Run) -> str:
        return "\n".join(self.lines[run.first + 1 : run.end])
