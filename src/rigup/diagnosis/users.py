"""Who else uses what a fix replaces: shown before anybody takes it away from them."""

from collections.abc import Iterable

from rigup.diagnosis.findings import Finding
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Package, Torch
from rigup.machine.store import Facts
from rigup.steps import Step

_REPLACES = (
    "install-torch",
    "install-packages",
    "install-requirement",
    "remove-packages",
    "upgrade-package",
    "upgrade-extension",
    "choose-build",
    "install-again",
    "install-package-again",
    "newer-release",
    "install-by-conda",
    "renew-torch-on-windows",
    "install-from-conda",
    "remove-with-conda",
)
_OF_TORCH = ("install-torch", "install-torch-with-audio")
_NAME = lazy_regex(r"[A-Za-z][A-Za-z0-9._-]*")


def used_by(steps: Iterable[Step], finding: Finding, facts: Facts) -> list[str]:
    """Packages of the environment that stand on one which the steps replace, as "vllm 0.9.2"."""
    env = _environment(finding)
    replaced = {
        name for step in steps if step.kind in _REPLACES and not _keeps_the_build(step, env, facts) for name in _replaced_packages(step)
    }
    if not replaced:
        return []
    from rigup.knowledge.dependents import dependents

    standing = {name for package in replaced for name in dependents(package)} - replaced
    present = [package for package in facts.of(Package) if package.get("name") in standing and _is_in(package, env)]
    return sorted({f"{package.get('name')} {package.get('version') or ''}".strip() for package in present})


def _keeps_the_build(step: Step, env: str | None, facts: Facts) -> bool:
    """Whether the torch that is there comes in its own place: what stands on it was made for that one."""
    torches = [torch for torch in facts.of(Torch) if env is None or torch.get("env") in (None, env)]
    if any(torch.knows("cuda") and not torch.get("cuda") and not torch.get("hip") for torch in torches):
        return False
    present = {_release_and_variant(str(torch.get("version") or "")) for torch in torches}
    return step.kind in _OF_TORCH and present == {(step.params["torch"], step.params["index"].rstrip("/").rpartition("/")[2])}


def _release_and_variant(version: str) -> tuple[str, str]:
    """Of a version without a variant that of PyPI's build."""
    from rigup.knowledge.torch_builds import build

    release, _plus, variant = version.partition("+")
    row = build(version) if version and not variant else None
    return release, variant or (row.variant if row else "")


def _replaced_packages(step: Step) -> set[str]:
    """The packages that a step replaces; a step for torch brings torchvision along, and pip the triton that belongs to it."""
    if step.kind in _OF_TORCH:
        return {"torch", "torchvision", "triton", *(["torchaudio"] if step.kind == _OF_TORCH[1] else [])}
    packages = " ".join(step.params.get(name, "") for name in ("packages", "package", "wish"))
    return {name.lower().replace("_", "-") for name in _NAME.findall(packages)}


def _environment(finding: Finding) -> str | None:
    """The environment that a finding speaks of, where it names one."""
    torch = finding.params.get("torch")
    env = torch.get("env") if isinstance(torch, Torch) else finding.params.get("env")
    return env if isinstance(env, str) else None


def _is_in(package: Package, env: str | None) -> bool:
    return env is None or package.get("env") in (None, env)
