"""A question as a project that uv resolves, and its answer. Each package is bound to its index by uv's own sources."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import tomli_w
from packaging.version import InvalidVersion, Version

from rigup.plan.environments.resolver import Tries, as_uv, surroundings
from rigup.plan.packages import name_of
from rigup.plan.resolution.question import Question
from rigup.stack.resolution import Resolved

_BACKEND = "UV_TORCH_BACKEND"  # it would overrule the index that was chosen
_NO_CONFIG = "UV_NO_CONFIG"  # the question itself stands in such a file
_DEFAULTS = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")  # they would go before the index that the question names
_PROJECT = "rigup-plan"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,198}[A-Za-z0-9])?")
_ASKED_FOR = re.compile(rf"{_PROJECT} depends on ((?:(?! and |, we can conclude).)+)")
_BOUNDS = "bounds.txt"
_WORDS = re.compile(r"^\s*(?:(?:error|cause|hint|×|╰─▶|├─▶|│)[:\s]?\s*)+")
_SILENT = re.compile(
    r"wheel filename .{1,300} has an invalid version|error sending request|dns error|Failed to fetch|connection (?:refused|reset|closed)|tcp connect|timed? ?out",
    re.IGNORECASE,
)


class Answered(NamedTuple):
    """A resolver's answer: the packages, or why there are none.

    Attributes:
        refused: its words where the set cannot be had; "" where it can, or where it could not ask.
        silent: its words where it could not ask.

    """

    packages: tuple[Resolved, ...] = ()
    refused: str = ""
    silent: str = ""


def project(query: Question, python: str) -> str:
    """A question as the table of a project. `python` is exact where it is known ("3.12.4"), else "3.12"."""
    names = {url: f"at-{number}" for number, url in enumerate(dict.fromkeys(query.bound.values()))}
    wanted = {name_of(word) for word in query.wanted}
    indexes = [
        {
            "name": name,
            "url": url,
            **({"explicit": True} if url not in query.further else {}),
            "format": "flat" if os.path.isabs(url) else None,
        }
        for url, name in names.items()
    ]
    further = [url for url in (*query.further, *query.extra_indexes) if url not in names]
    indexes += [{"name": f"further-{number}", "url": url} for number, url in enumerate(further)]
    indexes += [{"name": "own", "url": query.index, "default": True}] if query.index else []
    return tomli_w.dumps(
        {
            "project": {"name": _PROJECT, "version": "0", "requires-python": f"=={_minor(python)}.*", "dependencies": list(query.wanted)},
            "tool": {
                "uv": {
                    "sources": {name: {"index": names[url]} for name, url in query.bound.items() if name in wanted},
                    "index": [{key: value for key, value in index.items() if value is not None} for index in indexes],
                    "dependency-metadata": [{"name": name, "requires-dist": []} for name in query.opaque],
                }
            },
        }
    )


def _minor(python: str) -> str:
    return ".".join(python.removesuffix("t").split(".")[:2])


def ask(uv: str, query: Question, folder: Path, *, python: str = "", build: bool = False, seconds: float) -> Answered:
    """Ask uv.

    Args:
        uv: the program.
        query: the question.
        folder: an empty one for its files.
        python: the exact version where an interpreter is there, else the question's own.
        build: what has no wheel may be built to be asked what it needs; it runs that package's own code.
        seconds: how long it may take.

    Raises:
        OSError: the folder cannot be written, or uv cannot be started.
        ValueError: uv answers something that is no lock.

    """
    (folder / "pyproject.toml").write_text(project(query, python or query.python), encoding="utf-8")
    (folder / _BOUNDS).write_text("\n".join(query.bounds), encoding="utf-8")
    lock = folder / "pylock.toml"
    if query.kept:
        lock.write_text(_as_lock(query.kept), encoding="utf-8")
    argv = (uv, "pip", "compile", *_options(query, python or query.python, build), "--output-file", str(lock), "pyproject.toml")
    variables = {**surroundings(), **Tries().variables(), **({"MACOSX_DEPLOYMENT_TARGET": query.macos} if query.macos else {})}
    for name in (_BACKEND, _NO_CONFIG, *(_DEFAULTS if query.index else ())):
        variables.pop(name, None)
    try:
        done = subprocess.run(
            argv, cwd=folder, env=variables, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Answered(silent=f"uv: {round(seconds)} s")
    if done.returncode:
        return _no(done.stderr)
    rows = tomllib.loads(lock.read_text(encoding="utf-8")).get("packages", [])
    return Answered(tuple(_resolved(row, query.bound) for row in rows))


def _resolved(row: dict[str, Any], bound: dict[str, str]) -> Resolved:
    """A package of uv's answer. One without a wheel for the platform is built there from its source."""
    wheels = row.get("wheels") or []
    file = wheels[0] if wheels else row.get("sdist") or row.get("archive") or {}
    name, url = name_of(row["name"]), str(file.get("url", ""))
    return Resolved(
        name=name,
        version=str(row["version"]),
        index=bound.get(name, ""),
        url=url,
        sha256=file.get("hashes", {}).get("sha256", ""),
        size=file.get("size") or size_of_file(url),
        built=not wheels,
    )


def size_of_file(url: str) -> int:
    """Bytes of a file of this machine; 0 of one that lies elsewhere."""
    address = urlsplit(url)
    try:
        return os.stat(unquote(address.path)).st_size if address.scheme == "file" else 0
    except OSError:
        return 0


def _options(query: Question, python: str, build: bool) -> list[str]:
    options = [
        "--quiet",
        "--format",
        "pylock.toml",
        "--no-header",
        "--python",
        sys.executable,
        "--python-version",
        python.removesuffix("t"),
    ]
    options += ["--python-platform", query.platform] if query.platform else []
    options += [] if build else ["--only-binary", ":all:"]
    options += [] if build else [word for name in query.sources for word in ("--no-binary", name)]
    options += ["--constraints", _BOUNDS] if query.bounds else []
    options += ["--index-strategy", "unsafe-best-match"] if query.further or query.extra_indexes else []
    options += ["--no-index"] if query.offline else []
    options += as_uv(query.terms.options)
    return options + [word for place in query.find_links for word in ("--find-links", place)]


def _as_lock(versions: dict[str, str]) -> str:
    """What stands there, as a lock that uv goes on from: versions of it are taken where they fit."""
    rows = [
        {"name": name, "version": version}
        for name, version in sorted(versions.items())
        if _NAME.fullmatch(name) and _is_version(version)  # a folder of an environment may be called anything
    ]
    return tomli_w.dumps({"lock-version": "1.0", "created-by": "rigup", "packages": rows})


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _no(output: str) -> Answered:
    """A failed run as an answer: the index was not reached, or there is no solution."""
    lines = [_WORDS.sub("", line, count=1).strip() for line in output.splitlines()]
    words = " ".join(line for line in lines if line and not line.startswith(("hint", "No solution found")))[:1500]
    words = _ASKED_FOR.sub(r"\1 was asked for", words)
    return Answered(silent=words) if _SILENT.search(output) else Answered(refused=words or os.linesep)
