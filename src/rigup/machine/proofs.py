"""What a proof holds for: one device with its driver, one kernel, one build of a framework and one override.

Where one of these has changed, nothing is proven. The records lie in the state folder; `proof_records.py` writes them.
"""

from rigup.machine.kinds import Package, Platform, Proof, TensorFlow, Torch, Variable
from rigup.machine.store import Facts

SCHEMA = "rigup.proof/1"
OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


def override_in(facts: Facts) -> str:
    """The variables in force that make a chip pass for another."""
    told = {str(v.get("name")): v.get("value") for v in facts.of(Variable) if str(v.get("name")).startswith(OVERRIDE)}
    return " ".join(f"{name}={value}" for name, value in sorted(told.items()) if value)


def kernel_in(facts: Facts) -> str:
    """The running kernel's release."""
    return next((str(one.get("release")) for one in facts.of(Platform) if one.get("release")), "")


def holds(proof: Proof, device: dict[str, object], facts: Facts) -> bool:
    """Whether a proof is of this device and all that it was found under is as it was."""
    if not _same_device(proof, device):
        return False
    driver = device.get("driver")
    version = driver.get("version", "") if isinstance(driver, dict) else ""
    now = (version, device.get("isa", ""), kernel_in(facts), override_in(facts))
    return now == tuple(proof.get(name, "") for name in ("driver", "isa", "kernel", "override")) and _built(
        proof, facts
    )


def _same_device(proof: Proof, device: dict[str, object]) -> bool:
    """By identity where both have one, else by address, else by name; a card moved to another slot is the same."""
    for key in ("uuid", "pci_address", "name"):
        if proof.get(key) and device.get(key):
            return bool(proof.get(key) == device.get(key))
    return False


def _built(proof: Proof, facts: Facts) -> bool:
    """Whether the framework of that environment is the same build still."""
    env, framework, build = proof.get("env"), proof.get("framework"), proof.get("build")
    if framework == "torch":
        return any(one.get("env") == env and one.get("version") == build for one in facts.of(Torch))
    if framework == "tensorflow":
        return any(one.get("env") == env and one.get("version") == build for one in facts.of(TensorFlow))
    named = [
        one for one in facts.of(Package) if one.get("env") == env and one.get("name", "").startswith(framework or "?")
    ]
    return any(one.get("version") == build for one in named)
