"""A question as pip's dry run, for this machine alone: pip reads markers by the Python that it runs in.

pip binds no package to an index. A local part binds a build where it has one; what has none is looked at afterwards: it
must have come from where it belongs.
"""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from packaging.requirements import Requirement

from rigup.language import _
from rigup.plan.environments.resolver import Resolver, Tries, surroundings
from rigup.plan.packages import name_of
from rigup.plan.resolution.by_uv import Answered, size_of_file
from rigup.plan.resolution.question import Question
from rigup.stack.resolution import Resolved

_LISTED = re.compile(r"^Available versions: (.{1,100000})$", re.MULTILINE)
_MOST_REPORT = 200_000_000  # bytes
_SILENT = re.compile(
    r"NewConnectionError|ConnectTimeoutError|ReadTimeout|NameResolutionError|ProxyError|Max retries exceeded|Connection (?:refused|reset)"
)


def ask(pip: Resolver, query: Question, *, build: bool = False, seconds: float) -> Answered:
    """Ask pip. Nothing is installed.

    Args:
        pip: the one of the Python that the environment will have, or of the environment itself.
        query: the question.
        build: what has no wheel may be built.
        seconds: how long it may take.

    Raises:
        OSError: pip cannot be started.

    """
    if query.opaque:
        return _newest(pip, query, seconds)
    if named := [name for name in map(name_of, query.wanted) if name in query.terms.bound and name in query.bound]:
        return Answered(refused=_unbound(named[0], query.terms.bound[named[0]]))
    with tempfile.TemporaryDirectory(prefix="rigup-") as folder:
        report, bounds = Path(folder, "report.json"), Path(folder, "bounds.txt")
        bounds.write_text("\n".join(query.bounds), encoding="utf-8")
        argv = (
            *pip.argv,
            "install",
            "--dry-run",
            "--quiet",
            "--report",
            str(report),
            "--constraint",
            str(bounds),
            *_options(query, build),
            "--",
            *query.wanted,
        )
        variables = {**surroundings(), **Tries().variables()}
        try:
            done = subprocess.run(argv, env=variables, capture_output=True, text=True, errors="replace", timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return Answered(silent=f"pip: {round(seconds)} s")
        if done.returncode:
            return _no(done.stderr)
        rows = msgspec.json.decode(report.read_bytes()[:_MOST_REPORT])["install"]
    packages = tuple(_resolved(row, query.bound) for row in rows)
    strayed = [package for package in packages if package.index and not _comes_from(package.url, package.index)]
    return Answered(refused=_strayed(strayed[0])) if strayed else Answered(packages)


def _newest(pip: Resolver, query: Question, seconds: float) -> Answered:
    """The newest release of each package that the places have for this Python."""
    variables, packages = {**surroundings(), **Tries().variables()}, []
    for word in query.wanted:
        want = Requirement(word)
        argv = (*pip.argv, "index", "versions", want.name, *_places(query))
        try:
            done = subprocess.run(argv, env=variables, capture_output=True, text=True, errors="replace", timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return Answered(silent=f"pip: {round(seconds)} s")
        listed = _LISTED.search(done.stdout)
        versions = list(want.specifier.filter(listed[1].split(", ") if listed and not done.returncode else ()))
        if not versions:
            return Answered(silent=done.stderr[-500:]) if _SILENT.search(done.stderr) else Answered(refused=_lacks(word))
        packages.append(Resolved(name=name_of(word), version=versions[0]))
    return Answered(tuple(packages))


def _lacks(word: str) -> str:
    return _("No index that was asked has a release of {package} for this Python.").format(package=word)


def _options(query: Question, build: bool) -> list[str]:
    options = [] if query.kept else ["--ignore-installed"]
    options += [] if build else ["--only-binary", ":all:"]
    options += ["--no-binary", ",".join(query.sources)] if query.sources and not build else []
    options += [word for pair in query.terms.options for word in pair if word]
    return [*options, *_places(query)]


def _places(query: Question) -> list[str]:
    places = [word for place in query.find_links for word in ("--find-links", place)]
    if query.offline:
        return ["--no-index", *places]
    options = ["--index-url", query.index] if query.index else []
    further = dict.fromkeys((*query.bound.values(), *query.further, *query.extra_indexes))
    return [*options, *(word for url in further for word in ("--extra-index-url", url)), *places]


def _resolved(row: dict[str, Any], bound: dict[str, str]) -> Resolved:
    source = row["download_info"]
    archive, url = source.get("archive_info", {}), str(source.get("url", ""))
    name = name_of(row["metadata"]["name"])
    digest = (archive.get("hashes") or {}).get("sha256") or str(archive.get("hash") or "").removeprefix("sha256=")
    return Resolved(
        name=name,
        version=str(row["metadata"]["version"]),
        index=bound.get(name, ""),
        url=url,
        sha256=digest,
        size=size_of_file(url),
        built=not urlsplit(url).path.endswith(".whl"),
    )


def _comes_from(url: str, index: str) -> bool:
    """From the index or a folder of the person's; a local part, which no other index has, says it too."""
    address, wanted = urlsplit(url), urlsplit(index)
    return address.scheme == "file" or address.hostname == wanted.hostname or "+" in url or "%2B" in url


def _strayed(package: Resolved) -> str:
    template = _("{package} would come from {url}, and its build lies at {index}. With uv it can be bound to that.")
    return template.format(package=package.pin, url=package.url, index=package.index)


def _unbound(name: str, index: str) -> str:
    template = _(
        "{package} is to come from {index} alone, and pip asks every index for every package. `pip install uv` brings a resolver that binds it."
    )
    return template.format(package=name, index=index)


def _no(output: str) -> Answered:
    lines = [line.removeprefix("ERROR: ").strip() for line in output.splitlines() if line.startswith(("ERROR:", " "))]
    words = " ".join(lines)[:1500] or output.strip()[-500:]
    return Answered(silent=words) if _SILENT.search(output) else Answered(refused=words)
