"""A training program as its calls: which are reached, under which conditions, within which loops."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from rigup.train.check.python.attributes import dataclass_fields
from rigup.train.check.python.conditions import Conditions, is_main_guard
from rigup.train.check.python.evaluate import Evaluator
from rigup.train.check.python.evaluation import Frame
from rigup.train.check.python.files import hydra_value
from rigup.train.check.python.modules import FUNCTIONS, Function, Module
from rigup.train.check.python.settings import Declared, Given, declared, given, is_flag
from rigup.train.check.python.values import UNKNOWN_VALUE, Value
from rigup.train.check.shell.words import Word

_MAKERS = (".add_argument", "click.option", "click.argument", "rich_click.option", "rich_click.argument")


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """A call that the program makes.

    Attributes:
        name: dotted, of a method `.name`, of the program's own `local:module:name`.

    """

    name: str
    node: ast.Call
    module: Module
    function: Function | None
    program: "Program"

    @property
    def last(self) -> str:
        """The last part of the name."""
        return self.name.replace(":", ".").rsplit(".", 1)[-1]

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.node.lineno

    @property
    def file(self) -> str:
        """Where it stands."""
        return self.module.file

    @property
    def receiver(self) -> Value:
        """The object whose method is called."""
        return self.program.at(self.node.func.value, self.module) if isinstance(self.node.func, ast.Attribute) else UNKNOWN_VALUE

    def expression(self, name: str, position: int | None = None) -> ast.expr | None:
        """An argument by its name or position."""
        found = next((keyword.value for keyword in self.node.keywords if keyword.arg == name), None)
        if found is None and position is not None and position < len(self.node.args):
            starred = any(isinstance(each, ast.Starred) for each in self.node.args[: position + 1])
            found = None if starred else self.node.args[position]
        return found

    def values(self) -> Iterator[Value]:
        """What all of its arguments are."""
        for argument in [*self.node.args, *(keyword.value for keyword in self.node.keywords)]:
            yield self.program.at(argument, self.module)

    def argument(self, name: str, position: int | None = None) -> Value | None:
        """An argument's value: None where it is not given, a value of which nothing is known where that is open."""
        if (expression := self.expression(name, position)) is not None:
            return self.program.at(expression, self.module)
        for keyword in self.node.keywords:
            if keyword.arg is None:
                whole = self.program.at(keyword.value, self.module)
                if whole.fields is None or whole.open:
                    return (whole.fields or {}).get(name, UNKNOWN_VALUE)
                if name in whole.fields:
                    return whole.fields[name]
        if any(isinstance(each, ast.Starred) for each in self.node.args) and position is not None:
            return UNKNOWN_VALUE
        return None

    def line_of(self, name: str, position: int | None = None) -> int:
        """The line of an argument; else the call's."""
        expression = self.expression(name, position)
        return expression.lineno if expression is not None else self.line


