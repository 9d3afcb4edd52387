"""Ranks meet at rank 0 through sockets, before torch: who hangs, and what failed where, is known in seconds and told once."""

import contextlib
import json
import os
import socket
import sys
import threading
import time
from typing import Any, Dict, List, Optional

from rigup_checks import Rank, Refused

MOST_LINE = 1_000_000  # bytes of one message between ranks
MEET = 20.0  # seconds in which all ranks have to come
Check = Dict[str, Any]


class Meeting:
    """Rank 0's side: what came of each rank at each stage."""

    def __init__(self, port: int, world: int, word: str) -> None:
        """Listen on every address of the node; `word` is what ranks of this job know, and nobody else."""
        self.world, self.word, self.address = world, word, ""
        self._came: Dict[str, Dict[int, Dict[str, Any]]] = {}
        self._connections: List[socket.socket] = []
        self._ended = b""  # the verdict that ended all, for who comes after it
        self._changed = threading.Condition()
        family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
        try:
            self._socket = socket.create_server(("", port), family=family, dualstack_ipv6=family == socket.AF_INET6, backlog=1024)
        except OSError as error:
            raise Refused(
                f"rank 0 cannot listen on port {port} ({error.strerror}): another program of the node has it. Start with another --port"
            ) from None
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _from = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._hear, args=(connection,), daemon=True).start()

    def _hear(self, connection: socket.socket) -> None:
        """Messages of one rank, each a line of JSON; whoever does not know the word is not listened to."""
        with connection, connection.makefile("rb") as lines:
            known = False
            while True:
                try:
                    message = json.loads(lines.readline(MOST_LINE) or b"null")
                except (OSError, ValueError, RecursionError):
                    return
                if not isinstance(message, dict) or message.get("word") != self.word or not isinstance(message.get("rank"), int):
                    return
                with self._changed:
                    if not known:
                        self._connections.append(connection)
                        own = plain_address(connection.getsockname()[0])
                        self.address = own if not self.address or not own.startswith("127.") else self.address
                        known = True
                        with contextlib.suppress(OSError):
                            connection.sendall(self._ended)
                    self._keep(message)
                    self._changed.notify_all()

    def _keep(self, message: Dict[str, Any]) -> None:
        stage = self._came.setdefault(str(message.get("stage")), {})
        if message["rank"] in stage:
            message["checks"] = [failed("tasks-equal-world", message, f"two processes call themselves rank {message['rank']}")]
        stage[message["rank"]] = message

    def gather(self, stage: str, seconds: float) -> Dict[int, Dict[str, Any]]:
        """What ranks sent at a stage: of all of them, or of those that came in time; at once where one of them failed."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over(self._came.get(stage, {})), seconds)
            return dict(self._came.get(stage, {}))

    def _is_over(self, came: Dict[int, Dict[str, Any]]) -> bool:
        return len(came) >= self.world or any(not check["passed"] for message in came.values() for check in message["checks"])

    def tell(self, verdict: Dict[str, Any]) -> None:
        """A line to every rank that is here."""
        line = json.dumps(verdict).encode() + b"\n"
        with self._changed:
            self._ended = b"" if verdict["passed"] else line
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.sendall(line)

    def close(self) -> None:
        """Leave the port to the program."""
        self._socket.close()


class Voice:
    """A rank's own side of the meeting."""

    def __init__(self, rank: Rank, address: str, port: int, word: str) -> None:
        """Reach rank 0; it may listen a moment later than others ask."""
        self.rank, self.word = rank, word
        end, why = time.monotonic() + MEET, "no answer"
        while time.monotonic() < end:
            try:
                self._socket = socket.create_connection((address, port), timeout=max(1.0, end - time.monotonic()))
                break
            except OSError as error:
                why = error.strerror or str(error)
                time.sleep(0.1)
        else:
            raise Refused(
                f"nobody answers at {address} port {port} ({why}): rank 0 is not there yet, MASTER_ADDR is no address of its node, or a firewall "
                "stands between the nodes"
            )
        self.own_address = plain_address(self._socket.getsockname()[0])
        self._lines = self._socket.makefile("rb")

    def send(self, stage: str, checks: List[Check], **more: Any) -> None:
        """What this rank found, to rank 0."""
        message = {"word": self.word, "stage": stage, "rank": self.rank.rank, "node": self.rank.node, "checks": checks, **more}
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise Refused(f"rank 0 is lost ({error})") from None

    def hear(self, seconds: float) -> Dict[str, Any]:
        """What becomes of all ranks, as rank 0 tells it within that time."""
        self._socket.settimeout(seconds)
        try:
            verdict = json.loads(self._lines.readline(MOST_LINE) or b"null")
        except (OSError, ValueError) as error:
            raise Refused(f"rank 0 is lost ({error})") from None
        if not isinstance(verdict, dict):
            raise Refused("rank 0 is lost: it ended while others waited for it")
        return verdict

    @property
    def host(self) -> str:
        """Where rank 0 answered."""
        return plain_address(self._socket.getpeername()[0])

    def close(self) -> None:
        """Leave the port to the program."""
        self._socket.close()


