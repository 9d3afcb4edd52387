"""Secrets: tokens known by their form, keys in blocks, logins in addresses, and values whose names say it."""

import functools
import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.secrets import is_joined, is_secret, words
from rigup.machine.pseudonyms import Pseudonyms, is_pseudonym
from rigup.machine.redaction_contexts import lowered, matches
from rigup.machine.redaction_forms import is_key, without_forms
from rigup.machine.redaction_separate import is_mixed, separate_value, without_blocks

_BLOCK = lazy_regex(
    r"-----BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|CERTIFICATE)(?: BLOCK)?-----"
    r"(?:[\s\S]{0,20000}?-----END [A-Z0-9 ]{0,40}-----|(?:[\sA-Za-z0-9+/=\\:,>|-]{0,20000}))"
)
_LOGIN = lazy_regex(r"://(?P<login>[^\s/@'\"<>]{1,300})@(?=[\w\[])")
_NAME = lazy_regex(r"[\w.-]{0,80}")  # letters of a name, from its end on
_TAIL = r"(?P<tail>[_-]?\d{1,3}|[_-]?(?i:id|value|string|data|clear|plain))?"
_STYLED = r"(?:(?:\x1b|\\u001b|\\x1b|\\033|\\e)\[[\d;]{0,12}m){0,3}"  # colours, as they are or written out
_QUOTE = r"(?:\\{0,7}[\"']|&quot;|&#3[49];)"
_BETWEEN = (
    rf"(?P<between>{_STYLED}{_QUOTE}?[ \t]{{0,40}}(?:=>|:=|\\?=|=|:(?!//)|>|：|＝){_STYLED}[ \t]{{0,8}}{_STYLED}(?:&quot;|&#3[49];)?)"
)
_ASSIGNED = lazy_regex(
    _TAIL + _BETWEEN + r"(?![|>][+-]?[ \t]{0,8}[\r\n])(?P<value>\"[^\"\r\n]{1,4000}\"|'[^'\r\n]{1,4000}'|\\{1,7}\"[^\"\\\r\n]{1,4000}|"
    r"[^\s\"'&,;<>()\[\]{}\\]{1,4000})"
)
_OPTION = lazy_regex(_TAIL + r"(?P<between>[ \t]{1,4}|\x00)(?P<value>[^\s\"'\x00-][^\s\"'\x00]{2,4000})")
_SPACED = lazy_regex(
    r"(?P<tail>)(?P<between>[ \t]{1,8}[\"']?)(?!(?:for|of|to|is|was|and|or|must|does|authentication)\b)(?P<value>[^\s\"':=]{2,200})(?=[\s\"']|\Z)"
)
# What somebody writes in words: "the root password is …".
_TOLD = lazy_regex(
    r"(?P<tail>)(?P<between>(?:[ \t]{1,4}(?:is|was|are|set to|to|lautet|ist|est|es|este|é|это|是|—)|[ \t]?[为是])[ \t:]{0,4}[\"'`]?)"
    r"(?P<value>[^\s\"'`]{4,200})"
)
_BESIDE = lazy_regex(  # "user admin, password …", "Password for the user (x): …", "login with admin / …": what no word of a sentence is
    r"(?P<tail>)(?P<between>(?:[ \t]{1,16}|\\t|\\u0009)[\"'`]?|[ \t][^\n=]{0,100}?(?:[:：] | / |\.{2,} ?: )[\"'`]?)(?P<value>[^\s\"'`/=:]{8,200})(?=[\"'`]?[.,;)]?(?:\s|\Z))"
)
_NETRC = lazy_regex(r"(?i)(?:^[ \t]{0,8}|\b(?:machine|login|default)[ \t][^\n]{0,300})\Z")
_SCHEME = r"(?:(?i:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,4})?"
_REST = lazy_regex(r"(?P<tail>)(?P<between>[\"']?[ \t]{0,40}[:=][ \t]{0,8}[\"']?" + _SCHEME + r")(?P<value>[^\s\"'][^\r\n\"']{0,4000})")
_BEARER = lazy_regex(r"(?P<tail>)(?P<between>[ \t]{1,4})(?P<value>[A-Za-z0-9._~+/-]{12,4000}={0,2})")
_RESTS = frozenset(("authorization", "cookie", "key content", "ssid", "ssid name", "security key"))
_WORD_BEFORE = lazy_regex(r"(?P<word>[A-Za-z]{2,20})[ \t]\Z")
_NETRC_WORDS = frozenset(("password", "account", "passwd", "passphrase"))
_HARMLESS = lazy_regex(
    r"(?i)true|false|yes|no|none|null|nil|on|off|auto|unset|default|required|optional|enabled|disabled|present|absent|"
    r"\$\{?\w{1,80}\}?|%\w{1,80}%|<[^>\n]{0,60}>|[\d.]{1,6}|str|string|bytes|int|bool|bearer|basic|token|digest|negotiate|os\.environ.*|self\.\w{1,60}|\.{2,}|"
    r"=\d{1,5}(?:\.\d{1,8}){1,4}(?:\.?(?:post|dev|rc|a|b)\d{1,8})?(?:\+[a-z0-9.]{1,20})?"  # a pinned release: `tiktoken==0.14.0`
)
_LOOKED = 200  # characters of a value that tell whether it may be one
_LEAST_DIGITS = 4  # of a number that may open something
_LOUD = ("PASS", "PWD", "PW")  # ends of variables' names


