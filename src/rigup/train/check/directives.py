"""`#SBATCH` lines as sbatch reads them: which it takes, which it passes over without a word, which it refuses.

Follows `_opt_batch_script` of Slurm's src/sbatch/opt.c: the magic word stands in the first column; the first line that is
neither blank nor a comment ends the directives.
"""

import re
import shlex

import msgspec

from rigup.train.check.options import Option, Program, program, taken, whole_name
from rigup.train.check.shell.words import Word

_MAGIC = "#SBATCH"
_LIKE = re.compile(r"^[ \t]*#?[ \t]*SBATCH\b[ \t]*(?P<rest>.*)$", re.IGNORECASE)
_AN_OPTION = re.compile(r"^(?:--?[A-Za-z]|[\u2010-\u2015\u2212])")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_MOST_LINES = 20_000


class Directive(msgspec.Struct, frozen=True, kw_only=True):
    """An option of a directive with its line."""

    name: str
    value: str | None
    line: int
    written: str


class Ignored(msgspec.Struct, frozen=True, kw_only=True):
    """A line that does not do what it seems to.

    Attributes:
        why: "after-command", "comment", "refused" or "misread".
        meant: the line as it should be; "" where that is not known.
        names: the options that it seems to give.

    """

    line: int
    why: str
    text: str
    meant: str = ""
    names: tuple[str, ...] = ()
    options: tuple[Directive, ...] = ()


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The directives of a batch script.

    Attributes:
        taken: what counts, in order; a later one of the same name wins.
        ignored: lines that do not count.
        components: how many parts a heterogeneous job has.
        command: the line of the first command; 0 where there is none.

    """

    taken: tuple[Directive, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    components: int = 1
    command: int = 0


def header(text: str) -> Header:
    """The directives of a batch script's text."""
    read = _Header()
    lines = text.split("\n")[:_MOST_LINES]
    read.shebang(lines[0] if lines else "")
    skip = _here_documents(lines)
    for number, line in enumerate(lines, 1):
        if number not in skip:
            read.line(number, line)
    return read.done()


def _here_documents(lines: list[str]) -> set[int]:
    """The numbers of lines that are the body of a here-document: another file's directives may stand there."""
    inside: set[int] = set()
    end = ""
    for number, line in enumerate(lines, 1):
        if end:
            inside.add(number)
            if line.strip() == end:
                end = ""
        elif (match := re.search(r"<<-?\s*[\"'\\]?([A-Za-z_]\w*)[\"']?", line)) and not line.lstrip().startswith("#"):
            end = match[1]
    return inside


class _Header:
    def __init__(self) -> None:
        self.known = program("sbatch")
        self.taken: list[Directive] = []
        self.ignored: list[Ignored] = []
        self.components, self.command, self.held, self.held_at = 1, 0, "", 0

    def shebang(self, line: str) -> None:
        if line.endswith("\r"):
            self.ignored.append(Ignored(line=1, why="refused", text=line, meant=line.rstrip("\r")))
        elif not line.startswith("#!"):
            self.ignored.append(Ignored(line=1, why="refused", text=line, meant="#!/bin/bash"))

    def line(self, number: int, line: str) -> None:
        if line.startswith(_MAGIC) and not self.command:
            self._directive(number, line.rstrip("\r"))
            return
        match = _LIKE.match(line)
        if match and not line.startswith("##"):
            self._like(number, line, match["rest"])
        elif not self.command and line.strip() and not line.startswith("#"):
            self.command = number

    def _directive(self, number: int, line: str) -> None:
        rest = line[len(_MAGIC) :]
        if self.held:
            rest, number = self.held + " " + rest.strip(), self.held_at
        if rest.rstrip().endswith("\\"):
            self.held, self.held_at = rest.rstrip()[:-1], number
            return
        self.held = ""
        words = split_words(rest)
        if words in (["hetjob"], ["packjob"]):
            self.components += 1
            return
        if self.components == 1:
            self._options(number, line, words)

    def _options(self, number: int, line: str, words: list[str]) -> None:
        corrected = _corrected(self.known, words)
        if corrected is not None:
            why = "misread" if _is_misread(words) else "refused"
            options = self._read(number, split_words(corrected))
            self.ignored.append(
                Ignored(
                    line=number,
                    why=why,
                    text=line,
                    meant=f"{_MAGIC} {corrected}" if corrected else "",
                    names=tuple(option.name for option in options),
                    options=tuple(options),
                )
            )
            return
        self.taken += self._read(number, words)

    def _read(self, number: int, words: list[str]) -> list[Directive]:
        return [
            Directive(name=_canonical(option), value=option.value, line=number, written=option.written)
            for option in taken(self.known, [Word(text=word, raw=word, line=number) for word in words])[0]
        ]

    def _like(self, number: int, line: str, rest: str) -> None:
        """A line that looks like a directive and is none: behind a command, or written otherwise."""
        magic = line.startswith(_MAGIC)
        bare = rest.strip()
        if not magic and not _AN_OPTION.match(bare):
            if not self.command and not line.lstrip().startswith("#"):
                self.command = number
            return
        mended = _corrected(self.known, split_words(bare)) or bare
        options = self._read(number, split_words(mended))
        why = "after-command" if magic else "comment"
        self.ignored.append(
            Ignored(
                line=number,
                why=why,
                text=line,
                meant=f"{_MAGIC} {mended}",
                names=tuple(option.name for option in options),
                options=tuple(options),
            )
        )
        if not self.command and not line.lstrip().startswith("#"):
            self.command = number

    def done(self) -> Header:
        """A comment that switches off what is given properly elsewhere, or that turns up behind a command, is no slip."""
        given = {option.name for option in self.taken}
        ignored = [each for each in self.ignored if each.why != "comment" or not each.names or not set(each.names) <= given]
        return Header(taken=tuple(self.taken), ignored=tuple(ignored), components=self.components, command=self.command)


