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
    ("constraint-dependencies", "prerelease", "no-binary-package", "no-binary", "no-build", "no-build-package", "find-links",
     "index-url", "extra-index-url", "no-index", "no-sources", "index-strategy")
)  # fmt: skip


def of_uv(told: Table, path: str) -> Asked:
    """What the table [tool.uv] says. Raises WishError, naming what cannot be kept."""
    where = f"{path} [tool.uv]"
    pip = told.get("pip", {})
    others = [name for name in told if name not in _BESIDE_THE_MATTER | _KEPT | {"pip"} and told[name]]
    others += [f"pip.{name}" for name in pip if pip[name]] if isinstance(pip, dict) else ["pip"]
    others += ["index-strategy"] if told.get("index-strategy", "first-index") != "first-index" else []
    others += ["prerelease"] if told.get("prerelease", "allow") not in ("allow", "if-necessary-or-explicit") else []
    others += ["no-sources"] if told.get("no-sources") else []
    if others:
        said = _("{where}: {field} cannot be kept by rigup. Name the packages in a requirements.txt.")
        raise WishError(said.format(where=where, field=others[0][:100]))
    default, named = _indexes(told, where)
    first = told.get("index-url")
    if first is not None:
        default = place(where, _one(first, where, "index-url"))
    return Asked(
        terms=Terms(
            index=default, bound=_bound(told, named, where), find_links=_places(told, "find-links", where),
            extra_indexes=_places(told, "extra-index-url", where), no_index=told.get("no-index") is True,
            previews=told.get("prerelease") == "allow", constraints=tuple(_constraints(told, where)),
            no_binary=(*((":all:",) if told.get("no-binary") is True else ()), *_names(told, "no-binary-package", where)),
            only_binary=(*((":all:",) if told.get("no-build") is True else ()), *_names(told, "no-build-package", where)),
        )
    )  # fmt: skip


def _indexes(told: Table, where: str) -> tuple[str, dict[str, str]]:
    """The default index, and all by their names. One that every package is asked of first cannot be kept in its place."""
    rows = told.get("index", [])
    default, named = "", {}
    for row in rows if isinstance(rows, list) else [rows]:
        fields = row if isinstance(row, dict) else {}
        name, url = str(fields.get("name", "")), place(where, _one(fields.get("url"), where, "index"))
        named[name] = url
        if fields.get("default") is True:
            default = url
        elif fields.get("explicit") is not True:
            said = _(
                "{where}: the index {name} is asked for every package before the others, which pip cannot do. Bind it: "
                "explicit = true, and name it for its packages in [tool.uv.sources]."
            )
            raise WishError(said.format(where=where, name=(name or url)[:200]))
    return default, named


def _bound(told: Table, named: dict[str, str], where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for package, source in _sources(told, where):
        index = source.get("index")
        if index is None:
            continue
        if not isinstance(index, str) or index not in named:
            said = _("{where}: {package} is to come from the index {name}, which is not named there.")
            raise WishError(said.format(where=where, package=package, name=str(index)[:100]))
        if set(source) != {"index"}:
            said = _("{where}: {package} comes from different places on different machines, which rigup cannot keep.")
            raise WishError(said.format(where=where, package=package))
        found[package] = named[index]
    return found


def _sources(told: Table, where: str) -> Iterator[tuple[str, Table]]:
    sources = told.get("sources", {})
    for name, rows in sources.items() if isinstance(sources, dict) else [("", sources)]:
        for row in rows if isinstance(rows, list) else [rows]:
            if not isinstance(row, dict):
                raise WishError(_("{path}: {field} is of another form.").format(path=where, field="sources"))
            yield canonicalize_name(name), row


def all_by_name(told: Table, asked: set[str], path: str) -> None:
    """Raise WishError for a package that was asked for and comes from a repository, a folder or an address."""
    for package, source in _sources(told, f"{path} [tool.uv]"):
        if package in asked and "index" not in source:
            raise WishError(direct(f"{path} [tool.uv.sources]", package))


def direct(where: str, package: str) -> str:
    """A package that is taken from an address, as a sentence."""
    said = _(
        "{where}: {what} names an address or a folder, and rigup chooses by name and version. Take it out, and when the "
        "rest is installed, install it by: rigup run -- python -m pip install …"
    )
    return said.format(where=where, what=package[:100])


def _constraints(told: Table, where: str) -> Iterator[str]:
    for word in _texts(told, "constraint-dependencies", where):
        try:
            found = Requirement(word)
        except (InvalidRequirement, RecursionError) as error:
            said = _("{where}: {word} is no package: write a name with a version, such as torch==2.6.")
            raise WishError(said.format(where=where, word=repr(word)[:200])) from error
        if found.url or found.extras:
            raise WishError(direct(where, found.name))
        yield str(found)


def _names(told: Table, field: str, where: str) -> tuple[str, ...]:
    return tuple(
        canonicalize_name(Requirement(word).name) for word in _texts(told, field, where) if _sound(word, where)
    )


def _sound(word: str, where: str) -> bool:
    try:
        return bool(Requirement(word).name)
    except (InvalidRequirement, RecursionError) as error:
        raise WishError(
            _("{where}: {word} is no list of packages.").format(where=where, word=repr(word)[:200])
        ) from error


def _places(told: Table, field: str, where: str) -> tuple[str, ...]:
    return tuple(place(where, one) for one in _texts(told, field, where))


def _texts(told: Table, field: str, where: str) -> list[str]:
    found = told.get(field, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise WishError(_("{path}: {field} is of another form.").format(path=where, field=field))
    return found


def _one(told: Any, where: str, field: str) -> str:
    if not isinstance(told, str):
        raise WishError(_("{path}: {field} is of another form.").format(path=where, field=field))
    return told