def without_secrets(body: str, pseudonyms: Pseudonyms) -> str:
    """The text without what would open a door. Lines stay lines."""
    if "-----BEGIN " in body:
        body = _BLOCK.sub(lambda match: _block(match[0], pseudonyms), body)
    body = without_blocks(without_forms(body, pseudonyms), pseudonyms)
    if "://" in body and "@" in body:
        body = _LOGIN.sub(lambda match: "://" + _login(match["login"], pseudonyms) + "@", body)
    return _without_named(body, pseudonyms)


def _block(block: str, pseudonyms: Pseudonyms) -> str:
    """A key in as many lines as it had."""
    tail = block[len(block.rstrip()) :] if "-----END " not in block else ""
    block = block.removesuffix(tail)
    return pseudonyms.of("private key", block) + "\n" * block.count("\n") + tail


def _login(login: str, pseudonyms: Pseudonyms) -> str:
    return login if is_pseudonym(login) or login in ("git", "anonymous") else pseudonyms.of("login", login)


def _is_secret(name: str, value: str) -> bool:
    """Whether the name calls it a secret, and the value may be one."""
    if not is_secret(name.lstrip("-")):
        return False
    if any(word in name.lower() for word in words("password")) or is_joined(name) or (name.isupper() and name.endswith(_LOUD)):
        return True
    value = value[:_LOOKED]
    if name == "PIN":
        return value.isdigit()
    mixed = any(letter.isdigit() for letter in value) or not (value.islower() or value.istitle() or value.isupper())
    return len(value) >= 8 and mixed and value[0] not in "/~$<"


def _without_named(body: str, pseudonyms: Pseudonyms) -> str:
    """Values whose names say that they are secret, found by the words that say so."""
    parts, done = [], 0
    for start, end in _hints(body):
        match = _after(body, start, end) if start >= done else None
        if match:
            quote = match["value"][0] if match["value"][0] in "\"'" and len(match["value"]) > 1 else ""
            bare = match["value"].strip(quote) if quote else match["value"]
            parts += [body[done : match.start("value")], quote + pseudonyms.of("secret", bare) + quote]
            done = match.end("value")
    return "".join(parts) + body[done:] if parts else body


def _after(body: str, start: int, end: int) -> re.Match[str] | None:
    """The value behind a word that says secret, if it is one."""
    word = body[start:end].lower()
    match = _found(body, start, end, word)
    if match is None:
        return None
    bare = match["value"].strip("\"'\\")
    if bare.isdigit() and len(bare) >= _LEAST_DIGITS and (word in words("password") or body[start:end] == "PIN"):
        return match
    return None if not bare or is_pseudonym(bare) or "redacted-" in bare or _HARMLESS.fullmatch(bare) else match


def _found(body: str, start: int, end: int, word: str) -> re.Match[str] | None:
    if word in _RESTS:
        return _REST.match(body, end)
    if word in ("bearer", "basic"):
        match = _BEARER.match(body, end)
        return match if match and not match["value"].islower() and not match["value"].istitle() else None
    least = max(0, start - 400)  # in a line without end, its beginning is far
    line = body[max(body.rfind("\n", least, start) + 1, least) : start]
    before = _NAME.match(line[:-81:-1])  # backwards: in a line of one long word every other way is slow
    name = (before[0][::-1] if before else "") + body[start:end]
    if word in ("key", "keys") and name == body[start:end]:
        name = _word_before_key(line) + name
    of_file = body[max(0, start - 1) : end].lower() == "/passwd"  # /etc/passwd: what is said of it
    if (
        (match := _ASSIGNED.match(body, end))
        and not (of_file and match["between"].startswith(":"))
        and _is_secret(name + (match["tail"] or ""), match["value"].strip("\"'"))
    ):
        return match
    if (match := _TOLD.match(body, end)) and (
        is_mixed(match["value"]) if word in words("password") else is_secret(name) and is_key(match["value"])
    ):
        return match
    if (
        (word in words("password") or (word == "login" and body.startswith(" with ", end)))
        and (match := _BESIDE.match(body, end))
        and is_mixed(match["value"], strictly=True)
    ):
        return match
    return _further(body, end, name, line, word)


def _further(body: str, end: int, name: str, line: str, word: str) -> re.Match[str] | None:
    """What an option is given, what stands in a row of words, what stands apart from its name."""
    if (
        name.startswith("-")
        and (match := _OPTION.match(body, end))
        and _is_secret(name, match["value"])
        and not is_secret(match["value"])  # `set --secret dbPassword …`: what follows is the name
    ):
        return match
    if word in _NETRC_WORDS and _NETRC.search(line) and (match := _SPACED.match(body, end)):
        return match
    match = separate_value(body, end, name, line + body[end - len(word) : end])
    return match if match and _is_secret(name, match["value"].strip("\"'")) else None


def _word_before_key(line: str) -> str:
    """The word before `key`, where both together say what it opens: `api key`, `access key`."""
    before = _WORD_BEFORE.search(line)
    return before["word"].lower() + "_" if before and before["word"].lower() in words("secret key") else ""


def _hints(body: str) -> Iterator[tuple[int, int]]:
    """Where a word ends a name: TOKEN in HF_TOKEN=, not in tokens; Key in apiKey."""
    automaton = _hinting()
    for _number, start, end in matches(automaton, lowered(body)):
        after = body[end : end + 1]
        if not after.isalpha() or (after.isupper() and body[end - 1].islower()) or after in "是为為":
            yield start, end


@functools.cache
def _hinting() -> Any:
    import ahocorasick_rs

    known = sorted({*words("secret"), *words("secret ending"), "key", "keys", "basic", *_RESTS})
    return ahocorasick_rs.AhoCorasick(known)