def _canonical(option: Option) -> str:
    return {"tasks": "ntasks", "tasks-per-node": "ntasks-per-node", "workdir": "chdir", "share": "oversubscribe"}.get(
        option.name, option.name
    )


def split_words(text: str) -> list[str]:
    """The words of a directive: quotes hold together, a word that begins with # ends the line."""
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars="")
        lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
        words = list(lexer)
    except ValueError:
        words = text.split()
    cut = next((at for at, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:cut]


def _corrected(known: Program, words: list[str]) -> str | None:
    """The words as they should be; None where nothing is wrong with them, "" where nobody can tell."""
    corrected = list(_mended(known, words))
    return None if corrected == words else " ".join(shlex.quote(word) if " " in word else word for word in corrected)


def _mended(known: Program, words: list[str]) -> list[str]:
    corrected: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word[:1] and word[0] in _DASHES:
            word = "--" + word.lstrip(_DASHES + "-")
        if not word.startswith("-"):
            corrected += _bare(known, word, corrected)
        elif word.startswith("--"):
            corrected += _long(known, word, left)
        else:
            corrected += _short(known, word, left)
    return corrected


def _bare(known: Program, word: str, corrected: list[str]) -> list[str]:
    """A word without dashes: the value of the option before, an option without its dashes, or something else."""
    name = word.partition("=")[0].replace("_", "-")
    if "=" in word and name in known.every:
        return ["--" + name + word[word.index("=") :]]
    return [word] if corrected and corrected[-1].startswith("-") else ["--" + word] if name in known.every else [word]


def _long(known: Program, word: str, left: list[str]) -> list[str]:
    written, equals, value = word.partition("=")
    name = whole_name(known, written[2:])
    if name is None:
        near = _near(known, written[2:])
        if near is None:
            return [word]
        if not equals and left and not left[0].startswith(("-", "=")) and near in known.valued:
            return ["--" + near + "=" + left.pop(0)]
        written = "--" + near
        name = near
    if not equals and left and left[0].startswith("="):
        following = left.pop(0)[1:]
        return [written + "=" + (following or (left.pop(0) if left else ""))]
    if equals and not value and left and not left[0].startswith("-") and name in known.valued:
        return [written + "=" + left.pop(0)]
    if not equals and left and not left[0].startswith("-") and known.takes(name):
        return [written, left.pop(0)]
    return [written + equals + value]


def _near(known: Program, name: str) -> str | None:
    """The option that a name is a slip of."""
    dashed = name.replace("_", "-").lower()
    if dashed in known.every:
        return dashed
    import difflib

    near = difflib.get_close_matches(dashed, known.every, 1, cutoff=0.8)
    return near[0] if near else None


def _short(known: Program, word: str, left: list[str]) -> list[str]:
    """`-N2`, `-N 2`; `-nodes=2`, `-gres=gpu:1` and `-N=2` are something else than was meant."""
    letters, equals, value = word[1:].partition("=")
    if len(letters) > 2 and letters.replace("_", "-") in known.every:
        name = letters.replace("_", "-")
        if not equals and known.takes(name) and left and not left[0].startswith("-"):
            return ["--" + name + "=" + left.pop(0)]
        return ["--" + name + equals + value]
    if equals and len(letters) == 1 and letters in known.short:
        return ["-" + letters, value]
    if len(letters) == 1 and letters in known.short and known.takes(known.short[letters]) and left:
        return [word, left.pop(0)]
    return [word]


def _is_misread(words: list[str]) -> bool:
    """`-output=x` is taken as `-o utput=x`; others are refused."""
    return any(re.match(r"-(?:output|error|partition|job-name|account|time|qos|constraint|mail|chdir)\b", word) for word in words)
