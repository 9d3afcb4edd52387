"""Run beside a systemd of a user's own: a service of models from its making to its undoing. Prints what was seen as JSON.

under_systemd.py MODEL PYTHON PORT
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

MODEL, PYTHON, PORT = sys.argv[1:]
NAME = "rigup-serve.service"
RIGUP = [sys.executable, "-m", "rigup"]
WAIT = 120


def shown(*words: str) -> str:
    return subprocess.run(["systemctl", "--user", *words], capture_output=True, text=True, check=False).stdout.strip()


def answered(path: str, body: "dict[str, object] | None" = None, key: str = "") -> "dict[str, object]":
    head = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data, head)
    with urllib.request.urlopen(asked, timeout=WAIT) as answer:
        found: dict[str, object] = json.load(answer)
        return found


def ready(other_than: str = "") -> str:
    """The main process once it answers."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        pid = shown("show", "-P", "MainPID", NAME)
        try:
            if pid not in ("", "0", other_than) and answered("/health"):
                return pid
        except OSError:
            pass
        time.sleep(0.1)
    return ""


def engines() -> int:
    """Engines that run; nobody else's are seen here."""
    found = 0
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += b"held_child" in entry.read_bytes()
        except OSError:
            continue
    return found


def chat(key: str) -> object:
    messages = [{"role": "user", "content": "count from 3 to 7"}]
    told = answered("/v1/chat/completions", {"messages": messages, "temperature": 0, "max_tokens": 30}, key)
    return told["choices"][0]["message"]["content"]  # type: ignore[index]


seen: "dict[str, object]" = {}
words = ["serve", MODEL, "--engine-python", PYTHON, "--on", "cpu", "--context", "512", "--port", PORT]
seen["installed"] = subprocess.run([*RIGUP, *words, "--install-service", "--yes"], check=False).returncode
first = ready()
key = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "rigup", "serve.key").read_text().strip()
seen["enabled"], seen["answer"], seen["engines"] = shown("is-enabled", NAME), chat(key), engines()
os.kill(int(first), 9)
second = ready(first)
seen["again"], seen["answer again"], seen["engines again"] = bool(second), chat(key), engines()
seen["undone"] = subprocess.run([*RIGUP, "undo", "--yes"], check=False).returncode
seen["state"], seen["engines after"] = shown("is-active", NAME), engines()
print(json.dumps(seen))
