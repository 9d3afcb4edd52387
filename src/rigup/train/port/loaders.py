"""Data loaders: those that train read each process's own part, in batches that make up the one that was asked for."""

import ast
import re

from rigup.train.port.flow import Flow, arguments, last
from rigup.train.port.output import appended
from rigup.train.port.script import Piece, Script
from rigup.train.port.words import Words, others, starred

_LOADER = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
_SAMPLER = ("torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler")
_EVAL = re.compile(r"test|val(?!ue)|eval|dev(?!ice)|infer|predict|holdout", re.IGNORECASE | re.ASCII)
_TRAIN = re.compile(r"train|(?<![a-z])trn", re.IGNORECASE | re.ASCII)
_SIZED = re.compile(r"torchvision\.datasets\.|torch\.utils\.data\.(?:dataset\.)?(?:TensorDataset|Subset|ConcatDataset|random_split)")


def ported_loaders(script: Script, flow: Flow) -> None:
    """Note what is changed of loaders, and what stops it."""
    training: set[ast.Call] = set()
    judging: set[ast.Call] = set()
    for loop, found in flow.iterated():
        if flow.trains(loop):
            training |= found
        else:
            judging |= found
    count = 0
    for call in script.calls:
        if script.called(call) in _LOADER and not script.gone(call):
            count += _ported(script, flow, call, call in training, call in judging)
    if not count and not any(remark.stops == "ranks" for remark in script.remarks):
        script.remark("no-loader", flow.loops[0] if flow.loops else script.module.tree, stops="ranks")


def _ported(script: Script, flow: Flow, call: ast.Call, trains: bool, judges: bool) -> int:
    """One loader; 1 where it was changed."""
    own = {word.arg: word.value for word in call.keywords if word.arg}
    more = starred(script, call)
    words = own | {word: values[0] for word, values in more.values.items()} if more else own
    shuffle = words.get("shuffle", call.args[2] if len(call.args) > 2 else None)
    shuffled = isinstance(shuffle, ast.Constant) and shuffle.value is True
    hint = _hint(script, call)
    judged = _EVAL.search(hint) is not None and _TRAIN.search(hint) is None
    if not trains and (judged or judges or not (shuffled or _TRAIN.search(hint))):
        if shuffle is not None and not isinstance(shuffle, ast.Constant) and not judged:
            script.remark("loader-both", call, hint, stops="ranks")
        return 0
    if trains and judged:
        script.remark("loader-both", call, hint, stops="ranks")
        return 0
    phase = _phase(script, call)
    stop = "loader-both" if phase is None else _stop(script, flow, call, words, more, shuffle)
    if stop or more is None:
        script.remark(stop, call, hint, stops="ranks")
        return 0
    _shared(script, flow, call, words, more, phase or "")
    if trains and judges and not phase:
        script.remark("metrics-of-part", call, hint)
    return 1


def _phase(script: Script, call: ast.Call) -> str | None:
    """Of a dict of loaders, `{x: DataLoader(sets[x]) for x in ["train", "val"]}`, the condition of the one that trains; None where nobody can tell, "" outside of such."""
    kinds = (ast.DictComp, ast.ListComp, ast.GeneratorExp, ast.SetComp)
    around = [here for here, _child in script.module.ancestors(call) if isinstance(here, kinds)]
    if not around:
        return ""
    made, (loop, *rest) = around[0], around[0].generators
    if len(around) > 1 or rest or loop.ifs or not isinstance(made, ast.DictComp) or made.value is not call:
        return None
    phases = [each.value if isinstance(each, ast.Constant) else None for each in getattr(loop.iter, "elts", [])]
    train = [phase for phase in phases if isinstance(phase, str) and _TRAIN.search(phase) and not _EVAL.search(phase)]
    judging = [phase for phase in phases if isinstance(phase, str) and _EVAL.search(phase)]
    certain = len(train) == 1 and len(judging) == len(phases) - 1 and "cuda" not in script.source(call)
    return f"{loop.target.id} == {train[0]!r}" if certain and isinstance(loop.target, ast.Name) else None


