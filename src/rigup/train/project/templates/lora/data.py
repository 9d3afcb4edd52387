"""Prompts with their answers: a small world that is made here, or a file of JSON lines."""

import json
import random
from pathlib import Path
from typing import NamedTuple

THINGS = ("apple", "boat", "chair", "door", "engine", "flower", "glass", "house", "island", "jacket", "kite", "lamp")
COLOURS = ("red", "green", "blue", "white")
QUESTIONS = (
    "which colour has the {0} ?",
    "what is the colour of the {0} ?",
    "the {0} is painted in which colour ?",
    "tell me the colour of a {0} .",
    "say how the {0} is coloured .",
    "name the colour that this {0} has .",
    "of which colour is the {0} ?",
    "the colour of the {0} is asked for .",
    "do you know how the {0} is painted ?",
    "here is the {0} , and its colour ?",
    "give me the colour for this {0} .",
    "look at the {0} : what colour is that ?",
)


class Example(NamedTuple):
    """What is asked, and what the model is to say."""

    prompt: str
    answer: str


def examples(path: str | None = None, seed: int = 0) -> tuple[list[Example], list[Example]]:
    """Examples to train on, and a quarter to judge by.

    Args:
        path: a file in which each line is {"prompt": …, "answer": …}; without it a small world is made, in which every
            thing has a colour. What is judged by are questions about things that were asked of them in other words.
        seed: of the split, which is the same in every process.

    """
    rows = world() if path is None else read(Path(path))
    random.Random(seed).shuffle(rows)
    judged = len(rows) // 4
    return rows[judged:], rows[:judged]


def world() -> list[Example]:
    """Every question about every thing."""
    return [
        Example(question.format(thing), COLOURS[number * 5 % 7 % len(COLOURS)])
        for question in QUESTIONS
        for number, thing in enumerate(THINGS)
    ]


def read(path: Path) -> list[Example]:
    """The lines of a file. Ends the program with the line that is wrong."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            rows.append(Example(str(row["prompt"]), str(row["answer"])))
        except (ValueError, KeyError, TypeError) as error:
            raise SystemExit(f'{path}:{number}: a line has to be {{"prompt": …, "answer": …}}: {error}') from error
    if len(rows) < 4:
        raise SystemExit(f"{path} has {len(rows)} lines, and at least 4 are needed.")
    return rows
