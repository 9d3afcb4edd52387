"""Devices: what names CUDA becomes this process's own device, where a general twin does the same."""

import ast
import re

from rigup.train.port.script import Piece, Script

_TEXT = re.compile(r"cuda(?::(?P<index>\d+|\{?\}?|%d|%s)?)?", re.ASCII)
_TWINS = frozenset(
    (
        "synchronize",
        "empty_cache",
        "memory_allocated",
        "max_memory_allocated",
        "memory_reserved",
        "max_memory_reserved",
        "reset_peak_memory_stats",
    )
)
_HARMLESS = frozenset(
    (
        "manual_seed",
        "manual_seed_all",
        "seed",
        "seed_all",
        "device_count",
        "is_initialized",
        "init",
        "OutOfMemoryError",
        "amp",
        "ipc_collect",
    )
)
_TENSORS = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}
_AMP = frozenset(("torch.autocast", "torch.amp.autocast", "torch.amp.GradScaler", "torch.cuda.amp.autocast", "torch.cuda.amp.GradScaler"))
_SAID = ("print", "logging.", "warnings.")


def ported_devices(script: Script) -> None:
    """Note what is changed and what is told of devices."""
    if len(_indices(script)) > 1:
        node = next(node for node in script.module.nodes if _index(node) is not None)
        script.remark("several-devices", node, ", ".join(sorted(_indices(script))), stops="all")
        return
    own = any(isinstance(node, ast.FunctionDef) and node.name == "cuda" for node in script.module.nodes)
    for node in script.module.nodes:
        if script.gone(node) or script.quoted(node):
            continue
        if isinstance(node, ast.Assign | ast.Assert | ast.If | ast.Expr):
            _statement(script, node)
        elif isinstance(node, ast.Call):
            _call(script, node, own)
        elif (isinstance(node, ast.IfExp) and _is_choice(script, node)) or (
            isinstance(node, ast.Constant | ast.BinOp | ast.JoinedStr) and is_cuda_text(node)
        ):
            _device(script, node)
    _rest(script)


def _indices(script: Script) -> set[str]:
    found = {_index(node) for node in script.module.nodes}
    return {index for index in found if index is not None}


def _index(node: ast.AST) -> str | None:
    """The number of a device, where a whole call or text names one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        hit = re.fullmatch(r"cuda:(\d{1,3})", node.value)
        return hit[1] if hit else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
        given = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "device")]
        if given and isinstance(given[0], ast.Constant) and type(given[0].value) is int:
            return str(given[0].value)
    return None


def is_cuda_text(node: ast.AST) -> bool:
    """Whether a node is a text that names a CUDA device: "cuda", "cuda:0", f"cuda:{n}", "cuda:" + n, "cuda:%d" % n."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _TEXT.fullmatch(node.value) is not None
    if isinstance(node, ast.JoinedStr):
        first = node.values[0] if node.values else None
        return isinstance(first, ast.Constant) and first.value == "cuda:" and len(node.values) == 2
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add | ast.Mod) and is_cuda_text(node.left)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return is_cuda_text(node.func.value)
    return False


def _is_cuda(script: Script, node: ast.AST) -> bool:
    """Whether a node is a CUDA device, as text or as torch.device."""
    if isinstance(node, ast.Call) and script.called(node) == "torch.device":
        return bool(node.args) and (is_cuda_text(node.args[0]) or _is_choice(script, node.args[0]))
    return is_cuda_text(node)


def _is_other(script: Script, node: ast.AST) -> bool:
    """Whether a node is what is taken where there is no CUDA: the CPU, or a choice of mps, xpu and that."""
    if isinstance(node, ast.IfExp):
        return _is_other(script, node.body) and _is_other(script, node.orelse)
    if isinstance(node, ast.Call) and script.called(node) == "torch.device" and node.args:
        return _is_other(script, node.args[0])
    return isinstance(node, ast.Constant) and node.value in ("cpu", "mps", "xpu", "mps:0")


