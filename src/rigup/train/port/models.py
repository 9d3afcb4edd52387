"""Models: each that an optimizer changes is wrapped once, where it stands on its device, before the optimizer is made."""

import ast
from collections.abc import Iterator

from rigup.train.port.flow import Flow, arguments, last, outermost
from rigup.train.port.script import Piece, Script

_NO_OPTIMIZER = frozenset(
    (
        "clip_grad_norm_",
        "clip_grad_value_",
        "clip_grad_norm",
        "sum",
        "list",
        "len",
        "filter",
        "next",
        "print",
        "parameters_to_vector",
        "vector_to_parameters",
        "chain",
        "map",
        "tuple",
        "set",
        "any",
        "all",
        "zip",
        "enumerate",
        "sorted",
        "reversed",
        "max",
        "min",
        "stack",
        "cat",
    )
)
# What nn.Module itself has, which needs no forward; and what reads no more than the weights.
_OWN = frozenset(
    (
        "train",
        "eval",
        "parameters",
        "named_parameters",
        "state_dict",
        "load_state_dict",
        "to",
        "cuda",
        "cpu",
        "zero_grad",
        "modules",
        "children",
        "named_modules",
        "named_children",
        "apply",
        "requires_grad_",
        "half",
        "float",
        "double",
        "bfloat16",
        "buffers",
        "named_buffers",
        "type",
        "register_buffer",
        "register_forward_hook",
        "add_module",
        "share_memory",
        "extra_repr",
        "forward",
        "save_pretrained",
        "compile",
        "gradient_checkpointing_enable",
        "get_submodule",
        "get_parameter",
        "train_mode",
        "size",
        "shape",
        "append",
        "items",
        "keys",
        "values",
        "print_trainable_parameters",
        "resize_token_embeddings",
        "num_parameters",
        "init_weights",
        "no_sync",
        "__class__",
        "named_steps",
    )
)
_COPIES = ("copy.deepcopy", "deepcopy")


def ported_models(script: Script, flow: Flow) -> None:
    """Note what wraps the models, or what stops it."""
    wrapped: dict[tuple[ast.AST, str], ast.stmt] = {}
    optimizers: list[ast.stmt] = []
    for statement, model in _trained(script, flow):
        root = _root(script, model)
        if root is None:
            script.remark("model-unknown", statement, script.label(model), stops="ranks")
            continue
        text, scope = script.source(root), script.function(statement) or script.module.tree
        wrapped.setdefault((scope, text), statement)
        optimizers.append(statement)
    if not wrapped and not any(remark.stops == "ranks" for remark in script.remarks):
        script.remark("model-unknown", flow.loops[0] if flow.loops else script.module.tree, stops="ranks")
    for (place, text), statement in wrapped.items():
        _wrap(script, flow, place, text, statement)
    _stepped(script, optimizers)
    names = {text for _scope, text in wrapped}
    for name in names:
        _uses(script, flow, name)


