"""A pyproject.toml: what the project needs, and from where by uv's and Poetry's own tables."""

import os
import tomllib
from collections.abc import Iterator
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from rigup.language import _
from rigup.stack import poetry, uv_tables
from rigup.stack.requirement_files import read_whole
from rigup.stack.terms import Asked, Terms, WishError, together

_LONGEST_NAME = 100
_OTHER_TOOLS = {"pdm": ("source", "dev-dependencies"), "pixi": ("dependencies", "pypi-dependencies", "feature", "target")}
"""Tables of other tools that say where packages come from, or which: nobody would keep them here."""

_PLACES = frozenset(
    (
        "index-url",
        "index_url",
        "extra-index-url",
        "extra-index-urls",
        "extra_index_url",
        "extra_index_urls",
        "find-links",
        "find_links",
        "no-index",
        "no_index",
    )
)
"""Fields of any tool that say where packages come from."""
_READ = ("uv", "poetry")  # read by their own modules, which refuse what they cannot keep

Table = dict[str, Any]


def of_project(path: str, parts: tuple[str, ...] = ()) -> Asked:
    """What a project asks for.

    Args:
        path: its pyproject.toml.
        parts: extras and groups that are asked for too.

    Raises:
        WishError: it cannot be read, or holds what cannot be kept.

    """
    document = read(path)
    project, tools = _table(document, "project", path), _table(document, "tool", path)
    for name, fields in _OTHER_TOOLS.items():
        _none_of(_table(tools, name, path), fields, f"{path} [tool.{name}]")
    _no_places({name: held for name, held in tools.items() if name not in _READ}, path)
    groups = _table(document, "dependency-groups", path)
    sources = [_of_project(project, groups, parts, path), uv_tables.of_uv(_table(tools, "uv", path), path)]
    of_poetry = _table(tools, "poetry", path)
    alone = "dependencies" not in project and "dependencies" in of_poetry
    sources.append(poetry.of_poetry(of_poetry, path, alone))
    whole = together(sources)
    names: set[str] = {canonicalize_name(word.name) for word in _requirements(whole.words, path)}
    uv_tables.all_by_name(_table(tools, "uv", path), names, path)
    poetry.all_by_name(of_poetry, names, path)
    if not whole.words:
        raise WishError(_("{path} names no packages that the project needs.").format(path=path))
    return whole


