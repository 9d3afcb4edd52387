"""uv's own tables in a pyproject.toml: where packages come from, and bounds on them (https://docs.astral.sh/uv/reference/settings/)."""

from collections.abc import Iterator
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rigup.language import _
from rigup.stack.terms import Asked, Terms, WishError, place

Table = dict[str, Any]
_BESIDE_THE_MATTER = frozenset(
    """
    package managed workspace default-groups dependency-groups dev-dependencies required-version environments
    required-environments conflicts sources index cache-dir cache-keys link-mode compile-bytecode concurrent-builds
    concurrent-downloads concurrent-installs offline preview python-downloads python-preference python-install-mirror
    pypy-install-mirror publish-url check-url trusted-publishing build-backend no-cache native-tls system-certs add-bounds
    """.split()  # noqa: SIM905
)
"""What says nothing of which packages are installed, and from where."""
_KEPT = frozenset(
    (
        "constraint-dependencies",
        "prerelease",
        "no-binary-package",
        "no-binary",
        "no-build",
        "no-build-package",
        "find-links",
        "index-url",
        "extra-index-url",
        "no-index",
        "no-sources",
        "index-strategy",
    )
)


def of_uv(table: Table, path: str) -> Asked:
    """The terms of the table [tool.uv]. Raises WishError, naming what cannot be kept."""
    where = f"{path} [tool.uv]"
    pip = table.get("pip", {})
    others = [name for name in table if name not in _BESIDE_THE_MATTER | _KEPT | {"pip"} and table[name]]
    others += [f"pip.{name}" for name in pip if pip[name]] if isinstance(pip, dict) else ["pip"]
    others += ["index-strategy"] if table.get("index-strategy", "first-index") != "first-index" else []
    others += ["prerelease"] if table.get("prerelease", "allow") not in ("allow", "if-necessary-or-explicit") else []
    others += ["no-sources"] if table.get("no-sources") else []
    if others:
        template = _("{where}: {field} cannot be kept by rigup. Name the packages in a requirements.txt.")
        raise WishError(template.format(where=where, field=others[0][:100]))
    default, named = _indexes(table, where)
    first = table.get("index-url")
    if first is not None:
        default = place(where, _text(first, where, "index-url"))
    return Asked(
        terms=Terms(
            index=default,
            bound=_bound_indexes(table, named, where),
            find_links=_places(table, "find-links", where),
            extra_indexes=_places(table, "extra-index-url", where),
            no_index=table.get("no-index") is True,
            previews=table.get("prerelease") == "allow",
            constraints=tuple(_constraints(table, where)),
            no_binary=(*((":all:",) if table.get("no-binary") is True else ()), *_names(table, "no-binary-package", where)),
            only_binary=(*((":all:",) if table.get("no-build") is True else ()), *_names(table, "no-build-package", where)),
        )
    )


def _indexes(table: Table, where: str) -> tuple[str, dict[str, str]]:
    """The default index, and all by their names. One that every package is asked of first cannot be kept in its place."""
    rows = table.get("index", [])
    default, named = "", {}
    for row in rows if isinstance(rows, list) else [rows]:
        fields = row if isinstance(row, dict) else {}
        name, url = str(fields.get("name", "")), place(where, _text(fields.get("url"), where, "index"))
        named[name] = url
        if fields.get("default") is True:
            default = url
        elif fields.get("explicit") is not True:
            template = _(
                "{where}: the index {name} is asked for every package before the others, which pip cannot do. Bind it: "
                "explicit = true, and name it for its packages in [tool.uv.sources]."
            )
            raise WishError(template.format(where=where, name=(name or url)[:200]))
    return default, named


def _bound_indexes(table: Table, named: dict[str, str], where: str) -> dict[str, str]:
    urls: dict[str, str] = {}
    for package, source in _sources(table, where):
        index = source.get("index")
        if index is None:
            continue
        if not isinstance(index, str) or index not in named:
            template = _("{where}: {package} is to come from the index {name}, which is not named there.")
            raise WishError(template.format(where=where, package=package, name=str(index)[:100]))
        if set(source) != {"index"}:
            template = _("{where}: {package} comes from different places on different machines, which rigup cannot keep.")
            raise WishError(template.format(where=where, package=package))
        urls[package] = named[index]
    return urls


def _sources(table: Table, where: str) -> Iterator[tuple[str, Table]]:
    sources = table.get("sources", {})
    for name, rows in sources.items() if isinstance(sources, dict) else [("", sources)]:
        for row in rows if isinstance(rows, list) else [rows]:
            if not isinstance(row, dict):
                raise WishError(_("{path}: {field} is of another form.").format(path=where, field="sources"))
            yield canonicalize_name(name), row


def all_by_name(table: Table, names: set[str], path: str) -> None:
    """Raise WishError for a package that was asked for and comes from a repository, a folder or an address."""
    for package, source in _sources(table, f"{path} [tool.uv]"):
        if package in names and "index" not in source:
            raise WishError(direct(f"{path} [tool.uv.sources]", package))


def direct(where: str, package: str) -> str:
    """A package that is taken from an address, as a sentence."""
    template = _(
        "{where}: {what} names an address or a folder, and rigup chooses by name and version. Take it out, and when the "
        "rest is installed, install it by: rigup run -- python -m pip install …"
    )
    return template.format(where=where, what=package[:100])


def _constraints(table: Table, where: str) -> Iterator[str]:
    for word in _texts(table, "constraint-dependencies", where):
        try:
            requirement = Requirement(word)
        except (InvalidRequirement, RecursionError) as error:
            template = _("{where}: {word} is no package: write a name with a version, such as torch==2.6.")
            raise WishError(template.format(where=where, word=repr(word)[:200])) from error
        if requirement.url or requirement.extras:
            raise WishError(direct(where, requirement.name))
        yield str(requirement)


def _names(table: Table, field: str, where: str) -> tuple[str, ...]:
    return tuple(canonicalize_name(Requirement(word).name) for word in _texts(table, field, where) if _sound(word, where))


def _sound(word: str, where: str) -> bool:
    try:
        return bool(Requirement(word).name)
    except (InvalidRequirement, RecursionError) as error:
        raise WishError(_("{where}: {word} is no list of packages.").format(where=where, word=repr(word)[:200])) from error


def _places(table: Table, field: str, where: str) -> tuple[str, ...]:
    return tuple(place(where, url) for url in _texts(table, field, where))


def _texts(table: Table, field: str, where: str) -> list[str]:
    texts = table.get(field, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise WishError(_("{path}: {field} is of another form.").format(path=where, field=field))
    return texts


def _text(value: Any, where: str, field: str) -> str:
    if not isinstance(value, str):
        raise WishError(_("{path}: {field} is of another form.").format(path=where, field=field))
    return value