def _trained(script: Script, flow: Flow) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Statements that make an optimizer, each with a model whose parameters it gets."""
    for call in script.calls:
        if last(call.func) in _NO_OPTIMIZER or isinstance(script.module.parents[call], ast.Call) or script.gone(call):
            continue
        statement = script.statement(call)
        target = script.source(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        optimizer = (
            script.called(call).startswith(("torch.optim.", "transformers."))
            or "opt" in target.lower()
            or (last(call.func)[:1].isupper() and last(call.func).startswith(("Adam", "SGD", "RMS")))
        )
        if not optimizer:
            continue
        models = list(_models(flow, [*call.args, *(word.value for word in call.keywords)]))
        if not models and script.called(call).count(".") == 2 and script.called(call).startswith("torch.optim."):
            script.remark("model-unknown", call, stops="ranks")
        yield from ((statement, model) for model in models)


def _models(flow: Flow, given: list[ast.expr], depth: int = 3) -> Iterator[ast.expr]:
    """Whose parameters are among arguments, if by a name that they were given before."""
    for node in (node for value in given for node in ast.walk(value)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("parameters", "named_parameters"):
            yield node.func.value
        elif isinstance(node, ast.Name) and depth:
            yield from _models(flow, [value for value, _path in flow.bound(node) if not isinstance(value, ast.Name)], depth - 1)


def _root(script: Script, model: ast.expr) -> ast.expr | None:
    """Of `model.head` the part that is called, which is the model; None where none is seen, or it is a module's own self."""
    called = {ast.unparse(call.func) for call in script.calls}
    passed = {ast.unparse(given) for call in script.calls for given in (*call.args, *(word.value for word in call.keywords))}
    parts: list[ast.expr] = [model]
    while isinstance(parts[-1], ast.Attribute | ast.Subscript):
        parts.append(parts[-1].value)
    plain = [
        part
        for part in reversed(parts)
        if isinstance(part, ast.Name | ast.Attribute) and not (isinstance(part, ast.Name) and part.id == "self")
    ]
    if not isinstance(parts[-1], ast.Name) or not plain:
        return None
    methods = {ast.unparse(call.func.value) for call in script.calls if isinstance(call.func, ast.Attribute) and call.func.attr not in _OWN}
    for known in (called, passed, methods):
        for part in plain:
            if ast.unparse(part) in known and (known is called or part is model or isinstance(part, ast.Name)):
                return part
    return model if isinstance(model, ast.Attribute) else None


def _wrap(script: Script, flow: Flow, scope: ast.AST, text: str, statement: ast.stmt) -> None:
    name = text.partition(".")[0]
    if not _bound_here(script, scope, name, text):
        return script.remark("model-elsewhere", statement, text, stops="ranks")
    holder = next((node for node in _before(script, scope, statement) if _holds(script, node, text)), None)
    if holder is not None:
        return script.remark("model-held", holder, text, stops="ranks")
    moved = [
        node for node in script.own_nodes(scope) if isinstance(node, ast.stmt) and node.lineno > statement.lineno and _moves(node, text)
    ]
    suffix = "" if moved or _is_moved(script, flow, scope, text, statement) else f".to({script.ranks}.device)"
    line = f"{text} = {script.ranks}.parallel({text}{suffix})"
    if moved:
        final = max(moved, key=lambda node: node.lineno)
        same = script.module.parents[final] is script.module.parents[outermost(script, statement)]
        piece = script.after(final, line) if same else None
    else:
        piece = script.before(_place(script, text, statement), line)
    if piece is None:
        return script.remark("model-unknown", statement, text, stops="ranks")
    return script.change("parallel", moved[-1] if moved else statement, piece, name=text, ranks=True)


def _is_moved(script: Script, flow: Flow, scope: ast.AST, text: str, statement: ast.stmt) -> bool:
    """Whether a model is seen to be moved to its device: here, or where it is handed over from."""
    names = {text}
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) and text in arguments(scope):
        given = list(flow.given(scope, text))
        names = {ast.unparse(value) for value in given} | {text}
        if any(_moving(value) for value in given):
            return True
        root: ast.AST = script.module.tree
    else:
        root = scope
    nodes = ast.walk(root) if root is script.module.tree and names != {text} else script.own_nodes(root)
    for node in nodes:
        if root is scope and getattr(node, "lineno", 0) > statement.lineno:
            continue
        if isinstance(node, ast.Call) and _moving(node) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) in names:
            return True
        if isinstance(node, ast.Assign) and _moving(node.value) and any(ast.unparse(target) in names for target in node.targets):
            return True
    return False


