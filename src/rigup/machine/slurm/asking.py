"""Slurm's commands, asked through a host: each at most once a run, and not again within half a minute.

Text is asked for and never JSON: every release writes it, in the same words; a Slurm that was built without json-c has no JSON,
its form changes with releases (`sinfo --json` has tables in place of nodes from 23.02 on), none has PreemptMode, and of 20,000
jobs it is 150 MB. Texts ask for unix seconds, so that no time zone has to be guessed. Nothing here changes anything: `sinfo`,
`squeue`, `scontrol show`, `sacct` and `sacctmgr show` alone.
"""

import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from rigup.machine import private_file
from rigup.machine.host import Answer, Host
from rigup.machine.local import Local
from rigup.machine.slurm.reading import read_answer
from rigup.machine.slurm.values import Dump

MOST = 256 << 20  # bytes of one answer
FRESH = 30.0  # seconds for which an answer serves again
SECONDS = 60.0  # for a busy controller
_EPOCH = ("env", "SLURM_TIME_FORMAT=%s")
_VERSION = re.compile(r"slurm\S* (\d{1,3}\.\d{1,2}(?:\.\d{1,3})?)")
QUEUE_HEAD = "JOBID|PARTITION|USER|ACCOUNT|QOS|STATE|REASON|PRIORITY|NODES|CPUS|TRES_PER_NODE|SUBMIT_TIME|START_TIME|TIME_LIMIT|ARRAY_JOB_ID|ARRAY_TASK_ID|NODELIST|NAME"
_QUEUE = "%A|%P|%u|%a|%q|%T|%r|%Q|%D|%C|%b|%V|%S|%l|%F|%K|%N|%j"
_COMPLETED = "JobID,JobName,User,Account,Partition,QOS,State,Submit,Start,End,Elapsed,Timelimit"
_RECORDS = (
    "JobID,JobName,User,Account,Partition,QOS,State,Submit,Eligible,Start,End,Elapsed,Timelimit,AllocTRES,ReqTRES,"
    "AllocCPUS,NTasks,MaxRSS,TotalCPU,TRESUsageInAve,NodeList"
)


class Asked(msgspec.Struct, kw_only=True):
    """One command that was asked. `whole`: it answered, to its end, with what is known to be Slurm's."""

    command: tuple[str, ...]
    seconds: float
    whole: bool
    said: str = ""  # its last words, where it did not


