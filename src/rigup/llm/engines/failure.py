"""Why an engine did not start, by what it said: sentences with what to do next."""

import re
import signal
from collections.abc import Sequence

import msgspec

from rigup.knowledge import tables
from rigup.language import _, sentences

_SHOWN = 6
_SIGNALS = 128
_SAID = re.compile(r" E |\b(?:error|failed|fatal)\b", re.IGNORECASE)


class _Failure(msgspec.Struct, frozen=True):
    id: str
    regex: str


class Failed(msgspec.Struct, frozen=True):
    """Why.

    Attributes:
        kind: an id of the table; "ended" for none of them.
        text: what is wrong and what to do, as sentences.

    """

    kind: str
    text: str


def why(log: str, status: int | None, model: str, changes: Sequence[str] = ()) -> Failed:
    """What a log tells.

    Args:
        log: what the engine said.
        status: how it ended, negative for a signal, or beyond 128 as shells and `held_child` tell one.
        model: how the person called it.
        changes: settings with which it would fit, each by itself, as "name value".

    """
    if status is not None and _SIGNALS < status < 2 * _SIGNALS:
        status = _SIGNALS - status
    for row in tables.rows("engine_failures", "failure", _Failure):
        found = re.search(row.regex, log)
        if found:
            detail = next((value for value in found.groupdict().values() if value), "")
            text = _texts()[row.id].format(model=model, what=detail)
            return Failed(row.id, sentences(text, _advice(changes) if row.id == "out-of-memory" else ""))
    if status == -getattr(signal, "SIGILL", 4):
        return Failed("instruction-missing", _texts()["instruction-missing"])
    if status == -getattr(signal, "SIGKILL", 9):
        template = _("The engine was killed, by the system where its memory was full, or by somebody.")
        return Failed("killed", sentences(template, _advice(changes)))
    lines = [line.strip() for line in log.splitlines() if _SAID.search(line)][-_SHOWN:] or log.splitlines()[-_SHOWN:]
    template = _("The engine ended as it started, with status {status}. It said last: {said}")
    return Failed("ended", template.format(status=status, said=" / ".join(lines) or _("nothing")))


def _advice(changes: Sequence[str]) -> str:
    """What would make it fit, by the figures of `fit`."""
    if not changes:
        return ""
    return _("By the figures of rigup fit it would fit with one of these: {changes}.").format(changes=", ".join(changes))


def _texts() -> dict[str, str]:
    return {
        "port-taken": _("The port is taken by another program: name another with --port."),
        "file-missing": _("The file of {model} is not there, or may not be read."),
        "not-a-model": _("The file of {model} is no GGUF file: download it again."),
        "type-unknown": _(
            "The engine does not know a type of numbers in {model} (number {what}): it is older than the file, or the file is broken. Take a newer engine, or another quantisation."
        ),
        "file-cut-short": _("The file of {model} is shorter than its header says: its download broke off. Download it again."),
        "architecture-unknown": _("The engine does not know models of the architecture {what}: take a newer engine."),
        "tokenizer-unknown": _(
            "The engine does not know the tokenizer {what} of {model}: take a newer engine, or a newer conversion of the model."
        ),
        "device-unsupported": _("The engine's build holds no code for this GPU. `rigup doctor` names the variable or the build that does."),
        "out-of-memory": _("There is not enough memory for {model} with these settings."),
        "projector-refused": _("{what} is no projector (mmproj) that the engine knows: take the one that was made for {model}."),
        "template-broken": _("The engine cannot read the chat template: mend it, or leave it out and take the model's own."),
        "cache-type-unfit": _("The heads of {model} are of a size that a cache of the type {what} cannot hold: leave --kv out."),
        "library-missing": _(
            "The engine lacks the library {what}: its build is for other libraries than this machine has. `rigup doctor` tells which are there."
        ),
        "option-unknown": _("The engine does not know the option {what}: it is older than rigup expects. Take a newer engine."),
        "instruction-missing": _("The engine's build uses instructions that this processor lacks: take a build for it."),
    }
