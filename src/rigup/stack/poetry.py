"""Poetry's own tables in a pyproject.toml, as requirements (https://python-poetry.org/docs/dependency-specification/)."""

import re
from collections.abc import Iterator
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from rigup.language import _
from rigup.stack.terms import Asked, Terms, WishError, place
from rigup.stack.uv_tables import direct

Table = dict[str, Any]
_SHIFTED = re.compile(r"(?P<sign>[~^])\s*(?P<version>\d+(?:\.\d+){0,3})(?P<rest>[A-Za-z0-9.+-]*)")
_DIRECT = ("git", "path", "url", "file", "hg", "svn")
_FIELDS = frozenset(("version", "extras", "optional", "source", "markers", "python", "allow-prereleases", "develop"))


def of_poetry(table: Table, path: str, alone: bool) -> Asked:
    """The wishes and terms of the table [tool.poetry].

    Args:
        table: the table.
        path: of the file, for whoever has to mend it.
        alone: the project names its dependencies there and nowhere else.

    Raises:
        WishError: something cannot be kept.

    """
    where = f"{path} [tool.poetry]"
    default, named = _indexes(table, where)
    words, python, optional = [], "", []
    for name, row in _rows(table, where) if alone else ():
        if name == "python":
            python = _specifier(row.get("version", "*"), where, name)
        elif row.get("optional"):
            optional.append(name)
        elif not any(field in row for field in _DIRECT):
            words.append(_requirement(name, row, where))
    return Asked(
        tuple(words), Terms(index=default, bound=_bound_indexes(table, named, where), python=python, told=_left_out(table, path, optional))
    )


def _rows(table: Table, where: str) -> Iterator[tuple[str, Table]]:
    rows = table.get("dependencies", {})
    for name, row in rows.items() if isinstance(rows, dict) else [("dependencies", 0)]:
        for entry in row if isinstance(row, list) else [row]:
            fields = {"version": entry} if isinstance(entry, str) else entry
            if not isinstance(fields, dict) or (others := set(fields) - _FIELDS - set(_DIRECT) - {"branch", "tag", "rev", "subdirectory"}):
                field = name if not isinstance(fields, dict) else f"{name}.{min(others)}"
                raise WishError(_("{path}: {field} is of another form.").format(path=where, field=field[:100]))
            yield canonicalize_name(name), fields


def all_by_name(table: Table, names: set[str], path: str) -> None:
    """Raise WishError for a package that the project needs and that comes from a repository, a folder or an address."""
    for name, row in _rows(table, f"{path} [tool.poetry]"):
        if any(field in row for field in _DIRECT) and (not row.get("optional") or name in names):
            raise WishError(direct(f"{path} [tool.poetry]", name))


def _requirement(name: str, row: Table, where: str) -> str:
    """One dependency as PEP 508 writes it."""
    extras = row.get("extras", [])
    markers = [row["markers"]] if isinstance(row.get("markers"), str) else []
    if python := row.get("python"):
        markers += [_of_python(bound) for bound in _specifier(python, where, name).split(",") if bound]
    text = name + (f"[{','.join(map(str, extras))}]" if extras else "") + _specifier(row.get("version", "*"), where, name)
    text += " ; " + " and ".join(f"({marker})" for marker in markers) if markers else ""
    try:
        return str(Requirement(text))
    except (InvalidRequirement, RecursionError) as error:
        template = _("{where}: {word} is no package: write a name with a version, such as torch==2.6.")
        raise WishError(template.format(where=where, word=repr(text)[:200])) from error


def _of_python(specifier: str) -> str:
    match = re.fullmatch(r"([<>=!~]{1,3})(.+)", specifier)
    field = "python_version" if specifier.count(".") <= 1 or specifier.endswith("*") else "python_full_version"
    return f"{field} {match[1]} '{match[2]}'" if match else "python_version > '0'"


def _specifier(value: Any, where: str, name: str) -> str:
    """Poetry's own signs as everybody writes them: `^1.2` is `>=1.2,<2`, `~1.2` is `>=1.2,<1.3`, `1.2` is `==1.2`."""
    text = value.strip() if isinstance(value, str) else "||"
    parts = [part.strip() for part in re.split(r",|(?<=[\d*])\s+(?=[<>=!~^])", text)] if text != "*" else []
    try:
        return str(SpecifierSet(",".join(map(_plain, filter(None, parts)))))
    except InvalidSpecifier as error:
        template = _("{where}: the version {version} of {package} is of a form that rigup does not know: write it as >=1.2,<2.")
        raise WishError(template.format(where=where, version=repr(value)[:100], package=name[:100])) from error


def _plain(part: str) -> str:
    if part[:1].isdigit():
        return "==" + part
    if re.match(r"=\s*\d", part):
        return "=" + part
    match = _SHIFTED.fullmatch(part)
    if match is None:
        return part
    numbers = [int(number) for number in match["version"].split(".")]
    fixed = (
        next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
        if match["sign"] == "^"
        else min(1, len(numbers) - 1)
    )
    above = ".".join(map(str, [*numbers[:fixed], numbers[fixed] + 1]))
    return f">={match['version']}{match['rest']},<{above}"


# -- where from --------------------------------------------------------------------------------------


def _indexes(table: Table, where: str) -> tuple[str, dict[str, str]]:
    rows = table.get("source", [])
    default, named = "", {}
    for row in rows if isinstance(rows, list) else [rows]:
        fields = row if isinstance(row, dict) else {}
        name, url, rank = str(fields.get("name", "")), fields.get("url"), fields.get("priority", "primary")
        if url is None and name.lower() == "pypi":
            continue
        named[name] = place(where, url if isinstance(url, str) else "")
        if rank in ("default", "primary") and not default:
            default = named[name]
        elif rank != "explicit":
            template = _(
                "{where}: the source {name} is asked beside others, in an order that pip cannot keep. Bind it: "
                'priority = "explicit", and name it as the source of its packages.'
            )
            raise WishError(template.format(where=where, name=name[:100]))
    return default, named


def _bound_indexes(table: Table, named: dict[str, str], where: str) -> dict[str, str]:
    urls: dict[str, str] = {}
    for name, row in _rows(table, where):
        source = row.get("source")
        if source is None or str(source).lower() == "pypi":
            continue
        if not isinstance(source, str) or source not in named:
            template = _("{where}: {package} is to come from the index {name}, which is not named there.")
            raise WishError(template.format(where=where, package=name, name=str(source)[:100]))
        urls[name] = named[source]
    return urls


def _left_out(table: Table, path: str, optional: list[str]) -> tuple[str, ...]:
    groups = table.get("group", {})
    names = [*optional, *(groups if isinstance(groups, dict) else ()), *(["dev-dependencies"] if table.get("dev-dependencies") else [])]
    template = _("{path} has further parts for Poetry alone, which are not installed: {parts}.")
    return (template.format(path=path, parts=", ".join(names)[:300]),) if names else ()
