"""What builds have code for, and why a card is served by none."""

import re
from typing import Any

from rigup.diagnosis.foreign_builds import is_of_unknown_hands
from rigup.knowledge.chips import isa_of_capability, relative_age, runs_on, why_not
from rigup.knowledge.cuda import version_key
from rigup.knowledge.gpus import one_gpu
from rigup.knowledge.torch_builds import builds
from rigup.machine.kinds import Gpu, Symptom, Torch, Variable


def _todays_code() -> list[str]:
    """What PyPI's newest build was compiled for."""
    return next(row.code for row in builds() if row.pypi and row.code)


def of_today(isa: str) -> bool:
    """Whether PyPI's newest build has something for the card."""
    return runs_on(isa, _todays_code())


def left_behind(isa: str) -> bool:
    """Whether the chip is older than all that PyPI's newest build has code for."""
    why = why_not(isa, _todays_code())
    return why is not None and why.kind == "older-chip"


def newer_than_most(isa: str) -> bool:
    """Whether builds of today serve the card, and fewer than half of all builds with machine code do."""
    lists = [row.code for row in builds() if row.cuda and row.code]
    return of_today(isa) and 2 * sum(runs_on(isa, code) for code in lists) < len(lists)


def why_unserved(gpu: Gpu, torch: Torch) -> str | None:
    """Why this build has nothing for that card, in a word; None where it has."""
    if torch.get("hip") or is_of_unknown_hands(torch, gpu.isa):
        return None
    return relative_age(why_not(gpu.isa, torch.code, torch.get("cuda")), torch.code)


def refused(symptom: Symptom) -> str:
    """Why torch's list has nothing for the card. Where the list is cut off, today's builds tell whether it is old."""
    listed = [code for code in str(symptom.get("code") or "").replace(",", " ").split() if code.startswith("sm_")]
    if not listed:
        return "newer-chip" if of_today(symptom.isa) else "older-chip"
    return relative_age(why_not(symptom.isa, listed), listed) or ""


def isa_of(symptom: Symptom) -> str:
    """The architecture of a message that tells the capability in two numbers."""
    symptom_fields: Any = symptom
    return "sm_" + str(symptom_fields.major) + str(symptom_fields.minor)


def isa_of_named_card(card: Symptom) -> str:
    """The architecture of the NVIDIA card that a message names, "" where no table knows it."""
    row = one_gpu(str(card.name))
    return (row.isa or "") if row and row.vendor == "nvidia" else ""


def _code_of(torch: Torch) -> list[str]:
    """All that the builds of a release have; one from before the table has what the oldest CUDA in it has, at most."""
    release, cuda = str(torch.get("version") or "").partition("+")[0], torch.get("cuda")
    known = [row for row in builds() if row.code and row.cuda]
    mine = [row for row in known if row.torch == release]
    if release and not mine and version_key(release) < min(version_key(row.torch) for row in known):
        cuda = cuda or min((row.cuda for row in known), key=version_key)
        mine = known
    return sorted({code for row in mine if cuda in (None, row.cuda) for code in row.code})


def age(isa: str, torch: Torch) -> str:
    """Whether the card lies before or after what this torch was built for; "" where it is served, or nobody knows."""
    if not isa or torch.get("hip"):
        return ""
    code = list(torch.get("code") or []) or _code_of(torch)
    return (relative_age(why_not(isa, code), code) or "") if code else ""


def age_of_code(asked: Variable, gpu: Gpu) -> str | None:
    """How the card stands to what was asked for; None where it is served, or generations are named in words."""
    code: list[str] = []
    for word in re.findall(r"[^\s;,\"']+", str(asked.value or "")):
        number, _plus, more = word.partition("+")
        isa = isa_of_capability(number)
        if isa is None:
            return None
        code += [isa, isa.replace("sm", "compute")] if more.upper() == "PTX" else [isa]
    return relative_age(why_not(gpu.isa, code), code) if code else None