def _moving(value: ast.expr) -> bool:
    """Whether a value is that of `.to(…)` or `.cuda()`, or of a call on it."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in ("to", "cuda"):
            return True
        value = value.func.value
    return False


def _stepped(script: Script, optimizers: list[ast.stmt]) -> None:
    """An optimizer that steps and was not seen to be made: whose weights it changes is not known."""
    targets = {_word(target) for node in optimizers if isinstance(node, ast.Assign) for target in node.targets}
    for call in script.calls:
        if last(call.func) != "step" or not isinstance(call.func, ast.Attribute):
            continue
        for node in (call.func.value, *call.args[:1]):
            word = _word(node)
            parameter = any(word in arguments(each) for nodes in script.functions.values() for each in nodes)
            if "opt" in word.lower() and isinstance(node, ast.Name | ast.Attribute) and word not in targets and not parameter and targets:
                script.remark("model-unknown", call, stops="ranks")


def _word(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _place(script: Script, text: str, statement: ast.stmt) -> ast.stmt:
    """Before the whole `if` in which one of several optimizers is made, unless the model is made there too."""
    outer = outermost(script, statement)
    assigned = any(
        isinstance(node, ast.Assign) and any(script.source(target) == text for target in node.targets) for node in ast.walk(outer)
    )
    return statement if assigned else outer


def _bound_here(script: Script, scope: ast.AST, name: str, text: str) -> bool:
    """Whether an assignment here reaches those who use the name."""
    if "." in text or isinstance(scope, ast.Module):
        return True
    own = script.module.bindings.get(scope, {})  # type: ignore[call-overload]
    outside = any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in script.own_nodes(scope))
    return outside or name in own or (isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) and name in arguments(scope))


def _before(script: Script, scope: ast.AST, statement: ast.stmt) -> Iterator[ast.AST]:
    return (node for node in script.own_nodes(scope) if isinstance(node, ast.Assign) and node.lineno < statement.lineno)


def _holds(script: Script, node: ast.AST, text: str) -> bool:
    """Whether an assignment gives the model another name, or keeps it within another object."""
    if not isinstance(node, ast.Assign) or any(script.source(target) == text for target in node.targets):
        return False
    value = node.value
    while (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in ("cuda", "to", "train", "eval", "float", "half")
    ):
        value = value.func.value
    if isinstance(value, ast.Name | ast.Attribute):
        return ast.unparse(value) == text
    if not isinstance(value, ast.Call) or script.called(value) in _COPIES or script.called(value).startswith("torch.optim."):
        return False
    given = [*value.args, *(word.value for word in value.keywords)]
    keeps = last(value.func)[:1].isupper() or last(value.func) == "compile"
    return keeps and any(ast.unparse(each) == text for each in given)


def _moves(node: ast.stmt, text: str) -> bool:
    """`model.cuda()` or `model = model.to(…)` after the optimizer was made."""
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in ("cuda", "to")
        and ast.unparse(value.func.value) == text
    )


def _uses(script: Script, flow: Flow, name: str) -> None:
    """Uses of a wrapped model that are others than calling it; other names are those that functions have for it."""
    known = {name} | _parameters(script, flow, name)
    for node in script.module.nodes:
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load) or ast.unparse(node) not in known:
            continue
        parent = script.module.parents[node]
        if isinstance(parent, ast.Attribute):
            _attribute(script, flow, node, parent)
        elif (isinstance(parent, ast.Call) and script.called(parent) in _COPIES and node in parent.args) or (
            any(isinstance(here, ast.Call) and script.called(here) == "torch.save" for here in script.within(node, (ast.Call,)))
            and isinstance(parent, ast.Dict)
        ):
            _bare(script, node)


def _parameters(script: Script, flow: Flow, name: str) -> set[str]:
    """Parameters of the script's functions that are given the model."""
    found: set[str] = set()
    for word, nodes in script.functions.items():
        for function in nodes:
            for parameter in arguments(function):
                if word != "__init__" and any(ast.unparse(value) == name for value in flow.given(function, parameter)):
                    found.add(parameter)
    return found


def _attribute(script: Script, flow: Flow, node: ast.expr, parent: ast.Attribute) -> None:
    above = script.module.parents[parent]
    if parent.attr == "module":
        script.replace("bare", parent, f"{script.ranks}.bare({script.source(node)})", name=script.label(parent), ranks=True)
    elif isinstance(above, ast.Call) and above.func is parent and parent.attr not in _OWN:
        inside = flow.without_gradient(node)
        script.remark("model-method", above, script.label(parent), stops="" if inside else "ranks")


def _bare(script: Script, node: ast.expr) -> None:
    pieces = (Piece(script.start(node), script.start(node), f"{script.ranks}.bare("), Piece(script.end(node), script.end(node), ")"))
    script.change("bare", node, *pieces, name=script.label(node), ranks=True)
