"""Pasted text made plain: terminal colours out, one machine's lines together."""

import re
from collections import Counter, defaultdict

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.escapes import without_escapes
from rigup.machine.facts import Place
from rigup.machine.runs import without_stale
from rigup.machine.texts import Text
from rigup.machine.thinning import Numbered, thinned
from rigup.machine.unwrapping import unwrapped

_LABEL = lazy_regex(r"^(?P<node>[A-Za-z][\w-]*(?:\.[\w.-]+)?|\d{1,4}): ?(?P<rest>.*)$")
_LEAST_LINES = 6  # of a label, before it counts as one
_LEAST_SHARE = 0.8  # of the lines that carry a label


def texts_of(source: str, body: str, place: Place = Place()) -> list[Text]:
    """The texts in one file: one, or one a node where each line begins with a node's name (pdsh, srun -l)."""
    whole = without_escapes(body.replace("\r\r\n", "\n").replace("\r\n", "\n")).replace("\r", "\n").replace("\x00", "")
    whole = without_stale(whole)
    numbered = thinned(whole)
    labels = _labels(whole)
    if len(labels) >= 2:
        return _by_node(source, numbered, place, labels)
    plain, numbers = "\n".join(line for _, line in numbered), [number for number, _ in numbered]
    left = numbers if len(plain) < len(whole) else None
    return [Text(source, plain, place, lines=left and [*left, 0]), *unwrapped(source, plain, place, numbers)]


def _labels(body: str) -> set[str]:
    """Labels that nearly every line carries, each often: `node01: …` is a node, `Error: …` is not."""
    sample = body[:200_000].splitlines()
    counts = Counter(match["node"] for line in sample if (match := _LABEL.match(line)))
    often = {label for label, count in counts.items() if count >= _LEAST_LINES}
    alike = {re.sub(r"\d+", "#", label) for label in often}
    covered = sum(counts[label] for label in often)
    filled = sum(bool(line.strip()) for line in sample)
    return often if len(alike) == 1 and covered >= _LEAST_SHARE * filled else set()


def _by_node(source: str, numbered: Numbered, place: Place, labels: set[str]) -> list[Text]:
    lines: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, line in (line for line in numbered if line[1]):
        match = _LABEL.match(line)
        label = match["node"] if match and match["node"] in labels else ""
        lines[label].append((number, match["rest"] if match and label else line))
    return [
        Text(source, "\n".join(text for _, text in rows), _at_node(place, label), lines=[n for n, _ in rows] + [0])
        for label, rows in lines.items()
    ]


def _at_node(place: Place, label: str) -> Place:
    """srun -l labels tasks by number; names are nodes."""
    if label.isdigit():
        return place._replace(process="rank:" + label)
    return place._replace(node=label) if label else place


_HINTS = {
    "host": Place(world="host"),
    "container": Place(world="container"),
    "docker": Place(world="container"),
    "podman": Place(world="container"),
    "windows": Place(world="windows"),
    "service": Place(process="service"),
    "before": Place(moment="before"),
    "after": Place(moment="after"),
    "shell": Place(process="shell"),
}


def hinted(name: str, base: Place = Place()) -> Place:
    """A file or folder named after a place may hint at it, where the text itself does not tell."""
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower()
    kind, _, rest = stem.partition("-")
    if (kind == "node" and rest) or re.fullmatch(r"(?:node|host|gpu|worker|compute|rank)\d+", stem):
        return base._replace(process="rank:" + stem[4:]) if stem.startswith("rank") else base._replace(node=rest or stem)
    hint = _HINTS.get(kind, Place())
    named = hint._replace(**{part: value + ":" + rest for part, value in hint._asdict().items() if value and rest and part != "moment"})
    return Place(*(mine or theirs for mine, theirs in zip(named, base, strict=True)))
