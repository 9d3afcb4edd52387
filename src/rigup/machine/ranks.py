"""Whose failure it was: of the ranks of one job those that lost a peer say nothing of why the peer was lost."""

from typing import NamedTuple

from rigup.knowledge.patterns import lazy_regex

_MOST = 200_000  # lines, from the end
_LONGEST = 400  # characters of a line that are looked at
# A label as launchers and torch print it: `2: `, `[rank2]: `, `[2] `, `[default2]:`, several of them too.
_LABEL = lazy_regex(
    r"^(?:\[default(?P<role>\d{1,5})\]:(?:[ \t](?=\S))?|"  # torchrun's --tee puts no blank behind it
    r"\[?(?:rank|default)?(?P<rank>\d{1,5})\]?:[ \t]|\[(?:rank |default)?(?P<other>\d{1,5})\]:?[ \t])"
)
_ERROR = lazy_regex(r"^(?:[A-Za-z_][\w.]{0,80}(?:Error|Exception|Interrupt)\b|terminate called|Fatal Python error)")
_TASK = lazy_regex(r"(?:task|rank)s? (?P<rank>\d{1,5}): (?P<end>Killed|Segmentation fault|Aborted|Bus error|Out Of Memory)")
# What a rank says that is itself a victim: its peer went away, or a launcher ended it.
_VICTIM = lazy_regex(
    r"Connection (?:closed|reset) by peer|remote (?:worker|process|peer)|Broken pipe|[Ss]ocket (?:closed|Timeout)|"
    r"Timed out (?:waiting|after)|[Tt]imeout|SIGTERM|SignalException|KeyboardInterrupt|NCCL communicator was aborted|"
    r"DistStoreError|DistNetworkError|ChildFailedError"
)


class Failed(NamedTuple):
    """A rank that failed of itself, and its last word."""

    rank: int
    said: str


def failed_first(output: str) -> Failed | None:
    """The rank that failed by itself, where the output tells of several and exactly one of them did."""
    last: dict[int, str] = {}
    victims: set[int] = set()
    for line in output.splitlines()[-_MOST:]:
        rank, message = labelled(line[:_LONGEST])
        if (ended := _TASK.search(line[:_LONGEST])) is not None:
            rank, message = int(ended["rank"]), ended["end"]
        elif rank is None or not _ERROR.match(message):
            continue
        if _VICTIM.search(message):
            victims.add(rank)
        else:
            last.setdefault(rank, message)
    own = last.keys() - victims
    return Failed(min(own), last[min(own)]) if len(own) == 1 and victims else None


def labelled(line: str) -> tuple[int | None, str]:
    """The rank that a line is of, and the line without labels."""
    rank = None
    while match := _LABEL.match(line):
        rank, line = int(match["role"] or match["rank"] or match["other"]), line[match.end() :]
    return rank, line
