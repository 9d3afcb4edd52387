"""Private things out of what was kept of a machine, so that it can be shown to others.

First every text is read for names (`learn`), then they are taken out of all of them: what is called alice in
a prompt is the same alice in a path. In the place of a thing always stands the same, of its form, so that the
readers read the same of it. What was redacted once stays as it is.
"""

import functools
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from rigup.knowledge.patterns import lazy_regex
from rigup.machine import redaction_doubts as doubts
from rigup.machine.host import Answer, Recorded
from rigup.machine.pseudonyms import Pseudonyms
from rigup.machine.redaction_doubts import Doubt, Keeps, leaves_out
from rigup.machine.redaction_names import Names
from rigup.machine.redaction_numbers import without_numbers
from rigup.machine.redaction_secrets import without_secrets
from rigup.machine.snapshot import Snapshot

_WIDE = lazy_regex(r"(?:[\t\n\r\x20-\x7e]\x00){6,}")  # UTF-16 that was read as bytes
_WORD = lazy_regex(r"[a-z0-9][a-z0-9_.-]{1,40}")
_ACCOUNTS = ("user", "owner", "group", "groups", "members", "assigned")  # fields that hold nothing but an account
_VARIABLES = ("variables", "file_variables")
_UUID = lazy_regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Content(NamedTuple):
    """One text of a capture: its name, its size in bytes, and what was taken out of it, by kind."""

    name: str
    size: int
    taken_out: dict[str, int]


