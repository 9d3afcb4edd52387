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
    return state() / _FOLDER / _named(_hashed(wanted, terms))


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
    lines = (" ".join([one, *(f"--hash={told}" for told in terms.hashes.get(name_of(one), ()))]) for one in wanted)
    return "\n".join([*lines, ""])


def _named(text: str) -> str:
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


def not_by_hash(terms: Terms, told: Resolution) -> str:
    """Why a set cannot be installed by the hashes that a file gives, as a sentence; "" where it can."""
    own = [one for one in told.packages if terms.hashed and one.name != rigup_torch.NAME]
    if without := [one.pin for one in own if not terms.hashes.get(one.name)]:
        said = _("{files} want a hash of everything, and there is none of: {packages}.")
        return said.format(files=", ".join(terms.files), packages=", ".join(without[:10]))
    for one in own:
        known = [value for value in terms.hashes[one.name] if value.startswith("sha256:")]
        if one.sha256 and len(known) == len(terms.hashes[one.name]) and "sha256:" + one.sha256 not in known:
            said = _("{package} is {url}, and that file has none of the hashes that {files} give for it.")
            return said.format(package=one.pin, url=one.url or one.index, files=", ".join(terms.files))
    return ""


def unkept(choice: Choice, form: str) -> list[str]:
    """What of the terms a form of the plan has no way to say, as options of pip."""
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
    for one in choice.chosen:
        for name in one.build.packages:
            told = choice.wish.terms.bound.get(name_of(name), "")
            if told and one.build.index and told.rstrip("/") != one.build.index.rstrip("/"):
                said = _("{package} comes from {index} in place of {other}, which {files} name: that is the build for this machine.")  # fmt: skip
                yield said.format(package=name, index=one.build.index, other=told, files=", ".join(choice.wish.terms.files))  # fmt: skip
