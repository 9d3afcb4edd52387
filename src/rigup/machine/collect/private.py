"""What leaves a machine without Python, and what does not: by name for variables, by form for everything.

Both come from the table that captures are redacted by (`knowledge.secrets`), put into the plain expressions
that sed and .NET understand. A script can only take out what is known by its form. Names, addresses and
serial numbers stay in what it prints; `rigup capture --from` takes them out.
"""

import fnmatch
import re

from rigup.knowledge import tables
from rigup.knowledge.secrets import Token, tokens, words

BLANK = "****"
_LOOKS_AROUND = re.compile(r"\(\?<?[!=](?:\[\^?\]?[^\]]*\]|\\.|[^)\[\\])*\)")  # a bracket or an escape in it may hold the sign of its end
_SHORT = 5  # letters; a shorter word must stand alone in a name: PAT is one, PATH is none
_GAP = ".{0,"  # between a program and what it is given
_MOST_GIVEN = 3  # secrets of one program on one line; these expressions take the last that they find
_MOST_REPEATS = 100  # what a POSIX expression may count to, by far
_NAME = "[A-Za-z0-9_.-]*"
_VALUE = r"('[^']*'|\"[^\"]*\"|[^ '\"]+)"
_ENDED = r"['\"]?( (for|of|to) .*)?[ ]*[:=?][ ]*([>|][+-]?|[(]|[\\])?[ \t\r]*$"
_OPTION_ENDED = r"(token|password|passwd|passphrase|secret|[a-z-]key|pass)[ =]*[\\][ \t\r]*$"
_BETWEEN = r"[\\]*(['\"]|&quot;|&#3[49];)?[ ]*(:=|=>|[?]=|['\"],|[:=>]|：|＝|%3[AaDd])[ ]*([\\]*|&quot;|&#3[49];)"
_NEXT_ARGUMENT = r"--?[a-z-]*(token|password|passwd|passphrase|secret|[a-z-]key|pass)['\"]?,?[ \t\r]*$"
_OPENING = "([Pp]assword|PASSWORD|[Pp]asswd|[Pp]assphrase)"
_DRAWN = r"([^ '\"/=:]*[0-9][^ '\"/=:]*[!#?~+_$%^&*@-][^ '\"/=:]*|[^ '\"/=:]*[!#?~+_$%^&*@-][^ '\"/=:]*[0-9][^ '\"/=:]*)"
_JOINED = "[A-Za-z0-9_.-]*[A-Za-z0-9](PASS|[Pp]ass|PWD|[Pp]wd)"


@tables.remembered
def wanted() -> tuple[str, ...]:
    """Patterns of the variables whose values are kept."""
    known = sorted(words("kept variable"))
    return tuple(form for form in known if not any(other != form and fnmatch.fnmatchcase(form, other) for other in known))


def secret_globs() -> list[str]:
    """Shell patterns of variables whose values are never kept, whatever else they match."""
    long, short = _secret_words()
    long = [word for word in long if word.isascii() and word.isalnum()]  # as a variable's name may be
    forms = [form for word in long for form in ("*" + word.upper() + "*", "*" + word + "*")]
    forms += ["*_" + word.upper() for word in [*short, "key"]]
    return [*forms, "*[Kk]ey"]


