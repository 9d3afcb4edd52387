"""What is known of a program that died: its words, its end, whose eyes it saw with, and this machine.

Its environment is the one that it really ran in, not the one of the shell that asks. Of the kernel's messages
those count that came while it ran, and those of the start, when drivers report; what befell another program
in between says nothing of this one.
"""

import re
import signal
from typing import NamedTuple

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.escapes import without_escapes
from rigup.machine.facts import Place
from rigup.machine.host import Answer
from rigup.machine.local import Local
from rigup.machine.paste import texts_of
from rigup.machine.sources import Source, world_of
from rigup.machine.texts import Text

_START = 600.0  # seconds after the kernel's start in which drivers report
_SLACK = 2.0  # seconds between the two clocks
_UNSPOKEN = lazy_regex(r"[\x00-\x08\x0e-\x1f\ufffd]+")  # all control characters but blanks
_STAMP = lazy_regex(r"^(?:<\d{1,3}>)?\[ {0,8}(\d{1,10}\.\d{1,9})\]")
_KILLED = re.compile(r"(?:ut of memory: Killed process |\boom-kill:[^\n]{0,400}\bpid=)(\d{1,10})\b")
_OF_A_KILL = re.compile(r"ut of memory: Killed process |\boom-kill:|invoked oom-killer|\boom_reaper:")
_SAID = {  # what a shell prints of a program that a signal ended
    signal.SIGABRT: "Aborted",
    signal.SIGFPE: "Floating point exception",
    signal.SIGILL: "Illegal instruction",
    signal.SIGKILL: "Killed",
    signal.SIGSEGV: "Segmentation fault",
    signal.SIGTERM: "Terminated",
}
if hasattr(signal, "SIGBUS"):
    _SAID[signal.SIGBUS] = "Bus error"


class Ended(NamedTuple):
    """A program that ran to its end.

    Attributes:
        argv: how it was started.
        status: its exit status; minus the signal's number where one ended it.
        output: what it printed, the middle left out where that was long.
        interpreter: the Python that ran in it, "" where none was seen.
        variables: its environment, as far as it could be seen.
        began: seconds from the kernel's start to its own.
        pids: processes that were seen in it.
        oom_kills: programs that its control group's memory limit killed while it ran.

    """

    argv: tuple[str, ...]
    status: int
    output: bytes
    interpreter: str = ""
    variables: dict[str, str] | None = None
    began: float = 0.0
    pids: frozenset[int] = frozenset()
    oom_kills: int = 0


class Witness(Local):
    """This machine, seen with the eyes of a program that ran here."""

    def __init__(self, ended: Ended) -> None:
        super().__init__()
        self._ended = ended

    def variables(self) -> Answer:
        """The program's own."""
        known = self._ended.variables
        return super().variables() if known is None else Answer("\n".join(f"{k}={v}" for k, v in known.items()))

    def run(self, argv: tuple[str, ...], seconds: float = 5.0) -> Answer:
        """The kernel's log of the start and of the program's own time; anything else as it is."""
        if argv[0] == "journalctl" and "-k" in argv:  # its stamps are to be read like dmesg's
            argv = (*argv, "-o", "short-monotonic")
        answer = super().run(argv, seconds)
        if argv[0] not in ("dmesg", "journalctl") or answer.body is None:
            return answer
        return answer._replace(body=of_its_own(within(answer.body, self._ended.began), self._ended.pids))


def within(log: str, began: float) -> str:
    """Lines of a kernel log from its start, without what was killed then, or from `began` on; one without a stamp goes with the line before it."""
    lines, keep = [], True
    for line in log.splitlines():
        if stamp := _STAMP.match(line):
            at = float(stamp[1])
            keep = at >= began - _SLACK or (at <= _START and not _OF_A_KILL.search(line))
        if keep:
            lines.append(line)
    return "\n".join(lines)


def of_its_own(log: str, pids: frozenset[int]) -> str:
    """A kernel log without those that were killed for want of memory and were none of these processes; all of it where nobody knows them."""
    lines = log.splitlines()
    killed = [int(match[1]) for line in lines if (match := _KILLED.search(line))]
    if not pids or pids.issuperset(killed):
        return log
    own = not pids.isdisjoint(killed)
    kept = (line for line in lines if not ((match := _KILLED.search(line)) and int(match[1]) not in pids))
    return "\n".join(line for line in kept if own or "invoked oom-killer" not in line)


def witnessed(ended: Ended) -> list[Source]:
    """The sources from which the end of a program is diagnosed."""
    host = Witness(ended)
    place = Place(world=world_of(host))
    return [Source(place, host, tuple(_texts(ended, place, host)))]


def _texts(ended: Ended, place: Place, host: Witness) -> list[Text]:
    name = " ".join(ended.argv)[:60]
    texts = texts_of(name, words_of(ended.output), place)
    texts += texts_of("end of " + name, how_it_ended(ended, _oom_kills(ended, host)), place)
    if ended.interpreter:
        texts += texts_of("interpreter of " + name, "$ which python\n" + ended.interpreter + "\n", place)
    return texts


def words_of(output: bytes) -> str:
    """What a program printed, also between bytes that are no text."""
    return _UNSPOKEN.sub("", without_escapes(output.decode("utf-8", "replace")))


def _oom_kills(ended: Ended, host: Witness) -> int:
    """How many of its processes the kernel killed for want of memory: its log names them, the control group counts."""
    if ended.status in (0, 1) and not ended.oom_kills:
        return 0
    log = host.run(("dmesg",)).body or ""
    named = {int(pid) for pid in re.findall(r"ut of memory: Killed process (\d{1,10}) ", log)}
    return max(ended.oom_kills, len(named & ended.pids))


def how_it_ended(ended: Ended, killed: int = 0) -> str:
    """As a shell would print it, with what was killed for want of memory."""
    lines = [f"{ended.argv[0]}: exit status {ended.status}"]
    if ended.status < 0:
        lines = [_SAID.get(signal.Signals(-ended.status), "signal " + str(-ended.status)) if _is_signal(-ended.status) else "ended"]
    if killed:
        lines.append("memory.events: oom_kill " + str(killed))
    return "\n".join(lines) + "\n"


def _is_signal(number: int) -> bool:
    return number in {signal_number.value for signal_number in signal.Signals}
