"""What stands in the place of what is private: for one thing always the same, for two things two.

A pseudonym is known by its form, so that what was redacted once is not redacted again.
"""

from collections import Counter

from rigup.knowledge.patterns import lazy_regex

MADE = lazy_regex(
    r"(?i)redacted-[a-z-]{1,40}-\d{1,6}|left-out|user\d{1,5}|host\d{1,5}|node[a-z]{1,2}-\d{0,6}|group\d{1,5}|"
    r"domain\d{1,5}\.example|email\d{1,5}(?:@example\.com)?|10{5,}\d{0,4}|0{2,}\d{0,4}|\*+"
)
LEFT_OUT = "left-out"


class Pseudonyms:
    """Names given so far, by kind, and how often each kind was taken out."""

    def __init__(self) -> None:
        self.given: dict[tuple[str, str], str] = {}
        self.taken: set[str] = set()  # real names that look like ours
        self.counts: Counter[str] = Counter()
        self._numbers: Counter[str] = Counter()

    def of(self, kind: str, value: str, form: str = "") -> str:
        """The pseudonym of a value; `form` has {n} for its number, by default it says what was there."""
        self.counts[kind] += 1
        return self.named(kind, value, form)

    def named(self, kind: str, value: str, form: str = "") -> str:
        """The same, where nothing is taken out yet."""
        key = (kind, value)
        if key not in self.given:
            pseudonym = self._next(kind, form)
            while pseudonym.lower() in self.taken:
                pseudonym = self._next(kind, form)
            self.given[key] = pseudonym
        return self.given[key]

    def number(self, kind: str, value: str) -> int:
        """The number of a value among those of its kind, from 1."""
        return int(self.named(kind, value, "{n}"))

    def _next(self, kind: str, form: str) -> str:
        self._numbers[kind] += 1
        return (form or "redacted-" + kind.replace(" ", "-") + "-{n}").replace("{n}", str(self._numbers[kind]))


def is_pseudonym(value: str) -> bool:
    """Whether a value is a pseudonym already."""
    return MADE.fullmatch(value) is not None