def _available(script: Script, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and script.called(node) == "torch.cuda.is_available"


def _is_choice(script: Script, node: ast.AST) -> bool:
    """`"cuda" if torch.cuda.is_available() else "cpu"`, either way round; a condition besides makes it none."""
    if not isinstance(node, ast.IfExp):
        return False
    if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
        return _available(script, node.test.operand) and _is_cuda(script, node.orelse) and _is_other(script, node.body)
    return _available(script, node.test) and _is_cuda(script, node.body) and _is_other(script, node.orelse)


def _statement(script: Script, node: ast.stmt) -> None:
    """Statements that are for one card alone are taken out."""
    if (isinstance(node, ast.Assert) and _available(script, node.test)) or (isinstance(node, ast.If) and _refuses(script, node)):
        script.take_out("needs-cuda", node)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and script.called(node.value) == "torch.cuda.set_device":
        if not script.take_out("set-device", node):
            script.remark("cuda-only", node, "torch.cuda.set_device")
    elif isinstance(node, ast.Assign) and _visible(script, node.targets[0]):
        seen = isinstance(node.value, ast.Constant)
        if not seen or not script.take_out("visible-devices", node, script.source(node.value)):
            script.remark("visible-devices", node)


def _refuses(script: Script, node: ast.If) -> bool:
    """`if not torch.cuda.is_available(): raise …`, or an exit."""
    test = node.test
    if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and _available(script, test.operand)) or node.orelse:
        return False
    last = node.body[-1]
    leaves = (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and ast.unparse(last.value.func) in ("exit", "quit", "sys.exit", "os._exit")
    )
    only_calls = all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) for each in node.body[:-1])
    return only_calls and (leaves or isinstance(last, ast.Raise))


def _visible(script: Script, target: ast.expr) -> bool:
    return (
        isinstance(target, ast.Subscript)
        and script.dotted(target.value) == "os.environ"
        and isinstance(target.slice, ast.Constant)
        and target.slice.value in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
    )


def _call(script: Script, node: ast.Call, own: bool) -> None:
    name = script.called(node)
    if name == "torch.device":
        if _is_cuda(script, node):
            script.replace("device", node, f"{script.ranks}.device", name=script.label(node))
    elif name.startswith("torch.cuda."):
        _cuda_call(script, node, name.removeprefix("torch.cuda."))
    elif is_cuda_text(node):
        _device(script, node)
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and not name:
        if own:
            script.remark("own-cuda", node, script.label(node))
        else:
            _moved(script, node, node.func)
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "to" and node.args and _is_card(node.args[0]):
        script.replace("device", node.args[0], f"{script.ranks}.device", name=script.label(node.args[0]))
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "type" and len(node.args) == 1 and not node.keywords:
        _typed(script, node, node.func)


def _is_card(node: ast.expr) -> bool:
    """Whether a value is the number of a card."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return re.fullmatch(r"gpu|gpu_?(?:id|idx|index|num)|local_rank|cuda_(?:id|device|idx)", word, re.IGNORECASE) is not None


def _moved(script: Script, call: ast.Call, func: ast.Attribute) -> None:
    """`x.cuda(…)` becomes `x.to(ranks.device, …)`."""
    if any(isinstance(given, ast.Starred) for given in call.args) or any(word.arg is None for word in call.keywords) or len(call.args) > 2:
        script.remark("cuda-only", call, script.label(call))
        return
    name, here = script.end(func) - len("cuda"), f"{script.ranks}.device"
    pieces = [Piece(name, script.end(func), "to")]
    device = next((word.value for word in call.keywords if word.arg == "device"), call.args[0] if call.args else None)
    if device is not None:
        pieces.append(Piece(script.start(device), script.end(device), here))
    else:
        place = script.data.index(b"(", script.end(func)) + 1
        pieces.append(Piece(place, place, here + (", " if call.keywords else "")))
    if len(call.args) == 2:
        pieces.append(Piece(script.start(call.args[1]), script.start(call.args[1]), "non_blocking="))
    if device is not None:
        script.takes(device)
    script.change("to-device", call, *pieces, name=script.label(func.value))


def _typed(script: Script, call: ast.Call, func: ast.Attribute) -> None:
    """`x.type(torch.cuda.FloatTensor)` becomes `x.to(ranks.device, torch.float32)`."""
    given = call.args[0]
    name = given.value if isinstance(given, ast.Constant) else script.dotted(given)
    torch, kind = script.name_of("torch"), str(name).removeprefix("torch.cuda.")
    if torch and str(name).startswith("torch.cuda.") and kind in _TENSORS:
        script.takes(given)
        script.change(
            "to-device",
            call,
            Piece(script.end(func) - len("type"), script.end(func), "to"),
            Piece(script.start(given), script.end(given), f"{script.ranks}.device, {torch}.{_TENSORS[kind]}"),
            name=script.label(call),
        )


def _cuda_call(script: Script, node: ast.Call, name: str) -> None:
    if name in _TWINS:
        script.replace("twin", node, f"{script.ranks}.{name}()", name=f"torch.cuda.{name}")
    elif name == "get_device_name":
        script.replace("twin", node, f"{script.ranks}.device_name()", name=f"torch.cuda.{name}")
    elif name == "current_device" and _context(script, node) == "device":
        script.replace("device", node, f"{script.ranks}.device", name=script.label(node))


def _device(script: Script, node: ast.expr) -> None:
    """A device in its place: as torch.device where that is taken, else as the text that it was."""
    context = _context(script, node)
    if context == "text" and isinstance(node, ast.IfExp) and isinstance(node.body, ast.Call):  # of torch.device
        context = "device"
    if context == "device":
        script.replace("device", node, f"{script.ranks}.device", name=script.label(node))
    elif context == "text":
        script.replace("device", node, f"{script.ranks}.device.type", name=script.label(node))
    elif context == "unknown" and not isinstance(node, ast.IfExp):
        script.remark("cuda-text", node, script.label(node))


def _context(script: Script, node: ast.AST) -> str:
    """What a place takes: a device, a text that names one, nothing that is changed (silent), or nobody knows."""
    parent = script.module.parents[node]
    if isinstance(parent, ast.IfExp | ast.BoolOp) and not (isinstance(parent, ast.IfExp) and parent.test is node):
        return _context(script, parent)
    if isinstance(parent, ast.keyword):
        call = script.module.parents[parent]
        return _keyword(script, call, parent.arg or "") if isinstance(call, ast.Call) else "unknown"
    if isinstance(parent, ast.Call):
        return _argument(script, parent, node)
    if isinstance(parent, ast.Dict) and node in parent.keys:
        return "silent"
    name = _named(script, parent, node)
    return "silent" if name is None else "text" if _names_device(name) else "unknown"


def _named(script: Script, parent: ast.AST, node: ast.AST) -> str | None:
    """What a value is called where it stands; None where it is nothing's value."""
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        return " ".join(script.source(target) for target in (parent.targets if isinstance(parent, ast.Assign) else [parent.target]))
    if isinstance(parent, ast.Return):
        return str(getattr(script.function(parent), "name", ""))
    if isinstance(parent, ast.arguments):
        return _parameter(parent, node)
    if isinstance(parent, ast.Dict):
        key = next((key for key, value in zip(parent.keys, parent.values, strict=True) if value is node), None)
        return str(key.value) if isinstance(key, ast.Constant) else ""
    return None


