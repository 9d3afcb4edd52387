"""What steps of a build install: packages of Python with where they come from, and packages of the system."""

import re
from collections.abc import Callable, Iterator

import msgspec
from packaging.utils import canonicalize_name

from rigup.container.lint.recipe import Command, Instruction, Stage

_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?:@\s*\S+|([<>=!~].*)?)")
_VALUED = {
    "-i",
    "--index-url",
    "--extra-index-url",
    "-r",
    "--requirement",
    "-c",
    "--constraint",
    "-f",
    "--find-links",
    "-t",
    "--target",
    "--prefix",
    "--index",
    "--python",
    "--root",
    "-n",
    "--name",
    "--channel",
    "--trusted-host",
    "--platform",
    "--python-version",
}
_SYSTEM = ("apt-get", "apt", "dnf", "yum", "zypper", "apk", "microdnf", "tdnf", "aptitude")


class Install(msgspec.Struct, frozen=True, kw_only=True):
    """One call of an installer of Python packages.

    Attributes:
        wanted: names in their canonical form, each with what its version is to be ("==2.8.0"); paths and addresses as they stand.
        indexes: addresses.
        options: words that begin with a dash.
        files: of requirements. constrained: a file of constraints is in force.

    """

    tool: str
    step: Instruction
    command: Command
    wanted: dict[str, str]
    indexes: tuple[str, ...]
    options: tuple[str, ...]
    files: tuple[str, ...]
    constrained: bool

    def has(self, *options: str) -> bool:
        """One of these options stands there, whatever its value."""
        return any(option.partition("=")[0] in options for option in self.options)


def installs(stage: Stage, read: Callable[[str], str]) -> Iterator[Install]:
    """The installers' calls of a stage's own steps; `read` gives the text of a file beside, "" for none."""
    known: dict[str, str] = {}
    for step in stage.all:
        if step.name in ("ENV", "ARG"):
            known |= step.assigned
        own = any(other is step for other in stage.body)
        for command in step.commands if step.name == "RUN" and own else ():
            if (found := _install(step, command, known, read)) is not None:
                yield found


def _install(step: Instruction, command: Command, known: dict[str, str], read: Callable[[str], str]) -> Install | None:
    tool, words = _tool(command)
    if not tool:
        return None
    wanted: dict[str, str] = {}
    indexes = [known[name] for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX") if known.get(name)]
    options, files, constrained = [], [], "PIP_CONSTRAINT" in known
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("-"):
            wanted |= _requirements(word)
            continue
        name, equals, value = word.partition("=")
        options.append(word)
        if name in _VALUED and not equals and at < len(words):
            value = words[at]
            at += 1
        if name in ("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index"):
            indexes.append(value)
        elif name in ("-r", "--requirement"):
            files.append(value)
        constrained |= name in ("-c", "--constraint")
    for file in files:
        _add_file(read(file), wanted, indexes)
    return Install(
        tool=tool,
        step=step,
        command=command,
        wanted=wanted,
        indexes=tuple(indexes),
        options=tuple(options),
        files=tuple(files),
        constrained=constrained,
    )


def _add_file(text: str, wanted: dict[str, str], indexes: list[str]) -> None:
    """What a file of requirements asks for."""
    for line in text.splitlines():
        plain = line.split("#")[0].split(";")[0].strip()
        if plain.startswith(("--index-url", "--extra-index-url")):
            indexes.append(plain.replace("=", " ").split()[-1])
        elif plain and not plain.startswith("-"):
            wanted |= _requirements(plain)


def _tool(command: Command) -> tuple[str, tuple[str, ...]]:
    """The installer and the words behind `install`."""
    words = command.words
    name = command.name
    if name in ("python", "python3") or re.fullmatch(r"python3\.\d+", name):
        if words[1:3] != ("-m", "pip"):
            return "", ()
        words, name = ("pip", *words[3:]), "pip"
    elif name == "uv":
        if words[1:2] != ("pip",):
            return "", ()
        words = ("uv", *words[2:])
    elif re.fullmatch(r"pip3?(?:\.\d+)?", name):
        name = "pip"
    elif name not in ("conda", "mamba", "micromamba"):
        return "", ()
    rest = [word for word in words[1:] if word not in ("-y", "-q", "--yes", "--quiet")]
    return (name, tuple(rest[1:])) if rest[:1] == ["install"] else ("", ())


def _requirements(word: str) -> dict[str, str]:
    if "/" in word.split("@", maxsplit=1)[0].split("[", maxsplit=1)[0] or word.startswith(".") or "://" in word or word.endswith(".whl"):
        name, at, _address = word.partition(" @ ")
        return {canonicalize_name(name.strip()): "@"} if at else {word: ""}
    found = _REQUIREMENT.fullmatch(word.replace("::", "-"))
    return {canonicalize_name(found[1]): (found[2] or "").strip()} if found else {}


def of_system(step: Instruction) -> Iterator[str]:
    """Packages of the system that a step installs."""
    for command in step.commands if step.name == "RUN" else ():
        if command.name in _SYSTEM and any(word in ("install", "add", "in") for word in command.words[1:4]):
            yield from (word for word in command.words[1:] if not word.startswith("-") and word not in ("install", "add", "in"))


def in_venv(stage: Stage, command: Command) -> bool:
    """The call goes into an environment of its own."""
    if "/" in command.words[0] and re.search(r"venv|/env/|/opt/(?!conda)[\w.-]+/bin/", command.words[0]):
        return True
    for step in stage.all:
        if step.name == "ENV":
            variables = step.assigned
            if variables.get("VIRTUAL_ENV") or re.search(
                r"(?:venv|\benv|\.env)\w*/bin|conda/(?:envs/[\w.-]+/)?bin|mamba|miniforge", variables.get("PATH", "")
            ):
                return True
    return False
