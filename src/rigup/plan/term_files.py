"""Files for pip and uv where a command line cannot say it: hashes of what may be installed, and bounds on what comes along.

They lie in rigup's own folder under a name made of their content, so that a plan that was shown names the very bounds that
it was made with, and two plans never write over one another's.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from rigup.language import _
from rigup.plan.applying.journal import state
from rigup.plan.environments import rigup_torch
from rigup.plan.packages import Group, constraints_path, groups, name_of
from rigup.stack.choice import Choice
from rigup.stack.resolution import Resolution
from rigup.stack.terms import Terms

_FOLDER = "terms"
_WHOLE = ("text", "json", "script")
_IMAGES = ("dockerfile", "apptainer")


def hashed_path(wanted: Iterable[str], terms: Terms) -> Path:
    """Where the file of a group's packages with their hashes lies."""
    return state() / _FOLDER / _file_name(_hashed(wanted, terms))


def is_hashed(group: Group, terms: Terms) -> bool:
    """Whether its packages are installed by their hashes; rigup's own part is made here of its own files."""
    return terms.hashed and not group.conda and group.wanted != (rigup_torch.pinned(),)


def write_files(choice: Choice) -> None:
    """Write the files that the steps of a choice name.

    Raises:
        OSError: they cannot be written.

    """
    terms = choice.wish.terms
    if not (terms.hashed or terms.constraints) or not choice.possible:
        return
    if terms.constraints:
        _write(constraints_path(terms), "\n".join([*terms.constraints, ""]))
    for group in groups(choice):
        if is_hashed(group, terms):
            _write(hashed_path(group.wanted, terms), _hashed(group.wanted, terms))


def _hashed(wanted: Iterable[str], terms: Terms) -> str:
    lines = (
        " ".join([requirement, *(f"--hash={digest}" for digest in terms.hashes.get(name_of(requirement), ()))]) for requirement in wanted
    )
    return "\n".join([*lines, ""])


def _file_name(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20] + ".txt"


def _write(path: Path, text: str) -> None:
    if path.is_file() and path.read_bytes() == text.encode():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".rigup-draft-")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode())
    os.replace(draft, path)


# -- what does not go with them ----------------------------------------------------------------------


def not_by_hash(terms: Terms, resolution: Resolution) -> str:
    """Why a set cannot be installed by the hashes that a file gives, as a sentence; "" where it can."""
    own = [package for package in resolution.packages if terms.hashed and package.name != rigup_torch.NAME]
    if without := [package.pin for package in own if not terms.hashes.get(package.name)]:
        template = _("{files} want a hash of everything, and there is none of: {packages}.")
        return template.format(files=", ".join(terms.files), packages=", ".join(without[:10]))
    for package in own:
        known = [value for value in terms.hashes[package.name] if value.startswith("sha256:")]
        if package.sha256 and len(known) == len(terms.hashes[package.name]) and "sha256:" + package.sha256 not in known:
            template = _("{package} is {url}, and that file has none of the hashes that {files} give for it.")
            return template.format(package=package.pin, url=package.url or package.index, files=", ".join(terms.files))
    return ""


def unkept(choice: Choice, form: str) -> list[str]:
    """The terms that a form of the plan cannot express, as options of pip."""
    terms = choice.wish.terms
    return [] if form in _WHOLE else list(dict.fromkeys(_unkept(terms, choice, form in _IMAGES)))


def _unkept(terms: Terms, choice: Choice, image: bool) -> Iterator[str]:
    if terms.hashed:
        yield "--hash"
    if terms.constraints and not (choice.resolution and choice.resolution.whole):
        yield "--constraint"
    if not image:
        yield from (name for name, _value in terms.options)


def elsewhere(choice: Choice) -> Iterator[str]:
    """A sentence for each package that a file takes from one index and whose chosen build lies at another."""
    for judged in choice.chosen:
        for name in judged.build.packages:
            index = choice.wish.terms.bound.get(name_of(name), "")
            if index and judged.build.index and index.rstrip("/") != judged.build.index.rstrip("/"):
                template = _("{package} comes from {index} in place of {other}, which {files} name: that is the build for this machine.")
                yield template.format(package=name, index=judged.build.index, other=index, files=", ".join(choice.wish.terms.files))