def plain_address(text: str) -> str:
    """An address of IPv4 without the form that a socket of both families gives it."""
    return text[7:] if text.startswith("::ffff:") else text


def judged(meeting: Meeting, stage: str, seconds: float, report: str) -> Dict[str, Any]:
    """What becomes of a stage: it is written down, and told to the person, before any rank hears of it."""
    came = meeting.gather(stage, seconds)
    checks = [check for _rank, message in sorted(came.items()) for check in message["checks"]]
    wrong = [check for check in checks if not check["passed"]]
    missing = [rank for rank in range(meeting.world) if rank not in came]
    if missing and not wrong:
        wrong = [absent(stage, missing, came, seconds)]
        checks += wrong
    wrong = wrong or same_device(came)
    passed = False if wrong else True if stage == "reduce" else None
    write(report, checks + [check for check in wrong if check not in checks], passed)
    for check in wrong[:3]:
        told(check)
    verdict = {"passed": not wrong, "address": meeting.address, "port": came.get(0, {}).get("port", 0)}
    meeting.tell(verdict)
    return verdict


def absent(stage: str, missing: List[int], came: Dict[int, Dict[str, Any]], seconds: float) -> Check:
    """The check that names ranks that did not come."""
    nodes = sorted({message["node"] for message in came.values()})
    names = ", ".join(map(str, missing[:20])) + (" …" if len(missing) > 20 else "")
    words = {
        "hello": "did not come to the meeting",
        "torch": "did not get ready with torch and their device",
        "reduce": "did not come out of the all-reduce",
    }
    because = f"{'rank' if len(missing) == 1 else 'ranks'} {names} {words[stage]} within {seconds:.0f} s; the others, on {', '.join(nodes[:8]) or 'no node'}, did"
    kind = "all-reduce" if stage == "reduce" else "devices-equal" if stage == "torch" else "tasks-equal-world"
    return {
        "check": kind,
        "passed": False,
        "measured": str(len(came)),
        "expected": str(len(came) + len(missing)),
        "seconds": seconds,
        "because": because,
        "rank": missing[0],
        "node": "",
    }


def same_device(came: Dict[int, Dict[str, Any]]) -> List[Check]:
    """Ranks of one node that would share a GPU."""
    seen: Dict[Any, int] = {}
    for rank, message in sorted(came.items()):
        device = message.get("device")
        if not device:
            continue
        first = seen.setdefault((message["node"], device), rank)
        if first != rank:
            return [failed("devices-equal", message, f"ranks {first} and {rank} have the same device ({device})")]
    return []


def failed(kind: str, message: Dict[str, Any], because: str) -> Check:
    """A failing check of a rank."""
    return {
        "check": kind,
        "passed": False,
        "measured": "",
        "expected": "",
        "seconds": 0.0,
        "because": because,
        "rank": message["rank"],
        "node": str(message.get("node", "")),
    }


def told(check: Check) -> None:
    """One line for the person."""
    where = f"rank {check['rank']}" + (f" on {check['node']}" if check["node"] else "")
    sys.stderr.write(f"rigup pre-flight: {check['check']}: {where}: {check['because']}\n")
    sys.stderr.flush()


def write(path: str, checks: List[Check], passed: Optional[bool]) -> None:
    """The report, whole or not at all; `passed` is None before the last stage."""
    if not path:
        return
    draft = f"{path}.{os.getpid()}"
    try:
        with open(draft, "w", encoding="utf-8") as file:
            json.dump({"passed": passed, "checks": checks}, file)
        os.replace(draft, path)
    except OSError as error:
        sys.stderr.write(f"rigup pre-flight: the report is not written: {path}: {error.strerror}\n")
