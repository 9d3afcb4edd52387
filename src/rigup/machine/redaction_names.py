"""Names of people, machines and houses: learnt where a text says that one stands there, taken out everywhere.

A name that is also a common word of the field (somebody called ada, a machine called titan) is taken out only
where it stands as a name: the card is still called RTX 6000 Ada.
"""

import functools
import re
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.secrets import words
from rigup.machine.pseudonyms import Pseudonyms, is_pseudonym
from rigup.machine.redaction_contexts import HOSTS, WHOLE_FILES, Context, lowered, matching_contexts

_SHORTEST = 3  # letters of a name that is taken out wherever it stands
_FILE = lazy_regex(r"\.\w{1,5}\Z")
_ALIKE = (("user", "folder"), ("folder", "user"))
_COLUMNS = {
    "user": "user",
    "username": "user",
    "owner": "user",
    "account": "group",
    "sn": "serial number",
    "serial": "serial number",
    "nodelist": "host",
    "hostnames": "host",
}
_HEADS = lazy_regex(
    r"^[ \t]{0,8}(?:JOBID|Job ID|PID|USER|Node|NAME|ACCOUNT|Account)\b[^\n]{0,200}\b(?:USER|OWNER|User|Account|ACCOUNT|SN|SERIAL|PID)\b[^\n]{0,200}$",
    re.MULTILINE,
)
_CELL = lazy_regex(r"[^\W_][\w.-]{1,60}")
_MOST_ROWS = 200  # of a table
# What a program answers to who one is, and what somebody says to a login.
_ANSWERED = lazy_regex(
    r"^[^\n]{0,80}\b(?:(?:whoami|logname|id -un)[ \t]{0,4}\r?\n(?P<x>[^\W\d][\w.-]{1,31})|login: (?P<y>[^\W\d][\w.-]{1,31})[ \t]{0,4}\r?\n[Pp]assword:?)[ \t\r]{0,4}$",
    re.MULTILINE,
)
_ANSWERERS = ("whoami", "logname", "id -un", "login: ")
_STEM = lazy_regex(r"(?P<stem>[A-Za-z][\w-]{0,60}?[A-Za-z_-])(?P<number>\d{1,6})\Z")


