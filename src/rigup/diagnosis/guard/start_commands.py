"""The command that started a container or a job, as the text shows it, with the option that a way asks for."""

import shlex

from msgspec import structs

from rigup.diagnosis.guard.setting import Setting
from rigup.knowledge.patterns import lazy_regex
from rigup.steps import Commands, Step

_OPTIONS = ("container-option", "batch-option")
_ENGINES = ("docker", "podman", "nerdctl")
_SCHEDULERS = ("sbatch", "srun", "salloc")
_STARTERS = (*_ENGINES, *_SCHEDULERS, "apptainer", "singularity")
_VERBS = ("run", "exec", "shell", "create")
_HERE = lazy_regex(r"\$PWD\b|\$\{PWD\}|\$\(pwd\)|`pwd`|%cd%|\$\{?pwd\}?")
_OF_A_SHELL = lazy_regex(r"[$`]|\\\Z")  # what a shell makes of it nobody can say
_SIGNS = ";|&<>"  # with which a shell ends a command
_ALL_RIGHTS = "--privileged"
_ONCE = (
    "--shm-size",
    "--ipc",
    "--gpus",
    "--runtime",
    "--platform",
    "--network",
    "--gres",
    "--gpus-per-node",
    "--gpu-bind",
    "--partition",
)
_INSTEAD_OF = {"--gpus-per-node": ("--gres",), "--gres": ("--gpus-per-node", "--gpus", "-G"), "--partition": ("-p",)}


def in_the_start_command(steps: list[Step], setting: Setting) -> list[Step]:
    """Options within the one command that was seen to start it; in words, where none was or several."""
    return [
        structs.replace(step, commands=_with(step.params["option"], step.kind, setting) or step.commands)
        if step.kind in _OPTIONS and not step.commands
        else step
        for step in steps
    ]


def _with(option: str, kind: str, setting: Setting) -> Commands:
    commands = {typed for line in setting.starts if (typed := _words(line, kind))}
    if len(commands) != 1 or _OF_A_SHELL.search(option):
        return ()
    words = list(commands.pop())
    at = next(place for place, word in enumerate(words) if word in _STARTERS)
    verb = (
        at
        if kind == "batch-option"
        else next((place for place, word in enumerate(words) if place > at and word in _VERBS), -1)
    )
    if verb < 0:
        return ()
    wanted = shlex.split(option)
    rest = _without(words[verb + 1 :], [word.partition("=")[0] for word in wanted])
    name = _value_of("--name", rest) if words[at] in _ENGINES and "--rm" not in rest else ""
    engine = words[: at + 1]
    freed = [(*engine, "stop", name), (*engine, "rename", name, f"{name}-before")] if name else []
    return (*freed, (*words[: verb + 1], *wanted, *rest))


def _words(line: str, kind: str) -> tuple[str, ...]:
    """The command's words; none where a shell would have to read it, or where it is none of that kind."""
    plain = _HERE.sub(".", line.replace("\\\n", " ")).strip()
    if _OF_A_SHELL.search(plain):
        return ()
    reader = shlex.shlex(plain, posix=True, punctuation_chars=_SIGNS)
    reader.whitespace_split, reader.commenters = True, ""
    try:
        every = list(reader)
    except ValueError:
        return ()
    end = next((place for place, word in enumerate(every) if set(word) <= set(_SIGNS)), len(every))
    redirects = end < len(every) and ">" in every[end] and every[end - 1].isdigit()  # `2>&1`
    words = tuple(every[: end - redirects])
    mine = bool(set(words[:3]).intersection(_SCHEDULERS)) == (kind == "batch-option")
    return words if mine and _ALL_RIGHTS not in words else ()


def _without(words: list[str], names: list[str]) -> list[str]:
    """The words without an earlier value of an option that is said once."""
    gone = [name for name in names if name in _ONCE]
    gone += [other for name in gone for other in _INSTEAD_OF.get(name, ())]
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in gone:
            skip = True
        elif word.partition("=")[0] not in gone:
            kept.append(word)
    return kept


def _value_of(name: str, words: list[str]) -> str:
    for place, word in enumerate(words):
        if word.startswith(name + "="):
            return word.partition("=")[2]
        if word == name and place + 1 < len(words):
            return words[place + 1]
    return ""
