"""Words of a wish that a person may have mistyped, refused before anything of that name is fetched."""

import os
import re
from collections.abc import Iterable

from packaging.utils import canonicalize_name

from rigup.knowledge.meant import other_names
from rigup.knowledge.wheels import neighbours
from rigup.language import _
from rigup.stack.frameworks import known_names
from rigup.stack.wish import FILES, WishError, installed_by_hand

_SHORTEST = 5  # letters of a name whose neighbours are proposed: of shorter ones too many other packages are one letter away
_PACKAGES = (".whl", ".tar.gz", ".zip")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")


def sorted_out(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """Words that a person typed, as wishes and as files that hold wishes.

    Raises:
        WishError: a word looks like a file that is not there, or like the misspelt name of a package that the tables know.
        KnowledgeError: a table is malformed.

    """
    wishes: list[str] = []
    files: list[str] = []
    for word in words:
        if not _like_file(word):
            _check_spelling(word)
            wishes.append(word)
        elif os.path.isfile(word) and word.endswith(FILES):
            files.append(word)
        else:
            raise WishError(_of_file(word))
    return wishes, files


def _like_file(word: str) -> bool:
    if "://" in word or "@" in word:
        return False  # an address, of which the wish itself tells
    return word.endswith((*FILES, ".yml", ".yaml", ".lock", ".cfg", ".py", *_PACKAGES)) or "/" in word or "\\" in word


def _of_file(word: str) -> str:
    if os.path.isdir(word) or (os.path.exists(word) and word.endswith(_PACKAGES)):
        return installed_by_hand(word)
    if os.path.exists(word):
        template = _("{word} is no file of wishes: a requirements.txt or a pyproject.toml is. Packages are named, not given as files.")
        return template.format(word=word[:200])
    template = _("{word} looks like a file, and there is none of this name in {folder}. Name it by its path, or name packages.")
    return template.format(word=word[:200], folder=os.getcwd())


def _check_spelling(word: str) -> None:
    """A name with a version is taken as it stands: whoever knows the version knows the package."""
    match = _NAME.fullmatch(word.strip())
    name = canonicalize_name(match[0]) if match else ""
    if not name or name in known_names() or name in other_names() or name in neighbours():
        return
    if nearest := _near(name):
        template = _(
            "{word} is no package that the tables know. Did you mean {meant}? If you do mean {word}, name its version too: {word}==VERSION."
        )
        raise WishError(template.format(word=word.strip(), meant=nearest))


def _near(name: str) -> str:
    """The known name that is one slip away: a letter left out, added, changed, or two that changed places."""
    plain = name.replace("-", "")
    known = sorted((word for word in {*known_names(), *other_names()} if len(word) >= _SHORTEST), key=lambda word: (len(word), word))
    same = [word for word in known if word.replace("-", "") == plain]
    return next(iter(same or [word for word in known if len(name) >= _SHORTEST - 1 and _one_slip(name, word)]), "")


def _one_slip(first: str, other: str) -> bool:
    """Whether two words are at most one slip apart."""
    if abs(len(first) - len(other)) > 1 or first == other:
        return first == other
    start = next((at for at, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), min(len(first), len(other)))
    left, right = first[start:], other[start:]
    swapped = left[:2] == right[1::-1] and left[2:] == right[2:]
    return swapped or left[1:] == right[1:] or left[1:] == right or left == right[1:]
