"""Reads the history of a training, which its ranks wrote (rigup.train.runtime.history)."""

import msgspec

from rigup.machine.host import Host
from rigup.schemas.train_history import Ended, Started, Stepped

Line = Started | Stepped | Ended
_MOST_BYTES, _MOST_RANKS = 16_000_000, 4096
_decoder = msgspec.json.Decoder(Line)


def history_of(text: str) -> list[Line]:
    """The lines of one rank, in order. What is no line of a history, such as one cut short by a kill, is left out."""
    lines = []
    for row in text.splitlines():
        try:
            lines.append(_decoder.decode(row))
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
            continue
    return lines


def run_history(host: Host, folder: str) -> dict[str, list[Line]]:
    """The lines of every rank of a run, by path of its file. Empty where there is none, or it cannot be read."""
    found = sorted(host.find(f"{folder.rstrip('/')}/rank-*.jsonl"))[:_MOST_RANKS]
    texts = {path: host.read(path, _MOST_BYTES).body or "" for path in found}
    return {path: lines for path, text in texts.items() if (lines := history_of(text))}