class Names:
    """What was learnt, and the automaton that finds it."""

    def __init__(self, pseudonyms: Pseudonyms, common: frozenset[str]) -> None:
        self.made, self.common = pseudonyms, common
        self.everywhere: dict[str, tuple[str, str]] = {}  # lower case → kind, what stands in its place
        self.stems: dict[str, str] = {}
        self._finder: Any = None

    def learn(self, body: str, path: str = "") -> None:
        """Names in a text. `path` tells of some files what they are."""
        for kind, form in WHOLE_FILES:
            if form.search(path) and 1 < len(body.strip()) < 200:
                self.add(kind, body.strip().strip("\x00"))
        for context, start, end in matching_contexts(body):
            for match in context.form.finditer(body, start, end):
                if context.kind != "person":
                    self.add(context.kind, match["x"])
                elif not any(word in self.common for word in match["x"].lower().replace("-", " ").split()):
                    self.add("user", match["x"])  # `name = Ada Vey`, and not `name = Intel Arc`
        if path.endswith("/etc/hosts") or ("127.0.0.1" in body and "localhost" in body):
            for match in HOSTS.finditer(body):
                self.add("hosts", match["x"])
        self._learn_answers(body)
        self._learn_table(body)
        self._learn_columns(body)

    def _learn_answers(self, body: str) -> None:
        for match in _ANSWERED.finditer(body) if any(word in body for word in _ANSWERERS) else ():
            self.add("user", match["x"] or match["y"])

    def _learn_columns(self, body: str) -> None:
        """Accounts, nodes and serial numbers in tables of blanks: `JOBID PARTITION NAME USER`, `Node Generic SN Model`."""
        for match in _HEADS.finditer(body):
            heads = match[0].lower().split()
            known = [(at, _COLUMNS[head]) for at, head in enumerate(heads) if head in _COLUMNS]
            rows = body[match.end() : match.end() + 40_000].split("\n")[1 : _MOST_ROWS + 1] if len(heads) > 2 else []
            for row in rows:
                cells = row.split()
                if len(cells) < len(heads):
                    break
                for at, kind in known:
                    if _CELL.fullmatch(cells[at]):
                        self.add(kind, cells[at])

    def _learn_table(self, body: str) -> None:
        """A column of serial numbers in a table of commas."""
        at = body.find("serial")
        while at >= 0:
            start, end = body.rfind("\n", 0, at) + 1, body.find("\n", at)
            columns = [column.strip().lower() for column in body[start : end if end > 0 else at].split(",")]
            if 1 < len(columns) < 100 and "serial" in columns:
                self._learn_column(body[end : end + 20_000].splitlines()[1:65], columns)
            at = body.find("serial", end) if end > 0 else -1  # the last line has no column below it

    def _learn_column(self, lines: list[str], columns: list[str]) -> None:
        for line in lines:
            cells = [cell.strip() for cell in line.split(",")]
            if len(cells) == len(columns):
                self.add("serial number", cells[columns.index("serial")])

    def add(self, kind: str, name: str) -> None:
        """One name of a kind; what is everybody's is none."""
        if is_pseudonym(name):  # somebody may really be called so: nobody else shall be
            self.made.taken.add(name.lower())
            return
        if kind in ("users", "hosts"):
            for part in re.split(r"[,\s]+", name)[:500]:
                self.add(kind[:-1], part)
        elif kind == "host":
            self._add_host(name.rstrip(".,;:'’"))
        elif kind in ("serial number", "unique id", "account number"):
            self._add_serial(kind, name)
        elif kind == "folder":
            if name.lower() not in self.common and not shared(kind, name):
                self._put(kind, name, "user{n}")
        elif kind != "known user" and not shared(kind, name):
            self._put(kind, name, "domain{n}.example" if kind == "domain" else kind + "{n}")

    def _add_host(self, name: str) -> None:
        """The machine's own name, and the house's."""
        label, _dot, domain = name.partition(".")
        for house in _houses(domain):
            self.add("domain", house)
        if shared("host", label) or label.isdigit() or (domain and _public(name)):
            return
        if label.endswith("-"):  # node-[01-08]
            self._put_stem(label)
            return
        match = _STEM.match(label)
        stem = match["stem"].rstrip("-_").lower() if match else ""
        if match and stem not in self.common and not shared("host", stem) and len(stem) >= _SHORTEST:
            self._put_stem(match["stem"])
        elif not match or stem not in self.common:
            self._put("host", label, "host{n}")

    def _put_stem(self, stem: str) -> None:
        """Nodes that are counted keep their numbers: node[01-08] is written for all of them."""
        if stem.lower() not in self.stems:
            letters = self.made.number("node", stem.lower())
            pseudonym = "node" + (chr(96 + letters) if letters <= 26 else "z" + chr(96 + letters % 26)) + "-"
            self.stems[stem.lower()] = pseudonym
            self._finder = None

    def _put(self, kind: str, name: str, form: str) -> None:
        held = self.everywhere.get(name.lower())
        if held is None or (held[0] == "folder" and kind != "folder"):  # a folder's name proves to be a person's
            named = self.made.named("user" if kind == "folder" else kind, name.lower(), form)
            self.everywhere[name.lower()] = (kind, named)
            self._finder = None

    def _add_serial(self, kind: str, value: str) -> None:
        """A number of ours in as many digits: it is read as a number where it was one."""
        plain = value.removeprefix("0x").removeprefix("0X")
        if not re.fullmatch(r"(?=.*\d)[\w.-]{4,200}", plain) or len(plain.strip("0")) < 4 or value.lower() in self.everywhere:
            return
        if kind == "unique id" or value != plain:
            number = str(int(plain, 10 if plain.isdigit() and kind == "unique id" else 16)) if _is_number(plain) else ""
            count = self.made.number("unique id", number or plain.lower())
            pseudonym = f"1{count:0{len(plain) - 1}d}" if number == plain else f"{count:0{len(plain)}d}"
        else:
            pseudonym = f"{self.made.number('serial number', plain.lower()):0{len(plain)}d}"
        self.everywhere[plain.lower()] = ("serial number", pseudonym)
        self._finder = None

    # -- taking out ----------------------------------------------------------------------------------
    def out_of(self, body: str) -> str:
        """The text without what was learnt."""
        if self.everywhere or self.stems:
            body = self._everywhere(body)
        return self._in_context(body) if any(not self._free(name) for name in self.everywhere) else body

    def _free(self, name: str) -> bool:
        """Whether a name may be taken out wherever it stands."""
        kind = self.everywhere[name][0]
        long = len(name) >= _SHORTEST or (len(name) > 1 and _is_wide(name))
        return kind in ("serial number", "domain") or (kind != "folder" and long and name not in self.common)

    def _everywhere(self, body: str) -> str:
        known, finder = self._built()
        lower = lowered(body)
        parts, done = [], 0
        spans = finder.find_matches_as_indexes(lower, overlapping=True) if known else ()
        for number, start, end in sorted(spans, key=lambda span: (span[1], -span[2])):
            kind, pseudonym = known[number]
            if start < done or not _stands_alone(body, start, end, kind):
                continue  # a shorter one may stand here
            self.made.counts["host" if kind == "node" else kind] += 1
            parts += [body[done:start], pseudonym]
            done = end
        return "".join(parts) + body[done:] if parts else body

    def _built(self) -> tuple[list[tuple[str, str]], Any]:
        if self._finder is None:
            import ahocorasick_rs

            free = {name: entry for name, entry in self.everywhere.items() if self._free(name)}
            free |= {stem: ("node", pseudonym) for stem, pseudonym in self.stems.items()}
            self._finder = (list(free.values()), ahocorasick_rs.AhoCorasick(list(free)))
        known, finder = self._finder
        return known, finder

    def _in_context(self, body: str) -> str:
        """Names that are common words, taken out where they stand as names: line by line, for lines change."""
        lines: dict[int, tuple[int, list[Context]]] = {}
        for context, start, end in matching_contexts(body):
            lines.setdefault(start, (end, []))[1].append(context)
        parts, done = [], 0
        for start, (end, contexts) in sorted(lines.items()):
            line = body[start:end]
            for context in contexts:
                line = context.form.sub(functools.partial(self._replace_name, kind=context.kind), line)
            parts += [body[done:start], line]
            done = end
        return "".join(parts) + body[done:]

    def _replace_name(self, match: re.Match[str], kind: str) -> str:
        """A name that stands as one."""
        start, end = match.span("x")
        before, after = match[0][: start - match.start()], match[0][end - match.start() :]
        if kind in ("users", "hosts"):
            names = [self._known(name, kind[:-1]) for name in re.split(r"([,\s]+)", match["x"])]
            return before + "".join(names) + after
        kind = kind.removeprefix("known ")
        label, dot, rest = match["x"].partition(".") if kind == "host" else (match["x"], "", "")
        return before + self._known(label, kind) + dot + rest + after

    def _known(self, name: str, kind: str) -> str:
        held = self.everywhere.get(name.lower())
        if held is None or (held[0] != kind and (held[0], kind) not in _ALIKE):
            return name
        self.made.counts["user" if kind == "folder" else kind] += 1
        return held[1]

    def account(self, name: str) -> str:
        """A field that holds nothing but an account's name."""
        return self._known(name, "user")

    def whole(self, body: str, path: str) -> str:
        """A file that is nothing but a name."""
        for kind, form in WHOLE_FILES:
            if form.search(path) and body.strip():
                label, dot, rest = body.strip().partition(".")
                return body.replace(body.strip(), self._known(label, kind) + dot + rest, 1)
        return body


