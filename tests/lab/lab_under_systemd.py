"""Run beside a systemd of a user's own: `rigup lab --container` as a service, from its making to its undoing. Prints what was seen as JSON.

lab_under_systemd.py IMAGE PORT
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

IMAGE, PORT = sys.argv[1:]
NAME = "rigup-lab.service"
RIGUP = [sys.executable, "-m", "rigup"]
WAIT = 240


def said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def status(token: str) -> int:
    asked = urllib.request.Request(f"http://127.0.0.1:{PORT}/api/kernels", headers={"Authorization": f"token {token}"})
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0


def serves(token: str, other_than: str = "") -> str:
    """The main process once it answers."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        pid = said("systemctl", "--user", "show", "-P", "MainPID", NAME)
        if pid not in ("", "0", other_than) and status(token) == 200:
            return pid
        time.sleep(0.1)
    return ""


def containers() -> int:
    return len(said("podman", "ps", "--all", "--quiet").split())


def settled(count: int) -> int:
    """The containers, once they are so many: one that was left goes by itself."""
    until = time.monotonic() + WAIT
    while containers() != count and time.monotonic() < until:
        time.sleep(0.1)
    return containers()


seen: "dict[str, object]" = {}
words = [*RIGUP, "lab", "--container", IMAGE, "--port", PORT, "--install-service", "--yes"]
seen["installed"] = subprocess.run(words, check=False).returncode
token = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "rigup", "lab.key").read_text().strip()
first = serves(token)
seen["served"], seen["strangers"], seen["containers"] = bool(first), status("x" * 20), containers()
if first:
    os.kill(int(first), 9)
    seen["served again"], seen["containers again"] = bool(serves(token, first)), settled(1)
else:
    print(said("systemctl", "--user", "status", "--no-pager", "--full", NAME), file=sys.stderr)
seen["undone"] = subprocess.run([*RIGUP, "undo", "--yes"], check=False).returncode
seen["state"], seen["containers after"] = said("systemctl", "--user", "is-active", NAME), settled(0)
if seen["containers after"]:
    print(said("podman", "ps", "--all"), said("podman", "events", "--stream=false"), sep="\n", file=sys.stderr)
    print(said("journalctl", "--user", "--no-pager", "--lines=40", "--user-unit", NAME), file=sys.stderr)
print(json.dumps(seen))
