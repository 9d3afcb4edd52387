"""Which software a finding is about: programs, what keeps their environment, and the framework that computes."""

from rigup.diagnosis.findings import Finding
from rigup.knowledge.doctor_tables import signatures_of
from rigup.machine.kinds import Package, Symptom, Torch
from rigup.machine.store import Facts

_LLAMA_TYPED = ("llama-program-typed", "llama-cpp-is-typed")
_TORCHS_FAMILY = ("pytorch", "pytorch-cuda", "pytorch-mutex", "torchvision", "torchaudio", "cpuonly")
_PROJECTS = ("uv", "poetry", "pixi", "pdm")


def programs_of(finding: Finding, facts: Facts) -> tuple[str, ...]:
    """By their own messages; ollama's runner speaks as llama.cpp, whose log tells nothing of who started it."""
    own = {line.fact.removeprefix("symptom ") for line in finding.evidence}
    names = [row.program for ids in (own, set() if facts.of(Torch) else set(facts.ids)) for row in signatures_of(ids)]
    ollama = not facts.of(Torch) and not facts.heard(*_LLAMA_TYPED) and any(_is_of_ollama(symptom) for symptom in facts.of(Symptom))
    named = ["llama.cpp, people"] if facts.heard("ollama-named") and not facts.of(Torch) else []
    return tuple(dict.fromkeys(["ollama", *names] if ollama else [*(name for name in names if name != "ollama"), *named]))


def _is_of_ollama(symptom: Symptom) -> bool:
    """People name llama.cpp where its sign is heard, too."""
    said = str(symptom.get("id"))
    return said.startswith("ollama-") and (said != "ollama-named" or "ollama" in str(symptom.fields["id"].where.text).lower())


def project_of(facts: Facts) -> str:
    """The tool whose command is seen; of two nobody knows which one keeps the environment."""
    seen = [tool for tool in _PROJECTS if facts.heard(f"{tool}-project-at-work")]
    return seen[0] if len(seen) == 1 else ""


def torch_of_conda(facts: Facts) -> tuple[str, ...]:
    """torch and what belongs to it, as conda's packages, where conda installed it."""
    own = {str(package.get("name")) for package in facts.of(Package) if package.get("manager") == "conda"}
    return tuple(name for name in _TORCHS_FAMILY if name in own) if "pytorch" in own else ()


def framework_of(facts: Facts) -> str:
    """The only framework that is imported, where that is not torch; else ""."""
    imported = {str(symptom.get("framework")) for symptom in facts.heard("framework-is-imported")}
    return imported.pop() if len(imported) == 1 and not facts.of(Torch) else ""
