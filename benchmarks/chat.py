#!/usr/bin/env python3
"""How soon `rigup chat` shows something, takes keys, and echoes them: benchmarks/chat.py [RUNS].

A talk on a pseudo-terminal with a server on loopback. Told are medians in milliseconds: until the first line is there,
until keys are taken, and from a key to its echo, in an empty line, in one of 20,000 letters, and with a long history.
"""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "llm" / "chat"), str(ROOT / "src")]

from loopback import Server, served  # noqa: E402
from terminal import Terminal, terminal  # noqa: E402

KEYS = "abcdefghij"


def waited(shown: Terminal, condition: Callable[[], bool]) -> float:
    """Milliseconds until it is so."""
    began = time.perf_counter()
    while not condition():
        shown._pump(0.05)
    return 1000 * (time.perf_counter() - began)


def echoed(shown: Terminal) -> list[float]:
    """Milliseconds from each of some keys to its echo."""
    found = []
    for key in KEYS:
        before = len(shown.raw)
        shown.send(key)
        found.append(waited(shown, lambda before=before, key=key: key.encode() in shown.raw[before:]))
    return found


def one_run(server: Server, state: str) -> dict[str, float]:
    """One talk."""
    with terminal("chat", "--api", server.api, XDG_STATE_HOME=state) as shown:
        first = waited(shown, lambda: "rigup chat" in shown.text())
        keys = first + waited(shown, lambda: any(line.startswith("›") for line in shown.lines()))
        empty = statistics.median(echoed(shown))
        shown.send("\x03")
        shown.send("\x1b[200~" + "word " * 4000 + "\x1b[201~")
        waited(shown, lambda: shown._pump(0.3) is False)
        long = statistics.median(echoed(shown))
        shown.send("\x03\x04")
        shown.status()
    return {"first picture": first, "keys are taken": keys, "echo": empty, "echo in a long line": long}


def main() -> None:
    """Run, and tell."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with served() as server, tempfile.TemporaryDirectory() as state:
        history = Path(state, "rigup", "chat", "history")
        history.parent.mkdir(parents=True)
        history.write_text("".join(json.dumps(f"question {number} " + "x" * 200) + "\n" for number in range(4000)))
        found = [one_run(server, state) for _run in range(runs)]
    for name in found[0]:
        told = [one[name] for one in found]
        print(f"{name:<22} {statistics.median(told):7.1f} ms  (least {min(told):.1f}, most {max(told):.1f})")


if __name__ == "__main__":
    main()
