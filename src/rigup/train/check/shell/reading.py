"""Reads shell scripts by tree-sitter's grammar of bash: a tree with lines, also of scripts that are not quite right."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from rigup.train.check.shell.arithmetic import calculated
from rigup.train.check.shell.expansion import expanded, is_parameter, parameters, split
from rigup.train.check.shell.nodes import in_background, is_piped
from rigup.train.check.shell.words import UNKNOWN, Command, Script, Setting, Trap, Word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_BYTES = 1_000_000
_DEEPEST = 120  # nodes within nodes
_MOST_COMMANDS = 5000
_MOST_CALLS = 8  # functions within functions
_LOOPS = ("for_statement", "while_statement", "c_style_for_statement")
_BRANCHES = ("if_statement", "case_statement")
_NAMES = ("simple_expansion", "expansion")
_REMOVES = re.compile(r"[:@^,]")

Outside = Callable[[str], str | None]
"""The value of a variable that the script itself does not set; None where nobody can know it."""


class NoShellParserError(Exception):
    """The packages that read shell scripts are not installed."""


@cache
def _parser() -> "Parser":
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError as error:
        raise NoShellParserError from error
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _nothing(_path: str) -> str | None:
    return None


class Reader:
    """Walks a script once, with the variables as they stand at each command.

    Args:
        file: the name that lines are told with.
        outside: variables that the surroundings set.
        given: variables that are set when it starts, such as its positional parameters.
        first: the number of its first line.
        read_sibling: the text of a file that it sources.

    """

    def __init__(
        self, file: str, outside: Outside, given: dict[str, Word] | None = None, first: int = 1, read_sibling: Outside = _nothing
    ) -> None:
        self.file, self.outside, self.first, self.read_sibling = file, outside, first, read_sibling
        self.data = b""
        self.variables = dict(given or {})
        self.exported = set(self.variables)
        self.functions: dict[str, tuple[Node, str, int, bytes]] = {}
        self.commands: list[Command] = []
        self.settings: list[Setting] = []
        self.traps: list[Trap] = []
        self.loops = self.branches = self.calls = self.depth = 0
        self.exports_all = False

    def read(self, text: str) -> Script:
        """What the script does. Raises NoShellParserError."""
        self._read(text, self.file, self.first)
        return Script(
            commands=tuple(self.commands), settings=tuple(self.settings), traps=tuple(self.traps), whole=len(self.commands) < _MOST_COMMANDS
        )

    def _read(self, text: str, file: str, first: int) -> None:
        data = text.encode(errors="replace")[:MOST_BYTES].replace(b"\0", b" ")
        with self._within(file, first, data):
            self._walk(_parser().parse(_masked(data)).root_node)

    @contextmanager
    def _within(self, file: str, first: int, data: bytes) -> Iterator[None]:
        """Nodes are of this file."""
        before = self.file, self.first, self.data
        self.file, self.first, self.data = file, first, data
        self.calls += 1
        try:
            yield
        finally:
            self.calls -= 1
            self.file, self.first, self.data = before

    def text_of(self, node: "Node") -> str:
        """A node as it is written."""
        return self.data[node.start_byte : node.end_byte].decode(errors="replace")

    # -- statements
    def _walk(self, node: "Node") -> None:
        if self.depth > _DEEPEST or len(self.commands) >= _MOST_COMMANDS:
            return
        self.depth += 1
        try:
            self._statement(node)
        finally:
            self.depth -= 1

    def _statement(self, node: "Node") -> None:
        kind = node.type
        if kind == "command":
            self._command(node)
        elif kind == "variable_assignment":
            self._assign(node, exported=self.exports_all)
        elif kind == "declaration_command":
            self._declare(node)
        elif kind == "function_definition":
            name = node.child_by_field_name("name")
            if name is not None:
                self.functions[self.text_of(name)] = (node, self.file, self.first, self.data)
        elif kind in _LOOPS:
            self._loop(node)
        elif kind in _BRANCHES:
            with self._uncertain("branches"):
                self._children(node)
        elif kind not in ("comment", "heredoc_redirect", "test_command"):
            self._children(node)

    def _children(self, node: "Node") -> None:
        for child in node.children:
            if child.is_named:
                self._walk(child)

    def _loop(self, node: "Node") -> None:
        variable = node.child_by_field_name("variable")
        with self._uncertain("loops"):
            if variable is not None:
                self.variables[self.text_of(variable)] = Word(text=UNKNOWN, raw=self.text_of(variable), line=self._line(variable))
            self._children(node)

    @contextmanager
    def _uncertain(self, counter: str) -> Iterator[None]:
        """What is set in a branch or a loop is not known behind it, unless it was the same before."""
        before = dict(self.variables)
        setattr(self, counter, getattr(self, counter) + 1)
        try:
            yield
        finally:
            setattr(self, counter, getattr(self, counter) - 1)
            for name, word in self.variables.items():
                if name not in before or before[name].text != word.text:
                    self.variables[name] = msgspec.structs.replace(word, text=UNKNOWN)

    def _line(self, node: "Node") -> int:
        return node.start_point[0] + self.first

    # -- variables
    def _declare(self, node: "Node") -> None:
        exports = node.children[0].type == "export" or "-x" in self.text_of(node).split()[:3]
        for child in node.children[1:]:
            if child.type == "variable_assignment":
                self._assign(child, exported=exports)
            elif child.type == "variable_name" and exports:
                self._export(self.text_of(child), self._line(child))

    def _export(self, name: str, line: int) -> None:
        self.exported.add(name)
        if (word := self.variables.get(name)) is not None:
            self._set(name, word, line, exported=True)

    def _assign(self, node: "Node", exported: bool) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            return
        word = self._word(value) if value is not None else Word(text="", raw="", line=self._line(node))
        if "+=" in self.text_of(node)[: len(self.text_of(name)) + 2]:
            old = self.variables.get(self.text_of(name))
            word = _appended(old, word)
        self._set(self.text_of(name), word, self._line(node), exported or self.text_of(name) in self.exported)

    def _set(self, name: str, word: Word, line: int, exported: bool) -> None:
        self.variables[name] = word
        if exported:
            self.exported.add(name)
        self.settings.append(Setting(name=name, word=word, file=self.file, line=line, exported=exported, order=len(self.commands)))

    # -- commands
    def _command(self, node: "Node") -> None:
        before: dict[str, Word] = {}
        words: list[Word] = []
        for child in node.children:
            if child.type == "variable_assignment":
                name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
                if name is not None and value is not None:
                    before[self.text_of(name)] = self._word(value)
            elif child.type == "command_name":
                words += [self._word(part) for part in child.children]
            elif child.is_named and child.type not in ("file_redirect", "heredoc_redirect", "herestring_redirect"):
                words.append(self._word(child))
        words = [part for word in words for part in split(word, self.variables)]
        if not words:
            return
        self._act(words, node)
        handed = {name: self.variables[name] for name in self.exported if name in self.variables}
        self.commands.append(
            Command(
                words=tuple(words),
                file=self.file,
                line=self._line(node),
                last=max(node.end_point[0] + self.first, self._line(node)),
                order=len(self.commands),
                background=in_background(node),
                variables={**handed, **before},
                repeated=self.loops > 0,
                conditional=self.branches > 0,
                piped=is_piped(node),
            )
        )
        self._call(words)

    def _act(self, words: list[Word], node: "Node") -> None:
        """Commands that change the shell itself."""
        name, texts = words[0].text, [word.text for word in words[1:]]
        if name == "trap" and len(texts) > 1:
            signals = frozenset(text.upper().removeprefix("SIG") for text in texts[1:])
            self.traps.append(Trap(handler=texts[0], signals=signals, line=self._line(node)))
        elif name == "set":
            self._options(words[1:], texts, node)
        elif name in (".", "source") and texts:
            self._source(texts[0].removeprefix("./"))
        elif name == "shift":
            self._shift(texts[0] if texts else "1")
        elif name == "unset":
            self.variables = {held: word for held, word in self.variables.items() if held not in texts}
            self.exported -= set(texts)
        elif name == "read":
            line = self._line(node)
            self.variables |= {text: Word(text=UNKNOWN, raw=text, line=line) for text in texts if text.isidentifier()}

    def _source(self, path: str) -> None:
        text = self.read_sibling(path) if UNKNOWN not in path and self.calls < _MOST_CALLS else None
        if text is not None:
            self._read(text, path, 1)

    def _options(self, words: list[Word], texts: list[str], node: "Node") -> None:
        """`set -a` and `set -- …`."""
        if "-a" in texts or "allexport" in texts:
            self.exports_all = True
        if "--" in texts:
            self._hand(words[texts.index("--") + 1 :], self._line(node))

    def _call(self, words: list[Word]) -> None:
        """The commands of a function stand where it is called."""
        defined = self.functions.get(words[0].text)
        body = defined[0].child_by_field_name("body") if defined is not None else None
        if defined is not None and body is not None and self.calls < _MOST_CALLS:
            before = {name: word for name, word in self.variables.items() if is_parameter(name)}
            self._hand(words[1:], words[0].line)
            with self._within(*defined[1:]):
                self._walk(body)
            self._hand((), 0)
            self.variables |= before
            if "@" not in before:
                for name in ("@", "*", "#"):
                    self.variables.pop(name, None)

    def _hand(self, words: Sequence[Word], line: int) -> None:
        """Give the script or a function its positional parameters."""
        kept = {name: word for name, word in self.variables.items() if not is_parameter(name)}
        self.variables = kept | parameters(words, line)

    def _shift(self, count: str) -> None:
        every = self.variables.get("@")
        texts = every.parts if every is not None else None
        if every is not None and texts is not None and count.isdigit():
            self._hand([msgspec.structs.replace(every, text=text, parts=None) for text in texts[int(count) :]], every.line)

    # -- words
    def _word(self, node: "Node") -> Word:
        parts = _Parts(self)
        parts.add(node, 0)
        raw = self.text_of(node)
        held = None
        if node.type == "array":
            words = [self._word(child) for child in node.children if child.is_named and child.type != "comment"]
            held = tuple(part.text for word in words for part in split(word, self.variables))
        return Word(
            text=" ".join(held) if held is not None else "".join(parts.texts),
            raw=raw,
            line=self._line(node),
            refs=frozenset(parts.refs),
            runs=frozenset(parts.runs),
            quoted=raw[:1] in ("'", '"'),
            parts=held,
        )

    def value_of(self, name: str) -> Word:
        """A variable as it stands now."""
        if (word := self.variables.get(name)) is not None:
            return word
        value = self.outside(name)
        return Word(text=UNKNOWN if value is None else value, raw="$" + name, line=0, refs=frozenset((name,)))


def _appended(old: Word | None, word: Word) -> Word:
    if old is None:
        return word
    if word.parts is None:
        return msgspec.structs.replace(word, text=old.text + word.text)
    parts = (*(old.parts if old.parts is not None else (old.text,)), *word.parts)
    refs, runs = old.refs | word.refs, old.runs | word.runs
    return msgspec.structs.replace(word, text=" ".join(parts), parts=parts, refs=refs, runs=runs)


class _Parts:
    """The parts of a word, one after another."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.texts: list[str] = []
        self.refs: set[str] = set()
        self.runs: set[str] = set()

    def add(self, node: "Node", depth: int) -> None:
        kind, text = node.type, self.reader.text_of(node)
        if depth > _DEEPEST:
            self.texts.append(UNKNOWN)
        elif kind in ("word", "number", "command_name", "test_operator", "extglob_pattern", "regex"):
            self.texts.append(_unescaped(text) if not node.children else text)
        elif kind == "raw_string":
            self.texts.append(text[1:-1])
        elif kind in ("string", "concatenation", "array", "translated_string"):
            self._inside(node, depth)
        elif kind == "string_content":
            self.texts.append(re.sub(r'\\(["$`\\])', r"\1", text.replace("\\\n", "")))
        elif kind in _NAMES:
            self._variable(node, text)
        elif kind == "arithmetic_expansion":
            self._sum(text)
        elif kind == "command_substitution":
            self._run(text)
        elif node.is_named:
            self.texts.append(UNKNOWN)

    def _inside(self, node: "Node", depth: int) -> None:
        end = None
        for child in node.children:
            if child.is_named:
                if node.type == "array" and self.texts:
                    self.texts.append(" ")
                elif node.type == "string" and end is not None and child.start_byte > end:
                    self.texts.append(" " * min(child.start_byte - end, 200))  # blanks are no content to the grammar
                self.add(child, depth + 1)
                end = child.end_byte

    def _variable(self, node: "Node", text: str) -> None:
        names = [child for child in node.children if child.type in ("variable_name", "special_variable_name", "subscript")]
        name = self.reader.text_of(names[0]) if names else text.strip("${}")
        base = name.partition("[")[0]
        word = self.reader.value_of(base)
        self.refs |= word.refs | {base}
        self.runs |= word.runs
        held = expanded(word.text, text, base, base not in self.reader.variables and not word.runs)
        if re.match(r"\$\{\w+:?=", text) and UNKNOWN not in held:
            self.reader.variables[base] = msgspec.structs.replace(word, text=held, line=node.start_point[0] + self.reader.first)
        self.texts.append(held)

    def _sum(self, text: str) -> None:
        self.refs |= set(re.findall(r"[A-Za-z_]\w*", text[:500]))
        values: dict[str, int] = {}
        for name in set(re.findall(r"[A-Za-z_]\w*", text[:500])):
            value = self.reader.value_of(name).text
            if re.fullmatch(r"\d{1,9}", value):
                values[name] = int(value)
        result = calculated(text[3:-2] if text.startswith("$((") else text, values)
        self.texts.append(UNKNOWN if result is None else str(result))

    def _run(self, text: str) -> None:
        inner = text[2:-1] if text.startswith("$(") else text.strip("`")
        self.runs.add(inner[:500])
        self.refs |= set(re.findall(r"\$\{?([A-Za-z_]\w*)", inner[:500]))
        self.texts.append(UNKNOWN)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(\n)|\\(.)", lambda match: match[2] or "", text)


def _masked(data: bytes) -> bytes:
    """The same with letters for what is not ASCII: the grammar's scanner asks isalpha() of any character, which ends the process beyond a byte."""
    return re.sub(rb"[\x80-\xff]", b"x", data)