def _stands_alone(body: str, start: int, end: int, kind: str) -> bool:
    """A word of its own; a node's stem is followed by its number."""
    before, after = body[start - 1 : start], body[end : end + 1]
    if _is_wide(body[start:end]):  # in scripts that part no words a name stands among others
        return True
    if after == "_" and body[start:end].isupper():  # CLOUDSDK_HOME is a variable's name
        return False
    coded = body[start - 3 : start].lower() == "%2f"  # a path within an address
    if before.isalnum() and not coded and not (kind == "serial number" and body[start - 2 : start] in ("0x", "0X")):
        return False
    return after.isdigit() or after == "[" if kind == "node" else not after.isalnum()


def _is_wide(name: str) -> bool:
    """Whether a name is of a script that writes no blanks between words."""
    return any("\u2e80" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7ff" for letter in name)


def _is_number(plain: str) -> bool:
    return re.fullmatch(r"[0-9a-fA-F]{1,40}", plain) is not None


def shared(kind: str, name: str) -> bool:
    """Whether a name tells nothing: an account that every system has, a public host, a pseudonym."""
    lower = name.lower()
    if not lower or (kind != "domain" and is_pseudonym(lower)):
        return is_pseudonym(lower) or not lower
    if kind == "domain":
        return is_pseudonym(lower) or _public(lower) or "." not in lower or lower.replace(".", "").isdigit()
    if kind in ("folder", "group") and (lower in words("shared folder") or _FILE.search(lower)):
        return True
    if kind in ("user", "folder", "group"):
        system = lower.startswith(("systemd-", "_", "snap_", "nm-")) or lower.isdigit()
        return system or lower in words("shared account")
    return lower in words("shared host") or lower.startswith("ip-") or "*" in lower


def _houses(domain: str) -> list[str]:
    """A domain and those above it, as far as they are somebody's: corp.house.com, house.com."""
    parts = domain.split(".")
    least = 3 if len(parts) > 1 and len(parts[-1]) == 2 and len(parts[-2]) <= 3 else 2
    return [".".join(parts[at:]) for at in range(max(1, len(parts) - least + 1))] if len(parts) > 1 else []


@functools.cache
def _public_domains() -> frozenset[str]:
    """Of the tables' own sources, and of a list."""
    from rigup.knowledge import tables

    domains = set(words("public domain"))
    for name in tables.names():
        domains |= set(re.findall(r"https?://(?:www\.)?([a-z0-9.-]{4,80})", repr(tables.table(name))))
    return frozenset(domains)


def _public(name: str) -> bool:
    """Whether a host is one that all the world knows, or documentation's."""
    parts = name.lower().rstrip(".").split(".")
    if parts[-1] in ("example", "invalid", "test", "localhost", "arpa", "localdomain") or "in-addr" in parts:
        return True
    return any(".".join(parts[at:]) in _public_domains() for at in range(len(parts) - 1))
