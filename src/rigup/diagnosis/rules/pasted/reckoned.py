"""What rules of several families work out of facts and messages."""

import re

from rigup.diagnosis.rules.memory import size
from rigup.diagnosis.rules.wheels import libc_of
from rigup.knowledge.chips import isa_of_capability, relative_age, why_not
from rigup.knowledge.distributions import distribution
from rigup.machine.kinds import Distribution, Gpu, JobRequest, Symptom, Variable

PLAIN_NAMES = ("AMD Radeon Graphics", "AMD Radeon(TM) Graphics", "AMD Radeon™ Graphics")


def total_of(symptom: Symptom) -> float:
    """Bytes that a runtime counts as the GPU's."""
    if symptom.get("kib"):
        return int(symptom.kib) * 1024.0
    total = symptom.get("total") or symptom.get("total2")
    return (size(total + " G") if symptom.id == "vllm-memory-taken" and total else size(total)) or 0.0


def is_of_cuda(name: str) -> bool:
    """Whether a package is a part of CUDA that wheels bring along."""
    return re.fullmatch(r"nvidia-(?:cuda-runtime|cublas|cudnn)(?:-cu\d{2})?", name) is not None


def known_libc(system: Distribution | None, symptom: Symptom | None) -> str:
    """The libc of a distribution, or the one that a message names."""
    if system is not None and (known := libc_of(system)):
        return known
    row = distribution(str(symptom.distro).lower(), str(symptom.release)) if symptom else None
    return row.glibc if row else ""


def same_address(address: str, other: str) -> bool:
    """Whether two addresses are one card's, with the domain or without."""
    return address.removeprefix("0000:") == other.removeprefix("0000:")


def is_a_shell(job: JobRequest | None, shown: Symptom | None) -> bool:
    """Whether a job is a shell that somebody types into."""
    named = job is not None and job.get("name") in ("bash", "interactive")
    return shown is not None or named or bool(job and job.get("interactive"))


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
