"""A script as bytes and as a syntax tree, and changes of it by position, so that all else stays as it was written.

The standard library's tree is used with its positions, and text is changed in place: nothing need be installed, comments
and formatting are never touched, and what an edit does not name is the same byte for byte.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from rigup.train.check.python.modules import FUNCTIONS, Function, Module, UnreadableError

Loop = ast.For | ast.AsyncFor | ast.While

_LONGEST_LABEL = 60


class Piece(msgspec.Struct, frozen=True):
    """Bytes from `start` up to `end` that give way to a text; `start == end` inserts it."""

    start: int
    end: int
    text: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What is done to a line, and why: the kind of a sentence, with the name that stands in it.

    Attributes:
        ranks: whether it serves many processes, and is left out where something stops those.

    """

    kind: str
    line: int
    pieces: tuple[Piece, ...]
    name: str = ""
    ranks: bool = False


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """What needs somebody's judgement.

    Attributes:
        stops: what is not changed because of it: "ranks" (training on many), "all", or "" for nothing.

    """

    kind: str
    line: int
    name: str = ""
    stops: Literal["", "ranks", "all"] = ""


class Script:
    """A parsed script with what is to be changed, and what is to be told."""

    def __init__(self, file: str, text: str) -> None:
        """Raises UnreadableError."""
        if "\r" in text or text[:1] in (" ", "\t"):
            raise UnreadableError("its lines end in carriage returns" if "\r" in text else "unexpected indent", 1)
        self.text, self.data = text, text.encode("utf-8", "surrogatepass")
        self.module = Module("", file, text)
        self.starts = [0, *(match.end() for match in re.finditer(b"\n", self.data))]
        self.changes: list[Change] = []
        self.remarks: list[Remark] = []
        self._gone: set[ast.AST] = set()  # nodes in what is replaced
        self.words = {word for node in self.module.nodes for word in _words(node)}
        self._bound = {name for names in self.module.bindings.values() for name in names}
        self._bound |= {node.arg for node in self.module.nodes if isinstance(node, ast.arg)}
        self.ranks, self.join, self.loader = (self._free(name) for name in ("ranks", "join", "ResumableLoader"))
        self.functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        self.calls: list[ast.Call] = []
        for node in self.module.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Call):
                self.calls.append(node)

    def _free(self, name: str) -> str:
        """The name, or one like it that the script does not have."""
        found, count = name, 1
        while found in self.words:
            count += 1
            found = f"{name}_{count}"
        return found

    # -- positions -------------------------------------------------------------------------------------

    def start(self, node: ast.AST) -> int:
        """Offset of a node's first byte."""
        return self.starts[node.lineno - 1] + int(node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """Offset behind a node's last byte."""
        return self.starts[node.end_lineno - 1] + int(node.end_col_offset)  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        """A node as it is written."""
        return self.data[self.start(node) : self.end(node)].decode("utf-8", "replace")

    def label(self, node: ast.AST) -> str:
        """A node as it is written, short enough for a sentence: a long call is named by what is called."""
        text = " ".join(self.source(node).split())
        if len(text) <= _LONGEST_LABEL:
            return text
        if isinstance(node, ast.Call):
            return f"{self.label(node.func)}(…)"
        if isinstance(node, ast.Attribute):
            return f"{self.label(node.value)}.{node.attr}"
        return text[: _LONGEST_LABEL - 1] + "…"

    def indent(self, statement: ast.stmt) -> str | None:
        """What stands before a statement in its line; None where that is more than blanks."""
        before = self.data[self.starts[statement.lineno - 1] : self.start(statement)].decode()
        return before if not before.strip(" \t\f") else None

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around a node."""
        here: ast.AST = node
        while not isinstance(here, ast.stmt):
            here = self.module.parents[here]
        return here

    # -- names -----------------------------------------------------------------------------------------

    def dotted(self, node: ast.AST) -> str:
        """`torch.cuda.synchronize` for what an import names so; "" for what is not told by imports alone."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self._bound:
            return ""
        root = self.module.imports.get(node.id)
        if root is None and not parts and node.id == "print":
            return "print" if "print" not in self.module.imports else ""
        return ".".join([root, *reversed(parts)]) if root else ""

    def called(self, call: ast.Call) -> str:
        """The dotted name of what is called."""
        return self.dotted(call.func)

    def name_of(self, dotted: str) -> str:
        """How the script itself writes a module that it imports; "" where it does not."""
        return next((name for name, imported in self.module.imports.items() if imported == dotted), "")

    def quoted(self, node: ast.AST) -> bool:
        """Whether a node stands in an f-string, whose parts have positions of their own."""
        return any(isinstance(here, ast.JoinedStr) for here, _child in self.module.ancestors(node))

    def within(self, node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
        """Nodes of a kind around a node, within its own function."""
        for here, _child in self.module.ancestors(node):
            if isinstance(here, FUNCTIONS):
                return
            if isinstance(here, kinds):
                yield here

    def own_nodes(self, root: ast.AST) -> Iterator[ast.AST]:
        """Nodes below one, without those of functions and classes in it."""
        stack = list(ast.iter_child_nodes(root))
        while stack:
            node = stack.pop()
            yield node
            if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                stack += ast.iter_child_nodes(node)

    def function(self, node: ast.AST) -> Function | None:
        """The innermost function around a node."""
        return self.module.function(node)

    def takes(self, nodes: ast.AST) -> None:
        """Leave what is below a node to a change that is being made of it."""
        self._gone |= set(ast.walk(nodes))

    # -- what is to be done ----------------------------------------------------------------------------

    def gone(self, node: ast.AST) -> bool:
        """Whether a node stands in what is replaced already."""
        return node in self._gone

    def change(self, kind: str, node: ast.AST, *pieces: Piece, name: str = "", ranks: bool = False) -> None:
        """Note a change at a node."""
        self.changes.append(Change(kind=kind, line=node.lineno, pieces=pieces, name=name[:80], ranks=ranks))  # type: ignore[attr-defined]

    def replace(self, kind: str, node: ast.AST, text: str, *, name: str = "", ranks: bool = False) -> None:
        """Put a text in a node's place."""
        self._gone |= set(ast.walk(node))
        self.change(kind, node, Piece(self.start(node), self.end(node), text), name=name, ranks=ranks)

    def remark(self, kind: str, node: ast.AST, name: str = "", stops: Literal["", "ranks", "all"] = "") -> None:
        """Note what is to be told, once a line."""
        new = Remark(kind=kind, line=getattr(node, "lineno", 1), name=" ".join(name.split())[:80], stops=stops)
        if not any((new.kind, new.line, new.name) == (old.kind, old.line, old.name) for old in self.remarks):
            self.remarks.append(new)

    def take_out(self, kind: str, statement: ast.stmt, name: str = "") -> bool:
        """Take a statement with its lines out of the script; False where it shares them with another."""
        first, last = self.starts[statement.lineno - 1], self._line_end(statement)
        rest = self.data[self.end(statement) : last].strip()
        if self.indent(statement) is None or (rest and not rest.startswith(b"#")):
            return False
        self._gone |= set(ast.walk(statement))
        if self._alone(statement):
            self.change(kind, statement, Piece(self.start(statement), self.end(statement), "pass"), name=name)
        else:
            self.change(kind, statement, Piece(first, last, ""), name=name)
        return True

    def _line_end(self, node: ast.stmt) -> int:
        last = int(node.end_lineno or node.lineno)
        return self.starts[last] if last < len(self.starts) else len(self.data)

    def _alone(self, statement: ast.stmt) -> bool:
        parent = self.module.parents[statement]
        blocks = [getattr(parent, name, None) for name in ("body", "orelse", "finalbody")]
        return any(block == [statement] for block in blocks) and not isinstance(parent, ast.Module)

    def before(self, statement: ast.stmt, line: str) -> Piece | None:
        """A line before a statement, with its indent; None where it has no line of its own."""
        first = min([statement, *getattr(statement, "decorator_list", [])], key=lambda node: node.lineno)
        indent = self.indent(statement)
        place = self.starts[first.lineno - 1]
        return None if indent is None else Piece(place, place, f"{indent}{line}\n")

    def after(self, statement: ast.stmt, line: str) -> Piece | None:
        """The same behind it."""
        indent, place = self.indent(statement), self._line_end(statement)
        rest = self.data[self.end(statement) : place].strip()
        if indent is None or (rest and not rest.startswith(b"#")):
            return None
        lead = "" if self.data[place - 1 : place] == b"\n" else "\n"
        return Piece(place, place, f"{lead}{indent}{line}\n")


def _words(node: ast.AST) -> Iterator[str]:
    """Names that a node brings."""
    for field in ("id", "arg", "name", "asname", "rest"):
        word = getattr(node, field, None)
        if isinstance(word, str):
            yield word.partition(".")[0]
    yield from getattr(node, "names", []) if isinstance(node, ast.Global | ast.Nonlocal) else []


def changed(data: bytes, changes: Iterable[Change]) -> tuple[str, list[Change]]:
    """The text with the changes made, and those that were; of two that meet, the one that begins first and is longer."""
    applied: list[Change] = []
    ranges: list[tuple[int, int]] = []
    inner: list[tuple[int, int, str]] = []
    points: list[int] = []
    for change in sorted(changes, key=lambda each: (each.pieces[0].start, -each.pieces[-1].end)):
        if any(_meet(piece, start, end) for piece in change.pieces for start, end in ranges):
            continue
        if any(piece.start < point < piece.end for piece in change.pieces for point in points):
            continue
        applied.append(change)
        ranges += [(piece.start, piece.end) for piece in change.pieces if piece.end > piece.start]
        points += [piece.start for piece in change.pieces if piece.end == piece.start]
        inner += [(piece.start, piece.end, piece.text) for piece in change.pieces]
    parts, place = [], 0
    for start, end, text in sorted(inner, key=lambda each: (each[0], not each[2].startswith(")"), each[1])):
        parts += [data[place:start], text.encode()]
        place = max(place, end)
    text = b"".join([*parts, data[place:]]).decode("utf-8", "surrogatepass")
    return text, sorted(applied, key=lambda change: change.line)


def _meet(piece: Piece, start: int, end: int) -> bool:
    return start < piece.start < end or start < piece.end < end or (piece.start < piece.end and piece.start < end and start < piece.end)


def parses(text: str) -> bool:
    """Whether Python reads a text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
