"""What no rule knows and what may yet be private: long strings without sense, and variables nobody asks for."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.secrets import is_kept, is_secret
from rigup.machine.pseudonyms import LEFT_OUT, Pseudonyms, is_pseudonym

_LONG = lazy_regex(r"(?<![A-Za-z0-9_.-])[A-Za-z0-9+/_-]{24,4000}={0,2}(?![A-Za-z0-9_])")
_SIGNS = lazy_regex(r"[+/_=-]")
_RUN = lazy_regex(r"[A-Za-z0-9]{16,}")
_DEVICE = lazy_regex(r"v[0-9A-F]{4,8}[dp][0-9A-F]{4,8}\w{0,80}")  # a modalias: which device a driver is for
_SYMBOL = lazy_regex(
    r"_Z(?:N[KVr]{0,3}|T[VTIS]N?|GVN?|[KL])?(?:S[tabsiod])?[1-9]\d?[A-Za-z_]\w{1,4000}"
)  # of C++: a name with its length before it
_LEAST = 3  # digits, small and large letters of a string that was drawn by lot
_CHANGES = 0.3  # share of places where the kind of letter changes
_SHOWN = 70  # characters of a doubtful line
# Lines that hand a variable to others; what files do with variables of their own is theirs.
_HANDED_ON = lazy_regex(
    r"(?m)^(?P<head>[ \t]{0,12}(?:export|declare -x|typeset -x|Environment=|ENV[ \t]|set(?= \w{1,100}=))[ \t]{0,4})(?P<pairs>[^\n]{1,8000})$"
)
_SET = lazy_regex(r"(?m)^(?P<head>[ \t]{0,12}(?:set -gx|set -x|setenv|setx))(?P<pairs>[ \t]{1,4}\w{1,100}[ \t][^\n]{1,8000})$")
_SHELLED = lazy_regex(
    r"(?P<name>(?<=\$env:)[A-Za-z_]\w{0,100})(?P<between>[ \t]{0,4}=[ \t]{0,4})(?P<value>\"[^\"\n]*\"?|'[^'\n]*'?|[^\s;\"']+)"
)
_QUOTED = lazy_regex(r"(?P<between>[\"'])(?P<name>[A-Za-z_]\w{0,100})=(?P<value>[^\"'\n]*)(?P=between)")
_PAIR = lazy_regex(
    r"(?P<name>(?<![\w$\"'])[A-Za-z_]\w{0,100})(?P<between>=)(?P<value>\"[^\"\n]*\"?|'[^'\n]*'?|(?:\$\([^)\n]*\)|[^\s;\"'])+)"
)
_SPACED = lazy_regex(r"(?P<name>(?<=[ \t])[A-Za-z_]\w{0,100})(?P<between>[ \t])(?P<value>[^\n]+)")
# Variables in JSON, as a kernelspec hands them on and as a container engine tells them.
_AS_OBJECT = lazy_regex(r"\"[Ee]nv(?:ironment)?\"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}\{[^{}]{0,20000}\}")
_AS_LIST = lazy_regex(r"\"[Ee]nv(?:ironment)?\"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}\[[^\[\]]{0,20000}\]")
_FIELD = lazy_regex(
    r"(?P<head>\"(?P<name>[A-Za-z_]\w{0,100})\"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}\")(?P<value>(?:[^\"\\\n]|\\[^\n]){1,4000})(?=\")"
)
_OF_OTHERS = lazy_regex(r"\$(?:\{[A-Za-z_]\w{0,60}\}|[A-Za-z_]\w{0,60})(?:[/:][\w./$:{}+-]{0,500})?")
_PLAIN = lazy_regex(r"(?i)[\d.]{0,5}|true|false|yes|no|on|off")
_OWN_FILES = lazy_regex(r"/(?:etc/environment|environment\.d/[^/]+\.conf|[^/]*\.env|env)\Z")


class Doubt(NamedTuple):
    """Something that nobody can tell whether it is private."""

    what: str  # string, variable
    value: str  # the string, or the variable's name
    source: str
    shown: str  # the line, shortened


Keeps = Callable[[Doubt], bool]


def leaves_out(_doubt: Doubt) -> bool:
    """Where nobody can be asked, what is doubtful is left out."""
    return False


def without_strings(body: str, source: str, pseudonyms: Pseudonyms, keeps: Keeps) -> str:
    """The text without long strings that look drawn by lot, unless somebody wants to keep them."""

    def replacement(match: re.Match[str]) -> str:
        if not _is_random(match[0]) or is_pseudonym(match[0]) or _DEVICE.fullmatch(match[0]) or _SYMBOL.fullmatch(match[0]):
            return match[0]
        doubt = Doubt("string", match[0], source, _line(body, match.start()))
        return match[0] if keeps(doubt) else pseudonyms.of("unknown string", match[0])

    return _LONG.sub(replacement, body)


def _is_random(value: str) -> bool:
    """Whether letters and digits stand as by lot: not words, not a sum in hexadecimal, not a path."""
    return any(_by_lot(run) for run in _RUN.findall(value)) or _base64(value)


def _by_lot(run: str) -> bool:
    kinds = ["0" if letter.isdigit() else "a" if letter.islower() else "A" for letter in run]
    enough = len(run) >= 20 and all(kinds.count(kind) >= _LEAST for kind in "0aA")
    changes = sum(kind != following for kind, following in pairwise(kinds))
    return enough and changes >= _CHANGES * len(run)


def _base64(value: str) -> bool:
    """With the signs of base64 between: a path has words, this has none."""
    plain = _SIGNS.sub("", value)
    words = max((len(word) for word in _SIGNS.split(value)), default=0)
    return len(plain) >= 32 and words >= 8 and value.count("/") <= len(value) // 12 and _by_lot(plain) and _odd(value)


def _odd(value: str) -> bool:
    """Few parts of it are words or numbers by themselves."""
    parts = [part for part in _SIGNS.split(value) if part]
    plain = [part for part in parts if part.isdigit() or part.islower() or part.isupper() or part.istitle()]
    return len(plain) * 3 <= len(parts)


def _line(body: str, at: int) -> str:
    start = body.rfind("\n", 0, at) + 1
    line = body[start : start + 10_000].partition("\n")[0].strip()
    inner = max(0, min(at - start - _SHOWN // 3, len(line) - _SHOWN))
    return ("…" if inner else "") + line[inner : inner + _SHOWN] + ("…" if len(line) > inner + _SHOWN else "")


def variable(name: str, value: str, pseudonyms: Pseudonyms, keeps: Keeps, source: str = "env") -> str:
    """The value of a variable: as it is where it is needed, else left out."""
    if not value or is_pseudonym(value) or is_kept(name) or _PLAIN.fullmatch(value):
        return value
    if is_secret(name):
        return pseudonyms.of("secret", value)
    if _OF_OTHERS.fullmatch(value):  # `$HOME/bin` tells nothing that the account does not
        return value
    shown = name + "=" + value.replace("\n", " ")[:_SHOWN]
    if keeps(Doubt("variable", name, source, shown)):
        return value
    pseudonyms.counts["variable"] += 1
    return LEFT_OUT + "\n" * value.count("\n")


def without_variables(body: str, path: str, pseudonyms: Pseudonyms, keeps: Keeps) -> str:
    """The text without the values of variables that it hands on and nobody asks for."""
    if '"env' in body or '"Env' in body:
        body = _AS_OBJECT.sub(lambda match: _fields(match[0], path, pseudonyms, keeps), body)
        body = _AS_LIST.sub(lambda match: _items(match[0], path, pseudonyms, keeps), body)
    if _OWN_FILES.search(path):
        body = "\n".join(_pairs(line, path, pseudonyms, keeps) for line in body.split("\n"))
    if "$env:" in body:
        body = _SHELLED.sub(lambda pair: _pair(pair, path, pseudonyms, keeps), body)
    if not any(word in body for word in ("export", "Environment=", "set", "declare", "ENV")):
        return body
    redacted = _HANDED_ON.sub(lambda match: match["head"] + _pairs(match["pairs"], path, pseudonyms, keeps), body)
    return _SET.sub(
        lambda match: match["head"] + _SPACED.sub(lambda pair: _pair(pair, path, pseudonyms, keeps), match["pairs"], count=1), redacted
    )


def _fields(body: str, path: str, pseudonyms: Pseudonyms, keeps: Keeps) -> str:
    """`{"NAME": "value"}`."""
    return _FIELD.sub(lambda match: match["head"] + _file_value(match["name"], match["value"], path, pseudonyms, keeps), body)


def _items(body: str, path: str, pseudonyms: Pseudonyms, keeps: Keeps) -> str:
    """`["NAME=value"]`."""
    return _QUOTED.sub(lambda match: _in_quotes(match, path, pseudonyms, keeps), body)


def _pairs(pairs: str, path: str, pseudonyms: Pseudonyms, keeps: Keeps) -> str:
    if pairs.lstrip().startswith("#"):
        return pairs
    redacted = _QUOTED.sub(lambda match: _in_quotes(match, path, pseudonyms, keeps), pairs)
    return _PAIR.sub(lambda match: _pair(match, path, pseudonyms, keeps), redacted)


def _in_quotes(match: re.Match[str], path: str, pseudonyms: Pseudonyms, keeps: Keeps) -> str:
    """`"NAME=some words"`."""
    quote = match["between"]
    return quote + match["name"] + "=" + _file_value(match["name"], match["value"], path, pseudonyms, keeps) + quote


def _pair(match: re.Match[str], path: str, pseudonyms: Pseudonyms, keeps: Keeps) -> str:
    """`NAME=value`, `NAME="some words"`."""
    value = match["value"]
    quote = value[0] if value[:1] in ("'", '"') else ""
    inner = value.strip(quote) if quote else value
    kept_value = _file_value(match["name"], inner, path, pseudonyms, keeps)
    return match["name"] + match["between"] + quote + kept_value + (quote if value.endswith(quote) else "")


def _file_value(name: str, value: str, path: str, pseudonyms: Pseudonyms, keeps: Keeps) -> str:
    """A file's value, left as it is where something was taken out of it before."""
    if "redacted-" in value:
        return value
    return variable(name, value, pseudonyms, keeps, path)
