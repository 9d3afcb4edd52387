"""Mixed precision: what is CUDA's own becomes what each chip can, bfloat16 where it has it."""

import ast

from rigup.train.port.devices import is_cuda_text
from rigup.train.port.script import Script

_AUTOCAST = {
    "torch.cuda.amp.autocast": ("enabled", "dtype", "cache_enabled"),
    "torch.amp.autocast": ("device_type", "dtype", "enabled", "cache_enabled"),
    "torch.autocast": ("device_type", "dtype", "enabled", "cache_enabled"),
}
_SCALER = {"torch.cuda.amp.GradScaler": "", "torch.amp.GradScaler": "device"}
_HALF = ("torch.float16", "torch.half")


def ported_amp(script: Script) -> None:
    """Note what is changed of autocast and GradScaler."""
    for call in script.calls:
        name = script.called(call)
        if (
            script.gone(call)
            or any(isinstance(given, ast.Starred) for given in call.args)
            or any(word.arg is None for word in call.keywords)
        ):
            continue
        if name in _AUTOCAST:
            _autocast(script, call, _AUTOCAST[name], name.startswith("torch.cuda."))
        elif name in _SCALER:
            _scaler(script, call, _SCALER[name])
    for node in script.module.nodes:
        if isinstance(node, ast.Attribute | ast.Name) and script.dotted(node) in {"torch.cuda.amp.autocast", "torch.cuda.amp.GradScaler"}:
            parent = script.module.parents[node]
            if not script.gone(node) and not (isinstance(parent, ast.Call) and parent.func is node):
                script.remark("cuda-only", node, script.dotted(node))


def _autocast(script: Script, call: ast.Call, order: tuple[str, ...], cuda: bool) -> None:
    given = dict(zip(order, call.args, strict=False)) | {word.arg: word.value for word in call.keywords if word.arg}
    device, dtype = given.pop("device_type", None), given.get("dtype")
    if not cuda and (device is None or not is_cuda_text(device)):
        return
    if dtype is None or script.dotted(dtype) in _HALF:
        given.pop("dtype", None)
        script.replace("amp", call, f"{script.ranks}.autocast({_words(script, given)})", name=script.label(call.func))
    elif device is not None:
        script.replace("device", device, f"{script.ranks}.device.type", name=script.label(device))
    elif torch := script.name_of("torch"):
        words = ", ".join(filter(None, (f"{script.ranks}.device.type", _words(script, given))))
        script.replace("amp", call, f"{torch}.autocast({words})", name=script.label(call.func))
    else:
        script.remark("cuda-only", call, script.label(call.func))


def _scaler(script: Script, call: ast.Call, first: str) -> None:
    words = [script.source(given) for given in call.args]
    keywords = {word.arg: word.value for word in call.keywords if word.arg}
    device = keywords.pop("device", call.args[0] if first and call.args else None)
    if device is not None and not is_cuda_text(device):
        return
    words = words[1:] if first and call.args else words
    text = ", ".join(filter(None, (*words, _words(script, keywords))))
    script.replace("scaler", call, f"{script.ranks}.scaler({text})", name=script.label(call.func))


def _words(script: Script, given: dict[str, ast.expr]) -> str:
    return ", ".join(f"{name}={script.source(value)}" for name, value in given.items())
