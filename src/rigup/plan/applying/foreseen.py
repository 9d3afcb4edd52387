"""What a run would do, word by word, without doing any of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rigup.machine.local import Local
from rigup.plan.applying.elevation import elevation
from rigup.plan.applying.journal import Intent, Record
from rigup.plan.applying.probe import is_so
from rigup.plan.applying.stage import Stage
from rigup.schemas.shared import Argv
from rigup.schemas.taken import Foreseen


def foreseen(intent: Intent, variables: Mapping[str, str]) -> list[Foreseen]:
    """Steps that would be taken now, with the commands as they would be started and the files that they would write."""
    stage, root, host = Stage(Record(Path("0")), intent), elevation(variables), Local()
    answers = []
    for number, step in enumerate(intent.steps):
        if step.state == "satisfied" or step.where != "here" or not step.commands:
            continue
        if not stage.holds(number) and is_so(step.kind, step.params, host):
            continue
        words = [_words(stage, number, argv, root.argv if step.root else None) for argv in step.commands]
        answers.append(Foreseen(number=number + 1, title=step.title, commands=words, writes=list(step.writes)))
    return answers


def _words(stage: Stage, number: int, argv: Argv, raised: Any) -> Argv:
    own = stage.argv(argv) if stage.holds(number) else argv
    return tuple(raised(own) if raised else own)
