"""What names of a program stand for: of imports, of its own functions and classes, of files beside."""

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from rigup.train.check.python.modules import Binding, Module


class Names:
    """The names of a program's modules.

    Args:
        modules: the script first.

    """

    def __init__(self, modules: list[Module]) -> None:
        self.modules = modules
        self.by_name = {module.name: module for module in modules}

    def dotted(self, node: ast.expr, module: Module) -> str:
        """The dotted name of what is called: of an import in full, of a function of the program `local:…`, of a method `.name`."""
        if isinstance(node, ast.Name):
            if (target := module.imports.get(node.id)) is not None:
                full = absolute(target, module)
                base, _dot, last = full.rpartition(".")
                return f"local:{base}:{last}" if base in self.by_name and base else full
            for scope_names in (module.bindings.get(module.tree, {}), *_functions_around(node, module)):
                if any(binding.kind == "def" for binding in scope_names.get(node.id, [])):
                    return f"local:{module.name}:{node.id}"
            star = next((absolute(star, module) for star in module.stars if node.id in self._globals(absolute(star, module))), None)
            return f"local:{star}:{node.id}" if star is not None else node.id
        if isinstance(node, ast.Attribute):
            base = self._dotted_base(node.value, module)
            if base:
                full = f"{base}.{node.attr}"
                head, _dot, last = full.rpartition(".")
                return f"local:{head}:{last}" if head in self.by_name and head else full
            return "." + node.attr
        return ""

    def _globals(self, name: str) -> Mapping[str, Any]:
        other = self.by_name.get(name)
        return other.bindings.get(other.tree, {}) if other else {}

    def _dotted_base(self, node: ast.expr, module: Module) -> str:
        if isinstance(node, ast.Name):
            target = module.imports.get(node.id, "")
            return absolute(target, module) if target else ""
        if isinstance(node, ast.Attribute):
            base = self._dotted_base(node.value, module)
            return f"{base}.{node.attr}" if base else ""
        return ""

    def function_named(self, dotted: str) -> tuple[ast.AST, Module] | None:
        """The function or class of the program behind a dotted name."""
        if not dotted.startswith("local:"):
            return None
        _local, name, attribute = dotted.split(":", 2)
        module = self.by_name.get(name)
        for _hop in range(5):
            if module is None:
                return None
            for scope in (module.tree, *(scope for scope in module.bindings if scope is not module.tree)):
                for binding in module.bindings.get(scope, {}).get(attribute, []):
                    if binding.kind == "def":
                        return binding.node, module
            base, _dot, attribute = absolute(module.imports.get(attribute, ""), module).rpartition(".")
            module = self.by_name.get(base) if base else None
        return None


def absolute(name: str, module: Module) -> str:
    """A dotted name without leading dots."""
    if not name.startswith("."):
        return name
    level = len(name) - len(name.lstrip("."))
    package = module.name.split(".")[:-level] if module.name else []
    return ".".join([*package, name.lstrip(".")]).strip(".")


def _functions_around(node: ast.AST, module: Module) -> Iterable[Mapping[str, list[Binding]]]:
    here = module.function(node)
    while here is not None:
        yield module.bindings.get(here, {})
        here = module.function(here)