def blankings() -> list[tuple[str, str]]:
    r"""Everything that is blanked on a line: extended regular expression, replacement with groups as `\1`."""
    named, short = _secret_names()
    blank = r"\1" + BLANK
    return [
        (r"([A-Za-z][A-Za-z0-9+.-]*://)[^/@ '\"<>]+@", blank + "@"),
        *(pair for row in tokens() for pair in [_form(row)] * (_MOST_GIVEN if _GAP in row.regex else 1)),
        (r"(-----BEGIN [A-Za-z0-9 ]*(PRIVATE KEY|Static key)[^-]*-----).+", blank),
        (
            "(("
            + _makers()
            + r")[A-Za-z0-9_.-]*['\"]?(( [Kk]ey| [Tt]oken)( is)?[ ]*[:=]?>?|[ ]*[:=]>?)[ '\"]*)[A-Za-z0-9_=-]*[0-9][A-Za-z0-9_=-]{14,}",
            blank,
        ),
        ("(" + _any_case("cookie") + r"['\"]?: *).*", blank),
        ("(" + _any_case("authorization") + r"['\"]?[:=] *['\"]?([A-Za-z]+ )?)[^ '\"]+", blank),
        *(("(" + name + _BETWEEN + ")" + _VALUE, blank) for name in named),
        ("(" + _any_case("pass") + r"[A-Za-z]* (is|was|lautet|ist) ['\"]?)[^ '\"]*[0-9][^ '\"]*", blank),
        ("(" + _OPENING + r"[ ]+(.*(: |\\.\\. ?: ))?['\"]?)" + _DRAWN, blank),
        ("(" + _OPENING + r"[ ]*[|][ ]*)[^ |]{4,}", blank),
        (r"(getpass[(][)] -> ')[^']+", blank),
        (r"((токен|ключ)[ ](—|-|это) ?)[^ ]{8,}", blank),
        (r"([Ll]ogin with .* / )" + _DRAWN, blank),
        ("((" + _any_case("pw") + "|" + _any_case("pass") + r"[a-z]*) to ['\"]?)" + _DRAWN, blank),
        (r"((_KEY|[.]key[a-z.]*)['\"],[ ]*['\"])[^'\"]+", blank),
        (r"(([Kk]ey|KEY|[Tt]oken|TOKEN) (is|was) ['\"]?)[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{7,}", blank),
        (r"((密钥|密鑰|密码|密碼|口令|令牌) ?(是|为|為) ?)[^ '\"]+", blank),
        ("((^|[^A-Za-z0-9])(" + _NAME + "[_.-])?" + short + "[0-9]*" + _BETWEEN + ")" + _VALUE, blank),
        *(
            (r"((set|setenv|write|put|config|create|-gx|ENV|env)[ ]([A-Za-z0-9_. -]*[ -])?" + name + r"[ ]+(-[a-z]+[ ]+)?)[^ ].*", blank)
            for name in named
        ),
        *(("(" + name + r"[ \t]+REG_[A-Z_]+[ \t]+).*", blank) for name in (*named, _JOINED)),
        (r"^([ \t]*[A-Z][A-Z0-9_]*_(KEY|TOKEN|SECRET|PASSWORD|PASS|PWD|CREDENTIALS|COOKIE|AUTH)[ \t]+)[^ \t:=][^ \t]*[ \t\r]*$", blank),
        (r"((^|[^A-Za-z0-9])--?[A-Za-z._-]*(token|password|passwd|passphrase|secret|[a-z_-]key|pass)[ =])[^ ]+", blank),
        ("(" + _JOINED + _BETWEEN + ")" + _VALUE, blank),
        (r"((machine|login|default) .* (password|account) )[^ ]+", blank),
        (r"(^[ \t]*(password|passphrase)[ \t]+)[^ :=]+[ \t\r]*$", blank),
    ]


def ends() -> list[str]:
    """Ends of lines after which a secret stands on the next: a name that says so, and a sign that a value follows."""
    named, short = _secret_names()
    names = [*named, _JOINED, "(^|[^A-Za-z0-9])(" + _NAME + "[_.-])?" + short]
    forms = [name + _ENDED for name in names] + [name + r"</[A-Za-z]+>[ \t\r]*$" for name in names[:-1]]
    listed = [r"name['\"]?:[ ]*['\"]?" + name + r"['\"]?,?[ \t\r]*$" for name in names[:-1]]
    return [*forms, *listed, "--?[a-z-]*" + _OPTION_ENDED, _NEXT_ARGUMENT, r",(password|passwd|secret|token)[ \t\r]*$"]


def below() -> tuple[str, str]:
    """What is blanked on such a next line: a word of its own, or what an option is given."""
    return (
        r"^([ \t]*(<[A-Za-z]+>|['\"]?value['\"]?:[ ]*)?['\"]?)[^ \t'\"<>:]{4,}((['\",;)\\]*|</.*|[ ][^:=]*)[ \t\r]*)$",
        r"\1" + BLANK + r"\3",
    )


def blocks() -> list[tuple[str, str]]:
    """Blocks that hold nothing but secrets: where one begins, and where it has ended."""
    return [(r"^[ \t]*(stringData|chpasswd):[ \t\r]*$", r"^[^ \t]")]