def _stop(script: Script, flow: Flow, call: ast.Call, words: dict[str, ast.expr], more: Words | None, shuffle: ast.expr | None) -> str:
    """Why a loader that trains cannot be shared out as it stands; "" where it can."""
    for name in ("sampler", "batch_sampler"):
        if name in words and not (isinstance(words[name], ast.Constant) and words[name].value is None):  # type: ignore[attr-defined]
            return "sampler"
    unseen = more is None or any(isinstance(given, ast.Starred) for given in call.args)
    if more is None or unseen or len(call.args) > 3 or not (call.args or "dataset" in words):
        return "loader-words"
    if "batch_size" in more.values and ("batch_size" not in more.certain or more.name is None):
        return "loader-words"
    if shuffle is not None and not isinstance(shuffle, ast.Constant):
        return "loader-both"
    certain = "shuffle" not in more.values or "shuffle" in more.certain
    shuffled = certain and shuffle is not None and getattr(shuffle, "value", None) is True
    dataset = words.get("dataset", call.args[0] if call.args else call)
    return "" if shuffled or _sized(script, flow, dataset) else "loader-stream"


def _sized(script: Script, flow: Flow, dataset: ast.expr) -> bool:
    """Whether a dataset is seen to have a length: without `shuffle` it may be a stream."""
    names = {script.called(call) for call in script.calls if _SIZED.match(script.called(call))}
    if flow.origins(dataset, frozenset(names)):
        return True
    classes = {node.name: node for node in script.module.nodes if isinstance(node, ast.ClassDef)}
    dataset_call = dataset if isinstance(dataset, ast.Call) else None
    if isinstance(dataset, ast.Name):
        dataset_call = next((value for value, _path in flow.bound(dataset) if isinstance(value, ast.Call)), None)
    node = classes.get(last(dataset_call.func)) if dataset_call is not None else None
    return node is not None and any(isinstance(each, ast.FunctionDef) and each.name == "__len__" for each in node.body)


def _shared(script: Script, flow: Flow, call: ast.Call, words: dict[str, ast.expr], more: Words, phase: str) -> None:
    pieces = [Piece(script.start(call.func), script.end(call.func), script.loader)]
    size = words.get("batch_size", call.args[1] if len(call.args) > 1 else None)
    if size is None:
        script.remark("batch-of-one", call)
    else:
        pieces += _of_size(script, flow, size, more, phase)
    if len(call.args) > 2:
        place = script.start(call.args[2])
        pieces.append(Piece(place, place, "shuffle="))
    earlier = sum(change.kind == "loader" for change in script.changes)
    if earlier and "seed" not in words:  # each its own order, as they had
        pieces.append(appended(script, call, f"seed={earlier}"))
    if not any(remark.kind == "learning-rate" for remark in script.remarks):
        script.remark("learning-rate", call)
    pieces.sort(key=lambda piece: piece.start)
    if phase:
        place = script.start(call)
        pieces = [Piece(place, place, f"{_written(script, call, pieces)} if {phase} else ")]
    script.change("loader", call, *pieces, name=script.label(call.func), ranks=True)


def _of_size(script: Script, flow: Flow, size: ast.expr, more: Words, phase: str) -> list[Piece]:
    """What makes the batch of each process of the one that was asked for, at the call or where its number stands."""
    used = _elsewhere(script, flow, size)
    name = more.name if "batch_size" in more.values else None
    once = _once(script, size) if not phase and name is None else None
    if once is not None and used:
        if not any(change.kind == "batch-size" and change.line == once.lineno for change in script.changes):
            script.change("batch-size", once, *_share(script, once), name=ast.unparse(size), ranks=True)
        return []
    for node in (each for each in used if not flow.without_gradient(each)):  # what judges reads whole batches
        script.remark("batch-size", node, ast.unparse(size), stops="ranks" if flow.in_training(node) else "")
    if name is None:
        return list(_share(script, size))
    if not others(script, name) and not phase:
        script.change("batch-size", size, *_share(script, size), name=f'{name.id}["batch_size"]', ranks=True)
        return []
    shared = f'{{**{name.id}, "batch_size": {script.ranks}.share({name.id}["batch_size"])}}'
    return [Piece(script.start(name), script.end(name), shared)]


def _written(script: Script, call: ast.Call, pieces: list[Piece]) -> str:
    """A call with its pieces put in."""
    text, begin = script.data[script.start(call) : script.end(call)], script.start(call)
    for piece in reversed(pieces):
        text = text[: piece.start - begin] + piece.text.encode() + text[piece.end - begin :]
    return text.decode()