class Redactor:
    """Takes private things out of texts; one for all texts of a machine, so that they agree.

    `keeps` is asked about what no rule knows. `counts` tells what was taken out, by kind.
    """

    def __init__(self, keeps: Keeps = leaves_out) -> None:
        self.made = Pseudonyms()
        self.names = Names(self.made, vocabulary())
        self.keeps = keeps
        self.doubtful: dict[tuple[str, str], Doubt] = {}
        self.contents: list[Content] = []
        self._short: dict[str, str] = {}  # of an answer as data: its texts, until more names are learnt

    @property
    def counts(self) -> dict[str, int]:
        """How often each kind was taken out."""
        return dict(self.made.counts)

    # -- learning ------------------------------------------------------------------------------------
    def learn(self, body: str, path: str = "") -> None:
        """Read the names in a text, before any text is redacted."""
        self._short.clear()
        self.names.learn(_narrow(body), path)

    def learn_all(self, raw: Snapshot) -> None:
        """Read the names in everything that was kept: of the account first."""
        if isinstance(user := raw.who.get("user"), str):
            self.names.add("user", user)
        for path, body in _texts(raw):
            self.learn(body, path)

    # -- taking out ----------------------------------------------------------------------------------
    def text(self, body: str, source: str = "") -> str:
        """A text without what is private; as many lines as it had."""
        if "\x00" in body:
            body = _WIDE.sub(lambda match: _widen(self._plain(match[0][::2], source)), body)
        return self._plain(body, source)

    def _plain(self, body: str, source: str) -> str:
        body = without_secrets(body, self.made)
        body = doubts.without_variables(body, source, self.made, self._keeps)
        body = self.names.whole(body, source)
        body = without_numbers(body, self.made, well_known())
        body = self.names.out_of(body)
        return doubts.without_strings(body, source, self.made, self._keeps)

    def _keeps(self, doubt: Doubt) -> bool:
        self.doubtful.setdefault((doubt.what, doubt.value), doubt)
        return self.keeps(doubt)

    def data(self, value: Any, key: str = "") -> Any:
        """The same for an answer as data: the texts in it, its accounts, and the values of its variables."""
        if isinstance(value, str):
            return self._account(self._once(value)) if key in _ACCOUNTS else self._once(value)
        if isinstance(value, dict):
            fact = self._variable(value) if key in _VARIABLES else self._fields(value)
            return {**fact, "name": self._account(str(fact["name"]))} if key == "groups" and "name" in fact else fact
        if isinstance(value, list | tuple):
            return [self.data(inner, key) for inner in value]
        return value

    def _once(self, value: str) -> str:
        """A short text, of which an answer has the same many times."""
        if value not in self._short:
            self._short[value] = self.text(value)
        return self._short[value]

    def _fields(self, value: dict[str, Any]) -> dict[str, Any]:
        return {self._once(str(name)): self.data(inner, str(name)) for name, inner in value.items()}

    def _variable(self, fact: dict[str, Any]) -> dict[str, Any]:
        name, value = fact.get("name"), fact.get("value")
        if not isinstance(name, str) or not isinstance(value, str):
            return self._fields(fact)
        return {**self._fields(fact), "value": self._environment(name, value)}

    def _environment(self, name: str, value: str) -> str:
        """A variable's value as it stands behind its name, or nothing of it."""
        kept_value = doubts.variable(name, value, self.made, self._keeps)
        return self.text(name + "=" + kept_value, "env").partition("=")[2]

    # -- what was kept -------------------------------------------------------------------------------
    def snapshot(self, raw: Snapshot) -> Snapshot:
        """What was kept, without what is private. `learn_all` comes first."""
        return Snapshot(
            files=dict(self._file(path, body) for path, body in sorted(raw.files.items())),
            there=set(map(self.text, sorted(raw.there))),
            absent=set(map(self.text, sorted(raw.absent))),
            links={self.text(path): self.text(target) for path, target in sorted(raw.links.items())},
            nodes={self.text(path): self._node(node) for path, node in sorted(raw.nodes.items())},
            who=self._account_data(raw.who),
            commands=dict(self._answer(argv, answer) for argv, answer in raw.commands.items()),
            folders=set(map(self.text, sorted(raw.folders))),
            looked=set(map(self.text, sorted(raw.looked))),
            refused={self.text(path): self.text(why) for path, why in sorted(raw.refused.items())},
            recorded=[self._recording(recording) for recording in raw.recorded],
            partial=list(map(self.text, raw.partial)),
        )

    def argv(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """A command line, word by word; a word after `--password` is read with it."""
        words: list[str] = []
        for before, word in zip(("", *argv), argv, strict=False):
            pair = self.text(before + " " + word) if before.startswith("-") else ""
            head = self.text(before) + " "
            words.append(pair.removeprefix(head) if pair.startswith(head) else self.text(word))
        return tuple(words)

    def listed(self, name: str, body: str, source: str) -> str:
        """A text without what is private, put on the list of what is inside."""
        before = Counter(self.made.counts)
        redacted = self.text(body, source)
        self.contents.append(Content(name, len(redacted.encode("utf-8", "replace")), dict(self.made.counts - before)))
        return redacted

    def _file(self, path: str, body: str) -> tuple[str, str]:
        name = self.text(path)
        return name, self.listed(name, body, path)

    def _answer(self, argv: tuple[str, ...], answer: Answer) -> tuple[tuple[str, ...], Answer]:
        words = self.argv(argv)
        body = None if answer.body is None else self.listed("$ " + " ".join(words), answer.body, " ".join(argv))
        return words, answer._replace(body=body, why=self.text(answer.why))

    def _recording(self, recording: Recorded) -> Recorded:
        words = self.argv(recording.argv)
        output = self.listed("$ " + " ".join(words), recording.output, " ".join(recording.argv))
        return recording._replace(argv=words, output=output)

    def _node(self, node: dict[str, Any]) -> dict[str, Any]:
        fields = {name: self._account(str(value)) if name in ("owner", "group") else value for name, value in node.items()}
        return {**fields, "acl": [self._acl_entry(str(entry)) for entry in node["acl"]]} if node.get("acl") else fields

    def _acl_entry(self, entry: str) -> str:
        """`user:ada:rw`."""
        kind, colon, rest = entry.partition(":")
        name, end, mode = rest.partition(":")
        return kind + colon + self._account(name) + end + mode

    def _account(self, name: str) -> str:
        """A field that is an account's name, however common the word."""
        return self.names.account(name)

    def _account_data(self, data: dict[str, Any]) -> dict[str, Any]:
        account = dict(data)
        if isinstance(data.get("user"), str):
            account["user"] = self._account(data["user"])
        if isinstance(data.get("groups"), list):
            account["groups"] = [self._account(str(group)) for group in data["groups"]]
        if isinstance(data.get("id"), str):
            account["id"] = self.text(data["id"])
        if isinstance(environment := data.get("environment"), dict):
            account["environment"] = {self.text(str(name)): self._environment(str(name), str(value)) for name, value in environment.items()}
        return account


def _texts(raw: Snapshot) -> Iterator[tuple[str, str]]:
    """Everything that may hold names, with where it stands."""
    if isinstance(raw.who.get("id"), str):
        yield "id", raw.who["id"]
    if isinstance(environment := raw.who.get("environment"), dict):
        yield "env", "\n".join(f"{name}={value}" for name, value in environment.items())
    yield from sorted(raw.files.items())
    for argv, answer in raw.commands.items():
        yield " ".join(argv), " ".join(argv) + "\n" + (answer.body or "")
    for recording in raw.recorded:
        yield " ".join(recording.argv), " ".join(recording.argv) + "\n" + recording.output
    paths = (raw.there, raw.folders, raw.absent, raw.links, raw.links.values(), raw.nodes, raw.refused)
    yield "", "\n".join(path for group in paths for path in group)
    owners = {str(node.get(part)) for node in raw.nodes.values() for part in ("owner", "group") if node.get(part)}
    yield "", "\n".join(f"-rw-r--r-- 1 {owner} root 0 /x" for owner in sorted(owners))


def _narrow(body: str) -> str:
    """The text of what was written as UTF-16 and read as bytes, beside all else."""
    return body + "\n" + "\n".join(match[0][::2] for match in _WIDE.finditer(body)) if "\x00" in body else body


def _widen(body: str) -> str:
    return "".join(letter + "\x00" for letter in body)


@functools.cache
def vocabulary() -> frozenset[str]:
    """Words of the field: a person may be called like one, but the word is not that person."""
    from rigup.knowledge import tables
    from rigup.machine.facts import kinds

    table_texts = [repr(tables.table(name)) for name in tables.names() if name != "secret_forms"]
    fields = [name for kind in kinds().values() for name in (kind.__name__, *kind.__annotations__)]
    return frozenset(_WORD.findall(" ".join((*table_texts, *fields, *_asked_names())).lower()))


def _asked_names() -> list[str]:
    """What readers ask for and the marks by which they know a text."""
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.reader import READERS, shown

    names = [shown(query).replace("/", " ") for reader in READERS.values() for query in reader.inputs]
    return names + [mark for reader in READERS.values() for mark in reader.marks]


@functools.cache
def well_known() -> frozenset[str]:
    """UUIDs that readers ask for by name: they are the same on every machine."""
    return frozenset(_UUID.findall(" ".join(_asked_names()).lower()))
