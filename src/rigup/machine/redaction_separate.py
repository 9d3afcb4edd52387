"""Secrets that stand apart from their names: on the next line, in another column, in an element, in a block."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.secrets import is_secret
from rigup.machine.pseudonyms import Pseudonyms, is_pseudonym

_QUOTE = r"(?:\\{0,7}[\"']|&quot;|&#3[49];)"
_WHOLE = r"(?P<value>\"[^\"\r\n]{4,4000}\"|'[^'\r\n]{4,4000}'|[^\s\"'&,;<>()\[\]{}\\-][^\s\"'&,;<>()\[\]{}\\]{3,4000})"
# `Password    REG_SZ    …`, as the registry and its programs list a value.
_TYPED = lazy_regex(r"(?P<tail>)(?P<between>[ \t]{1,60}REG_[A-Z_]{2,24}[ \t]{1,20})(?P<value>[^\s][^\r\n]{0,4000})")
# `<Password><Value>…`, `<key>password</key><string>…`.
_ELEMENT = lazy_regex(
    r"(?P<tail>)(?P<between>(?:>|</\w{1,40}>)\s{0,60}<(?:\w{1,20}:)?\w{1,40}>[ \t]{0,20})(?P<value>[^<>\s][^<>\r\n]{0,4000})"
)
_ENCODED = lazy_regex(
    r"(?P<tail>)(?P<between>(?:%2[27])?(?:%20){0,2}%3[AaDd](?:%20){0,2}(?:%2[27])?)"
    r"(?P<value>(?:(?!%2[2673Cc])[^\s\"'&<>]){2,4000})"
)
# `password:` and below it the word alone; `password: >-`, `token = (`, `Password for 'https://h':`.
_BELOW = lazy_regex(
    rf"(?P<tail>)(?P<between>{_QUOTE}?(?: (?:for|of|to) [^\n]{{1,200}}?)?[ \t]{{0,8}}[:=：?][ \t]{{0,4}}(?:[>|][+-]?|\(|\\)?[ \t]{{0,8}}"
    rf"\r?\n[ \t|>]{{0,80}}){_WHOLE}(?=[\"',;)\\]{{0,3}}[ \t]{{0,8}}(?:[\r\n]|\Z))"
)
# `--token \` and the word on the next line.
_CONTINUED = lazy_regex(r"(?P<tail>)(?P<between>[ \t=]{1,4}[\\`^]\r?\n[ \t]{0,80})(?P<value>[^\s\"'-][^\s\"']{2,4000})")
# `WANDB_API_KEY      …`, a list of variables in columns.
_COLUMN = lazy_regex(r"(?P<tail>)(?P<between>[ \t]{1,60})(?P<value>[^\s\"'=:|-][^\s\"'|]{5,4000})(?=[ \t]{0,8}(?:[\r\n]|\Z))")
# `config set --secret dbPassword …`, `setenv TOKEN …`, `write domain apiKey -string …`.
_SET = lazy_regex(r"(?P<tail>)(?P<between>[ \t]{1,4}(?:--?[a-z]{1,20}[ \t]{1,4})?[\"']?)(?P<value>[^\s\"'=:-][^\s\"']{3,4000})")
_SETS = lazy_regex(r"(?i)(?:^|[\s;&|(])(?:set|setenv|write|put|config|configure|add|create|store|login|env)(?=[\s-])")
# `define('DB_PASSWORD', '…')`, `SetEnvironmentVariable("KEY", "…")`.
_ARGUMENT = lazy_regex(r"(?P<tail>)(?P<between>[\"'],[ \t]{0,4}[\"'])(?P<value>[^\s\"']{4,4000})(?=[\"'])")
# `| password | … |`, a cell of a table.
_CELL = lazy_regex(r"(?P<tail>)(?P<between>[ \t]{0,20}[|│][ \t]{0,20})(?P<value>[^\s|│]{4,400})(?=[ \t]{0,80}[|│])")
# `--password` and the word on the next line: arguments one below the other.
_NEXT = lazy_regex(
    r"(?P<tail>)(?P<between>[\"']?,?[ \t]{0,4}\r?\n[ \t]{0,80}(?:- )?[\"']?)(?P<value>[^\s\"'-][^\s\"']{2,4000})(?=[\"']?,?[ \t]{0,8}(?:[\r\n]|\Z))"
)
# `user,password` and below it rows of as many cells.
_TABLE = lazy_regex(
    r"(?mi)^(?P<heads>(?:[\w. -]{1,60}[,;\t]){0,30}[\w. -]{0,40}(?:password|passwd|secret|token|api_?key)(?:[,;\t][\w. -]{1,60}){0,30})[ \t]{0,4}\r?\n"
)
_MOST_ROWS = 200
_COLUMN_NAME = lazy_regex(r"[A-Z][A-Z0-9]{0,60}(?:_[A-Z0-9]{1,60}){1,10}")
_SIGNS = frozenset("!#$%^&*@+~")

_ROW = lazy_regex(r"(?m)^(?P<head>[ \t]{1,60}[\w.-]{1,200}[ \t]{0,4}:[ \t]{1,20}[\"']?)(?P<value>[^\s\"'|>{\[][^\"'\r\n]{0,20000})")
_FIELD = lazy_regex(r"(?P<head>\"[\w.-]{1,200}\"[ \t]{0,4}:[ \t]{0,4}\")(?P<value>[^\"\r\n]{1,20000})")
_DATA = lazy_regex(r"(?m)^(?P<before>[ \t]{0,40})(?:stringData|data):[ \t]{0,8}\r?\n(?:(?P=before)[ \t]{1,20}[^\n]{0,20000}\n?){1,400}")
_DATA_FIELDS = lazy_regex(r"\"(?:stringData|data)\"\s{0,8}:\s{0,8}\{[^{}]{0,200000}\}")
_ACCOUNTS = lazy_regex(
    r"(?m)^[^\n]{0,200}?\bchpasswd:[ \t]{0,8}\r?\n(?:[ \t]{1,40}\w{1,40}:[^\n]{0,80}\n){0,3}?[ \t]{1,40}list:[ \t]{0,8}\|?[+-]?[ \t]{0,8}\r?\n"
    r"(?:[ \t]{1,60}[^\n]{1,400}\n?){1,200}"
)
_ACCOUNT = lazy_regex(r"(?m)^(?P<head>[ \t]{1,60}(?:-[ \t]{1,8})?[\"']?[\w.-]{1,60}:)(?P<value>[^\s\"'][^\s\"']{0,400})")


def separate_value(body: str, end: int, name: str, line: str) -> re.Match[str] | None:
    """A value that its name says is a secret and that stands apart from it. `line` is what stands before the name's end."""
    if match := _TYPED.match(body, end) or _ELEMENT.match(body, end) or _ENCODED.match(body, end):
        return match
    before = line.removesuffix(name)
    in_column = _COLUMN_NAME.fullmatch(name) and (not before.strip() or body[end : end + 2] == "  ")
    option = name.startswith("-")
    ways = (
        (_ARGUMENT, True),
        (_CELL, True),
        (_BELOW, True),
        (_CONTINUED, option),
        (_NEXT, option),
        (_COLUMN, in_column),
        (_SET, _SETS.search(before)),
    )
    for form, fits in ways:
        if fits and (match := form.match(body, end)) and is_mixed(match["value"]):
            return match
    return None


