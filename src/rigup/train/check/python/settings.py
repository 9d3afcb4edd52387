"""What a script's options are set to: by its command line, else by their defaults."""

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from rigup.train.check.python.values import UNKNOWN_VALUE, Place, Value, constant
from rigup.train.check.shell.words import UNKNOWN, Word

if TYPE_CHECKING:
    from rigup.train.check.python.modules import Module

_FLAGS = ("store_true", "store_false", "store_const", "count", "help", "version", "append_const")
_TRUE, _FALSE = ("true", "yes", "1", "on", "y", "t"), ("false", "no", "0", "off", "n", "f")


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """An option as a script declares it.

    Attributes:
        names: with their dashes; without for a positional one.
        default: the expression; None where there is none.
        type: "int", "float", "str", "bool" or "" for others.

    """

    dest: str
    names: tuple[str, ...]
    default: ast.expr | None
    type: str
    action: str
    module: "Module"
    line: int
    many: bool = False
    envvar: str = ""

    @property
    def positional(self) -> bool:
        """It has no dashes."""
        return not any(name.startswith("-") for name in self.names)


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The command line of a script, taken apart.

    Attributes:
        named: by option without dashes, with underscores.
        assigned: of hydra's and OmegaConf's `key=value`.
        positional: the other words.
        words: all of them.

    """

    named: Mapping[str, Value] = {}
    assigned: Mapping[str, Value] = {}
    positional: tuple[Value, ...] = ()
    words: tuple[Value, ...] = ()
    seen: bool = False


def given(arguments: Sequence[Word], file: str, flags: frozenset[str], short: Mapping[str, str]) -> Given:
    """Take a command line apart.

    Args:
        arguments: the words behind the script.
        file: the batch script's name.
        flags: options without a value, without dashes.
        short: of short options the names they stand for.

    """
    named: dict[str, Value] = {}
    assigned: dict[str, Value] = {}
    positional: list[Value] = []
    left = list(arguments)
    while left:
        word = left.pop(0)
        text = word.text
        if text.startswith("-") and len(text) > 1 and not text[1].isdigit():
            written, equals, value = text.partition("=")
            key = short.get(written, written.lstrip("-").replace("-", "_"))
            if equals:
                named[key] = _value(value, word, file)
            elif key in flags or not left or _is_option(left[0].text):
                named[key] = Value(const=True, place=Place(file=file, line=word.line))
            else:
                named[key] = _value(left[0].text, left[0], file)
                while left and not _is_option(left[0].text):
                    positional.append(_value(left[0].text, left.pop(0), file)) if named.get(key) is None else left.pop(0)
                    break
        elif "=" in text and text.partition("=")[0].lstrip("+~").replace(".", "_").replace("/", "_").isidentifier():
            key, _equals, value = text.partition("=")
            assigned[key.lstrip("+~")] = yaml_word(value, word, file)
        else:
            positional.append(_value(text, word, file))
    return Given(
        named=named,
        assigned=assigned,
        positional=tuple(positional),
        words=tuple(_value(word.text, word, file) for word in arguments),
        seen=True,
    )


def _is_option(text: str) -> bool:
    return text.startswith("-") and len(text) > 1 and not text[1].isdigit()


def _value(text: str, word: Word, file: str) -> Value:
    place = Place(file=file, line=word.line)
    return Value(place=place, sources=word.refs) if UNKNOWN in text else Value(const=text, place=place)


def yaml_word(text: str, word: Word, file: str) -> Value:
    """A value as YAML has it."""
    place = Place(file=file, line=word.line)
    if UNKNOWN in text:
        return Value(place=place)
    try:
        return constant(yaml.safe_load(text[:2000]), place)
    except (yaml.YAMLError, ValueError, RecursionError):
        return Value(const=text, place=place)


def as_type(value: Value, kind: str) -> Value:
    """A word of a command line as the type that its option has."""
    if not isinstance(value.const, str):
        return value
    converted: Any = value.const
    try:
        if kind == "int":
            converted = int(value.const)
        elif kind == "float":
            converted = float(value.const)
        elif kind == "bool" and value.const.lower() in _TRUE + _FALSE:
            converted = value.const.lower() in _TRUE
    except ValueError:
        return UNKNOWN_VALUE
    return msgspec.structs.replace(value, const=converted)


def declared(call: ast.Call, module: "Module") -> Declared | None:
    """An option by `add_argument("--name", …)` or `click.option("--name", …)`."""
    names = tuple(arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
    if not names:
        return None
    keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    long = next((name for name in names if name.startswith("--")), next((name for name in names if not name.startswith("-")), names[0]))
    bare = next((name for name in names if name.isidentifier()), "")  # click: a name of its own
    dest = _constant(keywords.get("dest")) or bare or long.partition("/")[0].lstrip("-").replace("-", "_")
    action = _constant(keywords.get("action")) or ("store_true" if _constant(keywords.get("is_flag")) is True else "")
    default = keywords.get("default")
    if default is None and action in ("store_true", "store_false"):
        default = ast.Constant(value=action == "store_false")
    return Declared(
        dest=str(dest),
        names=names,
        default=default,
        type=_type(keywords.get("type"), action),
        action=str(action),
        module=module,
        line=call.lineno,
        many=_constant(keywords.get("nargs")) not in (None, "?", 1),
        envvar=str(_constant(keywords.get("envvar")) or ""),
    )


def _constant(node: ast.expr | None) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _type(node: ast.expr | None, action: str) -> str:
    if action in ("store_true", "store_false") or "BooleanOptional" in action:
        return "bool"
    if isinstance(node, ast.Name):
        return node.id if node.id in ("int", "float", "str", "bool") else "bool" if "bool" in node.id else ""
    return ""


def is_flag(option: Declared) -> bool:
    """It takes no value."""
    return option.action in _FLAGS or "BooleanOptional" in option.action