def read(path: str) -> Table:
    """The file as plain values. Raises WishError."""
    body = read_whole(path)
    try:
        return tomllib.loads(body.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise WishError(_("{path} is no TOML file: {error}.").format(path=path, error=str(error)[:200])) from error


def _table(table: Table, name: str, path: str) -> Table:
    inner = table.get(name, {})
    if not isinstance(inner, dict):
        raise WishError(_("{path}: {field} is of another form.").format(path=path, field=name))
    return inner


def _none_of(table: Table, fields: tuple[str, ...], where: str) -> None:
    if refused := [name for name in fields if table.get(name)]:
        template = _("{where}: {field} cannot be kept by rigup. Name the packages in a requirements.txt.")
        raise WishError(template.format(where=where, field=refused[0]))


def _no_places(tools: Table, path: str) -> None:
    """Refuse a tool's table that says where packages come from: a private name would be asked of a public index."""
    left = [(f"tool.{name}", held) for name, held in tools.items()]
    while left:
        where, held = left.pop()
        inner = held.items() if isinstance(held, dict) else list(enumerate(held)) if isinstance(held, list) else ()
        sources = isinstance(held, list) and any(isinstance(row, dict) and "://" in str(row.get("url")) for row in held)
        if sources or any(name in _PLACES for name, _value in inner):
            template = _("{where}: {field} cannot be kept by rigup. Name the packages in a requirements.txt.")
            raise WishError(template.format(where=path, field=where[:_LONGEST_NAME]))
        left += [(f"{where}.{name}", value) for name, value in inner if isinstance(value, dict | list)]


# -- [project] and [dependency-groups] ---------------------------------------------------------------


def _of_project(project: Table, groups: Table, parts: tuple[str, ...], path: str) -> Asked:
    dynamic = project.get("dynamic", [])
    if isinstance(dynamic, list) and "dependencies" in dynamic:
        template = _("{path}: its dependencies are dynamic, so they stand elsewhere. Name the file in which they do, with -r.")
        raise WishError(template.format(path=path))
    extras = _table(project, "optional-dependencies", path)
    offered = {**{canonicalize_name(name): name for name in groups}, **{canonicalize_name(name): name for name in extras}}
    words = [*_words(project.get("dependencies", []), path, "dependencies")]
    for part in parts:
        name = offered.get(canonicalize_name(part))
        if name is None:
            template = _("{path} has no part {part}. It has: {parts}.")
            raise WishError(template.format(path=path, part=part[:_LONGEST_NAME], parts=", ".join(offered.values()) or "–"))
        words += _words(extras[name], path, name) if name in extras else _group(groups, name, path, ())
    words = [*_expand_own_extras(words, project, extras, path)]
    left = [name for key, name in offered.items() if key not in set(map(canonicalize_name, parts))]
    return Asked(tuple(words), Terms(python=_python(project, path), told=_left_out(path, left), files=(path,)))


def _expand_own_extras(words: list[str], project: Table, extras: Table, path: str, depth: int = 0) -> Iterator[str]:
    """A project that asks for itself with an extra means what that names."""
    own = canonicalize_name(str(project.get("name", "")))
    names = {canonicalize_name(name): name for name in extras}
    for word, requirement in zip(words, _requirements(words, path), strict=True):
        if not own or canonicalize_name(requirement.name) != own or depth > len(extras) + 1:
            yield word
            continue
        for extra in sorted(requirement.extras):
            name = names.get(canonicalize_name(extra), "")
            yield from _expand_own_extras(_words(extras.get(name, []), path, name), project, extras, path, depth + 1)


def _left_out(path: str, names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    template = _("{path} has further parts that were not asked for: {parts}. -r '{path}[{first}]' asks for one of them.")
    return (template.format(path=path, parts=", ".join(names)[:300], first=names[0][:_LONGEST_NAME]),)


def _python(project: Table, path: str) -> str:
    value = project.get("requires-python", "")
    try:
        return str(SpecifierSet(value)) if value else ""
    except (InvalidSpecifier, TypeError, AttributeError) as error:
        raise WishError(_("{path}: {field} is of another form.").format(path=path, field="requires-python")) from error


def _words(value: Any, path: str, field: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise WishError(_("{path}: {field} is of another form.").format(path=path, field=field[:_LONGEST_NAME]))
    return list(map(str, _requirements(value, path)))


def _requirements(words: Any, path: str) -> Iterator[Requirement]:
    for word in words:
        try:
            requirement = Requirement(word)
        except (InvalidRequirement, RecursionError) as error:
            template = _("{where}: {word} is no package: write a name with a version, such as torch==2.6.")
            raise WishError(template.format(where=path, word=repr(word)[:200])) from error
        if requirement.url:
            raise WishError(uv_tables.direct(path, requirement.name))
        yield requirement


def _group(groups: Table, name: str, path: str, above: tuple[str, ...]) -> list[str]:
    """A dependency group, with the groups that it includes (PEP 735)."""
    group = groups.get(name)
    if name in above or not isinstance(group, list) or len(above) > len(groups):
        raise WishError(_("{path}: {field} is of another form.").format(path=path, field=name[:_LONGEST_NAME]))
    words: list[str] = []
    names = {canonicalize_name(key): key for key in groups}
    for entry in group:
        inner = entry.get("include-group") if isinstance(entry, dict) and len(entry) == 1 else None
        if isinstance(inner, str):
            words += _group(groups, names.get(canonicalize_name(inner), inner), path, (*above, name))
        else:
            words += _words([entry], path, name)
    return words


def split(word: str) -> tuple[str, tuple[str, ...]]:
    """`pyproject.toml[gpu,dev]` as the file and its parts; what is a file as it stands is one."""
    path, bracket, rest = word.rpartition("[")
    if not bracket or not rest.endswith("]") or os.path.exists(word):
        return word, ()
    return path, tuple(name.strip() for name in rest[:-1].split(",") if name.strip())
