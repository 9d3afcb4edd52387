"""Texts laid over the view: the keys, all that is known of a GPU or a process, and what is wrong with what mends it."""

from collections.abc import Iterator

import msgspec

from rigup.cli.live.spans import harmless
from rigup.cli.live.view import Frame, words_of
from rigup.language import _
from rigup.schemas.watch import WatchedProcess
from rigup.schemas.watch_gpu import WatchedGpu

_WIDE = 66


def help_text(replay: bool) -> str:
    """The keys."""
    rows = [
        ("q, Ctrl-C", _("quit")),
        ("↑ ↓ PgUp PgDn Home End", _("choose a process")),
        ("Tab, Shift-Tab", _("choose a GPU")),
        ("s, S", _("sort by the next column, by the one before")),
        ("r", _("turn the order round")),
        ("/", _("show processes with these words: of command, user, PID, job, container")),
        ("Esc", _("show all processes, choose none")),
        ("t", _("children below their parents")),
        ("a", _("all processes that use the processors, not those on GPUs alone")),
        ("i", _("all that is known of the chosen GPU, with where it is from")),
        ("Enter", _("all that is known of the chosen process")),
        ("f", _("what is wrong, and what mends it")),
        ("m", _("graphs of use, memory, power or temperature")),
        ("g", _("with or without graphs")),
        ("T", _("other colours")),
        ("p", _("pause")),
        ("+ -", _("faster, slower")),
    ]
    if replay:
        rows += [("← →", _("a sample back, forward")), ("[ ]", _("60 samples back, forward"))]
        rows += [("{ }", _("to the beginning, to the end"))]
    else:
        rows += [("k", _("send a signal to the chosen process; it asks first"))]
    wide = max(len(keys) for keys, _word in rows)
    mouse = _("The mouse chooses, sorts by a click on a head, and scrolls.")
    return "\n".join([*(f"{keys:{wide}}  {word}" for keys, word in rows), "", mouse])


def gpu_text(gpu: WatchedGpu) -> str:
    """All values of a GPU by path, each with its source."""
    plain = msgspec.to_builtins(gpu)
    hidden = ("source", "not_available")
    rows = [(path, value, gpu.source.get(path, "")) for path, value in _flat(plain, "") if path.split(".")[0] not in hidden]
    wide = max((len(path) for path, _value, _source in rows), default=0)
    lines = [f"{path:{wide}}  {harmless(value):24}  {harmless(source)}".rstrip() for path, value, source in rows]
    if gpu.not_available:
        missing = harmless(", ".join(sorted(gpu.not_available)))
        lines += ["", _("Not available: {paths}").format(paths=missing)]
    return "\n".join(lines)


def _flat(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(part, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _flat(part, f"{path}[{number}]")
    elif isinstance(value, float):
        yield path, f"{value:.6g}"
    else:
        yield path, f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def process_text(process: WatchedProcess) -> str:
    """All that is known of a process; its words as they are."""
    rows = [row for row in _flat(msgspec.to_builtins(process), "") if row[0] != "command"]
    wide = max(len(path) for path, _value in rows)
    return "\n".join([harmless(words_of(process)), "", *(f"{path:{wide}}  {harmless(value)}" for path, value in rows)])


def findings_text(frame: Frame) -> str:
    """What is wrong, what it means and what mends it."""
    from rigup.cli.layout import wrapped
    from rigup.watch.ways import commands_of

    lines, mend, more = [], _("Mend:"), _("More:")
    for finding in frame.sample.findings:
        lines += wrapped(f"{harmless(finding.title)}. [{finding.cause}]", most=_WIDE)
        lines += wrapped(harmless(finding.because), "  ", "  ", _WIDE)
        for number, fix in enumerate(finding.fixes):
            lines += wrapped(harmless(fix.title), "  " + (mend if number == 0 else _("or:")) + " ", "  ", _WIDE)
            lines += [f"    $ {harmless(command)}" for command in commands_of(fix)]
        lines += wrapped(harmless(finding.mends), f"  {mend} ", "  ", _WIDE) if finding.mends else []
        lines += [f"  {more} rigup explain {finding.cause}", ""]
    for error in frame.sample.errors:
        lines += wrapped(harmless(f"{error.what}: {error.because}"), most=_WIDE)
    return "\n".join(lines).strip() or _("Nothing is wrong, as far as this tells.")
