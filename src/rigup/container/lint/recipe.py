"""Dockerfiles and Apptainer definitions as stages of instructions, each with its lines. Heredocs are followed, which no parser in reach does."""

import json
import re
import shlex
from collections.abc import Iterator
from functools import cached_property

import msgspec

_MOST = 20_000  # lines
_HEREDOC = re.compile(r"<<-?\s*([\"']?)([A-Za-z_]\w*)\1")
_FLAG = re.compile(r"--[a-z][\w-]*(?:=(?:\"[^\"]*\"|\S)*)?\s+")
_NAME = re.compile(r"\$(?:\{(\w+)(?::?[-+?]([^}]*))?\}|(\w+))")
_WORDS = re.compile(r"&&|\|\||[;\n|&]")
_SECTION = re.compile(r"%(\w+)(?:\s.*)?")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class Command(msgspec.Struct, frozen=True):
    """A simple command of a shell: variables that are set for it alone, and its words."""

    variables: dict[str, str]
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    @property
    def text(self) -> str:
        """All of it in one line."""
        return " ".join(self.words)


class Instruction(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One instruction: its name in capitals, what stands behind it, and its first and last line, from 1."""

    name: str
    value: str
    first: int
    last: int
    flags: tuple[str, ...] = ()
    heredoc: str = ""

    @cached_property
    def exec_form(self) -> list[str] | None:
        """The words of the form that no shell reads; None for the other."""
        try:
            document = json.loads(self.value) if self.value.lstrip().startswith("[") else None
        except ValueError:
            return None
        return [str(word) for word in document] if isinstance(document, list) else None

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The simple commands that it runs."""
        if self.exec_form is not None:
            return (Command({}, tuple(self.exec_form)),)
        return tuple(commands(self.heredoc or self.value))

    @cached_property
    def assigned(self) -> dict[str, str]:
        """What ENV and LABEL set; ARG with its default."""
        words = split(self.value)
        if self.name == "ENV" and words and "=" not in words[0]:
            return {words[0]: " ".join(words[1:])}
        return {name: value for name, equals, value in (word.partition("=") for word in words) if equals or self.name == "ARG"}

    def flag(self, name: str) -> str | None:
        """The value of `--name=`; None where it is not there."""
        return next((flag.partition("=")[2] for flag in self.flags if flag.partition("=")[0] == "--" + name), None)


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """From one FROM to the next. `parent` is the stage that it stands on, if it stands on one."""

    base: str
    name: str
    start: Instruction
    body: tuple[Instruction, ...]
    parent: "Stage | None" = None

    @property
    def chain(self) -> tuple["Stage", ...]:
        """Itself behind the stages that it stands on."""
        return (*(self.parent.chain if self.parent else ()), self)

    @property
    def root(self) -> str:
        """The image beneath all."""
        return self.chain[0].base

    @property
    def all(self) -> tuple[Instruction, ...]:
        """The instructions of the whole chain, in order."""
        return tuple(instruction for stage in self.chain for instruction in stage.body)


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """What an image is made by."""

    stages: tuple[Stage, ...]
    arguments: tuple[Instruction, ...] = ()
    definition: bool = False

    def target(self, name: str = "") -> Stage | None:
        """The stage that becomes the image: the one that is named, else the last."""
        found = [stage for stage in self.stages if name and stage.name == name]
        return found[0] if found else self.stages[-1] if self.stages else None


def split(text: str) -> list[str]:
    """Words as a shell tells them apart; by blanks where quotes are not closed."""
    try:
        return shlex.split(text.replace("\n", " "))
    except ValueError:
        return text.split()


def commands(text: str) -> Iterator[Command]:
    """The simple commands of a shell's text: quotes are kept together, what is between `&&`, `;` and lines is one each."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    comment = False  # shlex would take the end of the line with it
    try:
        for token in lexer:
            if token and set(token) <= set("();|&\n"):
                comment = comment and "\n" not in token
                if not comment:
                    yield from _command(words)
                    words = []
            elif comment or token.startswith("#"):
                comment = True
            else:
                words.append(token)
    except ValueError:  # a quote that nobody closes
        for part in _WORDS.split(text):
            yield from _command(part.split())
        return
    yield from _command(words)


def _command(words: list[str]) -> Iterator[Command]:
    variables = {}
    keywords = ("if", "then", "else", "do", "done", "fi", "{", "}", "!", "while", "for", "time", "exec", "sudo", "export")
    rest = list(words)
    while rest:
        if found := _ASSIGNED.fullmatch(rest[0]):
            variables[found[1]] = found[2]
        elif rest[0] not in keywords:
            break
        rest.pop(0)
    if rest or variables:
        yield Command(variables, tuple(rest))


def resolved(text: str, known: dict[str, str]) -> str:
    """A text with its variables filled; what nobody knows stays."""
    return _NAME.sub(lambda hole: known.get(hole[1] or hole[3]) or hole[2] or hole[0], text)


# -- Dockerfiles -----------------------------------------------------------------------------------------


def dockerfile(text: str) -> Recipe:
    """A Dockerfile's stages."""
    stages: list[Stage] = []
    arguments: list[Instruction] = []
    known: dict[str, str] = {}
    body: list[Instruction] = []
    start: Instruction | None = None
    for instruction in (*_instructions(text), None):
        if instruction is None or instruction.name == "FROM":
            if start is not None:
                stages.append(_stage(start, body, stages, known))
            start, body = instruction, []
        elif start is None:
            arguments.append(instruction)
            known |= {name: value for name, value in instruction.assigned.items() if instruction.name == "ARG" and value}
        else:
            body.append(instruction)
    return Recipe(stages=tuple(stages), arguments=tuple(arguments))


def _stage(start: Instruction, body: list[Instruction], before: list[Stage], known: dict[str, str]) -> Stage:
    words = start.value.split()
    base = resolved(words[0] if words else "", known)
    name = words[2] if len(words) > 2 and words[1].lower() == "as" else ""
    parent = next((stage for stage in reversed(before) if stage.name and stage.name.lower() == base.lower()), None)
    return Stage(base=base, name=name, start=start, body=tuple(body), parent=parent)


def _instructions(text: str) -> Iterator[Instruction]:
    lines = text.splitlines()[:_MOST]
    escape = "`" if re.search(r"^#\s*escape\s*=\s*`", text[:500], re.MULTILINE) else "\\"
    at = 0
    while at < len(lines):
        first, plain = at + 1, lines[at].strip()
        at += 1
        if not plain or plain.startswith("#"):
            continue
        parts = [plain]
        while parts[-1].endswith(escape) and at < len(lines):
            parts[-1] = parts[-1][:-1]
            following = lines[at].strip()
            at += 1
            parts.append(following if following and not following.startswith("#") else escape)
        body = " ".join(part for part in parts if part != escape)
        name, _blank, value = body.partition(" ")
        flags = []
        value = value.strip()
        while found := _FLAG.match(value + " "):
            flags.append(found[0].strip())
            value = value[found.end() :].strip() if found.end() <= len(value) else ""
        inside = []
        if name.upper() in ("RUN", "COPY", "ADD"):
            for mark in [match[2] for match in _HEREDOC.finditer(value)]:
                while at < len(lines) and lines[at].strip() != mark:
                    inside.append(lines[at])
                    at += 1
                at += 1
        yield Instruction(name=name.upper(), value=value, first=first, last=at, flags=tuple(flags), heredoc="\n".join(inside))


# -- Apptainer definitions -------------------------------------------------------------------------------


def definition(text: str) -> Recipe:
    """An Apptainer definition, as a recipe of one stage: %post is a step a line."""
    head: dict[str, tuple[str, int]] = {}
    body: list[Instruction] = []
    section = ""
    for number, line in _joined(text):
        plain = line.strip()
        if found := _SECTION.fullmatch(plain.split("\n")[0]):
            section = found[1].lower()
        elif not plain or plain.startswith("#"):
            continue
        elif not section and ":" in plain:
            key, _colon, value = plain.partition(":")
            head[key.strip().lower()] = (value.strip(), number)
        elif section:
            body += _of_section(section, plain, number, number + line.count("\n"))
    base, at = head.get("from", ("", 1))
    remote = head.get("bootstrap", ("docker", 1))[0].lower() in ("docker", "oras", "library", "shub")
    start = Instruction(name="FROM", value=base, first=at, last=at)
    return Recipe(stages=(Stage(base=base if remote else "scratch", name="", start=start, body=tuple(body)),), definition=True)


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines with those that go on from them."""
    lines = text.splitlines()[:_MOST]
    at = 0
    while at < len(lines):
        first, line = at + 1, lines[at]
        while line.rstrip().endswith("\\") and at + 1 < len(lines):
            at += 1
            line = line.rstrip()[:-1] + "\n" + lines[at]
        at += 1
        yield first, line


_SECTIONS = {"post": "RUN", "environment": "ENV", "files": "COPY", "runscript": "RUNSCRIPT", "startscript": "RUNSCRIPT"}


def _of_section(section: str, plain: str, first: int, last: int) -> Iterator[Instruction]:
    name = _SECTIONS.get(section)
    if name is None:
        return
    value = plain.replace("\n", " ")
    if name == "ENV":
        value = value.removeprefix("export ").strip()
    if name == "RUN" and (found := re.fullmatch(r"export ([A-Za-z_]\w*=.*)", value)):
        yield Instruction(name="ENV", value=found[1], first=first, last=last, flags=("--while-building",))
        return
    yield Instruction(name=name, value=value, first=first, last=last)
