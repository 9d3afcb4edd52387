"""What a program says and writes: by the first process alone, and what it reads lands on each one's device."""

import ast
import re
from collections.abc import Iterator

from rigup.train.port.devices import is_cuda_text
from rigup.train.port.flow import last
from rigup.train.port.script import Piece, Script

_BARS = ("tqdm.tqdm", "tqdm.trange", "tqdm.auto.tqdm", "tqdm.auto.trange", "tqdm.notebook.tqdm", "tqdm.std.tqdm")
_WRITERS = ("torch.utils.tensorboard.SummaryWriter", "torch.utils.tensorboard.writer.SummaryWriter", "tensorboardX.SummaryWriter")
_FILES = (
    "matplotlib.pyplot.savefig",
    "numpy.save",
    "numpy.savez",
    "numpy.savez_compressed",
    "numpy.savetxt",
    "torchvision.utils.save_image",
    "torchvision.utils.save_image.save_image",
)
_METHODS = ("to_csv", "savefig", "save_pretrained", "to_json", "to_parquet", "to_pickle")
_TOLD = (
    "json.dump",
    "pickle.dump",
    "torch.onnx.export",
    "torch.jit.save",
    "yaml.dump",
    "shutil.rmtree",
    "os.remove",
    "mlflow.log_metric",
    "mlflow.start_run",
    "neptune.init",
    "safetensors.torch.save_file",
    "joblib.dump",
)
_SAME = re.compile(
    r"__\w+__|args|opts?|config|cfg|hparams|params|[A-Z][A-Z0-9_]*|(?:\w*_)?(?:epochs?|step|steps|iters?|iteration|batch_idx|i|it|idx|every|interval|freq|frequency)\w*|save\w*|len|range|None|True|False|self|os",
    re.ASCII,
)


def ported_output(script: Script) -> None:
    """Note what is changed of printing, logging, saving and loading."""
    for call in script.calls:
        if script.gone(call) or script.quoted(call):
            continue
        name = script.called(call)
        if name == "print":
            _print(script, call)
        elif name == "torch.save":
            _save(script, call)
        elif name == "torch.load":
            _load(script, call)
        elif name in _BARS and not any(word.arg in ("disable", None) for word in call.keywords) and not _bare(call):
            script.change(
                "bar", call, appended(script, call, f"disable=not {script.ranks}.first"), name=script.label(call.func), ranks=True
            )
        elif name in _WRITERS:
            here = (
                Piece(script.start(call.func), script.start(call.func), f"{script.ranks}.on_first("),
                Piece(script.end(call.func), script.end(call.func), ")"),
            )
            script.change("writer", call, *here, name=script.label(call.func), ranks=True)
        elif name == "wandb.init" and not any(word.arg in ("mode", None) for word in call.keywords):
            script.change(
                "writer", call, appended(script, call, f'mode=None if {script.ranks}.first else "disabled"'), name="wandb.init", ranks=True
            )
        else:
            _other(script, call, name)


def appended(script: Script, call: ast.Call, word: str) -> Piece:
    """One argument more, behind the last."""
    given = [*call.args, *(word.value for word in call.keywords)]
    place = script.end(call) - 1
    if not given:
        return Piece(place, place, word)
    last = max(script.end(value) for value in given)
    if script.data[last:place].strip() in (b"", b","):  # else the last one stands in brackets of its own, or a remark follows it
        return Piece(last, last, f", {word}")
    lead = "" if b"," in re.sub(rb"#[^\n]*", b"", script.data[last:place]) else ", "
    return Piece(place, place, lead + word)


def _bare(call: ast.Call) -> bool:
    """Whether a call's brackets are those of a generator, beside which nothing may stand."""
    return any(isinstance(given, ast.GeneratorExp) for given in call.args)


def _print(script: Script, call: ast.Call) -> None:
    """Not what tells of an error, which another process may have alone."""
    aside = any(word.arg == "file" for word in call.keywords) or any(script.within(call, (ast.ExceptHandler,)))
    if not aside:
        script.change("print", call, Piece(script.start(call.func), script.start(call.func), f"{script.ranks}."), ranks=True)


def _save(script: Script, call: ast.Call) -> None:
    if not isinstance(script.module.parents[call], ast.Expr) or any(word.arg is None for word in call.keywords):
        script.remark("files", call, script.label(call.func))
        return
    pieces = [Piece(script.start(call.func), script.end(call.func), f"{script.ranks}.save")]
    pieces += [
        Piece(script.start(word), script.start(word) + 1, "path")
        for word in call.keywords
        if word.arg == "f" and script.data[script.start(word) : script.start(word) + 1] == b"f"
    ]
    pieces += [
        Piece(script.start(word), script.start(word) + 3, "state")
        for word in call.keywords
        if word.arg == "obj" and script.data[script.start(word) : script.start(word) + 3] == b"obj"
    ]
    unsure = next((test for test in _tests(script, call) if not _agreed(test)), None)
    if unsure is not None:
        pieces.append(appended(script, call, "wait=False"))
        script.remark("own-decision", unsure, script.label(unsure))
    script.change("save" if unsure is None else "save-alone", call, *sorted(pieces, key=lambda piece: piece.start), ranks=True)