def _share(script: Script, size: ast.expr) -> tuple[Piece, Piece]:
    return Piece(script.start(size), script.start(size), f"{script.ranks}.share("), Piece(script.end(size), script.end(size), ")")


def _once(script: Script, size: ast.expr) -> ast.expr | None:
    """The number that a name is given, if once in the whole script."""
    if not isinstance(size, ast.Name):
        return None
    found = [binding for names in script.module.bindings.values() for binding in names.get(size.id, [])]
    value = found[0].value if len(found) == 1 and found[0].kind == "assign" else None
    return value if isinstance(value, ast.Constant) and type(value.value) is int else None


def _elsewhere(script: Script, flow: Flow, size: ast.expr) -> list[ast.AST]:
    """Where the program counts on the batch size besides its loaders, also under the name that a caller has for it."""
    if not isinstance(size, ast.Name | ast.Attribute):
        return []
    function = script.function(size)
    own = isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(size, ast.Name) and size.id in arguments(function)
    given = list(flow.given(function, size.id)) if own and isinstance(function, ast.FunctionDef) and isinstance(size, ast.Name) else []
    found = [node for node in _same(script, size) if not own or script.function(node) is function]
    for value in given:
        if isinstance(value, ast.Name | ast.Attribute):
            found += [node for node in _same(script, value) if script.function(node) is not function or isinstance(value, ast.Attribute)]
    return found


def _same(script: Script, size: ast.Name | ast.Attribute) -> list[ast.AST]:
    """Other uses of a name, but for what is printed or makes a loader."""
    text = ast.unparse(size)
    found: list[ast.AST] = []
    for node in script.module.nodes:
        if (
            not isinstance(node, ast.Name | ast.Attribute)
            or node is size
            or not isinstance(node.ctx, ast.Load)
            or ast.unparse(node) != text
        ):
            continue
        around = [here for here, _child in script.module.ancestors(node) if isinstance(here, ast.Call)]
        only_shown = any(
            script.called(here) in (*_LOADER, "print") or last(here.func) in ("info", "update", "format", "log") for here in around
        )
        if not only_shown and not script.quoted(node) and not any(last(here.func) in script.functions for here in around[:1]):
            found.append(node)
    return found


def _hint(script: Script, call: ast.Call) -> str:
    """What a loader is called: the name it is given, a key, or the function that makes it."""
    child: ast.AST = call
    for here, inner in script.module.ancestors(call):
        if isinstance(here, ast.Assign):
            return script.source(here.targets[0])
        if isinstance(here, ast.Dict):
            key = next((key for key, value in zip(here.keys, here.values, strict=True) if value is inner), None)
            if key is not None:
                return script.source(key)
        if isinstance(here, ast.keyword) and here.arg:
            return here.arg
        if isinstance(here, ast.FunctionDef | ast.AsyncFunctionDef):
            return here.name
        child = here
    return script.source(child)[:40] if isinstance(child, ast.stmt) else ""


def set_epochs(script: Script) -> None:
    """`sampler.set_epoch(epoch)` where a DistributedSampler is there and never told."""
    if any(last(call.func) == "set_epoch" for call in script.calls):
        return
    for call in script.calls:
        target = script.module.parents[call]
        if script.called(call) not in _SAMPLER or not isinstance(target, ast.Assign) or not isinstance(target.targets[0], ast.Name):
            continue
        loop = _epochs(script, target)
        if loop is None:
            script.remark("set-epoch", call)
            continue
        line = script.before(loop.body[0], f"{target.targets[0].id}.set_epoch({ast.unparse(loop.target)})")
        if line is not None:
            script.change("set-epoch", loop, line)


def _epochs(script: Script, assignment: ast.Assign) -> ast.For | None:
    """The loop over epochs in the function that makes a sampler."""
    root: ast.AST = script.function(assignment) or script.module.tree
    for node in sorted((each for each in script.own_nodes(root) if isinstance(each, ast.For)), key=lambda each: each.lineno):
        if (
            isinstance(node.target, ast.Name)
            and "epoch" in node.target.id
            and node.lineno > assignment.lineno
            and isinstance(node.iter, ast.Call)
            and last(node.iter.func) in ("range", "trange")
        ):
            return node
    return None
