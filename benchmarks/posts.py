"""How well the doctor names the cause of what people write and paste, by the project's own texts (learning/).

    python benchmarks/posts.py [--of posts|outputs] [--misses] [--cause NAME]

The rules never learned from these posts, so of them the figures are honest; of the guesses they are not, for
their weights come from here (scripts/text-classifier --tell leaves posts out in turn). `--misses` prints one line for
each post that was named wrongly or, though nothing is wrong, at all.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rigup.diagnosis.answer import diagnose

LEARNING = Path(__file__).parents[1] / "learning"
HEALTHY = "healthy"
SHOWN = 100  # characters of a post


class Outcome(NamedTuple):
    """What was said of one post: its cause, and the loud findings of rules."""

    cause: str
    post: str
    found: list[dict[str, Any]]

    @property
    def first(self) -> str:
        """The cause that is named first, "" for none."""
        return str(self.found[0]["cause"]) if self.found else ""

    @property
    def certain(self) -> bool:
        """Whether that is said to be certain."""
        return bool(self.found) and self.found[0]["confidence"] == "certain"


def posts(folder: str, only: str) -> Iterator[tuple[str, str]]:
    """Every text of the folder and the cause that it is about; of one cause alone, where one is named."""
    for path in sorted((LEARNING / folder).glob((only or "*") + ".txt")):
        yield from ((path.stem, post) for post in path.read_text(encoding="utf-8").split("\n----\n") if post.strip())


def outcomes(folder: str, only: str) -> Iterator[Outcome]:
    """What the rules say of each."""
    with tempfile.TemporaryDirectory() as scratch:
        at = Path(scratch, "post.txt")
        for cause, post in posts(folder, only):
            at.write_text(post, encoding="utf-8")
            findings = diagnose(str(at))["findings"]
            yield Outcome(cause, post, [one for one in findings if one["severity"] != "note" and not one["guess"]])


def counted(told: list[Outcome]) -> Counter[str]:
    """The figures, by what they count."""
    sick, sound = ([one for one in told if (one.cause == HEALTHY) is well] for well in (False, True))
    return Counter(
        {
            "faulty": len(sick),
            "named first": sum(one.first == one.cause for one in sick),
            "nothing said": sum(not one.found for one in sick),
            "certain": sum(one.certain for one in sick),
            "certain and right": sum(one.certain and one.first == one.cause for one in sick),
            "healthy": len(sound),
            "of these not left alone": sum(bool(one.found) for one in sound),
        }
    )


def main() -> None:
    """Run, and print."""
    ask = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    ask.add_argument("--misses", action="store_true", help="a line for each post that was named wrongly")
    ask.add_argument("--cause", default="", help="of one cause alone")
    ask.add_argument("--of", default="posts", choices=("posts", "outputs"), help="what people write, or what they paste")
    given = ask.parse_args()
    told = list(outcomes(given.of, given.cause))
    for name, number in counted(told).items():
        print(f"{name:24} {number:6}")
    for one in told if given.misses else ():
        if one.found and one.first != one.cause:
            how = one.found[0]["confidence"]
            print(f"{one.cause}: {one.first} ({how}): {' '.join(one.post.split())[:SHOWN]}")


if __name__ == "__main__":
    main()
