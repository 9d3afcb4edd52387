"""Where values of a script come from: which loops train, and what a loader or a model is called elsewhere."""

import ast
from collections.abc import Iterator

from rigup.train.check.python.modules import FUNCTIONS
from rigup.train.port.script import Script

_AROUND = frozenset(("enumerate", "iter", "zip", "tqdm", "trange", "islice", "cycle", "next", "list", "prefetch", "progress_bar", "track"))
_DEPTH = 7


def last(func: ast.expr) -> str:
    """The last word of what is called."""
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


class Flow:
    """What follows from the script's assignments and calls."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.trainers = self._trainers()
        self.loops = [node for node in script.module.nodes if isinstance(node, ast.For | ast.While | ast.AsyncFor) and self.trains(node)]

    def _trainers(self) -> set[str]:
        """Functions that call `backward`, directly or by others."""
        found: set[str] = set()
        while True:
            new = {
                name
                for name, nodes in self.script.functions.items()
                if name not in found and any(self._steps(node, found) for node in nodes)
            }
            if not new:
                return found
            found |= new

    def _steps(self, root: ast.AST, trainers: set[str]) -> bool:
        return any(
            isinstance(node, ast.Call) and (last(node.func) == "backward" or last(node.func) in trainers)
            for node in self.script.own_nodes(root)
        )

    def trains(self, loop: ast.AST) -> bool:
        """Whether gradients are computed in a loop."""
        return self._steps(loop, self.trainers)

    def in_training(self, node: ast.AST) -> bool:
        """Whether a node stands in a loop or a function that computes gradients."""
        around = [here for here, _child in self.script.module.ancestors(node)]
        return any(here in self.loops or getattr(here, "name", "") in self.trainers for here in around)

    def exists(self) -> bool:
        """Whether anything is trained here."""
        return bool(self.loops) or any(last(call.func) == "backward" for call in self.script.calls)

    def without_gradient(self, node: ast.AST) -> bool:
        """Whether a node stands where no gradient is computed: no_grad, or a function that only judges."""
        for here, _child in self.script.module.ancestors(node):
            if isinstance(here, ast.With) and any(_no_grad(item.context_expr) for item in here.items):
                return True
            if isinstance(here, ast.FunctionDef | ast.AsyncFunctionDef):
                if any(_no_grad(each) for each in here.decorator_list):
                    return True
                judges = any(isinstance(each, ast.Call) and last(each.func) == "eval" for each in self.script.own_nodes(here))
                return judges and here.name not in self.trainers
        return False

    # -- where a value comes from ----------------------------------------------------------------------

    def origins(self, node: ast.expr, wanted: frozenset[str], path: tuple[int, ...] = (), depth: int = _DEPTH) -> set[ast.Call]:
        """Calls by a dotted name that a value may come from."""
        if depth == 0:
            return set()
        if isinstance(node, ast.Call):
            return self._of_call(node, wanted, path, depth - 1)
        if isinstance(node, ast.Tuple | ast.List) and path and path[0] < len(node.elts):
            return self.origins(node.elts[path[0]], wanted, path[1:], depth - 1)
        found: set[ast.Call] = set()
        for value, inner in list(self._parts(node, path))[:40]:
            found |= self.origins(value, wanted, inner or path, depth - 1)
        return found

    def _parts(self, node: ast.expr, path: tuple[int, ...]) -> Iterator[tuple[ast.expr, tuple[int, ...]]]:
        """What a value may be, each with the places in it that are meant."""
        if isinstance(node, ast.Name):
            yield from self.bound(node)
        elif isinstance(node, ast.Attribute):
            for names in self.script.module.attributes.values():
                yield from ((value, ()) for value, _node in names.get(node.attr, []))
        elif isinstance(node, ast.Subscript | ast.DictComp):
            yield node.value, ()
        elif isinstance(node, ast.Dict):
            yield from ((value, ()) for value in node.values)
        elif isinstance(node, ast.List | ast.Tuple):
            yield from ((value, ()) for value in node.elts)
        elif isinstance(node, ast.IfExp):
            yield from ((node.body, path), (node.orelse, path))

    def _of_call(self, call: ast.Call, wanted: frozenset[str], path: tuple[int, ...], depth: int) -> set[ast.Call]:
        if self.script.called(call) in wanted:
            return {call}
        word = last(call.func)
        found: set[ast.Call] = set()
        if word in _AROUND:
            for given in call.args:
                found |= self.origins(given, wanted, path, depth)
        for function in self.script.functions.get(word, []):
            for node in self.script.own_nodes(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    found |= self.origins(node.value, wanted, path, depth)
        return found

    def bound(self, name: ast.Name) -> Iterator[tuple[ast.expr, tuple[int, ...]]]:
        """What a name was given, in the nearest scope that has it."""
        here: ast.AST | None = name
        while here is not None and not isinstance(here, ast.Module):
            here = self.script.module.scope(here)
            if isinstance(here, ast.FunctionDef | ast.AsyncFunctionDef) and name.id in arguments(here):
                yield from ((value, ()) for value in self.given(here, name.id))
                return
            for binding in self.script.module.bindings.get(here, {}).get(name.id, []):
                if binding.value is not None and binding.kind in ("assign", "for"):
                    yield binding.value, binding.path
            if name.id in self.script.module.bindings.get(here, {}):
                return

    def given(self, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Iterator[ast.expr]:
        """What calls give a parameter."""
        names = arguments(function)
        owner = self.script.module.parents[function]
        is_method = isinstance(owner, ast.ClassDef)
        if is_method:
            names = names[1:]
        word = owner.name if isinstance(owner, ast.ClassDef) and function.name == "__init__" else function.name
        for call in self.script.calls:
            if last(call.func) == word and name in names:
                at = names.index(name)
                yield from [word.value for word in call.keywords if word.arg == name]
                if at < len(call.args) and not any(isinstance(given, ast.Starred) for given in call.args[: at + 1]):
                    yield call.args[at]

    def iterated(self) -> Iterator[tuple[ast.For | ast.AsyncFor, set[ast.Call]]]:
        """Loops, each with the loaders that it goes over; a loader that `next` asks belongs to the loop around it."""
        wanted = frozenset(("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"))
        for node in self.script.module.nodes:
            if isinstance(node, ast.For | ast.AsyncFor):
                found = self.origins(node.iter, wanted)
                for each in self.script.own_nodes(node):
                    if isinstance(each, ast.Call) and last(each.func) == "next" and each.args:
                        found = found | self.origins(each.args[0], wanted)
                if found:
                    yield node, found


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Names of parameters, in order."""
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def _no_grad(node: ast.expr) -> bool:
    func = node.func if isinstance(node, ast.Call) else node
    return last(func) in ("no_grad", "inference_mode")


def outermost(script: Script, node: ast.stmt) -> ast.stmt:
    """The outermost `if` around a statement in its block of a function, or the statement."""
    found: ast.stmt = node
    for here, _child in script.module.ancestors(node):
        if not isinstance(here, ast.If) or isinstance(here, FUNCTIONS):
            return found
        found = here
    return found
