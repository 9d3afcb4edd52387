"""Answers without what is private, where they become output: for every command, in every form.

Two measures. By default what opens a door goes out (tokens, passwords, logins), and so do the values of variables
that nobody needs to judge a machine, e-mail and hardware addresses; paths and names stay, since the commands that
mend something hold them. What is made to be shown to others goes without names, numbers and addresses too.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, cast

import msgspec

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.secrets import is_secret, words
from rigup.machine.pseudonyms import LEFT_OUT, Pseudonyms
from rigup.machine.readable import readable
from rigup.machine.redaction_doubts import Doubt, leaves_out, variable, without_strings
from rigup.machine.redaction_numbers import without_contacts
from rigup.machine.redaction_secrets import without_secrets

_T = TypeVar("_T")
_WORD = lazy_regex(r"(?a)[\w.]{0,11}")  # too short for a secret, and without what parts a name from its value
_COMMANDS = ("argv", "commands", "command", "words")
_STEPS = ("steps", "check")  # fields whose commands are there to be typed
_HIDDEN = "redacted-"  # how a pseudonym of what was taken out begins
_FACTS = "machine"  # what was read; its variables are kept by the allow list
_VARIABLES = ("variables", "file_variables")
_FIELDS = {"node": "host", "host": "host", "hostname": "host", "user": "user", "owner": "user"}
_PLACES = ("here", "host", "windows", "container", "shell", "service", "unit", "kernel", "rank", "program", "before", "after")
_SERIALS = ("serial", "serial_number")


def outward(answer: _T) -> _T:
    """An answer, of its type or plain, that its owner may print: without secrets, and without values that nobody needs."""
    return _again(_Outward().value(_plain(answer)), answer)


def _plain(answer: Any) -> Any:
    return msgspec.to_builtins(answer, enc_hook=str) if isinstance(answer, msgspec.Struct) else answer


def _again(plain: Any, answer: _T) -> _T:
    """What was made of an answer, as one of its type."""
    return msgspec.convert(plain, type(answer)) if isinstance(answer, msgspec.Struct) else cast(_T, plain)


def outward_text(text: str) -> str:
    """The same for a text."""
    return _Outward().text(text)


def for_others(answer: _T) -> _T:
    """An answer that is made to be shown to others: also without the names, numbers and addresses in it."""
    import json

    from rigup.machine.redaction import Redactor

    plain, redactor = _plain(answer), Redactor()
    redactor.learn(json.dumps(_accounts(plain), ensure_ascii=False, default=str))
    for line in _lines(plain):
        redactor.learn(line)
    for kind, name in _names(plain):
        redactor.names.add(kind, name)
    return _again(redactor.data(outward(plain)), answer)


class _Outward:
    """One answer's redaction: a thing has the same pseudonym in all of it."""

    def __init__(self) -> None:
        self.made = Pseudonyms()
        self._told: dict[str, str] = {}

    def text(self, text: str) -> str:
        """A text; of the same many only the first is looked at."""
        if _WORD.fullmatch(text):
            return text
        if text not in self._told:
            self._told[text] = without_contacts(without_secrets(readable(text), self.made), self.made)
            self._told[text] = without_strings(self._told[text], "", self.made, leaves_out)
        return self._told[text]

    def value(self, value: Any, key: str = "", of_machine: bool = False) -> Any:
        """Any part of an answer, by the name of its field; of its type or plain."""
        value = _plain(value)
        if isinstance(value, str):
            return self.made.of("serial number", value) if key in _SERIALS and value else self.text(value)
        if isinstance(value, Mapping):
            if key in _VARIABLES and of_machine and isinstance(value.get("name"), str):
                return {**value, "value": self._variable_value(value)}
            told = {name: self._field(value, name, key, of_machine) for name in value}
            return _in_words(told) if key in _STEPS else told
        if isinstance(value, list | tuple):
            words = key in _COMMANDS and value and all(isinstance(word, str) for word in value)
            return self._words(list(value)) if words else [self.value(item, key, of_machine) for item in value]
        return value

    def _field(self, value: Mapping[str, Any], name: str, key: str, of_machine: bool) -> Any:
        """A field; of a variable as a pair, or as a name with its value, the name tells whether it is a secret."""
        inner = value[name]
        called = name if key in _VARIABLES else value.get("name") if name == "value" else ""
        if isinstance(inner, str) and inner and isinstance(called, str) and called and is_secret(called):
            return self.made.of("secret", inner)
        return self.value(inner, name, of_machine or name == _FACTS)

    def _variable_value(self, fact: Mapping[str, Any]) -> Any:
        value = fact.get("value")
        if not isinstance(value, str):
            return value
        name = str(fact["name"])
        if name in words("naming variable") and _names_somebody(value):
            return LEFT_OUT
        shown = variable(name, value, self.made, _leaves_out)
        return self.text(name + "=" + shown).partition("=")[2]

    def _words(self, words: list[str]) -> list[str]:
        """A command line: what an option is given is read with the option."""
        redacted = self.text(" ".join(words)).split(" ")
        if len(redacted) == len(words) and not any(" " in word for word in words):
            return redacted
        return [self.text(word) for word in words]


def _in_words(step: dict[str, Any]) -> dict[str, Any]:
    """A step whose commands cannot be typed, since a value in them was taken out: its title alone tells what to do."""
    hidden = any(_HIDDEN in word for argv in step.get("commands") or () for word in argv)
    return {**step, "commands": []} if hidden else step


def _names_somebody(value: str) -> bool:
    """Not root, localhost or an address inside."""
    shared = value.lower() in words("shared account") | words("shared host")
    return bool(value) and not shared and not value.replace(".", "").isdigit()


def _leaves_out(_doubt: Doubt) -> bool:
    return False


def _names(value: Any) -> Iterator[tuple[str, str]]:
    """Fields that hold nothing but a machine's or a person's name."""
    if isinstance(value, Mapping):
        yield from ((_FIELDS[name], held) for name, held in value.items() if name in _FIELDS and isinstance(held, str))
        node = str(value.get("place") or "").partition("/")[0]
        if node and node.partition(":")[0] not in _PLACES:
            yield "host", node
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _names(inner)


def _accounts(answer: Any) -> Any:
    return answer.get(_FACTS, {}) if isinstance(answer, Mapping) else answer


def _lines(value: Any) -> list[str]:
    """Every text of an answer, and each variable as a line of its own."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        name, held = value.get("name"), value.get("value")
        pair = [f"{name}={held}"] if isinstance(name, str) and isinstance(held, str) else []
        return pair + [line for inner in value.values() for line in _lines(inner)]
    return [line for inner in value for line in _lines(inner)] if isinstance(value, list | tuple) else []
