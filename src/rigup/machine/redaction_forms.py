"""Secrets that are known by their form: tokens of makers, what programs are given, keys behind a maker's word."""

import functools
import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.secrets import Token, tokens, words
from rigup.machine.pseudonyms import Pseudonyms, is_pseudonym
from rigup.machine.redaction_contexts import lowered, matches

# What stands between a maker's word and its key: `WANDB_API_KEY: `, `"datadog": "`, `okta key `.
_OF_MAKER = lazy_regex(
    r"[\w.-]{0,40}[\"'`]?[ \t]{0,3}(?:=>|:=|\|\||[=:>,]|(?i:[ \t](?:api[ _-]?)?(?:key|token|secret|login|is))){1,2}"
    r"[\"'`\s=]{0,5}(?P<x>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[A-Za-z0-9_=-]{15,200})(?![\w=/-]|\.\w)"
)
_NEXT = 400  # characters in which a command line goes on
_DIGITS, _LETTERS = 3, 3  # least of each in a key; a word, a version and a name have fewer of the one


def without_forms(body: str, pseudonyms: Pseudonyms) -> str:
    """The text without secrets that are known by their form."""
    return _without_keys_of_makers(_without_tokens(body, pseudonyms), pseudonyms)


@functools.cache
def _automaton() -> tuple[list[tuple[Token, re.Pattern[str]]], Any]:
    import ahocorasick_rs

    pairs = [(literal, row) for row in tokens() for literal in row.literals]
    forms = {row.kind: lazy_regex(row.regex) for row in tokens()}
    return [(row, forms[row.kind]) for _literal, row in pairs], ahocorasick_rs.AhoCorasick([pair[0] for pair in pairs])


def _without_tokens(body: str, pseudonyms: Pseudonyms) -> str:
    rows, automaton = _automaton()
    spans = []
    for number, start, end in matches(automaton, body):
        row, form = rows[number]
        if not row.back and not row.inside and start and body[start - 1].isalnum():
            continue
        spans += [(*span, row.kind) for span in _all_found(body, start, end, row, form)]
    return _without(body, spans, pseudonyms)


def _all_found(body: str, start: int, end: int, row: Token, form: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The secret, and those that the same command line is given behind it: `curl -u a:b -U c:d`."""
    span = _found(body, start, row, form)
    while span:
        yield span
        if body[end - 1 : end] != " " or "x" not in row.regex:
            return
        head = body[start:end]
        again = form.match(head + body[span[1] : span[1] + _NEXT].partition("\n")[0])
        shift = span[1] - len(head)
        span = (again.start("x") + shift, again.end("x") + shift) if again and again.start("x") >= len(head) else None


def _found(body: str, start: int, row: Token, form: re.Pattern[str]) -> tuple[int, int] | None:
    """Where the secret stands, if one does."""
    if not row.back:
        match = form.match(body, start)
        return match.span("x" if "x" in match.groupdict() else 0) if match else None
    for at in range(max(0, start - row.back), start):
        if (not at or not body[at - 1].isalnum()) and (match := form.match(body, at)) and match.end() > start:
            return match.span()
    return None


def _without(body: str, spans: list[tuple[int, int, str]], pseudonyms: Pseudonyms) -> str:
    """The text with pseudonyms in the place of spans; of two that overlap the earlier and longer one counts."""
    parts, done = [], 0
    for start, end, kind in sorted(set(spans), key=lambda span: (span[0], -span[1])):
        value = body[start:end]
        if start >= done and not is_pseudonym(value) and "redacted-" not in value:
            parts += [body[done:start], pseudonyms.of(kind, value)]
            done = end
    return "".join(parts) + body[done:] if parts else body


def _without_keys_of_makers(body: str, pseudonyms: Pseudonyms) -> str:
    spans = []
    for _number, start, end in matches(_makers(), lowered(body)):
        if start and body[start - 1].isalnum():
            continue
        match = _OF_MAKER.match(body, end)
        if match and is_key(match["x"]):
            spans.append((*match.span("x"), "secret"))
    return _without(body, spans, pseudonyms)


def is_key(value: str) -> bool:
    """Whether it has digits and letters as no word, version or name has them."""
    digits = sum(letter.isdigit() for letter in value)
    return digits >= _DIGITS and sum(letter.isalpha() for letter in value) >= _LETTERS


@functools.cache
def _makers() -> Any:
    import ahocorasick_rs

    return ahocorasick_rs.AhoCorasick(sorted(words("maker")))
