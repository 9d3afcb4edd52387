"""What is private by its form or its name, and what only looks so."""

import fnmatch
import re

import msgspec

from rigup.knowledge.patterns import compiled, lazy_regex
from rigup.knowledge.tables import KnowledgeError, remembered, rows


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of token that is known by its form.

    Attributes:
        literals: one of them begins the token, or stands `back` characters or fewer behind its beginning.
        regex: the whole token, tried where a literal stands; of one with a group `x` only that is the secret.
        inside: the literal may stand inside a word.

    """

    kind: str
    literals: list[str]
    regex: str
    example: str
    near_miss: str
    source: str = ""
    overlay: str = ""
    back: int = 0
    inside: bool = False


class _Words(msgspec.Struct, frozen=True, kw_only=True):
    about: str
    words: list[str]


@remembered
def tokens() -> tuple[Token, ...]:
    """All kinds of tokens. Raises KnowledgeError where the table is malformed."""
    found = (*rows("secrets", "token", Token), *rows("secret_forms", "token", Token))
    for row in found:
        if not row.literals or not all(row.literals):
            raise KnowledgeError(row.overlay or "secrets.toml", f"{row.kind}: literals must be texts of a letter at least")
    return found


@remembered
def _lists() -> dict[str, frozenset[str]]:
    known = (*rows("secrets", "words", _Words), *rows("secret_forms", "words", _Words))
    return {row.about: frozenset(row.words) for row in known}


def words(about: str) -> frozenset[str]:
    """One list of words. Raises KeyError for one that the table does not have."""
    return _lists()[about]


@remembered
def _kept_names() -> tuple[frozenset[str], tuple[str, ...], re.Pattern[str] | None]:
    """Names, beginnings of names, and the other patterns: hundreds of names in one pattern take long to compile."""
    names = words("kept variable")
    plain = frozenset(name for name in names if not _WILD.intersection(name))
    begin = tuple(sorted(name[:-1] for name in names if name[-1:] == "*" and not _WILD.intersection(name[:-1])))
    other = sorted(name for name in names - plain if name[:-1] not in begin or name[-1] != "*")
    return plain, begin, compiled("|".join(map(fnmatch.translate, other))) if other else None


_WILD = frozenset("*?[")


def is_kept(variable: str) -> bool:
    """Whether a variable's value is needed to judge a machine; of others the name is enough."""
    plain, begin, other = _kept_names()
    known = variable in plain or variable.startswith(begin) or bool(other and other.match(variable))
    return known and not is_secret(variable)


_PARTS = lazy_regex(r"[^\W\d_]*[^\W\d_a-zA-Z][^\W\d_]*|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def is_secret(name: str) -> bool:
    """Whether a name says that its value is a secret: DB_PASSWORD, apiKey, wifi.psk; not max_tokens or key."""
    parts = [part.lower() for part in _PARTS.findall(name)[-3:]]
    if not parts or name in ("PWD", "OLDPWD"):  # the folder that somebody works in
        return False
    while len(parts) > 1 and parts[-1].isdigit():
        parts.pop()
    if parts[-1] in ("key", "keys"):
        return len(parts) > 1 and (parts[-2] in words("secret key") or name.isupper())
    if parts[-1] in ("id", "value", "string", "data", "clear", "plain", "file", "path", "url"):
        return parts[-2:] in (["key", "id"], ["key", "data"], ["connection", "string"], ["database", "url"]) or _names_value(parts[-2:])
    return _secret_word(parts)


def _names_value(parts: list[str]) -> bool:
    """`secret_value`, `token_string`; what lies in a file, or at an address, is no secret by that."""
    return len(parts) == 2 and parts[1] in ("value", "string", "data", "clear", "plain") and parts[0] in words("secret")


def _secret_word(parts: list[str]) -> bool:
    known = words("secret")
    candidates = (parts[-1], "".join(parts[-2:]), " ".join(parts[-2:]), " ".join(parts))
    return any(word in known for word in candidates) or is_joined(parts[-1])


def is_joined(name: str) -> bool:
    """Whether a name's last word ends in one that says secret, without a sign between: PGPASSWORD; not compass."""
    last = (_PARTS.findall(name) or [""])[-1].lower()
    return last.endswith(_endings()) and last not in words("secret") and last not in words("harmless word")


@remembered
def _endings() -> tuple[str, ...]:
    return tuple(sorted(words("secret ending")))