class Slurm:
    """The commands of one cluster, through one host. `kept`: the folder in which answers wait half a minute, "" for none."""

    def __init__(self, host: Host | None = None, kept: str = "") -> None:
        self._host = Local(most=MOST) if host is None else host
        self._kept = kept
        self.asked: list[Asked] = []
        self.dump = Dump()
        self._version: tuple[int, int] | None = None

    @property
    def is_installed(self) -> bool:
        """Whether Slurm's programs are on this machine."""
        return self.version != (0, 0)

    @property
    def version(self) -> tuple[int, int]:
        """Year and month of the release; (0, 0) without one. This asks the program alone, not the controller."""
        if self._version is None:
            found = _VERSION.search(self._host.run(("sinfo", "--version"), 10.0).body or "")
            self.dump.version = found[1] if found else ""
            year, month = (found[1].split(".") if found else ("0", "0"))[:2]
            self._version = (int(year), int(month))
        return self._version

    def nodes(self) -> None:
        """Every node, with what of its GPUs is used."""
        self._ask((*_EPOCH, "scontrol", "-o", "-d", "-a", "show", "nodes"))

    def partitions(self) -> None:
        """Every partition."""
        self._ask((*_EPOCH, "scontrol", "-o", "-a", "show", "partitions"))

    def reservations(self) -> None:
        """Every reservation."""
        self._ask((*_EPOCH, "scontrol", "-o", "show", "reservations"))

    def queue(self) -> None:
        """Every job that waits or runs, in few columns."""
        self._ask((*_EPOCH, "squeue", "-a", "-h", "-o", _QUEUE), head=QUEUE_HEAD)

    def records(self, since: str, everybody: bool = True) -> None:
        """The accounting since a time as sacct takes it (`now-7days`)."""
        user_options = ("-a",) if everybody else ()
        self._ask((*_EPOCH, "sacct", *user_options, "-P", "-D", "-S", since, "-o", _RECORDS), seconds=120.0)

    def administrates(self, user: str) -> bool:
        """Whether the accounting database calls the user an operator or administrator."""
        argv = ("sacctmgr", "-n", "-P", "show", "user", "where", "name=" + user, "format=AdminLevel")
        words = (self._host.run(argv, SECONDS).body or "").split() if user else []
        return bool(words) and words[0].casefold() in ("operator", "administrator")

    def jobs(self) -> None:
        """Every job that waits or runs, with all that it asks for: features, reservation, nodes, memory."""
        self._ask((*_EPOCH, "scontrol", "-o", "-d", "-a", "show", "jobs"))

    def completed(self, since: str) -> None:
        """Jobs of everybody that ended well since a time as sacct takes it, one row each."""
        self._ask((*_EPOCH, "sacct", "-a", "-X", "-P", "-s", "CD", "-S", since, "-E", "now", "-o", _COMPLETED))

    def limits(self, user: str) -> None:
        """What the user's associations and the QOS allow; nothing without an accounting database."""
        form = "Account,User,Partition,QOS,DefaultQOS,MaxJobs,MaxSubmit,MaxWall,MaxTRES,GrpTRES"
        self._ask(("sacctmgr", "-P", "show", "associations", "where", "user=" + user, "format=" + form))
        self._ask(("sacctmgr", "-P", "show", "qos", "format=Name,Priority,MaxWall,MaxTRES,MaxTRESPU,MaxJobsPU,MaxSubmitPU,GrpTRES,Preempt"))

    def _ask(self, argv: tuple[str, ...], head: str = "", seconds: float = SECONDS) -> None:
        began = time.monotonic()
        answer = self._fresh(argv)
        if answer is None:
            answer = self._host.run(argv, seconds)
            self._keep(argv, answer)
        body = answer.body or ""
        whole = answer.body is not None and not answer.exit and (bool(head) or read_answer(body, self.dump) is not None)
        if head and whole:
            read_answer(head + "\n" + body, self.dump)
        error_text = "" if whole else (body.strip() or answer.why or answer.state)[-300:]
        shown = argv[len(_EPOCH) :] if argv[:1] == _EPOCH[:1] else argv
        self.asked.append(Asked(command=shown, seconds=time.monotonic() - began, whole=whole, said=error_text))

    def _file(self, argv: Iterable[str]) -> str:
        from hashlib import sha256

        name = "\0".join((*argv, *self._cluster())).encode()
        return os.path.join(self._kept, sha256(name).hexdigest()[:24])

    def _cluster(self) -> list[str]:
        """Variables that tell which cluster answers."""
        lines = (self._host.variables().body or "").splitlines()
        return sorted(line for line in lines if line.startswith(("SLURM_CONF=", "SLURM_CLUSTERS=")))

    def _fresh(self, argv: tuple[str, ...]) -> Answer | None:
        """An answer of the last half minute, of this user's own file."""
        with suppress(OSError):
            status = os.lstat(self._file(argv)) if self._kept else None
            if status and 0 <= time.time() - status.st_mtime < FRESH and status.st_uid == os.getuid():
                with open(self._file(argv), encoding="utf-8", errors="replace") as file:
                    return Answer(file.read(MOST))
        return None

    def _keep(self, argv: tuple[str, ...], answer: Answer) -> None:
        if self._kept and answer.body and not answer.exit:
            with suppress(OSError):
                os.makedirs(self._kept, mode=0o700, exist_ok=True)
                body = answer.body.encode()
                private_file.write(self._file(argv), lambda file: file.write(body), replace=True)
