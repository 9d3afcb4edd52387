"""What a proof holds for: one device with its driver, one kernel, one build of a framework and one override.

Where one of these has changed, nothing is proven. The records lie in the state folder; `proof_records.py` writes them.
"""

from rigup.machine.kinds import Platform, Proof, ProvenPackage, TensorFlow, Torch, Variable
from rigup.machine.store import Facts

SCHEMA = "rigup.proof/1"
WHOLE = "environment"  # in the place of a device's identity, in a record that is of the environment
OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


def override_in(facts: Facts) -> str:
    """The variables in force that make a chip pass for another."""
    values = {str(v.get("name")): v.get("value") for v in facts.of(Variable) if str(v.get("name")).startswith(OVERRIDE)}
    return " ".join(f"{name}={value}" for name, value in sorted(values.items()) if value)


def kernel_in(facts: Facts) -> str:
    """The running kernel's release."""
    return next((str(platform.get("release")) for platform in facts.of(Platform) if platform.get("release")), "")


def holds(proof: Proof, device: dict[str, object], facts: Facts) -> bool:
    """Whether a proof is of this device and all that it was found under is as it was."""
    if not _same_device(proof, device):
        return False
    driver = device.get("driver")
    version = driver.get("version", "") if isinstance(driver, dict) else ""
    now, then = (version, device.get("isa", "")), (proof.get("driver", ""), proof.get("isa", ""))
    return now == then and stands(proof, facts)


def stands(proof: Proof, facts: Facts) -> bool:
    """Whether the environment, the kernel and the overrides are as they were found."""
    now, then = (kernel_in(facts), override_in(facts)), (proof.get("kernel", ""), proof.get("override", ""))
    return now == then and _same_build(proof, facts) and _same_packages(proof, facts)


def of_environment(proof: Proof) -> bool:
    """Whether a record tells of the environment, and of no device of the machine."""
    return bool(proof.get("uuid") == WHOLE)


def _same_device(proof: Proof, device: dict[str, object]) -> bool:
    """By identity where both have one, else by address, else by name; a card moved to another slot is the same."""
    for key in ("uuid", "pci_address", "name"):
        if proof.get(key) and device.get(key):
            return bool(proof.get(key) == device.get(key))
    return False


def _same_build(proof: Proof, facts: Facts) -> bool:
    """Whether the framework of that environment is the same build still; a build that cannot be seen is judged by its packages."""
    env, framework, build = proof.get("env"), proof.get("framework"), proof.get("build")
    kind = {"torch": Torch, "tensorflow": TensorFlow}.get(framework or "")
    builds = [fact.get("version") for fact in facts.of(kind) if fact.get("env") == env] if kind else []
    if framework == "torch" and not proof.get("failed"):
        return build in builds
    if builds:  # a build that could not be imported told no version of its own
        return not build or build in builds
    return any(package.get("env") == env for package in facts.of(ProvenPackage))


def _same_packages(proof: Proof, facts: Facts) -> bool:
    """Whether the packages on which it stands are there in the same versions, as far as that folder was seen."""
    seen_versions: dict[str, set[str]] = {}
    for package in facts.of(ProvenPackage):
        if package.get("env") == proof.get("env"):
            seen_versions.setdefault(package.get("name", ""), set()).add(package.get("version", ""))
    held = [requirement.partition("==") for requirement in proof.get("packages", [])]
    return not seen_versions or all(version in seen_versions.get(name, set()) for name, _equal, version in held)
