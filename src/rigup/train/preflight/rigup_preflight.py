"""What every rank of a job does before its program: it proves that the ranks are what was asked for, and then becomes the program.

It is copied beside a job and run by the job's own Python (3.8 and later) with torch alone. Ranks meet at rank 0 through sockets
first, so that one that hangs, a name that does not resolve or a port that does not answer is named in seconds; then each tries its
device, and all meet in an all-reduce. A failing check ends every rank with status 78 and one cause; the report lies in the folder of
the run. The program takes the rank's place by exec: signals reach it, and it finds an untouched device.
"""

import argparse
import os
import sys
import threading
import time
from typing import Any, Dict, List, Optional

from rigup_checks import (
    REDUCE,
    Rank,
    Refused,
    address_of,
    computes,
    identity,
    interface_of,
    interface_variables,
    own_device,
    reduced,
    right_numbers,
    single_mask,
)
from rigup_meeting import MEET, Check, Meeting, Voice, failed, judged, told, write

FAILED = 78  # EX_CONFIG of sysexits.h
IMPORT = 180.0  # seconds in which torch has to be there: from a file system of the network it takes long


class Flight:
    """All checks of one rank, in order. `interface` is what the ranks reached each other by."""

    def __init__(self, rank: Rank, asked: argparse.Namespace, variables: Dict[str, str]) -> None:
        """Nothing is done yet."""
        self.rank, self.asked, self.variables = rank, asked, variables
        folder, self.attempt = variables.get("RIGUP_RUN_FOLDER", ""), variables.get("RIGUP_ATTEMPT", "1")
        self.report = os.path.join(folder, f"preflight-{self.attempt}.json") if folder else ""
        self.checks: List[Check] = []
        self.meeting: Optional[Meeting] = None
        self.judge: Optional[threading.Thread] = None
        self.interface = ""

    def check(self, kind: str, expected: str, function: Any, *arguments: Any) -> Any:
        """Do one, and note how it went; None where it failed."""
        began, passed, because = time.monotonic(), True, ""
        value: Any = None
        try:
            value = function(*arguments)
        except Refused as error:
            passed, because = False, str(error)
        except Exception as error:
            passed, because = False, f"{type(error).__name__}: {error}"[:2000]
        measured = value if isinstance(value, str) else "" if passed else "failed"
        self.checks.append(
            {
                "check": kind,
                "passed": passed,
                "measured": measured,
                "expected": expected,
                "seconds": round(time.monotonic() - began, 3),
                "because": because,
                "rank": self.rank.rank,
                "node": self.rank.node,
            }
        )
        return value if passed else None

    def run(self) -> bool:
        """Whether all ranks may begin; what keeps them from it is told and written."""
        address, port = self.variables.get("MASTER_ADDR", "127.0.0.1"), int(self.variables.get("MASTER_PORT", "29500"))
        word = f"{self.variables.get('SLURM_JOB_ID', '')}/{self.attempt}/{self.variables.get('TORCHELASTIC_RUN_ID', '')}"
        port += self.rank.launcher == "torchrun"  # at the first one torchrun itself listens
        self.check("tasks-equal-world", str(self.asked.nodes * self.asked.tasks_per_node), right_numbers, self.rank, self.asked)
        self.check("visibility-not-doubled", "one", single_mask, self.variables, self.asked.vendor)
        found = self.check("name-resolves", "", address_of, address)
        if found is None or self.rank.rank < 0:
            return self._alone()
        if self.rank.rank == 0:
            self.meeting = self.check("port-answers", "", Meeting, port, self.rank.world, word)
            if self.meeting is None:
                return self._alone()
        voice = self.check("port-answers", "", Voice, self.rank, found, port, word)
        return self._together(voice) if voice else self._alone()

    def _together(self, voice: Voice) -> bool:
        try:
            verdict = self._stage(voice, "hello", MEET)
            if not verdict["passed"]:
                return False
            own = voice.own_address
            self.interface = interface_of(verdict["address"] if own.startswith("127.") and verdict["address"] else own)
            os.environ.update(interface_variables(self.asked.interface or self.interface, os.environ))
            return self._with_torch(voice)
        except Refused as error:
            self.checks = [failed("port-answers", vars(self.rank), str(error))]
            return self._alone()
        finally:
            voice.close()
            if self.meeting:
                if self.judge:
                    self.judge.join(REDUCE)  # rank 0 hears of the verdict as the first one, and may not be gone before the last one does
                self.meeting.close()

    def _stage(self, voice: Voice, stage: str, seconds: float, **more: Any) -> Dict[str, Any]:
        """One stage: rank 0 judges in a thread of its own while it speaks like any other."""
        self._judge(stage, seconds)
        voice.send(stage, self.checks, **more)
        verdict: Dict[str, Any] = voice.hear(seconds + 10)
        return verdict

    def _judge(self, stage: str, seconds: float) -> None:
        if self.meeting:
            self.judge = threading.Thread(target=judged, args=(self.meeting, stage, seconds, self.report), daemon=True)
            self.judge.start()

    def _with_torch(self, voice: Voice) -> bool:
        torch = self.check("devices-equal", "", __import__, "torch")
        device = self.check("devices-equal", str(self.asked.gpus_per_node), own_device, torch, self.rank, self.asked) if torch else None
        if device is not None:
            self.check("devices-equal", "", computes, torch, device)
        store = None
        if torch and self.rank.rank == 0:
            store = torch.distributed.TCPStore("0.0.0.0", 0, self.rank.world, True, wait_for_workers=False)  # noqa: S104 - for other nodes
        known = {"device": identity(torch, device) if device is not None else "", "port": store.port if store else 0}
        verdict = self._stage(voice, "torch", IMPORT, **known)
        if not verdict["passed"]:
            return False
        self._judge("reduce", REDUCE + 2)
        threading.Thread(target=self._reduce, args=(torch, store, voice, verdict["port"], device), daemon=True).start()
        return bool(voice.hear(REDUCE + 10)["passed"])  # NCCL may hang beyond every limit of its own: nobody waits for that thread

    def _reduce(self, torch: Any, store: Any, voice: Voice, port: int, device: Any) -> None:
        store = store or torch.distributed.TCPStore(voice.host, port, self.rank.world, False)
        self.check("all-reduce", str(self.rank.world), reduced, torch, self.rank, store, device, self.asked.backend)
        voice.send("reduce", self.checks)

    def _alone(self) -> bool:
        """Tell what failed without the others."""
        wrong = [check for check in self.checks if not check["passed"]]
        for check in wrong[:1]:
            told(check)
        if self.report and wrong:
            write(self.report.replace(".json", f"-rank-{max(self.rank.rank, 0)}.json"), self.checks, False)
        return False


def main(words: List[str]) -> int:
    """Check, and become the program: returns only where that does not come about."""
    at = words.index("--")
    parser = argparse.ArgumentParser()
    for name in ("nodes", "tasks-per-node", "gpus-per-node"):
        parser.add_argument("--" + name, type=int, required=True)
    for name in ("backend", "vendor", "interface"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--no-checks", action="store_true")
    asked, program = parser.parse_args(words[:at]), words[at + 1 :]
    rank = Rank(dict(os.environ))
    if not asked.no_checks and not Flight(rank, asked, dict(os.environ)).run():
        sys.stderr.flush()
        os._exit(FAILED)  # threads of torch may hang
    os.environ.update(rank.variables(asked.tasks_per_node))
    if program[0].endswith(".py"):
        guard = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rigup_sampler_guard.py")
        program = [sys.executable, *([guard] if os.path.exists(guard) and not asked.no_checks else []), *program]
    sys.stdout.flush()
    os.execvp(program[0], program)  # noqa: S606 - no shell
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