class Program(Conditions):
    """A script with the modules beside it, under one command line.

    Args:
        modules: the script first.
        outside: variables of the environment.
        read: the text of a file beside the script.
        arguments: the words behind the script; None where nobody knows them.
        batch: the name of the batch script.

    """

    def __init__(
        self,
        modules: list[Module],
        outside: Callable[[str], Value],
        read: Callable[[str], str | None],
        arguments: Sequence[Word] | None = None,
        batch: str = "",
    ) -> None:
        self.modules, self.read = modules, read
        self.evaluator = Evaluator(modules, outside, read)
        self._declare(arguments, batch)
        self._callers()
        self._hydra()

    # -- values
    def at(self, node: ast.expr | None, module: Module) -> Value:
        """What an expression is."""
        return self.evaluator.at(node, module)

    def _declare(self, arguments: Sequence[Word] | None, batch: str) -> None:
        options: dict[str, Declared] = {}
        for module in self.modules:
            for node in module.nodes:
                if isinstance(node, ast.Call):
                    name = self.evaluator.dotted(node.func, module)
                    if name in _MAKERS and (option := declared(node, module)) is not None:
                        options[option.dest] = option
                    elif name == ".set_defaults":
                        self._set_defaults(node, module, options)
                elif isinstance(node, ast.ClassDef) and _is_dataclass(node, module, self.evaluator):
                    self._fields(node, module, options)
        self.evaluator.declared = options
        if arguments is not None:
            flags = frozenset(name.lstrip("-").replace("-", "_") for option in options.values() if is_flag(option) for name in option.names)
            short = {name: option.dest for option in options.values() for name in option.names if name.startswith("-")}
            self.evaluator.given = given(arguments, batch, flags, short)

    def _set_defaults(self, node: ast.Call, module: Module, options: dict[str, Declared]) -> None:
        for keyword in node.keywords:
            if keyword.arg in options:
                options[keyword.arg] = msgspec.structs.replace(options[keyword.arg], default=keyword.value, module=module)

    def _fields(self, node: ast.ClassDef, module: Module, options: dict[str, Declared]) -> None:
        """Fields of dataclasses are options to HfArgumentParser and its like."""
        for name, default in dataclass_fields(node).items():
            options.setdefault(
                name,
                Declared(
                    dest=name,
                    names=("--" + name,),
                    default=default,
                    type="int" if isinstance(getattr(default, "value", None), int) else "",
                    action="" if default is not None else "required",
                    module=module,
                    line=node.lineno,
                ),
            )

    # -- who calls whom
    def _callers(self) -> None:
        callers = self.evaluator.callers
        for module in self.modules:
            for node in module.nodes:
                if isinstance(node, ast.Call):
                    self._called(node, module, callers)
                elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    self._decorated(node, module)

    def _called(self, node: ast.Call, module: Module, callers: dict[Function, list[tuple[ast.Call, Module]]]) -> None:
        name = self.evaluator.dotted(node.func, module)
        targets = [self._definition(name, node, module)]
        if name.rsplit(".", 1)[-1] in (
            "spawn",
            "start_processes",
            "Process",
            "Thread",
            "Fire",
            "run",
            "partial",
            "notebook_launcher",
            "elastic_launch",
        ):
            targets += [self._definition(self.evaluator.dotted(each, module), node, module) for each in _handed_functions(node)]
        for at, target in enumerate(targets):
            if target is None:
                continue
            if at and name in ("fire.Fire", "typer.run"):
                self.evaluator.command_line.add(target)
            elif not at or name.rsplit(".", 1)[-1] in ("spawn", "start_processes"):
                callers.setdefault(target, []).append((node, module))

    def _definition(self, name: str, node: ast.Call, module: Module) -> Function | None:
        if name.startswith(".") and isinstance(node.func, ast.Attribute):
            return self._method(node.func, module)
        found = self.evaluator.function_named(name)
        if found is None:
            return None
        if isinstance(found[0], ast.ClassDef):
            return next((each for each in found[0].body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
        return found[0] if isinstance(found[0], FUNCTIONS) else None

    def _method(self, node: ast.Attribute, module: Module) -> Function | None:
        """A method by its name: of the class around for `self`, else of the one class that has such a method."""
        inside = module.enclosing_class(node) if isinstance(node.value, ast.Name) and node.value.id == "self" else None
        if inside is not None:
            return next((each for each in inside.body if isinstance(each, ast.FunctionDef) and each.name == node.attr), None)
        owners = self._methods.get(node.attr, [])
        return owners[0] if len(owners) == 1 else None

    @cached_property
    def _methods(self) -> Mapping[str, list[ast.FunctionDef]]:
        found: dict[str, list[ast.FunctionDef]] = {}
        for module in self.modules:
            for node in module.nodes:
                if isinstance(node, ast.ClassDef):
                    for each in node.body:
                        if isinstance(each, ast.FunctionDef):
                            found.setdefault(each.name, []).append(each)
        return found

    def _decorated(self, function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> None:
        for decorator in function.decorator_list:
            name = self.evaluator.dotted(decorator.func if isinstance(decorator, ast.Call) else decorator, module)
            if name in ("click.command", ".command", "typer.run", ".callback", "rich_click.command") or name.endswith(".command"):
                self.evaluator.command_line.add(function)

    def _hydra(self) -> None:
        for module in self.modules:
            for node in module.nodes:
                if not isinstance(node, ast.FunctionDef):
                    continue
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and self.evaluator.dotted(decorator.func, module).endswith("hydra.main"):
                        self.evaluator.hydra[node] = self._configuration(decorator, module)

    def _configuration(self, decorator: ast.Call, module: Module) -> Value:
        words = {keyword.arg: self.at(keyword.value, module).text for keyword in decorator.keywords}
        named = self.evaluator.given.named
        folder = (named["config_path"].text if "config_path" in named else words.get("config_path")) or ""
        name = (named["config_name"].text if "config_name" in named else words.get("config_name")) or ""
        return hydra_value(folder.removeprefix("./"), name, self.read, dict(self.evaluator.given.assigned))

    # -- calls
    @cached_property
    def sites(self) -> list[Site]:
        """All calls that are reached, in the order of modules and lines."""
        return [
            Site(name=self.evaluator.dotted(node.func, module), node=node, module=module, function=module.function(node), program=self)
            for module in self.modules
            for node in module.nodes
            if isinstance(node, ast.Call) and self.is_reached(node, module)
        ]

    def named(self, *names: str) -> Iterator[Site]:
        """Calls of these full names, or of those that end in `.name` where a name begins with a dot."""
        wanted = set(names)
        for site in self.sites:
            if site.name in wanted or "." + site.last in wanted:
                yield site

    def imports(self, *packages: str) -> bool:
        """Whether the program imports one of these packages."""
        return any(name.split(".")[0] in packages for module in self.modules for name in [*module.imports.values(), *module.stars])

    @cached_property
    def _used_names(self) -> frozenset[str]:
        """Names that are read somewhere; what is never read is never called."""
        used: set[str] = set()
        for module in self.modules:
            for node in module.nodes:
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    used.add(node.id)
                elif isinstance(node, ast.Attribute):
                    used.add(node.attr)
                elif isinstance(node, ast.ImportFrom):
                    used |= {alias.name for alias in node.names} if module.name else set()
        return frozenset(used)

    def is_reached(self, node: ast.AST, module: Module) -> bool:
        """Whether a node is run at all: not in a function that nobody names, nor under a helper module's own main guard."""
        for parent, child in module.ancestors(node):
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
                in_class = isinstance(module.parents.get(parent), ast.ClassDef)
                if not in_class and parent.name not in self._used_names and not parent.decorator_list:
                    return False
            elif (
                (isinstance(parent, ast.ClassDef) and parent.name not in self._used_names and not parent.decorator_list)
                or (isinstance(parent, ast.If) and module.name and is_main_guard(parent.test) and child in parent.body)
                or (isinstance(parent, ast.If) and self._never(parent, child, module))
            ):
                return False
        return True

    def _never(self, branch: ast.If, child: ast.AST, module: Module) -> bool:
        """A branch whose condition is known not to hold."""
        value = self.at(branch.test, module)
        if not value.known or isinstance(value.const, str):
            return False
        return any(child is each for each in (branch.orelse if value.const else branch.body))


def _is_dataclass(node: ast.ClassDef, module: Module, evaluator: Evaluator) -> bool:
    names = [evaluator.dotted(each.func if isinstance(each, ast.Call) else each, module) for each in node.decorator_list]
    return any(name.rsplit(".", 1)[-1] == "dataclass" for name in names)


def _handed_functions(node: ast.Call) -> list[ast.expr]:
    return [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg in ("target", "fn", "component"))]


__all__ = ["Frame", "Given", "Program", "Site"]
