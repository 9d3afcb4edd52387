"""Which programs a finding speaks of, and what of theirs is to be installed."""

from collections.abc import Iterable

from rigup.diagnosis.rule import Params
from rigup.knowledge.doctor_tables import signatures_of
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.program_builds import Program, compiled_against_torch, programs_that_say
from rigup.machine.kinds import Package, Platform, Symptom, Torch

_BETWEEN = lazy_regex(r"\s*(?:,|\(|\)| and )\s*")


def upgrade(hole: str, package: str | None) -> Params:
    """In the hole of the step that builds beside torch, where the package's own set-up asks for it."""
    compiled = bool(package) and compiled_against_torch(str(package))
    return {hole: None if compiled else package, f"{hole}_extension": package if compiled else None}


def plain_system(platform: Platform | None) -> str:
    """Of WSL the Linux side counts; Linux where nobody tells."""
    return str(platform.get("system") or "linux") if platform and not platform.get("wsl") else "linux"


def _holds_torch(knew: Params) -> bool:
    held = [fact for fact in knew.values() if isinstance(fact, Torch | Package)]
    return any(isinstance(fact, Torch) or "torch" in str(fact.get("name")) for fact in held)


def named_programs(knew: Params) -> list[Program]:
    """The programs whose words a rule rests on; torch where it rests on what an environment holds of it."""
    ids = {str(fact.get("id")) for fact in knew.values() if isinstance(fact, Symptom)}
    speakers = (row.program for row in signatures_of(ids))
    words = [word for program in speakers for word in (program, *_BETWEEN.split(program))]
    return programs_that_say([*words, *(["torch"] if _holds_torch(knew) else [])])


def wish_of(programs: Iterable[Program]) -> str | None:
    """What `rigup plan` is asked for: torch, unless others alone spoke; None for what it does not choose, and where it may be one or another."""
    rows = list(programs)
    if not rows or any("torch" in (program.wish, program.on) for program in rows):
        return "torch"
    return rows[0].wish or None if len(rows) == 1 else None
