"""A script is ported: what is changed for any device, for many processes, and what is left to somebody's judgement."""

import ast

import msgspec

from rigup.train.port.amp import ported_amp
from rigup.train.port.devices import ported_devices
from rigup.train.port.flow import Flow
from rigup.train.port.imports import joined, without_unused
from rigup.train.port.judgement import framework, kernels, many
from rigup.train.port.loaders import ported_loaders, set_epochs
from rigup.train.port.models import ported_models
from rigup.train.port.output import ported_output
from rigup.train.port.script import Change, Remark, Script, changed, parses


class Ported(msgspec.Struct, frozen=True, kw_only=True):
    """A script as it would be.

    Attributes:
        text: of the whole file.
        changes: by line of the file as it is.
        remarks: by line.
        framework: what places its work already; "" for nothing.
        trains: whether a training was seen in it.
        many: whether it trains on many processes then.

    """

    text: str
    changes: list[Change]
    remarks: list[Remark]
    framework: str
    trains: bool
    many: bool


def ported(file: str, text: str) -> Ported:
    """Port a script. Raises UnreadableError for what is no Python.

    Args:
        file: its name.
        text: of it, with lines that end in a line feed.

    """
    script = Script(file, text)
    places = framework(script)
    flow = Flow(script)
    trains = flow.exists()
    if places:
        if places != "rigup.train":
            set_epochs(script)
        return _answer(script, text, places, trains)
    if not any(name == "torch" or name.startswith("torch.") for name in (*script.module.imports.values(), *script.module.stars)):
        return _answer(script, text, "", trains)
    ported_devices(script)
    kernels(script)
    if not any(remark.stops == "all" for remark in script.remarks):
        ported_amp(script)
        if trains:
            many(script, flow)
            ported_loaders(script, flow)
            ported_models(script, flow)
        ported_output(script)
    return _answer(script, text, "", trains)


def _answer(script: Script, text: str, places: str, trains: bool) -> Ported:
    stops = {remark.stops for remark in script.remarks}
    wanted = [
        change
        for change in script.changes
        if "all" not in stops and not (change.ranks and ("ranks" in stops or not _worth(script, trains)))
    ]
    new, applied = text, wanted
    if wanted:
        new, applied = _changed(script, wanted)
        if not parses(new):
            script.remark("not-sure", ast.Pass(lineno=1, col_offset=0), stops="all")
            new, applied = text, []
    return Ported(
        text=new,
        changes=applied,
        remarks=sorted(script.remarks, key=lambda remark: remark.line),
        framework=places,
        trains=trains,
        many=bool(applied) and trains and not stops & {"ranks", "all"},
    )


def _changed(script: Script, wanted: list[Change]) -> tuple[str, list[Change]]:
    """The text with changes, the import that they need, and without imports that nothing needs any more."""
    beginning = joined(script, wanted)
    new, applied = changed(script.data, [*wanted, *([beginning] if beginning is not None else [])])
    return without_unused(new, script), applied


def _worth(script: Script, trains: bool) -> bool:
    """Whether what serves many processes is of use: a training, or a part of a program that has more than this file."""
    return trains or any(not change.ranks for change in script.changes)