def in_block() -> tuple[str, str]:
    """What is blanked on a line of such a block."""
    return r"^([ \t]+[A-Za-z0-9_.'\"-]+:[ ]*)[^ |>].*$", r"\1" + BLANK


# Keys in blocks of lines: where one begins, and its last line.
KEYS = (
    ("----.?BEGIN [A-Za-z0-9 ]*(PRIVATE KEY|Static key)[^-]*-----?.?$", "----.?END"),
    ("Private-Lines: [0-9]", "Private-MAC|Private-Hash"),
)


def _secret_names() -> tuple[list[str], str]:
    """Names that say a secret: by a word in them, by a word and `key`; and short words that end one."""
    long, short = (("(" + "|".join(map(_any_case, alternatives)) + ")") for alternatives in _secret_words())
    keys = "(" + "|".join(map(_any_case, sorted(words("secret key")))) + ")[_. -]?[Kk][Ee][Yy][Ss]?"
    return [_NAME + long + _NAME, _NAME + keys + "[A-Za-z0-9_-]*"], short


def _secret_words() -> tuple[list[str], list[str]]:
    """Words that tell a secret wherever they stand in a name; words that do where they end it."""
    known = sorted(words("secret"), key=len)
    long = [word for word in known if len(word) >= _SHORT]
    least = [word for number, word in enumerate(long) if not any(other in word for other in long[:number])]
    return least, [word for word in known if len(word) < _SHORT]


def _any_case(word: str) -> str:
    return "".join(_either(letter) for letter in word)


def _either(letter: str) -> str:
    """A letter in both cases; one beyond ASCII is several bytes, of which a bracket would take one."""
    if not letter.isalpha() or letter.upper() == letter:
        return letter
    return "[" + letter.upper() + letter + "]" if letter.isascii() else "(" + letter.upper() + "|" + letter + ")"


def _makers() -> str:
    return "|".join(word for maker in sorted(words("maker")) for word in (maker, maker.upper(), maker.capitalize()))


def _form(row: Token) -> tuple[str, str]:
    """A row's blanking: all of the token, or what its group `x` names; a word of its own unless it may stand inside one."""
    before, named, rest = row.regex.partition("(?P<x>")
    alone = "" if row.inside else "(^|[^A-Za-z0-9])"
    if not named:
        return alone + _plain(row.regex), (r"\1" if alone else "") + BLANK
    return "(" + alone + _plain(before) + ")(" + _without_blank_start(_plain(rest)), r"\1" + BLANK


def _without_blank_start(rest: str) -> str:
    """What does not begin as a blank does, so that the next time the one before it is found."""
    match = re.match(r"\[\^([^\]]*)\](?:\{(\d+),(\d*)\})?", rest)
    if not match:
        return rest
    inner, least = match[1], int(match[2] or 1)
    more = "[^" + inner + "]{" + str(max(0, least - 1)) + ",}" if match[2] else ""
    return "[^*" + inner + "]" + more + rest[match.end() :]


def _plain(regex: str) -> str:
    """An expression of the table without what only Python's have: it may match more, never less."""
    plain = _LOOKS_AROUND.sub("", regex).replace("(?:", "(").replace("}?", "}").replace(")??", ")?")
    plain = re.sub(r"\[([^\]]*)\]", lambda found: _bracket(found[1]), plain)
    plain = re.sub(r"\\w", "[A-Za-z0-9_]", plain)
    plain = re.sub(r"\\d", "[0-9]", plain)
    return re.sub(r"\{(\d+),(\d+)\}", lambda found: _repeat(int(found[1]), int(found[2])), plain)


def _bracket(inner: str) -> str:
    letters = _class(inner)
    return "." if letters == "^" else "[" + letters + "]"


def _class(inner: str) -> str:
    """A bracket expression; in POSIX's a backslash stands for itself."""
    plain = inner.replace(r"\w", "A-Za-z0-9_").replace(r"\d", "0-9").replace(r"\s", " \t")
    plain = plain.replace(r"\t", "\t").replace(r"\n", "").replace(r"\r", "")  # it sees one line at a time
    return re.sub(r"\\(.)", r"\1", plain)


def _repeat(least: int, most: int) -> str:
    """Counted repeats; not all programs count far."""
    return "{" + str(least) + "," + (str(most) if most < _MOST_REPEATS else "") + "}"