def is_mixed(value: str, strictly: bool = False) -> bool:
    """Letters and digits or signs, as no word of a sentence has them; `strictly` all of these, or small and large letters between digits."""
    plain = value.strip("\"'")
    alpha, digit = any(letter.isalpha() for letter in plain), any(letter.isdigit() for letter in plain)
    sign = any(letter in _SIGNS or letter in "_-?" for letter in plain)
    if strictly:
        return alpha and digit and (sign or not (plain.islower() or plain.isupper() or plain.istitle()))
    return alpha and (digit or any(letter in _SIGNS for letter in plain))


def without_blocks(body: str, pseudonyms: Pseudonyms) -> str:
    """The text without values in blocks that hold nothing but secrets: their names may be any."""
    if "stringData" in body or "Secret" in body:
        body = "\n---".join(_of_secrets(part, pseudonyms) for part in body.split("\n---"))
    body = _without_columns(body, pseudonyms)
    if "chpasswd:" in body:
        body = _ACCOUNTS.sub(lambda match: _values(_ACCOUNT, match[0], pseudonyms), body)
    return body


def _without_columns(body: str, pseudonyms: Pseudonyms) -> str:
    """The text without the cells below a head that says secret."""
    parts, done = [], 0
    for table in _TABLE.finditer(body):
        sign = next(letter for letter in table["heads"] + "," if letter in ",;\t")
        heads = [bool(is_secret(head.strip())) for head in table["heads"].split(sign)]
        for row in body[table.end() : table.end() + 40_000].split("\n", _MOST_ROWS)[:_MOST_ROWS] if len(heads) > 1 else ():
            cells, start = row.rstrip("\r").split(sign), max(done, table.end())
            if len(cells) != len(heads) or any(map(_names_again, heads, cells)):
                break
            redacted_cells = (
                _redact_value(cell, pseudonyms) if secret and cell.strip() else cell for secret, cell in zip(heads, cells, strict=True)
            )
            parts += [body[done:start], sign.join(redacted_cells)]
            done = start + len(row.rstrip("\r"))
            parts.append(body[done : done + len(row) - len(row.rstrip("\r")) + 1])
            done = min(done + len(parts[-1]), len(body))
    return "".join(parts) + body[done:] if parts else body


def _names_again(secret: bool, cell: str) -> bool:
    """Whether a cell below such a head is a name itself: the lines are pairs, and no table."""
    return secret and bool(cell.strip()) and bool(is_secret(cell.rsplit(maxsplit=1)[-1]))


def _of_secrets(part: str, pseudonyms: Pseudonyms) -> str:
    """One document of a cluster's settings."""
    if "stringData" not in part and not re.search(r"\bkind[\"']?:[ \t]{0,4}[\"']?Secret\b", part):
        return part
    part = _DATA.sub(lambda match: _values(_ROW, match[0], pseudonyms), part)
    return _DATA_FIELDS.sub(lambda match: _values(_FIELD, match[0], pseudonyms), part)


def _values(form: re.Pattern[str], block: str, pseudonyms: Pseudonyms) -> str:
    return form.sub(lambda match: match["head"] + _redact_value(match["value"], pseudonyms), block)


def _redact_value(value: str, pseudonyms: Pseudonyms) -> str:
    return value if is_pseudonym(value) or "redacted-" in value else pseudonyms.of("secret", value)