def _tests(script: Script, node: ast.AST, seen: tuple[str, ...] = ()) -> Iterator[ast.expr]:
    """What decides whether a node is come to, in its function and where that is called."""
    for here, child in script.module.ancestors(node):
        if isinstance(here, ast.If | ast.While) and child is not here.test:
            yield here.test
        elif isinstance(here, ast.ExceptHandler):
            yield here.type or ast.Name(
                "_", ast.Load(), lineno=here.lineno, col_offset=here.col_offset, end_lineno=here.lineno, end_col_offset=here.col_offset
            )
        elif isinstance(here, ast.FunctionDef | ast.AsyncFunctionDef):
            if here.name not in seen and len(seen) < 4:
                for call in script.calls:
                    if last(call.func) == here.name:
                        yield from _tests(script, call, (*seen, here.name))
            return


def _agreed(test: ast.expr) -> bool:
    """Whether all processes decide alike, by names of counters, settings and constants alone."""
    return all(_SAME.fullmatch(node.id) is not None for node in ast.walk(test) if isinstance(node, ast.Name)) and not any(
        isinstance(node, ast.Attribute) and re.search(r"loss|acc|best|metric|score", node.attr) for node in ast.walk(test)
    )


def _load(script: Script, call: ast.Call) -> None:
    here = f"{script.ranks}.device"
    if any(word.arg is None for word in call.keywords) or any(isinstance(given, ast.Starred) for given in call.args):
        return
    given = next((word.value for word in call.keywords if word.arg == "map_location"), call.args[1] if len(call.args) > 1 else None)
    if given is None:
        script.change("load", call, appended(script, call, f"map_location={here}"))
    elif is_cuda_text(given) and not script.gone(given):
        script.replace("load", given, here)


def _other(script: Script, call: ast.Call, name: str) -> None:
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name == "logging.basicConfig":
        _level(script, call)
    elif name in ("os.makedirs", "os.mkdir"):
        _folder(script, call, name)
    elif name in _FILES or (method in _METHODS and not name.startswith("torch.")):
        if not _by_first(script, call):
            script.remark("files", call, script.label(call.func))
    elif name in _TOLD or (name == "" and _opens(call)):
        script.remark("files", call, script.label(call.func))


def _opens(call: ast.Call) -> bool:
    """`open(path, "w")`, or with another mode that makes a file."""
    mode = next((word.value for word in call.keywords if word.arg == "mode"), call.args[1] if len(call.args) > 1 else None)
    writes = isinstance(mode, ast.Constant) and isinstance(mode.value, str) and re.match(r"[wax]", mode.value)
    return isinstance(call.func, ast.Name) and call.func.id == "open" and bool(writes)


def _by_first(script: Script, call: ast.Call) -> bool:
    """Put a statement under `if ranks.first:`; False where it is no statement with lines of its own."""
    statement = script.module.parents[call]
    if not isinstance(statement, ast.Expr) or (indent := script.indent(statement)) is None:
        return False
    rest = script.data[script.end(statement) :].partition(b"\n")[0].strip()
    if rest and not rest.startswith(b"#"):
        return False
    place = script.start(statement)
    script.change("file", call, Piece(place, place, f"if {script.ranks}.first:\n{indent}    "), name=script.label(call.func), ranks=True)
    return True


def _level(script: Script, call: ast.Call) -> None:
    level = next((word.value for word in call.keywords if word.arg == "level"), None)
    logging = script.name_of("logging")
    if level is None or not logging or script.dotted(level).rpartition(".")[0] != "logging":
        script.remark("files", call, script.label(call.func))
        return
    script.change("log", call, Piece(script.end(level), script.end(level), f" if {script.ranks}.first else {logging}.ERROR"), ranks=True)


def _folder(script: Script, call: ast.Call, name: str) -> None:
    """A folder that another process may have made meanwhile."""
    if any(word.arg in ("exist_ok", None, "dir_fd", "mode") for word in call.keywords) or len(call.args) != 1:
        return
    pieces = [appended(script, call, "exist_ok=True")]
    if name == "os.mkdir":
        if not isinstance(call.func, ast.Attribute):
            return
        pieces.insert(0, Piece(script.end(call.func) - len("mkdir"), script.end(call.func), "makedirs"))
    script.change("folder", call, *pieces, name=name, ranks=True)
