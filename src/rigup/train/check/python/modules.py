"""Modules of a program: the script and those beside it, with what each name in them is bound to."""

import ast
import sys
import textwrap
from collections.abc import Callable, Iterator

import msgspec

MOST_BYTES = 2_000_000
_MOST_MODULES = 40
_MOST_NODES = 400_000

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class UnreadableError(Exception):
    """A Python file that cannot be parsed: what is wrong with it, and on which line (0 where nobody can say)."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(why)
        self.why, self.line = why, line


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """What a name is bound to somewhere.

    Attributes:
        kind: "assign", "for", "with", "def", "augmented" or "other".
        value: the expression on the right; of "def" None.
        path: of an unpacked tuple the positions.
        node: the statement.

    """

    kind: str
    value: ast.expr | None
    node: ast.AST
    path: tuple[int, ...] = ()


class Module:
    """A parsed file.

    Attributes:
        name: as other modules import it; "" for the script.
        file: as it is shown.
        parents: of each node.
        bindings: of each scope by name.
        imports: by name what is imported under it, dotted.
        attributes: what is assigned to attributes of each class's self, and of other objects under None.

    """

    def __init__(self, name: str, file: str, text: str) -> None:
        self.name, self.file = name, file
        self.lines = text.split("\n")
        self.tree = parsed(text)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.bindings: dict[Scope, dict[str, list[Binding]]] = {}
        self.imports: dict[str, str] = {}
        self.stars: list[str] = []
        self.attributes: dict[ast.ClassDef | None, dict[str, list[tuple[ast.expr, ast.AST]]]] = {}
        self.nodes: list[ast.AST] = []
        self._index()

    def _index(self) -> None:
        stack: list[ast.AST] = [self.tree]
        while stack:
            node = stack.pop()
            self.nodes.append(node)
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                stack.append(child)
        if len(self.nodes) > _MOST_NODES:
            raise UnreadableError("it is too large")
        self.nodes.sort(key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        for node in self.nodes:
            self._bind(node)

    def scope(self, node: ast.AST) -> Scope:
        """The function, class or module in whose body a node stands."""
        here = self.parents.get(node)
        while here is not None and not isinstance(here, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            here = self.parents.get(here)
        return here if here is not None else self.tree

    def function(self, node: ast.AST) -> Function | None:
        """The innermost function around a node."""
        here = self.parents.get(node)
        while here is not None and not isinstance(here, FUNCTIONS):
            here = self.parents.get(here)
        return here

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around a node."""
        here = self.parents.get(node)
        while here is not None and not isinstance(here, ast.ClassDef):
            here = self.parents.get(here)
        return here

    def ancestors(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Each node around one, with the child on the way to it."""
        child, here = node, self.parents.get(node)
        while here is not None:
            yield here, child
            child, here = here, self.parents.get(here)

    def _add(self, scope: Scope, name: str, binding: Binding) -> None:
        self.bindings.setdefault(scope, {}).setdefault(name, []).append(binding)

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._target(target, node.value, node, (), "assign")
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            if node.value is not None:
                self._target(node.target, node.value, node, (), "assign")
        elif isinstance(node, ast.AugAssign):
            self._target(node.target, node.value, node, (), "augmented")
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._target(node.target, node.iter, node, (), "for")
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._target(node.optional_vars, node.context_expr, node, (), "with")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._add(self.scope(node), node.name, Binding(kind="def", value=None, node=node))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node)

    def _target(self, target: ast.expr, value: ast.expr, node: ast.AST, path: tuple[int, ...], kind: str) -> None:
        if isinstance(target, ast.Name):
            self._add(self.scope(node), target.id, Binding(kind=kind, value=value, node=node, path=path))
        elif isinstance(target, ast.Tuple | ast.List):
            parallel = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) and kind == "assign"
            for at, part in enumerate(target.elts[:100]):
                if parallel and isinstance(value, ast.Tuple | ast.List):
                    self._target(part, value.elts[at], node, path, kind)
                else:
                    self._target(part, value, node, (*path, at), kind)
        elif isinstance(target, ast.Attribute) and kind == "assign":
            owner = self.enclosing_class(node) if isinstance(target.value, ast.Name) and target.value.id == "self" else None
            self.attributes.setdefault(owner, {}).setdefault(target.attr, []).append((value if not path else ast.Name("?"), node))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.imports[alias.asname or alias.name.partition(".")[0]] = alias.name if alias.asname else alias.name.partition(".")[0]
            return
        base = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(base)
            else:
                self.imports[alias.asname or alias.name] = f"{base}.{alias.name}" if not base.endswith(".") else base + alias.name

    def imported(self) -> Iterator[str]:
        """The names of modules that may lie beside."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = "." * node.level + (node.module or "")
                yield base
                yield from (f"{base}.{alias.name}" if not base.endswith(".") else base + alias.name for alias in node.names)


def parsed(text: str) -> ast.Module:
    """The syntax tree of a file. Raises UnreadableError."""
    if len(text) > MOST_BYTES:
        raise UnreadableError("it is too large")
    limit = sys.getrecursionlimit()
    try:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text if text[:1] not in (" ", "\t") else textwrap.dedent(text))  # an excerpt
    except SyntaxError as error:
        raise UnreadableError(error.msg or "syntax error", error.lineno or 0) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableError(str(error) or type(error).__name__) from error
    finally:
        sys.setrecursionlimit(limit)


def modules_of(file: str, text: str, read: Callable[[str], str | None]) -> list[Module]:
    """The script and the modules beside it that it imports, directly or by others. Raises UnreadableError for the script.

    Args:
        file: the script's name.
        text: of the script.
        read: the text of a file by its path from the script's folder; None where there is none.

    """
    found = [Module("", file, text)]
    seen = {""}
    for module in found:
        for name in module.imported():
            full = _absolute(name, module)
            if full in seen or len(found) >= _MOST_MODULES:
                continue
            seen.add(full)
            if (other := _read_module(full, read)) is not None:
                found.append(other)
    return found


def _absolute(name: str, module: Module) -> str:
    if not name.startswith("."):
        return name
    level = len(name) - len(name.lstrip("."))
    package = module.name.split(".")[:-level] if module.name else []
    return ".".join([*package, name.lstrip(".")]).strip(".")


def _read_module(name: str, read: Callable[[str], str | None]) -> Module | None:
    if not name or not all(part.isidentifier() for part in name.split(".")):
        return None
    path = name.replace(".", "/")
    for candidate in (path + ".py", path + "/__init__.py"):
        text = read(candidate)
        if text is not None:
            try:
                return Module(name, candidate, text)
            except UnreadableError:
                return None
    return None
