"""The release that was asked for, and the libc that a system has for it."""

from rigup.knowledge.distributions import distribution
from rigup.machine.kinds import Distribution, Symptom

OF_TORCH = ("torch", "torchvision", "torchaudio")


def libc_of(system: Distribution) -> str:
    """As the system tells, or as the table has it for its release; "" where nobody knows, "musl" where it is none."""
    if system.knows("glibc"):
        return str(system.glibc or "musl")
    row = distribution(str(system.get("id") or ""), str(system.get("version") or ""))
    return row.glibc if row else ""


def known_libc(system: Distribution | None, symptom: Symptom | None) -> str:
    """The libc of a distribution, or the one that a message names."""
    if system is not None and (known := libc_of(system)):
        return known
    row = distribution(str(symptom.distro).lower(), str(symptom.release)) if symptom else None
    return row.glibc if row else ""


def release_asked_for(symptom: Symptom) -> str:
    """`==1.13.1` asks for one release."""
    asked = str(symptom.get("asked") or "")
    return asked.lstrip("= ") if asked.startswith("==") and "," not in asked else ""
