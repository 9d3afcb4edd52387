"""On which ranks a node is run, and within which loops."""

import ast
from collections.abc import Iterator

from rigup.train.check.python import guards
from rigup.train.check.python.evaluate import Evaluator
from rigup.train.check.python.guards import MAIN, ONE, OTHERS
from rigup.train.check.python.modules import FUNCTIONS, Function, Module
from rigup.train.check.python.values import Value

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_ENDS = ("sys.exit", "exit", "quit", "os._exit")
_DEEPEST = 12
_ON_ONE = (
    "rank_zero_only",
    "main_process_only",
    "on_main_process",
    "on_local_main_process",
    "is_main_process",
    "rank_zero",
    "master_only",
    "on_process",
    "on_last_process",
    "main_process",
    "once_per_node",
)


class Conditions:
    """What stands around the nodes of a program."""

    evaluator: Evaluator

    def at(self, node: ast.expr | None, module: Module) -> Value:
        """What an expression is."""
        return self.evaluator.at(node, module)

    def guard(self, node: ast.AST, module: Module, depth: int = 0) -> str:
        """On which ranks a node is run: "one", "others" or "" for all."""
        own = self._own_guard(node, module)
        function = module.function(node)
        if own or function is None or depth > _DEEPEST:
            return own
        known = self.evaluator.guards
        if function not in known:
            known[function] = ""  # for functions that call each other
            known[function] = self._function_guard(function, module, depth)
        return known[function]

    def _function_guard(self, function: Function, module: Module, depth: int) -> str:
        """On which ranks a function is called."""
        if self._is_on_one(function, module):
            return ONE
        callers = self.evaluator.callers.get(function, ())
        found = {self.guard(call, caller, depth + 1) for call, caller in callers if caller.function(call) is not function}
        return found.pop() if len(found) == 1 else ""

    def _is_on_one(self, function: Function, module: Module) -> bool:
        if isinstance(function, ast.Lambda):
            return False
        names = [
            self.evaluator.dotted(each.func if isinstance(each, ast.Call) else each, module).rsplit(".", 1)[-1]
            for each in function.decorator_list
        ]
        return any(name in _ON_ONE or ("_" in name and MAIN.fullmatch(name)) for name in names)  # not `hydra.main`

    def _own_guard(self, node: ast.AST, module: Module) -> str:
        for parent, child in module.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                return self._left_early(parent, node, module)
            guard = self._branch_guard(parent, child, module)
            if guard:
                return guard
        return ""

    def _branch_guard(self, parent: ast.AST, child: ast.AST, module: Module) -> str:
        if isinstance(parent, ast.If | ast.IfExp):
            if child is parent.test:
                return ""
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            value = self.at(parent.test, module)
            inside = any(child is each for each in body)
            return guards.truth(value) if inside else guards.negated(value)
        if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And) and child is not parent.values[0]:
            before = parent.values[: next((at for at, each in enumerate(parent.values) if each is child), 0)]
            return next((guard for each in before if (guard := guards.truth(self.at(each, module)))), "")
        if isinstance(parent, ast.With) and any(child is each for each in parent.body):
            names = [
                self.evaluator.dotted(item.context_expr.func, module).rsplit(".", 1)[-1]
                for item in parent.items
                if isinstance(item.context_expr, ast.Call)
            ]
            return (
                "first"
                if any(
                    name
                    in (
                        "main_process_first",
                        "local_main_process_first",
                        "rank_zero_first",
                        "distributed_zero_first",
                        "torch_distributed_zero_first",
                    )
                    for name in names
                )
                else ""
            )
        return ""

    def _left_early(self, function: Function, node: ast.AST, module: Module) -> str:
        """`if rank != 0: return` in front of a node leaves it to one rank."""
        if isinstance(function, ast.Lambda):
            return ""
        inside = {id(parent) for parent, _child in module.ancestors(node)} | {id(node)}
        return self._left_in(function.body, inside, module)

    def _left_in(self, block: list[ast.stmt], inside: set[int], module: Module) -> str:
        for statement in block:
            if id(statement) in inside:
                for inner in _blocks(statement):
                    if any(id(each) in inside for each in inner):
                        return self._left_in(inner, inside, module)
                return ""
            if isinstance(statement, ast.If) and not statement.orelse and self._leaves(statement.body[-1], module):
                guard = guards.negated(self.at(statement.test, module))
                if guard in (ONE, OTHERS):
                    return guard
        return ""

    def _leaves(self, statement: ast.stmt, module: Module) -> bool:
        if isinstance(statement, ast.Return | ast.Continue):
            return True
        return (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and self.evaluator.dotted(statement.value.func, module) in _ENDS
        )

    def conditional(self, node: ast.AST, module: Module) -> bool:
        """Whether a node stands under any condition within its function."""
        for parent, child in module.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                return False
            if isinstance(parent, ast.If) and child is not parent.test and not is_main_guard(parent.test):
                return True
        return False

    # -- loops
    def loops(self, node: ast.AST, module: Module, depth: int = 0) -> list[tuple[ast.AST, Module]]:
        """Loops around a node, also around the calls of its function."""
        found: list[tuple[ast.AST, Module]] = []
        here: ast.AST = node
        for parent, child in module.ancestors(node):
            if isinstance(parent, _LOOPS) and child is not getattr(parent, "iter", None):
                found.append((parent, module))
            here = parent
            if isinstance(parent, FUNCTIONS):
                break
        if isinstance(here, FUNCTIONS) and depth < _DEEPEST:
            for call, caller in self.evaluator.callers.get(here, ())[:8]:
                if call is not node:
                    found += self.loops(call, caller, depth + 1)
        return found[:200]

    def under_main(self, node: ast.AST, module: Module, depth: int = 0) -> bool:
        """Whether a node is run under `if __name__ == "__main__":` alone, or in a function that is."""
        function = module.function(node)
        if any(isinstance(parent, ast.If) and is_main_guard(parent.test) for parent, _child in module.ancestors(node)):
            return True
        if function is None or depth > _DEEPEST:
            return False
        callers = self.evaluator.callers.get(function, ())
        return not callers or all(self.under_main(call, caller, depth + 1) for call, caller in callers if call is not node)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for handler in getattr(statement, "handlers", ()):
        yield handler.body


def is_main_guard(test: ast.expr) -> bool:
    """`__name__ == "__main__"`."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