def _keyword(script: Script, call: ast.Call, word: str) -> str:
    name = script.called(call)
    if name in _AMP:
        return "silent"
    if word == "default":
        names = " ".join(str(given.value) for given in call.args if isinstance(given, ast.Constant))
        return "text" if _names_device(names) else "unknown"
    if word in ("device", "map_location"):
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return (
            "device"
            if name.startswith("torch.") or method in ("to", "new_zeros", "new_ones", "new_tensor", "new_full", "new_empty")
            else "text"
        )
    if word == "device_map":
        return "silent"
    return "text" if _names_device(word) else "unknown"


def _argument(script: Script, call: ast.Call, node: ast.AST) -> str:
    name = script.called(call)
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name in _AMP or method in ("startswith", "endswith", "get", "add_argument", "format", "join", "split") or name in _SAID:
        return "silent"
    if name in ("torch.device", "torch.Generator", "torch.set_default_device") or (method == "to" and call.args[:1] == [node]):
        return "device"
    if name == "torch.load" and call.args[1:2] == [node]:
        return "device"
    return "unknown"


def _names_device(text: str) -> bool:
    return re.search(r"dev(?:ice)?s?\b|device|gpu", text, re.IGNORECASE | re.ASCII) is not None


def _parameter(arguments: ast.arguments, default: ast.AST) -> str:
    given = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(given), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next((name.arg for name, value in pairs if value is default), "")


def _rest(script: Script) -> None:
    """What of torch.cuda stays; where that needs CUDA itself, the questions whether there is CUDA stay too."""
    left = False
    for node in script.module.nodes:
        if not isinstance(node, ast.Attribute) or script.gone(node) or isinstance(script.module.parents[node], ast.Attribute):
            continue
        name = script.dotted(node).removeprefix("torch.cuda.")
        if name == script.dotted(node) or name.partition(".")[0] in {*_HARMLESS, "is_available"}:
            continue
        left = True
        script.remark("tensor-type" if name in _TENSORS else "cuda-only", node, f"torch.cuda.{name}")
    for call in script.calls if not left else ():
        if _available(script, call) and not script.gone(call) and not script.quoted(call) and not _only_printed(script, call):
            _asked(script, call)


def _asked(script: Script, call: ast.Call) -> None:
    text = f'{script.ranks}.device.type != "cpu"'
    bare = not isinstance(script.module.parents[call], ast.Compare | ast.BinOp | ast.Attribute)
    script.replace("available", call, text if bare else f"({text})")


def _only_printed(script: Script, node: ast.AST) -> bool:
    """Whether a value is printed, and nothing else."""
    return any(isinstance(here, ast.Call) and script.called(here).startswith(_SAID) for here, _child in script.module.ancestors(node))
