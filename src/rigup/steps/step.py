"""A step: a kind, its parameters, and what follows from them."""

import re
from collections.abc import Mapping

import msgspec

from rigup.knowledge.patterns import lazy_regex
from rigup.language import _
from rigup.schemas.shared import Step, StepPlace
from rigup.steps.forms import odd
from rigup.steps.kinds import Commands, Kind, Where, step_kinds

_HOLE = lazy_regex(r"\{(\w+)\}")
_HOLES = lazy_regex(r"\{(\w+)[*|]?\}")
_INITRAMFS = ("@initramfs",)
_AS_WRITTEN = lazy_regex(r"\{(\w+[*|]?)\}")


class StepError(ValueError):
    """A step that the vocabulary does not know, or one without a parameter that it needs."""


def parse(spec: str, fill: Mapping[str, str] | None = None) -> tuple[str, dict[str, str]]:
    """`kind name=value …` in parts. Holes are filled after the words are split: data adds no word.

    Raises KeyError for a hole that `fill` does not know, StepError for a word that is no `name=value`.
    """
    kind, *words = spec.split()
    params = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise StepError(_("{word} in the step {spec} is not name=value.").format(word=word, spec=spec))
        params[name] = _HOLE.sub(lambda hole: (fill or {})[hole[1]], value)
    return kind, params


def make(name: str, params: dict[str, str], world: str = "", wsl: bool = False, because: str = "", distribution: str = "") -> Step:
    """A step of a kind. `world` and `wsl` tell from where it is seen: what is done to a kernel is done at its owner's.

    `distribution` is the ID of the os-release where it is done; it decides the system's own commands.
    Raises StepError for an unknown kind, a missing parameter, or one of a form that no command is made of.
    """
    kind = _kind(name, params)
    commands = _fill(kind.commands, params, distribution)
    return Step(
        kind=name,
        id=":".join((name, *params.values())),
        params=params,
        title=_(kind.title).format_map(_spaced(kind, params)),
        because=because,
        where=_place(kind.where, world, wsl),
        root=kind.root,
        network=kind.network,
        restart=kind.restart,
        tag=kind.tag,
        commands=commands,
        undo=None if kind.undo is None else _fill(kind.undo, params, distribution),
        undo_because=_(kind.undo_because) if kind.undo_because else "",
        writes=tuple(path for (path,) in _fill(tuple((path,) for path in kind.writes), params, distribution)),
    )


def _spaced(kind: Kind, params: Mapping[str, str]) -> dict[str, str]:
    """The parameters as a sentence has them: a list of names with spaces between."""
    lists = {hole[:-1] for hole in _used_holes(kind, params) if hole.endswith("*")}
    return {name: re.sub(r",(?=\S)", ", ", value) if name in lists else value for name, value in params.items()}


def _kind(name: str, params: Mapping[str, str]) -> Kind:
    """The kind of that name, if it can be made with these parameters; else StepError."""
    kind = step_kinds().get(name)
    if kind is None:
        raise StepError(_("There is no step of the kind {name}.").format(name=name))
    if missing := [param for param in kind.params if not params.get(param)]:
        raise StepError(_("The step {name} needs {missing}.").format(name=name, missing=", ".join(missing)))
    if wrong := odd(name, _used_holes(kind, params), params, kind.root):
        sentence = _("The step {name} is not made with {value}: that is no {parameter} as commands take it.")
        value = params[wrong[0]][:80]
        raise StepError(sentence.format(name=name, value=repr(value), parameter=wrong[0]))
    return kind


def _used_holes(kind: Kind, params: Mapping[str, str]) -> list[str]:
    """The holes of commands and files that these parameters fill, as they are written."""
    words = (*(word for argv in (*kind.commands, *(kind.undo or ())) for word in argv), *kind.writes)
    holes = dict.fromkeys(hole for word in words for hole in _AS_WRITTEN.findall(word))
    return [hole for hole in holes if hole.rstrip("*|") in params]


def make_as(
    name: str,
    params: dict[str, str],
    commands: Commands,
    undo: Commands | None = None,
    *,
    writes: tuple[str, ...] = (),
    world: str = "",
    wsl: bool = False,
    because: str = "",
    distribution: str = "",
) -> Step:
    """A step of a kind whose argument vectors, and files, stand in a table, or are worked out; see `make`."""
    step = make(name, params, world, wsl, because, distribution)
    undo = step.undo if undo is None else undo
    return msgspec.structs.replace(step, commands=commands, undo=undo, writes=writes or step.writes)


def _place(where: Where, world: str, wsl: bool) -> StepPlace:
    if where == "host-of-container" and world == "host":
        return "here"
    if where != "kernel":
        return where
    if world.startswith("container"):
        return "host-of-container"
    return "windows-host" if wsl else "here"


def _fill(commands: Commands, params: dict[str, str], distribution: str) -> Commands:
    """Commands with their holes filled; `{names*}` gives one argument for each name of a list, `{words|}` for each word."""
    own = [_own_words(command, params, distribution) for argv in commands for command in _recipe(argv, distribution)]
    return tuple(
        tuple(argument for word in argv for argument in _words(word, params))
        for argv in own
        if argv and all(hole in params for word in argv for hole in _HOLES.findall(word))
    )


def _recipe(argv: tuple[str, ...], distribution: str) -> Commands:
    """What @container-toolkit alone stands for: no package manager's one word, a source is added first. Else the command itself."""
    if argv != ("@container-toolkit",):
        return (argv,)
    from rigup.knowledge.surroundings import container_toolkit

    recipe = container_toolkit(distribution)
    return tuple(map(tuple, recipe.commands)) if recipe else ()


def _own_words(argv: tuple[str, ...], params: dict[str, str], distribution: str) -> tuple[str, ...]:
    """The system's own words for @install and its like; nothing where they are not known."""
    if not any(word.startswith("@") for word in argv):
        return argv
    from rigup.knowledge.package_managers import headers_package, initramfs_anywhere, package_manager

    system = package_manager(distribution)
    if system is None:
        return initramfs_anywhere() if argv == _INITRAMFS else ()
    own = {
        "@install": system.install,
        "@remove": system.remove,
        "@upgrade": system.upgrade,
        "@initramfs": system.initramfs,
        "@keeper": system.keeper,
        "@keep:{name}": system.keep,
        "@let-go:{name}": system.let_go,
        "@keep-driver": system.keep_driver,
        "@let-go-driver": system.let_go_driver,
        "@headers": [headers_package(params.get("kernel", ""), system)],
    }
    return tuple(replacement for word in argv for replacement in own.get(word, [word]))


def _words(word: str, params: dict[str, str]) -> list[str]:
    if word.endswith("|}"):
        return params[word[1:-2]].split()
    if word.endswith("*}"):
        return [name.strip() for name in params[word[1:-2]].split(",") if name.strip()]
    return [_HOLE.sub(lambda hole: params[hole[1]], word)]
