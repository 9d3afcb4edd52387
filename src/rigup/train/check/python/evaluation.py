"""What is shared by all that follows expressions: the program, its options, its callers, and how deep the way went."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

import msgspec

from rigup.train.check.python.modules import Function, Module
from rigup.train.check.python.names import Names
from rigup.train.check.python.settings import Declared, Given
from rigup.train.check.python.values import Place, Value, mixed

_MOST_STEPS = 60_000  # two seconds; the most that 124 programs of public repositories took was 31_000


class Frame(msgspec.Struct, frozen=True):
    """Where an expression stands: its module, and what parameters are known of the call."""

    module: Module
    bound: Mapping[str, Value] = {}
    function: Function | None = None


class Evaluation(Names, ABC):
    """What is known while expressions of a program are followed.

    Args:
        modules: the script first.
        outside: a variable of the environment; UNKNOWN_VALUE for what nobody sets.
        read: the text of a file beside the script.

    """

    def __init__(self, modules: list[Module], outside: Callable[[str], Value], read: Callable[[str], str | None]) -> None:
        super().__init__(modules)
        self.outside, self.read = outside, read
        self.given = Given()
        self.declared: dict[str, Declared] = {}
        self.callers: dict[Function, list[tuple[ast.Call, Module]]] = {}
        self.guards: dict[Function, str] = {}
        self.hydra: dict[Function, Value] = {}
        self.command_line: set[Function] = set()
        self.steps = 0
        self.depth = 0
        self.busy: set[int] = set()
        self.memory: dict[int, Value] = {}

    @property
    def spent(self) -> bool:
        """Values were left unknown because following them took too long."""
        return self.steps > _MOST_STEPS

    @abstractmethod
    def value(self, node: ast.expr | None, frame: Frame) -> Value:
        """What an expression is, as far as it can be told."""

    @abstractmethod
    def global_value(self, module: Module, name: str) -> Value:
        """A name at the top of a module."""

    def at(self, node: ast.expr | None, module: Module) -> Value:
        """The same for an expression where it stands, with no particular call in mind."""
        return self.value(node, Frame(module))

    def parts(self, node: ast.expr, frame: Frame) -> Value:
        """What is known of an expression by its parts alone."""
        return mixed(self.value(part, frame) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))

    def place(self, node: ast.AST, frame: Frame) -> Place:
        """The line of a node."""
        return Place(file=frame.module.file, line=getattr(node, "lineno", 0))
